//! `--json` prints one object with the keys that scripts rely on, the same for any threads.

use crate::common::{saltus, summary};
use serde_json::Value;

const QUICK: &str = "--size 6 --chains 4 --warmup 50 --draws 40";

#[test]
fn all_promised_keys_are_there() {
    // Chains that agree: what draws are worth per second is null where they do not.
    let target = "--coupling 0.1 --field 0.1";
    let line =
        format!("sample ising {QUICK} {target} --sampler dlmc --thin 2 --seed 5 --threads 1");
    let json = summary(&line);
    let keys = [
        "model",
        "sampler",
        "weight",
        "sites",
        "values",
        "chains",
        "warmup",
        "draws",
        "thin",
        "seed",
        "threads",
        "scale",
        "acceptance",
        "rhat",
        "ess",
        "evaluations_per_step",
        "ess_per_evaluation",
        "ess_per_second",
        "seconds",
        "ns_per_site_step",
        "log_prob",
        "sites_changed_per_step",
    ];
    for key in keys {
        assert!(!json[key].is_null(), "{key} is missing in {json}");
    }
    for (key, parts) in [
        ("ess", &["mean", "min", "sd"][..]),
        ("seconds", &["warmup", "draws"]),
        ("log_prob", &["mean", "sd", "mcse"]),
    ] {
        for part in parts {
            assert!(json[key][part].is_number(), "{key}.{part} is missing in {json}");
        }
    }
    let given = [
        ("model", Value::from("ising")),
        ("sampler", "dlmc".into()),
        ("weight", "sqrt".into()),
        ("sites", 36.into()),
        ("values", 2.into()),
        ("chains", 4.into()),
        ("warmup", 50.into()),
        ("draws", 40.into()),
        ("thin", 2.into()),
        ("seed", 5.into()),
        ("threads", 1.into()),
    ];
    for (key, value) in given {
        assert_eq!(json[key], value, "{key}");
    }
}

#[test]
fn nothing_but_the_object_goes_to_stdout() {
    let ran = saltus(&format!("sample ising {QUICK} --json"));
    assert_eq!(ran.code, 0);
    assert!(ran.json().is_object());
    assert!(ran.err.contains("Ising model on a 6x6 lattice"), "{}", ran.err);
}

/// The object without what depends on the clock or the number of threads.
fn without_timings(mut json: Value) -> Value {
    let object = json.as_object_mut().unwrap();
    for key in [
        "seconds",
        "threads",
        "ns_per_site_step",
        "ess_per_second",
        "ess_of_all_chains_per_second",
        "effective_draws_per_second",
    ] {
        object.remove(key).unwrap_or_else(|| panic!("{key} is missing"));
    }
    json
}

#[test]
fn threads_change_nothing_and_seeds_everything() {
    let lines = [
        format!("sample ising {QUICK} --sampler dlmc"),
        format!("sample potts {QUICK} --sampler gibbs"),
        "sample rbm --visible 20 --hidden 5 --chains 70 --warmup 30 --draws 20".to_owned(),
    ];
    for line in lines {
        let one = without_timings(summary(&format!("{line} --threads 1")));
        let two = without_timings(summary(&format!("{line} --threads 2")));
        assert_eq!(one, two, "{line}");
        for seed in ["--seed 1", "--model-seed 1"] {
            let other = without_timings(summary(&format!("{line} {seed}")));
            assert_ne!(one["log_prob"], other["log_prob"], "{line} {seed}");
        }
    }
}

#[test]
fn a_sampler_without_weight_or_scale_has_none() {
    let json = summary(&format!("sample ising {QUICK} --sampler gibbs"));
    assert!(json["weight"].is_null() && json["scale"].is_null(), "{json}");
    let json = summary(&format!("sample ising {QUICK} --sampler pas --scale 3 --weight ratio"));
    assert_eq!((&json["weight"], &json["scale"]), (&"ratio".into(), &3.0.into()));
}
