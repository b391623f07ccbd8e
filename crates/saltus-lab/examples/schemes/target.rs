//! What schemes are tried on: targets in double precision, also at states that are only known in distribution.

use saltus::rng::ChainRng;

pub trait Target: Sync {
    fn name(&self) -> String;

    fn values(&self) -> usize;

    fn sites(&self) -> usize;

    fn log_prob(&self, state: &[u8]) -> f64;

    /// For every site and value, the derivative of log π by that value where of every site only the probabilities of its values are
    /// known: differences of first order.
    fn expected_local(&self, probabilities: &[f64]) -> Vec<f64>;

    /// The same at a state.
    fn local(&self, state: &[u8]) -> Vec<f64> {
        let mut probabilities = vec![0.0; self.sites() * self.values()];
        for (site, value) in state.iter().enumerate() {
            probabilities[site * self.values() + usize::from(*value)] = 1.0;
        }
        self.expected_local(&probabilities)
    }

    /// Half of the sites, if possible such that none of them see each other.
    fn is_white(&self, site: usize) -> bool;

    /// A state of the target.
    fn equilibrium(&self, rng: &mut ChainRng) -> Vec<u8>;
}
