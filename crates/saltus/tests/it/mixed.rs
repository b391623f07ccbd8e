//! Sites of different numbers of values, drawn by the vector loops that enumeration leaves out: nobody
//! asks for, proposes or draws a value that a site does not have.

use saltus::ais::{Ais, AisSettings};
use saltus::draws::observers::Marginals;
use saltus::rng::Stream;
use saltus::{
    Balancing, Base, ChainRng, Differences, Ended, Method, Model, ModelError, Run, Sampler,
    Settings, Space, States,
};

/// Independent sites that panic when they see a value which does not exist.
struct Guarded {
    base: Base,
    incremental: bool,
}

impl Guarded {
    /// From one to five values at more sites than a tile has, or bits of which a third cannot flip.
    fn new(most: usize, incremental: bool) -> Self {
        let cardinalities: Vec<usize> = (0..97).map(|site| 1 + (site * 7 + 3) % most).collect();
        let space = Space::mixed(&cardinalities).unwrap();
        let weights = (0..space.diff_len()).map(|entry| (entry as f32 * 1.7).sin());
        Self { base: Base::new(space, weights.collect()).unwrap(), incremental }
    }

    fn check(&self, state: &[u8]) {
        assert_eq!(self.base.space().misplaced(state), None);
    }

    /// The probability of a value.
    fn marginal(&self, site: usize, value: usize) -> f64 {
        let weight = |value: usize| f64::from(self.base.weight(site, value as u8)).exp();
        let values = self.base.space().values_at(site);
        if value < values { weight(value) / (0..values).map(weight).sum::<f64>() } else { 0.0 }
    }
}

impl Model for Guarded {
    type Cache = ();

    fn space(&self) -> &Space {
        self.base.space()
    }

    fn new_cache(&self, _chains: usize) {}

    fn log_prob(
        &self,
        states: States<'_>,
        (): &mut (),
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        for (state, log_prob) in states.rows().zip(log_prob) {
            self.check(state);
            *log_prob = self.base.log_prob(state);
        }
        Ok(())
    }

    fn is_incremental(&self) -> bool {
        self.incremental
    }

    fn site_diff(
        &self,
        state: &[u8],
        _chain: usize,
        (): &mut (),
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        self.check(state);
        assert_eq!(diff.len(), self.base.space().values_at(site));
        let weight = |value: u8| f64::from(self.base.weight(site, value));
        for (value, diff) in diff.iter_mut().enumerate() {
            *diff = weight(value as u8) - weight(state[site]);
        }
        Ok(())
    }

    fn log_prob_and_diff(
        &self,
        _kind: Differences,
        states: States<'_>,
        cache: &mut (),
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        self.log_prob(states, cache, log_prob)?;
        let space = self.base.space();
        // Whatever is written where a value does not exist, nobody reads it.
        diff.fill(7.0);
        for (state, diff) in states.rows().zip(diff.chunks_exact_mut(space.diff_len())) {
            for (site, own) in state.iter().enumerate() {
                let weight = |value: u8| self.base.weight(site, value);
                for value in 0..space.values_at(site) as u8 {
                    if space.is_binary() {
                        if value != *own {
                            diff[site] = weight(value) - weight(*own);
                        }
                    } else {
                        diff[usize::from(value) * space.sites() + site] =
                            weight(value) - weight(*own);
                    }
                }
            }
        }
        Ok(())
    }

    fn block_size(&self, _chains: usize) -> usize {
        3
    }
}

fn samplers() -> Vec<Sampler> {
    let mut samplers = Vec::new();
    for method in Method::ALL.iter().copied().filter(|method| method.is_general()) {
        let balancings =
            if method.is_balanced() { &Balancing::ALL[..] } else { &[Balancing::Sqrt] };
        for balancing in balancings.iter().copied() {
            samplers.push(Sampler { balancing, ..method.into() });
        }
    }
    samplers
}

#[test]
fn draws_references_and_marginals_know_only_the_values_there_are() {
    for (most, incremental) in [(5, false), (5, true), (2, false), (2, true)] {
        let model = Guarded::new(most, incremental);
        let space = model.space();
        for sampler in samplers() {
            let name = format!("{sampler} {} of {most}", sampler.balancing);
            let settings = Settings {
                chains: 8,
                warmup: 400,
                draws: 1200,
                seed: 3,
                ..Settings::from(sampler.clone())
            };
            let run = Run::new(&model, settings).references(3).keep_states();
            let outcome = run.observer("marginals", Marginals).go().unwrap();
            assert_eq!(outcome.ended, Ended::Complete, "{name}");
            for state in outcome.trace.states(7).chunks(space.sites()) {
                assert_eq!(space.misplaced(state), None, "{name}");
            }
            // A site that cannot change is never at a distance: references are states, too.
            let free = space.free_sites() as f64;
            for reference in ["hamming", "hamming_2", "hamming_3"] {
                let distances = outcome.trace.series(reference).unwrap().iter().flatten();
                assert!(distances.fold(0.0, |most: f64, one| most.max(*one)) <= free, "{name}");
            }
            let marginals = outcome.observed::<Marginals>("marginals").unwrap();
            // One site at a time comes to few of them in so many steps.
            let few = [Method::Rwm, Method::Hb, Method::Bg, Method::Gwg, Method::Lb1, Method::Dld];
            for (site, row) in marginals.mean.iter().enumerate() {
                for (value, found) in row.iter().enumerate() {
                    let exact = model.marginal(site, value);
                    if exact == 0.0 || exact == 1.0 {
                        assert!((found - exact).abs() < 1e-12, "{name}: {site} {value} {found}");
                    } else if !few.contains(&sampler.method) {
                        let close = (found - exact).abs() < 0.12;
                        assert!(close, "{name}: {site} {value} {found} {exact}");
                    }
                }
            }
        }
    }
}

#[test]
fn annealing_starts_and_stays_at_the_values_there_are() {
    let model = Guarded::new(5, false);
    let space = model.space();
    let base = Base::uniform(space);
    let mut rng = ChainRng::new(1, Stream::Chain(0));
    let mut state = vec![255; space.sites()];
    for _ in 0..200 {
        base.draw(&mut rng, &mut state);
        assert_eq!(space.misplaced(&state), None);
    }
    // log π is normalised.
    let settings = AisSettings { chains: 60, temperatures: 250, ..AisSettings::default() };
    let found = Ais::new(&model, settings).base(base).go().unwrap().forward.unwrap();
    let error = found.standard_error.unwrap();
    assert!(error < 0.3 && found.log_z.abs() < 5.0 * error, "{found:?}");
}
