//! Tiny models.

use super::tools::index_of;
use crate::adjacency::Adjacency;
use crate::error::ModelError;
use crate::model::erased::Erased;
use crate::model::fhmm::Fhmm;
use crate::model::graph::Edge;
use crate::model::independent::Independent;
use crate::model::lattice::Lattice;
use crate::model::pairwise::Pairwise;
use crate::model::rbm::Rbm;
use crate::model::{Differences, Model};
use crate::space::{Space, States};
use std::sync::atomic::{AtomicUsize, Ordering};

/// log π from a table, with a Taylor estimate that is deliberately off: nothing about it is
/// special, so nothing can cancel by luck. It panics when it sees a value that a site does not have.
pub(super) struct Table {
    pub(super) space: Space,
    pub(super) log_prob: Vec<f64>,
    pub(super) incremental: bool,
    /// Every site sees every other, if it says so.
    adjacency: Option<Adjacency>,
    asked: AtomicUsize,
}

impl Table {
    pub(super) fn new(sites: usize, values: usize, incremental: bool) -> Self {
        Self::mixed(&vec![values; sites], incremental)
    }

    pub(super) fn mixed(cardinalities: &[usize], incremental: bool) -> Self {
        let space = Space::mixed(cardinalities).unwrap();
        let states = cardinalities.iter().product();
        let log_prob = (0..states).map(|i| 1.7 * ((i * i + 3 * i) as f64 * 0.731).sin()).collect();
        Self { space, log_prob, incremental, adjacency: None, asked: AtomicUsize::new(0) }
    }

    /// The same, that says who sees whom.
    pub(super) fn local(mut self) -> Self {
        let sites = self.space.sites() as u32;
        let pairs: Vec<(u32, u32)> =
            (0..sites).flat_map(|one| (0..one).map(move |other| (other, one))).collect();
        self.adjacency = Some(Adjacency::new(sites as usize, &pairs));
        self.incremental = true;
        self
    }

    /// The same with these states forbidden.
    pub(super) fn without(mut self, forbidden: &[&[u8]]) -> Self {
        for state in forbidden {
            self.log_prob[index_of(&self.space, state)] = f64::NEG_INFINITY;
        }
        self
    }

    /// A table that is evaluated as a whole, one that is followed, and one that is followed by
    /// neighbourhoods.
    pub(super) fn of_all_kinds(cardinalities: &[usize]) -> [Self; 3] {
        let table = |incremental| Self::mixed(cardinalities, incremental);
        [table(false), table(true), table(true).local()]
    }

    /// How often it was asked for log π or the differences of a site.
    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    fn check(&self, state: &[u8]) {
        assert_eq!(state.len(), self.space.sites());
        assert_eq!(self.space.misplaced(state), None, "{state:?} is not a state");
    }
}

impl Model for Table {
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
        self.asked.fetch_add(1, Ordering::Relaxed);
        for (state, log_prob) in states.rows().zip(log_prob) {
            self.check(state);
            *log_prob = self.log_prob[index_of(&self.space, state)];
        }
        Ok(())
    }

    fn log_prob_and_diff(
        &self,
        kind: Differences,
        states: States<'_>,
        cache: &mut (),
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        self.log_prob(states, cache, log_prob)?;
        crate::model::brute_force_diff(self, states, cache, log_prob, diff)?;
        if kind == Differences::Taylor {
            let table = self.space.diff_len();
            for (diff, log_prob) in diff.chunks_exact_mut(table).zip(log_prob) {
                for (entry, diff) in diff.iter_mut().enumerate() {
                    if *diff != 0.0 {
                        *diff = 0.8 * *diff + 0.2 * (entry as f32 + *log_prob as f32).sin();
                    }
                }
            }
        }
        Ok(())
    }

    fn is_incremental(&self) -> bool {
        self.incremental
    }

    fn site_diff(
        &self,
        state: &[u8],
        _chain: usize,
        _cache: &mut (),
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.check(state);
        assert_eq!(diff.len(), self.space.values_at(site), "a site has its own values");
        let here = self.log_prob[index_of(&self.space, state)];
        assert!(here > f64::NEG_INFINITY, "nobody asks for differences of a forbidden state");
        let mut changed = state.to_vec();
        for (value, diff) in diff.iter_mut().enumerate() {
            changed[site] = value as u8;
            *diff = self.log_prob[index_of(&self.space, &changed)] - here;
        }
        Ok(())
    }

    fn set_site(&self, state: &mut [u8], _chain: usize, _cache: &mut (), site: usize, value: u8) {
        state[site] = value;
        self.check(state);
    }

    fn adjacency(&self) -> Option<&Adjacency> {
        self.adjacency.as_ref()
    }

    fn block_size(&self, chains: usize) -> usize {
        chains
    }
}

/// A lattice with unequal fields.
pub(super) fn ising() -> Pairwise {
    let field = vec![0.3, -0.7, 0.1, 1.1, -0.2, 0.5];
    Pairwise::ising_lattice(Lattice::free(2, 3).unwrap(), 0.4, field).unwrap()
}

/// A triangle with a tail, every coupling another.
pub(super) fn graph() -> Pairwise {
    let edges = [(0, 1, 0.5), (1, 2, -0.3), (0, 2, 0.8), (2, 3, 1.0)];
    let edges = edges.map(|(from, to, weight)| Edge { from, to, weight });
    Pairwise::ising(&edges, vec![0.2, -0.4, 0.0, 0.7]).unwrap()
}

/// A path of sites with three values.
pub(super) fn potts() -> Pairwise {
    let fields: Vec<f32> = (0..9).map(|i| (i as f32 * 1.3).sin()).collect();
    Pairwise::potts_lattice(Lattice::free(1, 3).unwrap(), 3, 0.8, &fields).unwrap()
}

/// Two factors over two times: the likelihood makes Taylor and exact differences differ.
pub(super) fn fhmm(values: usize) -> Fhmm {
    Fhmm::simulate(2, if values == 2 { 2 } else { 1 }, values, 5).unwrap()
}

/// The tiny RBM that the golden numbers below are for.
pub(super) fn rbm() -> Rbm {
    let weight = [0.5, -0.3, 0.8, 0.1, 0.9, -0.7, -0.6, 0.4, 0.2, 0.3, -0.5, 1.0];
    let visible_bias = [0.1, -0.2, 0.3, 0.0, 0.5, -0.4];
    Rbm::new(3, &weight, &[0.2, -0.1], &visible_bias, None).unwrap()
}

/// Every tiny model. They are built as one type, as models by name are: kernels are compiled once for all of them.
pub(super) fn all() -> Vec<(&'static str, Erased)> {
    let bits = Independent::bernoulli(vec![0.5, -1.5, 2.0]).unwrap();
    let values = Independent::categorical(3, &[0.1, 0.9, -1.0, 0.4, 0.0, 1.3]).unwrap();
    let mut all = vec![
        ("ising", Erased::new(ising())),
        ("potts", Erased::new(potts())),
        ("a graph", Erased::new(graph())),
        ("independent bits", Erased::new(bits)),
        ("independent values", Erased::new(values)),
        ("a binary fhmm", Erased::new(fhmm(2))),
        ("an fhmm of three values", Erased::new(fhmm(3))),
    ];
    for incremental in [false, true] {
        all.push(("a binary table", Erased::new(Table::new(4, 2, incremental))));
        all.push(("a table of three values", Erased::new(Table::new(3, 3, incremental))));
    }
    all
}
