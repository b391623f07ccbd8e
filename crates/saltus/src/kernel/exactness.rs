//! Transition matrices of every kernel on tiny models, enumerated through the real code: π must
//! stay as it is, and known wrong kernels must be told apart.

use super::block_gibbs::BlockGibbs;
use super::closeness::Closeness;
use super::conditional::Conditional;
use super::gibbs::{Gibbs, Scan};
use super::hamming_ball::HammingBall;
use super::jump_process::{Jumps, LocalJumps};
use super::local_change::LocalChange;
use super::metropolis::{Metropolis, Proposal};
use super::path::PathProposal;
use super::random_walk::RandomWalk;
use super::row::RowFormula;
use super::row_table::Rows;
use super::{Kernel, Position, StepReport};
use crate::model::fhmm::Fhmm;
use crate::model::graph::Edge;
use crate::model::independent::Independent;
use crate::model::lattice::Lattice;
use crate::model::pairwise::Pairwise;
use crate::model::rbm::Rbm;
use crate::model::{Differences, Model, ModelError};
use crate::rng::script::enumerate;
use crate::rng::{ChainRng, Stream};
use crate::space::{Space, States};
use crate::weight::Weight;

type Matrix = Vec<Vec<f64>>;

/// Kernels that compute in f64 keep π to this.
const DOUBLE: f64 = 1e-10;
/// Rows are kept in f32: half an ulp per entry, a few entries per row.
const SINGLE: f64 = 1e-6;

/// log π from a table, with a Taylor estimate that is deliberately off: nothing about it is
/// special, so nothing can cancel by luck.
struct Table {
    space: Space,
    log_prob: Vec<f64>,
    incremental: bool,
}

impl Table {
    fn new(sites: usize, values: usize, incremental: bool) -> Self {
        let space = Space::new(sites, values).unwrap();
        let states = values.pow(sites as u32);
        let log_prob = (0..states).map(|i| 1.7 * ((i * i + 3 * i) as f64 * 0.731).sin()).collect();
        Self { space, log_prob, incremental }
    }
}

impl Model for Table {
    type Cache = ();

    fn space(&self) -> &Space {
        &self.space
    }

    fn new_cache(&self, _chains: usize) {}

    fn log_prob(
        &self,
        states: States<'_>,
        _cache: &mut (),
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        for (state, log_prob) in states.rows().zip(log_prob) {
            *log_prob = self.log_prob[index_of(&self.space, state)];
        }
        Ok(())
    }

    fn log_prob_and_diff(
        &self,
        kind: Differences,
        states: States<'_>,
        cache: &mut (),
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        self.log_prob(states, cache, log_prob)?;
        crate::model::brute_force_diff(self, states, cache, log_prob, diff)?;
        if kind == Differences::Taylor {
            for (entry, diff) in diff.iter_mut().enumerate() {
                if *diff != 0.0 {
                    *diff = 0.8 * *diff + 0.2 * (entry as f32 + log_prob[0] as f32).sin();
                }
            }
        }
        Ok(())
    }

    fn is_incremental(&self) -> bool {
        self.incremental
    }
}

fn index_of(space: &Space, state: &[u8]) -> usize {
    state.iter().fold(0, |index, value| index * space.values() + usize::from(*value))
}

fn all_states(space: &Space) -> Vec<Vec<u8>> {
    let count = space.values().pow(space.sites() as u32);
    (0..count)
        .map(|mut index| {
            let mut state = vec![0; space.sites()];
            for value in state.iter_mut().rev() {
                *value = (index % space.values()) as u8;
                index /= space.values();
            }
            state
        })
        .collect()
}

fn probabilities<M: Model>(model: &M) -> Vec<f64> {
    let states = all_states(model.space()).concat();
    let states = States::new(&states, model.space().sites());
    let mut log_prob = vec![0.0; states.chains()];
    model.log_prob(states, &mut model.new_cache(states.chains()), &mut log_prob).unwrap();
    let total = crate::math::log_sum_exp(&log_prob);
    log_prob.iter().map(|log_prob| (log_prob - total).exp()).collect()
}

/// The exact law of one step of a kernel from every state.
fn transitions<M: Model, K: Kernel<M>>(
    model: &M,
    kernel: &K,
    scale_at: impl Fn(&[u8]) -> f64,
) -> Matrix {
    let states = all_states(model.space());
    states.iter().map(|state| transitions_from(model, kernel, scale_at(state), state)).collect()
}

/// The exact law of one step of a kernel from one state.
fn transitions_from<M: Model, K: Kernel<M>>(
    model: &M,
    kernel: &K,
    scale: f64,
    state: &[u8],
) -> Vec<f64> {
    let space = model.space();
    let mut row = vec![0.0; all_states(space).len()];
    let mut memory = kernel.new_memory(model, 1);
    enumerate(
        |rng| {
            let mut position = Position::new(state.to_vec(), space.sites());
            kernel.start(scale, model, &mut position, &mut memory).unwrap();
            let mut report = [StepReport::default()];
            let rngs = std::slice::from_mut(rng);
            kernel.step(scale, model, &mut position, &mut memory, rngs, &mut report).unwrap();
            check_bookkeeping(model, state, &position, report[0]);
            index_of(space, position.state(0))
        },
        |reached, probability| row[reached] += probability,
    );
    row
}

/// log π kept along the way is that of the state, and changed sites are counted right.
fn check_bookkeeping<M: Model>(model: &M, before: &[u8], after: &Position, report: StepReport) {
    let mut log_prob = [0.0];
    model.log_prob(after.states(), &mut model.new_cache(1), &mut log_prob).unwrap();
    assert!((log_prob[0] - after.log_prob[0]).abs() < SINGLE);
    let changed = before.iter().zip(after.state(0)).filter(|(a, b)| a != b).count();
    assert_eq!(changed, report.changed as usize);
    assert!(report.evaluations >= 1);
}

/// Largest |(πP)ₓ − πₓ|.
fn invariance_error(pi: &[f64], p: &Matrix) -> f64 {
    (0..pi.len())
        .map(|y| (pi.iter().zip(p).map(|(pi, row)| pi * row[y]).sum::<f64>() - pi[y]).abs())
        .fold(0.0, f64::max)
}

/// Largest |πₓPₓᵧ − πᵧPᵧₓ|.
fn balance_error(pi: &[f64], p: &Matrix) -> f64 {
    let flow = |x: usize, y: usize| pi[x] * p[x][y];
    let pairs = (0..pi.len()).flat_map(|x| (0..x).map(move |y| (x, y)));
    pairs.map(|(x, y)| (flow(x, y) - flow(y, x)).abs()).fold(0.0, f64::max)
}

fn check_reversible<M: Model, K: Kernel<M>>(
    name: &str,
    model: &M,
    kernel: &K,
    scale: f64,
    tolerance: f64,
) {
    let pi = probabilities(model);
    let p = transitions(model, kernel, |_| scale);
    for row in &p {
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
    let (invariance, balance) = (invariance_error(&pi, &p), balance_error(&pi, &p));
    assert!(invariance < tolerance, "{name}, scale {scale}: πP ≠ π by {invariance:e}");
    assert!(balance < tolerance, "{name}, scale {scale}: detailed balance off by {balance:e}");
    let moves = p.iter().enumerate().map(|(x, row)| 1.0 - row[x]).fold(0.0, f64::max);
    assert!(moves > 1e-4, "{name}, scale {scale}: never moves, so the test says nothing");
}

/// A lattice with unequal fields.
fn ising() -> Pairwise {
    let field = vec![0.3, -0.7, 0.1, 1.1, -0.2, 0.5];
    Pairwise::ising_lattice(Lattice::free(2, 3).unwrap(), 0.4, field).unwrap()
}

/// A triangle with a tail, every coupling another.
fn graph() -> Pairwise {
    let edges = [(0, 1, 0.5), (1, 2, -0.3), (0, 2, 0.8), (2, 3, 1.0)];
    let edges = edges.map(|(from, to, weight)| Edge { from, to, weight });
    Pairwise::ising(&edges, vec![0.2, -0.4, 0.0, 0.7]).unwrap()
}

/// A path of sites with three values.
fn potts() -> Pairwise {
    let fields: Vec<f32> = (0..9).map(|i| (i as f32 * 1.3).sin()).collect();
    Pairwise::potts_lattice(Lattice::free(1, 3).unwrap(), 3, 0.8, &fields).unwrap()
}

/// Two factors over two times: the likelihood makes Taylor and exact differences differ.
fn fhmm(values: usize) -> Fhmm {
    Fhmm::simulate(2, if values == 2 { 2 } else { 1 }, values, 5).unwrap()
}

/// The tiny machine that the golden numbers below are for.
fn rbm() -> Rbm {
    let weight = [0.5, -0.3, 0.8, 0.1, 0.9, -0.7, -0.6, 0.4, 0.2, 0.3, -0.5, 1.0];
    let visible_bias = [0.1, -0.2, 0.3, 0.0, 0.5, -0.4];
    Rbm::new(3, &weight, &[0.2, -0.1], &visible_bias, None).unwrap()
}

/// Makes a check on every tiny model, whatever its type.
macro_rules! on_all_models {
    (|$name:ident, $model:ident| $body:block) => {{
        fn check<M: Model>($name: &str, $model: &M) $body
        check("ising", &ising());
        check("potts", &potts());
        check("a graph", &graph());
        check("independent bits", &Independent::bernoulli(vec![0.5, -1.5, 2.0]).unwrap());
        check("independent values", &Independent::categorical(3, &[0.1, 0.9, -1.0, 0.4, 0.0, 1.3]).unwrap());
        check("a binary fhmm", &fhmm(2));
        check("an fhmm of three values", &fhmm(3));
        for incremental in [false, true] {
            check("a binary table", &Table::new(4, 2, incremental));
            check("a table of three values", &Table::new(3, 3, incremental));
        }
    }};
}

/// The jump process: where it jumps through, it does in proportion to π over the time it stays.
fn check_jumps<M: Model, K: Kernel<M>>(name: &str, model: &M, kernel: &K, tolerance: f64) {
    let times = all_states(model.space()).into_iter().map(|state| {
        let mut memory = kernel.new_memory(model, 1);
        let mut position = Position::new(state, model.space().sites());
        kernel.start(1.0, model, &mut position, &mut memory).unwrap();
        kernel.holding_time(&memory, 0).unwrap()
    });
    let mut jumped: Vec<f64> = probabilities(model).iter().zip(times).map(|(p, t)| p / t).collect();
    let total: f64 = jumped.iter().sum();
    jumped.iter_mut().for_each(|p| *p /= total);
    let p = transitions(model, kernel, |_| 1.0);
    let (invariance, balance) = (invariance_error(&jumped, &p), balance_error(&jumped, &p));
    assert!(invariance < tolerance, "{name}: the law of the jumps is off by {invariance:e}");
    assert!(balance < tolerance, "{name}: detailed balance of the jumps is off by {balance:e}");
    assert!(p.iter().enumerate().all(|(x, row)| row[x] == 0.0), "{name}: a jump changes something");
}

#[test]
fn the_jump_process_counts_states_by_the_time_it_stays() {
    on_all_models!(|name, model| {
        for weight in Weight::ALL {
            check_jumps(name, model, &Jumps { weight, closeness: ALIKE }, SINGLE);
            if LocalChange::suits(model, Differences::Exact) {
                check_jumps(name, model, &LocalJumps { weight, closeness: ALIKE }, DOUBLE);
            }
        }
    });
}

#[test]
fn ordinal_values_keep_every_kernel_reversible() {
    on_all_models!(|name, model| {
        let closeness = Closeness::Ordinal { length: 0.7 };
        for weight in [Weight::Sqrt, Weight::Ratio] {
            for differences in BOTH {
                for formula in RowFormula::ALL.into_iter().filter(|f| *f != RowFormula::Exact) {
                    let kernel = Metropolis(Rows { formula, weight, differences, closeness });
                    check_reversible(name, model, &kernel, 0.6, SINGLE);
                }
                let kernel = Metropolis(PathProposal { weight, differences, closeness });
                check_reversible(name, model, &kernel, 1.0, SINGLE);
            }
            check_jumps(name, model, &Jumps { weight, closeness }, SINGLE);
            if LocalChange::suits(model, Differences::Exact) {
                let kernel = LocalChange { weight, closeness };
                check_reversible(name, model, &kernel, 1.0, DOUBLE);
                check_jumps(name, model, &LocalJumps { weight, closeness }, DOUBLE);
            }
        }
    });
}

#[test]
fn ordinal_rows_are_those_of_the_formulas() {
    let diff = [0.4, -0.9, 0.0, 1.3];
    let (state, space) = ([2u8], Space::new(1, 4).unwrap());
    for formula in RowFormula::ALL.into_iter().filter(|f| *f != RowFormula::Exact) {
        for weight in Weight::ALL {
            let closeness = Closeness::Ordinal { length: 1.5 };
            let rows = Rows { formula, weight, differences: Differences::Exact, closeness };
            let mut table = rows.new_table(&space);
            let single = diff.map(|diff| diff as f32);
            let exact = formula.log_row_between(&diff, 2, 0.05, weight, closeness);
            for (value, log) in exact.iter().enumerate() {
                let to = [value as u8];
                let found = rows.prepare(0.05, &state, &single, &mut table, &to, &());
                assert!((found - log).abs() < 1e-5, "{formula:?} {weight} {value}: {found} {log}");
            }
            // Not those of values that are all alike.
            let alike = formula.log_row(&diff, 2, 0.05, weight);
            assert!((alike[0] - exact[0]).abs() > 0.01);
        }
    }
}

const ALIKE: Closeness = Closeness::Equal;

const BOTH: [Differences; 2] = [Differences::Taylor, Differences::Exact];

#[test]
fn factorised_samplers_are_reversible() {
    on_all_models!(|name, model| {
        for formula in RowFormula::ALL {
            for weight in Weight::ALL {
                for differences in BOTH {
                    let kernel =
                        Metropolis(Rows { formula, weight, differences, closeness: ALIKE });
                    for scale in [0.05, 0.5, 5.0] {
                        let name = format!("{formula:?} {weight} on {name}");
                        check_reversible(&name, model, &kernel, scale, SINGLE);
                    }
                }
            }
        }
    });
}

#[test]
fn path_samplers_are_reversible() {
    on_all_models!(|name, model| {
        for weight in Weight::ALL {
            for differences in BOTH {
                let kernel = Metropolis(PathProposal { weight, differences, closeness: ALIKE });
                for radius in [1.0, 1.5, 2.0, 3.0] {
                    let name = format!("path {weight} on {name}");
                    check_reversible(&name, model, &kernel, radius, DOUBLE);
                }
            }
        }
    });
}

#[test]
fn local_changes_make_the_same_transitions_as_paths_of_one() {
    on_all_models!(|name, model| {
        let differences = Differences::Exact;
        if !LocalChange::suits(model, differences) {
            return;
        }
        for weight in Weight::ALL {
            let local = LocalChange { weight, closeness: ALIKE };
            check_reversible(&format!("local change on {name}"), model, &local, 1.0, DOUBLE);
            let local = transitions(model, &local, |_| 1.0);
            let whole = Metropolis(PathProposal { weight, differences, closeness: ALIKE });
            let whole = transitions(model, &whole, |_| 1.0);
            let error = local.iter().flatten().zip(whole.iter().flatten());
            let error = error.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // Whole evaluations hand over differences in single precision.
            assert!(error < SINGLE, "{weight} on {name}: {error:e}");
        }
    });
}

#[test]
fn random_walks_are_reversible() {
    on_all_models!(|name, model| {
        for radius in [1.0, 1.7, 3.0] {
            check_reversible(&format!("walk on {name}"), model, &RandomWalk, radius, DOUBLE);
        }
    });
}

#[test]
fn hamming_balls_and_blocks_are_reversible() {
    on_all_models!(|name, model| {
        check_reversible(&format!("block on {name}"), model, &Conditional(BlockGibbs), 1.0, DOUBLE);
        let one = Conditional(Gibbs(Scan::One));
        check_reversible(&format!("one site on {name}"), model, &one, 1.0, DOUBLE);
        if model.space().sites() < 5 {
            check_reversible(
                &format!("ball on {name}"),
                model,
                &Conditional(HammingBall),
                1.0,
                DOUBLE,
            );
        }
    });
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
    for weight in Weight::ALL {
        for differences in BOTH {
            let path = Metropolis(PathProposal { weight, differences, closeness: ALIKE });
            check_reversible("path", model, &path, 1.5, SINGLE);
            for formula in RowFormula::ALL {
                let rows = Metropolis(Rows { formula, weight, differences, closeness: ALIKE });
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
    let dlmc =
        |weight| Rows { formula: RowFormula::Interpolated, weight, differences, closeness: ALIKE };
    close(
        score(&dlmc(Weight::Sqrt), 0.5, (), ()),
        [-2.669441325266133, -2.68581936971286, -0.0632106751577135],
    );
    close(
        score(&dlmc(Weight::Ratio), 0.5, (), ()),
        [-3.652841790270469, -3.6323575387154743, -0.026348379155991974],
    );
    // The path visits site 0 and then site 1; scoring takes the path of the way there.
    let pas = PathProposal { weight: Weight::Sqrt, differences, closeness: ALIKE };
    close(
        score(&pas, 2.0, vec![(0, 2), (1, 0)], vec![(1, 1), (0, 0)]),
        [-1.296393857964531, -1.5026137342751922, -0.25305250702164783],
    );
}

#[test]
fn gibbs_sweeps_leave_the_distribution_alone() {
    on_all_models!(|name, model| {
        if model.space().sites() < 5 {
            let error = invariance_error(
                &probabilities(model),
                &transitions(model, &Conditional(Gibbs(Scan::Sweep)), |_| 1.0),
            );
            assert!(error < DOUBLE, "gibbs on {name}: {error:e}");
        }
    });
}

#[test]
fn sweeps_in_vector_loops_follow_the_law_of_sweeps_site_by_site() {
    const SWEEPS: usize = 200_000;
    for (number, lattice) in [
        Lattice::free(2, 3).unwrap(),
        Lattice::free(3, 3).unwrap(),
        Lattice::free(1, 7).unwrap(),
        Lattice::periodic(2, 4).unwrap(),
        Lattice::periodic(4, 2).unwrap(),
    ]
    .into_iter()
    .enumerate()
    {
        let field = (0..lattice.sites()).map(|i| (i as f32 * 1.7).sin()).collect();
        let model = Pairwise::ising_lattice(lattice, 0.35, field).unwrap();
        let space = *model.space();
        let start: Vec<u8> = (0..space.sites()).map(|site| u8::from(site % 3 == 0)).collect();
        let exact = transitions_from(&model, &Conditional(Gibbs(Scan::Sweep)), 1.0, &start);
        let mut rng = ChainRng::new(7, Stream::Chain(number as u64));
        let mut cache = model.new_cache(1);
        let mut counts = vec![0.0; exact.len()];
        for _ in 0..SWEEPS {
            let mut position = Position::new(start.clone(), space.sites());
            let sweep = model.sweep(position.state_mut(0), &mut cache, &mut rng).unwrap();
            position.log_prob[0] = sweep.log_prob;
            let report = StepReport { acceptance: 1.0, changed: sweep.changed, evaluations: 1 };
            check_bookkeeping(&model, &start, &position, report);
            counts[index_of(&space, position.state(0))] += 1.0;
        }
        for (count, probability) in counts.iter().zip(exact) {
            let expected = SWEEPS as f64 * probability;
            // Some 1,300 counts in all: six deviations are beyond chance.
            let deviation = expected.sqrt().max(1.0);
            let error: f64 = count - expected;
            assert!(error.abs() < 6.0 * deviation, "{lattice:?}: {count} {expected}");
        }
    }
    let odd = Lattice::periodic(3, 4).unwrap();
    let odd = Pairwise::ising_lattice(odd, 0.35, vec![0.0; 12]).unwrap();
    let mut rng = ChainRng::new(7, Stream::Chain(0));
    assert_eq!(odd.sweep(&mut [0; 12], &mut odd.new_cache(1), &mut rng), None);
}

#[test]
fn one_site_is_enough_for_every_kernel() {
    for values in [2, 3] {
        let model = Table::new(1, values, true);
        let (weight, differences) = (Weight::Sqrt, Differences::Exact);
        check_reversible("walk", &model, &RandomWalk, 1.0, DOUBLE);
        check_reversible("ball", &model, &Conditional(HammingBall), 1.0, DOUBLE);
        check_reversible("block", &model, &Conditional(BlockGibbs), 1.0, DOUBLE);
        check_reversible("gibbs", &model, &Conditional(Gibbs(Scan::Sweep)), 1.0, DOUBLE);
        let path = Metropolis(PathProposal { weight, differences, closeness: ALIKE });
        check_reversible("path", &model, &path, 1.0, DOUBLE);
        for formula in RowFormula::ALL {
            let rows = Metropolis(Rows { formula, weight, differences, closeness: ALIKE });
            check_reversible("rows", &model, &rows, 0.7, SINGLE);
        }
    }
}

/// The matrix that the f64 formulas give: rows of all sites, then Metropolis–Hastings.
fn reference_transitions<M: Model>(
    model: &M,
    formula: RowFormula,
    weight: Weight,
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
            let row = formula.log_row(&site_diff, own, h, weight);
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
            assert!((total - 1.0).abs() < 1e-12, "{formula:?} {weight}: rows sum to {total}");
            row[x] = 1.0 - row.iter().sum::<f64>();
            row
        })
        .collect()
}

#[test]
fn single_precision_rows_agree_with_the_formulas() {
    on_all_models!(|name, model| {
        let pi = probabilities(model);
        for formula in RowFormula::ALL {
            for weight in Weight::ALL {
                for h in [0.05, 0.5, 5.0] {
                    let differences = Differences::Taylor;
                    let reference = reference_transitions(model, formula, weight, differences, h);
                    assert!(invariance_error(&pi, &reference) < DOUBLE);
                    assert!(balance_error(&pi, &reference) < DOUBLE);
                    let kernel =
                        Metropolis(Rows { formula, weight, differences, closeness: ALIKE });
                    let real = transitions(model, &kernel, |_| h);
                    let error = reference.iter().flatten().zip(real.iter().flatten());
                    let error = error.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    assert!(error < SINGLE, "{formula:?} {weight} on {name}, h {h}: {error:e}");
                }
            }
        }
    });
}

#[test]
fn lb1_accepts_with_the_ratio_of_normalisers() {
    let model = Table::new(3, 3, false);
    let states = all_states(&model.space);
    let pi = probabilities(&model);
    let neighbours =
        |x: usize, y: usize| states[x].iter().zip(&states[y]).filter(|(a, b)| a != b).count() == 1;
    for weight in Weight::ALL {
        let differences = Differences::Exact;
        let p = transitions(
            &model,
            &Metropolis(PathProposal { weight, differences, closeness: ALIKE }),
            |_| 1.0,
        );
        let rate = |x: usize, y: usize| weight.log((pi[y] / pi[x]).ln()).exp();
        let z = |x: usize| -> f64 {
            (0..pi.len()).filter(|y| neighbours(x, *y)).map(|y| rate(x, y)).sum()
        };
        for x in 0..pi.len() {
            for y in (0..pi.len()).filter(|y| neighbours(x, *y)) {
                let expected = rate(x, y) / z(x) * (z(x) / z(y)).min(1.0);
                assert!((p[x][y] - expected).abs() < 1e-6, "{weight}: {} {expected}", p[x][y]);
            }
        }
    }
}

/// A proposal that forgets the way back.
struct NoReverse<P>(P);

impl<P: Proposal> Proposal for NoReverse<P> {
    type Table = P::Table;
    type Path = P::Path;

    fn new_table(&self, space: &Space) -> P::Table {
        self.0.new_table(space)
    }

    fn differences(&self) -> Differences {
        self.0.differences()
    }

    fn prepare(
        &self,
        scale: f64,
        from: &[u8],
        diff: &[f32],
        table: &mut P::Table,
        to: &[u8],
        path: &P::Path,
    ) -> f64 {
        self.0.prepare(scale, from, diff, table, to, path);
        0.0
    }

    fn draw(
        &self,
        scale: f64,
        state: &[u8],
        table: &mut P::Table,
        rng: &mut ChainRng,
        proposed: &mut [u8],
        path: &mut P::Path,
    ) -> f64 {
        self.0.draw(scale, state, table, rng, proposed, path);
        0.0
    }
}

#[test]
fn kernels_without_the_way_back_are_told_apart() {
    let (weight, differences) = (Weight::Sqrt, Differences::Taylor);
    for (sites, values) in [(4, 2), (3, 3)] {
        let model = Table::new(sites, values, false);
        let pi = probabilities(&model);
        for formula in RowFormula::ALL {
            let kernel =
                Metropolis(NoReverse(Rows { formula, weight, differences, closeness: ALIKE }));
            assert!(invariance_error(&pi, &transitions(&model, &kernel, |_| 0.5)) > 1e-3);
        }
        let kernel = Metropolis(NoReverse(PathProposal { weight, differences, closeness: ALIKE }));
        assert!(invariance_error(&pi, &transitions(&model, &kernel, |_| 2.0)) > 1e-3);
    }
}

#[test]
fn a_wrong_coupling_is_told_apart() {
    let lattice = Lattice::free(2, 2).unwrap();
    let model =
        |coupling| Pairwise::ising_lattice(lattice, coupling, vec![0.3, -0.7, 0.1, 1.1]).unwrap();
    let pi = probabilities(&model(0.41));
    for error in [
        invariance_error(&pi, &transitions(&model(0.4), &RandomWalk, |_| 1.0)),
        invariance_error(&pi, &transitions(&model(0.4), &Conditional(Gibbs(Scan::Sweep)), |_| 1.0)),
    ] {
        assert!(error > 1e-4, "{error:e}");
    }
}

#[test]
fn a_scale_that_follows_the_state_is_told_apart() {
    let model = Table::new(4, 2, false);
    let rows = Rows {
        closeness: ALIKE,
        formula: RowFormula::Interpolated,
        weight: Weight::Sqrt,
        differences: Differences::Taylor,
    };
    // As adaptation left on would do: the scale depends on where the chain is.
    let p = transitions(&model, &Metropolis(rows), |state| if state[0] == 0 { 0.2 } else { 2.0 });
    assert!(invariance_error(&probabilities(&model), &p) > 1e-3);
}
