//! What a run of `saltus sample` has to do: a new run as the options say, or one that goes on.

use crate::arguments::{
    ENSEMBLES, ModelArguments, RunArguments, SampleArguments, StoreArguments, Wanted,
};
use crate::failure::Failure;
use crate::interrupt;
use crate::observe::Observe;
use crate::shard::Part;
use saltus::draws::observers::Marginals;
use saltus::draws::trace::{MOST_JUDGED, Trace};
use saltus::model::fixed_sum::FixedSum;
use saltus::run::MARGINALS;
use saltus::store::{Description, Keep, StoreWriter, Stored};
use saltus::zoo::{Given, Title};
use saltus::{
    Choice, Ended, Method, Model, Observable, Outcome, Run, RunError, Seconds, Settings, Space,
    choose, run,
};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A run to be made.
pub struct Job {
    /// From what its model is built.
    pub config: Config,
    /// How it runs.
    pub settings: Settings,
    /// Where its draws go.
    pub destination: Destination,
    /// If its sampler is still to be chosen, how many ladders it has should temperatures be chosen with it.
    open: Option<usize>,
    /// How long the choice took.
    pub trials: Duration,
}

/// What a store keeps so that the model can be built again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The model and its options.
    pub model: ModelArguments,
    /// Seed of its random parameters.
    pub model_seed: u64,
    /// Sites that are fixed, and their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<(usize, u8)>,
    /// Groups of bits of which exactly one is set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_hot: Vec<Vec<u32>>,
    /// Sums that are fixed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sums: Vec<FixedSum>,
    /// Whether marginals are summed up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marginals: bool,
    /// How many of the best states are kept, if that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<usize>,
    /// What else is observed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observe: Vec<Observe>,
    /// How its sampler was chosen, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// Which of the chains are here, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
}

/// Where draws go.
pub enum Destination {
    /// Nowhere: they are summed up.
    Memory,
    /// Into a store.
    New { path: PathBuf, keep: Keep, replace: bool },
    /// Into the store of the run that goes on.
    Resumed { path: PathBuf, keep: Keep, draws: usize },
}

impl Job {
    /// What the options ask for.
    pub fn new(arguments: &SampleArguments) -> Result<Self, Failure> {
        match &arguments.store.resume {
            Some(path) => Self::resumed(arguments, path.clone()),
            None => Self::fresh(arguments),
        }
    }

    fn fresh(arguments: &SampleArguments) -> Result<Self, Failure> {
        let SampleArguments { model, run, store, .. } = arguments;
        if store.out.as_deref() == Some(Path::new("-")) {
            return Err(Failure::Usage(
                "--out is a folder, which stdout is not: leave it out, or name one".to_owned(),
            ));
        }
        let Some(model) = model else {
            return Err(Failure::Usage(
                "which model? `saltus sample ising` samples one, `saltus list` names them all"
                    .to_owned(),
            ));
        };
        if store.extend.is_some() {
            return Err(Failure::Usage("--extend adds draws to a run: name it by --resume".into()));
        }
        let only_stored = [
            ("--keep", store.keep.is_some()),
            ("--force", store.force && !arguments.writes_files()),
            ("--checkpoint-every", store.checkpoint_every.is_some()),
        ];
        if store.shard.is_some() && arguments.temper.keep_rungs.is_some() {
            return Err(Failure::Usage(
                "--keep-rungs is of a run in one piece: leave it out, or --shard".to_owned(),
            ));
        }
        if store.shard.is_some() && (store.until_ess.is_some() || store.until_rhat.is_some()) {
            return Err(Failure::Usage(
                "shards cannot see each other's draws: leave out --until-ess and --until-rhat"
                    .into(),
            ));
        }
        let folder = match (&store.out, store.shard) {
            (Some(out), Some(shard)) => Some(shard.folder(out)),
            (out, _) => out.clone(),
        };
        let destination = match &folder {
            // A task that its queue starts again goes on.
            Some(path) if store.shard.is_some() && !store.force && Stored::is_store(path) => {
                let stored = Stored::open(path)?;
                let keep = stored.description().keep;
                Destination::Resumed { path: path.clone(), keep, draws: stored.draws() }
            }
            Some(path) => Destination::New {
                path: path.clone(),
                keep: store.keep.map(Keep::from).unwrap_or_default(),
                replace: store.force,
            },
            None => match only_stored.iter().find(|(_, given)| *given) {
                None => Destination::Memory,
                Some((option, _)) => {
                    return Err(Failure::Usage(format!(
                        "{option} is about runs that are stored: name a folder by --out"
                    )));
                }
            },
        };
        let Given { evidence, one_hot, sums } = run.given.read(model)?;
        let set = run.moves.given();
        if let (Some(Wanted::Auto), Some(option)) = (arguments.sampler, set) {
            return Err(Failure::Usage(format!(
                "--sampler auto knows of no {option}: name a sampler, or leave it out"
            )));
        }
        // Of those that can change two sites at once.
        let default = if sums.is_empty() { Method::default() } else { Method::Gibbs };
        let (sampler, is_open) = match arguments.sampler {
            Some(Wanted::Method(method)) => (method, false),
            // What can be set is about the samplers that use differences.
            wanted => (default, wanted.is_some() || set.is_none()),
        };
        let settings = Settings {
            until_ess: store.until_ess,
            until_rhat: store.until_rhat,
            ..run.settings(sampler)
        };
        let settings = arguments.temper.apply(settings, run.chains);
        let config = Config {
            evidence,
            one_hot,
            sums,
            best: arguments.best,
            marginals: arguments.marginals || arguments.mar.is_some(),
            model: model.clone(),
            model_seed: run.model_seed.unwrap_or(0),
            observe: arguments.observe.clone(),
            choice: None,
            part: store.shard.map(|shard| Part { shard, chains: settings.chains }),
        };
        let open = is_open.then(|| run.chains.unwrap_or(ENSEMBLES));
        Ok(Self { config, settings, destination, open, trials: Duration::ZERO })
    }

    fn resumed(arguments: &SampleArguments, path: PathBuf) -> Result<Self, Failure> {
        let SampleArguments { model, sampler, run, store, .. } = arguments;
        if model.is_some() {
            return Err(Failure::Usage(
                "--resume goes on with the run's own model: leave out the model".to_owned(),
            ));
        }
        let observes = (!arguments.observe.is_empty()).then_some("--observe");
        let tempers = arguments.temper.given();
        // A picture that is there may be replaced.
        let replaces = (store.force && !arguments.writes_files()).then_some("--force");
        let others = observes.or(tempers).or(replaces);
        if let Some(option) = settled(*sampler, run, store).or(others) {
            return Err(Failure::Usage(format!(
                "--resume goes on with the run's own settings: leave out {option}"
            )));
        }
        let stored = Stored::open(&path)?;
        let Description { keep, config, mut settings, .. } = stored.description().clone();
        let config: Config = serde_json::from_value(config).map_err(|error| {
            Failure::Failed(format!("{} was not made by this command: {error}", path.display()))
        })?;
        if arguments.best.is_some() && arguments.best != config.best {
            return Err(Failure::Usage(
                "--best is settled when a run begins: leave it out".to_owned(),
            ));
        }
        if (arguments.marginals || arguments.mar.is_some()) && !config.marginals {
            return Err(Failure::Usage(
                "the run was made without --marginals, which are summed up from the first draw"
                    .to_owned(),
            ));
        }
        if let Some(more) = store.extend {
            if !stored.ended().is_some_and(|ended| ended.is_success()) {
                return Err(Failure::Usage(format!(
                    "the run in {} has not ended yet: --resume without --extend goes on with it",
                    path.display()
                )));
            }
            let draws = stored.draws().saturating_add(more);
            settings = Settings { draws, until_ess: None, until_rhat: None, ..settings };
        }
        let (threads, time_limit) = (run.threads, run.time_limit);
        let settings = Settings { threads, time_limit, ..settings };
        let destination = Destination::Resumed { path, keep, draws: stored.draws() };
        Ok(Self { config, settings, destination, open: None, trials: Duration::ZERO })
    }

    /// The same with the sampler that suits the model, if none was named; none if trials were interrupted.
    pub fn chosen<M: Model>(mut self, model: &M) -> Option<Self> {
        if let Some(ladders) = self.open.take() {
            let trying = Instant::now();
            let choice = choose::choose(model, &self.settings, interrupt::control)?;
            self.trials = trying.elapsed();
            self.settings = choice.applied(self.settings);
            if choice.temper.is_some() {
                self.settings.chains = ladders;
                self.config.part = self.config.part.map(|part| Part { chains: ladders, ..part });
            }
            self.config.choice = Some(choice);
        }
        Some(self)
    }

    /// The same with as many steps as suit the model, where a new run was not told how many.
    pub fn suited<M: Model>(mut self, model: &M, arguments: &SampleArguments) -> Self {
        if arguments.store.resume.is_none() {
            let RunArguments { warmup, thin, .. } = arguments.run;
            self.settings = self.settings.suited(model, warmup, thin);
        }
        self
    }

    /// The same of the part of the chains that was asked for, with the scale and the temperatures that all parts have.
    pub fn of_part<M: Model>(mut self, model: &M) -> Result<Self, Failure> {
        if let Some(part) = self.config.part {
            // What goes on by --resume is a part already.
            if self.settings.chains == part.chains {
                self.settings = run::pilot(model, &self.settings, None, |_| interrupt::control())?;
            }
            self.settings.chains = part.range().len();
        }
        Ok(self)
    }

    /// Whether these are all chains of the run.
    pub fn is_whole(&self) -> bool {
        self.config.part.is_none()
    }

    /// The number of its first chain in the whole run.
    pub fn first_chain(&self) -> usize {
        self.config.part.map_or(0, |part| part.range().start)
    }

    /// Opens the store, before anything is said or drawn.
    pub fn open<M: Model>(&self, title: &Title, model: &M) -> Result<Store, Failure> {
        let space = model.shown_space();
        let description = |keep| Description {
            description: Some(title.words.clone()),
            keep,
            config: serde_json::json!(self.config.with_absolute_paths()),
            ..Description::new(title.name, space, &self.settings)
        };
        match &self.destination {
            Destination::Memory => Ok(Store::None),
            Destination::New { path, keep, replace } => {
                if *keep == Keep::Bits && !space.is_binary() {
                    return Err(Failure::Usage(format!(
                        "sites of {} values do not fit into bits: use --keep states",
                        space.values()
                    )));
                }
                let writer = StoreWriter::create(path, description(*keep), *replace)?;
                Ok(Store::Open(Box::new(writer), None))
            }
            Destination::Resumed { path, keep, .. } => {
                let (writer, checkpoint, seconds) = StoreWriter::resume(path, description(*keep))?;
                let resumed = checkpoint.map(|checkpoint| (Box::new(checkpoint), seconds));
                Ok(Store::Open(Box::new(writer), resumed))
            }
        }
    }

    /// The folder of the store, if there is one.
    pub fn folder(&self) -> Option<&PathBuf> {
        match &self.destination {
            Destination::Memory => None,
            Destination::New { path, .. } | Destination::Resumed { path, .. } => Some(path),
        }
    }

    /// What is stored of whole states, if there is a store.
    pub fn keep(&self) -> Option<Keep> {
        match &self.destination {
            Destination::Memory => None,
            Destination::New { keep, .. } | Destination::Resumed { keep, .. } => Some(*keep),
        }
    }

    /// What to tell at the end about the store.
    pub fn farewell(&self, ended: &Ended) -> Option<String> {
        let path = self.folder()?.display();
        Some(match ended {
            Ended::Interrupted | Ended::TimeLimit => {
                format!("Stored in {path}; `saltus sample --resume {path}` goes on.")
            }
            _ => format!("Stored in {path}."),
        })
    }
}

/// A store that is open, perhaps with a checkpoint to go on from and the time until then.
pub enum Store {
    None,
    Open(Box<StoreWriter>, Option<(Box<saltus::Checkpoint>, Seconds)>),
}

impl Store {
    /// Runs into it. What was drawn is in the outcome, too, thinned if it is long; whole states only
    /// where they are not stored.
    pub fn run<M: Model>(
        self,
        run: Run<'_, M>,
        folder: Option<&PathBuf>,
        keep_states: bool,
    ) -> Result<Outcome, Failure> {
        let mut trace = Trace::new(keep_states).at_most(MOST_JUDGED);
        let (ran, writer) = match self {
            Self::None => (run.go_into(&mut trace), None),
            Self::Open(mut writer, None) => (run.go_into(writer.as_mut()), Some(writer)),
            Self::Open(mut writer, Some((checkpoint, seconds))) => {
                (run.resume(*checkpoint).after(seconds).go_into(writer.as_mut()), Some(writer))
            }
        };
        let mut outcome = ran.map_err(|error| match error {
            RunError::Sink(error) if folder.is_some_and(|folder| Stored::open(folder).is_ok()) => {
                Failure::Failed(format!(
                    "{error}; what was stored before can be read, and --resume goes on from there"
                ))
            }
            error => error.into(),
        })?;
        if let (Some(mut writer), Some(marginals)) =
            (writer, outcome.observed::<Marginals>(MARGINALS))
        {
            writer.put_marginals(marginals)?;
        }
        outcome.trace = match folder {
            Some(folder) => {
                StoreWriter::put_exact(folder, &outcome.exact)?;
                Stored::open(folder)?.thinned_trace(MOST_JUDGED)?
            }
            None => trace,
        };
        Ok(outcome)
    }
}

/// What a user observes, and what it is called.
type NamedObservable = (String, Box<dyn Observable>);

impl Config {
    /// The observables that the user named, with their weights.
    pub fn observables(&self, space: &Space) -> Result<Vec<NamedObservable>, Failure> {
        for (number, Observe { name, .. }) in self.observe.iter().enumerate() {
            let earlier = &self.observe[..number];
            if Observe::is_taken(name) || earlier.iter().any(|other| other.name == *name) {
                return Err(Failure::Usage(format!(
                    "there is an observable named '{name}' already: give this one another name"
                )));
            }
        }
        self.observe.iter().map(|one| Ok((one.name.clone(), one.read(space)?))).collect()
    }

    /// What is known of the model's states.
    pub fn given(&self) -> Given {
        let Self { evidence, one_hot, sums, .. } = self.clone();
        Given { evidence, one_hot, sums }
    }

    /// The same from wherever it is read again.
    fn with_absolute_paths(&self) -> Self {
        let mut config = self.clone();
        let observed = config.observe.iter_mut().filter_map(|observe| observe.file.as_mut());
        for path in config.model.paths_mut().into_iter().chain(observed) {
            if let Ok(absolute) = std::path::absolute(&*path) {
                *path = absolute;
            }
        }
        config
    }
}

/// An option that was given and that a resumed run has settled already.
fn settled(
    sampler: Option<Wanted>,
    run: &RunArguments,
    store: &StoreArguments,
) -> Option<&'static str> {
    let options = [
        ("--sampler", sampler.is_some()),
        ("--chains", run.chains.is_some()),
        ("--warmup", run.warmup.is_some()),
        ("--draws (--extend adds some)", run.draws.is_some()),
        ("--thin", run.thin.is_some()),
        ("--seed", run.seed.is_some()),
        ("--model-seed", run.model_seed.is_some()),
        ("--out", store.out.is_some()),
        ("--keep", store.keep.is_some()),
        ("--until-ess", store.until_ess.is_some()),
        ("--until-rhat", store.until_rhat.is_some()),
    ];
    let given = options.into_iter().find(|(_, given)| *given).map(|(option, _)| option);
    given.or(run.moves.given()).or(run.given.given())
}
