//! Runs that end early or fail leave a summary of what was drawn, and say so by their exit code.
#![cfg(unix)]

use crate::common::{Folder, saltus};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Far more draws than any test waits for.
const ENDLESS: &str =
    "ising --size 8 --chains 4 --warmup 100 --draws 1000000000 --threads 1 --json";

#[test]
fn a_time_limit_keeps_what_was_drawn() {
    let ran = saltus(&format!("sample {ENDLESS} --time-limit 600ms --quiet"));
    assert_eq!(ran.code, 3);
    let json = ran.json();
    assert!(json["draws"].as_u64().unwrap() > 0, "{json}");
    assert!(json["log_prob"]["mean"].is_number());
    assert!(json["warnings"][0].as_str().unwrap().contains("time limit"), "{json}");
}

#[test]
fn a_time_limit_within_the_warm_up_leaves_no_draws() {
    let line = "sample ising --size 8 --chains 4 --warmup 1000000000 --draws 5 --time-limit 300ms";
    let ran = saltus(&format!("{line} --json --quiet"));
    assert_eq!(ran.code, 3);
    assert_eq!(ran.json()["draws"], 0);
    let ran = saltus(line);
    assert_eq!(ran.code, 3);
    assert!(ran.out.contains("0 of 5 draws"), "{}", ran.out);
}

#[test]
fn a_time_limit_is_kept_when_draws_take_many_steps() {
    let started = Instant::now();
    let line = "sample ising --size 8 --chains 1 --warmup 2000 --draws 100000 --thin 5000";
    let ran = saltus(&format!("{line} --time-limit 500ms --json --quiet"));
    assert_eq!(ran.code, 3);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

/// Large models and isolated states, for every sampler: a stop is heard within a second, and what starting and
/// summing up take on a busy machine.
#[test]
fn every_sampler_hears_a_stop() {
    let folder = Folder::new();
    // Spins that hold each other so fast that no state can be left.
    let isolated = folder.file("edges.txt", "0 1 1e38\n1 2 1e38\n2 3 1e38\n");
    let samplers =
        ["rwm", "hb", "bg", "gibbs", "lb1", "gwg", "dld", "pas", "dmala", "dlmcf", "dlmc"];
    let models =
        ["ising --size 120 --chains 2", &format!("pairwise --edges {isolated} --chains 2")];
    for (sampler, model) in samplers.iter().flat_map(|one| models.map(|model| (one, model))) {
        let line = format!(
            "sample {model} --sampler {sampler} --warmup 200 --draws 10000000 --thin 100 --threads 1 \
             --time-limit 200ms --quiet --json"
        );
        let started = Instant::now();
        let ran = saltus(&line);
        let took = started.elapsed();
        // Where no state can be left a sampler may say so.
        assert!(matches!(ran.code, 1 | 3), "{line}: {}", ran.err);
        assert!(took < Duration::from_secs(3), "{line}: {took:?}");
    }
}

fn start(line: &str) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("saltus"))
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until the run has said what it samples, and a little more.
fn wait_for_the_heading(child: &mut Child) {
    let stderr = child.stderr.take().unwrap();
    let mut lines = BufReader::new(stderr).lines();
    assert!(lines.next().unwrap().unwrap().contains("Ising"));
    // Keep reading, so that the run never has to wait for somebody to listen.
    std::thread::spawn(move || lines.count());
    std::thread::sleep(Duration::from_millis(600));
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn an_interrupt_keeps_what_was_drawn() {
    let mut child = start(&format!("sample {ENDLESS}"));
    wait_for_the_heading(&mut child);
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(json["draws"].as_u64().unwrap() > 0, "{json}");
    assert!(json["warnings"][0].as_str().unwrap().contains("stopped by the user"), "{json}");
}

#[test]
fn an_interrupt_ends_a_comparison_with_the_runs_it_has() {
    // Comparisons keep their draws, so that these are few and far between.
    let rare = ENDLESS.replace("--draws 1000000000", "--draws 1000 --thin 1000000");
    let mut child = start(&format!("compare {rare} --samplers dlmc,rwm"));
    wait_for_the_heading(&mut child);
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_second_interrupt_ends_at_once() {
    // The run may come to its end between the two; then it ends as after one, and we try again.
    let ended_at_once = (0..20).any(|_| {
        let mut child = start("sample ising --size 1000 --chains 20 --threads 1 --json");
        wait_for_the_heading(&mut child);
        interrupt(&child);
        std::thread::sleep(Duration::from_millis(5));
        interrupt(&child);
        let output = child.wait_with_output().unwrap();
        match output.status.code() {
            Some(3) => false,
            Some(130) => {
                assert!(output.stdout.is_empty());
                true
            }
            other => panic!("exit code {other:?}"),
        }
    });
    assert!(ended_at_once);
}

#[test]
fn a_chain_that_fails_is_named() {
    // Couplings whose sums leave single precision: ∞ − ∞ is not a number.
    let folder = Folder::new();
    let edges = folder.file("edges.txt", "0 1 3e38\n0 2 3e38\n0 3 -3e38\n0 4 -3e38\n");
    let line = format!("pairwise --edges {edges} --values 3 --chains 50 --warmup 50 --draws 50");
    let ran = saltus(&format!("sample {line} --sampler dlmc --json"));
    assert_eq!(ran.code, 1);
    assert_eq!(ran.json()["chains"], 50);
    let sentence = ran.err.lines().last().unwrap();
    assert!(sentence.starts_with("saltus: chain "), "{sentence}");
    assert!(sentence.contains(" failed at step 0: "), "{sentence}");
    let ran = saltus(&format!("compare {line} --samplers dlmc,gibbs --json"));
    assert_eq!(ran.code, 1);
    assert_eq!(ran.json()["runs"][1]["draws"], 50, "the others run all the same");
    assert!(ran.err.contains("saltus: dlmc: chain "), "{}", ran.err);
}

/// More draws than can be made: samplers are tried for a share of that, but no longer than the limit.
#[test]
fn trials_of_samplers_are_within_the_time_limit() {
    let began = Instant::now();
    let ran =
        saltus("sample ising --size 4 --chains 4 --draws 1000000000000 --time-limit 300ms --quiet");
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}
