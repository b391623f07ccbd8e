//! The skeletons of `docs/skeletons` compile where they are to be copied to, and are right as they stand.

#[path = "../../../docs/skeletons/new_kernel.rs"]
mod new_kernel;
#[path = "../../../docs/skeletons/new_model.rs"]
mod new_model;

use crate::kernel::options::{Options, WithKernel};
use crate::kernel::{Kernel, KernelTraits};
use crate::model::{Differences, Model, brute_force_diff};
use crate::rng::{ChainRng, Stream};
use crate::run::{Run, Settings};
use crate::space::States;
use crate::summary::Summary;

/// What a kernel says of itself, to see that it can be built.
struct Traits<'m, M>(&'m M);

impl<'a, M: Model> WithKernel<'a, M> for Traits<'_, M> {
    type Output = KernelTraits;

    fn with<K>(self, kernel: K) -> KernelTraits
    where
        K: Kernel<M> + 'a,
        K::Scratch: 'a,
        K::Own: 'a,
    {
        kernel.traits(self.0)
    }
}

#[test]
fn differences_of_the_model_are_those_of_its_states() {
    for values in [2, 4] {
        let model = new_model::Skeleton::new(6, values, 0.7).unwrap();
        let (mut cache, length) = (model.new_cache(1), model.space().diff_len());
        let mut state = [0; 6];
        model.initial_state(&mut ChainRng::new(0, Stream::Model), &mut state);
        let states = States::new(&state, 6);
        let (mut log_prob, mut diff, mut tried) = ([0.0], vec![0.0; length], vec![0.0; length]);
        let kind = Differences::Exact;
        model.log_prob_and_diff(kind, states, &mut cache, &mut log_prob, &mut diff).unwrap();
        brute_force_diff(&model, states, &mut cache, &log_prob, &mut tried).unwrap();
        for (diff, tried) in diff.iter().zip(&tried) {
            assert!((diff - tried).abs() < 1e-6, "{diff} {tried}");
        }
    }
    assert!(new_model::Skeleton::new(6, 2, f32::NAN).is_err());
}

#[test]
fn the_kernel_samples_the_model() {
    // Pairs of neighbours are independent: each is equal with probability 1/(1 + e^−J).
    let model = new_model::Skeleton::new(5, 2, 0.7).unwrap();
    let exact = -0.7 * 4.0 / (1.0 + 0.7f64.exp());
    let settings = Settings { chains: 16, warmup: 200, draws: 4000, ..Settings::default() };
    let outcome = Run::with_kernel(&model, new_kernel::Skeleton, settings).go().unwrap();
    let log_prob = Summary::new("skeleton", &outcome).log_prob;
    assert!((log_prob.mean.unwrap() - exact).abs() < 5.0 * log_prob.mcse.unwrap());
    let built = new_kernel::with_kernel(&Options::default(), &model, Traits(&model));
    assert_eq!(built.name, new_kernel::traits(model.space()).name);
}
