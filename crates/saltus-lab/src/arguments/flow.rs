//! What can be written after `saltus-lab flow`.

use clap::Args;
use saltus::Balancing;
use saltus_cli::parse;
use std::path::PathBuf;

const FLOW: &str = "Flow";
const OUTPUT: &str = "Output";

/// Follow the gradient flow itself, on a few states: densities, divergence, distances, particles
#[derive(Debug, Args)]
pub struct FlowArguments {
    /// Target probabilities of all states, separated by commas
    #[arg(long, value_name = "P,…", value_delimiter = ',', required = true, help_heading = FLOW, allow_negative_numbers = true)]
    pub target: Vec<f64>,
    /// Probabilities at time 0 [default: all equal]
    #[arg(long, value_name = "P,…", value_delimiter = ',', help_heading = FLOW, allow_negative_numbers = true)]
    pub from: Vec<f64>,
    /// Also measure the distance from there to these probabilities
    #[arg(long, value_name = "P,…", value_delimiter = ',', help_heading = FLOW, allow_negative_numbers = true)]
    pub to: Vec<f64>,
    /// Balancing function [default: sqrt]: sqrt, ratio, min, max or sum
    #[arg(long, value_name = "NAME", help_heading = FLOW)]
    pub weight: Option<Balancing>,
    /// Which states are neighbours [default: complete]: all (complete), each of the next (path), or a
    /// file of lines 'i j w', states numbered from 0
    #[arg(long, value_name = "complete|path|FILE", help_heading = FLOW)]
    pub graph: Option<PathBuf>,
    /// How long to follow it [default: until the divergence has fallen by e¹⁰ or so]
    #[arg(long, value_name = "T", help_heading = FLOW, value_parser = parse::finite, allow_negative_numbers = true)]
    pub time: Option<f64>,
    /// Particles of the jump process that are simulated beside it [default: 10000]
    #[arg(long, value_name = "N", help_heading = FLOW, value_parser = parse::positive, allow_negative_numbers = true)]
    pub particles: Option<usize>,
    /// Seed of the particles [default: 0]
    #[arg(long, value_name = "S", help_heading = FLOW, value_parser = parse::seed, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Draw densities, divergence and particles into a .svg or .png file; may be given twice
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub plot: Vec<PathBuf>,
    /// Replace files of --plot that exist already
    #[arg(long, help_heading = OUTPUT)]
    pub force: bool,
    /// Print one JSON object
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
}
