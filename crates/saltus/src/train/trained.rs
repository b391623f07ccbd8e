//! An RBM that was trained: to sample from, to look at, to keep.

use super::file;
use super::gibbs::{BLOCK, Workspace};
use super::gradient::Phase;
use super::machine::{Machine, draw_independent};
use super::{MachineStatistics, Report, Statistics, TrainError, TrainSettings, pool};
use crate::dbn::PREFIXES;
use crate::error::ModelError;
use crate::model::rbm::Rbm;
use crate::rng::ChainRng;
use crate::rng::{Learning, Stream};
use crate::space::Space;
use crate::tensor_file::Tensor;
use std::path::Path;

/// A trained RBM and how it came about.
#[derive(Clone, Debug)]
pub struct Trained {
    /// How it was trained.
    pub settings: TrainSettings,
    /// Updates made.
    pub updates: usize,
    /// Whether these were all that were asked for.
    pub complete: bool,
    /// How well it did in the course of it.
    pub history: Vec<Report>,
    /// Wall time.
    pub seconds: f64,
    /// Frequencies of the values in the data, kept away from 0 and 1.
    pub(super) data_mean: Vec<f32>,
    pub(super) machine: Machine,
}

impl Trained {
    /// Its visible sites.
    pub fn space(&self) -> &Space {
        &self.machine.space
    }

    /// The RBM as a model to sample from.
    pub fn machine(&self) -> Result<Rbm, ModelError> {
        Rbm::new(
            self.machine.space.values(),
            &self.weight(),
            self.hidden_bias(),
            &self.machine.visible_bias,
            Some(&self.data_mean),
        )
    }

    /// Its weights as [hidden, visible], or [hidden, visible, values] with more than two.
    pub fn weight(&self) -> Vec<f32> {
        self.machine.weights_by_unit()
    }

    fn hidden_bias(&self) -> &[f32] {
        &self.machine.hidden_bias[..self.machine.hidden]
    }

    /// Its parameters summed up.
    pub fn statistics(&self) -> MachineStatistics {
        MachineStatistics {
            weight: Statistics::of(&self.weight()),
            hidden_bias: Statistics::of(self.hidden_bias()),
            visible_bias: Statistics::of(&self.machine.visible_bias),
        }
    }

    /// States of so many chains, one after the other, that started from independent sites with
    /// the frequencies of the data and made that many block Gibbs steps.
    pub fn samples(&self, count: usize, steps: usize) -> Result<Vec<u8>, TrainError> {
        let machine = &self.machine;
        let mut chains = Phase::new(machine, count);
        let mut rngs: Vec<_> = (0..count)
            .map(|number| {
                ChainRng::new(self.settings.seed, Stream::Learning(Learning::Sample, number as u64))
            })
            .collect();
        for (state, rng) in chains.states.chunks_exact_mut(machine.space.sites()).zip(&mut rngs) {
            draw_independent(&machine.space, &self.data_mean, rng, state);
        }
        let mut work = vec![Workspace::new(machine); count.div_ceil(BLOCK)];
        pool(self.settings.threads)?.install(|| chains.walk(machine, steps, &mut rngs, &mut work));
        Ok(chains.states)
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
        let space = &self.machine.space;
        let visible = match space.planes() {
            1 => vec![space.sites()],
            values => vec![space.sites(), values],
        };
        let weight = self.weight();
        let tensors = [
            ("weight", &weight[..], [&[self.machine.hidden], &visible[..]].concat()),
            ("hidden_bias", self.hidden_bias(), vec![self.machine.hidden]),
            ("visible_bias", &self.machine.visible_bias, visible.clone()),
            ("data_mean", &self.data_mean, visible),
        ];
        let named = tensors.map(|(name, numbers, shape)| {
            (format!("{prefix}{name}"), Tensor::floats(numbers, shape))
        });
        named.into()
    }

    /// Everything that decides the bytes of the RBM.
    fn in_words(&self, about: &str) -> String {
        let TrainSettings { method, steps, batch, learning_rate, seed, .. } = &self.settings;
        let last = self.settings.final_learning_rate;
        let last = last.map(|rate| format!(" to {rate}")).unwrap_or_default();
        format!(
            "{about}; {method}-{steps}, {} updates of {batch} examples, Adam with learning rate \
             {learning_rate}{last}, seed {seed}, saltus {}",
            self.updates,
            env!("CARGO_PKG_VERSION")
        )
    }
}
