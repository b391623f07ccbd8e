//! Deep models as models: differences, following, blocks, and chains that reach their distribution.

use saltus::ais::{Ais, AisSettings};
use saltus::math::log_sum_exp;
use saltus::model::brute_force_diff;
use saltus::rng::{ChainRng, Stream};
use saltus::{Differences, Method, Model, Run, Settings, States};
use saltus_nn::{Architecture, DeepModel, Frequencies, Parameters};

/// A model of images of that size with parameters uniform in ±`strength`/√n, n the inputs of a layer.
fn model(rows: usize, columns: usize, values: usize, strength: f32) -> DeepModel {
    let architecture = Architecture::new(rows, columns, values, 6)
        .and_then(|architecture| architecture.with_blocks(1))
        .unwrap();
    let space = architecture.space();
    let mut rng = ChainRng::new(5, Stream::Model);
    let mut numbers = vec![0.0; architecture.parameters()];
    for (_, layer) in architecture.layout().layers() {
        let reach = strength / (layer.fan_in() as f32).sqrt();
        for number in &mut numbers[layer.weight.start..layer.bias.end] {
            *number = reach * (2.0 * rng.uniform() as f32 - 1.0);
        }
    }
    let parameters = Parameters::new(architecture, numbers).unwrap();
    // Frequencies that differ from site to site and from value to value.
    let mut rng = ChainRng::new(1, Stream::Model);
    let mean = (0..space.diff_len()).map(|_| 0.1 + 0.4 * rng.uniform() as f32).collect();
    DeepModel::new(parameters, Frequencies::new(space, mean).unwrap()).unwrap()
}

fn states(model: &DeepModel, count: usize) -> Vec<u8> {
    let mut rng = ChainRng::new(2, Stream::Chain(0));
    let space = model.space();
    (0..count * space.sites()).map(|_| rng.below(space.values()) as u8).collect()
}

/// log π and differences of a block.
fn evaluate(model: &DeepModel, kind: Differences, states: &[u8]) -> (Vec<f64>, Vec<f32>) {
    let block = States::new(states, model.space().sites());
    let chains = block.chains();
    let (mut log_prob, mut diff) =
        (vec![0.0; chains], vec![0.0; chains * model.space().diff_len()]);
    let cache = &mut model.new_cache(chains);
    model.log_prob_and_diff(kind, block, cache, &mut log_prob, &mut diff).unwrap();
    (log_prob, diff)
}

#[test]
fn exact_differences_are_those_of_brute_force() {
    for values in [2, 3] {
        let model = model(4, 3, values, 3.0);
        let states = states(&model, 3);
        let (log_prob, diff) = evaluate(&model, Differences::Exact, &states);
        let mut expected = vec![f32::NAN; diff.len()];
        let block = States::new(&states, 12);
        brute_force_diff(&model, block, &mut model.new_cache(3), &log_prob, &mut expected).unwrap();
        assert_eq!(diff, expected);
        assert!(!model.taylor_is_exact());
    }
}

#[test]
fn first_order_differences_are_exact_to_first_order() {
    for values in [2, 4] {
        // With small weights of the first layer the network is all but linear in every pixel.
        let mut model = model(5, 4, values, 1.5);
        let first = model.parameters().architecture().layout().first.weight;
        model.change_parameters(|numbers| {
            numbers[first].iter_mut().for_each(|number| *number *= 0.05);
        });
        let states = states(&model, 4);
        let (_, taylor) = evaluate(&model, Differences::Taylor, &states);
        let (_, exact) = evaluate(&model, Differences::Exact, &states);
        let (mut largest, mut worst) = (0.0f64, 0.0f64);
        for (chain, state) in states.chunks_exact(20).enumerate() {
            for (site, value) in
                (0..20).flat_map(|site| (0..values).map(move |value| (site, value)))
            {
                let plane = if values == 2 { 0 } else { value };
                let at = chain * model.space().diff_len() + plane * 20 + site;
                if value == usize::from(state[site]) {
                    assert!(values == 2 || (taylor[at], exact[at]) == (0.0, 0.0));
                    continue;
                }
                let mut changed = state.to_vec();
                changed[site] = value as u8;
                let base = model.frequencies().base();
                // What the base adds is exact in both; the network's part is what is compared.
                let of_base = base.log_prob(&changed) - base.log_prob(state);
                largest = largest.max((f64::from(exact[at]) - of_base).abs());
                worst = worst.max((f64::from(exact[at]) - f64::from(taylor[at])).abs());
            }
        }
        assert!(largest > 1e-4 && worst < 0.05 * largest, "{values}: {worst} of {largest}");
    }
}

#[test]
fn a_block_is_its_chains_to_the_last_bit() {
    for values in [2, 3] {
        let model = model(5, 5, values, 2.0);
        let states = states(&model, 7);
        let (log_prob, diff) = evaluate(&model, Differences::Taylor, &states);
        for (chain, state) in states.chunks_exact(25).enumerate() {
            let (alone, alone_diff) = evaluate(&model, Differences::Taylor, state);
            let length = model.space().diff_len();
            assert_eq!(alone[0], log_prob[chain]);
            assert_eq!(alone_diff, diff[chain * length..(chain + 1) * length]);
            let mut value = [0.0];
            model.log_prob(States::new(state, 25), &mut model.new_cache(1), &mut value).unwrap();
            assert_eq!(value[0], log_prob[chain], "with and without differences");
        }
    }
}

#[test]
fn following_is_evaluating_afresh() {
    for values in [2, 3] {
        let model = model(3, 4, values, 2.0);
        let mut chains: Vec<Vec<u8>> = states(&model, 2).chunks(12).map(<[u8]>::to_vec).collect();
        let mut cache = model.new_cache(2);
        let mut rng = ChainRng::new(8, Stream::Chain(1));
        let fresh = |state: &[u8]| evaluate(&model, Differences::Taylor, state).0[0];
        for (chain, state) in chains.iter().enumerate() {
            assert_eq!(model.follow(state, chain, &mut cache).unwrap(), fresh(state));
        }
        for _ in 0..60 {
            let (chain, site) = (rng.below(2), rng.below(12));
            let mut diff = vec![f64::NAN; values];
            let state = &mut chains[chain];
            model.site_diff(state, chain, &mut cache, site, &mut diff).unwrap();
            for (value, diff) in diff.iter().enumerate() {
                let mut changed = state.clone();
                changed[site] = value as u8;
                assert!((diff - (fresh(&changed) - fresh(state))).abs() < 1e-9);
            }
            // Sometimes another site is set than was looked at.
            let (site, value) =
                (if rng.flip(0.8) { site } else { rng.below(12) }, rng.below(values));
            model.set_site(state, chain, &mut cache, site, value as u8);
            assert_eq!(usize::from(state[site]), value);
        }
    }
}

/// log π of all states, the last site's values running fastest.
fn all_log_probs(model: &DeepModel) -> Vec<f64> {
    let (sites, values) = (model.space().sites(), model.space().values());
    let mut all = vec![0; values.pow(sites as u32) * sites];
    for (number, state) in all.chunks_exact_mut(sites).enumerate() {
        let mut rest = number;
        for value in state.iter_mut().rev() {
            *value = (rest % values) as u8;
            rest /= values;
        }
    }
    evaluate(model, Differences::Taylor, &all).0
}

#[test]
fn annealing_finds_the_normaliser() {
    for (values, sampler) in [(2, Method::Dlmc), (2, Method::Gwg), (3, Method::Dlmc)] {
        let model = if values == 2 { model(3, 3, 2, 4.0) } else { model(2, 2, 3, 4.0) };
        let exact = log_sum_exp(&all_log_probs(&model));
        let settings = AisSettings {
            chains: 400,
            temperatures: 200,
            sampler: sampler.into(),
            ..AisSettings::default()
        };
        let found = Ais::new(&model, settings).go().unwrap().forward.unwrap();
        let error = found.standard_error.unwrap();
        assert!(error < 0.05, "{values} values, {sampler}: {error}");
        assert!((found.log_z - exact).abs() < 5.0 * error + 1e-5, "{found:?}, exact {exact}");
        // The network changes something: the base alone has log Z 0.
        assert!(exact.abs() > 0.1, "{exact}");
    }
}

#[test]
fn chains_reach_their_distribution() {
    for (values, sampler) in
        [(2, Method::Dlmc), (3, Method::Dlmc), (2, Method::Pas), (2, Method::Gibbs)]
    {
        let model = model(2, 2, values, 3.0);
        let count = values.pow(4);
        let code = move |state: &[u8]| {
            state.iter().fold(0, |code, value| code * values + usize::from(*value))
        };
        let logs = all_log_probs(&model);
        let log_total = log_sum_exp(&logs);
        let settings = Settings {
            sampler: sampler.into(),
            chains: 20,
            warmup: 200,
            draws: 1000,
            thin: 3,
            seed: 6,
            ..Settings::default()
        };
        let outcome = Run::new(&model, settings).keep_states().go().unwrap();
        let mut counts = vec![0.0; count];
        for chain in 0..20 {
            for state in outcome.trace.states(chain).chunks_exact(4) {
                counts[code(state)] += 1.0;
            }
        }
        for (number, found) in counts.iter().enumerate() {
            let exact = (logs[number] - log_total).exp();
            // Five standard deviations of draws of which every fourth is independent of the last.
            let error = 5.0 * (exact * (1.0 - exact) * 4.0 / 20_000.0).sqrt();
            let found = found / 20_000.0;
            assert!(
                (found - exact).abs() < error,
                "{sampler} {number}: {found}, {exact} ± {error}"
            );
        }
    }
}
