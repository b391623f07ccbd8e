//! Which sampler suits a model: some are named by how the model is made, each is tried for a moment, and the one that gives most
//! for its work is taken.
//!
//! Work is counted ([`Kernel::work`](crate::kernel::Kernel::work)), never timed: the same model, settings and seed give the same choice on every machine
//! and with any number of threads.

use crate::balancing::Balancing;
use crate::draws::observable::Magnetisation;
use crate::model::Model;
use crate::run::{MAGNETISATION, Outcome, Run, Settings};
use crate::sampler::{Method, Sampler};
use crate::stats::{Diagnosis, diagnose};
use crate::temper::Temper;
use serde::{Deserialize, Serialize};

/// Share of the work of a warm-up, as the cheapest sampler would do it, that trials may take. Of the warm-up, so that a run which is
/// extended has chosen what a longer one would.
const SHARE: f64 = 0.05;
/// Counted nanoseconds that all trials together take at most, however long the run: nobody should wait for a choice.
const LONGEST: f64 = 1e9;
/// Models of more sites are not tried: their first candidate is taken.
const MOST_SITES: usize = 1 << 17;
/// Chains of a trial, if the run has as many.
const CHAINS: usize = 8;
/// Chains of trials are numbered from here, so that no chain of a run has their streams.
const FIRST_CHAIN: usize = 1 << 30;
/// Sweeps' worth of steps that a trial of each should have, the fewest that say anything, and the most that anybody needs.
const STEPS: f64 = 200.0;
const LEAST_STEPS: usize = 24;
const MOST_STEPS: usize = 100_000;
/// At most so many times as many are made where they can be afforded.
const LARGEST_SHARE: f64 = 10.0;
/// A step that touches fewer sites than a sweep is counted as this many nanoseconds per site for the length of its trial.
const SWEPT: f64 = 2.0;
/// A trial of a ladder needs more steps, to find its temperatures, and has fewer chains.
const LEAST_SCANS: usize = 100;
const LADDERS: usize = 4;
/// Chains whose split R-hat is larger disagree.
const DISAGREEMENT: f64 = 1.1;
/// Chains whose split R-hat is larger are in different places, and what their draws are worth is not known at all.
const SEPARATION: f64 = 1.5;

/// A sampler for a model, and what was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The sampler.
    #[serde(flatten)]
    pub sampler: Sampler,
    /// A ladder of temperatures, where chains disagreed without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temper: Option<Temper>,
    /// What was tried, in the order in which it was; nothing if there was one candidate, or if the run is too short to try any.
    pub trials: Vec<Trial>,
}

/// What a sampler did in a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Its name.
    pub sampler: String,
    /// Its balancing function, if it has one.
    #[serde(rename = "weight", default, skip_serializing_if = "Option::is_none")]
    pub balancing: Option<Balancing>,
    /// Whether it moved a ladder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tempered: bool,
    /// Kept draws of all its chains.
    pub draws: usize,
    /// Nanoseconds that a step of a chain is counted as.
    pub work_per_step: f64,
    /// Effective draws per counted millisecond of the observable that has fewest.
    pub ess_per_work: f64,
    /// The largest split R-hat of log π, the Hamming distance and the magnetisation.
    pub rhat: Option<f64>,
}

/// Chooses a sampler, and a ladder where it helps, for a run of a model with these settings. Neither their own sampler is read nor the number of
/// draws. A trial that fails counts for nothing: the run will say what is wrong.
///
/// ```
/// use saltus::{Lattice, Method, Pairwise, Settings, choose};
/// let magnet = Pairwise::ising_lattice(Lattice::periodic(16, 16)?, 0.5, vec![0.0; 256])?;
/// let choice = choose::choose(&magnet, &Settings::default());
/// assert_eq!(choice.sampler.method, Method::Sw);
/// let settings = choice.applied(Settings::default());
/// assert_eq!(settings.sampler, choice.sampler);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn choose<M: Model>(model: &M, settings: &Settings) -> Choice {
    let candidates = candidates(model, settings);
    let plain = |sampler: Sampler| Choice { sampler, temper: None, trials: Vec::new() };
    let Some(first) = candidates.first().cloned() else {
        return plain(Sampler::dlmc());
    };
    // The rungs of a ladder are moved by what suits all of them; no trial at one tells.
    let is_large = model.space().sites() > MOST_SITES;
    if candidates.len() == 1 || settings.temper.is_some() || is_large {
        return plain(first);
    }
    let trials = Trials::new(model, settings, &candidates);
    let mut tried = Vec::new();
    for sampler in &candidates {
        tried.extend(trials.of(sampler));
    }
    // What gets stuck may not with a gentler balancing function.
    let stuck = tried.iter().filter(|one| one.stuck && one.sampler.method.is_balanced());
    for sampler in stuck.map(|one| one.sampler.clone()).collect::<Vec<_>>() {
        tried.extend(trials.of(&Sampler { balancing: Balancing::Ratio, ..sampler }));
    }
    let Some(best) = best(&tried) else { return plain(first) };
    let mut chosen = (best.sampler.clone(), None);
    if !best.agrees()
        && let Some(ladder) = trials.of_ladder(best)
    {
        let helps = ladder.trial.ess_per_work > best.trial.ess_per_work;
        if ladder.agrees() && (helps || best.distance() > SEPARATION) {
            chosen.1 = Some(Temper::default());
        }
        tried.push(ladder);
    }
    let trials = tried.into_iter().map(|one| one.trial).collect();
    Choice { sampler: chosen.0, temper: chosen.1, trials }
}

impl Choice {
    /// Settings with what was chosen.
    pub fn applied(&self, settings: Settings) -> Settings {
        Settings {
            sampler: self.sampler.clone(),
            temper: settings.temper.or_else(|| self.temper.clone()),
            ..settings
        }
    }
}

/// The best of them; of equals the first. Effective draws of chains that disagree are no more than a guess, so that what agrees goes
/// first, and if nothing does the closest.
fn best(tried: &[Tried]) -> Option<&Tried> {
    let better = |one: &Tried, other: &Tried| match (one.agrees(), other.agrees()) {
        (true, true) => one.trial.ess_per_work > other.trial.ess_per_work,
        (true, false) => true,
        (false, true) => false,
        (false, false) => one.distance() < other.distance(),
    };
    let worth = tried.iter().filter(|one| one.trial.ess_per_work > 0.0);
    worth.reduce(|best, one| if better(one, best) { one } else { best })
}

/// Samplers worth trying on a model, the likeliest first.
fn candidates<M: Model>(model: &M, settings: &Settings) -> Vec<Sampler> {
    use Method::{Dlmc, Dlmcf, Dmala, Gibbs, Layers, Pas, Sw};
    let space = model.space();
    let is_sparse = model.adjacency().is_some();
    let is_independent = model.adjacency().is_some_and(|adjacency| {
        (0..adjacency.sites()).all(|site| adjacency.neighbours(site).is_empty())
    });
    let methods: &[Method] = if !model.sums().is_empty() {
        &[Gibbs]
    } else if is_independent {
        &[Gibbs, Dlmc]
    } else if model.rbm().is_some() {
        &[Layers, Dlmc, Dlmcf]
    } else if is_sparse && space.sites() > MOST_SITES {
        &[Gibbs]
    } else if is_sparse {
        match model.couplings() {
            Ok(_) => &[Gibbs, Sw],
            Err(_) => &[Gibbs, Dlmc],
        }
    } else if model.is_incremental() {
        &[Gibbs, Dlmc, Pas]
    } else {
        &[Dlmc, Dmala, Pas]
    };
    let suits = |sampler: &Sampler| {
        let settings = Settings { sampler: sampler.clone(), ..settings.clone() };
        settings.suits(model).is_ok()
    };
    let suiting: Vec<Sampler> = methods.iter().copied().map(Sampler::new).filter(suits).collect();
    match suiting.is_empty() {
        // It will say what is wrong.
        true => methods.iter().take(1).copied().map(Sampler::new).collect(),
        false => suiting,
    }
}

/// What all trials have in common.
struct Trials<'a, M> {
    model: &'a M,
    settings: &'a Settings,
    /// Times so many sweeps' worth of steps as each should have.
    share: f64,
    chains: usize,
}

/// A trial and what it was of.
struct Tried {
    sampler: Sampler,
    stuck: bool,
    trial: Trial,
}

impl Tried {
    fn distance(&self) -> f64 {
        self.trial.rhat.unwrap_or(f64::INFINITY)
    }

    /// Whether its chains agree, as far as can be seen.
    fn agrees(&self) -> bool {
        self.distance() <= DISAGREEMENT
    }
}

impl<'a, M: Model> Trials<'a, M> {
    fn new(model: &'a M, settings: &'a Settings, candidates: &[Sampler]) -> Self {
        let &Settings { chains, warmup, .. } = settings;
        let steps = chains as f64 * warmup as f64;
        let costs: Vec<f64> =
            (candidates.iter()).map(|sampler| work_of_step(model, sampler)).collect();
        let cheapest = costs.iter().copied().fold(f64::INFINITY, f64::min);
        let chains = chains.clamp(1, CHAINS);
        let mut trials = Self { model, settings, share: 1.0, chains };
        let each = |cost: &f64| trials.length(*cost) * cost * chains as f64;
        let wanted: f64 = costs.iter().map(each).sum();
        let affordable = (SHARE * steps * cheapest).min(LONGEST);
        trials.share = (affordable / wanted).min(LARGEST_SHARE);
        trials
    }

    /// Steps of a trial whose steps cost so much.
    fn length(&self, work: f64) -> f64 {
        let swept = SWEPT * self.model.space().sites() as f64;
        self.share * STEPS * (swept / work).max(1.0)
    }

    /// Settings of a trial, if there are steps enough.
    fn settings(&self, sampler: &Sampler, work: f64, least: usize) -> Option<Settings> {
        let steps = self.length(work) as usize;
        (steps >= least).then(|| {
            let steps = steps.min(MOST_STEPS);
            Settings {
                sampler: sampler.clone(),
                chains: self.chains,
                warmup: steps / 2,
                draws: steps - steps / 2,
                thin: 1,
                time_limit: None,
                until_ess: None,
                until_rhat: None,
                ..self.settings.clone()
            }
        })
    }

    fn run(&self, settings: Settings) -> Option<Outcome> {
        let mut run = Run::new(self.model, settings).first_chain(FIRST_CHAIN);
        let shown = self.model.shown_space();
        if shown.is_binary() {
            // Which tells the two signs of a magnet apart.
            run = run.observe(MAGNETISATION, Magnetisation { sites: shown.sites() });
        }
        run.go().ok()
    }

    /// Tries a sampler.
    fn of(&self, sampler: &Sampler) -> Option<Tried> {
        let work = work_of_step(self.model, sampler);
        let settings = self.settings(sampler, work, LEAST_STEPS)?;
        let outcome = self.run(settings)?;
        Some(tried(sampler, &outcome, work))
    }

    /// Tries the best with a ladder.
    fn of_ladder(&self, best: &Tried) -> Option<Tried> {
        best.sampler.suits_path(self.model).ok()?;
        let work = best.trial.work_per_step;
        let settings = self.settings(&best.sampler, work, LEAST_SCANS)?;
        let chains = self.chains.min(LADDERS);
        let settings = Settings { temper: Some(Temper::default()), chains, ..settings };
        let outcome = self.run(settings)?;
        let rungs = outcome.tempering.as_ref().map_or(1.0, |report| report.scales.len() as f64);
        let mut ladder = tried(&best.sampler, &outcome, rungs * work);
        ladder.trial.tempered = true;
        Some(ladder)
    }
}

fn tried(sampler: &Sampler, outcome: &Outcome, work_per_step: f64) -> Tried {
    let trace = &outcome.trace;
    let series = [Some(trace.log_prob()), Some(trace.hamming()), trace.series(MAGNETISATION)];
    let judged: Vec<Diagnosis> = series.into_iter().flatten().map(diagnose).collect();
    let fewest = judged.iter().map(|one| one.ess_bulk.unwrap_or(0.0)).fold(f64::INFINITY, f64::min);
    let rhats = judged.iter().map(|one| one.rhat.filter(|rhat| rhat.is_finite()));
    let rhat = rhats.reduce(|one, other| Some(one?.max(other?))).flatten();
    let draws = trace.draws() * trace.chains();
    let counted = draws as f64 * work_per_step;
    // A failed trial has drawn too little to be worth anything.
    let worth = outcome.ended.is_success() && outcome.stuck.is_empty() && counted > 0.0;
    let trial = Trial {
        sampler: sampler.to_string(),
        balancing: sampler.method.is_balanced().then_some(sampler.balancing),
        tempered: false,
        draws,
        work_per_step,
        ess_per_work: if worth { 1e6 * fewest / counted } else { 0.0 },
        rhat,
    };
    Tried { sampler: sampler.clone(), stuck: !outcome.stuck.is_empty(), trial }
}

/// Nanoseconds that a step of a chain is counted as, with what is recorded of it.
fn work_of_step<M: Model>(model: &M, sampler: &Sampler) -> f64 {
    sampler.terms(model, 1).work + RECORDING * model.space().sites() as f64
}

/// Nanoseconds per site that recording a draw is counted as.
const RECORDING: f64 = 0.3;
