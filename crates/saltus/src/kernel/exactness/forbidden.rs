//! States of probability zero within the space.

use super::jumps::check_jumps;
use super::models::Table;
use super::samplers::{check_sampler, name_of, scale_of, tolerance_of, unweighted};
use super::tools::{ALIKE, At, DOUBLE, SINGLE, all_states, index_of};
use crate::balancing::Balancing;
use crate::engine::{Failed, sampler_block};
use crate::error::StepFailure;
use crate::kernel::jump_process::{Jumps, LocalJumps};
use crate::rng::{ChainRng, Stream};
use crate::sampler::{Method, Sampler};

/// Tables of every kind, with states out of which, and into which, forbidden ones are next.
fn tables() -> Vec<Table> {
    let bits: [&[u8]; 3] = [&[0, 1, 0], &[1, 1, 1], &[1, 0, 0]];
    let values: [&[u8]; 2] = [&[0, 0, 0], &[2, 0, 1]];
    let bits = Table::of_all_kinds(&[2, 2, 2]).map(|table| table.without(&bits));
    let values = Table::of_all_kinds(&[3, 1, 2]).map(|table| table.without(&values));
    bits.into_iter().chain(values).collect()
}

#[test]
fn no_sampler_enters_a_forbidden_state() {
    for table in tables() {
        for sampler in unweighted() {
            let at = At::scale(scale_of(&table, &sampler));
            let tolerance = tolerance_of(&table, &sampler);
            check_sampler("a table with holes", &table, &sampler, &at, tolerance);
        }
    }
}

#[test]
fn the_jump_process_goes_around_forbidden_states() {
    let closeness = ALIKE;
    let holes: [&[u8]; 3] = [&[0, 1, 0], &[1, 1, 1], &[2, 0, 0]];
    for balancing in Balancing::ALL {
        for incremental in [false, true] {
            let table = Table::mixed(&[3, 2, 2], incremental).without(&holes);
            check_jumps("holes", &table, &Jumps { balancing, closeness }, SINGLE);
            check_jumps("holes", &table.local(), &LocalJumps { balancing, closeness }, DOUBLE);
        }
    }
}

/// A step of a sampler from a state, with the state it leads to and its acceptance.
fn step(table: &Table, sampler: &Sampler, state: &[u8]) -> Result<(Vec<u8>, f64), Failed> {
    let rngs = vec![ChainRng::new(1, Stream::Chain(0))];
    let mut block = sampler_block(table, sampler, 7, state.to_vec(), rngs, None);
    block.set_scale(scale_of(table, sampler));
    block.start(table)?;
    block.step(table)?;
    Ok((block.states().row(0).to_vec(), block.reports()[0].acceptance))
}

/// Two states of probability 1/2, and nothing between them.
fn islands() -> [Table; 3] {
    Table::of_all_kinds(&[2, 2]).map(|table| table.without(&[&[0, 1], &[1, 0]]))
}

#[test]
fn an_isolated_state_is_left_by_many_changes_or_not_at_all() {
    for table in islands() {
        for balancing in Balancing::ALL {
            let failed = step(&table, &Sampler { balancing, ..Sampler::dld() }, &[1, 1]);
            let isolated = Failed { chain: 7, step: 0, cause: StepFailure::Isolated };
            assert_eq!(failed, Err(isolated));
            for method in [Method::Gwg, Method::Lb1] {
                let stays = step(&table, &Sampler { balancing, ..method.into() }, &[1, 1]);
                assert_eq!(stays, Ok((vec![1, 1], 0.0)), "{method} {balancing}");
            }
        }
        // Two sites at once go across.
        for method in [Method::Bg, Method::Pas, Method::Rwm] {
            let sampler = Sampler::new(method);
            let law = super::samplers::law_of(&table, &sampler, &At::scale(2.0));
            let (here, there) = (index_of(&table.space, &[0, 0]), index_of(&table.space, &[1, 1]));
            assert!(law[here][there] > 0.1, "{method}: {:?}", law[here]);
        }
    }
}

#[test]
fn no_chain_starts_in_a_forbidden_state() {
    let samplers = unweighted().into_iter().chain([Sampler::dld()]);
    for sampler in samplers {
        for table in tables() {
            let states = all_states(&table.space);
            let forbidden = states
                .iter()
                .filter(|state| table.log_prob[index_of(&table.space, state)] == f64::NEG_INFINITY);
            for state in forbidden {
                let failed = step(&table, &sampler, state).unwrap_err();
                assert_eq!(failed.cause, StepFailure::ForbiddenStart, "{}", name_of(&sampler));
                assert_eq!((failed.chain, failed.step), (7, 0));
            }
        }
    }
}
