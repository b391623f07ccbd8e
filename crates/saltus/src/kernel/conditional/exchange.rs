//! Two sites redrawn together given their sum, where no site can change alone.

use super::Followed;
use crate::error::StepError;
use crate::model::Model;
use crate::model::fixed_sum::{FixedSum, Pair};
use crate::rng::ChainRng;

/// Which sites share a sum.
pub(in crate::kernel) struct Partners {
    sums: Vec<FixedSum>,
    /// The sum of each site and its place in it.
    of_site: Vec<Option<(u32, u32)>>,
}

impl Partners {
    /// Those of a model, if it has fixed sums.
    pub(in crate::kernel) fn of<M: Model>(model: &M) -> Option<Self> {
        let space = model.space();
        // A site of one value has nothing to give.
        let mut sums = model.sums().to_vec();
        sums.iter_mut()
            .for_each(|sum| sum.sites.retain(|site| space.values_at(*site as usize) > 1));
        let mut of_site = vec![None; space.sites()];
        for (number, sum) in sums.iter().enumerate() {
            for (place, site) in sum.sites.iter().enumerate() {
                of_site[*site as usize] = Some((number as u32, place as u32));
            }
        }
        (!sums.is_empty()).then_some(Self { sums, of_site })
    }

    /// Whether a site can only change together with another.
    pub(in crate::kernel) fn binds(&self, site: usize) -> bool {
        self.of_site[site].is_some()
    }

    /// Draws another site of the same sum, if there is one.
    pub(in crate::kernel) fn draw(&self, site: usize, rng: &mut ChainRng) -> Option<usize> {
        let (sum, place) = self.of_site[site]?;
        let sites = &self.sums[sum as usize].sites;
        if sites.len() < 2 {
            return None;
        }
        let other = rng.below(sites.len() - 1);
        Some(sites[if other < place as usize { other } else { other + 1 }] as usize)
    }
}

impl<M: Model> Followed<'_, M> {
    /// Redraws two sites from their joint distribution given their sum; with one way to do so nothing happens.
    pub(in crate::kernel) fn exchange(
        &mut self,
        sites: (usize, usize),
        logs: &mut Vec<f64>,
        weights: &mut Vec<f64>,
        rng: &mut ChainRng,
    ) -> Result<(), StepError> {
        let space = self.model.space();
        let pair = Pair::new(space, self.state, sites);
        logs.clear();
        logs.resize(space.values_at(sites.0), 0.0);
        if (0..logs.len()).filter(|value| pair.other(*value).is_some()).count() < 2 {
            return Ok(());
        }
        let Self { model, state, cache, chain, rung, changes, .. } = self;
        let found = model.exchange_diff(state, *chain, cache, sites, logs);
        found.map_err(StepError::at(*chain))?;
        changes.clone_from(logs);
        let rung = *rung;
        let of_base = |value: usize| match (rung.base, pair.other(value)) {
            (Some(base), Some(other)) => {
                base.change(sites.0, pair.own.0, value as u8)
                    + base.change(sites.1, pair.own.1, other)
            }
            _ => 0.0,
        };
        if rung.base.is_some() {
            for (value, change) in logs.iter_mut().enumerate() {
                // What the model forbids is forbidden at β = 0, too.
                if *change != f64::NEG_INFINITY {
                    *change = rung.mix(*change, of_base(value));
                }
            }
        }
        let value = self.draw(logs, weights, rng)?;
        let Some(other) = pair.other(value).filter(|_| value != usize::from(pair.own.0)) else {
            return Ok(());
        };
        self.model.set_site(self.state, self.chain, self.cache, sites.0, value as u8);
        self.model.set_site(self.state, self.chain, self.cache, sites.1, other);
        self.log_density += logs[value];
        self.log_prob += self.changes[value];
        self.log_base += of_base(value);
        Ok(())
    }
}
