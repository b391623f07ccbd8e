//! What a run of `saltus sample` has to do: a new run as the options say, or one that goes on.

use crate::arguments::{ModelArguments, RunArguments, SampleArguments, StoreArguments};
use crate::failure::Failure;
use crate::observe::Observe;
use saltus::draws::linear::Linear;
use saltus::store::{Description, Keep, StoreWriter, Stored};
use saltus::zoo::Title;
use saltus::{Ended, Method, Model, Outcome, Run, RunError, Seconds, Settings, Space};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A run to be made.
pub struct Job {
    /// From what its model is built.
    pub config: Config,
    /// How it runs.
    pub settings: Settings,
    /// Where its draws go.
    pub destination: Destination,
}

/// What a store keeps so that the model can be built again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The model and its options.
    pub model: ModelArguments,
    /// Seed of its random parameters.
    pub model_seed: u64,
    /// What else is observed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observe: Vec<Observe>,
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
            ("--force", store.force),
            ("--checkpoint-every", store.checkpoint_every.is_some()),
        ];
        let destination = match &store.out {
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
        let settings = Settings {
            until_ess: store.until_ess,
            until_rhat: store.until_rhat,
            ..run.settings(arguments.sampler.unwrap_or_default())
        };
        let config = Config {
            model: model.clone(),
            model_seed: run.model_seed.unwrap_or(0),
            observe: arguments.observe.clone(),
        };
        Ok(Self { config, settings, destination })
    }

    fn resumed(arguments: &SampleArguments, path: PathBuf) -> Result<Self, Failure> {
        let SampleArguments { model, sampler, run, store, .. } = arguments;
        if model.is_some() {
            return Err(Failure::Usage(
                "--resume goes on with the run's own model: leave out the model".to_owned(),
            ));
        }
        let observes = (!arguments.observe.is_empty()).then_some("--observe");
        if let Some(option) = settled(*sampler, run, store).or(observes) {
            return Err(Failure::Usage(format!(
                "--resume goes on with the run's own settings: leave out {option}"
            )));
        }
        let stored = Stored::open(&path)?;
        let Description { keep, config, mut settings, .. } = stored.description().clone();
        let config: Config = serde_json::from_value(config).map_err(|error| {
            Failure::Failed(format!("{} was not made by this command: {error}", path.display()))
        })?;
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
        Ok(Self { config, settings, destination })
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
    /// Runs into it. What was drawn is in the outcome, too.
    pub fn run<M: Model>(
        self,
        run: Run<'_, M>,
        folder: Option<&PathBuf>,
    ) -> Result<Outcome, Failure> {
        let ran = match self {
            Self::None => run.go(),
            Self::Open(mut writer, None) => run.go_into(writer.as_mut()),
            Self::Open(mut writer, Some((checkpoint, seconds))) => {
                run.resume(*checkpoint).after(seconds).go_into(writer.as_mut())
            }
        };
        let mut outcome = ran.map_err(|error| match error {
            RunError::Sink(error) => Failure::Failed(format!(
                "{error}; what was stored before can be read, and --resume goes on from there"
            )),
            error => error.into(),
        })?;
        if let Some(folder) = folder {
            outcome.trace = Stored::open(folder)?.trace()?;
        }
        Ok(outcome)
    }
}

impl Config {
    /// The observables that the user named, with their weights.
    pub fn observables(&self, space: &Space) -> Result<Vec<(String, Linear)>, Failure> {
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

    /// The same from wherever it is read again.
    fn with_absolute_paths(&self) -> Self {
        let mut config = self.clone();
        let observed = config.observe.iter_mut().map(|observe| &mut observe.file);
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
    sampler: Option<Method>,
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
        ("--force", store.force),
        ("--until-ess", store.until_ess.is_some()),
        ("--until-rhat", store.until_rhat.is_some()),
    ];
    let given = options.into_iter().find(|(_, given)| *given).map(|(option, _)| option);
    given.or(run.moves.given())
}
