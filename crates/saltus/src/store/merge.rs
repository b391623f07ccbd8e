//! Stores that no run writes while it draws: of runs that had a part of the chains each, and of runs in memory.

use super::{Description, StoreError, StoreWriter, Stored, outcome};
use crate::control::Ended;
use crate::draws::sink::{ChainDraws, Plan, STATISTICS, Saved, Sink, SinkError};
use crate::run::{Outcome, Scouts, Settings, Unsent};
use rayon::prelude::*;
use std::ops::Range;
use std::path::Path;

/// Bytes of draws that are in memory at once, about. Files of many draws are read again for every window of them, so that it is
/// long.
const AT_ONCE: usize = 1 << 27;

/// Writes one store of the chains of several, in their order: complete runs of the same model with the same
/// settings but for their number of chains. `config` takes the place of theirs. Draws are copied; what was said of single
/// sites and the checkpoints are not, so that it is the parts that can be resumed. Nobody has sent scouts, which is said of
/// the whole until somebody does.
pub fn merge(
    parts: &[Stored],
    path: impl AsRef<Path>,
    config: serde_json::Value,
    replace: bool,
) -> Result<(), StoreError> {
    let first = check(parts)?;
    let chains = parts.iter().map(Stored::chains).sum();
    let described = first.description().clone();
    let settings = Settings { chains, ..described.settings.clone() };
    let description = Description { settings, config, ..described };
    let scouts = Scouts::unsent(Unsent::of_parts(&description.settings));
    let mut writer = StoreWriter::create(&path, description, replace)?;
    let (space, names) = (first.space(), first.names());
    writer.begin(&Plan { space, chains, names, resumed: None }).map_err(told)?;
    let bytes: usize = parts.iter().map(Stored::bytes_of_draw).sum();
    let window = (AT_ONCE / bytes.max(1)).max(1);
    for start in (0..first.draws()).step_by(window) {
        let draws = start..(start + window).min(first.draws());
        let taken = parts.par_iter().map(|part| part_of(part, draws.clone()));
        let taken: Vec<Vec<ChainDraws>> = taken.collect::<Result<_, _>>()?;
        writer.take(taken.into_iter().flatten().collect()).map_err(told)?;
    }
    let rounds = outcome::rounds(parts)?;
    let (seconds, threads) = outcome::timing(parts)?;
    let tempering = outcome::tempering(parts)?;
    let (tempering, ended) = (tempering.as_ref(), Some(&Ended::Complete));
    let scale = first.scale();
    let (rounds, symmetric) = (&rounds, first.is_symmetric());
    let saved =
        Saved { rounds, scale, seconds, threads, tempering, symmetric, ended, ..Saved::default() };
    writer.save(&saved).map_err(told)?;
    StoreWriter::put_exact(&path, &first.exact()?)?;
    StoreWriter::put_scouts(path, &scouts)
}

fn told(error: SinkError) -> StoreError {
    StoreError::Missing(error.0)
}

/// Fails with a sentence unless the stores belong together; the first stands for all.
pub(super) fn check(parts: &[Stored]) -> Result<&Stored, StoreError> {
    let Some(first) = parts.first() else {
        return Err(StoreError::Missing("there is nothing to merge".to_owned()));
    };
    let alike = |stored: &Stored| {
        let mut one = stored.description().clone();
        one.settings.chains = 0;
        one.config = serde_json::Value::Null;
        one
    };
    for part in parts {
        let name = part.folder_name();
        if !part.ended().is_some_and(|ended| ended.is_success()) {
            let sentence = format!("{name} is not complete: resume it first");
            return Err(StoreError::Missing(sentence));
        }
        if alike(part) != alike(first) || part.names() != first.names() {
            let sentence = format!("{name} is not of the same run as {}", first.folder_name());
            return Err(StoreError::Missing(sentence));
        }
        if part.draws() != first.draws() {
            let (found, of_first) = (part.draws(), first.draws());
            let sentence = format!("{name} has {found} draws, the others have {of_first}");
            return Err(StoreError::Missing(sentence));
        }
    }
    Ok(first)
}

/// Some draws of all chains of a store.
fn part_of(part: &Stored, draws: Range<usize>) -> Result<Vec<ChainDraws>, StoreError> {
    let names: Vec<&str> = part.names().iter().map(String::as_str).chain(STATISTICS).collect();
    let series = names.iter().map(|name| part.numbers(name, 0..part.chains(), draws.clone()));
    let series: Vec<Vec<Vec<f64>>> = series.collect::<Result<_, _>>()?;
    let mut states = part.states_of_all(draws.clone())?.unwrap_or_default();
    states.resize(part.chains(), Vec::new());
    let of_chain = |(chain, states): (usize, Vec<u8>)| {
        let mut taken = ChainDraws::new(part.names().len());
        for draw in 0..draws.len() {
            taken.numbers.extend(series.iter().map(|series| series[chain][draw]));
        }
        taken.states = states;
        taken
    };
    Ok(states.into_iter().enumerate().map(of_chain).collect())
}

/// Writes a store of a run whose draws are in memory: the one that the run would have written itself, without a checkpoint.
pub fn write(
    outcome: &Outcome,
    description: Description,
    path: impl AsRef<Path>,
    replace: bool,
) -> Result<(), StoreError> {
    let Outcome { trace, space, .. } = outcome;
    let mut writer = StoreWriter::create(&path, description, replace)?;
    let (chains, names) = (trace.chains(), trace.names());
    writer.begin(&Plan { space, chains, names, resumed: None }).map_err(told)?;
    let columns = names.len() + STATISTICS.len();
    let window = (AT_ONCE / (chains * (8 * columns + space.sites())).max(1)).max(1);
    for start in (0..trace.draws()).step_by(window) {
        let draws = start..(start + window).min(trace.draws());
        let of_chain = |chain: usize| trace.draws_of(chain, draws.clone(), space.sites());
        writer.take((0..chains).map(of_chain).collect()).map_err(told)?;
    }
    let saved = Saved {
        rounds: &outcome.warmup,
        scale: outcome.scale,
        checkpoint: None,
        seconds: outcome.seconds,
        threads: outcome.threads,
        sites: outcome.sites.as_ref(),
        tempering: outcome.tempering.as_ref(),
        symmetric: outcome.symmetric,
        ended: Some(&outcome.ended),
    };
    writer.save(&saved).map_err(told)?;
    StoreWriter::put_exact(path, &outcome.exact)
}
