//! What a run observes: its own observables, those from files, and single sites.

use crate::common::{Folder, saltus, saltus_with, summary};
use serde_json::Value;

const QUICK: &str = "--size 4 --chains 4 --warmup 100 --draws 200";

fn observable<'a>(json: &'a Value, name: &str) -> &'a Value {
    let all = json["observables"].as_array().unwrap();
    all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name}: {json}"))
}

#[test]
fn every_observable_is_judged() {
    let json = summary(&format!("sample ising {QUICK} --coupling 0.2"));
    let names = [
        "log_prob",
        "energy",
        "hamming",
        "hamming_2",
        "hamming_3",
        "magnetisation",
        "sites_changed",
    ];
    for name in names {
        let found = observable(&json, name);
        assert_eq!(found["movement"], "moving");
        for key in ["mean", "sd", "mcse", "ess_bulk", "ess_tail", "rhat"] {
            assert!(found[key].is_number(), "{name} {key}: {found}");
        }
    }
    let mean = |name| observable(&json, name)["mean"].as_f64().unwrap();
    assert!((mean("log_prob") + mean("energy")).abs() < 1e-9);
    assert_eq!(json["site_counts"]["moving"], 16);
    assert!(json["overlap"]["at_lag"].is_number());
    // A spin is up or down; of four values nobody says which is up.
    let json = summary(&format!("sample potts {QUICK}"));
    let all = json["observables"].as_array().unwrap();
    assert!(all.iter().all(|one| one["name"] != "magnetisation"));
}

#[test]
fn weights_from_a_file_are_summed_up() {
    let folder = Folder::new();
    // A field so strong that every spin is up.
    let line = "sample ising --size 4 --coupling 0 --field 50 --sampler gibbs --chains 2 \
                --warmup 10 --draws 20";
    let file = folder.file("weights.txt", "0 0.5\n3 1 10 # if it is up\n4 0 100 # if it is down\n");
    let json = summary(&format!("{line} --observe corner={file}"));
    let corner = observable(&json, "corner");
    assert_eq!((&corner["mean"], &corner["movement"]), (&10.5.into(), &"constant".into()));
    assert_eq!(corner["rhat"], Value::Null);
    assert_eq!(json["site_counts"]["constant"], 16);
}

#[test]
fn observables_that_cannot_be_are_refused() {
    let folder = Folder::new();
    let good = folder.file("good.txt", "0 1");
    let bad = folder.file("bad.txt", "0 1\n16 1");
    let cases = [
        ("corner".to_owned(), 2, "expected NAME=FILE"),
        (format!("hamming={good}"), 2, "named 'hamming' already"),
        (format!("magnetisation={good}"), 2, "named 'magnetisation' already"),
        (format!("draw={good}"), 2, "named 'draw' already"),
        (format!("a/b={good}"), 2, "is not a name"),
        (format!("corner={bad}"), 1, "line 2: names site 16, but the last site is 15"),
        ("corner=no/such/file".to_owned(), 1, "no/such/file: cannot be read"),
    ];
    for (observe, code, sentence) in cases {
        let out = folder.file("unused", "").replace("unused", "run");
        let words = format!("sample ising {QUICK} --quiet --out {out} --observe {observe}");
        let ran = saltus(&words);
        assert_eq!(ran.code, code, "{observe}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{observe}: {}", ran.err);
        assert!(!std::path::Path::new(&out).exists(), "{observe}");
    }
}

#[test]
fn single_sites_are_judged_in_memory_and_from_a_store() {
    let folder = Folder::new();
    let run = folder.file("unused", "").replace("unused", "run");
    let line = format!("sample ising {QUICK} --coupling 0.2 --per-site");
    let json = summary(&line);
    let sites = json["per_site"].as_array().unwrap();
    assert_eq!(sites.len(), 16);
    assert!(sites.iter().all(|site| site["ess_bulk"].as_f64().unwrap() > 1.0));
    let stored = summary(&format!("{line} --out {run} --keep bits"));
    assert_eq!(stored["per_site"], json["per_site"]);
    let text = saltus(&format!("{line} --quiet"));
    assert!(text.out.contains("16 sites moved, 0 are frozen, 0 constant"), "{}", text.out);
    let refused = saltus(&format!("{line} --out {run}2"));
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("--keep states or --keep bits"), "{}", refused.err);
}

#[test]
fn observables_survive_a_stop() {
    let folder = Folder::new();
    let weights = folder.file("weights.txt", "0 1\n5 -2\n");
    let [whole, parts] =
        ["whole", "parts"].map(|name| folder.file("unused", "").replace("unused", name));
    let line = "sample ising --size 4 --chains 3 --warmup 50 --json --quiet";
    let observe = format!("--observe corner={weights}");
    let expected = saltus(&format!("{line} {observe} --draws 3000 --out {whole}")).json();
    assert_eq!(saltus(&format!("{line} {observe} --draws 1100 --out {parts}")).code, 0);
    let resumed =
        saltus_with(&["sample", "--resume", &parts, "--extend", "1900", "--json", "--quiet"])
            .json();
    for key in ["observables", "site_counts", "overlap", "log_prob", "ess"] {
        assert_eq!(resumed[key], expected[key], "{key}");
    }
}

#[test]
fn a_comparison_is_drawn() {
    let folder = Folder::new();
    let [svg, png] =
        ["bars.svg", "bars.png"].map(|name| folder.file("unused", "").replace("unused", name));
    let line = format!("compare ising {QUICK} --samplers gwg,dlmc --quiet");
    let ran = saltus(&format!("{line} --plot {svg} --plot {png}"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains(&svg) && ran.out.contains(&png), "{}", ran.out);
    let drawing = std::fs::read_to_string(&svg).unwrap();
    for words in ["effective draws per evaluation", "effective draws per second", ">gwg<", ">dlmc<"]
    {
        assert!(drawing.contains(words), "{words}");
    }
    assert!(std::fs::read(&png).unwrap().starts_with(b"\x89PNG"));
    for wrong in ["bars.pdf", "no/such/folder/bars.svg"] {
        let ran = saltus(&format!("{line} --plot {wrong}"));
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.out.is_empty() && ran.err.contains(wrong), "{}", ran.err);
    }
}
