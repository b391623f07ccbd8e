//! Every `saltus` command of the README and the guides works as it stands there.

mod common;

use assert_cmd::Command;

/// Runs the commands of a page, in their order and in a folder of their own.
fn run_all(page: &str, fewest: usize) {
    let folder = tempfile::tempdir().unwrap();
    // The file that the guide to diagnostics makes with a command of the shell.
    std::fs::write(folder.path().join("weights.txt"), "0 1\n1 1\n2 -1\n").unwrap();
    // Small images in the place of the real ones.
    common::put_images_of_columns(&folder.path().join("data"), &["train", "t10k"]);
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let lines = blocks.flat_map(str::lines);
    let commands: Vec<Vec<&str>> = lines
        .map(|line| line.split('#').next().unwrap().trim())
        .filter_map(|line| {
            line.strip_prefix("saltus ").or(line.strip_prefix("cargo run --release -- "))
        })
        .map(|arguments| arguments.split_whitespace().collect())
        .collect();
    assert!(commands.len() >= fewest, "{commands:?}");
    for arguments in commands {
        let mut command = Command::cargo_bin("saltus").unwrap();
        let output = command.args(&arguments).current_dir(folder.path()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "saltus {}: {errors}", arguments.join(" "));
        assert!(!output.stdout.is_empty());
    }
}

#[test]
fn every_command_of_the_readme_works() {
    run_all(include_str!("../../../README.md"), 10);
}

#[test]
fn every_command_about_diagnostics_works() {
    run_all(include_str!("../../../docs/diagnostics.md"), 5);
}

#[test]
fn every_command_about_results_works() {
    run_all(include_str!("../../../docs/results.md"), 7);
}

#[test]
fn every_command_about_the_flow_works() {
    run_all(include_str!("../../../docs/flow.md"), 7);
}

#[test]
fn every_command_about_likelihoods_works() {
    run_all(include_str!("../../../docs/likelihood.md"), 5);
}
