//! Which sampler suits a model: all that might are tried for a moment, those that give most for their work for longer, and the best is
//! taken. One rule decides throughout: effective draws for work, which are few where chains disagree. The likeliest sampler is in every round.
//!
//! Work is counted ([`Kernel::work`](crate::kernel::Kernel::work)), never timed: the same model, settings and seed give the same choice on every machine
//! and with any number of threads. Who takes part says every sampler in its own file ([`KernelTraits::is_tried`](crate::kernel::KernelTraits)).

mod trials;
mod worth;

use crate::balancing::Balancing;
use crate::control::Control;
use crate::model::Model;
use crate::run::Settings;
use crate::sampler::{Method, Sampler};
use crate::temper::Temper;
use serde::{Deserialize, Serialize};
use trials::{End, Trials, Tried};

/// Share of the work of a run by its likeliest sampler that all trials together may take.
const SHARE: f64 = 0.05;
/// Counted nanoseconds that all trials together take at least, which nobody notices, and at most, however long the run: nobody should wait for a
/// choice.
const WORK: (f64, f64) = (5e7, 2e9);
/// Share of the time limit of a run, counted too.
const SHARE_OF_LIMIT: f64 = 0.1;
/// Share of it by the clock, after which the likeliest sampler is taken: what is asked for is draws.
const LATE: f64 = 0.5;
/// Models of more sites are not tried: their likeliest sampler is taken.
const MOST_SITES: usize = 1 << 17;
/// Rounds of trials take equal parts of the work, and what is left is for a ladder. So many of the best go on to each, and with them the
/// likeliest, which a short trial may not do justice.
const ROUNDS: [usize; 3] = [usize::MAX, 4, 2];
const PARTS: usize = ROUNDS.len() + 1;
/// Chains whose split R-hat is larger disagree.
const DISAGREEMENT: f64 = 1.1;
/// What a sampler whose chains agree has to be worth, beside the best whose chains do not, to be taken before it.
const AGREEMENT: f64 = 0.5;

/// A sampler for a model, and what was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The sampler.
    #[serde(flatten)]
    pub sampler: Sampler,
    /// A ladder of temperatures, where chains disagreed without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temper: Option<Temper>,
    /// The last trial of each that was tried; nothing if there was one candidate, or if the run is too short to try any.
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

/// Chooses a sampler, and a ladder where it helps, for a run of a model with these settings, whose own sampler is not read.
/// A trial that fails counts for nothing: the run will say what is wrong. `monitor` is asked several times a second; nothing
/// comes back if it says to stop. Trials that have taken half of a time limit are given up, and the likeliest sampler is taken.
///
/// ```
/// use saltus::{Control, Lattice, Method, Pairwise, Settings, choose};
/// let magnet = Pairwise::ising_lattice(Lattice::periodic(16, 16)?, 0.5, vec![0.0; 256])?;
/// let choice = choose::choose(&magnet, &Settings::default(), || Control::Continue).unwrap();
/// assert_eq!(choice.sampler.method, Method::Sw);
/// let settings = choice.applied(Settings::default());
/// assert_eq!(settings.sampler, choice.sampler);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn choose<M: Model>(
    model: &M,
    settings: &Settings,
    monitor: impl Fn() -> Control + Sync,
) -> Option<Choice> {
    let suitable = candidates(model, settings);
    // Where nothing moves a ladder, the run will say so of what suits the model itself.
    let alone = || candidates(model, &Settings { temper: None, ..settings.clone() });
    let likeliest = suitable.first().cloned().or_else(|| alone().into_iter().next());
    let likeliest = likeliest.unwrap_or_else(Sampler::dlmc);
    let plain = |sampler: Sampler| Choice { sampler, temper: None, trials: Vec::new() };
    // The rungs of a ladder are moved by what suits all of them; no trial at one tells.
    let is_large = model.space().sites() > MOST_SITES;
    if suitable.len() <= 1 || settings.temper.is_some() || is_large {
        return Some(plain(likeliest));
    }
    let mut trials = Trials::new(model, settings, &likeliest, &monitor);
    let mut field = trials.affordable(suitable);
    if field.len() < 2 {
        return Some(plain(likeliest));
    }
    let mut seen: Vec<Tried> = Vec::new();
    let mut best = None;
    for (number, most) in ROUNDS.into_iter().enumerate() {
        let mut place = 0..;
        field.retain(|sampler| place.next() < Some(most) || *sampler == likeliest);
        if number == 1 {
            // What gets stuck may not with a gentler balancing function.
            let stuck = seen.iter().filter(|one| one.stuck && one.sampler.method.is_balanced());
            let gentler =
                |one: &Tried| Sampler { balancing: Balancing::Ratio, ..one.sampler.clone() };
            field.extend(stuck.take(2).map(gentler));
        }
        let mut tried = trials.round(number, &field);
        match trials.end() {
            Some(End::Stopped) => return None,
            Some(End::Late) => return Some(plain(likeliest)),
            None => (),
        }
        tried.sort_by(|one, other| other.worth().total_cmp(&one.worth()));
        field = tried.iter().map(|one| one.sampler.clone()).collect();
        seen.retain(|earlier| !field.contains(&earlier.sampler));
        seen.extend(tried.iter().cloned());
        best = tried.into_iter().next().filter(|best| best.worth() > 0.0);
        if let Some(best) = &best {
            trials.start_from(best);
        }
    }
    let mut climbing = None;
    if best.as_ref().is_some_and(|best| !best.tells()) {
        // All are too slow for trials: what the model says is all there is to go by.
        let own = seen.iter().find(|one| one.sampler == likeliest && !one.stuck);
        best = own.cloned().or(best);
    }
    if best.as_ref().is_some_and(|best| !best.agrees()) {
        // All of a round start in the same places: who brings chains from there together mixes them, as far as can be seen. What all of
        // them may have missed is asked below.
        let last = seen.iter().filter(|one| field.contains(&one.sampler) && one.agrees());
        let other = last.max_by(|one, other| one.worth().total_cmp(&other.worth()));
        let least = best.as_ref().map_or(0.0, |best| AGREEMENT * best.worth());
        best = other.filter(|other| other.worth() >= least).cloned().or(best);
    }
    // Few chains may all have missed a mode.
    let agreed = best.clone().filter(Tried::agrees);
    let many = agreed.and_then(|best| trials.of_many(&best)).filter(|many| !many.agrees());
    let distance = many.as_ref().or(best.as_ref()).map_or(0.0, Tried::distance);
    seen.extend(many.clone());
    let swept = seen.iter().filter(|one| one.sweeps && !one.stuck);
    let swept = swept.max_by(|one, other| one.worth().total_cmp(&other.worth()));
    if let Some(best) = &best
        && distance > DISAGREEMENT
        && let Some(mover) = if best.sweeps { Some(best) } else { swept }
        && let Some(ladder) = trials.of_ladder(mover)
    {
        let is_closer = ladder.agrees() || ladder.distance() < distance;
        if is_closer && ladder.worth() > best.worth() {
            climbing = Some(ladder.sampler.clone());
        }
        seen.push(ladder);
    }
    match trials.end() {
        Some(End::Stopped) => return None,
        Some(End::Late) => return Some(plain(likeliest)),
        None => (),
    }
    let trials = seen.into_iter().map(|one| one.trial).collect();
    let temper = climbing.as_ref().map(|_| Temper::default());
    let alone = || best.map_or(likeliest, |best| best.sampler);
    Some(Choice { sampler: climbing.unwrap_or_else(alone), temper, trials })
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

/// The sampler that goes through temperatures, from a distribution of independent sites to the model, where none is named: the likeliest of those that
/// can, without trials. Where sums are fixed none can, and it is the likeliest that keeps to them.
///
/// ```
/// use saltus::{Lattice, Method, Pairwise, choose};
/// let magnet = |coupling| Pairwise::ising_lattice(Lattice::periodic(8, 8)?, coupling, vec![0.0; 64]);
/// assert_eq!(choose::for_path(&magnet(0.5)?), Method::Sw);
/// assert_eq!(choose::for_path(&magnet(0.1)?), Method::Gibbs);
/// # Ok::<(), saltus::ModelError>(())
/// ```
pub fn for_path<M: Model>(model: &M) -> Method {
    let path = Settings { temper: Some(Temper::default()), ..Settings::default() };
    let mut all = [path, Settings::default()].into_iter();
    let found = all.find_map(|settings| candidates(model, &settings).into_iter().next());
    found.map_or(Method::Dlmc, |sampler| sampler.method)
}

/// The same where nothing but log Z is asked for: of the likely ones the one whose steps cost least. What counts then are energies at all
/// temperatures, most of which are far from critical, so that moves of clusters have to be paid for everywhere and help in few places.
///
/// ```
/// use saltus::{Lattice, Method, Pairwise, choose};
/// let magnet = Pairwise::ising_lattice(Lattice::periodic(8, 8)?, 0.5, vec![0.0; 64])?;
/// assert_eq!(choose::for_log_z(&magnet), Method::Gibbs);
/// # Ok::<(), saltus::ModelError>(())
/// ```
pub fn for_log_z<M: Model>(model: &M) -> Method {
    let settings = Settings { temper: Some(Temper::default()), ..Settings::default() };
    let suitable = candidates(model, &settings);
    let likely = suitable.iter().map(|sampler| (sampler.terms(model, 1), sampler.method));
    let likely = likely.filter(|(terms, _)| terms.is_likely);
    let cheapest = likely.min_by(|one, other| one.0.work.total_cmp(&other.0.work));
    cheapest.map_or_else(|| for_path(model), |(_, method)| method)
}

/// Samplers worth trying on a model, the likeliest first: those that know how it is made, then those that are likely otherwise, then the
/// others from the last of the table to the first.
fn candidates<M: Model>(model: &M, settings: &Settings) -> Vec<Sampler> {
    let of = |method: &Method| {
        let sampler = Sampler::new(*method);
        let traits = sampler.traits(model.space());
        let tried = traits.is_tried && {
            let settings = Settings { sampler: sampler.clone(), ..settings.clone() };
            settings.suits(model).is_ok()
        };
        tried.then(|| {
            let likely = sampler.terms(model, 1).is_likely;
            let rank = match (likely, method.is_general()) {
                (true, false) => 0,
                (true, true) => 1,
                (false, _) => 2,
            };
            (rank, sampler)
        })
    };
    let mut found: Vec<(usize, Sampler)> = Method::ALL.iter().rev().filter_map(of).collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, sampler)| sampler).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::lattice::Lattice;
    use crate::model::pairwise::Pairwise;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[test]
    fn trials_stop_when_they_are_told_and_are_the_same_if_not() {
        let lattice = Lattice::periodic(8, 8).unwrap();
        let model = Pairwise::ising_lattice(lattice, 0.3, vec![0.0; 64]).unwrap();
        let settings = Settings::default();
        assert_eq!(choose(&model, &settings, || Control::Stop), None);
        let asked = AtomicUsize::new(0);
        let later = || match asked.fetch_add(1, Ordering::Relaxed) {
            0..3 => Control::Continue,
            _ => Control::Stop,
        };
        assert_eq!(choose(&model, &settings, later), None);
        // Where trials are too slow for a time limit there are draws all the same.
        let limited = Settings { time_limit: Some(Duration::from_millis(400)), ..settings.clone() };
        let slow = || {
            std::thread::sleep(Duration::from_millis(250));
            Control::Continue
        };
        let choice = choose(&model, &limited, slow).unwrap();
        assert!(choice.trials.is_empty() && choice.sampler.method == Method::Gibbs, "{choice:?}");
        let patient = || choose(&model, &settings, || Control::Continue).unwrap();
        assert_eq!(patient(), patient());
    }
}
