//! Files of the field: exact answers against published ones, and sampled ones against these.

use crate::tools::formats;
use saltus::draws::observers::Marginals;
use saltus::exact::Exact;
use saltus::model::erased::Erased;
use saltus::zoo::read::evidence;
use saltus::zoo::{Building, FileSpec, Given, ModelSpec};
use saltus::{Model, ModelError, Run, Sampler, Settings, Space, Summary};
use std::path::Path;

/// The model of a file, given some of its sites.
fn model(path: &Path, evidence: &[(usize, u8)]) -> Result<Erased, ModelError> {
    let given = Given { evidence: evidence.to_vec(), ..Given::default() };
    let building = Building { given: Some(&given), ..Building::default() };
    Ok(ModelSpec::File(FileSpec::new(path)).build(&building)?.model)
}

fn solved(path: &Path, evidence: &[(usize, u8)]) -> Exact {
    Exact::new(&model(path, evidence).unwrap()).unwrap()
}

/// What a run of Gibbs gave.
struct Sampled {
    space: Space,
    table: saltus::MarginalTable,
    converged: bool,
}

fn sampled(path: &Path, evidence: &[(usize, u8)], draws: usize, seed: u64) -> Sampled {
    let model = model(path, evidence).unwrap();
    let settings = Settings { chains: 20, warmup: 200, draws, seed, ..Sampler::gibbs().into() };
    let outcome = Run::new(&model, settings).observer("marginals", Marginals).go().unwrap();
    assert!(outcome.ended.is_success(), "{}", outcome.ended);
    let table = outcome.observed::<Marginals>("marginals").unwrap();
    let converged = Summary::new("file", &outcome).converged;
    Sampled { space: model.shown_space().clone(), table: table.clone(), converged }
}

fn known(truth: &serde_json::Value) -> Vec<(usize, u8)> {
    let evidence = truth["evidence"].as_object().unwrap().iter();
    evidence.map(|(site, value)| (site.parse().unwrap(), value.as_u64().unwrap() as u8)).collect()
}

#[test]
fn exact_answers_are_the_published_ones() {
    let Some(folder) = formats("uai") else { return };
    let text = std::fs::read_to_string(folder.join("truth.json")).unwrap();
    let truth: serde_json::Value = serde_json::from_str(&text).unwrap();
    let truth = truth.as_object().unwrap();
    assert_eq!(truth.len(), 4);
    for (name, truth) in truth {
        let path = folder.join(format!("{name}.uai"));
        let given = known(truth);
        let file = folder.join(format!("{name}.uai.evid"));
        if file.exists() {
            let mut read = evidence(&std::fs::read(file).unwrap()).unwrap();
            read.sort_unstable();
            assert_eq!(read, given, "{name}");
        }
        let exact = solved(&path, &given);
        let log_z = truth["ln_z"].as_f64().unwrap();
        assert!((exact.log_z() - log_z).abs() < 1e-9, "{name}: {} {log_z}", exact.log_z());
        let expected: Vec<Vec<f64>> = serde_json::from_value(truth["marginals"].clone()).unwrap();
        let found = exact.marginals().iter().flatten().zip(expected.iter().flatten());
        assert_eq!(exact.marginals().len(), expected.len());
        for (found, expected) in found {
            assert!((found - expected).abs() < 1e-9, "{name}: {found} {expected}");
        }
    }
}

/// Where chains of one temperature cannot go between modes, the verdict must say so.
#[test]
fn sampled_marginals_are_the_exact_ones_or_the_verdict_says_so() {
    let Some(folder) = formats("uai") else { return };
    let mut agreed = Vec::new();
    let cases: [(&str, &[(usize, u8)]); 5] = [
        ("uai2022-1", &[]),
        ("uai2022-1", &[(0, 1), (4, 1), (5, 1)]),
        ("uai2022-2", &[]),
        ("asia", &[]),
        ("CSP_12", &[]),
    ];
    for (name, given) in cases {
        let path = folder.join(format!("{name}.uai"));
        let exact = solved(&path, given);
        for seed in 0..5 {
            let Sampled { table, converged, .. } = sampled(&path, given, 1000, seed);
            if !converged {
                continue;
            }
            agreed.push(name);
            let rows = table.mean.iter().zip(&table.spread).zip(exact.marginals());
            for (site, ((mean, error), exact)) in rows.enumerate() {
                for ((mean, error), exact) in mean.iter().zip(error).zip(exact) {
                    let apart = (mean - exact).abs();
                    let site = format!("{name}, seed {seed}, site {site}");
                    assert!(apart <= 4.0 * error, "{site}: {mean} ± {error}, {exact}");
                }
            }
        }
    }
    assert!(agreed.contains(&"CSP_12"), "{agreed:?}");
}

#[test]
fn every_other_network_is_read_and_starts_where_it_can() {
    if let Some(folder) = formats("uai") {
        for (name, sites) in
            [("ObjectDetection_11", 60), ("Promedus_11", 461), ("linkage_11", 1077)]
        {
            let path = folder.join(format!("{name}.uai"));
            let given = std::fs::read(folder.join(format!("{name}.uai.evid"))).unwrap();
            let given = evidence(&given).unwrap();
            let Sampled { space, table, .. } = sampled(&path, &given, 2, 0);
            assert_eq!(space.sites(), sites, "{name}");
            for (site, value) in given {
                assert_eq!(table.mean[site][usize::from(value)], 1.0, "{name}");
            }
        }
    }
    if let Some(folder) = formats("bif") {
        for (name, sites) in [("asia", 8), ("cancer", 5), ("alarm", 37), ("insurance", 27)] {
            let exact = solved(&folder.join(format!("{name}.bif.gz")), &[]);
            // Conditional probabilities, which are normalised.
            assert!(exact.log_z().abs() < 1e-6, "{name}: {}", exact.log_z());
            assert_eq!(exact.marginals().len(), sites);
        }
    }
}

#[test]
fn graphs_and_quadratic_models_are_read_or_refused() {
    if let Some(folder) = formats("gset") {
        for (name, sites) in [("G1", 800), ("G11", 800), ("G14", 800), ("G22", 2000)] {
            let Sampled { space, .. } = sampled(&folder.join(format!("{name}.txt")), &[], 2, 0);
            assert_eq!(space.sites(), sites, "{name}");
        }
    }
    if let Some(folder) = formats("dimod") {
        // x_i x_j biases 1 … 19 with linear 0, 6, 12, 18, 24: the least energy, 0, is that of no bit.
        let exact = solved(&folder.join("5x5_v1.bqm"), &[]);
        assert_eq!((exact.map_log_prob(), exact.marginals().len()), (0.0, 5));
        let refused = model(&folder.join("coo_qubo.qubo"), &[]).unwrap_err();
        assert!(refused.to_string().contains("line 1: expected 'p qubo"), "{refused}");
    }
}
