//! Commands that have moved to a program of their own, and where they went.

use crate::failure::{Failure, Finish};
use clap::Args;
use std::ffi::OsString;

/// Whatever is asked of a command that is elsewhere.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct MovedArguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _all: Vec<OsString>,
}

/// The answer to a command that the laboratory has now.
pub fn to_the_laboratory(command: &str) -> Result<Finish, Failure> {
    Err(Failure::Usage(format!(
        "`saltus {command}` has moved: cargo run --release -p saltus-lab -- {command} …"
    )))
}
