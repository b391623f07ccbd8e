//! A few runs of targets with known answers: none that is wrong says nothing, none that is easy raises an alarm.
//! `experiments/coverage` makes many.

#[path = "../../../../experiments/coverage/targets.rs"]
mod targets;

use rayon::prelude::*;
use targets::{USUAL, short, targets};

const SEEDS: u64 = 5;

#[test]
fn nothing_wrong_passes_and_nothing_easy_alarms() {
    let targets = targets();
    assert!(targets.iter().filter(|target| target.hard).count() >= 10 && targets.len() >= 20);
    let runs: Vec<_> =
        (0..targets.len()).flat_map(|one| (0..SEEDS).map(move |s| (one, s))).collect();
    runs.into_par_iter().for_each(|(number, seed)| {
        let target = &targets[number];
        for (chains, length) in [(4, USUAL), (2, USUAL), (2, short(seed)), (4, short(seed))] {
            // Also as of models that are too large for exact means.
            for are_known in [true, false] {
                let verdict = target.run(chains, seed, length, are_known);
                let said = format!(
                    "{}, {chains} chains, {length:?}, seed {seed}, means known: {are_known}: {verdict:?}",
                    target.name
                );
                assert!(!(verdict.wrong && verdict.silent), "falsely reassured: {said}");
                // Short runs of samplers with a scale to tune have reasons to complain.
                let is_usual = chains == 4 && length.draws == USUAL.draws;
                assert!(target.hard || !is_usual || !verdict.alarmed, "false alarm: {said}");
            }
        }
    });
}

#[test]
fn the_sampler_that_suits_is_not_falsely_reassured_either() {
    let targets: Vec<_> = targets().into_iter().map(|target| target.by_default(true)).collect();
    targets.into_par_iter().for_each(|target| {
        let verdict = target.run(4, 1, USUAL, true);
        assert!(!(verdict.wrong && verdict.silent), "{}: {verdict:?}", target.name);
        assert!(target.hard || !verdict.alarmed, "{}: {verdict:?}", target.name);
    });
}

#[test]
fn one_chain_is_never_called_fine() {
    for target in targets() {
        assert!(!target.run(1, 0, USUAL, true).silent, "{}", target.name);
    }
}
