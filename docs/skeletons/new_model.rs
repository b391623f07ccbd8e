//! NAME: what it is for in one sentence.
//!
//! A skeleton: copy it to `crates/saltus/src/model/`, replace what stands in capitals and log π. As it
//! stands it is a correct model, a chain of values that like their neighbours to be near, and the tests run
//! it.

use crate::adjacency::Adjacency;
use crate::error::ModelError;
use crate::model::{Differences, Model, check_finite};
use crate::space::{Space, States};

/// log π(x) = −J Σₙ |xₙ − xₙ₊₁|: the formula, and what its letters are. (Author year, eq. N.)
///
/// An example of its use, which is a test once the file is in its place, stands here.
#[derive(Clone, Debug)]
pub struct Skeleton {
    space: Space,
    coupling: f32,
    adjacency: Adjacency,
}

impl Skeleton {
    /// The model of these parameters; what cannot be a model is a sentence with the numbers in it.
    pub fn new(sites: usize, values: usize, coupling: f32) -> Result<Self, ModelError> {
        check_finite("coupling", &[coupling])?;
        let space = Space::new(sites, values)?;
        let pairs: Vec<(u32, u32)> = (1..sites as u32).map(|site| (site - 1, site)).collect();
        Ok(Self { space, coupling, adjacency: Adjacency::new(sites, &pairs) })
    }

    /// The terms of log π that one site takes part in, if it had that value.
    fn at(&self, state: &[u8], site: usize, value: u8) -> f64 {
        let neighbours = self.adjacency.neighbours(site);
        let apart: u32 =
            neighbours.iter().map(|other| u32::from(value.abs_diff(state[*other as usize]))).sum();
        -f64::from(self.coupling) * f64::from(apart)
    }
}

impl Model for Skeleton {
    /// What is worth keeping of a block of chains: nothing here.
    type Cache = ();

    fn space(&self) -> &Space {
        &self.space
    }

    fn new_cache(&self, _chains: usize) {}

    fn log_prob(
        &self,
        states: States<'_>,
        _cache: &mut (),
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        for (state, log_prob) in states.rows().zip(log_prob) {
            let apart: u32 =
                state.windows(2).map(|pair| u32::from(pair[0].abs_diff(pair[1]))).sum();
            *log_prob = -f64::from(self.coupling) * f64::from(apart);
        }
        Ok(())
    }

    // Everything below may be left out: defaults that call `log_prob` are right, and slower.

    fn log_prob_and_diff(
        &self,
        _kind: Differences,
        states: States<'_>,
        cache: &mut (),
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        self.log_prob(states, cache, log_prob)?;
        let (sites, planes) = (self.space.sites(), self.space.planes());
        for (state, diff) in states.rows().zip(diff.chunks_exact_mut(self.space.diff_len())) {
            for (site, own) in state.iter().enumerate() {
                let here = self.at(state, site, *own);
                for plane in 0..planes {
                    // With two values the one plane is that of flips.
                    let value = if planes == 1 { 1 - own } else { plane as u8 };
                    diff[plane * sites + site] = (self.at(state, site, value) - here) as f32;
                }
            }
        }
        Ok(())
    }

    fn is_incremental(&self) -> bool {
        true
    }

    fn site_diff(
        &self,
        state: &[u8],
        _chain: usize,
        _cache: &mut (),
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        let here = self.at(state, site, state[site]);
        for (value, diff) in diff.iter_mut().enumerate() {
            *diff = self.at(state, site, value as u8) - here;
        }
        Ok(())
    }

    fn adjacency(&self) -> Option<&Adjacency> {
        Some(&self.adjacency)
    }

    // `set_site` and `follow` where the cache follows a chain, `base` where independent sites are known
    // that resemble the model, `initial_state` where random states may be forbidden, `block_size` where
    // many chains at once are faster.
}
