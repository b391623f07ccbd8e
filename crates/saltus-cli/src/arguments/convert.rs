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
    /// The file to be written: .uai, .dca, .coo, .poly, .json, .bqm, .qubo, .mtx, .gset, .npz or .safetensors; - is stdout
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    /// Format of the file [default: found by what it begins with]
    #[arg(long, value_name = "NAME")]
    pub format: Option<Format>,
    /// Names of an RBM's tensors, if they are others; .T behind a name transposes
    #[arg(long, value_name = "weight=W.T,…", value_delimiter = ',', value_parser = saltus::zoo::parse::pair)]
    pub map: Vec<(String, String)>,
    /// Format to be written [default: what the name ends in]
    #[arg(long, value_name = "NAME")]
    pub to: Option<Format>,
    /// Replace a file that exists already
    #[arg(long)]
    pub force: bool,
}
