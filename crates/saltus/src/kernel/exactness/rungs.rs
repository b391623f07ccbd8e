//! Chains on the path p^(1−β) π^β from independent sites to the model, each at its own β and with its
//! own scale.

use super::models::{Table, ising};
use super::samplers::{
    check_sampler, law_of, name_of, one_of_each, scale_of, tolerance_of, unweighted,
};
use super::tools::{At, Matrix, all_states, distance, law_from, log_prob_of, transitions_from};
use crate::base::Base;
use crate::kernel::jump_process::LocalJumps;
use crate::kernel::options::WithKernel;
use crate::kernel::{Chains, Kernel};
use crate::model::Model;
use crate::rng::script::enumerate;
use crate::rng::{ChainRng, Stream};
use crate::sampler::Sampler;
use crate::space::Space;
use std::sync::Arc;

const BETAS: [f64; 3] = [0.0, 0.37, 1.0];

/// Independent sites that are nothing like the model.
fn biased(space: &Space) -> Arc<Base> {
    let weights = (0..space.diff_len()).map(|entry| 1.1 * (entry as f32 * 2.3 + 0.7).sin());
    Arc::new(Base::new(space.clone(), weights.collect()).unwrap())
}

/// Uniform and mixed values, some with states that the model forbids.
fn tables() -> Vec<Table> {
    let holes: [&[u8]; 2] = [&[2, 0, 1], &[0, 0, 0]];
    let bits: [&[u8]; 1] = [&[1, 0, 1]];
    let kinds = [
        Table::of_all_kinds(&[3, 1, 2]).map(|table| table.without(&holes)),
        Table::of_all_kinds(&[2, 2, 2]).map(|table| table.without(&bits)),
        Table::of_all_kinds(&[3, 3]),
        Table::of_all_kinds(&[2, 1, 2]),
    ];
    kinds.into_iter().flatten().collect()
}

#[test]
fn every_sampler_keeps_the_density_of_its_rung() {
    for table in tables() {
        let base = biased(&table.space);
        for beta in BETAS {
            for sampler in unweighted() {
                let at = At::rung(scale_of(&table, &sampler), beta, &base);
                let name = table.space.words();
                check_sampler(&name, &table, &sampler, &at, tolerance_of(&table, &sampler));
            }
        }
    }
}

#[test]
fn a_lattice_on_the_way_from_independent_sites() {
    let model = ising();
    for base in [biased(model.space()), Arc::new(Base::uniform(model.space()))] {
        for sampler in [Sampler::gwg(), Sampler::lb1(), Sampler::rwm(), Sampler::bg()] {
            let at = At::rung(scale_of(&model, &sampler), 0.37, &base);
            check_sampler("ising", &model, &sampler, &at, tolerance_of(&model, &sampler));
        }
    }
}

#[test]
fn without_a_base_every_chain_is_at_the_model() {
    for table in tables() {
        for sampler in one_of_each() {
            let here = At::scale(scale_of(&table, &sampler));
            let elsewhere = At { beta: 0.37, ..here.clone() };
            let (one, other) =
                (law_of(&table, &sampler, &here), law_of(&table, &sampler, &elsewhere));
            assert_eq!(distance(&one, &other), 0.0, "{}", name_of(&sampler));
        }
    }
}

/// The law of one chain of a block whose other chains go their own way.
struct InBlock<'t> {
    model: &'t Table,
    places: &'t [At],
    chain: usize,
}

impl<'a> WithKernel<'a, Table> for InBlock<'_> {
    type Output = Matrix;

    fn with<K>(self, kernel: K) -> Matrix
    where
        K: Kernel<Table> + 'a,
        K::Scratch: 'a,
        K::Own: 'a,
    {
        let Self { model, places, chain } = self;
        let mut states = all_states(&model.space);
        states.retain(|state| log_prob_of(model, state) > f64::NEG_INFINITY);
        let mut scratch = kernel.new_scratch(model, places.len());
        let mut law_of_chain = |state: &Vec<u8>| {
            let mut row = vec![0.0; all_states(&model.space).len()];
            enumerate(
                |rng| {
                    let script = std::mem::replace(rng, ChainRng::new(0, Stream::Chain(0)));
                    let others = |number| ChainRng::new(3, Stream::Chain(number as u64));
                    let mut rngs: Vec<ChainRng> = (0..places.len()).map(others).collect();
                    rngs[chain] = script;
                    let mut starts: Vec<Vec<u8>> =
                        (0..places.len()).map(|n| states[n % states.len()].clone()).collect();
                    starts[chain].clone_from(state);
                    let mut chains = Chains::new(&model.space, starts.concat(), rngs);
                    if let Some(base) = &places[0].base {
                        chains = chains.on_path_from(base.clone());
                    }
                    chains.betas = places.iter().map(|at| at.beta).collect();
                    chains.scales = places.iter().map(|at| at.scale).collect();
                    kernel.start(model, &mut chains, &mut scratch).unwrap();
                    kernel.step(model, &mut chains, &mut scratch).unwrap();
                    *rng = chains.rngs[chain].clone();
                    super::tools::index_of(&model.space, chains.state(chain))
                },
                |reached, probability| row[reached] += probability,
            );
            row
        };
        states.iter().map(&mut law_of_chain).collect()
    }
}

#[test]
fn each_chain_of_a_block_has_the_law_of_its_own_rung_and_scale() {
    for table in tables() {
        let base = biased(&table.space);
        for sampler in one_of_each() {
            let scale = scale_of(&table, &sampler);
            let scales = match sampler.traits(&table.space).scale {
                None => [1.0; 3],
                Some(_) => [scale, 0.5 * scale + 0.5, 1.4 * scale],
            };
            let place = |number: usize| At::rung(scales[number], BETAS[number], &base);
            let places: Vec<At> = (0..3).map(place).collect();
            for chain in 0..3 {
                let block = InBlock { model: &table, places: &places, chain };
                let found = sampler.with_kernel(&table, block);
                let mut alone = law_of(&table, &sampler, &places[chain]);
                // A forbidden state has no law.
                alone.retain(|row| row.iter().sum::<f64>() > 0.0);
                assert_eq!(distance(&found, &alone), 0.0, "{}, {chain}", name_of(&sampler));
            }
        }
    }
}

/// The law of a step after some steps elsewhere and a change of rung and scale, that of a fresh start
/// there, and how often the model was asked while the kernel got ready.
struct Adjusted<'t> {
    model: &'t Table,
    from: &'t At,
    to: &'t At,
    start: &'t [u8],
}

impl<'a> WithKernel<'a, Table> for Adjusted<'_> {
    type Output = (f64, usize);

    fn with<K>(self, kernel: K) -> (f64, usize)
    where
        K: Kernel<Table> + 'a,
        K::Scratch: 'a,
        K::Own: 'a,
    {
        let Self { model, from, to, start } = self;
        let move_on = |kernel: &K, chains: &mut Chains<K::Own>, scratch: &mut K::Scratch| {
            let script = std::mem::replace(
                &mut chains.rngs[0],
                ChainRng::new(5, Stream::Chain(start.len() as u64)),
            );
            chains.state_mut(0).copy_from_slice(start);
            chains.betas.fill(from.beta);
            chains.scales.fill(from.scale);
            kernel.start(model, chains, scratch).unwrap();
            for _ in 0..5 {
                kernel.step(model, chains, scratch).unwrap();
            }
            chains.rngs[0] = script;
            chains.betas.fill(to.beta);
            chains.scales.fill(to.scale);
        };
        let mut reached = to.chain::<_, K::Own>(model, start, ChainRng::new(5, Stream::Chain(0)));
        move_on(&kernel, &mut reached, &mut kernel.new_scratch(model, 1));
        let state = reached.state(0).to_vec();
        let asked = std::cell::Cell::new(0);
        let found = law_from(model, &kernel, to, &state, |kernel, chains, scratch| {
            move_on(kernel, chains, scratch);
            let before = model.asked();
            kernel.adjust(model, chains, scratch).unwrap();
            asked.set(asked.get() + model.asked() - before);
        });
        let fresh = transitions_from(model, &kernel, to, &state);
        (distance(&vec![found], &vec![fresh]), asked.get())
    }
}

#[test]
fn another_rung_or_scale_is_as_good_as_a_fresh_start_and_costs_no_evaluation() {
    for table in tables() {
        let base = biased(&table.space);
        let states = all_states(&table.space);
        let start = states.iter().find(|state| log_prob_of(&table, state) > f64::NEG_INFINITY);
        let start = start.unwrap();
        for sampler in unweighted() {
            let scale = scale_of(&table, &sampler);
            for (here, there) in [(0.0, 0.37), (0.37, 1.0), (1.0, 0.0)] {
                let from = At::rung(scale, here, &base);
                let to = At::rung(0.7 * scale + 0.3, there, &base);
                let adjusted = Adjusted { model: &table, from: &from, to: &to, start };
                let (error, asked) = sampler.with_kernel(&table, adjusted);
                let name = name_of(&sampler);
                // log π and log p were followed for five steps, with their rounding.
                assert!(error < 1e-12, "{name}, {here} to {there}: {error:e}");
                assert_eq!(asked, 0, "{name}, {here} to {there}");
            }
        }
    }
}

#[test]
fn a_jump_process_gets_ready_for_another_rung_without_an_evaluation() {
    let table = Table::mixed(&[3, 1, 2], true).local();
    let base = biased(&table.space);
    let (from, to) = (At::rung(1.0, 0.37, &base), At::rung(1.0, 1.0, &base));
    let kernel = LocalJumps { balancing: Default::default(), closeness: Default::default() };
    let adjusted = Adjusted { model: &table, from: &from, to: &to, start: &[2, 0, 1] };
    let (error, asked) = adjusted.with(kernel);
    assert!(error < 1e-12 && asked == 0, "{error:e} {asked}");
}
