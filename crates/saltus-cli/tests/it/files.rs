//! Files where a model's name could stand, evidence, exact answers and what comes out of them.

use crate::common::{Folder, saltus, summary};

/// Two bits that like to differ, the first mostly one, and a number that depends on the second.
const NETWORK: &str =
    "MARKOV\n3\n2 2 3\n3\n1 0\n2 0 1\n2 1 2\n2 0.25 0.75\n4 1 3 3 1\n6 1 1 0 2 2 4\n";

#[test]
fn a_file_is_sampled_solved_and_given_evidence() {
    let folder = Folder::new();
    let path = folder.file("network.uai", NETWORK);
    // Z = Σ: by bits (0,0): .25·1·2, (0,1): .25·3·8, (1,0): .75·3·2, (1,1): .75·1·8.
    let z: f64 = 0.5 + 6.0 + 4.5 + 6.0;
    let exact = saltus(&format!("exact {path} --json")).json();
    assert!((exact["log_z"].as_f64().unwrap() - z.ln()).abs() < 1e-12, "{exact}");
    let one = exact["marginals"][0][1].as_f64().unwrap();
    assert!((one - 10.5 / z).abs() < 1e-12);
    assert_eq!(exact["map"]["state"].as_array().unwrap().len(), 3);
    let options = "--sampler gibbs --chains 20 --warmup 100 --draws 1000 --marginals --best 3";
    let sampled = summary(&format!("sample {path} {options}"));
    let (mean, se) = (&sampled["marginals"][0][1], &sampled["marginals_se"][0][1]);
    assert!((mean.as_f64().unwrap() - one).abs() < 4.0 * se.as_f64().unwrap(), "{mean} {se}");
    assert_eq!(sampled["marginals"][2].as_array().unwrap().len(), 3);
    assert_eq!(sampled["best_states"].as_array().unwrap().len(), 3);

    let evidence = folder.file("network.evid", "1\n1 1 0\n");
    for given in ["--clamp 1=0".to_owned(), format!("--evidence {evidence}")] {
        let exact = saltus(&format!("exact {given} {path} --json")).json();
        assert!((exact["log_z"].as_f64().unwrap() - 5f64.ln()).abs() < 1e-12, "{given}");
        assert_eq!(exact["marginals"][1][0], 1.0);
        assert_eq!(exact["marginals"][2][2], 0.0);
        let sampled = summary(&format!("sample {path} {options} {given}"));
        assert_eq!(sampled["marginals"][1][0], 1.0);
    }
    let mar = saltus(&format!("exact {path} --clamp 0=1 --uai MAR")).out;
    assert!(mar.starts_with("MAR\n3 2 0 1 2 "), "{mar}");
}

#[test]
fn states_come_out_and_files_are_converted() {
    let folder = Folder::new();
    let path = folder.file("edges.coo", "# vartype=SPIN\n0 1 -1\n1 2 -1\n");
    let uai = folder.path("edges.uai");
    assert_eq!(saltus(&format!("convert {path} {uai}")).code, 0);
    let [one, other] =
        [&path, &uai].map(|path| saltus(&format!("exact {path} --json")).json()["log_z"].as_f64());
    let expected = 2f64.ln() + 2.0 * (2.0 * 1f64.cosh()).ln();
    for log_z in [one, other] {
        assert!((log_z.unwrap() - expected).abs() < 1e-9, "{log_z:?} {expected}");
    }
    let draws = saltus(&format!("exact {path} --draws 5 --states - --uai MPE")).out;
    assert_eq!(draws.lines().count(), 7, "{draws}");
    let out = folder.path("run");
    summary(&format!("sample {path} --chains 2 --warmup 5 --draws 3 --out {out} --keep states"));
    let states = saltus(&format!("export {out} --states - --spins")).out;
    assert_eq!(states.lines().count(), 6, "{states}");
    assert!(states.split_whitespace().all(|word| ["-1", "1"].contains(&word)), "{states}");
}

/// One problem in five formats has one answer, and its states are pictures.
#[test]
fn arrays_polynomials_and_pictures() {
    let folder = Folder::new();
    let path = folder.file("terms.poly", "# vartype=SPIN\n0.5\n0 1 2 -1\n1 0.25\n");
    // E = 0.5 − s₀ s₁ s₂ + 0.25 s₁: the product and s₁ are independent.
    let expected = -0.5 + (4.0 * 1f64.cosh() * 2.0 * 0.25f64.cosh()).ln();
    let log_z = |path: &str| saltus(&format!("exact {path} --json")).json()["log_z"].as_f64();
    assert!((log_z(&path).unwrap() - expected).abs() < 1e-9);
    let uai = folder.path("terms.uai");
    assert_eq!(saltus(&format!("convert {path} {uai}")).code, 0);
    assert!((log_z(&uai).unwrap() - expected).abs() < 1e-9);
    let refused = saltus(&format!("convert {path} {}", folder.path("terms.qubo")));
    assert!(refused.code != 0 && refused.err.contains("no quadratic energy"), "{}", refused.err);

    let pairs =
        folder.file("pairs.coo", "# vartype=SPIN\n0 1 -1\n1 2 0.5\n2 3 -0.25\n0 0 0.5\n3 3 0\n");
    let expected = log_z(&pairs).unwrap();
    for ending in ["npz", "json", "bqm", "dca", "mtx"] {
        let out = folder.path(&format!("pairs.{ending}"));
        assert_eq!(saltus(&format!("convert {pairs} {out}")).code, 0);
        assert!((log_z(&out).unwrap() - expected).abs() < 1e-6, "{ending}");
    }
    let npz = folder.path("pairs.npz");
    let json = summary(&format!("sample {npz} --sampler gibbs --chains 4 --warmup 10 --draws 10"));
    assert!(json["description"].as_str().unwrap().contains("J is symmetric"), "{json}");

    let out = folder.path("run");
    let options = "--chains 2 --warmup 5 --draws 3 --keep states --marginals";
    summary(&format!("sample ising --size 3x4 {options} --out {out}"));
    let png = folder.path("states.png");
    assert_eq!(saltus(&format!("export {out} --states {png}")).code, 0);
    assert!(std::fs::read(&png).unwrap().starts_with(b"\x89PNG"));
    for array in ["posterior/row", "posterior/site", "sample_stats/energy", "sites/marginal_se"] {
        assert!(std::path::Path::new(&out).join(array).join("zarr.json").exists(), "{array}");
    }
    assert_eq!(saltus(&format!("sample --resume {out} --extend 2 --json")).code, 0);
    let flat = folder.path("flat");
    summary(&format!("sample {pairs} --chains 2 --warmup 5 --draws 3 --keep states --out {flat}"));
    let refused = saltus(&format!("export {flat} --states {}", folder.path("flat.png")));
    assert!(refused.code != 0 && refused.err.contains("rows and columns"), "{}", refused.err);
}

/// Three colours of two neighbours that should differ, as bits.
#[test]
fn groups_and_sums_are_kept_by_every_command() {
    let folder = Folder::new();
    let bits = folder.file("colours.coo", "0 3 1\n1 4 1\n2 5 1\n0 0 -0.5\n");
    let groups = folder.file("groups", "0 1 2\n3-5\n");
    // E = 1 where the colours agree, −0.5 where the first is colour 0.
    let bias = 0.5f64.exp();
    let z = (bias + 2.0) * (2.0 + (-1f64).exp());
    for groups in ["0-2,3-5", "every:3:6", &groups] {
        let exact = saltus(&format!("exact {bits} --one-hot {groups} --json")).json();
        assert!((exact["log_z"].as_f64().unwrap() - z.ln()).abs() < 1e-6, "{exact}");
        let first = exact["marginals"][0][1].as_f64().unwrap();
        assert!((first - bias / (bias + 2.0)).abs() < 1e-6);
    }
    let out = folder.path("run");
    let options = "--chains 20 --warmup 200 --draws 500 --seed 3";
    let kept = format!("--out {out} --keep states --marginals");
    let json = summary(&format!("sample {bits} --one-hot 0-2,3-5 {options} {kept}"));
    let (mean, se) = (&json["marginals"][0][1], &json["marginals_se"][0][1]);
    let expected = bias / (bias + 2.0);
    assert!((mean.as_f64().unwrap() - expected).abs() < 4.0 * se.as_f64().unwrap(), "{mean} {se}");
    // What goes on is the same model.
    assert_eq!(saltus(&format!("sample --resume {out} --extend 10 --json")).code, 0);
    let states = saltus(&format!("export {out} --states -")).out;
    assert_eq!(states.lines().count(), 20 * 510);
    for line in states.lines() {
        let bits: Vec<u8> = line.split(' ').map(|bit| bit.parse().unwrap()).collect();
        assert!(bits.chunks(3).all(|group| group.iter().sum::<u8>() == 1), "{line}");
    }
    let sums = format!("sample {bits} --fixed-sum 1:0-2,2:3-5 --clamp 4=1 {options} --best 1");
    let json = summary(&sums);
    assert_eq!((&json["sampler"], &json["converged"]), (&"gibbs".into(), &true.into()), "{json}");
    // The best is colour 0, and 1 with 2 above it.
    assert_eq!(json["best_states"][0]["state"], serde_json::json!([1, 0, 0, 0, 1, 1]));
    // What minimises keeps to them without being told how, and jumps with weights are judged in the bits.
    let ran =
        saltus(&format!("minimize {bits} --fixed-sum 1:0-2,2:3-5 --clamp 4=1 --json --quiet"));
    let found: serde_json::Value = serde_json::from_str(&ran.out).expect(&ran.err);
    assert_eq!(found["best"]["state"], serde_json::json!([1, 0, 0, 0, 1, 1]));
    let json = summary(&format!("sample {bits} --one-hot 0-2,3-5 --sampler dld {options}"));
    assert_eq!(json["sampler"], "dld");
    for (line, reason) in [
        ("--fixed-sum 7", "a sum cannot be 7"),
        ("--fixed-sum 2 --sampler dlmc", "cannot change alone"),
        ("--fixed-sum 2 --temper", "begin at independent sites"),
        ("--one-hot 0-6", "the last site is 5"),
        ("--one-hot 0-2 --fixed-sum 1:2-4", "it can only be in one"),
        ("--one-hot 0-2 --clamp 0=1,1=1", "only one can be"),
    ] {
        let ran = saltus(&format!("sample {bits} {line}"));
        assert!(
            ran.code != 0 && ran.err.contains(reason) && ran.out.is_empty(),
            "{line}: {}",
            ran.err
        );
    }
}

/// A network whose values are numbers that count from 1.
const DICE: &str = "// by hand\nnetwork{ }\nvariable A { type discrete [ 3 ] { 1, 2, 3 }; }\n\
    probability ( A ) { table 0.2, 0.3, 0.5; }\nvariable B { type discrete { t, f }; }\n\
    probability ( B | A ) { (1) 0.9, 0.1; (2) 0.4, 0.6; (3) 0.25, 0.75; }\n";

#[test]
fn values_are_called_as_the_file_calls_them() {
    let folder = Folder::new();
    let path = folder.file("dice.bif", DICE);
    for (given, expected) in [("A=1", 0.9), ("A=3", 0.25), ("0=2", 0.4)] {
        let exact = saltus(&format!("exact {path} --clamp {given} --json")).json();
        let found = exact["marginals"][1][0].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-12, "{given}: {found}");
    }
    let refused = saltus(&format!("exact {path} --clamp A=0"));
    assert!(refused.code != 0 && refused.err.contains("known: 1, 2, 3"), "{}", refused.err);
    let spins = folder.file("pair.coo", "# Vartype=Vartype.SPIN\n0 1 -1\n");
    let exact = saltus(&format!("exact {spins} --clamp 0=-1 --json")).json();
    let expected = 1.0 / (1.0 + (-2f64).exp());
    assert!((exact["marginals"][1][0].as_f64().unwrap() - expected).abs() < 1e-9, "{exact}");
}

#[test]
fn stdin_is_read_once_for_a_model_and_its_names() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args(["exact", "-", "--clamp", "A=2", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(DICE.as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert!((json["log_z"].as_f64().unwrap() - 0.3f64.ln()).abs() < 1e-12, "{json}");
}

#[test]
fn where_nothing_is_left_there_is_an_exact_answer() {
    let folder = Folder::new();
    let path = folder.file("network.uai", NETWORK);
    let all = "--clamp 0=1,1=0,2=2";
    // 0.75 · 3 · 0, and with the last at 0: 0.75 · 3 · 1.
    assert_ne!(saltus(&format!("exact {path} {all}")).code, 0);
    let all = "--clamp 0=1,1=0,2=0";
    let expected = 2.25f64.ln();
    let exact = saltus(&format!("exact {path} {all} --json")).json();
    assert!((exact["log_z"].as_f64().unwrap() - expected).abs() < 1e-12, "{exact}");
    assert_eq!(exact["map"]["state"], serde_json::json!([1, 0, 0]));
    let log_z = saltus(&format!("log-z {path} {all} --json")).json();
    assert!((log_z["log_z"].as_f64().unwrap() - expected).abs() < 1e-12, "{log_z}");
    let single = folder.file("single.uai", "MARKOV 2 1 1 1 2 0 1 1 3");
    let exact = saltus(&format!("exact {single} --json")).json();
    assert!((exact["log_z"].as_f64().unwrap() - 3f64.ln()).abs() < 1e-12, "{exact}");
    for line in [format!("sample {path} {all}"), format!("sample {single}")] {
        let refused = saltus(&line);
        assert!(refused.code != 0 && refused.err.contains("`saltus exact`"), "{}", refused.err);
    }
}

#[test]
fn couplings_of_files_keep_all_their_digits_where_answers_are_exact() {
    let folder = Folder::new();
    // A chain of spins: Z = 2 Π 2 cosh J, with couplings that single precision does not have.
    let weights: [f64; 3] = [0.1, -0.7, 1.3];
    let edges = weights.iter().enumerate().map(|(site, j)| format!("{site} {} {}\n", site + 1, -j));
    let coo = format!("# vartype=SPIN\n{}", edges.collect::<String>());
    let path = folder.file("chain.coo", coo);
    let expected: f64 = 2f64.ln() + weights.iter().map(|j| (2.0 * j.cosh()).ln()).sum::<f64>();
    let found = saltus(&format!("exact {path} --json")).json()["log_z"].as_f64().unwrap();
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
}

#[test]
fn what_is_printed_is_whole_and_not_mixed() {
    let folder = Folder::new();
    let path = folder.file("pair.coo", "# vartype=SPIN\n0 1 -1\n1 1 -0.5\n");
    let options = "--chains 2 --warmup 10 --draws 50 --best 2";
    let printed = saltus(&format!("sample {path} {options}")).out;
    let line = printed.lines().find(|line| line.contains("1.500000")).unwrap_or_default();
    assert!(line.contains("-1.500000") && line.ends_with("11"), "{printed}");
    let refused = saltus(&format!("exact {path} --draws 2 --states - --json"));
    assert!(refused.code != 0 && refused.out.is_empty() && refused.err.contains("into the JSON"));
    let spins = saltus(&format!("exact {path} --draws 9 --states - --spins --uai PR")).out;
    let states = spins.lines().filter(|line| line.split(' ').count() == 2);
    assert_eq!(states.filter(|line| line.contains('1')).count(), 9, "{spins}");
    assert!(!spins.lines().take(9).any(|line| line.contains('0')), "{spins}");
    let bits = folder.file("bits.coo", "0 0 3\n0 1 1\n");
    let matrix = folder.path("bits.mtx");
    let said = saltus(&format!("convert {bits} {matrix}")).out;
    // E = 3x + xy is 1.75 for a spin of either kind on average.
    assert!(said.contains("no place for a constant") && said.contains("-1.75 less"), "{said}");
}

#[test]
fn letters_are_those_of_each_site_and_one_chain_has_no_errors() {
    let folder = Folder::new();
    let text = "variable a { type discrete { x, y }; }\nvariable b { type discrete { p, q }; }\n\
        probability ( a ) { table 1, 0; }\nprobability ( b ) { table 0, 1; }\n";
    let path = folder.file("two.bif", text);
    let fasta = folder.path("two.fasta");
    assert_eq!(saltus(&format!("exact {path} --draws 1 --states {fasta}")).code, 0);
    assert_eq!(std::fs::read_to_string(fasta).unwrap(), ">sequence 1\nxq\n");
    let network = folder.file("network.uai", NETWORK);
    let options = "--chains 1 --warmup 10 --draws 50 --marginals";
    let json = summary(&format!("sample {network} {options}"));
    assert!(json["marginals_se"][0][0].is_null(), "{json}");
    let said = saltus(&format!("sample {network} {options}")).out;
    assert!(said.contains("± –"), "{said}");
}

#[test]
fn annealing_from_forbidden_states_names_the_ladder() {
    let folder = Folder::new();
    let path = folder.file("xor.uai", "MARKOV 3 2 2 2 2 2 0 1 2 1 2 4 0 1 1 0 4 0 1 1 0");
    let refused = saltus(&format!("log-z {path} --method ais"));
    assert!(refused.code != 0 && refused.err.contains("--method temper"), "{}", refused.err);
}
