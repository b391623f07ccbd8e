//! What can be written after `saltus convert`.

use clap::Args;
use saltus::zoo::read::Format;
use std::path::PathBuf;

/// Write a model's file in another format
#[derive(Debug, Args)]
pub struct ConvertArguments {
    /// The file, of any format that `saltus list` names; - is stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The file to be written, .uai or .coo; - is stdout
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    /// Format of the file [default: found by what it begins with]
    #[arg(long, value_name = "NAME")]
    pub format: Option<Format>,
    /// Format to be written [default: what the name ends in]
    #[arg(long, value_name = "NAME")]
    pub to: Option<Format>,
    /// Replace a file that exists already
    #[arg(long)]
    pub force: bool,
}
