//! `--sampler auto`: what is chosen, told, stored and kept.

use crate::common::{Folder, saltus, summary};
use serde_json::Value;

const MAGNET: &str = "sample ising --size 16 --periodic --coupling 0.5 --draws 3000";

fn tried(json: &Value) -> Vec<&str> {
    let trials = json["choice"]["trials"].as_array().unwrap();
    trials.iter().map(|trial| trial["sampler"].as_str().unwrap()).collect()
}

#[test]
fn a_magnet_is_sampled_by_clusters_for_any_number_of_threads() {
    let json = summary(&format!("{MAGNET} --threads 1"));
    assert_eq!(json["sampler"], "sw", "{}", json["choice"]);
    let names = tried(&json);
    assert!(["gibbs", "sw", "dlmc"].iter().all(|name| names.contains(name)), "{names:?}");
    let other = summary(&format!("{MAGNET} --threads 2"));
    assert_eq!((&json["choice"], &json["log_prob"]), (&other["choice"], &other["log_prob"]));
}

/// Chains of single sites never leave their mode; clusters turn as a whole. The choice is the same however long the run is.
#[test]
fn ordered_magnets_are_sampled_by_clusters_at_every_length() {
    for (model, run) in [
        ("ising --size 16 --periodic --field 0 --coupling 0.6", "--chains 20 --draws 500"),
        ("ising --size 16 --periodic --field 0 --coupling 0.6", "--chains 20 --draws 2000"),
        ("ising --size 16 --periodic --field 0 --coupling 0.6", "--chains 100 --draws 500"),
        ("ising --size 16 --periodic --field 0 --coupling 0.4407", "--chains 100 --draws 500"),
        ("potts --size 12x12 --values 3 --coupling 1.005 --periodic", "--draws 1000"),
        ("potts --size 12x12 --values 3 --coupling 1.005 --periodic", "--draws 5000"),
    ] {
        for seed in [0, 1] {
            let json = summary(&format!("sample {model} {run} --seed {seed}"));
            assert_eq!(json["sampler"], "sw", "{model} {run} {seed}: {}", json["choice"]);
            assert!(tried(&json).contains(&"sw") && tried(&json).len() > 1, "{}", json["choice"]);
        }
    }
}

/// No sampler of one temperature gets from one mode of these to another: a ladder does, also in short runs.
#[test]
fn models_of_several_modes_get_a_ladder() {
    let Some(folder) = crate::tools::formats("uai") else { return };
    let uai = |name: &str| folder.join(name).display().to_string();
    let given = |name: &str| {
        let model = uai(name);
        format!("file {model} --evidence {model}.evid --draws 500")
    };
    for model in [
        given("uai2022-1.uai"),
        given("uai2022-2.uai"),
        format!("file {} --draws 500", uai("asia.uai")),
        "ising --size 6x6x6 --periodic --coupling 0.8 --disorder pm --draws 1000".to_owned(),
    ] {
        for seed in [0, 1] {
            let json = summary(&format!("sample {model} --seed {seed}"));
            assert!(json["choice"]["temper"].is_object(), "{model} {seed}: {}", json["choice"]);
        }
    }
}

#[test]
fn short_runs_have_samplers_that_suit_the_model() {
    let short = "--chains 32 --draws 20";
    for (model, sampler) in [
        ("rbm --visible 30 --hidden 10", "layers"),
        ("ising --size 6 --fixed-sum 12", "gibbs"),
        ("bernoulli", "gibbs"),
        ("ising --size 16 --periodic --coupling 0.5", "sw"),
        // Clusters do not grow, and fields hold them.
        ("ising --size 16 --periodic --coupling 0.2", "gibbs"),
        ("ising --size 16 --periodic --coupling 0.5 --field 0.1", "gibbs"),
    ] {
        let json = summary(&format!("sample {model} {short}"));
        assert_eq!(json["sampler"], sampler, "{model}: {}", json["choice"]);
    }
}

#[test]
fn what_can_be_set_is_about_dlmc() {
    let short = "--size 6 --chains 4 --warmup 50 --draws 20";
    let json = summary(&format!("sample ising {short} --scale 0.1"));
    assert_eq!((&json["sampler"], &json["choice"]), (&"dlmc".into(), &Value::Null));
    let ran = saltus(&format!("sample ising {short} --sampler auto --scale 0.1"));
    assert!(ran.code == 2 && ran.err.contains("--sampler auto knows of no --scale"), "{}", ran.err);
}

#[test]
fn a_run_goes_on_with_what_was_chosen() {
    let folder = Folder::new();
    let (whole, part) = (folder.path("whole"), folder.path("part"));
    let line = MAGNET.replace("--draws 3000", "");
    assert_eq!(saltus(&format!("{line} --draws 60 --out {whole} --quiet")).code, 0);
    let first = saltus(&format!("{line} --draws 40 --out {part} --quiet --json")).json();
    let extended = saltus(&format!("sample --resume {part} --extend 20 --quiet --json")).json();
    assert_eq!((&first["choice"], &first["sampler"]), (&extended["choice"], &extended["sampler"]));
    assert_eq!(extended["draws"], 60);
    let files = |store: &str| {
        let mut files = crate::folder::content(store.as_ref());
        files.retain(|name, _| name.starts_with("posterior"));
        files
    };
    assert_eq!(files(&whole), files(&part));
}

#[test]
fn clusters_refuse_what_is_frustrated() {
    let ran = saltus("sample ising --size 6x6 --disorder pm --sampler sw --chains 2 --draws 5");
    assert!(ran.code == 2 && ran.err.contains("frustrated"), "{} {}", ran.code, ran.err);
    let ran = saltus("sample ising --size 6 --sampler layers --chains 2 --draws 5");
    assert!(ran.code == 2 && ran.err.contains("layers is for RBMs"), "{} {}", ran.code, ran.err);
}
