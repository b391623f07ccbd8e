//! Which examples an iteration looks at: every one once in an epoch, in an order of its own.

use crate::data::Examples;
use saltus::ChainRng;
use saltus::rng::{Stream, Training as Purpose};

/// The order of the epoch in progress.
#[derive(Clone, Debug, Default)]
pub struct Order {
    epoch: Option<usize>,
    indices: Vec<u32>,
}

impl Order {
    /// The states of an iteration's batch. What is left at the end of an epoch is left out.
    pub fn batch(
        &mut self,
        examples: &Examples,
        batch: usize,
        iteration: usize,
        seed: u64,
    ) -> Vec<u8> {
        let per_epoch = examples.count() / batch;
        let (epoch, number) = ((iteration - 1) / per_epoch, (iteration - 1) % per_epoch);
        if self.epoch != Some(epoch) {
            self.shuffle(examples.count(), epoch, seed);
        }
        let sites = examples.space().sites();
        let mut states = vec![0; batch * sites];
        let chosen = &self.indices[number * batch..(number + 1) * batch];
        for (row, (index, state)) in chosen.iter().zip(states.chunks_exact_mut(sites)).enumerate() {
            let mut rng = ChainRng::new(
                seed,
                Stream::Training(Purpose::Example, iteration as u64, row as u64),
            );
            examples.fill(*index as usize, &mut rng, state);
        }
        states
    }

    /// From the beginning, so that an epoch's order does not depend on those before.
    fn shuffle(&mut self, count: usize, epoch: usize, seed: u64) {
        self.epoch = Some(epoch);
        self.indices.clear();
        self.indices.extend(0..count as u32);
        let mut rng = ChainRng::new(seed, Stream::Training(Purpose::Order, epoch as u64, 0));
        for index in (1..count).rev() {
            self.indices.swap(index, rng.below(index + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus::Space;

    #[test]
    fn an_epoch_shows_every_example_once() {
        let examples = Examples::new(Space::new(1, 256).unwrap(), (0..13).collect()).unwrap();
        let mut order = Order::default();
        let epoch = |order: &mut Order, first: usize| -> Vec<u8> {
            (first..first + 3).flat_map(|it| order.batch(&examples, 4, it, 5)).collect()
        };
        let (one, two) = (epoch(&mut order, 1), epoch(&mut order, 4));
        assert_ne!(one, two);
        for mut shown in [one.clone(), two.clone()] {
            shown.sort_unstable();
            assert!(shown.windows(2).all(|pair| pair[0] != pair[1]), "{shown:?}");
        }
        // The second epoch is the same for one who has not seen the first.
        assert_eq!(epoch(&mut Order::default(), 4), two);
        assert_eq!(epoch(&mut Order::default(), 1), one);
    }
}
