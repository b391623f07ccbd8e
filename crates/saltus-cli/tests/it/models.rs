//! Every model runs, and its options mean what they say: means of log π against exact sums.

use crate::common::{Folder, saltus, summary, tensors};
use serde_json::Value;

#[test]
fn every_model_and_preset_runs() {
    let lines = [
        "bernoulli --preset low --sites 50",
        "bernoulli --preset high --sites 50",
        "categorical --preset c4 --sites 30",
        "categorical --preset c8 --sites 30",
        "categorical --sites 30 --values 3",
        "ising --preset low --size 5x7",
        "ising --preset high --size 5x7 --periodic",
        "potts --preset c4 --size 5",
        "potts --preset c8 --size 5 --periodic",
        "potts --values 2 --size 5",
        "fhmm --preset low --length 10",
        "fhmm --preset high --length 10 --factors 3",
        "fhmm --preset c4 --length 10 --differences exact",
        "fhmm --preset c8 --length 10 --differences taylor",
        "rbm --visible 20",
        "rbm --visible 20 --hidden 4 --values 3 --differences exact",
    ];
    for line in lines {
        let json = summary(&format!("sample {line} --chains 3 --warmup 20 --draws 20"));
        assert_eq!(json["model"], line.split(' ').next().unwrap());
        assert_eq!((&json["draws"], &json["ended"]), (&20.into(), &"complete".into()), "{line}");
    }
}

#[test]
fn presets_have_the_sizes_of_the_paper() {
    let sizes = [
        ("bernoulli", 10_000, 2),
        ("bernoulli --preset low", 10_000, 2),
        ("categorical", 2000, 4),
        ("categorical --preset c8", 2000, 8),
        ("ising", 2500, 2),
        ("potts", 900, 4),
        ("potts --preset c8", 900, 8),
        ("fhmm --preset low", 2000, 2),
        ("fhmm", 2000, 2),
        ("fhmm --preset c4", 2000, 4),
        ("fhmm --preset c8", 2000, 8),
        ("rbm", 784, 2),
    ];
    for (line, sites, values) in sizes {
        let json = summary(&format!("sample {line} --chains 1 --warmup 1 --draws 1"));
        assert_eq!((&json["sites"], &json["values"]), (&sites.into(), &values.into()), "{line}");
    }
}

#[test]
fn every_sampler_and_weight_runs() {
    let list = saltus("list --json").json();
    let names = |key: &str| -> Vec<String> {
        let entries = list[key].as_array().unwrap().iter();
        entries.map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    };
    for sampler in names("samplers") {
        let model = if sampler == "layers" { "rbm" } else { "potts --size 4" };
        let json = summary(&format!(
            "sample {model} --sampler {sampler} --chains 2 --warmup 20 --draws 20"
        ));
        assert_eq!(json["sampler"], sampler.as_str());
    }
    for weight in names("weights") {
        let json = summary(&format!(
            "sample potts --size 4 --weight {weight} --chains 2 --warmup 20 --draws 20"
        ));
        assert_eq!(json["weight"], weight.as_str());
    }
}

/// The mean of log π over all states, enumerated.
fn exact_mean(sites: usize, values: usize, log_prob: impl Fn(&[usize]) -> f64) -> f64 {
    let count = values.pow(sites as u32);
    let logs: Vec<f64> = (0..count)
        .map(|code| {
            let digit = |site: usize| code / values.pow(site as u32) % values;
            log_prob(&(0..sites).map(digit).collect::<Vec<_>>())
        })
        .collect();
    let total: f64 = logs.iter().map(|log| log.exp()).sum();
    logs.iter().map(|log| log * log.exp()).sum::<f64>() / total
}

/// Samples a small model and compares the mean of log π to the exact one.
fn agrees(line: &str, expected: f64) {
    let json: Value =
        summary(&format!("sample {line} --sampler gibbs --chains 20 --warmup 100 --draws 2000"));
    let mean = json["log_prob"]["mean"].as_f64().unwrap();
    let error = json["log_prob"]["mcse"].as_f64().unwrap();
    assert!((mean - expected).abs() < 5.0 * error + 1e-6, "{line}: {mean} ± {error}, {expected}");
    assert!(error < 0.05, "{line}: {error}");
}

fn spin(value: usize) -> f64 {
    2.0 * value as f64 - 1.0
}

#[test]
fn ising_options_reach_the_model() {
    let ring = |coupling: f64, field: f64| {
        move |x: &[usize]| {
            let s: Vec<f64> = x.iter().map(|x| spin(*x)).collect();
            let pairs: f64 = (0..s.len()).map(|i| s[i] * s[(i + 1) % s.len()]).sum();
            coupling * pairs + field * s.iter().sum::<f64>()
        }
    };
    agrees(
        "ising --size 1x5 --periodic --coupling 0.7 --field 0.2",
        exact_mean(5, 2, ring(0.7, 0.2)),
    );
    agrees("ising --size 5x1 --periodic --coupling -0.7", exact_mean(5, 2, ring(-0.7, 0.0)));
    // A chain of five spins has four free bonds.
    agrees("ising --size 1x5 --coupling 0.7", 4.0 * 0.7 * 0.7f64.tanh());
    // The coupling that comes with a field alone is 0.4.
    agrees("ising --size 1x2 --field 0", 0.4 * 0.4f64.tanh());
}

#[test]
fn potts_options_reach_the_model() {
    // Two sites: equal with probability e^J / (e^J + C − 1).
    for values in [2, 3, 5] {
        let expected = 1.2 * 1.2f64.exp() / (1.2f64.exp() + values as f64 - 1.0);
        agrees(&format!("potts --size 1x2 --values {values} --coupling 1.2"), expected);
    }
}

#[test]
fn edge_files_reach_the_model() {
    let folder = Folder::new();
    let edges = folder
        .file("edges.txt", "# a triangle with a tail\n0 1 0.5\n1,2,-0.3\n0 2 0.8\n2 3 1 # tail\n");
    let pairs = [(0, 1, 0.5), (1, 2, -0.3), (0, 2, 0.8), (2, 3, 1.0)];
    let fields = folder.file("fields.txt", "1 0.4\n3 -0.6\n");
    let ising = |x: &[usize]| -> f64 {
        let coupled = pairs.iter().map(|(i, j, w)| w * spin(x[*i]) * spin(x[*j]));
        coupled.sum::<f64>() + 0.4 * spin(x[1]) - 0.6 * spin(x[3])
    };
    agrees(&format!("pairwise --edges {edges} --fields {fields}"), exact_mean(4, 2, ising));

    let fields = folder.file("fields3.txt", "1 2 0.4\n3 0 -0.6\n");
    let potts = |x: &[usize]| -> f64 {
        let equal = |a: usize, b: usize, w: f64| if a == b { w } else { 0.0 };
        let coupled = pairs.iter().map(|(i, j, w)| equal(x[*i], x[*j], *w));
        coupled.sum::<f64>() + equal(x[1], 2, 0.4) + equal(x[3], 0, -0.6)
    };
    agrees(
        &format!("pairwise --edges {edges} --fields {fields} --values 3"),
        exact_mean(4, 3, potts),
    );
    let json = summary(&format!(
        "sample pairwise --edges {edges} --sites 10 --chains 2 --warmup 5 --draws 5"
    ));
    assert_eq!(json["sites"], 10);
}

#[test]
fn machines_are_read_from_their_file() {
    let folder = Folder::new();
    let weight = [0.9f32, -0.4, 0.3, 1.1];
    let (hidden, visible) = ([0.2f32, -0.5], [0.1f32, -0.7]);
    let file = tensors(&[
        ("weight", &[2, 2], &weight),
        ("hidden_bias", &[2], &hidden),
        ("visible_bias", &[2], &visible),
    ]);
    let path = folder.file("rbm.safetensors", file);
    let log_prob = |x: &[usize]| -> f64 {
        let x = [x[0] as f64, x[1] as f64];
        let biases: f64 = (0..2).map(|n| f64::from(visible[n]) * x[n]).sum();
        let units = (0..2).map(|m| {
            let input: f64 = (0..2).map(|n| f64::from(weight[2 * m + n]) * x[n]).sum();
            (f64::from(hidden[m]) + input).exp().ln_1p()
        });
        biases + units.sum::<f64>()
    };
    agrees(&format!("rbm --weights {path}"), exact_mean(2, 2, log_prob));
}

#[test]
fn options_override_a_preset_and_leave_the_rest_of_it() {
    let words = |line: &str| {
        let json = summary(&format!("sample {line} --size 4 --chains 2 --warmup 5 --draws 5"));
        json["description"].as_str().unwrap().to_owned()
    };
    let recipe = words("ising --preset low --coupling 0.3");
    assert!(recipe.contains("recipe 'low' with coupling 0.3 and a random field"), "{recipe}");
    assert!(words("ising --coupling 0.3").contains("coupling 0.3 and no field"));
    assert!(words("ising --field 0.1").contains("coupling 0.4 and field 0.1 everywhere"));
    assert!(words("potts --preset c8 --coupling 2").contains("coupling 2 and a random field"));
}
