//! What runs on disk left, as if they had just ended: one, or the parts of a run.

use super::merge::check;
use super::{StoreError, Stored};
use crate::control::{Ended, Seconds};
use crate::draws::sink::STATISTICS;
use crate::draws::trace::{Trace, thinning};
use crate::run::{Outcome, Scouts, Settings, Unsent};
use crate::temper::{Tally, TemperReport};
use crate::tune::Round;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What a run left whose chains are in these stores, in their order: that of the store that
/// [`merge`](super::merge()) makes of them, without making it. What was said of single sites is not joined. The trace has every
/// second, fourth, … draw if there are more than `most` in all chains together.
pub fn outcome_of(parts: &[Stored], most: usize) -> Result<Outcome, StoreError> {
    let first = match parts {
        [one] => one,
        several => check(several)?,
    };
    let chains = parts.iter().map(Stored::chains).sum();
    let settings = Settings { chains, ..first.description().settings.clone() };
    let [acceptance, changed, evaluations] = STATISTICS.map(|name| sums(parts, name));
    let (acceptance, changed, evaluations) = (acceptance?, changed?, evaluations?);
    let draws = (first.draws() * chains).max(1) as f64;
    let steps = draws * settings.thin as f64;
    let (seconds, threads) = timing(parts)?;
    let (sites, scouts) = match parts {
        [one] => (one.sites()?, one.scouts()?),
        _ => (None, Some(Scouts::unsent(Unsent::of_parts(&settings)))),
    };
    Ok(Outcome {
        space: first.space().clone(),
        traits: settings.sampler.traits(first.space()),
        observed: BTreeMap::new(),
        threads,
        scale: first.scale(),
        acceptance: acceptance.iter().sum::<f64>() / draws,
        warmup: rounds(parts)?,
        stuck: (0..changed.len()).filter(|chain| changed[*chain] == 0.0).collect(),
        sites_changed_per_step: changed.iter().sum::<f64>() / steps,
        evaluations_performed_per_step: evaluations.iter().sum::<f64>() / steps,
        seconds,
        sites,
        site_records: Vec::new(),
        tempering: tempering(parts)?,
        rung_draws: None,
        symmetric: first.is_symmetric(),
        scouts,
        // All parts are of one model and observe the same.
        exact: first.exact()?,
        last_states: last_states(parts)?,
        own_states: Vec::new(),
        deadline: None,
        trace: trace_of(parts, most)?,
        ended: first.ended().unwrap_or(Ended::Interrupted),
        settings,
    })
}

/// Some rows of every chain of every part.
fn joined<T: Send>(
    parts: &[Stored],
    of_part: impl Fn(&Stored) -> Result<Vec<T>, StoreError> + Sync,
) -> Result<Vec<T>, StoreError> {
    let rows: Vec<Vec<T>> = parts.par_iter().map(&of_part).collect::<Result<_, _>>()?;
    Ok(rows.into_iter().flatten().collect())
}

fn sums(parts: &[Stored], name: &str) -> Result<Vec<f64>, StoreError> {
    joined(parts, |part| part.sums(name))
}

fn last_states(parts: &[Stored]) -> Result<Vec<Vec<u8>>, StoreError> {
    joined(parts, |part| {
        let last = part.draws().saturating_sub(1)..part.draws();
        Ok(part.states_of_all(last)?.unwrap_or_default())
    })
}

/// The numbers of all parts, thinned to so many draws in all chains together.
pub(super) fn trace_of(parts: &[Stored], most: usize) -> Result<Trace, StoreError> {
    let first = &parts[0];
    let chains = parts.iter().map(Stored::chains).sum();
    let every = thinning(chains, first.draws(), most);
    let names = first.names().iter().map(String::as_str).chain(STATISTICS);
    let series = names.map(|name| joined(parts, |part| part.thinned(name, every)));
    let series = series.collect::<Result<_, _>>()?;
    Ok(Trace::of_series(first.names().to_vec(), series, first.draws(), every))
}

/// The rounds of warm-up: acceptance over all chains.
pub(super) fn rounds(parts: &[Stored]) -> Result<Vec<Round>, StoreError> {
    if let [one] = parts {
        return one.warmup();
    }
    let all = parts.iter().map(|part| Ok((part.chains() as f64, part.warmup()?)));
    let all: Vec<(f64, Vec<Round>)> = all.collect::<Result<_, StoreError>>()?;
    let chains: f64 = all.iter().map(|(chains, _)| chains).sum();
    let mut joined = all[0].1.clone();
    for (number, round) in joined.iter_mut().enumerate() {
        let of_part = |(chains, rounds): &(f64, Vec<Round>)| {
            chains * rounds.get(number).map_or(f64::NAN, |round| round.acceptance)
        };
        round.acceptance = all.iter().map(of_part).sum::<f64>() / chains;
    }
    Ok(joined)
}

/// What all ladders together showed, if there are any.
pub(super) fn tempering(parts: &[Stored]) -> Result<Option<TemperReport>, StoreError> {
    if let [one] = parts {
        return Ok(one.tempering());
    }
    let tallies: Vec<Option<Tally>> = parts.iter().map(Stored::tally).collect::<Result<_, _>>()?;
    let tallies: Option<Vec<Tally>> = tallies.into_iter().collect();
    Ok(tallies.and_then(Tally::joined).map(TemperReport::new))
}

/// The time of the slowest, and the threads of all: they ran side by side.
pub(super) fn timing(parts: &[Stored]) -> Result<(Seconds, usize), StoreError> {
    if let [one] = parts {
        let timing = one.timing()?;
        return Ok((timing.seconds, timing.threads));
    }
    let (mut seconds, mut threads) = (Seconds::default(), 0);
    for part in parts {
        let timing = part.timing()?;
        seconds.warmup = seconds.warmup.max(timing.seconds.warmup);
        seconds.draws = seconds.draws.max(timing.seconds.draws);
        threads += timing.threads;
    }
    Ok((seconds, threads))
}
