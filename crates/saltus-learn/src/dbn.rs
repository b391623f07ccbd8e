//! Deep belief networks of two layers: an RBM whose sites are the hidden units of another.
//!
//! The top RBM draws hidden units h, the bottom one draws sites v given h. A network is learnt
//! greedily: first the bottom RBM from data, then the top one from the hidden units that the bottom
//! one gives to the data (Hinton, Osindero and Teh 2006).

mod bound;

use saltus::rng::{Annealing, Stream};
use saltus::tensor_file::{self, Tensors};
use saltus::{ChainRng, Model, ModelError, Rbm, Space};
use std::path::Path;

/// A network of two RBMs.
///
/// ```
/// use saltus::{Control, Rbm};
/// use saltus_learn::dbn::Dbn;
/// let (bottom, top) = (Rbm::random(9, 4, 2, 0)?, Rbm::random(4, 6, 2, 1)?);
/// let network = Dbn::new(bottom, top)?;
/// assert_eq!(network.space().sites(), 9);
/// // Exact log p(v) is at least this.
/// let listed = network.top().enumerate(None, |_, _| Control::Continue)?.expect("not stopped");
/// let states = [0, 1, 1, 0, 1, 0, 0, 0, 1];
/// let bound = network.mean_log_bound(&states, 50, 0, None, |_, _| Control::Continue)?;
/// assert!(bound.expect("not stopped") - listed.log_z() < 0.0);
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dbn {
    bottom: Rbm,
    top: Rbm,
}

/// What a file of learnt layers holds.
#[derive(Clone, Debug)]
pub enum Layers {
    /// An RBM.
    One(Box<Rbm>),
    /// A network of two.
    Two(Box<Dbn>),
}

/// Before the names of the tensors of the two RBMs of a network.
pub(crate) const PREFIXES: [&str; 2] = ["bottom.", "top."];

impl Dbn {
    /// A network of two RBMs, of which the top one has as many sites of two values as the bottom
    /// one has hidden units.
    pub fn new(bottom: Rbm, top: Rbm) -> Result<Self, ModelError> {
        let expected = Space::new(bottom.hidden(), 2)?;
        let found = top.space();
        if *found == expected {
            return Ok(Self { bottom, top });
        }
        Err(ModelError::Invalid(format!(
            "the top RBM has {} sites of {} values, but the bottom one has {} hidden units",
            found.sites(),
            found.values(),
            expected.sites()
        )))
    }

    /// The RBM whose sites are those of the network.
    pub fn bottom(&self) -> &Rbm {
        &self.bottom
    }

    /// The RBM of the hidden units, whose normaliser is that of the network.
    pub fn top(&self) -> &Rbm {
        &self.top
    }

    /// The space of the network's sites.
    pub fn space(&self) -> &Space {
        self.bottom.space()
    }

    /// Draws the sites, given states of the top RBM's sites one after the other.
    pub fn draw_sites(&self, hidden: &[u8], seed: u64) -> Vec<u8> {
        let row = self.bottom.row_length();
        let (sites, units) = (self.space().sites(), self.bottom.hidden());
        let mut states = vec![0; hidden.len() / units * sites];
        let rows = hidden.chunks_exact(units).zip(states.chunks_exact_mut(sites));
        for (number, (hidden, state)) in rows.enumerate() {
            let mut on = vec![0.0; row];
            on.iter_mut().zip(hidden).for_each(|(on, value)| *on = f32::from(*value));
            let mut rng = ChainRng::new(seed, Stream::Annealing(Annealing::Sites, number as u64));
            self.bottom.draw_sites(&on, std::slice::from_mut(&mut rng), state);
        }
        states
    }
}

impl Layers {
    /// Reads an RBM or a network from a safetensors file.
    ///
    /// A network has the tensors of two RBMs (see [`Rbm::load`]), with `bottom.` and `top.` before
    /// their names.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        let path = path.as_ref();
        let failed = |reason| ModelError::File { path: path.display().to_string(), reason };
        let bytes = tensor_file::read(path).map_err(failed)?;
        Self::from_bytes(&bytes).map_err(failed)
    }

    /// The RBM or network in the bytes of such a file; the error is the reason alone.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let tensors = Tensors::new(bytes)?;
        let is_network = tensors.contains(&format!("{}weight", PREFIXES[1]));
        if !is_network {
            return Rbm::from_tensors(&tensors, "").map(|rbm| Self::One(Box::new(rbm)));
        }
        let rbm = |prefix| Rbm::from_tensors(&tensors, prefix);
        let (bottom, top) = (rbm(PREFIXES[0])?, rbm(PREFIXES[1])?);
        let network = Dbn::new(bottom, top).map_err(|error| error.to_string())?;
        Ok(Self::Two(Box::new(network)))
    }
}
