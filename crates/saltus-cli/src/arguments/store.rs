//! Options of runs that are stored, resumed and stopped.

use super::RUN;
use crate::parse;
use crate::shard::Shard;
use clap::{Args, ValueEnum};
use saltus::files::Existing;
use saltus::store;
use std::path::PathBuf;
use std::time::Duration;

const STORE: &str = "Store";

/// Where draws are kept, and until when they are made. Global, as all options of a run.
#[derive(Clone, Debug, Args)]
pub struct StoreArguments {
    /// Store the draws in this folder, for xarray, ArviZ, `saltus export` and --resume
    #[arg(long, global = true, value_name = "DIR", help_heading = STORE)]
    pub out: Option<PathBuf>,
    /// Run one of N parts of the chains, numbered from 0, and store it in DIR.IofN; `auto` asks SLURM or MPI
    #[arg(long, global = true, value_name = "I/N", help_heading = STORE, requires = "out")]
    pub shard: Option<Shard>,
    /// What to store of whole states [default: none]: none, states, or bits of two values
    #[arg(long, global = true, value_name = "WHAT", help_heading = STORE, hide_possible_values = true)]
    pub keep: Option<Keep>,
    /// Replace a run that is in the folder already, and a file of --mosaic
    #[arg(long, global = true, help_heading = STORE)]
    pub force: bool,
    /// Go on with the run in this folder, with its own model and settings
    #[arg(long, global = true, value_name = "DIR", help_heading = STORE)]
    pub resume: Option<PathBuf>,
    /// With --resume: this many draws more than the run has
    #[arg(
        long, global = true, value_name = "DRAWS", help_heading = STORE,
        value_parser = parse::positive, allow_negative_numbers = true
    )]
    pub extend: Option<usize>,
    /// Time between two checkpoints [default: 30s]; one is also written whenever a run ends
    #[arg(
        long, global = true, value_name = "TIME", help_heading = STORE,
        value_parser = parse::duration, allow_hyphen_values = true
    )]
    pub checkpoint_every: Option<Duration>,
    /// Stop before --draws once every observable is worth N independent draws of all chains together
    #[arg(
        long, global = true, value_name = "N", help_heading = RUN,
        value_parser = parse::finite, allow_negative_numbers = true
    )]
    pub until_ess: Option<f64>,
    /// Stop before --draws once the R-hat of every observable is at most R
    #[arg(
        long, global = true, value_name = "R", help_heading = RUN,
        value_parser = parse::finite, allow_negative_numbers = true
    )]
    pub until_rhat: Option<f64>,
}

impl StoreArguments {
    /// What happens to files that are there.
    pub fn existing(&self) -> Existing {
        existing(self.force)
    }
}

/// What happens to files that are there, with or without `--force`.
pub fn existing(force: bool) -> Existing {
    if force { Existing::Replace } else { Existing::Keep }
}

/// What is stored of whole states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Keep {
    /// Nothing
    None,
    /// A byte per site
    States,
    /// A bit per site
    Bits,
}

impl From<Keep> for store::Keep {
    fn from(keep: Keep) -> Self {
        match keep {
            Keep::None => Self::None,
            Keep::States => Self::States,
            Keep::Bits => Self::Bits,
        }
    }
}

/// Join the stores of all shards of a run into one
#[derive(Debug, Args)]
pub struct MergeArguments {
    /// Folders of the shards
    #[arg(value_name = "DIR", required = true)]
    pub parts: Vec<PathBuf>,
    /// Folder of the whole run
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Replace a run that is in the folder already
    #[arg(long)]
    pub force: bool,
    /// Send no short chains from far starts, to look for places that no chain came to
    #[arg(long)]
    pub no_scouts: bool,
}

/// Write the numbers or the states of a stored run into files
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// Folder of the run
    #[arg(value_name = "DIR")]
    pub run: PathBuf,
    /// A line per chain and draw; - prints them
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// An array over chain and draw for each observable, for numpy.load
    #[arg(long, value_name = "FILE")]
    pub npz: Option<PathBuf>,
    /// The whole states of a run that kept them: .npz, .csv, .fasta, .png or .txt; - is stdout
    #[arg(long, value_name = "FILE")]
    pub states: Option<PathBuf>,
    /// With --states: values of two as −1 and +1
    #[arg(long, requires = "states")]
    pub spins: bool,
    /// Replace files that exist already
    #[arg(long)]
    pub force: bool,
}
