//! `saltus ais` on RBMs small enough to count.

use crate::common::{Folder, put_images_of_columns, saltus, summary, tensors};
use serde_json::Value;
use std::path::Path;

/// Three sites, two hidden units.
const WEIGHT: [f32; 6] = [1.5, -2.0, 0.5, -1.0, 2.5, 1.0];
const HIDDEN_BIAS: [f32; 2] = [0.5, -1.0];
const VISIBLE_BIAS: [f32; 3] = [0.2, -0.3, 0.1];

fn small_rbm() -> Vec<u8> {
    tensors(&[
        ("weight", &[2, 3], &WEIGHT),
        ("hidden_bias", &[2], &HIDDEN_BIAS),
        ("visible_bias", &[3], &VISIBLE_BIAS),
        ("data_mean", &[3], &[0.5, 0.2, 0.9]),
    ])
}

/// log π of a state, straight from the formula.
fn log_prob(state: usize) -> f64 {
    let on = |site: usize| (state >> site & 1) as f64;
    let visible: f64 = (0..3).map(|site| on(site) * f64::from(VISIBLE_BIAS[site])).sum();
    let hidden = (0..2).map(|unit| {
        let weights = (0..3).map(|site| on(site) * f64::from(WEIGHT[unit * 3 + site]));
        (1.0 + (f64::from(HIDDEN_BIAS[unit]) + weights.sum::<f64>()).exp()).ln()
    });
    visible + hidden.sum::<f64>()
}

fn exact_log_z() -> f64 {
    (0..8).map(|state| log_prob(state).exp()).sum::<f64>().ln()
}

/// One test image of 1×3 pixels.
fn put_one_image(folder: &str, pixels: [u8; 3]) {
    let mut bytes = vec![0, 0, 8, 3];
    bytes.extend([1u32, 1, 3].iter().flat_map(|size| size.to_be_bytes()));
    bytes.extend(pixels);
    std::fs::write(Path::new(folder).join("t10k-images-idx3-ubyte"), bytes).unwrap();
}

fn number(json: &Value, key: &str) -> f64 {
    json[key].as_f64().unwrap_or_else(|| panic!("{key} in {json}"))
}

fn without_times(mut json: Value) -> Value {
    let object = json.as_object_mut().unwrap();
    assert!(object.remove("seconds").is_some() && object.remove("threads").is_some());
    json
}

#[test]
fn estimates_surround_the_exact_number() {
    let folder = Folder::new();
    let file = folder.file("rbm.safetensors", small_rbm());
    let data = folder.path("");
    put_one_image(&data, [0, 255, 255]);
    let options = "--chains 300 --temperatures 200 --exact";
    let json = summary(&format!("ais {file} {options} --data {data} --dataset mnist"));
    let exact = exact_log_z();
    assert!((number(&json, "log_z_exact") - exact).abs() < 1e-6, "{json}");
    for (estimate, error) in [("log_z", "log_z_se"), ("log_z_reverse", "log_z_reverse_se")] {
        let (found, error) = (number(&json, estimate), number(&json, error));
        assert!(error > 0.0 && error < 0.02, "{estimate}: {error}");
        assert!((found - exact).abs() < 5.0 * error, "{estimate}: {found} ± {error}, {exact}");
    }
    // Black, white, white is state 0b110.
    let likelihood = log_prob(6) - number(&json, "log_z");
    assert!((number(&json, "log_likelihood") - likelihood).abs() < 1e-6, "{json}");
    assert!((number(&json, "log_likelihood_exact") - (log_prob(6) - exact)).abs() < 1e-6);
    let bits = -likelihood / (3.0 * 2f64.ln());
    assert!((number(&json, "bits_per_dim") - bits).abs() < 1e-6, "{json}");
    let effective = number(&json, "effective_chains");
    assert!(effective > 200.0 && effective <= 300.0, "{effective}");
    assert_eq!((&json["model"], &json["complete"]), (&"rbm".into(), &true.into()));
    assert_eq!((&json["sampler"], &json["reverse_from"]), (&"alternating".into(), &"exact".into()));
    assert_eq!((&json["hidden"][0], &json["images"]), (&2.into(), &1.into()));

    let ran = saltus(&format!("ais {file} {options} --data {data} --dataset mnist"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    for part in ["log Z", "in reverse", "exact", "effective chains", "log-likelihood", "bits per"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let narrow = |line: &str| line.chars().count() <= 80 || line.contains("rbm.safetensors");
    assert!(ran.out.lines().all(narrow), "{}", ran.out);
}

#[test]
fn any_sampler_moves_the_chains() {
    let folder = Folder::new();
    let file = folder.file("rbm.safetensors", small_rbm());
    let exact = exact_log_z();
    for sampler in ["gwg", "dlmc --weight ratio", "gibbs", "pas --scale 2 --differences exact"] {
        let line = format!("ais {file} --chains 200 --temperatures 500 --sampler {sampler}");
        let json = summary(&line);
        let (found, error) = (number(&json, "log_z"), number(&json, "log_z_se"));
        assert!((found - exact).abs() < 5.0 * error + 1e-6, "{sampler}: {found} ± {error}");
        // Without images it goes back from states far from the base.
        assert!(json["log_z_reverse"].is_number() && json["log_likelihood"].is_null());
        let acceptance = number(&json, "acceptance");
        assert!(acceptance > 0.2 && acceptance <= 1.0, "{sampler}: {acceptance}");
    }
}

#[test]
fn threads_do_not_matter() {
    let folder = Folder::new();
    let file = folder.file("rbm.safetensors", small_rbm());
    let json = |threads| {
        let line = format!("ais {file} --chains 50 --temperatures 100 --exact --threads {threads}");
        without_times(summary(&line))
    };
    assert_eq!(json(1), json(3));
}

#[test]
fn a_stopped_run_goes_on_to_the_same_numbers() {
    let folder = Folder::new();
    let file = folder.file("rbm.safetensors", small_rbm());
    let kept = folder.path("kept");
    for sampler in ["alternating", "dlmc"] {
        let options = format!("--chains 30 --temperatures 40000 --exact --sampler {sampler}");
        let line = format!("ais {file} {options} --json --quiet");
        let whole = without_times(saltus(&line).json());
        let mut stops = 0;
        let found = loop {
            // Longer each time: tuning, which begins again if it is stopped, must once be done.
            let limit = 60 + 20 * stops;
            let ran = saltus(&format!("{line} --checkpoint {kept} --time-limit {limit}ms"));
            let json = ran.json();
            if ran.code == 0 {
                break json;
            }
            assert_eq!((ran.code, &json["complete"]), (3, &false.into()), "{}", ran.err);
            assert!(json["log_z"].is_null(), "{json}");
            stops += 1;
            assert!(stops < 1000);
        };
        assert!(stops > 0, "{sampler}");
        assert_eq!(without_times(found), whole);
        // What is complete is told again at once.
        let again = saltus(&format!("{line} --checkpoint {kept}"));
        assert_eq!((again.code, without_times(again.json())), (0, whole));
        let other = saltus(&format!("{line} --checkpoint {kept} --seed 1"));
        assert_eq!((other.code, other.out.as_str()), (1, ""));
        assert!(other.err.contains("with other settings; without "), "{}", other.err);
        std::fs::remove_file(&kept).unwrap();
    }
    let line = format!("ais {file} --chains 30 --temperatures 4000000 --time-limit 1s");
    let ran = saltus(&format!("{line} --checkpoint {kept}"));
    assert_eq!(ran.code, 3);
    let said = |out: &str| out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said(&ran.out).contains("the same command goes on"), "{}", ran.out);
    std::fs::remove_file(&kept).unwrap();
    // So short a time ends while scales are tuned.
    let options = "--chains 30 --sampler dlmc --time-limit 0.001ms";
    let ran = saltus(&format!("ais {file} {options} --checkpoint {kept}"));
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(said(&ran.out).contains("nothing is kept, the same command begins"), "{}", ran.out);
    assert!(!Path::new(&kept).exists());
}

#[test]
fn a_checkpoint_is_only_gone_on_with_from_the_same_starts() {
    let folder = Folder::new();
    let file = folder.file("rbm.safetensors", small_rbm());
    let data = folder.path("");
    let options = format!("--chains 1 --temperatures 20 --checkpoint {}", folder.path("kept"));
    let line = format!("ais {file} {options} --data {data} --dataset mnist --json --quiet");
    put_one_image(&data, [0, 255, 255]);
    assert_eq!(saltus(&line).code, 0);
    put_one_image(&data, [255, 0, 255]);
    let other = saltus(&line);
    assert_eq!((other.code, other.out.as_str()), (1, ""));
    assert!(other.err.contains("its reverse chains started from other states"), "{}", other.err);
}

#[test]
fn a_place_that_takes_no_checkpoint_is_noticed_before_the_work() {
    let folder = Folder::new();
    let file = folder.file("rbm.safetensors", small_rbm());
    // A file is no folder.
    let ran = saltus(&format!("ais {file} --checkpoint {file}/kept --json --quiet"));
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("cannot write "), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
}

#[test]
fn a_weight_function_that_is_not_used_is_said() {
    let folder = Folder::new();
    let file = folder.file("rbm.safetensors", small_rbm());
    let line = format!("ais {file} --chains 5 --temperatures 20 --sampler gibbs --weight ratio");
    let ran = saltus(&format!("{line} --json --quiet"));
    assert_eq!(ran.code, 0);
    assert_eq!(ran.err, "saltus: gibbs has no balancing function, --weight ratio is not used\n");
}

#[test]
fn one_chain_each_way_raises_no_alarm() {
    let folder = Folder::new();
    let file = folder.file("rbm.safetensors", small_rbm());
    let ran = saltus(&format!("ais {file} --chains 1 --temperatures 2 --exact"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!ran.out.contains('•'), "{}", ran.out);
}

#[test]
fn a_network_is_learnt_and_bounded() {
    let folder = Folder::new();
    let data = folder.path("");
    put_images_of_columns(Path::new(&data), &["train", "t10k"]);
    let training = format!("--data {data} --dataset mnist --batch 20 --method pcd");
    let (bottom, network) = (folder.path("bottom.safetensors"), folder.path("net.safetensors"));
    let learnt = summary(&format!(
        "train rbm {training} --steps 5 --hidden 6 --epochs 30 --learning-rate 0.02 \
         --final-learning-rate 0.002 --out {bottom}"
    ));
    assert_eq!((&learnt["model"], number(&learnt, "final_learning_rate")), (&"rbm".into(), 0.002));
    let line = format!("train dbn --bottom {bottom} {training} --steps 5 --hidden 9 --epochs 20");
    let learnt = summary(&format!("{line} --learning-rate 0.02 --out {network}"));
    assert_eq!((&learnt["model"], &learnt["below"]), (&"dbn".into(), &6.into()));
    assert_eq!((&learnt["hidden"], &learnt["visible"]), (&9.into(), &30.into()));
    assert!(Path::new(&folder.path("net-samples.png")).is_file());
    assert!(!Path::new(&folder.path("net-filters.png")).exists());

    let ais = "--chains 100 --temperatures 300 --exact";
    let images = format!("--data {data} --dataset mnist");
    let one = summary(&format!("ais {bottom} {ais} {images}"));
    let two = summary(&format!("ais {network} {ais} {images}"));
    assert_eq!((&two["model"], &two["hidden"]), (&"dbn".into(), &serde_json::json!([6, 9])));
    assert_eq!(two["log_likelihood_is_bound"], true);
    for json in [&one, &two] {
        let gap = number(json, "log_z") - number(json, "log_z_exact");
        assert!(gap.abs() < 5.0 * number(json, "log_z_se") + 1e-5, "{json}");
        // Five images make up the data: no distribution finds them likelier than 1/5.
        let likelihood = number(json, "log_likelihood");
        assert!(likelihood < -(5f64.ln()) && likelihood > -15.0, "{likelihood}");
    }
    let from_data = summary(&format!("ais {network} --chains 20 --temperatures 50 {images}"));
    assert_eq!(from_data["reverse_from"], "data");
    assert!(from_data["log_z_reverse"].is_number());

    let failed = [
        (format!("train dbn --bottom {network} {training} --out x"), "is a network already"),
        (format!("train dbn --bottom {data}/none {training} --out x"), "none: cannot be read"),
        (
            format!(
                "train dbn --bottom {} {training} --out x",
                folder.file("small.safetensors", small_rbm())
            ),
            "30 sites of 2 values, but the RBM has 3 of 2",
        ),
    ];
    for (line, sentence) in failed {
        let ran = saltus(&line);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{line}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{line}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
}

#[test]
fn what_cannot_be_estimated_is_refused_in_a_sentence() {
    let folder = Folder::new();
    let rbm = small_rbm();
    let file = folder.file("rbm.safetensors", &rbm);
    let data = folder.path("");
    put_images_of_columns(Path::new(&data), &["t10k"]);
    let usage = [
        ("--temperatures 1", "at least 2 temperatures, got 1"),
        ("--chains 0", "at least 1, got 0"),
        ("--sampler dlcm", "did you mean 'dlmc'?"),
        ("--weight ratio", "--weight is about samplers"),
        ("--sampler gibbs --scale 3", "gibbs has no scale"),
        ("--sampler pas --scale 4", "a number of sites from 1 to 3"),
        ("--chains 9999999999999", "GiB of memory"),
        ("--data x", "--dataset"),
        ("--dataset mnist", "--data"),
        ("--dataset minst --data x", "did you mean 'mnist'?"),
    ];
    for (options, sentence) in usage {
        let ran = saltus(&format!("ais {file} {options}"));
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{options}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{options}: {}", ran.err);
    }
    let large = tensors(&[
        ("weight", &[26, 1], &[0.1; 26]),
        ("hidden_bias", &[26], &[0.0; 26]),
        ("visible_bias", &[1], &[0.0]),
    ]);
    let large = folder.file("large.safetensors", large);
    let ran = saltus(&format!("ais {large} --exact"));
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("at most 25 hidden units, the RBM has 26"), "{}", ran.err);

    let cut = folder.file("cut.safetensors", &rbm[..rbm.len() - 3]);
    let infinite = tensors(&[
        ("weight", &[1, 2], &[1.0, f32::INFINITY]),
        ("hidden_bias", &[1], &[0.0]),
        ("visible_bias", &[2], &[0.0, 0.0]),
    ]);
    let infinite = folder.file("infinite.safetensors", infinite);
    let half = tensors(&[
        ("top.weight", &[1, 1], &[1.0]),
        ("top.hidden_bias", &[1], &[0.0]),
        ("top.visible_bias", &[1], &[0.0]),
    ]);
    let half = folder.file("half.safetensors", half);
    let picture = folder.file("picture", "P5 28 28 255 and so on");
    let checkpoint = format!("{file} --checkpoint {picture}");
    let failed = [
        (format!("{data}/none"), "none: cannot be read"),
        (cut, "is not a whole safetensors file"),
        (infinite, "weight[1] is inf"),
        (half, "has no tensor bottom.hidden_bias"),
        (picture.clone(), "is of no format that is known by its content"),
        (
            format!("{file} --data {data} --dataset mnist"),
            "3 sites of 2 values, but images of mnist have 6×5",
        ),
        (format!("{file} --data {data} --dataset fashion-mnist"), "no images of fashion-mnist"),
        (checkpoint, "picture is damaged: it is not a checkpoint of saltus ais"),
    ];
    for (line, sentence) in failed {
        let ran = saltus(&format!("ais {line}"));
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{line}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{line}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
}

#[test]
fn an_rbm_by_name_has_layers_and_an_exact_sum_as_one_of_a_file() {
    let line = "ais rbm --visible 10 --hidden 4 --chains 200 --temperatures 500";
    let json = summary(&format!("{line} --exact"));
    assert_eq!((&json["sampler"], &json["hidden"]), (&"alternating".into(), &vec![4].into()));
    let exact = number(&json, "log_z_exact");
    for (words, sampler) in
        [("", "alternating"), ("--sampler layers", "alternating"), ("--sampler dlmc", "dlmc")]
    {
        let json = summary(&format!("{line} {words}"));
        assert_eq!(json["sampler"], sampler);
        let (found, error) = (number(&json, "log_z"), number(&json, "log_z_se"));
        assert!(
            (found - exact).abs() < 5.0 * error + 1e-6,
            "{sampler}: {found} ± {error}, {exact}"
        );
    }
}

#[test]
fn models_by_name_are_looked_back_from() {
    let line = "ais ising --size 4 --coupling 0.3 --field 0 --chains 100 --temperatures 300";
    let json = saltus(&format!("{line} --json --quiet")).json();
    assert_eq!(
        (&json["reverse_from"], &json["findings"]),
        (&"found".into(), &serde_json::json!([]))
    );
    let (lower, upper) = (json["lower"].as_f64().unwrap(), json["upper"].as_f64().unwrap());
    let exact = saltus("exact ising --size 4 --coupling 0.3 --field 0 --json").json();
    let exact = exact["log_z"].as_f64().unwrap();
    assert!(lower < exact && exact < upper, "{lower} {exact} {upper}");
    // So few temperatures that chains are left behind.
    let hurried = "ais ising --size 6 --coupling 1.5 --field 0 --chains 100 --temperatures 4";
    let json = saltus(&format!("{hurried} --json --quiet")).json();
    let codes: Vec<&str> = json["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["code"].as_str().unwrap())
        .collect();
    assert!(!codes.is_empty() && json["warnings"][0].as_str().unwrap().contains("try"), "{json}");
    let of_log_z =
        saltus("log-z ising --size 4 --coupling 0.3 --field 0 --method ais --json --quiet").json();
    assert!(of_log_z["upper"].as_f64().unwrap() > exact && of_log_z["findings"].is_array());
}
