//! What is annealed: a machine, a network of two, or a deep model.

use crate::arguments::Transition;
use crate::failure::Failure;
use saltus::dbn::{Dbn, Layers};
use saltus::model::rbm::Rbm;
use saltus::tensor_file::{self, Tensors};
use saltus::{Model, Space};
#[cfg(feature = "deep")]
use saltus_nn::DeepModel;
use std::path::Path;

/// A tensor that deep models have, and the others have not.
const OF_DEEP_MODELS: &str = "base_mean";

/// A learnt model whose normaliser is wanted.
pub enum Subject {
    Machine(Box<Rbm>),
    Network(Box<Dbn>),
    #[cfg(feature = "deep")]
    Deep(Box<DeepModel>),
}

impl Subject {
    pub fn load(path: &Path) -> Result<Self, Failure> {
        let failed = |reason: String| Failure::Failed(format!("{}: {reason}", path.display()));
        let bytes = tensor_file::read(path).map_err(failed)?;
        if is_deep(&bytes) {
            #[cfg(feature = "deep")]
            return Ok(Self::Deep(Box::new(DeepModel::load(path)?)));
            #[cfg(not(feature = "deep"))]
            return Err(Failure::without_deep_models());
        }
        Ok(match Layers::from_bytes(&bytes).map_err(failed)? {
            Layers::One(machine) => Self::Machine(machine),
            Layers::Two(network) => Self::Network(network),
        })
    }

    /// Its name for scripts, which is also what `saltus train` calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Machine(_) => "rbm",
            Self::Network(_) => "dbn",
            #[cfg(feature = "deep")]
            Self::Deep(_) => "resnet",
        }
    }

    /// What it is, in a word and in several.
    pub fn in_words(&self) -> (&'static str, String) {
        match self {
            Self::Machine(machine) => ("machine", format!("{} hidden units", machine.hidden())),
            Self::Network(network) => (
                "network",
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
            Self::Machine(machine) => machine.space(),
            Self::Network(network) => network.space(),
            #[cfg(feature = "deep")]
            Self::Deep(model) => model.space(),
        }
    }

    /// The space of the chains: in a network of machines those of the top one.
    pub fn space_of_chains(&self) -> &Space {
        self.machine().map_or(self.space(), |machine| machine.space())
    }

    /// The machine whose normaliser is wanted, if it is one.
    pub fn machine(&self) -> Option<&Rbm> {
        match self {
            Self::Machine(machine) => Some(machine),
            Self::Network(network) => Some(network.top()),
            #[cfg(feature = "deep")]
            Self::Deep(_) => None,
        }
    }

    /// Hidden units, layer by layer.
    pub fn hidden(&self) -> Vec<usize> {
        match self {
            Self::Machine(machine) => vec![machine.hidden()],
            Self::Network(network) => vec![network.bottom().hidden(), network.top().hidden()],
            #[cfg(feature = "deep")]
            Self::Deep(_) => Vec::new(),
        }
    }

    /// Numbers that it consists of, about.
    pub fn parameters(&self) -> usize {
        match self {
            Self::Machine(_) | Self::Network(_) => self
                .machine()
                .map_or(0, |machine| machine.space().diff_len().saturating_mul(machine.hidden())),
            #[cfg(feature = "deep")]
            Self::Deep(model) => model.parameters().architecture().parameters(),
        }
    }

    /// What moves the chains if nothing else is asked for.
    pub fn default_transition(&self) -> Transition {
        match self {
            Self::Machine(_) | Self::Network(_) => Transition::Alternating,
            #[cfg(feature = "deep")]
            Self::Deep(_) => Transition::Sampler(saltus::Sampler::default()),
        }
    }

    /// Whether its likelihood is only bounded from below.
    pub fn is_bounded(&self) -> bool {
        matches!(self, Self::Network(_))
    }
}

/// Whether the bytes of a file are of a deep model; what is wrong with them is found by reading on.
fn is_deep(bytes: &[u8]) -> bool {
    Tensors::new(bytes).is_ok_and(|file| file.contains(OF_DEEP_MODELS))
}
