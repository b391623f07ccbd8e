//! Weights over sites under a binary tree of their sums: draw, change and total in log(sites).

use crate::rng::ChainRng;

/// Non-negative weights with the sum of every subtree.
///
/// Sums are only ever formed by adding children, never by subtracting what was removed, so the
/// total stays accurate when almost all the weight has been taken out.
#[derive(Clone, Debug)]
pub(crate) struct SumTree {
    /// Node 1 is the root, node k has children 2k and 2k + 1, leaves start at `leaves`.
    nodes: Vec<f64>,
    leaves: usize,
}

impl SumTree {
    pub(crate) fn new(count: usize) -> Self {
        let leaves = count.next_power_of_two();
        Self { nodes: vec![0.0; 2 * leaves], leaves }
    }

    /// The weights, to fill; call [`rebuild`](Self::rebuild) afterwards.
    pub(crate) fn weights_mut(&mut self) -> &mut [f64] {
        &mut self.nodes[self.leaves..]
    }

    /// Sums every subtree anew.
    pub(crate) fn rebuild(&mut self) {
        let mut width = self.leaves / 2;
        while width > 0 {
            let (parents, children) = self.nodes.split_at_mut(2 * width);
            for (parent, pair) in parents[width..].iter_mut().zip(children.as_chunks::<2>().0) {
                *parent = pair[0] + pair[1];
            }
            width /= 2;
        }
    }

    /// Sum of all weights.
    pub(crate) fn total(&self) -> f64 {
        self.nodes[1]
    }

    pub(crate) fn weight(&self, index: usize) -> f64 {
        self.nodes[self.leaves + index]
    }

    /// Changes one weight and the sums above it.
    pub(crate) fn set(&mut self, index: usize, weight: f64) {
        let mut node = self.leaves + index;
        self.nodes[node] = weight;
        while node > 1 {
            node /= 2;
            self.nodes[node] = self.nodes[2 * node] + self.nodes[2 * node + 1];
        }
    }

    /// Draws an index with probability proportional to its weight.
    pub(crate) fn draw(&self, rng: &mut ChainRng) -> usize {
        #[cfg(test)]
        if rng.is_scripted() {
            return rng.index(&self.nodes[self.leaves..], self.total());
        }
        let mut left_over = rng.uniform() * self.total();
        let mut node = 1;
        while node < self.leaves {
            let (left, right) = (self.nodes[2 * node], self.nodes[2 * node + 1]);
            // Rounding may leave a little more than `left` where there is nothing on the right.
            if left_over < left || right <= 0.0 {
                node *= 2;
            } else {
                left_over -= left;
                node = 2 * node + 1;
            }
        }
        node - self.leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn draws_follow_the_weights_and_changes_reach_the_root() {
        let weights = [0.5, 0.0, 2.0, 1.0, 4.5];
        let mut tree = SumTree::new(weights.len());
        tree.weights_mut()[..5].copy_from_slice(&weights);
        tree.rebuild();
        assert_eq!(tree.total(), 8.0);
        let mut rng = ChainRng::new(0, Stream::Chain(0));
        let mut counts = [0u32; 5];
        for _ in 0..80_000 {
            counts[tree.draw(&mut rng)] += 1;
        }
        for (count, weight) in counts.iter().zip(weights) {
            let expected = 10_000.0 * weight;
            assert!((f64::from(*count) - expected).abs() <= 5.0 * expected.sqrt());
        }
        tree.set(4, 1e-30);
        tree.set(2, 0.0);
        tree.set(0, 0.0);
        tree.set(3, 0.0);
        assert_eq!(tree.total(), 1e-30);
        assert_eq!(tree.draw(&mut rng), 4);
    }

    #[test]
    fn one_weight_is_a_tree() {
        let mut tree = SumTree::new(1);
        tree.weights_mut()[0] = 3.0;
        tree.rebuild();
        assert_eq!(tree.total(), 3.0);
        assert_eq!(tree.draw(&mut ChainRng::new(0, Stream::Chain(0))), 0);
    }
}
