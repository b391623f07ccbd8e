//! The numbers of a run that people and scripts read, and what to say about them in words.

use crate::balancing::Balancing;
use crate::control::Control;
use crate::control::Seconds;
use crate::draws::sink::SITES_CHANGED;
use crate::draws::sites::SiteCounts;
use crate::draws::trace::{Trace, WEIGHT};
use crate::finding::{Advice, Assurance, Evidence, Finding, fewest, judged, largest_rhat};
use crate::kernel::solver::Solver;
use crate::kernel::{Kind, ScaleUnit};
use crate::model::Model;
use crate::run::Outcome;
use crate::run::Scouts;
use crate::stats::{
    Diagnosis, EssSummary, Overlap, diagnose, diagnose_weighted, split_rhat, weighted_ess_of_chains,
};
use crate::temper::TemperReport;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Instant;

/// What a run came to; serialised, it is the command line's `--json` object.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Name of the model.
    pub model: String,
    /// The model in words, with its parameters, if its maker gave them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Name of the sampler, or of the kernel that took its place.
    pub sampler: String,
    /// Its balancing function, if it has one.
    #[serde(rename = "weight")]
    pub balancing: Option<Balancing>,
    /// Its solver, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solver: Option<Solver>,
    /// Number of sites.
    pub sites: usize,
    /// Values per site.
    pub values: usize,
    /// Number of chains.
    pub chains: usize,
    /// Warm-up steps of each chain.
    pub warmup: usize,
    /// Kept draws of each chain.
    pub draws: usize,
    /// Steps per kept draw.
    pub thin: usize,
    /// What is said of observables comes from one of so many draws, if not from all: effective draws are
    /// then at least what they are said to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged_every: Option<usize>,
    /// Seed of the run.
    pub seed: u64,
    /// Threads used.
    pub threads: usize,
    /// Step size or number of sites, if the sampler has a scale.
    pub scale: Option<f64>,
    /// Which of the two.
    #[serde(skip)]
    pub scale_unit: Option<ScaleUnit>,
    /// What the sampler knows of its target.
    #[serde(skip)]
    pub kind: Kind,
    /// Mean acceptance over the kept draws.
    pub acceptance: f64,
    /// The larger split R-hat of log π and the Hamming distance; none if nothing moved, or if chains
    /// stand still at different places and it is infinite.
    pub rhat: Option<f64>,
    /// Effective sample size of the Hamming distance to a random state, over chains.
    pub ess: EssOverChains,
    /// Evaluations per step, counted as in the paper.
    pub evaluations_per_step: f64,
    /// Evaluations per step that were really made.
    pub evaluations_performed_per_step: f64,
    /// Mean ESS of a chain per evaluation (counted as in the paper) of that chain; none where the chains do not agree
    /// and effective draws mean nothing, like the next two.
    pub ess_per_evaluation: Option<f64>,
    /// Mean ESS of a chain per second of wall time of the draws and of summing them up.
    pub ess_per_second: Option<f64>,
    /// ESS of all chains together per second of wall time of the draws and of summing them up.
    pub ess_of_all_chains_per_second: Option<f64>,
    /// What the draws of all chains are worth for the observable for which they are worth least.
    pub effective_draws: Option<EffectiveDraws>,
    /// The same per second of wall time of the draws and of summing them up; none where the chains do not agree, like the next.
    pub effective_draws_per_second: Option<f64>,
    /// The same per evaluation, counted as in the paper.
    pub effective_draws_per_evaluation: Option<f64>,
    /// The largest rank-normalised R-hat of an observable; none if nothing moved, or if it is infinite.
    pub largest_rhat: Option<f64>,
    /// Wall time.
    pub seconds: Seconds,
    /// Wall time of the draws per chain, site and step, in nanoseconds.
    pub ns_per_site_step: f64,
    /// log π over all draws.
    pub log_prob: Estimate,
    /// Mean number of sites that changed in a step.
    pub sites_changed_per_step: f64,
    /// How the run ended.
    pub ended: String,
    /// Every observable, judged over all chains.
    pub observables: Vec<ObservableSummary>,
    /// How many sites moved, if they were watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site_counts: Option<SiteCounts>,
    /// Whether the chains forgot their start, if sites were watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<Overlap>,
    /// What the ladder showed, if the run was tempered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tempering: Option<TemperReport>,
    /// What chains from other starts came to, if some were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scouts: Option<Scouts>,
    /// What deserves attention.
    pub findings: Vec<Finding>,
    /// Whether nothing does.
    pub converged: bool,
    /// What looks fine.
    #[serde(skip)]
    pub assurances: Vec<Assurance>,
}

/// What the draws say about one observable.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ObservableSummary {
    /// Its name.
    pub name: String,
    /// Mean, error, effective sample sizes, R-hat.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// Its exact mean, where that could be had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<f64>,
}

/// What the draws of all chains together are worth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffectiveDraws {
    /// The observable for which they are worth least.
    pub observable: String,
    /// Effective draws of its bulk or its tails, whichever are fewer.
    pub ess: f64,
}

/// Effective sample size over chains.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EssOverChains {
    /// Mean over chains.
    pub mean: f64,
    /// Of the worst chain.
    pub min: f64,
    /// Standard deviation over chains.
    pub sd: f64,
}

/// A mean with its Monte Carlo standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Mean over all draws; none if there are none.
    pub mean: Option<f64>,
    /// Standard deviation of the draws.
    pub sd: Option<f64>,
    /// Monte Carlo standard error of the mean; none if the draws do not tell.
    pub mcse: Option<f64>,
}

impl Estimate {
    fn of(diagnosis: Option<&Diagnosis>) -> Self {
        Self {
            mean: diagnosis.and_then(|diagnosis| diagnosis.mean),
            sd: diagnosis.and_then(|diagnosis| diagnosis.sd),
            mcse: diagnosis.and_then(|diagnosis| diagnosis.mcse),
        }
    }
}

/// Judges draws, weighted or not.
fn judge(chains: &[Vec<f64>], weights: Option<&[Vec<f64>]>) -> Diagnosis {
    match weights {
        None => diagnose(chains),
        Some(weights) => diagnose_weighted(chains, weights),
    }
}

/// Standard errors between the means of two samplers that contradict each other.
const CONTRADICTION: f64 = 5.0;

/// Name of −log π among the observables, up to a constant what physicists call energy.
pub const ENERGY: &str = "energy";

/// Judges everything that was kept of each draw: the observables, the energy, and the number of
/// sites that changed.
fn observables(trace: &Trace, exact: &BTreeMap<String, f64>) -> Vec<ObservableSummary> {
    let own = trace.names().iter().map(String::as_str).chain([SITES_CHANGED]);
    let own = own.filter(|name| *name != WEIGHT);
    let named: Vec<(&str, &[Vec<f64>])> =
        own.filter_map(|name| Some((name, trace.series(name)?))).collect();
    let mut judged: Vec<ObservableSummary> = named
        .par_iter()
        .map(|(name, chains)| ObservableSummary {
            name: (*name).to_owned(),
            diagnosis: judge(chains, trace.weights()),
            exact: exact.get(*name).copied(),
        })
        .collect();
    // An observable of that name is somebody's own. Of log π everything is known but the sign of the mean.
    if trace.series(ENERGY).is_none()
        && let Some(ObservableSummary { diagnosis, exact, .. }) = judged.first()
    {
        let diagnosis = Diagnosis { mean: diagnosis.mean.map(|mean| -mean), ..*diagnosis };
        let (name, exact) = (ENERGY.to_owned(), exact.map(|mean| -mean));
        judged.insert(1, ObservableSummary { name, diagnosis, exact });
    }
    judged
}

impl Summary {
    /// Sums up a run of a model of that name.
    pub fn new(model: impl Into<String>, outcome: &Outcome) -> Self {
        let began = Instant::now();
        let Outcome { settings, space, trace, .. } = outcome;
        let ess = match trace.weights() {
            None => EssSummary::of_chains(trace.hamming()),
            Some(weights) => weighted_ess_of_chains(trace.hamming(), weights),
        };
        let observables = observables(trace, &outcome.exact);
        // log π is the first of a trace's observables.
        let log_prob = Estimate::of(observables.first().map(|log_prob| &log_prob.diagnosis));
        let site_counts = outcome.sites.as_ref().map(|sites| sites.counts);
        let overlap = outcome.sites.as_ref().and_then(|sites| sites.overlap);
        let verdict =
            Evidence { outcome, ess: &ess, observables: &observables, site_counts, overlap }
                .verdict();
        let rhats = [trace.hamming(), trace.log_prob()].map(|chains| match trace.weights() {
            None => split_rhat(chains),
            Some(weights) => diagnose_weighted(chains, weights).rhat,
        });
        let rhat = rhats.into_iter().flatten().reduce(f64::max);
        let draws = trace.draws();
        let steps = (draws * settings.thin) as f64;
        let evaluations_per_step = outcome.traits.evaluations_charged;
        // The name of one of ours, unless somebody else's kernel has taken its place.
        let ours = settings.sampler.method.name() == outcome.traits.name;
        let per = |amount: f64, of: f64| if of > 0.0 { amount / of } else { 0.0 };
        let means_something = !verdict.findings.iter().any(Finding::voids_effective_draws);
        let worth = |amount: f64, of: f64| means_something.then(|| per(amount, of));
        let all_steps = steps * trace.chains() as f64;
        let least = fewest(&observables);
        let effective_draws =
            least.map(|(name, ess)| EffectiveDraws { observable: name.to_owned(), ess });
        let of_least = |amount: f64| least.and_then(|(_, ess)| worth(ess, amount));
        let site_steps = steps * (trace.chains() * space.sites()) as f64;
        let mut seconds = outcome.seconds;
        seconds.summary += began.elapsed().as_secs_f64();
        let waited = seconds.total();
        let mut summary = Self {
            model: model.into(),
            description: None,
            sampler: outcome.traits.name.to_owned(),
            balancing: (ours && outcome.traits.is_balanced).then_some(settings.sampler.balancing),
            solver: (ours && settings.sampler.method.has_solver())
                .then_some(settings.sampler.solver),
            sites: space.sites(),
            values: space.values(),
            chains: trace.chains(),
            warmup: settings.warmup,
            draws,
            thin: settings.thin,
            judged_every: Some(trace.every()).filter(|every| *every > 1),
            seed: settings.seed,
            threads: outcome.threads,
            scale: outcome.scale,
            scale_unit: outcome.traits.scale.map(|scale| scale.unit),
            kind: outcome.traits.kind,
            acceptance: outcome.acceptance,
            rhat: rhat.filter(|rhat| rhat.is_finite()),
            evaluations_per_step,
            evaluations_performed_per_step: outcome.evaluations_performed_per_step,
            ess_per_evaluation: worth(ess.mean, steps * evaluations_per_step),
            ess_per_second: worth(ess.mean, waited),
            ess_of_all_chains_per_second: worth(ess.mean * trace.chains() as f64, waited),
            effective_draws_per_second: of_least(waited),
            effective_draws_per_evaluation: of_least(all_steps * evaluations_per_step),
            effective_draws,
            largest_rhat: largest_rhat(&observables).filter(|rhat| rhat.is_finite()),
            scouts: None,
            seconds,
            ns_per_site_step: per(seconds.draws * 1e9, site_steps),
            log_prob,
            sites_changed_per_step: outcome.sites_changed_per_step,
            ended: outcome.ended.to_string(),
            converged: verdict.findings.is_empty(),
            findings: verdict.findings,
            assurances: verdict.assurances,
            observables,
            site_counts,
            overlap,
            tempering: outcome.tempering.clone(),
            ess: EssOverChains { mean: ess.mean, min: ess.min, sd: ess.sd },
        };
        if let Some(scouts) = outcome.scouts.clone() {
            summary.heed(scouts);
        }
        summary
    }

    /// Sends scouts from other starts, a part of the run's time, to look for a place that no chain came to; a finding
    /// if there is one, or if they could not be sent and nothing else was found. Nothing where the chains themselves show
    /// that they have not seen everything, and none on ladders of temperatures.
    ///
    /// ```
    /// use saltus::{Control, Lattice, Pairwise, Run, Sampler, Settings, Summary};
    /// // Cold spins in a small field, all chains in one of the two modes.
    /// let model = Pairwise::ising_lattice(Lattice::periodic(4, 4)?, 0.8, vec![0.05; 16])?;
    /// let settings = Settings { chains: 4, warmup: 100, draws: 1000, ..Sampler::gibbs().into() };
    /// let outcome = Run::new(&model, settings).start_from(vec![1; 64]).go()?;
    /// let mut summary = Summary::new("ising", &outcome);
    /// assert!(summary.converged);
    /// summary.scout(&model, &outcome, || Control::Continue);
    /// assert_eq!(summary.findings[0].code(), "elsewhere");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scout<M: Model>(
        &mut self,
        model: &M,
        outcome: &Outcome,
        monitor: impl FnMut() -> Control + Send,
    ) {
        if self.findings.iter().any(Finding::is_partial) {
            return;
        }
        let began = Instant::now();
        let scouts = Scouts::send(model, outcome, self, monitor);
        let took = began.elapsed().as_secs_f64();
        self.wait(|seconds| seconds.scouts = took);
        self.heed(scouts.unwrap_or_else(Scouts::unsent));
    }

    /// Adds time that was waited for: what draws are worth per second is of all of it.
    pub fn wait(&mut self, add: impl FnOnce(&mut Seconds)) {
        let before = self.seconds.total();
        add(&mut self.seconds);
        let share = before / self.seconds.total();
        let told = [
            &mut self.ess_per_second,
            &mut self.ess_of_all_chains_per_second,
            &mut self.effective_draws_per_second,
        ];
        told.into_iter().flatten().for_each(|worth| *worth *= share);
    }

    /// What may help against one of the findings, of what fits the run: what has no scale needs no smaller one, and who has a
    /// ladder needs no other.
    pub fn advice(&self, finding: &Finding) -> Vec<Advice> {
        let tempered = self.tempering.is_some();
        let fits = |advice: Advice| match advice {
            Advice::SmallerScale => self.scale.is_some().then_some(advice),
            Advice::Temper if tempered => Some(Advice::LongerWarmup),
            // Which compares samplers of one temperature.
            Advice::Compare if tempered => Some(Advice::Sampler),
            _ => Some(advice),
        };
        finding.advice().into_iter().filter_map(fits).collect()
    }

    /// Takes in what scouts came to, or why there are none.
    fn heed(&mut self, scouts: Scouts) {
        let Scouts { sent: of, elsewhere, by, unsent } = scouts.clone();
        if let Some(by) = by {
            self.add(Finding::Elsewhere { scouts: elsewhere, of, by });
        }
        // Whatever else was found says already that not everything may have been seen.
        if let Some(why) = unsent.filter(|why| why.leaves_open() && self.findings.is_empty()) {
            self.add(Finding::Unscouted { why });
        }
        self.scouts = Some(scouts);
    }

    /// Adds what the run alone does not show, to be heard first.
    fn add(&mut self, finding: Finding) {
        if finding.voids_effective_draws() {
            self.ess_per_evaluation = None;
            self.ess_per_second = None;
            self.ess_of_all_chains_per_second = None;
            self.effective_draws_per_second = None;
            self.effective_draws_per_evaluation = None;
        }
        self.findings.insert(0, finding);
        self.converged = false;
    }

    /// Compares the means of runs of one model by several samplers, which must be the same: a finding for every run that
    /// another contradicts by more than their errors. Which of the two is right is not known.
    pub fn confront(runs: &mut [Self]) {
        let contradicted: Vec<Option<Finding>> =
            runs.iter().map(|run| run.contradiction(runs)).collect();
        for (run, finding) in runs.iter_mut().zip(contradicted) {
            if let Some(finding) = finding {
                run.add(finding);
            }
        }
    }

    /// What another run says differently, by most errors.
    fn contradiction(&self, others: &[Self]) -> Option<Finding> {
        let mut farthest = CONTRADICTION;
        let mut found = None;
        for other in others {
            for (one, another) in judged(&self.observables)
                .flat_map(|one| judged(&other.observables).map(move |another| (one, another)))
                .filter(|(one, another)| one.name == another.name)
            {
                let (Some(here), Some(there)) = (one.diagnosis.mean, another.diagnosis.mean) else {
                    continue;
                };
                // Chains that stand still say so themselves.
                let (Some(error), Some(of_other)) = (one.diagnosis.mcse, another.diagnosis.mcse)
                else {
                    continue;
                };
                let errors = (here - there).abs() / error.hypot(of_other);
                if errors > farthest {
                    farthest = errors;
                    let (by, observable) = (other.sampler.clone(), one.name.clone());
                    found = Some(Finding::Contradicted { by, observable, here, there });
                }
            }
        }
        found
    }
}
