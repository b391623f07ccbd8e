//! Sites of different numbers of values, one included. The model panics when it sees a value that a
//! site does not have.

use super::jumps::check_jumps;
use super::models::Table;
use super::samplers::{check_sampler, scale_of, tolerance_of, unweighted};
use super::tools::{ALIKE, At, DOUBLE, SINGLE};
use crate::balancing::Balancing;
use crate::closeness::Closeness;
use crate::kernel::gibbs::Scan;
use crate::kernel::jump_process::{Jumps, LocalJumps};
use crate::sampler::{Method, Sampler};

/// From one to five values, and bits of which some cannot flip.
const SPACES: [&[usize]; 4] = [&[5, 1, 3], &[4, 2, 1], &[2, 1, 2, 2], &[1, 2, 1]];

fn check(table: &Table, sampler: &Sampler) {
    let at = At::scale(scale_of(table, sampler));
    let name = format!("{}, incremental {}", table.space.words(), table.incremental);
    check_sampler(&name, table, sampler, &at, tolerance_of(table, sampler));
}

#[test]
fn every_sampler_keeps_to_the_values_of_its_sites() {
    for cardinalities in SPACES {
        for table in Table::of_all_kinds(cardinalities) {
            for sampler in unweighted() {
                check(&table, &sampler);
            }
        }
    }
}

#[test]
fn values_from_one_to_five_at_once() {
    let table = Table::mixed(&[1, 2, 3, 4, 5], false);
    let one_site = Sampler { scan: Scan::One, ..Sampler::gibbs() };
    for sampler in [Sampler::dlmc(), Sampler::pas(), Sampler::bg(), Sampler::rwm(), one_site] {
        check(&table, &sampler);
    }
}

#[test]
fn ordinal_values_of_different_numbers() {
    let closeness = Closeness::Ordinal { length: 0.7 };
    for table in Table::of_all_kinds(&[5, 1, 3]) {
        for method in [Method::Gwg, Method::Lb1, Method::Pas, Method::Dmala, Method::Dlmc] {
            check(&table, &Sampler { closeness, ..method.into() });
        }
        check_jumps("ordinal", &table, &Jumps { balancing: Balancing::Sqrt, closeness }, SINGLE);
    }
}

#[test]
fn the_jump_process_on_mixed_values() {
    let closeness = ALIKE;
    for cardinalities in SPACES {
        for balancing in Balancing::ALL {
            let table = Table::mixed(cardinalities, false);
            check_jumps("mixed", &table, &Jumps { balancing, closeness }, SINGLE);
            check_jumps("local", &table.local(), &LocalJumps { balancing, closeness }, DOUBLE);
        }
    }
}
