//! What can be written on the command line.

mod flow;
mod paper;
mod vae;

pub use flow::FlowArguments;
pub use paper::PaperArguments;
pub use vae::TrainVaeArguments;

use clap::{Args, Parser, Subcommand};

/// The laboratory of saltus: the paper's study, the gradient flow, rival models.
#[derive(Debug, Parser)]
#[command(name = "saltus-lab", version, max_term_width = 100, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Repeat the paper's sampling study: tables, figures, and a verdict on each of its claims
    Paper(PaperArguments),
    /// Follow the gradient flow itself, on a few states: densities, divergence, distances, particles
    Flow(FlowArguments),
    /// Learn a model from data and keep it in a file
    Train(TrainArguments),
}

/// Learn a model from data and keep it in a file
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "MODEL",
    subcommand_help_heading = "Models",
    disable_help_subcommand = true
)]
pub struct TrainArguments {
    #[command(subcommand)]
    pub model: TrainedModel,
}

/// A model that can be trained, and its own options.
#[derive(Debug, Subcommand)]
pub enum TrainedModel {
    /// Variational autoencoder, from images of bits
    Vae(TrainVaeArguments),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Arguments::command().debug_assert();
    }
}
