//! The laboratory's commands as their users run them.

#[path = "../../../saltus-cli/tests/it/common.rs"]
mod common;
mod flow;
mod pages;
mod paper;
#[path = "../../../saltus/tests/it/tools.rs"]
mod tools;
mod train_vae;

use common::Ran;

/// Runs `saltus-lab` with the words of a line.
fn lab(line: &str) -> Ran {
    lab_with(&line.split_whitespace().collect::<Vec<_>>())
}

/// Runs `saltus-lab` with these arguments.
fn lab_with(arguments: &[&str]) -> Ran {
    common::run("saltus-lab", arguments)
}
