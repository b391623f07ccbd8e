//! Diagnostics agree with ArviZ on the same draws, to 1e-6.

use crate::tools::python;
use rand_distr::{Cauchy, Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use saltus::model::lattice::Lattice;
use saltus::model::pairwise::Pairwise;
use saltus::stats::{Movement, diagnose};
use saltus::{Method, Run, Settings};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

type Chains = Vec<Vec<f64>>;

#[test]
fn diagnostics_agree_with_arviz() {
    let Some(python) = python("arviz") else { return };
    let cases = cases();
    let file = tempfile::NamedTempFile::new().unwrap();
    serde_json::to_writer(file.as_file(), &cases).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/diagnose.py");
    let output = Command::new(python).arg(script).arg(file.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let theirs: BTreeMap<String, Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(theirs.len(), cases.len());
    let mut compared = 0;
    for (name, chains) in &cases {
        let ours = diagnose(chains);
        assert_eq!(ours.movement, Movement::Moving, "{name}");
        let ours = [
            ("mean", ours.mean),
            ("sd", ours.sd),
            ("mcse", ours.mcse),
            ("ess_bulk", ours.ess_bulk),
            ("ess_tail", ours.ess_tail),
            ("rhat", ours.rhat),
        ];
        for (key, ours) in ours {
            // Where both tails are constant ArviZ counts all draws, and saltus does not tell.
            let (Some(ours), Some(theirs)) = (ours, theirs[name][key].as_str()) else {
                assert!(key == "rhat" || key == "ess_tail", "{name} {key}");
                continue;
            };
            let theirs: f64 = theirs.parse().unwrap();
            if ours == theirs {
                compared += 1;
                continue;
            }
            let error = (ours - theirs).abs() / theirs.abs().max(1e-300);
            assert!(error < 1e-6, "{name} {key}: {ours} here, {theirs} in ArviZ");
            compared += 1;
        }
    }
    println!("{compared} values agree");
    assert!(compared > 5 * cases.len());
}

fn cases() -> BTreeMap<String, Chains> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut cases = BTreeMap::new();
    for (chains, draws) in [(4, 500), (2, 11), (3, 101), (5, 4), (2, 7), (1, 250), (8, 1000)] {
        for coefficient in [-0.7, 0.0, 0.5, 0.97] {
            let chains: Chains =
                (0..chains).map(|_| autoregressive(coefficient, draws, &mut rng)).collect();
            let size = format!("{} × {draws}, coefficient {coefficient}", chains.len());
            let turned = |turn: &dyn Fn(usize, f64) -> f64| -> Chains {
                let turned = chains.iter().enumerate();
                turned.map(|(k, c)| c.iter().map(|y| turn(k, *y)).collect()).collect()
            };
            cases.insert(format!("whole numbers, {size}"), turned(&|_, y| (3.0 * y).round()));
            cases.insert(format!("two values, {size}"), turned(&|_, y| f64::from(y > 0.3)));
            cases.insert(format!("rare value, {size}"), turned(&|_, y| f64::from(y > 1.4)));
            cases.insert(format!("different means, {size}"), turned(&|k, y| y + k as f64));
            cases.insert(format!("different widths, {size}"), turned(&|k, y| y * (1 + k) as f64));
            cases.insert(format!("far from zero, {size}"), turned(&|_, y| y + 1e6));
            cases.insert(format!("plain, {size}"), chains);
        }
    }
    let cauchy = Cauchy::new(0.0, 1.0).unwrap();
    let heavy = (0..4).map(|_| (0..300).map(|_| cauchy.sample(&mut rng)).collect()).collect();
    cases.insert("heavy tails".to_owned(), heavy);
    // One chain of several never moves.
    let mut one_stuck: Chains = (0..3).map(|_| autoregressive(0.5, 200, &mut rng)).collect();
    one_stuck.push(vec![0.25; 200]);
    cases.insert("one chain stuck".to_owned(), one_stuck);
    for method in [Method::Dlmc, Method::Gwg, Method::Rwm, Method::Gibbs] {
        for (name, chains) in draws_of_a_run(method) {
            cases.insert(format!("{method}, {name}"), chains);
        }
    }
    // What never moves has no diagnostics to compare.
    cases.retain(|_, chains| Movement::of(chains) == Movement::Moving);
    cases
}

fn autoregressive(coefficient: f64, draws: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    let mut value = 0.0;
    let mut step = || {
        let noise: f64 = StandardNormal.sample(rng);
        value = coefficient * value + noise;
        value
    };
    (0..draws).map(|_| step()).collect()
}

fn draws_of_a_run(method: Method) -> Vec<(String, Chains)> {
    let lattice = Lattice::periodic(8, 8).unwrap();
    let model = Pairwise::ising_lattice(lattice, 0.4, vec![0.05; 64]).unwrap();
    let settings = Settings {
        sampler: method.into(),
        chains: 5,
        warmup: 200,
        draws: 999,
        seed: 3,
        ..Settings::default()
    };
    let outcome = Run::new(&model, settings)
        .observe("first", |state: &[u8]| f64::from(state[0]))
        .observe("up", |state: &[u8]| state.iter().map(|value| f64::from(*value)).sum())
        .go()
        .unwrap();
    let names = outcome.trace.names().iter();
    names.map(|name| (name.clone(), outcome.trace.series(name).unwrap().to_vec())).collect()
}
