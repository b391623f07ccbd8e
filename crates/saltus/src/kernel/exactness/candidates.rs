//! Kernels that `experiments/candidates` compares with those of the library: before anyone says that one of them does not win, it is held to the
//! same laws.

#[path = "../../../../../experiments/candidates/kernels.rs"]
#[allow(unreachable_pub)]
mod kernels;

use super::models::Table;
use super::tools::{At, Matrix, SINGLE, check_law, invariance_error, transitions_at};
use crate::kernel::metropolis::{Metropolis, Proposal};
use crate::kernel::{Kernel, KernelTraits};
use crate::model::Differences;
use crate::rng::ChainRng;
use crate::space::Space;
use kernels::{Cyclical, Flips, Row, SeveralFlips};

fn law<K: Kernel<Table, Own = ()>>(table: &Table, kernel: &K, at: &At) -> Matrix {
    transitions_at(table, kernel, at)
}

/// Sites of two values.
fn tables() -> Vec<Table> {
    Table::of_all_kinds(&[2, 2, 2]).into_iter().collect()
}

#[test]
fn candidates_keep_the_model() {
    for table in tables() {
        let check = |name: &str, scale: f64, kernel: &dyn Fn(&At) -> Matrix| {
            let at = At::scale(scale);
            let law = kernel(&at);
            check_law(name, &at.density(&table), &law, true, SINGLE);
        };
        for scale in [0.05, 0.4, 2.0] {
            check("restricted", scale, &|at| law(&table, &Metropolis(Flips(Row::Restricted)), at));
            for alpha in [0.5, 0.6, 1.0] {
                let kernel = Metropolis(Flips(Row::Power(alpha)));
                check("power", scale, &|at| law(&table, &kernel, at));
            }
        }
        for scale in [1.0, 2.0, 3.0] {
            check("several flips", scale, &|at| law(&table, &Metropolis(SeveralFlips), at));
        }
        let cycle = Cyclical { length: 4, sizes: (3.0, 0.3), powers: (0.9, 0.5) };
        check("cyclical", 0.3, &|at| law(&table, &cycle, at));
    }
}

#[test]
fn one_that_does_not_is_found() {
    /// Powers with a wrong score of the way back.
    struct Wrong;
    impl Proposal for Wrong {
        type Table = Vec<f64>;
        type Path = ();
        fn traits(&self, space: &Space) -> KernelTraits {
            Flips(Row::Power(0.6)).traits(space)
        }
        fn new_table(&self, space: &Space) -> Vec<f64> {
            Flips(Row::Power(0.6)).new_table(space)
        }
        fn differences(&self) -> Differences {
            Differences::Exact
        }
        fn prepare(
            &self,
            scale: f64,
            from: &[u8],
            diff: &[f32],
            table: &mut Vec<f64>,
            to: &[u8],
            (): &(),
        ) -> f64 {
            0.9 * Flips(Row::Power(0.6)).prepare(scale, from, diff, table, to, &())
        }
        fn draw(
            &self,
            scale: f64,
            state: &[u8],
            table: &mut Vec<f64>,
            rng: &mut ChainRng,
            proposed: &mut [u8],
            (): &mut (),
        ) -> f64 {
            Flips(Row::Power(0.6)).draw(scale, state, table, rng, proposed, &mut ())
        }
    }
    for table in tables() {
        let at = At::scale(0.4);
        let error = invariance_error(&at.density(&table), &law(&table, &Metropolis(Wrong), &at));
        assert!(error > 1e-3, "{error:e}");
    }
}
