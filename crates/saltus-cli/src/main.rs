//! The saltus command: runs what was asked and turns the way it ended into an exit code.

mod ais;
mod arguments;
mod compare;
mod contender;
mod export;
mod failure;
mod flow;
mod interrupt;
mod job;
mod list;
mod memory;
mod model;
mod number;
mod observe;
mod paper;
mod parse;
mod per_site;
mod picture;
mod plot;
mod progress;
mod report;
mod sample;
mod table;
mod train;

use arguments::{Arguments, Command};
use clap::Parser;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let finished = match Arguments::parse().command {
        Command::List(arguments) => list::run(&arguments),
        Command::Sample(arguments) => sample::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Train(arguments) => train::run(&arguments),
        Command::Ais(arguments) => ais::run(&arguments),
        Command::Paper(arguments) => paper::run(&arguments),
        Command::Flow(arguments) => flow::run(&arguments),
    };
    match finished {
        Ok(finish) => finish.exit_code(),
        Err(failure) => {
            if let Some(sentence) = failure.sentence() {
                say(&format!("saltus: {sentence}"));
            }
            failure.exit_code()
        }
    }
}

/// Tells what is going to be done: on stdout for people, on stderr where scripts read stdout.
fn announce(heading: &str, json: bool, quiet: bool) -> std::io::Result<()> {
    if !json {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{heading}")?;
        return out.flush();
    }
    if !quiet {
        say(heading);
    }
    Ok(())
}

/// A line on stderr. Unlike `eprintln!` it does not panic where nobody listens any more.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
