//! What is annealed: an RBM, a DBN, a deep model, or any model of the registry.

use crate::arguments::{AisArguments, ModelArguments, Transition};
use crate::failure::Failure;
use crate::model::{Context, build};
use saltus::ais::{Ais, AisCheckpoint, AisError, AisOutcome, AisProgress, AisSettings};
use saltus::model::rbm::Rbm;
use saltus::tensor_file::{self, Tensors};
use saltus::zoo::{Built, FileSpec, ModelSpec};
use saltus::{Control, Method, Model, Space};
use saltus_learn::dbn::{Dbn, Layers};
#[cfg(feature = "deep")]
use saltus_nn::DeepModel;
use std::path::Path;
use std::time::Duration;

/// A tensor that deep models have, and the others have not.
const OF_DEEP_MODELS: &str = "base_mean";

/// A learnt model whose normaliser is wanted.
pub enum Subject {
    Rbm(Box<Rbm>),
    Network(Box<Dbn>),
    #[cfg(feature = "deep")]
    Deep(Box<DeepModel>),
    Named(Built),
}

/// Where reverse chains start.
pub enum Starts {
    /// At these states.
    Given(Vec<u8>),
    /// Far from the base, so many at each of a few places.
    Far(usize),
}

/// What annealing needs besides a model and settings.
pub struct Prepared<'a> {
    pub starts: Starts,
    pub monitor: Box<dyn FnMut(AisProgress) -> Control + 'a>,
    /// Where checkpoints are kept, and how often.
    pub keeper: Option<(Duration, &'a Path)>,
    pub resumed: Option<AisCheckpoint>,
}

impl<'a> Prepared<'a> {
    /// Anneals like that.
    pub fn go<M: Model>(self, ais: Ais<'a, M>) -> Result<AisOutcome, AisError> {
        let ais = match self.starts {
            Starts::Given(states) => ais.reverse_from(states),
            Starts::Far(chains) => ais.look_back(chains),
        };
        let mut ais = ais.monitor(self.monitor);
        if let Some(checkpoint) = self.resumed {
            ais = ais.resume(checkpoint);
        }
        if let Some((every, path)) = self.keeper {
            ais = ais.keep(every, move |checkpoint| {
                checkpoint.save(path).map_err(|error| error.to_string())
            });
        }
        ais.go()
    }
}

impl Subject {
    /// What the arguments name: a model of the registry or a file.
    pub fn new(arguments: &AisArguments) -> Result<Self, Failure> {
        match (&arguments.model, &arguments.file) {
            (Some(model), None) => Self::named(model, arguments),
            (None, Some(path)) if is_tensor_file(path) => Self::load(path),
            (None, Some(path)) => {
                let model = ModelArguments::Zoo(ModelSpec::File(FileSpec::new(path)));
                Self::named(&model, arguments)
            }
            (Some(_), Some(path)) => Err(Failure::Usage(format!(
                "either a file or a model: {} stands before the model",
                path.display()
            ))),
            (None, None) => Err(Failure::Usage(
                "what is to be annealed? a file of `saltus train`, or a model such as ising"
                    .to_owned(),
            )),
        }
    }

    fn named(model: &ModelArguments, arguments: &AisArguments) -> Result<Self, Failure> {
        let seed = arguments.model_seed.unwrap_or(0);
        // As many go back.
        let chains = 2 * arguments.chains.unwrap_or(AisSettings::default().chains);
        let given = arguments.given.read(model)?;
        build(model, Context { seed, chains, given: Some(&given) }).map(Self::Named)
    }

    fn load(path: &Path) -> Result<Self, Failure> {
        let failed = |reason: String| Failure::Failed(format!("{}: {reason}", path.display()));
        let bytes = tensor_file::read(path).map_err(failed)?;
        if is_deep(&bytes) {
            #[cfg(feature = "deep")]
            return Ok(Self::Deep(Box::new(DeepModel::load(path)?)));
            #[cfg(not(feature = "deep"))]
            return Err(Failure::without_deep_models());
        }
        Ok(match Layers::from_bytes(&bytes).map_err(failed)? {
            Layers::One(rbm) => Self::Rbm(rbm),
            Layers::Two(network) => Self::Network(network),
        })
    }

    /// Its name for scripts, which is also what `saltus train` calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Named(built) => built.title.name,
            Self::Rbm(_) => "rbm",
            Self::Network(_) => "dbn",
            #[cfg(feature = "deep")]
            Self::Deep(_) => "resnet",
        }
    }

    /// What it is, in a word and in several.
    pub fn in_words(&self) -> (&'static str, String) {
        match self {
            Self::Named(built) => ("model  ", built.title.words.clone()),
            Self::Rbm(rbm) => ("RBM    ", format!("{} hidden units", rbm.hidden())),
            Self::Network(network) => (
                "DBN    ",
                format!("{} + {} hidden units", network.bottom().hidden(), network.top().hidden()),
            ),
            #[cfg(feature = "deep")]
            Self::Deep(model) => {
                let architecture = model.parameters().architecture();
                let (width, parameters) = (architecture.width(), architecture.parameters());
                ("network", format!("residual, {width} channels, {parameters} parameters"))
            }
        }
    }

    /// The space of the images.
    pub fn space(&self) -> &Space {
        match self {
            Self::Rbm(rbm) => rbm.space(),
            Self::Network(network) => network.space(),
            Self::Named(built) => built.model.space(),
            #[cfg(feature = "deep")]
            Self::Deep(model) => model.space(),
        }
    }

    /// The space of the chains: in a network of RBMs those of the top one.
    pub fn space_of_chains(&self) -> &Space {
        self.rbm().map_or(self.space(), |rbm| rbm.space())
    }

    /// The RBM whose normaliser is wanted, if it is one.
    pub fn rbm(&self) -> Option<&Rbm> {
        match self {
            Self::Rbm(rbm) => Some(rbm),
            Self::Network(network) => Some(network.top()),
            #[cfg(feature = "deep")]
            Self::Deep(_) => None,
            Self::Named(built) => built.model.rbm(),
        }
    }

    /// Hidden units, layer by layer.
    pub fn hidden(&self) -> Vec<usize> {
        let bottom = match self {
            Self::Network(network) => Some(network.bottom()),
            Self::Rbm(_) | Self::Named(_) => None,
            #[cfg(feature = "deep")]
            Self::Deep(_) => None,
        };
        bottom.into_iter().chain(self.rbm()).map(Rbm::hidden).collect()
    }

    /// Numbers that it consists of, about.
    pub fn parameters(&self) -> usize {
        match self {
            Self::Rbm(_) | Self::Network(_) => {
                self.rbm().map_or(0, |rbm| rbm.space().diff_len().saturating_mul(rbm.hidden()))
            }
            #[cfg(feature = "deep")]
            Self::Deep(model) => model.parameters().architecture().parameters(),
            // Seen to when it was built.
            Self::Named(..) => 0,
        }
    }

    /// What moves the chains if nothing else is asked for.
    pub fn default_transition(&self) -> Transition {
        match self.rbm() {
            Some(_) => Transition::Alternating,
            None => Transition::Sampler(Method::default()),
        }
    }

    /// Whether its likelihood is only bounded from below.
    pub fn is_bounded(&self) -> bool {
        matches!(self, Self::Network(_))
    }
}

/// Whether a file is one of tensors, as `saltus train` writes it, or none that can be read.
fn is_tensor_file(path: &Path) -> bool {
    let named = path.extension().is_some_and(|ending| ending == "safetensors");
    named || tensor_file::read(path).map_or(true, |bytes| Tensors::new(&bytes).is_ok())
}

/// Whether the bytes of a file are of a deep model; what is wrong with them is found by reading on.
fn is_deep(bytes: &[u8]) -> bool {
    Tensors::new(bytes).is_ok_and(|file| file.contains(OF_DEEP_MODELS))
}
