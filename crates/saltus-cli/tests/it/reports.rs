//! What people read: lists, tables, comparisons, pictures.

use crate::common::saltus;

#[test]
fn the_list_names_everything_once() {
    let ran = saltus("list");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let names = [
        "bernoulli",
        "categorical",
        "ising",
        "potts",
        "fhmm",
        "rbm",
        "file",
        "pairwise",
        "rwm",
        "hb",
        "bg",
        "gibbs",
        "sw",
        "wolff",
        "layers",
        "lb1",
        "gwg",
        "pas",
        "dmala",
        "dlmcf",
        "dlmc",
        "dld",
        "sqrt",
        "ratio",
        "min",
        "max",
        "sum",
    ];
    for name in names {
        let lines = ran.out.lines().filter(|line| line.starts_with(&format!("  {name} ")));
        assert_eq!(lines.count(), 1, "{name}");
    }
    let json = saltus("list --json").json();
    let models = if cfg!(feature = "deep") { 9 } else { 8 };
    for (key, count) in [("models", models), ("samplers", 14), ("weights", 5), ("solvers", 3)] {
        let entries = json[key].as_array().unwrap();
        assert_eq!(entries.len(), count, "{key}");
        assert!(entries.iter().all(|entry| !entry["description"].as_str().unwrap().is_empty()));
    }
}

#[test]
fn a_sample_is_summed_up_in_words() {
    let ran = saltus(
        "sample ising --size 6x8 --coupling 0.3 --sampler dlmc --chains 5 --warmup 300 --draws 9000",
    );
    assert_eq!(ran.code, 0);
    let expected = [
        "Ising model on a 6x8 lattice, coupling 0.3 and no field",
        "48 sites × 2 values",
        "dlmc, balancing function sqrt",
        "5, each with 300 steps of warm-up and 9000 draws",
        "acceptance",
        "step size",
        "effective draws",
        "R-hat",
        "log π",
        "No warnings",
    ];
    for words in expected {
        assert!(ran.out.contains(words), "{words}: {}", ran.out);
    }
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
}

#[test]
fn a_stuck_chain_is_a_warning_not_a_failure() {
    // Five hundred to one against every change: nothing moves in ten steps.
    let ran = saltus(
        "sample ising --size 3 --coupling 500 --field 50 --sampler gwg --chains 2 --warmup 50 --draws 10",
    );
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("2 of 2 chains are stuck"), "{}", ran.out);
}

#[test]
fn a_weight_that_changes_nothing_is_mentioned() {
    let ran = saltus(
        "sample ising --size 3 --sampler gibbs --weight ratio --chains 2 --warmup 5 --draws 50",
    );
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("--weight ratio is not used"), "{}", ran.err);
}

#[test]
fn a_comparison_has_a_line_per_sampler_in_the_given_order() {
    let line = "compare potts --size 4 --samplers pas,gibbs,dlmc --chains 3 --warmup 50 --draws 50";
    let ran = saltus(line);
    assert_eq!(ran.code, 0);
    let starts: Vec<&str> =
        ran.out.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let header = starts.iter().position(|word| *word == "sampler").unwrap();
    assert_eq!(starts[header + 1..header + 4], ["pas", "gibbs", "dlmc"]);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);

    let json = saltus(&format!("{line} --json --quiet")).json();
    assert_eq!(json["model"], "potts");
    let samplers: Vec<&str> = json["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["sampler"].as_str().unwrap())
        .collect();
    assert_eq!(samplers, ["pas", "gibbs", "dlmc"]);
}

#[test]
fn a_comparison_without_a_list_compares_six() {
    let line = "compare bernoulli --sites 10 --chains 2 --warmup 10 --draws 10 --json --quiet";
    let json = saltus(line).json();
    let samplers: Vec<&str> = json["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["sampler"].as_str().unwrap())
        .collect();
    assert_eq!(samplers, ["rwm", "gwg", "pas", "dmala", "dlmcf", "dlmc"]);
}

#[test]
fn a_comparison_equals_its_single_runs() {
    let options = "ising --size 5 --chains 3 --warmup 100 --draws 100 --json --quiet";
    let compared = saltus(&format!("compare {options} --samplers gwg,dmala")).json();
    let single = saltus(&format!("sample {options} --sampler dmala")).json();
    for key in ["log_prob", "ess", "scale", "acceptance", "rhat"] {
        assert_eq!(compared["runs"][1][key], single[key], "{key}");
    }
}

#[test]
fn a_picture_shows_the_last_state() {
    // A field so strong that every spin is up.
    let options = "--coupling 0 --field 50 --chains 1 --warmup 20 --draws 20";
    let ran = saltus(&format!("sample ising --size 4x6 {options} --sampler gibbs --picture"));
    assert!(ran.out.contains("last state of chain 0\n██████\n██████\n"), "{}", ran.out);
    let ran = saltus(&format!("sample ising --size 4x6 {options} --sampler gibbs"));
    assert!(!ran.out.contains('█'), "{}", ran.out);
}

#[test]
fn a_mosaic_shows_the_last_states_of_all_chains() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("last.png");
    let options = "--coupling 0 --field 50 --chains 4 --warmup 20 --draws 20 --sampler gibbs";
    let line = format!("sample ising --size 4x6 {options} --mosaic {}", path.display());
    assert_eq!(saltus(&line).code, 0);
    let file = std::io::BufReader::new(std::fs::File::open(&path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    // Two by two lattices of 24 spins, four pixels each, all up.
    assert_eq!(pixels.iter().filter(|pixel| **pixel == 255).count(), 4 * 24 * 4);
    assert_eq!(pixels.iter().filter(|pixel| **pixel == 0).count(), 0);
    for (model, path, sentence) in [
        ("bernoulli --sites 5", "x.png", "rows and columns, which those of bernoulli have not"),
        ("ising", "x.jpg", "ends in neither"),
        ("ising", "x.svg", "must end in .png"),
        ("ising", "/nowhere/x.png", "there is no folder /nowhere"),
    ] {
        let ran = saltus(&format!("sample {model} --mosaic {path}"));
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{model}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{}", ran.err);
    }
}

#[test]
fn the_screen_has_one_measure_of_worth_and_ends_with_the_verdict() {
    let ran = saltus(
        "sample ising --size 6 --coupling 0.2 --field 0 --chains 5 --warmup 300 --draws 2000 --picture \
         --sampler gibbs",
    );
    assert_eq!(ran.code, 0);
    let words = |word: &str| ran.out.matches(word).count();
    assert_eq!((words("effective draws"), words("ESS"), words("bulk")), (1, 0, 0), "{}", ran.out);
    for line in ["energy", "hamming: sites that differ from a fixed random state"] {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
    let at = |text: &str| ran.out.find(text).unwrap_or_else(|| panic!("{text}: {}", ran.out));
    assert!(at("R-hat") < at("last state of chain 0") && at("last state") < at("No warnings"));
}

#[test]
fn figures_that_mean_nothing_are_not_given() {
    // Chains of a cold lattice, up and down.
    let cold = "ising --size 6 --coupling 1.2 --field 0 --chains 12 --warmup 500 --draws 1000";
    let ran = saltus(&format!("sample {cold} --sampler gibbs"));
    assert!(ran.out.contains("nothing can be said: the chains do not agree"), "{}", ran.out);
    let json = saltus(&format!("compare {cold} --samplers gibbs --json --quiet")).json();
    let run = &json["runs"][0];
    assert!(run["ess_per_second"].is_null() && run["ess_per_evaluation"].is_null(), "{run}");
    let ran = saltus(&format!("compare {cold} --samplers gibbs"));
    assert!(ran.out.contains("gibbs  no agreement"), "{}", ran.out);
}

#[test]
fn one_chain_is_no_success_where_findings_count() {
    let line =
        "sample ising --size 4 --coupling 0.1 --field 0 --chains 1 --warmup 500 --draws 3000";
    let ran = saltus(&format!("{line} --strict"));
    assert_eq!(ran.code, 4);
    assert!(
        ran.out.contains("one chain cannot tell whether others would find the same"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("try --chains 4"), "{}", ran.out);
    let json = saltus(&format!("{line} --json --quiet")).json();
    assert_eq!(
        (&json["converged"], &json["findings"][0]["code"]),
        (&false.into(), &"one-chain".into())
    );
}
