//! Claims about effective draws per evaluation and per second.

use super::{Answer, Claim, Part};
use crate::commands::paper::results::{
    Estimate, Measure, PER_EVALUATION, PER_SECOND, Results, SHARE, weights_of,
};
use crate::study::{BALANCED, BLIND, SAMPLERS, Target};
use saltus::{Balancing, Method};

/// Draws from which on the estimator finds nearly all of independent ones.
const MANY_DRAWS: usize = 50_000;
/// What "much more" is taken to mean.
const MUCH: f64 = 2.0;
/// What "clearly" is taken to mean.
const CLEARLY: f64 = 1.2;
/// What "about the same" is taken to mean: at least this share.
const ABOUT: f64 = 0.8;
/// What "close" is taken to mean.
const CLOSE: f64 = 0.5;
/// What "several models" is taken to mean.
const SEVERAL: usize = 3;
/// On Bernoulli targets DLMC and, clipped, DLMCf accept everything: no weight function is better.
const REJECTING: [Method; 3] = [Method::Gwg, Method::Pas, Method::Dmala];
/// The samplers that the paper holds DLMC against; DLMCf is its own.
const BASELINES: [Method; 6] =
    [Method::Gwg, Method::Pas, Method::Dmala, Method::Rwm, Method::Hb, Method::Bg];
/// DLMC over the other sampler that the paper proposes.
const DLMC_DLMCF: (Method, Method) = (Method::Dlmc, Method::Dlmcf);
const BESIDE_DLMCF: &str = "beside the claim: DLMC over DLMCf per evaluation (above 1)";
/// The balanced samplers other than DLMC.
const OTHERS: [Method; 4] = [Method::Gwg, Method::Pas, Method::Dmala, Method::Dlmcf];

const ISING_RATIO: &str = "Ising: ratio over sqrt per evaluation (above 1)";

/// C1, C3 to C9 and C11.
pub fn claims(results: &Results) -> Vec<Claim> {
    let ask = Asking { results };
    let lattices = [Target::ISING, Target::POTTS].concat();
    let coupled: Vec<Target> =
        Target::ALL.into_iter().filter(|target| !target.is_factorised()).collect();
    let above_one = |ratio: f64| ratio > 1.0;
    let below_one = |ratio: f64| ratio < 1.0;
    let dmala_pas = (Method::Dmala, Method::Pas);
    vec![
        Claim::new(
            "C1",
            "On Bernoulli and categorical targets DLMC's draws are independent, with either weight \
             function; those of PAS, DMALA, GWG, RWM, HB and BG are not.",
            vec![
                Part::all(
                    "DLMC's effective draws over draws (at least 0.98 of 50,000, 0.95 of fewer)",
                    ask.independence(),
                ),
                Part::all("the best of the others (below 0.95)", ask.most_independent()),
            ],
        ),
        Claim::new(
            "C3",
            "On Bernoulli targets DMALA is below PAS per evaluation and above it per second.",
            vec![
                Part::all(
                    "DMALA over PAS per evaluation (below 1)",
                    ask.over(&Target::BERNOULLI, dmala_pas, PER_EVALUATION, below_one),
                ),
                Part::all(
                    "DMALA over PAS per second (above 1)",
                    ask.over(&Target::BERNOULLI, dmala_pas, PER_SECOND, above_one),
                ),
            ],
        ),
        Claim::new(
            "C4",
            "On Bernoulli targets the ratio weight is better than the square root for GWG, PAS and \
             DMALA, the more so the sharper the target.",
            vec![
                Part::all(
                    "ratio over sqrt per evaluation (above 1)",
                    ask.ratio_over_sqrt(&Target::BERNOULLI, &REJECTING, above_one),
                ),
                Part::all(
                    "that gain at low over that at high temperature (above 1)",
                    ask.sharper(),
                ),
            ],
        ),
        Claim::new(
            "C5",
            "On Ising and Potts models DLMC has the most effective draws per evaluation.",
            vec![
                Part::all(
                    "DLMC over the best baseline per evaluation (above 1)",
                    ask.dlmc_leads(&lattices, PER_EVALUATION, 1.0),
                ),
                Part::beside(
                    BESIDE_DLMCF,
                    ask.over(&lattices, DLMC_DLMCF, PER_EVALUATION, above_one),
                ),
            ],
        ),
        Claim::new(
            "C6",
            "Balanced samplers other than DLMC prefer the ratio weight on Ising and the square root \
             on Potts models.",
            vec![
                Part::all(ISING_RATIO, ask.ratio_over_sqrt(&Target::ISING, &OTHERS, above_one)),
                Part::all(
                    "Potts: ratio over sqrt per evaluation (below 1)",
                    ask.ratio_over_sqrt(&Target::POTTS, &OTHERS, below_one),
                ),
            ],
        ),
        Claim::new(
            "C7",
            "On factorial HMMs every balanced sampler is good, DLMC leads, PAS is close to it, and the \
             square root is better than the ratio for all of them.",
            vec![
                Part::all(
                    "the worst balanced sampler over the best of HB, BG and RWM per evaluation (above 1)",
                    ask.worst_balanced(&Target::FHMM, 1.0),
                ),
                Part::all(
                    "DLMC over the best baseline per evaluation (above 1)",
                    ask.dlmc_leads(&Target::FHMM, PER_EVALUATION, 1.0),
                ),
                Part::beside(
                    BESIDE_DLMCF,
                    ask.over(&Target::FHMM, DLMC_DLMCF, PER_EVALUATION, above_one),
                ),
                Part::all(
                    "PAS over DLMC per evaluation (at least 0.5)",
                    ask.over(&Target::FHMM, (Method::Pas, Method::Dlmc), PER_EVALUATION, |ratio| {
                        ratio >= CLOSE
                    }),
                ),
                Part::all(
                    "ratio over sqrt per evaluation (below 1)",
                    ask.ratio_over_sqrt(&Target::FHMM, &BALANCED, below_one),
                ),
            ],
        ),
        Claim::new(
            "C8",
            "On RBMs DLMC is clearly best per evaluation and per second; on binary ones the other \
             balanced samplers prefer the ratio weight and DLMC the square root.",
            vec![
                Part::all(
                    "DLMC over the best baseline per evaluation (above 1.2)",
                    ask.dlmc_leads(&Target::RBM, PER_EVALUATION, CLEARLY),
                ),
                Part::all(
                    "DLMC over the best baseline per second (above 1.2)",
                    ask.dlmc_leads(&Target::RBM, PER_SECOND, CLEARLY),
                ),
                Part::beside(
                    BESIDE_DLMCF,
                    ask.over(&Target::RBM, DLMC_DLMCF, PER_EVALUATION, above_one),
                ),
                Part::all(
                    "binary: ratio over sqrt per evaluation, others (above 1)",
                    ask.ratio_over_sqrt(&Target::BINARY_RBM, &OTHERS, above_one),
                ),
                Part::all(
                    "binary: ratio over sqrt per evaluation, DLMC (below 1)",
                    ask.ratio_over_sqrt(&Target::BINARY_RBM, &[Method::Dlmc], below_one),
                ),
            ],
        ),
        Claim::new(
            "C9",
            "DLMCf is about as good as DLMC per evaluation on several models, and much better than \
             DMALA everywhere.",
            vec![
                Part {
                    enough: Some(SEVERAL),
                    ..Part::all(
                        "coupled targets: DLMCf over DLMC per evaluation (at least 0.8, on three)",
                        ask.over(
                            &coupled,
                            (Method::Dlmcf, Method::Dlmc),
                            PER_EVALUATION,
                            |ratio| ratio >= ABOUT,
                        ),
                    )
                },
                Part::all(
                    "DLMCf over DMALA per evaluation (at least 2)",
                    ask.over(
                        &Target::ALL,
                        (Method::Dlmcf, Method::Dmala),
                        PER_EVALUATION,
                        |ratio| ratio >= MUCH,
                    ),
                ),
            ],
        ),
        Claim::new(
            "C11",
            "Not in the paper's text, but in its figures: all balanced samplers have many more effective \
             draws per evaluation than RWM, HB and BG.",
            vec![Part::all(
                "the worst balanced sampler over the best of HB, BG and RWM (at least 2)",
                ask.worst_balanced(&Target::ALL, MUCH),
            )],
        ),
    ]
}

/// Questions that several claims ask.
struct Asking<'a> {
    results: &'a Results,
}

impl Asking<'_> {
    fn share(
        &self,
        target: Target,
        sampler: Method,
        weight: Option<Balancing>,
    ) -> Option<(String, Estimate)> {
        let share = self.results.mean(target, sampler, weight, SHARE)?;
        let weight = weight.map_or(String::new(), |weight| format!(" {weight}"));
        Some((format!("{target} {sampler}{weight}"), share))
    }

    fn independence(&self) -> Vec<Option<Answer>> {
        let weights = weights_of(Method::Dlmc);
        let cells =
            Target::FACTORISED.iter().flat_map(|target| weights.iter().map(move |w| (*target, *w)));
        let answer = |(target, weight)| {
            let (of, share) = self.share(target, Method::Dlmc, weight)?;
            let draws =
                self.results.tuned(target, Method::Dlmc, weight).map(|row| row.draws).min()?;
            let least = if draws >= MANY_DRAWS { 0.98 } else { 0.95 };
            Some(Answer::new(of, share, |share| share >= least))
        };
        cells.map(answer).collect()
    }

    fn most_independent(&self) -> Vec<Option<Answer>> {
        let samplers = || {
            let langevin = [Method::Dlmc, Method::Dlmcf];
            SAMPLERS.into_iter().filter(move |sampler| !langevin.contains(sampler))
        };
        let of_target = |target: &Target| {
            let cells = samplers()
                .flat_map(|sampler| weights_of(sampler).into_iter().map(move |w| (sampler, w)));
            let shares: Option<Vec<(String, Estimate)>> =
                cells.map(|(sampler, weight)| self.share(*target, sampler, weight)).collect();
            let best = shares?
                .into_iter()
                .reduce(|one, other| if other.1.value > one.1.value { other } else { one })?;
            Some(Answer::new(best.0, best.1, |share| share < 0.95))
        };
        Target::FACTORISED.iter().map(of_target).collect()
    }

    /// One sampler over another, each with its better weight function.
    fn over(
        &self,
        targets: &[Target],
        (one, other): (Method, Method),
        measure: Measure,
        holds: impl Fn(f64) -> bool + Copy,
    ) -> Vec<Option<Answer>> {
        let of_target = |target: &Target| {
            let one = self.results.best(*target, one, measure)?;
            let other = self.results.best(*target, other, measure)?;
            Some(Answer::new(target.name(), one.over(&other), holds))
        };
        targets.iter().map(of_target).collect()
    }

    fn dlmc_leads(&self, targets: &[Target], measure: Measure, above: f64) -> Vec<Option<Answer>> {
        let of_target = |target: &Target| {
            let dlmc = self.results.best(*target, Method::Dlmc, measure)?;
            let (second, best) = self.results.best_of(*target, &BASELINES, measure)?;
            let of = format!("{target} ({second})");
            Some(Answer::new(of, dlmc.over(&best), |ratio| ratio > above))
        };
        targets.iter().map(of_target).collect()
    }

    fn gain(&self, target: Target, sampler: Method) -> Option<Estimate> {
        let with = |weight| self.results.mean(target, sampler, Some(weight), PER_EVALUATION);
        Some(with(Balancing::Ratio)?.over(&with(Balancing::Sqrt)?))
    }

    fn ratio_over_sqrt(
        &self,
        targets: &[Target],
        samplers: &[Method],
        holds: impl Fn(f64) -> bool + Copy,
    ) -> Vec<Option<Answer>> {
        let pairs = targets
            .iter()
            .flat_map(|target| samplers.iter().map(move |sampler| (*target, *sampler)));
        let answer = |(target, sampler)| {
            let gain = self.gain(target, sampler)?;
            Some(Answer::new(format!("{target} {sampler}"), gain, holds))
        };
        pairs.map(answer).collect()
    }

    fn sharper(&self) -> Vec<Option<Answer>> {
        let answer = |sampler: &Method| {
            let low = self.gain(Target::BernoulliLow, *sampler)?;
            let high = self.gain(Target::BernoulliHigh, *sampler)?;
            Some(Answer::new(sampler.name(), low.over(&high), |ratio| ratio > 1.0))
        };
        REJECTING.iter().map(answer).collect()
    }

    fn worst_balanced(&self, targets: &[Target], at_least: f64) -> Vec<Option<Answer>> {
        let of_target = |target: &Target| {
            let smaller = |one: f64, other: f64| one < other;
            let worst = self.results.extreme(*target, &BALANCED, PER_EVALUATION, smaller)?;
            let blind = self.results.best_of(*target, &BLIND, PER_EVALUATION)?;
            let of = format!("{target} ({}/{})", worst.0, blind.0);
            Some(Answer::new(of, worst.1.over(&blind.1), |ratio| ratio > 1.0 && ratio >= at_least))
        };
        targets.iter().map(of_target).collect()
    }
}
