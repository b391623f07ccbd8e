//! How often a run that is wrong says nothing, and how often one that is right raises an alarm.
//!
//!     cargo run --release --package saltus --example coverage -- [SEEDS] [CHAINS,…] [others|families] [short] [blind] [chosen]
//!
//! runs every target of `targets.rs`, or of `others.rs` or `families.rs`, with seeds 0, 1, … and 1, 2, 4 and 100 chains, each with 500 steps of warm-up and
//! 2,000 draws, or with 200 and 300 to 600 (`short`), and prints a table in Markdown. All of these targets are so small that exact means are
//! known; `blind` does not look at them, as of larger ones, so that everything else is tried. `chosen` leaves the choice of the sampler to trials, as
//! the command line does. *Wrong* is a run whose mean of log π or of the sum of all values is off by
//! more than four of the errors it states; *falsely reassured* one that is wrong and has no finding; *alarmed* one with a
//! finding other than that a single chain cannot know, and that draws are too few. The exit code is 1 if a run was falsely
//! reassured, or more than one of twenty easy ones alarmed.

mod families;
mod others;
mod targets;

use rayon::prelude::*;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;
use targets::{Length, Target, USUAL, Verdict, short, targets};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 =
        arguments.next().map_or(100, |seeds| seeds.parse().expect("a number of seeds"));
    let chains: Vec<usize> = arguments.next().map_or(vec![1, 2, 4, 100], |chains| {
        chains.split(',').map(|one| one.parse().expect("numbers of chains")).collect()
    });
    let began = Instant::now();
    let mut list: fn() -> Vec<Target> = targets;
    let mut length: fn(u64) -> Length = |_| USUAL;
    let (mut are_known, mut chosen) = (true, false);
    for word in arguments {
        match word.as_str() {
            "others" => list = others::others,
            "families" => list = families::families,
            "blind" => are_known = false,
            "chosen" => chosen = true,
            "short" => length = short,
            other => panic!("there are no targets and no runs that are called {other}"),
        }
    }
    let mut targets = list();
    if chosen {
        targets = targets.into_iter().map(|target| target.by_default(true)).collect();
    }
    println!("{seeds} seeds. Of each: wrong, falsely reassured, alarmed.\n");
    let columns: Vec<String> =
        chains.iter().map(|chains| format!("{chains} chains | findings")).collect();
    println!("| target | {} |", columns.join(" | "));
    println!("|---|{}", "---|---|".repeat(chains.len()));
    let mut totals = vec![[[0usize; 4]; 2]; chains.len()];
    for target in &targets {
        let mut cells = Vec::new();
        for (chains, totals) in chains.iter().zip(&mut totals) {
            let verdicts: Vec<Verdict> = (0..seeds)
                .into_par_iter()
                .map(|seed| target.run(*chains, seed, length(seed), are_known))
                .collect();
            let counts = count(&verdicts);
            let total = &mut totals[usize::from(target.hard)];
            total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
            let [_, wrong, reassured, alarmed] = counts;
            cells.push(format!("{wrong}, {reassured}, {alarmed} | {}", codes(&verdicts)));
        }
        println!("| {} | {} |", name(target), cells.join(" | "));
    }
    println!();
    for (chains, [easy, hard]) in chains.iter().zip(&totals) {
        let [easy_runs, easy_wrong, easy_reassured, easy_alarmed] = easy;
        let [hard_runs, hard_wrong, hard_reassured, hard_alarmed] = hard;
        println!(
            "{chains} chains: easy: {easy_wrong} of {easy_runs} wrong, {easy_reassured} falsely reassured, \
             {easy_alarmed} alarmed; hard: {hard_wrong} of {hard_runs} wrong, {hard_reassured} falsely \
             reassured, {hard_alarmed} alarmed"
        );
    }
    eprintln!("{:.0} s", began.elapsed().as_secs_f64());
    let fails = |[easy, hard]: &[[usize; 4]; 2]| easy[2] + hard[2] > 0 || 20 * easy[3] > easy[0];
    ExitCode::from(u8::from(totals.iter().any(fails)))
}

fn name(target: &Target) -> String {
    format!("{}: {}", if target.hard { "hard" } else { "easy" }, target.name)
}

/// Runs, and how many are wrong, falsely reassured and alarmed.
fn count(verdicts: &[Verdict]) -> [usize; 4] {
    let of = |test: fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| test(verdict)).count();
    [
        verdicts.len(),
        of(|verdict| verdict.wrong),
        of(|verdict| verdict.wrong && verdict.silent),
        of(|verdict| verdict.alarmed),
    ]
}

/// How often each finding was made.
fn codes(verdicts: &[Verdict]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for code in verdicts.iter().flat_map(|verdict| &verdict.findings) {
        *counts.entry(code).or_default() += 1;
    }
    let counts: Vec<String> =
        counts.iter().map(|(code, count)| format!("{code} {count}")).collect();
    counts.join(", ")
}
