//! The paper's Potts model.

use crate::target::Target;
use saltus::math::log_sum_exp;
use saltus::model::lattice::Lattice;
use saltus::model::paper;
use saltus::rng::ChainRng;

const SIDE: usize = 30;
/// Sweeps of Gibbs that bring a chain from a random state to the target.
const SWEEPS: usize = 200;

pub struct Potts {
    values: usize,
    field: Vec<f64>,
    neighbours: Vec<Vec<usize>>,
}

impl Potts {
    pub fn new(values: usize) -> Self {
        let lattice = Lattice::free(SIDE, SIDE).expect("a lattice of 900 sites");
        let field = paper::potts_field(lattice, values, 0).into_iter().map(f64::from).collect();
        let mut neighbours = vec![Vec::new(); SIDE * SIDE];
        for site in 0..SIDE * SIDE {
            let right = (site % SIDE + 1 < SIDE).then_some(site + 1);
            let below = (site + SIDE < SIDE * SIDE).then_some(site + SIDE);
            for other in right.into_iter().chain(below) {
                neighbours[site].push(other);
                neighbours[other].push(site);
            }
        }
        Self { values, field, neighbours }
    }
}

impl Target for Potts {
    fn name(&self) -> String {
        format!("potts-{}", self.values)
    }

    fn values(&self) -> usize {
        self.values
    }

    fn sites(&self) -> usize {
        self.neighbours.len()
    }

    /// The colour of a site on the checkerboard.
    fn is_white(&self, site: usize) -> bool {
        (site / SIDE + site % SIDE).is_multiple_of(2)
    }

    fn log_prob(&self, state: &[u8]) -> f64 {
        let site = |(site, value): (usize, &u8)| {
            let same = self.neighbours[site].iter().filter(|other| state[**other] == *value);
            self.field[site * self.values + usize::from(*value)] + 0.5 * same.count() as f64
        };
        state.iter().enumerate().map(site).sum()
    }

    fn local(&self, state: &[u8]) -> Vec<f64> {
        let mut local = self.field.clone();
        for (site, value) in state.iter().enumerate() {
            for other in &self.neighbours[site] {
                local[other * self.values + usize::from(*value)] += 1.0;
            }
        }
        local
    }

    fn expected_local(&self, probabilities: &[f64]) -> Vec<f64> {
        let mut local = self.field.clone();
        for site in 0..self.sites() {
            for other in &self.neighbours[site] {
                for value in 0..self.values {
                    local[other * self.values + value] += probabilities[site * self.values + value];
                }
            }
        }
        local
    }

    /// By sweeps of Gibbs from a random state.
    fn equilibrium(&self, rng: &mut ChainRng) -> Vec<u8> {
        let mut state: Vec<u8> = (0..self.sites()).map(|_| rng.below(self.values) as u8).collect();
        let mut row = vec![0.0; self.values];
        for _ in 0..SWEEPS {
            for site in 0..self.sites() {
                row.copy_from_slice(&self.field[site * self.values..][..self.values]);
                for other in &self.neighbours[site] {
                    row[usize::from(state[*other])] += 1.0;
                }
                let log_total = log_sum_exp(&row);
                row.iter_mut().for_each(|entry| *entry = (*entry - log_total).exp());
                state[site] = rng.index(&row, 1.0) as u8;
            }
        }
        state
    }
}
