//! The laboratory's command.

use std::process::ExitCode;

fn main() -> ExitCode {
    saltus_lab::commands::main()
}
