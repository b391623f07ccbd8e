//! Claims about effective draws per evaluation and per second.

use super::{Answer, BALANCED, BLIND, Claim, FACTORISED, FHMMS, LATTICES, MACHINES, Part, others};
use crate::paper::results::{Measure, PER_EVALUATION, PER_SECOND, Results, weights_of};
use saltus::study::{SAMPLERS, Target};
use saltus::{Sampler, Weight};

/// Share of the draws from which on they count as independent: the estimator itself finds 0.98 in
/// 5,000 independent draws.
const INDEPENDENT: f64 = 0.95;
/// What "much more" is taken to mean.
const MUCH: f64 = 2.0;
/// What "about the same" is taken to mean: at least this share.
const ABOUT: f64 = 0.8;
/// What "close" is taken to mean.
const CLOSE: f64 = 0.5;
/// What "several models" is taken to mean.
const SEVERAL: usize = 3;

/// C1, C3 to C9 and C11.
pub fn claims(results: &Results) -> Vec<Claim> {
    let ask = Asking { results };
    vec![
        Claim::new(
            "C1",
            "On Bernoulli and categorical targets DLMC's draws are independent, with either weight \
             function; those of PAS, DMALA, GWG, RWM, HB and BG are not.",
            vec![
                Part::all(
                    "DLMC's effective draws over draws (at least 0.95)",
                    ask.independence(&[Sampler::Dlmc], |share| share >= INDEPENDENT),
                ),
                Part::all(
                    "the best of the others (below 0.95)",
                    ask.most_independent(|share| share < INDEPENDENT),
                ),
            ],
        ),
        Claim::new(
            "C3",
            "On Bernoulli targets DMALA is below PAS per evaluation and above it per second.",
            vec![
                Part::all(
                    "DMALA over PAS per evaluation (below 1)",
                    ask.over(
                        &FACTORISED[..2],
                        (Sampler::Dmala, Sampler::Pas),
                        PER_EVALUATION,
                        |ratio| ratio < 1.0,
                    ),
                ),
                Part::all(
                    "DMALA over PAS per second (above 1)",
                    ask.over(
                        &FACTORISED[..2],
                        (Sampler::Dmala, Sampler::Pas),
                        PER_SECOND,
                        |ratio| ratio > 1.0,
                    ),
                ),
            ],
        ),
        Claim::new(
            "C4",
            "On Bernoulli targets the ratio weight is better than the square root for the balanced \
             samplers other than DLMC, the more so the sharper the target.",
            vec![
                Part::all(
                    "ratio over sqrt per evaluation (above 1)",
                    ask.ratio_over_sqrt(&FACTORISED[..2], &BALANCED[..3], |gain| gain > 1.0),
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
            vec![Part::all(
                "DLMC over the best other sampler per evaluation (above 1)",
                ask.dlmc_leads(&LATTICES, PER_EVALUATION),
            )],
        ),
        Claim::new(
            "C6",
            "Balanced samplers other than DLMC prefer the ratio weight on Ising and the square root \
             on Potts models.",
            vec![
                Part::all(
                    "Ising: ratio over sqrt per evaluation (above 1)",
                    ask.ratio_over_sqrt(&LATTICES[..2], &BALANCED[..4], |gain| gain > 1.0),
                ),
                Part::all(
                    "Potts: ratio over sqrt per evaluation (below 1)",
                    ask.ratio_over_sqrt(&LATTICES[2..], &BALANCED[..4], |gain| gain < 1.0),
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
                    ask.worst_balanced(&FHMMS, 1.0),
                ),
                Part::all(
                    "DLMC over the best other sampler per evaluation (above 1)",
                    ask.dlmc_leads(&FHMMS, PER_EVALUATION),
                ),
                Part::all(
                    "PAS over DLMC per evaluation (at least 0.5)",
                    ask.over(&FHMMS, (Sampler::Pas, Sampler::Dlmc), PER_EVALUATION, |ratio| {
                        ratio >= CLOSE
                    }),
                ),
                Part::all(
                    "ratio over sqrt per evaluation (below 1)",
                    ask.ratio_over_sqrt(&FHMMS, &BALANCED, |gain| gain < 1.0),
                ),
            ],
        ),
        Claim::new(
            "C8",
            "On RBMs DLMC is clearly best per evaluation and per second; on binary ones the other \
             balanced samplers prefer the ratio weight and DLMC the square root.",
            vec![
                Part::all(
                    "DLMC over the best other sampler per evaluation (above 1)",
                    ask.dlmc_leads(&MACHINES, PER_EVALUATION),
                ),
                Part::all(
                    "DLMC over the best other sampler per second (above 1)",
                    ask.dlmc_leads(&MACHINES, PER_SECOND),
                ),
                Part::all(
                    "binary: ratio over sqrt per evaluation, others (above 1)",
                    ask.ratio_over_sqrt(&MACHINES[..2], &BALANCED[..4], |gain| gain > 1.0),
                ),
                Part::all(
                    "binary: ratio over sqrt per evaluation, DLMC (below 1)",
                    ask.ratio_over_sqrt(&MACHINES[..2], &[Sampler::Dlmc], |gain| gain < 1.0),
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
                        "DLMCf over DLMC per evaluation (at least 0.8, on three targets)",
                        ask.over(
                            &Target::ALL,
                            (Sampler::Dlmcf, Sampler::Dlmc),
                            PER_EVALUATION,
                            |ratio| ratio >= ABOUT,
                        ),
                    )
                },
                Part::all(
                    "DLMCf over DMALA per evaluation (at least 2)",
                    ask.over(
                        &Target::ALL,
                        (Sampler::Dlmcf, Sampler::Dmala),
                        PER_EVALUATION,
                        |ratio| ratio >= MUCH,
                    ),
                ),
            ],
        ),
        Claim::new(
            "C11",
            "All balanced samplers have many more effective draws per evaluation than RWM, HB and BG.",
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
    fn shares(&self, target: Target, sampler: Sampler) -> impl Iterator<Item = (String, f64)> {
        weights_of(sampler).into_iter().filter_map(move |weight| {
            let measure: Measure = |row| row.ess_mean / row.draws as f64;
            let share = self.results.mean(target, sampler, weight, measure)?;
            let weight = weight.map_or(String::new(), |weight| format!(" {weight}"));
            Some((format!("{target} {sampler}{weight}"), share))
        })
    }

    fn independence(&self, samplers: &[Sampler], holds: fn(f64) -> bool) -> Vec<Answer> {
        let all = FACTORISED.iter().flat_map(|target| {
            samplers.iter().flat_map(move |sampler| self.shares(*target, *sampler))
        });
        all.map(|(of, value)| Answer { of, value, holds: holds(value) }).collect()
    }

    fn most_independent(&self, holds: fn(f64) -> bool) -> Vec<Answer> {
        let without_langevin =
            |sampler: &Sampler| !matches!(sampler, Sampler::Dlmc | Sampler::Dlmcf);
        let of_target = |target: &Target| {
            let samplers = SAMPLERS.into_iter().filter(without_langevin);
            let shares = samplers.flat_map(|sampler| self.shares(*target, sampler));
            shares.reduce(|one, other| if other.1 > one.1 { other } else { one })
        };
        let all = FACTORISED.iter().filter_map(of_target);
        all.map(|(of, value)| Answer { of, value, holds: holds(value) }).collect()
    }

    /// One sampler over another, each with its better weight function.
    fn over(
        &self,
        targets: &[Target],
        (one, other): (Sampler, Sampler),
        measure: Measure,
        holds: fn(f64) -> bool,
    ) -> Vec<Answer> {
        let of_target = |target: &Target| {
            let value = self.results.best(*target, one, measure)?
                / self.results.best(*target, other, measure)?;
            Some(Answer { of: target.name().to_owned(), value, holds: holds(value) })
        };
        targets.iter().filter_map(of_target).collect()
    }

    fn dlmc_leads(&self, targets: &[Target], measure: Measure) -> Vec<Answer> {
        let of_target = |target: &Target| {
            let dlmc = self.results.best(*target, Sampler::Dlmc, measure)?;
            let (second, best) = self.results.best_of(*target, &others(Sampler::Dlmc), measure)?;
            let value = dlmc / best;
            Some(Answer { of: format!("{target} ({second})"), value, holds: value > 1.0 })
        };
        targets.iter().filter_map(of_target).collect()
    }

    fn gain(&self, target: Target, sampler: Sampler) -> Option<f64> {
        let with = |weight| self.results.mean(target, sampler, Some(weight), PER_EVALUATION);
        Some(with(Weight::Ratio)? / with(Weight::Sqrt)?)
    }

    fn ratio_over_sqrt(
        &self,
        targets: &[Target],
        samplers: &[Sampler],
        holds: fn(f64) -> bool,
    ) -> Vec<Answer> {
        let pairs = targets
            .iter()
            .flat_map(|target| samplers.iter().map(move |sampler| (*target, *sampler)));
        let answer = |(target, sampler)| {
            let value = self.gain(target, sampler)?;
            Some(Answer { of: format!("{target} {sampler}"), value, holds: holds(value) })
        };
        pairs.filter_map(answer).collect()
    }

    fn sharper(&self) -> Vec<Answer> {
        let answer = |sampler: &Sampler| {
            let value = self.gain(Target::BernoulliLow, *sampler)?
                / self.gain(Target::BernoulliHigh, *sampler)?;
            Some(Answer { of: sampler.to_string(), value, holds: value > 1.0 })
        };
        BALANCED[..3].iter().filter_map(answer).collect()
    }

    fn worst_balanced(&self, targets: &[Target], at_least: f64) -> Vec<Answer> {
        let of_target = |target: &Target| {
            let of = |sampler: &Sampler| {
                Some((*sampler, self.results.best(*target, *sampler, PER_EVALUATION)?))
            };
            let balanced = BALANCED.iter().filter_map(of);
            let worst = balanced.reduce(|one, other| if other.1 < one.1 { other } else { one })?;
            let blind = self.results.best_of(*target, &BLIND, PER_EVALUATION)?;
            let value = worst.1 / blind.1;
            let of = format!("{target} ({}/{})", worst.0, blind.0);
            Some(Answer { of, value, holds: value > 1.0 && value >= at_least })
        };
        targets.iter().filter_map(of_target).collect()
    }
}
