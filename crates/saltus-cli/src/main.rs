//! The saltus command.

use std::process::ExitCode;

fn main() -> ExitCode {
    saltus_cli::main()
}
