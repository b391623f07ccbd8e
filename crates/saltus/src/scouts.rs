//! Scouts: short chains from other starts than those of a run, sent to see whether there is a place that its chains
//! never came to.
//!
//! Chains of a run begin at states that the model draws, and a mode that such starts rarely lead to may be missed
//! by all of them. Scouts begin where nobody would: at the smallest and at the largest values, opposite of where the
//! chains ended, and at fresh draws. Beside them go chains from where those of the run ended. Scouts that come to
//! another place and stay, while that place is not so unlikely that it does not matter, are a finding.

use crate::control::Control;
use crate::draws::trace::{LOG_PROB, Trace};
use crate::model::Model;
use crate::rng::{ChainRng, Stream};
use crate::run::{Elsewhere, MAGNETISATION, Outcome, Run, Scouts, Settings};
use crate::sampler::Sampler;
use crate::space::States;
use crate::summary::Summary;

/// Scouts, in eights of a kind: from the least and the largest values, opposite of two chains, and fresh draws.
const SCOUTS: usize = 8;
/// Chains that go on from where those of the run ended.
const AT_HOME: usize = 4;
/// The time that a chain of the run takes to forget, by which scouts come to where they go, and by which they are
/// looked at.
const APPROACH: f64 = 30.0;
const STAY: f64 = 20.0;
/// Draws that they make at least.
const FEWEST: usize = 60;
/// Share of the run's steps that they may take.
const SHARE: f64 = 0.5;
/// Standard errors and standard deviations between means that are another place.
const ERRORS: f64 = 6.0;
const DEVIATIONS: f64 = 1.5;
/// A place less likely than the other by a factor e to this power does not matter.
const NEGLIGIBLE: f64 = 7.0;
/// Bytes of states that are kept of all of them.
const MOST_BYTES: usize = 100_000_000;

impl Scouts {
    /// Sends them, if the run was whole and they could tell anything: not where a ladder of temperatures does that
    /// already, draws are weighted or too few, or somebody else's kernel moved the chains.
    pub(crate) fn send<M: Model>(
        model: &M,
        outcome: &Outcome,
        summary: &Summary,
        monitor: impl FnMut() -> Control + Send,
    ) -> Option<Self> {
        let settings = &outcome.settings;
        let ours = settings.sampler.method.name() == outcome.traits.name;
        let plain = settings.temper.is_none() && !outcome.traits.is_weighted && ours;
        if !plain || !outcome.ended.is_success() {
            return None;
        }
        // Draws that a chain takes to forget.
        let draws = (summary.chains * summary.draws) as f64;
        let memory = (draws / summary.effective_draws.as_ref()?.ess).max(1.0);
        let shown = model.shown_space() == model.space();
        let home = if shown { outcome.last_states.len().min(AT_HOME) } else { 0 };
        let chains = home + SCOUTS;
        // Draws of each that a share of the run's steps pays for.
        let steps = summary.chains * (settings.warmup / settings.thin + summary.draws);
        let affordable = SHARE * steps as f64 / chains as f64;
        let wanted = (APPROACH + STAY) * memory;
        let less = (affordable / wanted).min(1.0);
        let [approach, stay] =
            [APPROACH, STAY].map(|times| ((less * times * memory) as usize).max(FEWEST));
        let sites = model.space().sites();
        let bytes = chains.saturating_mul(stay).saturating_mul(sites);
        if (approach + stay) as f64 > affordable || bytes > MOST_BYTES {
            return None;
        }
        let mut starts = outcome.last_states[..home].concat();
        starts.extend(far_starts(model, outcome, shown));
        let settings = Settings {
            sampler: Sampler { scale: outcome.scale, ..settings.sampler.clone() },
            chains,
            warmup: approach * settings.thin,
            draws: stay,
            time_limit: None,
            until_ess: None,
            until_rhat: None,
            ..settings.clone()
        };
        let mut monitor = monitor;
        let scouting = Run::new(model, settings)
            .observe_as_usual()
            .keep_states()
            .start_from(starts)
            // Chains that no run has.
            .first_chain(1 << 40)
            .monitor(move |_| monitor())
            .go()
            .ok()?;
        if !scouting.ended.is_success() || home == 0 {
            return None;
        }
        let beta = outcome.settings.beta.unwrap_or(1.0);
        Some(Self::compare(&scouting.trace, home, memory, beta, sites))
    }

    /// Compares the chains from elsewhere with those from home.
    fn compare(trace: &Trace, home: usize, memory: f64, beta: f64, sites: usize) -> Self {
        let mass = |chain: usize| {
            let log_prob = &trace.log_prob()[chain];
            beta * mean(log_prob) + entropy(trace.states(chain), sites)
        };
        let of_home = (0..home).map(mass).sum::<f64>() / home as f64;
        let matters = |chain: &usize| mass(*chain) > of_home - NEGLIGIBLE;
        let mut found = Self { sent: SCOUTS, elsewhere: 0, by: None };
        let mut farthest = 0.0;
        for chain in (home..home + SCOUTS).filter(matters) {
            let mut away = false;
            for name in trace.names() {
                let Some(series) = trace.series(name) else {
                    continue;
                };
                let Some((here, there, deviations)) = apart(series, home, chain, memory) else {
                    continue;
                };
                away = true;
                // log π tells least of where a chain is, and the mean spin most.
                let rank = match name.as_str() {
                    MAGNETISATION => 2.0 * deviations,
                    LOG_PROB => 0.5 * deviations,
                    _ => deviations,
                };
                if rank > farthest {
                    farthest = rank;
                    found.by = Some(Elsewhere { observable: name.clone(), here, there });
                }
            }
            found.elsewhere += usize::from(away);
        }
        found
    }
}

/// The means at home and of a chain, and the standard deviations between them, if they are in different places.
fn apart(series: &[Vec<f64>], home: usize, chain: usize, memory: f64) -> Option<(f64, f64, f64)> {
    let at_home: Vec<f64> = series[..home].iter().flatten().copied().collect();
    let (here, there) = (mean(&at_home), mean(&series[chain]));
    let variance = |draws: &[f64], mean: f64| {
        draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / draws.len().max(1) as f64
    };
    let width = variance(&at_home, here).max(variance(&series[chain], there)).sqrt();
    let distance = (there - here).abs();
    // What the two means are worth.
    let effective = |draws: usize| draws as f64 / memory;
    let error =
        width * (1.0 / effective(at_home.len()) + 1.0 / effective(series[chain].len())).sqrt();
    let away = distance > ERRORS * error && distance > DEVIATIONS * width;
    (away && distance.is_finite()).then(|| (here, there, distance / width.max(1e-9 * distance)))
}

fn mean(draws: &[f64]) -> f64 {
    draws.iter().sum::<f64>() / draws.len().max(1) as f64
}

/// The entropy that states would have if their sites were independent.
fn entropy(states: &[u8], sites: usize) -> f64 {
    let draws = (states.len() / sites).max(1) as f64;
    let of_site = |site: usize| {
        let mut counts = [0u32; 256];
        for value in states[site..].iter().step_by(sites) {
            counts[usize::from(*value)] += 1;
        }
        let share = |count: &u32| f64::from(*count) / draws;
        -counts.iter().filter(|count| **count > 0).map(share).map(|p| p * p.ln()).sum::<f64>()
    };
    (0..sites).filter(|site| *site < states.len()).map(of_site).sum()
}

/// States that chains would not start from by themselves, one after the other.
fn far_starts<M: Model>(model: &M, outcome: &Outcome, shown: bool) -> Vec<u8> {
    let space = model.space();
    let largest = |site: usize| (space.values_at(site) - 1) as u8;
    let sites = space.sites();
    let mut candidates: Vec<Vec<u8>> = Vec::new();
    // Where sums are fixed no other state is known to be allowed.
    if model.sums().is_empty() {
        candidates.push(vec![0; sites]);
        candidates.push((0..sites).map(largest).collect());
        let ends = outcome.last_states.iter().filter(|_| shown).take(2);
        candidates.extend(ends.map(|state| {
            state.iter().enumerate().map(|(site, value)| largest(site) - value).collect()
        }));
    }
    let mut cache = model.new_cache(1);
    let mut allowed = |state: &Vec<u8>| {
        let mut log_prob = [f64::NEG_INFINITY];
        let states = States::new(state, sites);
        model.log_prob(states, &mut cache, &mut log_prob).is_ok() && log_prob[0].is_finite()
    };
    candidates.retain(|state| allowed(state));
    let mut rng = ChainRng::new(outcome.settings.seed, Stream::Chain(1 << 41));
    while candidates.len() < SCOUTS {
        let mut state = vec![0; sites];
        model.initial_state(&mut rng, &mut state);
        candidates.push(state);
    }
    candidates.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::lattice::Lattice;
    use crate::model::pairwise::Pairwise;

    /// A cold ferromagnet in a field that makes one mode somewhat likelier than the other.
    fn ferromagnet(field: f32) -> Pairwise {
        Pairwise::ising_lattice(Lattice::periodic(4, 4).unwrap(), 0.8, vec![field; 16]).unwrap()
    }

    fn scouted(field: f32, start: u8) -> (Summary, Scouts) {
        let model = ferromagnet(field);
        let settings = Settings { chains: 4, warmup: 200, draws: 1500, ..Sampler::gibbs().into() };
        let run = Run::new(&model, settings).observe_as_usual().start_from(vec![start; 64]);
        let outcome = run.go().unwrap();
        let mut summary = Summary::new("ising", &outcome);
        assert!(summary.findings.is_empty(), "{:?}", summary.findings);
        summary.scout(&model, &outcome, || Control::Continue);
        let scouts = summary.scouts.clone().unwrap();
        (summary, scouts)
    }

    #[test]
    fn a_mode_that_nobody_visited_is_found() {
        // All chains in the mode that has an eighth of the mass, or in the other: 16 spins, 2 · 16 · 0.06 = 1.9 nats.
        for start in [0, 1] {
            let (summary, scouts) = scouted(0.06, start);
            assert!(scouts.elsewhere > 0, "{scouts:?}");
            let by = scouts.by.unwrap();
            assert_eq!(by.observable, MAGNETISATION);
            assert!(by.here * by.there < -0.5, "{by:?}");
            assert_eq!(summary.findings[0].code(), "elsewhere");
            assert!(!summary.converged);
        }
    }

    #[test]
    fn a_mode_that_has_no_mass_is_passed_over() {
        // The other mode is e⁻¹⁶ times as likely, and scouts that start there stay for a while.
        let (summary, scouts) = scouted(0.5, 1);
        assert_eq!((scouts.elsewhere, scouts.by), (0, None));
        assert!(summary.converged);
    }

    #[test]
    fn entropies_are_those_of_independent_sites() {
        let states = [0, 0, 1, 0, 0, 1, 1, 1];
        assert!((entropy(&states, 2) - 2.0 * 2f64.ln()).abs() < 1e-12);
        assert_eq!(entropy(&[3, 3, 3], 1), 0.0);
    }
}
