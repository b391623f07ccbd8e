//! A few runs of targets with known answers: none that is wrong says nothing, none that is easy raises an alarm.
//! `experiments/coverage` makes many.

#[path = "../../../../experiments/coverage/targets.rs"]
mod targets;

use rayon::prelude::*;
use targets::targets;

const SEEDS: u64 = 5;

#[test]
fn nothing_wrong_passes_and_nothing_easy_alarms() {
    let targets = targets();
    assert!(targets.iter().filter(|target| target.hard).count() >= 10 && targets.len() >= 20);
    let runs: Vec<_> =
        (0..targets.len()).flat_map(|one| (0..SEEDS).map(move |s| (one, s))).collect();
    runs.into_par_iter().for_each(|(number, seed)| {
        let target = &targets[number];
        let verdict = target.run(4, seed);
        let said = format!("{}, seed {seed}: {verdict:?}", target.name);
        assert!(!(verdict.wrong && verdict.silent), "falsely reassured: {said}");
        assert!(target.hard || !verdict.alarmed, "false alarm: {said}");
    });
}

#[test]
fn one_chain_is_never_called_fine() {
    for target in targets() {
        assert!(!target.run(1, 0).silent, "{}", target.name);
    }
}
