//! Scouts: short chains from other starts than those of a run, sent to see whether there is a place that its chains
//! never came to.
//!
//! Chains of a run begin at states that the model draws, and a mode that such starts rarely lead to may be missed
//! by all of them. Scouts begin where nobody would: at the smallest and at the largest values, opposite of where the
//! chains ended, and at fresh draws. Beside them go chains from where those of the run ended. Scouts that come to
//! another place and stay, while that place is not so unlikely that it does not matter, are a finding.

use crate::control::{Control, Ended};
use crate::draws::trace::{LOG_PROB, Trace, WEIGHT};
use crate::model::Model;
use crate::rng::{ChainRng, Stream};
use crate::run::{Elsewhere, MAGNETISATION, Outcome, Run, Scouts, Settings, Unsent};
use crate::sampler::Sampler;
use crate::space::States;
use crate::summary::Summary;
use std::time::Instant;

/// Scouts: from the least and the largest values, opposite of two chains, and fresh draws.
const SCOUTS: usize = 8;
/// Beside them, at most as many from places that the model names.
const PLACES: usize = 4;
/// Chains that go on from where those of the run ended.
const AT_HOME: usize = 4;
/// The time that a chain of the run takes to forget, by which scouts come to where they go, and by which they are
/// looked at.
const APPROACH: f64 = 30.0;
const STAY: f64 = 20.0;
/// Draws that they make at least.
const FEWEST: usize = 60;
/// Share of the run's steps that they may take, or counted nanoseconds if that is more: those of a short run cost next to
/// nothing, and its chains have seen least.
const SHARE: f64 = 0.5;
const ALWAYS: f64 = 2e8;
/// Standard errors and standard deviations between means that are another place.
const ERRORS: f64 = 6.0;
const DEVIATIONS: f64 = 1.5;
/// A place less likely than the other by a factor e to this power does not matter.
const NEGLIGIBLE: f64 = 7.0;
/// Bytes of states that are kept of all of them.
const MOST_BYTES: usize = 100_000_000;

impl Scouts {
    /// Sends them, or says why not.
    pub(crate) fn send<M: Model>(
        model: &M,
        outcome: &Outcome,
        summary: &Summary,
        mut monitor: impl FnMut() -> Control + Send,
    ) -> Result<Self, Unsent> {
        let settings = &outcome.settings;
        if settings.temper.is_some() {
            return Err(Unsent::Tempered);
        }
        if settings.sampler.method.name() != outcome.traits.name {
            return Err(Unsent::OtherKernel);
        }
        if !outcome.ended.is_success() {
            return Err(Unsent::Incomplete);
        }
        let ends = ends(model, outcome).ok_or(Unsent::Ends)?;
        // Draws that a chain takes to forget.
        let draws = (summary.chains * summary.draws) as f64;
        let ess = summary.effective_draws.as_ref().ok_or(Unsent::Pace)?.ess;
        let memory = (draws / ess).max(1.0);
        let home = ends.len().min(AT_HOME);
        let far = far_starts(model, ends, settings.seed);
        let sites = model.space().sites();
        let chains = home + far.len() / sites;
        let [approach, stay] = travel(model, outcome, summary, chains, memory)?;
        let mut starts = ends[..home].concat();
        starts.extend(far);
        let left = outcome.deadline.map(|end| end.saturating_duration_since(Instant::now()));
        let settings = Settings {
            sampler: Sampler { scale: outcome.scale, ..settings.sampler.clone() },
            chains,
            warmup: approach * settings.thin,
            draws: stay,
            time_limit: left,
            until_ess: None,
            until_rhat: None,
            until_log_z: None,
            ..settings.clone()
        };
        let scouting = Run::new(model, settings)
            .observe_as_usual()
            .without_exact_means()
            .keep_states()
            .start_from(starts)
            // Chains that no run has.
            .first_chain(1 << 40)
            .monitor(move |_| monitor())
            .go()
            .map_err(|_| Unsent::Failed)?;
        match scouting.ended {
            Ended::Complete | Ended::Reached(_) => {}
            Ended::Interrupted => return Err(Unsent::Interrupted),
            Ended::TimeLimit => return Err(Unsent::TimeLimit),
            Ended::Failed { .. } => return Err(Unsent::Failed),
        }
        let beta = outcome.settings.beta.unwrap_or(1.0);
        // States are kept as the model shows them, which may be of more sites than the sampler moves.
        let sites = model.shown_space().sites();
        Ok(Self::compare(&scouting.trace, home, memory, beta, sites))
    }

    /// Compares the chains from elsewhere with those from home.
    fn compare(trace: &Trace, home: usize, memory: f64, beta: f64, sites: usize) -> Self {
        let weights = |chain: usize| trace.weights().map(|weights| &weights[chain][..]);
        let mass = |chain: usize| {
            let log_prob = mean(&trace.log_prob()[chain], weights(chain));
            beta * log_prob + entropy(trace.states(chain), weights(chain), sites)
        };
        let of_home = (0..home).map(mass).sum::<f64>() / home as f64;
        let matters = |chain: &usize| mass(*chain) > of_home - NEGLIGIBLE;
        let sent = trace.chains() - home;
        let mut found = Self { sent, elsewhere: 0, by: None, unsent: None };
        let mut farthest = 0.0;
        for chain in (home..home + sent).filter(matters) {
            let mut away = false;
            for name in trace.names().iter().filter(|name| *name != WEIGHT) {
                let Some(series) = trace.series(name) else {
                    continue;
                };
                let apart = apart(series, trace.weights(), home, chain, memory);
                let Some((here, there, deviations)) = apart else {
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

/// Where the chains of a run ended, as the model has states; none if that is not known.
fn ends<'o, M: Model>(model: &M, outcome: &'o Outcome) -> Option<&'o [Vec<u8>]> {
    let shows_all = model.shown_space() == model.space();
    let ends = if shows_all { &outcome.last_states } else { &outcome.own_states };
    (!ends.is_empty()).then_some(ends)
}

/// Draws on the way and after it, of so many chains that forget in so many draws: as many as they need, or as can be
/// afforded.
fn travel<M: Model>(
    model: &M,
    outcome: &Outcome,
    summary: &Summary,
    chains: usize,
    memory: f64,
) -> Result<[usize; 2], Unsent> {
    let settings = &outcome.settings;
    let work = settings.sampler.terms(model, chains).work.max(1.0) * settings.thin as f64;
    let of_run = summary.chains * (settings.warmup / settings.thin + summary.draws);
    let affordable = (SHARE * of_run as f64).max(ALWAYS / work) / chains as f64;
    let less = (affordable / ((APPROACH + STAY) * memory)).min(1.0);
    let [approach, stay] =
        [APPROACH, STAY].map(|times| ((less * times * memory) as usize).max(FEWEST));
    if (approach + stay) as f64 > affordable {
        return Err(Unsent::Costly);
    }
    let fitting = MOST_BYTES / chains.saturating_mul(model.shown_space().sites());
    if fitting < FEWEST { Err(Unsent::Large) } else { Ok([approach, stay.min(fitting)]) }
}

/// The means at home and of a chain, and the standard deviations between them, if they are in different places.
fn apart(
    series: &[Vec<f64>],
    weights: Option<&[Vec<f64>]>,
    home: usize,
    chain: usize,
    memory: f64,
) -> Option<(f64, f64, f64)> {
    let at_home = series[..home].concat();
    let home_weights = weights.map(|weights| weights[..home].concat());
    let home_weights = home_weights.as_deref();
    let away = &series[chain];
    let away_weights = weights.map(|weights| &weights[chain][..]);
    let (here, there) = (mean(&at_home, home_weights), mean(away, away_weights));
    let variance = |draws: &[f64], weights: Option<&[f64]>, center: f64| {
        let squares: Vec<f64> = draws.iter().map(|draw| (draw - center).powi(2)).collect();
        mean(&squares, weights)
    };
    let width = variance(&at_home, home_weights, here).max(variance(away, away_weights, there));
    let width = width.sqrt();
    let distance = (there - here).abs();
    // What the two means are worth.
    let effective = |draws: usize| draws as f64 / memory;
    let error = width * (1.0 / effective(at_home.len()) + 1.0 / effective(away.len())).sqrt();
    let is_away = distance > ERRORS * error && distance > DEVIATIONS * width;
    (is_away && distance.is_finite()).then(|| (here, there, distance / width.max(1e-9 * distance)))
}

/// The mean of draws that count alike, or by their weights.
fn mean(draws: &[f64], weights: Option<&[f64]>) -> f64 {
    match weights {
        None => draws.iter().sum::<f64>() / draws.len().max(1) as f64,
        Some(weights) => {
            let sum: f64 = draws.iter().zip(weights).map(|(draw, weight)| draw * weight).sum();
            sum / weights.iter().sum::<f64>()
        }
    }
}

/// The entropy that states would have if their sites were independent.
fn entropy(states: &[u8], weights: Option<&[f64]>, sites: usize) -> f64 {
    let draws = states.len() / sites;
    let weight = |draw: usize| weights.map_or(1.0, |weights| weights[draw]);
    let all = (0..draws).map(weight).sum::<f64>();
    let of_site = |site: usize| {
        let mut shares = [0.0; 256];
        for (draw, value) in states[site..].iter().step_by(sites).enumerate() {
            shares[usize::from(*value)] += weight(draw) / all;
        }
        -shares.iter().filter(|p| **p > 0.0).map(|p: &f64| p * p.ln()).sum::<f64>()
    };
    (0..sites).filter(|site| *site < states.len()).map(of_site).sum()
}

/// States that chains would not start from by themselves, one after the other.
fn far_starts<M: Model>(model: &M, ends: &[Vec<u8>], seed: u64) -> Vec<u8> {
    let space = model.space();
    let largest = |site: usize| (space.values_at(site) - 1) as u8;
    let sites = space.sites();
    let mut rng = ChainRng::new(seed, Stream::Chain(1 << 41));
    let mut candidates: Vec<Vec<u8>> = Vec::new();
    // Where sums are fixed no other state is known to be allowed.
    if model.sums().is_empty() {
        candidates.push(vec![0; sites]);
        candidates.push((0..sites).map(largest).collect());
        candidates.extend(ends.iter().take(2).map(|state| {
            state.iter().enumerate().map(|(site, value)| largest(site) - value).collect()
        }));
    }
    let mut cache = model.new_cache(1);
    let mut allowed = |state: &Vec<u8>| {
        let mut log_prob = [f64::NEG_INFINITY];
        let states = States::new(state, sites);
        model.log_prob(states, &mut cache, &mut log_prob).is_ok() && log_prob[0].is_finite()
    };
    candidates.retain(&mut allowed);
    let mut own = model.places(&mut rng);
    own.retain(&mut allowed);
    own.truncate(PLACES);
    let scouts = SCOUTS + own.len();
    candidates.extend(own);
    while candidates.len() < scouts {
        let mut state = vec![0; sites];
        model.initial_state(&mut rng, &mut state);
        candidates.push(state);
    }
    candidates.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Finding;
    use crate::model::clamped::Clamped;
    use crate::model::lattice::Lattice;
    use crate::model::pairwise::Pairwise;

    /// A cold ferromagnet in a field that makes one mode somewhat likelier than the other.
    fn ferromagnet(field: f32) -> Pairwise {
        Pairwise::ising_lattice(Lattice::periodic(4, 4).unwrap(), 0.8, vec![field; 16]).unwrap()
    }

    /// What comes of a run that found nothing, all of whose chains start at the same value.
    fn of_run<M: Model>(model: &M, settings: Settings, start: u8) -> (Summary, Scouts) {
        let starts = vec![start; settings.chains * model.space().sites()];
        let run = Run::new(model, settings).observe_as_usual().without_exact_means();
        let outcome = run.start_from(starts).go().unwrap();
        let mut summary = Summary::new("ising", &outcome);
        assert!(summary.findings.is_empty(), "{:?}", summary.findings);
        summary.scout(model, &outcome, || Control::Continue);
        let scouts = summary.scouts.clone().unwrap();
        (summary, scouts)
    }

    fn settings(sampler: Sampler, chains: usize, draws: usize) -> Settings {
        Settings { chains, warmup: 200, draws, ..sampler.into() }
    }

    fn scouted(field: f32, start: u8) -> (Summary, Scouts) {
        of_run(&ferromagnet(field), settings(Sampler::gibbs(), 4, 1500), start)
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
    fn short_runs_send_scouts_too() {
        for seed in 0..5 {
            let settings = Settings { seed, ..settings(Sampler::gibbs(), 2, 400) };
            let (summary, scouts) = of_run(&ferromagnet(0.04), settings, 1);
            assert!(scouts.elsewhere > 0, "seed {seed}: {scouts:?}");
            assert_eq!(summary.findings[0].code(), "elsewhere");
        }
    }

    #[test]
    fn scouts_are_sent_where_sites_are_fixed_and_where_draws_are_weighted() {
        // One spin is known to be up, at the price of some of the other mode.
        let clamped = Clamped::new(ferromagnet(-0.15), &[(0, 1)]).unwrap();
        let (_, scouts) = of_run(&clamped, settings(Sampler::gibbs(), 4, 1500), 1);
        assert!(scouts.elsewhere > 0, "{scouts:?}");
        let weighted = || Settings { thin: 16, ..settings(Sampler::dld(), 4, 3000) };
        let (_, scouts) = of_run(&ferromagnet(0.06), weighted(), 1);
        assert!(scouts.elsewhere > 0, "{scouts:?}");
        // Both at once, of spins that are warm: there is nothing to find.
        let lattice = Lattice::periodic(4, 4).unwrap();
        let warm = Pairwise::ising_lattice(lattice, 0.15, vec![0.0; 16]).unwrap();
        let (_, scouts) = of_run(&Clamped::new(warm, &[(0, 1), (5, 0)]).unwrap(), weighted(), 1);
        assert_eq!((scouts.elsewhere, scouts.unsent), (0, None));
    }

    #[test]
    fn who_sends_none_says_so() {
        let model = ferromagnet(0.06);
        let run = |settings: Settings| {
            let starts = vec![1; settings.chains * 16];
            let run = Run::new(&model, settings).observe_as_usual().without_exact_means();
            run.start_from(starts).go().unwrap()
        };
        let outcome = run(settings(Sampler::gibbs(), 4, 1500));
        let told = |outcome: &Outcome| {
            let mut summary = Summary::new("ising", outcome);
            summary.scout(&model, outcome, || Control::Continue);
            (summary.scouts.as_ref().unwrap().unsent, summary.findings)
        };
        let unscouted = |why| (Some(why), vec![Finding::Unscouted { why }]);
        let late = Outcome { deadline: Some(Instant::now()), ..outcome.clone() };
        assert_eq!(told(&late), unscouted(Unsent::TimeLimit));
        let lost = Outcome { last_states: Vec::new(), ..outcome };
        assert_eq!(told(&lost), unscouted(Unsent::Ends));
        // A ladder has looked itself.
        let temper = Some(crate::temper::Temper::default());
        let ladder = run(Settings { temper, ..settings(Sampler::gibbs(), 8, 1500) });
        let (unsent, findings) = told(&ladder);
        assert_eq!(unsent, Some(Unsent::Tempered), "{findings:?}");
        assert!(findings.iter().all(|finding| finding.code() != "unscouted"));
    }

    #[test]
    fn entropies_are_those_of_independent_sites() {
        let states = [0, 0, 1, 0, 0, 1, 1, 1];
        assert!((entropy(&states, None, 2) - 2.0 * 2f64.ln()).abs() < 1e-12);
        assert_eq!(entropy(&[3, 3, 3], None, 1), 0.0);
        // A state that counts as three, beside one: p = 3/4 at both sites.
        let of_one = -(0.75 * 0.75f64.ln() + 0.25 * 0.25f64.ln());
        assert!((entropy(&[0, 1, 1, 0], Some(&[3.0, 1.0]), 2) - 2.0 * of_one).abs() < 1e-12);
    }
}
