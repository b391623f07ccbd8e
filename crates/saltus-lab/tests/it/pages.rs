//! Every `saltus-lab` command of the README and the guide to the flow works as it stands there.

use crate::common::run_page;

const LAB: (&str, &[&str]) =
    ("saltus-lab", &["saltus-lab ", "cargo run --release -p saltus-lab -- "]);

#[test]
fn every_command_of_the_readme_works() {
    run_page(include_str!("../../../../README.md"), LAB, 2);
}

#[test]
fn every_command_about_the_flow_works() {
    run_page(include_str!("../../../../docs/flow.md"), LAB, 3);
}

#[test]
fn numbers_of_the_reproduction_are_those_of_stored_files() {
    let Some(python) = crate::tools::python("csv, json") else { return };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/trace.py");
    let output = std::process::Command::new(python).arg(script).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
}
