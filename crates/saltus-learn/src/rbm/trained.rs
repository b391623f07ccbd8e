//! An RBM that was trained: to sample from, to look at, to keep.

use super::file;
use super::gradient::weights_by_unit;
use super::{RbmReport, RbmSettings, RbmStatistics, Statistics};
use crate::clock::Spent;
use crate::dbn::PREFIXES;
use crate::learnable::Learnable;
use crate::pcd::TrainError;
use saltus::engine::{SamplerBlock, block_ranges, each};
use saltus::rng::{Learning, Stream};
use saltus::tensor_file::Tensor;
use saltus::{ChainRng, Model, Rbm, Space, Workers};
use std::path::Path;

/// A trained RBM and how it came about.
#[derive(Clone, Debug)]
pub struct Trained {
    /// How it was trained.
    pub settings: RbmSettings,
    /// Updates made.
    pub updates: usize,
    /// Whether these were all that were asked for.
    pub complete: bool,
    /// How well it did in the course of it.
    pub history: Vec<RbmReport>,
    /// What it cost.
    pub spent: Spent,
    /// In the order of the learner; the model's are rounded.
    pub(super) parameters: Vec<f32>,
    pub(super) rbm: Rbm,
}

impl Trained {
    /// Its visible sites.
    pub fn space(&self) -> &Space {
        self.rbm.space()
    }

    /// The RBM as a model to sample from.
    pub fn rbm(&self) -> &Rbm {
        &self.rbm
    }

    /// Its weights as [hidden, visible], or [hidden, visible, values] with more than two.
    pub fn weight(&self) -> Vec<f32> {
        weights_by_unit(&self.parameters, self.space().diff_len(), self.rbm.hidden())
    }

    /// Biases of the hidden units, and of the sites.
    fn biases(&self) -> (&[f32], &[f32]) {
        let (table, hidden) = (self.space().diff_len(), self.rbm.hidden());
        self.parameters[table * hidden..].split_at(hidden)
    }

    /// Its parameters summed up.
    pub fn statistics(&self) -> RbmStatistics {
        let (hidden_bias, visible_bias) = self.biases();
        RbmStatistics {
            weight: Statistics::of(&self.weight()),
            hidden_bias: Statistics::of(hidden_bias),
            visible_bias: Statistics::of(visible_bias),
        }
    }

    /// States of so many chains, one after the other, that started from independent sites with
    /// the frequencies of the data and made that many steps by layers.
    pub fn samples(&self, count: usize, steps: usize) -> Result<Vec<u8>, TrainError> {
        let (rbm, seed) = (&self.rbm, self.settings.seed);
        let workers = Workers::new(self.settings.threads).map_err(TrainError::Threads)?;
        let block = |chains: std::ops::Range<usize>| {
            let mut states = vec![0; chains.len() * rbm.space().sites()];
            let stream = |number| Stream::Learning(Learning::Sample, number as u64);
            let mut rngs: Vec<_> =
                chains.clone().map(|number| ChainRng::new(seed, stream(number))).collect();
            let rows = states.chunks_exact_mut(rbm.space().sites()).zip(&mut rngs);
            rows.for_each(|(state, rng)| rbm.initial_state(rng, state));
            rbm.own_block(chains.start, states, rngs)
        };
        let mut blocks: Vec<SamplerBlock<'_, Rbm>> =
            block_ranges(rbm.block_size(count), count).filter_map(block).collect();
        let walked = each(&workers, &mut blocks, |block| {
            block.start(rbm)?;
            (0..steps).try_for_each(|_| block.step(rbm))
        });
        walked.map_err(|failed| TrainError::Setting(failed.to_string()))?;
        Ok(blocks.iter().flat_map(|block| block.states().bytes().to_vec()).collect())
    }

    /// Writes it as a safetensors file that [`Rbm::load`] reads, with `about` and how it was
    /// trained in its metadata. The file appears whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>, about: &str) -> Result<(), TrainError> {
        file::write(path.as_ref(), self.tensors(""), &self.in_words(about))
    }

    /// Writes it as the top RBM of a network for [`Layers::load`](crate::dbn::Layers::load).
    /// `bottom` are the bytes of the bottom RBM's file, as they were when it gave the examples:
    /// by now the file may be another.
    pub fn save_on_top_of(
        &self,
        bottom: &[u8],
        path: impl AsRef<Path>,
        about: &str,
    ) -> Result<(), TrainError> {
        let path = path.as_ref();
        let [of_bottom, of_top] = PREFIXES;
        let mut tensors = file::copy(bottom, of_bottom).map_err(|reason| {
            file::failed(path, format!("cannot be written: the bottom RBM {reason}"))
        })?;
        tensors.extend(self.tensors(of_top));
        file::write(path, tensors, &self.in_words(about))
    }

    /// Its parameters, by names with that prefix.
    fn tensors(&self, prefix: &str) -> Vec<(String, Tensor)> {
        let (space, hidden) = (self.space(), self.rbm.hidden());
        let (hidden_bias, visible_bias) = self.biases();
        let visible = match space.planes() {
            1 => vec![space.sites()],
            values => vec![space.sites(), values],
        };
        let weight = self.weight();
        let tensors = [
            ("weight", &weight[..], [&[hidden], &visible[..]].concat()),
            ("hidden_bias", hidden_bias, vec![hidden]),
            ("visible_bias", visible_bias, visible.clone()),
            ("data_mean", self.rbm.data_mean().unwrap_or_default(), visible),
        ];
        let named = tensors.map(|(name, numbers, shape)| {
            (format!("{prefix}{name}"), Tensor::floats(numbers, shape))
        });
        named.into()
    }

    /// Everything that decides the bytes of the RBM.
    fn in_words(&self, about: &str) -> String {
        let RbmSettings { method, steps, batch, learning_rate, seed, .. } = &self.settings;
        let last = self.settings.final_learning_rate;
        let last = last.map(|rate| format!(" to {rate}")).unwrap_or_default();
        let sampler = self.settings.sampler.as_ref();
        let sampler = sampler.map(|sampler| format!(" by {sampler}")).unwrap_or_default();
        format!(
            "{about}; {method}-{steps}{sampler}, {} updates of {batch} examples, Adam with learning rate \
             {learning_rate}{last}, seed {seed}, saltus {}",
            self.updates,
            env!("CARGO_PKG_VERSION")
        )
    }
}
