//! Errors of marginals, against marginals that are known.

use saltus::draws::observers::Marginals;
use saltus::{Independent, MarginalTable, Pairwise, Run, Sampler, Settings, model::graph::Edge};

fn settings(chains: usize, draws: usize, seed: u64) -> Settings {
    Settings { chains, warmup: 50, draws, seed, ..Sampler::gibbs().into() }
}

fn table<M: saltus::Model>(model: &M, settings: Settings) -> MarginalTable {
    let outcome = Run::new(model, settings).observer("marginals", Marginals).go().unwrap();
    outcome.observed::<Marginals>("marginals").unwrap().clone()
}

/// The spread of four chains' means is often far too small: of 50 runs with 20 sites each about one in forty is off by
/// more than four of it.
#[test]
fn four_chains_have_errors_that_hold() {
    // A field of one sign at every second spin of a ring, so that no symmetry helps; marginals by enumeration.
    let edges: Vec<Edge> =
        (0..12).map(|site| Edge { from: site, to: (site + 1) % 12, weight: 0.6 }).collect();
    let fields = (0..12).map(|site| 0.1 * (site % 2) as f32).collect();
    let ring = Pairwise::ising(&edges, fields).unwrap();
    let exact = saltus::exact::Exact::new(&ring).unwrap();
    for seed in 0..50 {
        let table = table(&ring, settings(4, 1000, seed));
        for (site, exact) in exact.marginals().iter().enumerate() {
            let (apart, error) = ((table.mean[site][1] - exact[1]).abs(), table.spread[site][1]);
            assert!(apart <= 4.0 * error, "seed {seed}, site {site}: {apart} {error}");
            // Nor are they larger than those of draws that are worth a tenth.
            let independent = (exact[0] * exact[1] / 4000.0).sqrt();
            assert!(error < 12.0 * independent, "seed {seed}, site {site}: {error}");
        }
    }
}

#[test]
fn values_that_were_never_seen_have_an_error_and_one_chain_has_none() {
    // P(1) is 3e-7 at the second site.
    let model = Independent::bernoulli(vec![0.0, -15.0]).unwrap();
    let found = table(&model, settings(4, 500, 1));
    assert_eq!(found.mean[1], [1.0, 0.0]);
    // The rule of three for at most 2000 independent draws: the root of 3/n · 1/n.
    let least = 3f64.sqrt() / 2000.0;
    assert!((0.9 * least..20.0 * least).contains(&found.spread[1][1]), "{found:?}");
    assert!(found.fewest.is_some_and(|(site, _, ess)| site == 0 && ess > 100.0), "{found:?}");
    let one = table(&model, settings(1, 500, 1));
    assert!(one.spread.iter().flatten().all(|error| error.is_nan()) && one.fewest.is_none());
}
