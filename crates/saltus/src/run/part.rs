//! What a part of a run's chains left, as bytes that go from one process to another, and the run that all parts make.

use super::{BEST, Outcome, RunError, Settings};
use crate::control::{Ended, Seconds};
use crate::draws::observer::{Observed, Observer};
use crate::draws::observers::{Best, BestState};
use crate::draws::sink::STATISTICS;
use crate::draws::sites::{SiteRecord, Sites};
use crate::draws::trace::Trace;
use crate::model::Model;
use crate::temper::{Tally, TemperReport};
use crate::tune::Round;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Everything that a part left but its draws, which follow as they are in memory.
#[derive(Serialize, Deserialize)]
struct Left {
    /// The saltus that made it: nobody else reads it.
    version: String,
    names: Vec<String>,
    chains: usize,
    draws: usize,
    /// Bytes of the states of a chain, if they were kept.
    states: Option<usize>,
    scale: Option<f64>,
    rounds: Vec<Round>,
    /// Per step: acceptance, sites that changed, evaluations.
    means: [f64; 3],
    stuck: Vec<usize>,
    seconds: Seconds,
    threads: usize,
    tally: Option<Tally>,
    exact: BTreeMap<String, f64>,
    records: Vec<SiteRecord>,
    last_states: Vec<Vec<u8>>,
    own_states: Vec<Vec<u8>>,
    best: Vec<BestState>,
}

impl Outcome {
    /// A part of a run as bytes, which [`Parts`] joins. It must be complete, and have its draws.
    ///
    /// ```
    /// use saltus::run::{self, Parts};
    /// use saltus::{Control, Independent, Run, Settings};
    /// use std::time::Duration;
    /// let model = Independent::bernoulli(vec![0.3; 5])?;
    /// let whole = Settings { chains: 5, warmup: 50, draws: 10, ..Settings::default() };
    /// let whole = run::pilot(&model, &whole, None, |_| Control::Continue)?;
    /// let mut parts = Parts::default();
    /// for (first, chains) in [(0, 3), (3, 2)] {
    ///     let part = Settings { chains, ..whole.clone() };
    ///     parts.add(&Run::new(&model, part).first_chain(first).go()?.to_part()?)?;
    /// }
    /// let joined = parts.join(&model, &whole, Duration::from_secs(1))?;
    /// assert_eq!(joined.trace, Run::new(&model, whole).go()?.trace);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_part(&self) -> Result<Vec<u8>, RunError> {
        if self.ended != Ended::Complete {
            return Err(wrong(format!("it is not complete: {}", self.ended)));
        }
        let trace = &self.trace;
        let (series, states) = (trace.all_series(), trace.all_states());
        let left = Left {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            names: trace.names().to_vec(),
            chains: trace.chains(),
            draws: trace.draws(),
            states: states.first().map(Vec::len),
            scale: self.scale,
            rounds: self.warmup.clone(),
            means: [
                self.acceptance,
                self.sites_changed_per_step,
                self.evaluations_performed_per_step,
            ],
            stuck: self.stuck.clone(),
            seconds: self.seconds,
            threads: self.threads,
            tally: self.tempering.as_ref().and_then(|report| report.tally.as_deref().cloned()),
            exact: self.exact.clone(),
            records: self.site_records.clone(),
            last_states: self.last_states.clone(),
            own_states: self.own_states.clone(),
            best: self.observed::<Best>(BEST).cloned().unwrap_or_default(),
        };
        let left = postcard::to_stdvec(&left).map_err(|error| wrong(error.to_string()))?;
        let numbers: usize = series.iter().flatten().map(Vec::len).sum();
        let states_len: usize = states.iter().map(Vec::len).sum();
        let mut bytes = Vec::with_capacity(8 + left.len() + 8 * numbers + states_len);
        bytes.extend((left.len() as u64).to_le_bytes());
        bytes.extend(left);
        for chain in series.iter().flatten() {
            bytes.extend(chain.iter().flat_map(|number| number.to_le_bytes()));
        }
        states.iter().for_each(|states| bytes.extend(states));
        Ok(bytes)
    }
}

/// The parts of a run, to be added in the order of their chains.
#[derive(Default)]
pub struct Parts {
    left: Vec<Left>,
    /// By observable and statistic, then chain.
    series: Vec<Vec<Vec<f64>>>,
    states: Vec<Vec<u8>>,
}

impl Parts {
    /// Adds what [`Outcome::to_part`] gave.
    pub fn add(&mut self, part: &[u8]) -> Result<(), RunError> {
        let cut_off = || wrong("it is cut off".to_owned());
        let (length, rest) = part.split_first_chunk::<8>().ok_or_else(cut_off)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok();
        let (left, mut rest) =
            length.and_then(|length| rest.split_at_checked(length)).ok_or_else(cut_off)?;
        let left: Left = postcard::from_bytes(left).map_err(|error| wrong(error.to_string()))?;
        let version = env!("CARGO_PKG_VERSION");
        if left.version != version {
            let other = &left.version;
            return Err(wrong(format!("it was made by saltus {other}, and this is {version}")));
        }
        let first = self.left.first().unwrap_or(&left);
        let alike = first.names == left.names
            && first.draws == left.draws
            && first.states.is_some() == left.states.is_some()
            && first.rounds.len() == left.rounds.len();
        if !alike {
            return Err(wrong("it is of another run than the first".to_owned()));
        }
        let columns = left.names.len() + STATISTICS.len();
        self.series.resize_with(columns, Vec::new);
        let of_chain = left.draws.checked_mul(8).ok_or_else(cut_off)?;
        for series in &mut self.series {
            for _ in 0..left.chains {
                let (numbers, others) = rest.split_at_checked(of_chain).ok_or_else(cut_off)?;
                let (numbers, _) = numbers.as_chunks::<8>();
                series.push(numbers.iter().map(|number| f64::from_le_bytes(*number)).collect());
                rest = others;
            }
        }
        if let Some(of_chain) = left.states {
            for _ in 0..left.chains {
                let (states, others) = rest.split_at_checked(of_chain).ok_or_else(cut_off)?;
                self.states.push(states.to_vec());
                rest = others;
            }
        }
        self.left.push(left);
        Ok(())
    }

    /// The run whose chains these are, with what its settings and its model say; it took so long from its first task to its
    /// last.
    pub fn join<M: Model>(
        self,
        model: &M,
        settings: &Settings,
        took: Duration,
    ) -> Result<Outcome, RunError> {
        let Self { mut left, series, states } = self;
        let chains: usize = left.iter().map(|part| part.chains).sum();
        if left.is_empty() || chains != settings.chains {
            return Err(wrong(format!("there are {chains} chains of {}", settings.chains)));
        }
        let mean = |number: &dyn Fn(&Left) -> f64| {
            let of_part = |part: &Left| part.chains as f64 * number(part);
            left.iter().map(of_part).sum::<f64>() / chains as f64
        };
        let means = [0, 1, 2].map(|at| mean(&|part: &Left| part.means[at]));
        let mut warmup = left[0].rounds.clone();
        for (number, round) in warmup.iter_mut().enumerate() {
            round.acceptance = mean(&|part: &Left| part.rounds[number].acceptance);
        }
        let mut before = 0;
        let mut stuck = Vec::new();
        for part in &left {
            stuck.extend(part.stuck.iter().map(|chain| before + chain));
            before += part.chains;
        }
        let (seconds, threads) = timing(&left, took);
        let best = left.iter_mut().map(|part| std::mem::take(&mut part.best)).collect();
        let best: Observed = Arc::new(Best { states: 1 }.finish(best));
        let records: Vec<&SiteRecord> = left.iter().flat_map(|part| &part.records).collect();
        let sites = if records.len() == chains { Sites::new(&records) } else { None };
        let tallies: Option<Vec<Tally>> = left.iter().map(|part| part.tally.clone()).collect();
        let tempering = tallies.and_then(Tally::joined).map(TemperReport::new);
        let mut traits = settings.sampler.traits(model.space());
        if let Some(tempering) = &tempering {
            traits.evaluations_charged *= tempering.scales.len() as f64;
        }
        let exact = std::mem::take(&mut left[0].exact);
        let (names, draws, scale) = (left[0].names.clone(), left[0].draws, left[0].scale);
        let (mut last_states, mut own_states) = (Vec::new(), Vec::new());
        for part in left {
            last_states.extend(part.last_states);
            own_states.extend(part.own_states);
        }
        Ok(Outcome {
            settings: settings.clone(),
            space: model.shown_space().clone(),
            traits,
            threads,
            trace: Trace::of_series(names, series, draws, 1).with_states(states),
            last_states,
            own_states,
            scale,
            acceptance: means[0],
            warmup,
            stuck,
            sites_changed_per_step: means[1],
            evaluations_performed_per_step: means[2],
            sites,
            site_records: Vec::new(),
            tempering,
            rung_draws: None,
            symmetric: model.is_symmetric(),
            scouts: None,
            exact,
            seconds,
            deadline: None,
            ended: Ended::Complete,
            observed: BTreeMap::from([(BEST.to_owned(), best)]),
        })
    }
}

/// Wall time of the whole, shared by warm-up and draws as in the parts, and about how many threads were busy during it.
fn timing(parts: &[Left], took: Duration) -> (Seconds, usize) {
    let (mut seconds, mut busy) = (Seconds::default(), 0.0);
    for Left { seconds: of_part, threads, .. } in parts {
        seconds.warmup += of_part.warmup;
        seconds.draws += of_part.draws;
        busy += *threads as f64 * (of_part.warmup + of_part.draws);
    }
    let took = took.as_secs_f64();
    let share = took / (seconds.warmup + seconds.draws).max(f64::MIN_POSITIVE);
    seconds.warmup *= share;
    seconds.draws *= share;
    (seconds, (busy / took.max(f64::MIN_POSITIVE)).round().max(1.0) as usize)
}

fn wrong(reason: String) -> RunError {
    RunError::Part(reason)
}
