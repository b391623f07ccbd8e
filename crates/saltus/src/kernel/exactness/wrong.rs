//! Kernels that are wrong on purpose: each must be told apart.

use super::models::Table;
use super::samplers::{law_of, name_of, one_of_each, path, rows};
use super::tools::{
    ALIKE, At, SINGLE, distance, invariance_error, probabilities, transitions, transitions_at,
};
use crate::balancing::Balancing;
use crate::base::Base;
use crate::error::StepError;
use crate::kernel::conditional::Conditional;
use crate::kernel::gibbs::{Gibbs, Scan};
use crate::kernel::metropolis::{Metropolis, Proposal};
use crate::kernel::random_walk::RandomWalk;
use crate::kernel::row::RowFormula;
use crate::kernel::{Chains, Kernel, KernelTraits, StepReport};
use crate::model::lattice::Lattice;
use crate::model::pairwise::Pairwise;
use crate::model::{Differences, Model};
use crate::rng::ChainRng;
use crate::space::{Space, States};
use std::sync::Arc;

/// A proposal that forgets the way back.
struct NoReverse<P>(P);

impl<P: Proposal> Proposal for NoReverse<P> {
    type Table = P::Table;
    type Path = P::Path;

    fn traits(&self, space: &Space) -> KernelTraits {
        self.0.traits(space)
    }

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
    let (balancing, differences) = (Balancing::Sqrt, Differences::Taylor);
    for (sites, values) in [(4, 2), (3, 3)] {
        let model = Table::new(sites, values, false);
        let pi = probabilities(&model);
        for formula in RowFormula::ALL {
            let kernel = Metropolis(NoReverse(rows(formula, balancing, differences, ALIKE)));
            assert!(invariance_error(&pi, &transitions(&model, &kernel, |_| 0.5)) > 1e-3);
        }
        let kernel = Metropolis(NoReverse(path(balancing, differences, ALIKE)));
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
    let rows = rows(RowFormula::Interpolated, Balancing::Sqrt, Differences::Taylor, ALIKE);
    // As adaptation left on would do: the scale depends on where the chain is.
    let p = transitions(&model, &Metropolis(rows), |state| if state[0] == 0 { 0.2 } else { 2.0 });
    assert!(invariance_error(&probabilities(&model), &p) > 1e-3);
}

/// What a kernel on a rung may get wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mistake {
    None,
    /// p^β π^β instead of p^(1−β) π^β.
    Share,
    /// The ratio of densities without that of the base.
    Ratio,
    /// Every site has all values.
    Mask,
}

/// Metropolis–Hastings for one chain on a rung, as plainly as can be, and with a mistake.
struct Plain<P> {
    proposal: P,
    mistake: Mistake,
}

/// A state, with its log density and the table of its proposals.
struct Place<T> {
    log_prob: f64,
    log_base: f64,
    log_density: f64,
    log_reverse: f64,
    table: T,
}

impl<P: Proposal> Plain<P> {
    fn look<M: Model>(
        &self,
        model: &M,
        chains: &Chains,
        (state, to): (&[u8], &[u8]),
        path: &P::Path,
    ) -> Place<P::Table> {
        let space = model.space();
        let mut diff = vec![0.0; space.diff_len()];
        let (mut log_prob, mut cache) = ([0.0], model.new_cache(1));
        let states = States::new(state, state.len());
        let kind = self.proposal.differences();
        model.log_prob_and_diff(kind, states, &mut cache, &mut log_prob, &mut diff).unwrap();
        let (base, beta) = (chains.base().unwrap(), chains.betas[0]);
        let share = if self.mistake == Mistake::Share { beta } else { 1.0 - beta };
        let sites = space.sites();
        for (entry, diff) in diff.iter_mut().enumerate().filter(|(_, diff)| diff.is_finite()) {
            let (site, own) = (entry % sites, state[entry % sites]);
            let value = if space.is_binary() { 1 - own } else { (entry / sites) as u8 };
            let of_base = base.weight(site, value) - base.weight(site, own);
            *diff = share as f32 * of_base + beta as f32 * *diff;
        }
        let whole;
        let table_space = if self.mistake == Mistake::Mask {
            diff.iter_mut().for_each(|diff| *diff = diff.max(-1.0));
            whole = Space::new(sites, space.values()).unwrap();
            &whole
        } else {
            space
        };
        let mut table = self.proposal.new_table(table_space);
        let scale = chains.scales[0];
        let log_reverse = self.proposal.prepare(scale, state, &diff, &mut table, to, path);
        let log_base = base.log_prob(state);
        let of_base = if self.mistake == Mistake::Ratio { 0.0 } else { share * log_base };
        let log_density = of_base + beta * log_prob[0];
        Place { log_prob: log_prob[0], log_base, log_density, log_reverse, table }
    }
}

impl<M: Model, P: Proposal> Kernel<M> for Plain<P> {
    type Scratch = ();
    type Own = ();

    fn traits(&self, model: &M) -> KernelTraits {
        self.proposal.traits(model.space())
    }

    fn new_scratch(&self, _model: &M, _chains: usize) {}

    fn start(&self, _: &M, chains: &mut Chains, (): &mut ()) -> Result<(), StepError> {
        chains.evaluate_base();
        Ok(())
    }

    fn step(&self, model: &M, chains: &mut Chains, (): &mut ()) -> Result<(), StepError> {
        let state = chains.state(0).to_vec();
        let mut here = self.look(model, chains, (&state, &state), &P::Path::default());
        let (mut proposed, mut path) = (state.clone(), P::Path::default());
        let rng = &mut chains.rngs[0];
        let (scale, table) = (chains.scales[0], &mut here.table);
        let log_forward = self.proposal.draw(scale, &state, table, rng, &mut proposed, &mut path);
        let there = self.look(model, chains, (&proposed, &state), &path);
        let log_ratio = there.log_density - here.log_density + there.log_reverse - log_forward;
        let accepted = crate::kernel::accept(0, log_ratio, &mut chains.rngs[0])?.1;
        let (place, now) = if accepted { (&there, &proposed) } else { (&here, &state) };
        (chains.log_prob[0], chains.log_base[0]) = (place.log_prob, place.log_base);
        let changed = state.iter().zip(now).filter(|(a, b)| a != b).count() as u32;
        chains.reports[0] = StepReport { acceptance: 1.0, changed, evaluations: 1 };
        chains.state_mut(0).copy_from_slice(now);
        Ok(())
    }
}

/// How far a plain kernel with a mistake is from keeping the density of a rung, and from the law of
/// the real kernel.
fn errors_of<P: Proposal>(proposal: impl Fn() -> P, mistake: Mistake, at: &At) -> (f64, f64) {
    let table = Table::mixed(&[3, 1, 2], false);
    let plain = transitions_at(&table, &Plain { proposal: proposal(), mistake }, at);
    let real = transitions_at(&table, &Metropolis(proposal()), at);
    (invariance_error(&at.density(&table), &plain), distance(&plain, &real))
}

/// Independent sites of [`errors_of`].
fn biased() -> Arc<Base> {
    let space = Space::mixed(&[3, 1, 2]).unwrap();
    let weights = (0..space.diff_len()).map(|entry| 1.1 * (entry as f32 * 2.3 + 0.7).sin());
    Arc::new(Base::new(space, weights.collect()).unwrap())
}

#[test]
fn mistakes_on_a_rung_are_told_apart() {
    let all = || rows(RowFormula::Interpolated, Balancing::Sqrt, Differences::Taylor, ALIKE);
    let some = || path(Balancing::Sqrt, Differences::Taylor, ALIKE);
    for beta in [0.0, 0.37, 1.0] {
        let at = At::rung(0.6, beta, &biased());
        let paths_at = At::rung(1.5, beta, &biased());
        let errors = |mistake| [errors_of(all, mistake, &at), errors_of(some, mistake, &paths_at)];
        // Without a mistake it is the real kernel by other code.
        for (error, distance) in errors(Mistake::None) {
            assert!(error < SINGLE && distance < SINGLE, "β {beta}: {error:e} {distance:e}");
        }
        for mistake in [Mistake::Share, Mistake::Ratio] {
            for (error, distance) in errors(mistake) {
                // At the model itself there is no base to forget.
                let harmless = beta == 1.0 && mistake == Mistake::Ratio;
                assert_eq!(error > 1e-3, !harmless, "{mistake:?}, β {beta}: {error:e}");
                assert_eq!(distance > 1e-3, !harmless, "{mistake:?}, β {beta}: {distance:e}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "is not a state")]
fn rows_without_a_mask_are_told_apart() {
    let all = || rows(RowFormula::Interpolated, Balancing::Sqrt, Differences::Exact, ALIKE);
    errors_of(all, Mistake::Mask, &At::rung(0.6, 0.37, &biased()));
}

#[test]
#[should_panic(expected = "is not a state")]
fn paths_without_a_mask_are_told_apart() {
    let some = || path(Balancing::Sqrt, Differences::Exact, ALIKE);
    errors_of(some, Mistake::Mask, &At::rung(1.5, 0.37, &biased()));
}

#[test]
fn the_density_of_another_rung_is_told_apart() {
    let table = Table::mixed(&[3, 1, 2], false);
    let (here, there) = (At::rung(0.6, 0.37, &biased()), At::rung(0.6, 0.4, &biased()));
    for sampler in one_of_each() {
        let law = law_of(&table, &sampler, &here);
        let error = invariance_error(&there.density(&table), &law);
        assert!(error > 1e-4, "{}: {error:e}", name_of(&sampler));
    }
}
