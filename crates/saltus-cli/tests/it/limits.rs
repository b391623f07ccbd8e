//! Runs within limits of memory: what cannot fit is refused, what is long needs no more than what is short.
#![cfg(target_os = "linux")]

use crate::common::{Folder, saltus};
use std::path::Path;
use std::process::{Command, Output};

/// Runs `saltus` in an address space of so many MiB.
fn within(mebibytes: usize, line: &str) -> Output {
    let program = assert_cmd::cargo::cargo_bin!("saltus");
    let script = format!("ulimit -v {}; exec {} {line}", mebibytes * 1024, program.display());
    // One arena: those of threads reserve more than they use.
    Command::new("sh").args(["-c", &script]).env("MALLOC_ARENA_MAX", "1").output().unwrap()
}

fn files(path: &Path) -> usize {
    let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
}

#[test]
fn a_limit_of_the_process_is_respected() {
    let output =
        within(300, "sample ising --size 1000 --chains 100 --draws 10 --warmup 10 --quiet");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("of memory, but there are 0."), "{errors}");
}

#[test]
fn more_draws_than_fit_are_not_compared() {
    let ran = saltus("compare ising --size 4 --chains 4 --draws 1000000000000000");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    assert!(ran.err.contains("the draws of a run need about"), "{}", ran.err);
}

#[test]
fn more_draws_than_can_be_judged_are_not_made() {
    let line =
        "sample ising --size 4 --sampler gibbs --chains 4 --warmup 10 --draws 10000000 --quiet";
    let output = within(120, line);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("the draws that are judged need about 0.2 GiB"), "{errors}");
}

/// Samples so many draws of four chains of sixteen sites within so much memory, and tells of files.
fn long_run(draws: usize, mebibytes: usize) -> usize {
    let folder = Folder::in_memory();
    let run = folder.path("run");
    let line = format!(
        "sample ising --size 4 --sampler gibbs --chains 4 --warmup 100 --draws {draws} --threads 2 \
         --quiet --json --out {run}"
    );
    let output = within(mebibytes, &line);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["draws"], draws);
    let judged = json["judged_every"].as_u64().unwrap_or(1) as usize;
    assert!(4 * draws.div_ceil(judged) <= 1 << 20, "{judged}");
    files(Path::new(&run))
}

#[test]
fn memory_and_files_do_not_grow_with_the_draws() {
    let few = long_run(10_000, 600);
    let many = long_run(600_000, 600);
    assert!(many < few + 50, "{few} {many}");
}

#[test]
#[ignore = "takes a minute; .ci/night runs it"]
fn memory_and_files_do_not_grow_with_a_hundred_times_the_draws() {
    assert!(long_run(10_000_000, 600) < 1000);
}

#[test]
fn draws_without_end_take_no_more_memory() {
    let line = "sample ising --size 4 --sampler gibbs --chains 4 --warmup 100 --draws 1000000000000000 \
                --time-limit 3s --threads 2 --quiet --json";
    let output = within(600, line);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{errors}");
}
