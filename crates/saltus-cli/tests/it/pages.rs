//! Every `saltus` command of the README and the guides works as it stands there.

const SALTUS: (&str, &[&str]) = ("saltus", &["saltus ", "cargo run --release -- "]);

#[test]
fn every_command_of_the_readme_works() {
    crate::common::run_page(include_str!("../../../../README.md"), SALTUS, 10);
}

#[test]
fn every_command_about_diagnostics_works() {
    crate::common::run_page(include_str!("../../../../docs/diagnostics.md"), SALTUS, 5);
}

#[test]
fn every_command_about_tempering_works() {
    crate::common::run_page(include_str!("../../../../docs/tempering.md"), SALTUS, 8);
}

#[test]
fn every_command_about_results_works() {
    crate::common::run_page(include_str!("../../../../docs/results.md"), SALTUS, 7);
}

#[test]
fn every_command_about_the_flow_works() {
    crate::common::run_page(include_str!("../../../../docs/flow.md"), SALTUS, 4);
}

#[test]
fn every_command_about_likelihoods_works() {
    crate::common::run_page(include_str!("../../../../docs/likelihood.md"), SALTUS, 5);
}

#[test]
fn every_command_of_a_first_run_works() {
    crate::common::run_page(include_str!("../../../../docs/first-run.md"), SALTUS, 5);
}

#[test]
fn every_command_about_the_command_line_works() {
    crate::common::run_page(include_str!("../../../../docs/command-line.md"), SALTUS, 3);
}

#[test]
fn every_command_about_grids_works() {
    crate::common::run_page(include_str!("../../../../docs/physics.md"), SALTUS, 4);
}
