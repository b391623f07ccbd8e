//! The commands of the laboratory: arguments, progress, tables and exit codes as those of `saltus`.

mod flow;
mod paper;
mod vae;

use crate::arguments::{Arguments, Command, TrainedModel};
use clap::Parser;
use std::process::ExitCode;

/// Runs what was asked on the command line of `saltus-lab`.
pub fn main() -> ExitCode {
    let finished = match Arguments::parse().command {
        Command::Paper(arguments) => paper::run(&arguments),
        Command::Flow(arguments) => flow::run(&arguments),
        Command::Train(arguments) => match arguments.model {
            TrainedModel::Vae(arguments) => vae::run(&arguments),
        },
    };
    saltus_cli::end("saltus-lab", finished)
}
