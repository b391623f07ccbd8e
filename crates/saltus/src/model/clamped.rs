//! A model with some of its sites fixed.

use super::factor::Factor;
use super::{Differences, Model, SweptChains, Work};
use crate::adjacency::Adjacency;
use crate::base::Base;
use crate::error::ModelError;
use crate::rng::ChainRng;
use crate::space::{Space, States};

/// Any model given the values of some sites: its states are those of the sites that are left, and
/// what observers, stores and pictures are shown are whole states again.
///
/// ```
/// use saltus::model::clamped::Clamped;
/// use saltus::model::lattice::Lattice;
/// use saltus::model::pairwise::Pairwise;
/// use saltus::{Model, Run, Settings};
/// let model = Pairwise::ising_lattice(Lattice::free(1, 3)?, 1.0, vec![0.0; 3])?;
/// let clamped = Clamped::new(model, &[(1, 1)])?;
/// assert_eq!((clamped.space().sites(), clamped.shown_space().sites()), (2, 3));
/// let settings = Settings { chains: 2, warmup: 50, draws: 50, ..Settings::default() };
/// let outcome = Run::new(&clamped, settings).keep_states().go()?;
/// assert!(outcome.trace.states(0).chunks(3).all(|state| state[1] == 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Clamped<M> {
    inner: M,
    space: Space,
    /// The sites that are left, in order.
    free: Vec<u32>,
    /// A whole state, of which the fixed sites are right.
    fixed: Vec<u8>,
    adjacency: Option<Adjacency>,
}

/// What [`Clamped`] keeps of a block of chains: the whole states, and what its model keeps.
pub struct ClampedCache<C> {
    inner: C,
    /// Whole states of the followed chains, or of those being evaluated.
    states: Vec<u8>,
    /// Differences of whole states.
    diff: Vec<f32>,
}

/// What evidence says of every site of a space. Fails where it cannot be.
pub(crate) fn known(
    space: &Space,
    evidence: &[(usize, u8)],
) -> Result<Vec<Option<u8>>, ModelError> {
    let mut known: Vec<Option<u8>> = vec![None; space.sites()];
    for (site, value) in evidence {
        if *site >= space.sites() {
            return Err(ModelError::invalid(format!(
                "site {site} cannot be fixed: the last site is {}",
                space.sites() - 1
            )));
        }
        if usize::from(*value) >= space.values_at(*site) {
            return Err(ModelError::invalid(format!(
                "site {site} cannot be fixed at {value}: its last value is {}",
                space.values_at(*site) - 1
            )));
        }
        if known[*site].is_some_and(|other| other != *value) {
            return Err(ModelError::invalid(format!("site {site} is fixed at two values")));
        }
        known[*site] = Some(*value);
    }
    Ok(known)
}

impl<M: Model> Clamped<M> {
    /// The model given these sites and their values.
    pub fn new(inner: M, evidence: &[(usize, u8)]) -> Result<Self, ModelError> {
        let whole = inner.space();
        let known = known(whole, evidence)?;
        let free: Vec<u32> =
            (0..whole.sites() as u32).filter(|site| known[*site as usize].is_none()).collect();
        if free.is_empty() {
            return Err(ModelError::invalid("every site is fixed: nothing is left to sample"));
        }
        let cardinalities: Vec<usize> =
            free.iter().map(|site| whole.values_at(*site as usize)).collect();
        Ok(Self {
            space: Space::mixed(&cardinalities)?,
            adjacency: inner.adjacency().map(|adjacency| adjacency.among(&free)),
            fixed: known.into_iter().map(Option::unwrap_or_default).collect(),
            free,
            inner,
        })
    }

    /// The model whose sites are fixed.
    pub fn inner(&self) -> &M {
        &self.inner
    }

    /// What is known of all sites, given what is known of those that are left.
    fn known(&self, of_free: &[Option<u8>]) -> Vec<Option<u8>> {
        let mut known: Vec<Option<u8>> = self.fixed.iter().copied().map(Some).collect();
        for (number, site) in self.free.iter().enumerate() {
            known[*site as usize] = of_free.get(number).copied().flatten();
        }
        known
    }

    fn expand(&self, state: &[u8], whole: &mut [u8]) {
        for (site, value) in self.free.iter().zip(state) {
            whole[*site as usize] = *value;
        }
    }

    /// Fills in the whole states of a block.
    fn expand_all(&self, states: States<'_>, whole: &mut [u8]) {
        let sites = self.fixed.len();
        for (state, whole) in states.rows().zip(whole.chunks_exact_mut(sites)) {
            self.expand(state, whole);
        }
    }

    /// The differences of the sites that are left, out of those of all.
    fn pick_diff(&self, whole: &[f32], diff: &mut [f32]) {
        let (sites, all) = (self.free.len(), self.fixed.len());
        let flips_of_values = self.space.is_binary() && !self.inner.space().is_binary();
        for (plane, diff) in diff.chunks_exact_mut(sites).enumerate() {
            if flips_of_values {
                // Two values are left of more: the flip is to the one that the site does not have,
                // whose difference is the only one that is not zero.
                for (diff, site) in diff.iter_mut().zip(&self.free) {
                    *diff = whole[*site as usize] + whole[all + *site as usize];
                }
            } else {
                let whole = &whole[plane * all..(plane + 1) * all];
                for (diff, site) in diff.iter_mut().zip(&self.free) {
                    *diff = whole[*site as usize];
                }
            }
        }
    }

    fn whole_row(&self, chain: usize) -> std::ops::Range<usize> {
        chain * self.fixed.len()..(chain + 1) * self.fixed.len()
    }
}

impl<M: Model> Model for Clamped<M> {
    type Cache = ClampedCache<M::Cache>;

    fn space(&self) -> &Space {
        &self.space
    }

    fn new_cache(&self, chains: usize) -> Self::Cache {
        ClampedCache {
            inner: self.inner.new_cache(chains),
            states: self.fixed.repeat(chains.max(1)),
            diff: Vec::new(),
        }
    }

    fn log_prob(
        &self,
        states: States<'_>,
        cache: &mut Self::Cache,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        let whole = &mut cache.states[..states.chains() * self.fixed.len()];
        self.expand_all(states, whole);
        self.inner.log_prob(States::new(whole, self.fixed.len()), &mut cache.inner, log_prob)
    }

    fn log_prob_and_diff(
        &self,
        kind: Differences,
        states: States<'_>,
        cache: &mut Self::Cache,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        let (chains, table) = (states.chains(), self.inner.space().diff_len());
        let whole = &mut cache.states[..chains * self.fixed.len()];
        self.expand_all(states, whole);
        cache.diff.resize(chains * table, 0.0);
        let whole = States::new(whole, self.fixed.len());
        let inner = &mut cache.inner;
        self.inner.log_prob_and_diff(kind, whole, inner, log_prob, &mut cache.diff)?;
        let rows = diff.chunks_exact_mut(self.space.diff_len());
        for (diff, whole) in rows.zip(cache.diff.chunks_exact(table)) {
            self.pick_diff(whole, diff);
        }
        Ok(())
    }

    fn taylor_is_exact(&self) -> bool {
        self.inner.taylor_is_exact()
    }

    fn is_incremental(&self) -> bool {
        self.inner.is_incremental()
    }

    fn follow(
        &self,
        state: &[u8],
        chain: usize,
        cache: &mut Self::Cache,
    ) -> Result<f64, ModelError> {
        let whole = &mut cache.states[self.whole_row(chain)];
        self.expand(state, whole);
        self.inner.follow(whole, chain, &mut cache.inner)
    }

    fn site_diff(
        &self,
        _state: &[u8],
        chain: usize,
        cache: &mut Self::Cache,
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        let whole = &cache.states[self.whole_row(chain)];
        let site = self.free[site] as usize;
        self.inner.site_diff(whole, chain, &mut cache.inner, site, diff)
    }

    fn set_site(
        &self,
        state: &mut [u8],
        chain: usize,
        cache: &mut Self::Cache,
        site: usize,
        value: u8,
    ) {
        let whole = &mut cache.states[self.whole_row(chain)];
        let whole_site = self.free[site] as usize;
        self.inner.set_site(whole, chain, &mut cache.inner, whole_site, value);
        state[site] = value;
    }

    fn adjacency(&self) -> Option<&Adjacency> {
        self.adjacency.as_ref()
    }

    /// None: the model's own would redraw the fixed sites, too.
    fn sweep(&self, _chains: SweptChains<'_>, _cache: &mut Self::Cache) -> bool {
        false
    }

    fn initial_state(&self, rng: &mut ChainRng, state: &mut [u8]) {
        self.complete(rng, &[], state);
    }

    /// Those of the whole, as far as they are about the sites that are left.
    fn places(&self, rng: &mut ChainRng) -> Vec<Vec<u8>> {
        let left = |whole: Vec<u8>| self.free.iter().map(|site| whole[*site as usize]).collect();
        // What is fixed may be the reason why another value than the whole has is the place's.
        let mut places: Vec<Vec<u8>> = self.inner.places(rng).into_iter().map(left).collect();
        let spaces = |state: &Vec<u8>| {
            let values = |site: usize| self.space().values_at(site);
            state.iter().enumerate().all(|(site, value)| usize::from(*value) < values(site))
        };
        places.retain(spaces);
        places
    }

    fn complete(&self, rng: &mut ChainRng, known: &[Option<u8>], state: &mut [u8]) {
        let mut whole = self.fixed.clone();
        self.inner.complete(rng, &self.known(known), &mut whole);
        for (value, site) in state.iter_mut().zip(&self.free) {
            *value = whole[*site as usize];
        }
    }

    /// Those of the whole, where they are about the sites that are left.
    fn factors(&self) -> Option<Vec<Factor>> {
        let known = self.known(&[]);
        let mut numbers = vec![0; self.fixed.len()];
        for (number, site) in self.free.iter().enumerate() {
            numbers[*site as usize] = number as u32;
        }
        let left = |factor: Factor| {
            factor.given(self.inner.space(), &known).renamed(|site| numbers[site as usize])
        };
        Some(self.inner.factors()?.into_iter().map(left).collect())
    }

    fn base(&self) -> Base {
        self.inner.base().among(&self.space, &self.free)
    }

    fn shown_space(&self) -> &Space {
        self.inner.shown_space()
    }

    fn show(&self, state: &[u8], shown: &mut [u8]) {
        let mut whole = self.fixed.clone();
        self.expand(state, &mut whole);
        self.inner.show(&whole, shown);
    }

    /// That of the whole, site by site.
    fn work(&self) -> Work {
        Work { sweep: None, ..self.inner.work() }
    }

    fn block_size(&self, chains: usize) -> usize {
        self.inner.block_size(chains)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rbm::Rbm;

    #[test]
    fn impossible_evidence_is_refused_in_a_sentence() {
        let reason = |evidence: &[(usize, u8)]| {
            let model = Rbm::random(3, 2, 4, 1).unwrap();
            Clamped::new(model, evidence).unwrap_err().to_string()
        };
        assert_eq!(reason(&[(3, 0)]), "site 3 cannot be fixed: the last site is 2");
        assert_eq!(reason(&[(1, 4)]), "site 1 cannot be fixed at 4: its last value is 3");
        assert_eq!(reason(&[(1, 2), (1, 3)]), "site 1 is fixed at two values");
        assert!(reason(&[(0, 1), (1, 1), (2, 1)]).starts_with("every site is fixed"));
    }
}
