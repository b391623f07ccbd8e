//! From the arguments to a model, in words and in memory.

use crate::arguments::ModelArguments;
use crate::failure::Failure;
use crate::memory::Demand;
use crate::table::wrap;
use saltus::zoo::{Building, Built, Extent, Given, Title};
use saltus::{Model, ModelError, Sampler, Space};

/// The first lines of a report: what is being sampled.
pub fn heading(title: &Title, space: &Space) -> String {
    let words = wrap(&title.words, "model    ", "         ");
    format!("{words}         {}\n", space.words())
}

/// Rows and columns of states that have both.
pub fn rows_and_columns(space: &Space) -> Option<crate::parse::Size> {
    match space.shape()? {
        [rows, columns] => Some(crate::parse::Size { rows: *rows, columns: *columns }),
        _ => None,
    }
}

/// What is needed besides the model's own options.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<'a> {
    /// Seed of random parameters.
    pub seed: u64,
    /// Chains that will run, to see whether they fit in memory.
    pub chains: usize,
    /// What is known of its states.
    pub given: Option<&'a Given>,
}

/// Builds a model that is to be sampled. Fails if all of its sites are known.
pub fn build(arguments: &ModelArguments, context: Context<'_>) -> Result<Built, Failure> {
    let built = build_any(arguments, context, false)?;
    Sampler::default().check_space(built.model.space()).map_err(saltus::RunError::from)?;
    Ok(built)
}

/// Builds a model of which there may be nothing left to sample; `exact` keeps all digits that its file has.
pub fn build_any(
    arguments: &ModelArguments,
    context: Context<'_>,
    exact: bool,
) -> Result<Built, Failure> {
    let check = |Extent { sites, values, parameters }: Extent| {
        Demand { sites, values, parameters, chains: context.chains }
            .check()
            .map_err(|failure| ModelError::invalid(failure.sentence().unwrap_or_default()))
    };
    match arguments {
        ModelArguments::Zoo(spec) => {
            let Context { seed, given, .. } = context;
            Ok(spec.build(&Building { seed, given, check: Some(&check), exact })?)
        }
        #[cfg(feature = "deep")]
        ModelArguments::Deep(crate::arguments::DeepSpec::Resnet(arguments)) => {
            let model: saltus_nn::DeepModel = saltus_nn::DeepModel::load(&arguments.weights)?;
            let architecture = model.parameters().architecture();
            let (rows, columns) = (architecture.rows(), architecture.columns());
            // An image on its way through the network takes as much as some parameters per channel.
            let in_flight = 2 * rows * columns * architecture.width() * context.chains.div_ceil(5);
            check(Extent {
                sites: rows * columns,
                values: architecture.values(),
                parameters: architecture.parameters().saturating_add(in_flight),
            })?;
            let words = format!(
                "residual network of {} channels and {} parameters from {}",
                architecture.width(),
                architecture.parameters(),
                arguments.weights.display()
            );
            let built = Built::new("resnet", words, model);
            Ok(built.given(context.given.unwrap_or(&Given::default()))?)
        }
        ModelArguments::Unnamed(words) => Err(Failure::Usage(format!(
            "{} is not the name of a model",
            words.first().map_or("".into(), |word| word.to_string_lossy())
        ))),
    }
}
