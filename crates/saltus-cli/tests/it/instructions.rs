//! Instructions per site and step of the main kernels, of draws as they are recorded and of warm-up, counted by callgrind: a figure that
//! does not depend on the machine's mood, held against what it was when it was last looked at.
//!
//! The counts are of the command as users build it. Callgrind
//! shows programs a processor with AVX2 and without AVX-512. The counts stand in `instructions.tsv`; a
//! change that lowers them, or raises them for a good reason, writes there what this test prints.

use crate::tools;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// More than this times the recorded count is a failure: of the steps themselves, of which the first twelve counts are those of
/// 0.1, and of what is around them.
const TOLERATED: (f64, f64) = (1.05, 1.1);

/// Steps per kept draw: what is observed of a draw shall not hide the steps of cheap samplers.
const THIN: usize = 10;

/// How so many steps are made: as `step`s, of which few are kept; as `draw`s, which are all recorded; or as steps of
/// `warm-up`.
fn lengths(kind: &str, steps: usize) -> [(&'static str, usize); 3] {
    match kind {
        "step" => [("--warmup", 0), ("--thin", THIN), ("--draws", steps / THIN)],
        "draw" => [("--warmup", 0), ("--thin", 1), ("--draws", steps)],
        "warm-up" => [("--warmup", steps), ("--thin", 1), ("--draws", 1)],
        other => panic!("{other} is not counted"),
    }
}

/// Instructions that a whole run of so many steps executes.
fn instructions(
    (valgrind, saltus): (&Path, &Path),
    arguments: &[&str],
    lengths: [(&str, usize); 3],
) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let run = Command::new(valgrind)
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", folder.path().join("out").display()))
        .arg(saltus)
        .arg("sample")
        .args(arguments)
        .args(["--chains", "1", "--threads", "1", "--no-scouts", "--quiet", "--json"])
        .args(lengths.iter().flat_map(|(name, number)| [name.to_string(), number.to_string()]))
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let report = String::from_utf8_lossy(&run.stderr).into_owned();
    let collected = report.lines().find_map(|line| line.split("Collected : ").nth(1));
    collected.unwrap().trim().parse().unwrap()
}

/// The command with the optimisation of a release: the one beside the tests, if these have it; else cargo builds it.
fn released() -> PathBuf {
    if !cfg!(debug_assertions) {
        return env!("CARGO_BIN_EXE_saltus").into();
    }
    let build = Command::new(env!("CARGO"))
        .args(["build", "--release", "--package", "saltus-cli", "--message-format", "json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
    let messages = String::from_utf8(build.stdout).unwrap();
    let messages = messages.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut programs = messages.filter_map(|message| Some(message["executable"].as_str()?.into()));
    programs.next().expect("one program is built")
}

#[test]
fn kernels_execute_no_more_instructions_than_recorded() {
    let Some(valgrind) = tools::valgrind() else { return };
    let saltus = released();
    let mut grown = Vec::new();
    println!("# of what\tmodel and sampler\tsites\tsteps\tinstructions per site and step");
    for line in include_str!("../instructions.tsv").lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [kind, run, sites, steps, recorded] = cells[..] else { panic!("five columns: {line}") };
        let arguments: Vec<&str> = run.split(' ').collect();
        let step_count: usize = steps.parse().unwrap();
        // The difference of two runs leaves out what a run costs by itself.
        let count = |steps| instructions((&valgrind, &saltus), &arguments, lengths(kind, steps));
        let more = count(2 * step_count) - count(step_count);
        let found = more / step_count as f64 / sites.parse::<f64>().unwrap();
        println!("{kind}\t{run}\t{sites}\t{steps}\t{found:.2}");
        let tolerated = if kind == "step" { TOLERATED.0 } else { TOLERATED.1 };
        if found > tolerated * recorded.parse::<f64>().unwrap() {
            grown.push(format!("{kind} of {run}: {found:.2} instead of {recorded}"));
        }
    }
    assert!(grown.is_empty(), "instructions per site and step have grown:\n{}", grown.join("\n"));
}
