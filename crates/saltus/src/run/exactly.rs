//! Exact means of what a run observes, where they can be had for next to nothing: its draws have to agree with them.

use super::MAGNETISATION;
use crate::control::Seconds;
use crate::draws::observable::{Count, Hamming, Observable};
use crate::draws::trace::{HAMMING, LOG_PROB};
use crate::exact::{by_elimination, of_all_states};
use crate::model::Model;
use std::collections::BTreeMap;
use std::time::Duration;

/// Counted nanoseconds that it may take.
const MOST_WORK: f64 = 5e8;
/// What it may take by the clock, of models that are slower than they are counted: a share of the run, and seconds at least and at
/// most.
const PATIENCE: (f64, f64, f64) = (0.25, 0.5, 60.0);

/// How long it is waited for after a run that took so long.
pub(super) fn patience(run: Seconds) -> Duration {
    let (share, least, most) = PATIENCE;
    Duration::from_secs_f64((share * (run.warmup + run.draws)).max(least).min(most))
}

/// What a run observes of the states that it shows.
pub(super) struct Watched<'w> {
    /// The states that distances are measured to.
    pub(super) references: &'w [Hamming],
    /// Further observables, by name.
    pub(super) named: Vec<(&'w str, &'w dyn Observable)>,
}

impl Watched<'_> {
    /// The exact means of as many of these as can be had, and of log π, under π^β.
    pub(super) fn exact_means<M: Model>(
        &self,
        model: &M,
        beta: f64,
        go_on: impl FnMut() -> bool,
    ) -> BTreeMap<String, f64> {
        let listed = self.by_listing(model, beta, go_on);
        listed.or_else(|| self.by_elimination(model, beta)).unwrap_or_default()
    }

    fn observables(&self) -> impl Iterator<Item = (String, &dyn Observable)> {
        let reference = |number: usize| match number {
            0 => HAMMING.to_owned(),
            _ => format!("{HAMMING}_{}", number + 1),
        };
        let references = self.references.iter().enumerate();
        let distances = references.map(move |(n, one)| (reference(n), one as &dyn Observable));
        distances.chain(self.named.iter().map(|(name, one)| ((*name).to_owned(), *one)))
    }

    fn by_listing<M: Model>(
        &self,
        model: &M,
        beta: f64,
        go_on: impl FnMut() -> bool,
    ) -> Option<BTreeMap<String, f64>> {
        let (names, all): (Vec<String>, Vec<&dyn Observable>) = self.observables().unzip();
        let observe = |state: &[u8], log_prob: f64, numbers: &mut [f64]| {
            numbers[0] = log_prob;
            let others = numbers[1..].iter_mut().zip(&all);
            others.for_each(|(number, observable)| *number = observable.value(state));
        };
        let means = of_all_states(model, beta, MOST_WORK, 1 + all.len(), observe, go_on)?;
        let names = [LOG_PROB.to_owned()].into_iter().chain(names);
        Some(names.zip(means).filter(|(_, mean)| mean.is_finite()).collect())
    }

    /// Those that are sums over sites, by marginals.
    fn by_elimination<M: Model>(&self, model: &M, beta: f64) -> Option<BTreeMap<String, f64>> {
        let (mean, exact) = by_elimination(model, beta, MOST_WORK)?;
        let is_sum = |name: &str| name == MAGNETISATION || name.starts_with(HAMMING);
        let sums = self.observables().filter(|(name, _)| is_sum(name));
        let means = sums.filter_map(|(name, one)| Some((name, mean_of(one.as_count()?, &exact))));
        Some(means.chain([(LOG_PROB.to_owned(), mean)]).collect())
    }
}

/// The mean of a count that is its own observable up to a factor and a constant.
fn mean_of(count: &dyn Count, exact: &crate::exact::Exact) -> f64 {
    let zeros = vec![0; exact.marginals().len()];
    let (at_zeros, at_next) = (count.count(&zeros), count.count(&zeros) + 1);
    let (here, slope) =
        (count.value_of(at_zeros), count.value_of(at_next) - count.value_of(at_zeros));
    let of_site = |(site, marginal): (usize, &Vec<f64>)| -> f64 {
        let values = marginal.iter().enumerate().skip(1);
        values.map(|(value, p)| p * count.change(site, 0, value as u8) as f64).sum()
    };
    here + slope * exact.marginals().iter().enumerate().map(of_site).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::observable::Magnetisation;
    use crate::model::callable::Callable;
    use crate::model::clamped::Clamped;
    use crate::model::lattice::Lattice;
    use crate::model::pairwise::Pairwise;
    use crate::space::Space;

    fn means<M: Model>(model: &M, beta: f64) -> [BTreeMap<String, f64>; 2] {
        let sites = model.shown_space().sites();
        let references = [vec![0; sites], vec![1; sites]].map(Hamming);
        let spins = Magnetisation { sites };
        let watched = Watched { references: &references, named: vec![(MAGNETISATION, &spins)] };
        [
            watched.by_listing(model, beta, || true).unwrap(),
            watched.by_elimination(model, beta).unwrap(),
        ]
    }

    #[test]
    fn both_ways_find_what_a_formula_says() {
        // Two spins in fields h and g that do not see each other: means tanh h and tanh g.
        let alone = Pairwise::ising(&[], vec![0.3, -0.8]).unwrap();
        let (m, n) = (0.3f32.tanh() as f64, -0.8f32.tanh() as f64);
        for found in means(&alone, 1.0) {
            assert!((found[MAGNETISATION] - (m + n) / 2.0).abs() < 1e-6, "{found:?}");
            // Distances to all down and to all up.
            assert!((found["hamming"] - (1.0 + (m + n) / 2.0)).abs() < 1e-6);
            assert!((found["hamming_2"] - (1.0 - (m + n) / 2.0)).abs() < 1e-6);
            assert!((found[LOG_PROB] - (0.3 * m - 0.8 * n)).abs() < 1e-6);
        }
    }

    #[test]
    fn both_ways_agree_at_every_temperature_and_where_sites_are_fixed() {
        let fields = (0..9).map(|site| 0.1 * site as f32 - 0.3).collect();
        let spins = Pairwise::ising_lattice(Lattice::free(3, 3).unwrap(), 0.7, fields).unwrap();
        let fixed = Clamped::new(spins, &[(4, 0), (8, 1)]).unwrap();
        for beta in [0.3, 1.0, 2.0] {
            let [listed, eliminated] = means(&fixed, beta);
            assert_eq!(listed.len(), 4);
            for (name, mean) in &listed {
                assert!((mean - eliminated[name]).abs() < 1e-6, "{name} at {beta}");
            }
        }
    }

    #[test]
    fn what_would_take_long_or_is_stopped_is_not_known() {
        let lattice = Lattice::periodic(40, 40).unwrap();
        let large = Pairwise::ising_lattice(lattice, 0.1, vec![0.0; 1600]).unwrap();
        let nothing = Watched { references: &[], named: Vec::new() };
        assert!(nothing.exact_means(&large, 1.0, || true).is_empty());
        let few = Pairwise::ising(&[], vec![0.0; 3]).unwrap();
        assert_eq!(nothing.by_listing(&few, 1.0, || false), None);
        assert!(nothing.by_listing(&few, 1.0, || true).is_some());
    }

    #[test]
    fn a_function_of_a_user_is_not_asked_for_all_states() {
        let space = Space::new(3, 2).unwrap();
        let of_user = Callable::new(space, |_, _| panic!("asked for states that no chain is in"));
        let nothing = Watched { references: &[], named: Vec::new() };
        assert!(nothing.exact_means(&of_user, 1.0, || true).is_empty());
    }
}
