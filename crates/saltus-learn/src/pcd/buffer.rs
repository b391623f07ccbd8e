//! The replay buffer: states of chains that wait for their next turn.

use saltus::rng::{Stream, Training as Purpose};
use saltus::{ChainRng, Model};

/// States of chains, of which every iteration moves some.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    sites: usize,
    states: Vec<u8>,
}

impl Buffer {
    /// So many states where chains of a model start.
    pub(super) fn new<M: Model>(model: &M, size: usize, seed: u64) -> Self {
        let sites = model.space().sites();
        let mut rng = ChainRng::new(seed, Stream::Training(Purpose::Buffer, 0, 0));
        let mut states = vec![0; size * sites];
        states.chunks_exact_mut(sites).for_each(|state| model.initial_state(&mut rng, state));
        Self { sites, states }
    }

    /// These states.
    pub(super) fn of_states(states: Vec<u8>, sites: usize) -> Self {
        Self { sites, states }
    }

    /// All states, one after the other.
    pub fn states(&self) -> &[u8] {
        &self.states
    }

    /// Number of states.
    pub fn size(&self) -> usize {
        self.states.len() / self.sites
    }

    /// Distinct slots, in random order.
    pub(super) fn pick(&self, rng: &mut ChainRng, slots: &mut [u32]) {
        rng.distinct(self.size(), slots);
    }

    /// The states of some slots.
    pub(super) fn take(&self, slots: &[u32]) -> Vec<u8> {
        slots.iter().flat_map(|slot| self.state(*slot)).copied().collect()
    }

    /// Puts states back into their slots.
    pub(super) fn put(&mut self, slots: &[u32], states: &[u8]) {
        for (slot, state) in slots.iter().zip(states.chunks_exact(self.sites)) {
            let start = *slot as usize * self.sites;
            self.states[start..start + self.sites].copy_from_slice(state);
        }
    }

    fn state(&self, slot: u32) -> &[u8] {
        &self.states[slot as usize * self.sites..][..self.sites]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus::Rbm;

    #[test]
    fn states_go_out_and_come_back_to_their_slots() {
        let mut buffer = Buffer::of_states(vec![0, 0, 1, 1, 2, 2, 3, 3], 2);
        assert_eq!(buffer.size(), 4);
        assert_eq!(buffer.take(&[3, 1]), [3, 3, 1, 1]);
        buffer.put(&[3, 1], &[8, 9, 6, 7]);
        assert_eq!(buffer.states(), [0, 0, 6, 7, 2, 2, 8, 9]);
    }

    #[test]
    fn slots_are_distinct_and_all_have_their_turn() {
        let buffer = Buffer::of_states(vec![0; 50], 1);
        let mut counts = [0u32; 50];
        for iteration in 0..2000 {
            let mut slots = [0; 10];
            buffer.pick(
                &mut ChainRng::new(4, Stream::Training(Purpose::Slots, iteration as u64, 0)),
                &mut slots,
            );
            slots.iter().for_each(|slot| counts[*slot as usize] += 1);
            slots.sort_unstable();
            assert!(slots.windows(2).all(|pair| pair[0] != pair[1]), "{slots:?}");
        }
        // 400 expected, standard deviation √(2000·0.2·0.8) = 18.
        assert!(counts.iter().all(|count| (300..500).contains(count)), "{counts:?}");
    }

    #[test]
    fn it_starts_where_chains_of_the_model_start() {
        let rbm = Rbm::new(2, &[0.0; 2], &[0.0], &[0.0; 2], Some(&[0.1, 0.8])).unwrap();
        let buffer = Buffer::new(&rbm, 10_000, 1);
        let ones = |site: usize| {
            buffer.states().iter().skip(site).step_by(2).map(|value| f64::from(*value)).sum::<f64>()
        };
        // Five standard deviations: 150 and 200.
        assert!((ones(0) - 1000.0).abs() < 150.0 && (ones(1) - 8000.0).abs() < 200.0);
        assert_eq!(buffer, Buffer::new(&rbm, 10_000, 1));
    }
}
