//! Samplers that propose every site at once.

use super::jumps::check_jumps;
use super::models::{self, Table, rbm};
use super::samplers::{local, path, rows};
use super::tools::{
    ALIKE, BOTH, DOUBLE, Matrix, SINGLE, all_states, balance_error, check_reversible,
    invariance_error, probabilities, transitions,
};
use crate::balancing::Balancing;
use crate::closeness::Closeness;
use crate::kernel::block_gibbs::BlockGibbs;
use crate::kernel::conditional::Conditional;
use crate::kernel::gibbs::{Gibbs, Scan};
use crate::kernel::hamming_ball::HammingBall;
use crate::kernel::jump_process::{Jumps, LocalJumps};
use crate::kernel::local_change::LocalChange;
use crate::kernel::metropolis::{Metropolis, Proposal};
use crate::kernel::random_walk::RandomWalk;
use crate::kernel::row::RowFormula;
use crate::model::rbm::Rbm;
use crate::model::{Differences, Model};
use crate::space::{Space, States};

#[test]
fn factorised_samplers_are_reversible() {
    for (name, model) in &models::all() {
        for formula in RowFormula::ALL {
            for balancing in Balancing::ALL {
                for differences in BOTH {
                    let kernel = Metropolis(rows(formula, balancing, differences, ALIKE));
                    for scale in [0.05, 0.5, 5.0] {
                        let name = format!("{formula:?} {balancing} on {name}");
                        check_reversible(&name, model, &kernel, scale, SINGLE);
                    }
                }
            }
        }
    }
}

/// The matrix that the f64 formulas give: rows of all sites, then Metropolis–Hastings.
fn reference_transitions<M: Model>(
    model: &M,
    formula: RowFormula,
    balancing: Balancing,
    differences: Differences,
    h: f64,
) -> Matrix {
    let space = model.space();
    let states = all_states(space);
    let (sites, values) = (space.sites(), space.values());
    let mut log_prob = vec![0.0; states.len()];
    let mut log_q = vec![vec![0.0; states.len()]; states.len()];
    for (x, state) in states.iter().enumerate() {
        let mut diff = vec![0.0f32; space.diff_len()];
        let row = States::new(state, sites);
        let mut cache = model.new_cache(1);
        let here = std::slice::from_mut(&mut log_prob[x]);
        model.log_prob_and_diff(differences, row, &mut cache, here, &mut diff).unwrap();
        for site in 0..sites {
            let own = usize::from(state[site]);
            let mut site_diff = vec![0.0; values];
            for (value, entry) in site_diff.iter_mut().enumerate() {
                if value != own {
                    let plane = if space.is_binary() { 0 } else { value };
                    *entry = f64::from(diff[plane * sites + site]);
                }
            }
            let row = formula.log_row(&site_diff, own, h, balancing);
            for (y, other) in states.iter().enumerate() {
                log_q[x][y] += row[usize::from(other[site])];
            }
        }
    }
    (0..states.len())
        .map(|x| {
            let mut row: Vec<f64> = (0..states.len())
                .map(|y| {
                    let ratio = log_prob[y] - log_prob[x] + log_q[y][x] - log_q[x][y];
                    if x == y { 0.0 } else { log_q[x][y].exp() * ratio.exp().min(1.0) }
                })
                .collect();
            let total: f64 = log_q[x].iter().map(|log_q| log_q.exp()).sum();
            assert!((total - 1.0).abs() < 1e-12, "{formula:?} {balancing}: rows sum to {total}");
            row[x] = 1.0 - row.iter().sum::<f64>();
            row
        })
        .collect()
}

#[test]
fn single_precision_rows_agree_with_the_formulas() {
    for (name, model) in &models::all() {
        let pi = probabilities(model);
        for formula in RowFormula::ALL {
            for balancing in Balancing::ALL {
                for h in [0.05, 0.5, 5.0] {
                    let differences = Differences::Taylor;
                    let reference =
                        reference_transitions(model, formula, balancing, differences, h);
                    assert!(invariance_error(&pi, &reference) < DOUBLE);
                    assert!(balance_error(&pi, &reference) < DOUBLE);
                    let kernel = Metropolis(rows(formula, balancing, differences, ALIKE));
                    let real = transitions(model, &kernel, |_| h);
                    let error = reference.iter().flatten().zip(real.iter().flatten());
                    let error = error.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    assert!(error < SINGLE, "{formula:?} {balancing} on {name}, h {h}: {error:e}");
                }
            }
        }
    }
}

#[test]
fn ordinal_rows_are_those_of_the_formulas() {
    let diff = [0.4, -0.9, 0.0, 1.3];
    let (state, space) = ([2u8], Space::new(1, 4).unwrap());
    for formula in RowFormula::ALL.into_iter().filter(|f| *f != RowFormula::Exact) {
        for balancing in Balancing::ALL {
            let closeness = Closeness::Ordinal { length: 1.5 };
            let rows = rows(formula, balancing, Differences::Exact, closeness);
            let mut table = rows.new_table(&space);
            let single = diff.map(|diff| diff as f32);
            let exact = formula.log_row_between(&diff, 2, 0.05, balancing, closeness);
            for (value, log) in exact.iter().enumerate() {
                let to = [value as u8];
                let found = rows.prepare(0.05, &state, &single, &mut table, &to, &());
                assert!(
                    (found - log).abs() < 1e-5,
                    "{formula:?} {balancing} {value}: {found} {log}"
                );
            }
            // Not those of values that are all alike.
            let alike = formula.log_row(&diff, 2, 0.05, balancing);
            assert!((alike[0] - exact[0]).abs() > 0.01);
        }
    }
}

#[test]
fn ordinal_values_keep_every_kernel_reversible() {
    for (name, model) in &models::all() {
        let closeness = Closeness::Ordinal { length: 0.7 };
        for balancing in [Balancing::Sqrt, Balancing::Ratio] {
            for differences in BOTH {
                for formula in RowFormula::ALL.into_iter().filter(|f| *f != RowFormula::Exact) {
                    let kernel = Metropolis(rows(formula, balancing, differences, closeness));
                    check_reversible(name, model, &kernel, 0.6, SINGLE);
                }
                let kernel = Metropolis(path(balancing, differences, closeness));
                check_reversible(name, model, &kernel, 1.0, SINGLE);
            }
            check_jumps(name, model, &Jumps { balancing, closeness }, SINGLE);
            if LocalChange::suits(model, Differences::Exact) {
                let kernel = local(balancing, closeness);
                check_reversible(name, model, &kernel, 1.0, DOUBLE);
                check_jumps(name, model, &LocalJumps { balancing, closeness }, DOUBLE);
            }
        }
    }
}

#[test]
fn machines_with_single_precision_weights_are_reversible() {
    check_machine(&rbm());
    let weight = [0.5, -0.3, 0.8, 0.1, 0.9, -0.7];
    check_machine(&Rbm::new(2, &weight, &[0.2, -0.1], &[0.1, -0.2, 0.3], None).unwrap());
}

fn check_machine(model: &Rbm) {
    check_reversible("walk", model, &RandomWalk, 1.5, SINGLE);
    check_reversible("ball", model, &Conditional(HammingBall), 1.0, SINGLE);
    check_reversible("block", model, &Conditional(BlockGibbs), 1.0, SINGLE);
    for balancing in Balancing::ALL {
        for differences in BOTH {
            let path = Metropolis(path(balancing, differences, ALIKE));
            check_reversible("path", model, &path, 1.5, SINGLE);
            for formula in RowFormula::ALL {
                let rows = Metropolis(rows(formula, balancing, differences, ALIKE));
                check_reversible("rows", model, &rows, 0.7, SINGLE);
            }
        }
    }
    let sweep = transitions(model, &Conditional(Gibbs(Scan::Sweep)), |_| 1.0);
    assert!(invariance_error(&probabilities(model), &sweep) < SINGLE);
}

/// log q of a given move and of the way back, and the logarithm of their acceptance ratio.
fn score<P: Proposal>(proposal: &P, scale: f64, path: P::Path, back: P::Path) -> [f64; 3] {
    let model = rbm();
    let (x, y) = ([0, 1], [2, 0]);
    let mut log_prob = [0.0; 2];
    let mut diff = vec![0.0; 2 * model.space().diff_len()];
    let states = States::new(&[0, 1, 2, 0], 2);
    let mut cache = model.new_cache(2);
    let taylor = Differences::Taylor;
    model.log_prob_and_diff(taylor, states, &mut cache, &mut log_prob, &mut diff).unwrap();
    let (at_x, at_y) = diff.split_at(model.space().diff_len());
    let mut table = proposal.new_table(model.space());
    let forward = proposal.prepare(scale, &x, at_x, &mut table, &y, &back);
    let reverse = proposal.prepare(scale, &y, at_y, &mut table, &x, &path);
    [forward, reverse, log_prob[1] - log_prob[0] + reverse - forward]
}

#[test]
fn golden_moves_of_a_tiny_machine() {
    let close = |found: [f64; 3], golden: [f64; 3]| {
        for (found, golden) in found.iter().zip(golden) {
            assert!((found - golden).abs() < 2e-6, "{found} {golden}");
        }
    };
    let differences = Differences::Taylor;
    let dlmc = |balancing| rows(RowFormula::Interpolated, balancing, differences, ALIKE);
    close(
        score(&dlmc(Balancing::Sqrt), 0.5, (), ()),
        [-2.669441325266133, -2.68581936971286, -0.0632106751577135],
    );
    close(
        score(&dlmc(Balancing::Ratio), 0.5, (), ()),
        [-3.652841790270469, -3.6323575387154743, -0.026348379155991974],
    );
    // The path visits site 0 and then site 1; scoring takes the path of the way there.
    let pas = path(Balancing::Sqrt, differences, ALIKE);
    close(
        score(&pas, 2.0, vec![(0, 2), (1, 0)], vec![(1, 1), (0, 0)]),
        [-1.296393857964531, -1.5026137342751922, -0.25305250702164783],
    );
}

/// Differences of RBMs with many hidden units come from weights in 16 bits; what they propose is still accepted
/// as it should be.
#[test]
fn rough_differences_are_reversible() {
    let differences = Differences::Taylor;
    for model in [Rbm::random(4, 70, 2, 4).unwrap(), Rbm::random(2, 66, 3, 5).unwrap()] {
        for formula in RowFormula::ALL {
            let rows = Metropolis(rows(formula, Balancing::Sqrt, differences, ALIKE));
            check_reversible("rows", &model, &rows, 0.7, SINGLE);
        }
        let path = Metropolis(path(Balancing::Sqrt, differences, ALIKE));
        check_reversible("path", &model, &path, 2.0, SINGLE);
    }
}

#[test]
fn one_site_is_enough_for_every_kernel() {
    for values in [2, 3] {
        let model = Table::new(1, values, true);
        let (balancing, differences) = (Balancing::Sqrt, Differences::Exact);
        check_reversible("walk", &model, &RandomWalk, 1.0, DOUBLE);
        check_reversible("ball", &model, &Conditional(HammingBall), 1.0, DOUBLE);
        check_reversible("block", &model, &Conditional(BlockGibbs), 1.0, DOUBLE);
        check_reversible("gibbs", &model, &Conditional(Gibbs(Scan::Sweep)), 1.0, DOUBLE);
        let path = Metropolis(path(balancing, differences, ALIKE));
        check_reversible("path", &model, &path, 1.0, DOUBLE);
        for formula in RowFormula::ALL {
            let rows = Metropolis(rows(formula, balancing, differences, ALIKE));
            check_reversible("rows", &model, &rows, 0.7, SINGLE);
        }
    }
}
