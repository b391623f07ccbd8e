//! What the saltus command is made of, for its own binary and for the laboratory's.
//!
//! This is no interface for others: it changes whenever the commands do.

#[doc(hidden)]
pub mod arguments;
#[doc(hidden)]
pub mod failure;
#[doc(hidden)]
pub mod interrupt;
#[doc(hidden)]
pub mod memory;
#[doc(hidden)]
pub mod model;
#[doc(hidden)]
pub mod number;
#[doc(hidden)]
pub mod out;
#[doc(hidden)]
pub mod parse;
#[doc(hidden)]
pub mod plot;
#[doc(hidden)]
pub mod progress;
#[doc(hidden)]
pub mod table;
#[doc(hidden)]
pub mod train;

mod advice;
mod ais;
mod compare;
mod contender;
mod convert;
mod exact;
mod export;
mod job;
mod ladder;
mod list;
mod log_z;
mod marginals;
mod merge;
mod minimize;
mod moved;
mod observe;
mod per_site;
mod picture;
mod report;
mod sample;
mod scan;
mod shard;
mod states;
mod uai;

use arguments::Command;
use failure::{Failure, Finish};
use std::io::Write;
use std::process::ExitCode;

/// Runs what was asked on the command line of `saltus`.
#[doc(hidden)]
pub fn main() -> ExitCode {
    end(
        "saltus",
        match arguments::parse_arguments().command {
            Command::List(arguments) => list::run(&arguments),
            Command::Sample(arguments) => sample::run(arguments),
            Command::Compare(arguments) => compare::run(arguments),
            Command::Exact(arguments) => exact::run(&arguments),
            Command::Report(arguments) => report::run(&arguments),
            Command::Export(arguments) => export::run(&arguments),
            Command::Convert(arguments) => convert::run(&arguments),
            Command::Merge(arguments) => merge::run(&arguments),
            Command::Train(arguments) => train::run(&arguments),
            Command::Ais(arguments) => ais::run(&arguments),
            Command::LogZ(arguments) => log_z::run(&arguments),
            Command::Scan(arguments) => scan::run(&arguments),
            Command::Minimize(arguments) => minimize::run(&arguments),
            Command::Paper(_) => moved::to_the_laboratory("paper"),
            Command::Flow(_) => moved::to_the_laboratory("flow"),
        },
    )
}

/// Turns the way a command ended into an exit code, and says why in the name of a program.
#[doc(hidden)]
pub fn end(program: &str, finished: Result<Finish, Failure>) -> ExitCode {
    match finished {
        Ok(finish) => finish.exit_code(),
        Err(failure) => {
            if let Some(sentence) = failure.sentence() {
                say(&format!("{program}: {sentence}"));
            }
            failure.exit_code()
        }
    }
}

/// Tells what is going to be done: on stdout for people, on stderr where scripts read stdout.
#[doc(hidden)]
pub fn announce(heading: &str, json: bool, quiet: bool) -> std::io::Result<()> {
    if !json {
        let mut out = out::stdout();
        writeln!(out, "{heading}")?;
        return out.flush();
    }
    if !quiet {
        say(heading);
    }
    Ok(())
}

/// A line on stderr. Unlike `eprintln!` it does not panic where nobody listens any more.
#[doc(hidden)]
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
