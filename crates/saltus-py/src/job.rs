//! What a run has to do, and what came of it: everything that happens away from the interpreter.

use crate::errors::Problem;
use saltus::draws::observers::Best;
use saltus::model::erased::Erased;
use saltus::run::BEST;
use saltus::store::{Description, Keep, StoreWriter, Stored};
use saltus::{
    Advice, Assurance, ChainDraws, Control, Finding, Model, Outcome, Plan, Progress, Run, Settings,
    Sink, SinkError, Summary, Trace,
};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A run to be made.
pub struct Job {
    pub model: Erased,
    pub name: String,
    pub words: String,
    pub config: Value,
    /// How its sampler was chosen, if it was.
    pub choice: Option<Value>,
    pub settings: Settings,
    /// States that chains start from.
    pub starts: Option<Vec<u8>>,
    pub keep: Keep,
    /// Whether scouts are sent after it.
    pub scouts: bool,
    pub store: Option<Place>,
}

/// Where draws are stored.
pub struct Place {
    pub path: PathBuf,
    pub replace: bool,
    pub resume: bool,
    pub checkpoint_every: Option<Duration>,
}

/// What a run left.
pub struct Finished {
    pub outcome: Outcome,
    /// The summary as the command line prints it.
    pub summary: Value,
    /// What looks fine, in words.
    pub fine: Vec<String>,
    /// Code and sentence of what deserves attention.
    pub findings: Vec<(String, String)>,
}

/// Draws in memory that others may look at while a run goes on.
#[derive(Clone)]
pub struct SharedTrace(pub Arc<Mutex<Trace>>);

/// What is behind a lock, whoever panicked while holding it.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sink for SharedTrace {
    fn wants_states(&self) -> bool {
        lock(&self.0).wants_states()
    }

    fn begin(&mut self, plan: &Plan<'_>) -> Result<(), SinkError> {
        lock(&self.0).begin(plan)
    }

    fn take(&mut self, draws: Vec<ChainDraws>) -> Result<(), SinkError> {
        lock(&self.0).take(draws)
    }
}

impl Job {
    /// Makes the run.
    pub fn go(
        self,
        trace: &SharedTrace,
        monitor: impl FnMut(Progress) -> Control + Send + 'static,
    ) -> Result<Finished, Problem> {
        let model = Arc::new(self.model.clone());
        // Asked once more after the run, by scouts.
        let monitor = Arc::new(Mutex::new((monitor, None)));
        let of_run = monitor.clone();
        let mut run =
            Run::new(model, self.settings.clone()).observe_as_usual().monitor(move |progress| {
                let (monitor, last) = &mut *lock(&of_run);
                *last = Some(progress);
                monitor(progress)
            });
        if let Some(starts) = &self.starts {
            run = run.start_from(starts.clone());
        }
        let outcome = match &self.store {
            None => {
                let mut outcome = run.go_into(&mut trace.clone())?;
                outcome.trace = lock(&trace.0).clone();
                outcome
            }
            Some(place) => self.run_into_store(run, place)?,
        };
        let Self { model, name, words, choice, store, .. } = self;
        let mut summary = Summary::new(&name, &outcome);
        if self.scouts {
            summary.scout(&model, &outcome, move || match &mut *lock(&monitor) {
                (monitor, Some(last)) => monitor(*last),
                (_, None) => Control::Continue,
            });
        }
        if let (Some(place), Some(scouts)) = (&store, &summary.scouts) {
            StoreWriter::put_scouts(&place.path, scouts)?;
        }
        Ok(Finished::new(summary, words, outcome).chosen(choice))
    }

    fn run_into_store(&self, mut run: Run<'_, Erased>, place: &Place) -> Result<Outcome, Problem> {
        // What a store says of its run stays: how its sampler was chosen, for one.
        let config = match place.resume {
            true => Stored::open(&place.path)?.description().config.clone(),
            false => self.config.clone(),
        };
        let description = Description {
            description: Some(self.words.clone()),
            keep: self.keep,
            config,
            ..Description::new(&self.name, self.model.shown_space(), &self.settings)
        };
        if let Some(time) = place.checkpoint_every {
            run = run.checkpoint_every(time);
        }
        let mut writer = if place.resume {
            let (writer, checkpoint, seconds) = StoreWriter::resume(&place.path, description)?;
            if let Some(checkpoint) = checkpoint {
                run = run.resume(checkpoint).after(seconds);
            }
            writer
        } else {
            StoreWriter::create(&place.path, description, place.replace)?
        };
        let mut outcome = run.go_into(&mut writer)?;
        StoreWriter::put_exact(&place.path, &outcome.exact)?;
        outcome.trace = Stored::open(&place.path)?.trace()?;
        Ok(outcome)
    }
}

impl Finished {
    /// What is told of a run.
    pub fn new(mut summary: Summary, words: String, outcome: Outcome) -> Self {
        summary.description = Some(words);
        let mut value = json!(summary);
        value["stopped_by"] = json!(outcome.ended.rule());
        if let Some(best) = outcome.observed::<Best>(BEST).and_then(|best| best.first()) {
            value["best"] = json!(best);
        }
        let told = |finding: &Finding| {
            (finding.code().to_owned(), sentence(finding, summary.advice(finding)))
        };
        Self {
            summary: value,
            fine: summary.assurances.iter().map(Assurance::to_string).collect(),
            findings: summary.findings.iter().map(told).collect(),
            outcome,
        }
    }

    /// The same with how its sampler was chosen, if it was.
    pub fn chosen(mut self, choice: Option<Value>) -> Self {
        if let Some(choice) = choice {
            self.summary["choice"] = choice;
        }
        self
    }
}

/// What was found, and what to do about it, in the terms of the Python package.
fn sentence(finding: &Finding, advice: Vec<Advice>) -> String {
    let words = |advice: Advice| {
        Some(match advice {
            // What Python has no way to ask for.
            Advice::Temperatures | Advice::LadderForLogZ => return None,
            Advice::Temper => "temper=\"auto\"".to_owned(),
            Advice::Rungs => "temper=\"auto\", or more rungs".to_owned(),
            Advice::Chains(chains) => format!("chains={chains}"),
            Advice::Warmup(steps) => format!("warmup={steps}"),
            Advice::LongerWarmup => "a longer warmup".to_owned(),
            Advice::Draws => "more draws".to_owned(),
            Advice::Thin => "a larger thin".to_owned(),
            Advice::SmallerScale => "a smaller scale".to_owned(),
            Advice::Sampler => "another sampler".to_owned(),
            Advice::Compare => "another sampler with saltus.compare".to_owned(),
            Advice::Observe => "an observable of your own".to_owned(),
        })
    };
    let advice: Vec<String> = advice.into_iter().filter_map(words).collect();
    match advice.is_empty() {
        true => finding.to_string(),
        false => format!("{finding}; try {}", advice.join(", or ")),
    }
}
