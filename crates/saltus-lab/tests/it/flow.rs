//! `saltus-lab flow` as a user runs it.

use crate::lab;

#[test]
fn scripts_get_the_flow_as_one_object() {
    let line = "flow --target 0.5,0.3,0.2 --from 0.2,0.3,0.5 --to 0.6,0.3,0.1 --time 2 --json";
    let json = lab(line).json();
    let list = |key: &str| -> Vec<f64> {
        json[key].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
    };
    let (time, kl, dissipation) = (list("time"), list("kl"), list("dissipation"));
    assert_eq!((time[0], *time.last().unwrap()), (0.0, 2.0));
    assert!(kl.windows(2).all(|pair| pair[1] < pair[0]));
    // KL at the start by hand: Σ ρ log(ρ/π).
    let by_hand = 0.2 * (0.2f64 / 0.5).ln() + 0.5 * (0.5f64 / 0.2).ln();
    assert!((kl[0] - by_hand).abs() < 1e-14);
    // What is dissipated is what is lost, by the trapezoidal rule.
    let lost: f64 = (1..time.len())
        .map(|k| 0.5 * (dissipation[k] + dissipation[k - 1]) * (time[k] - time[k - 1]))
        .sum();
    assert!((lost - (kl[0] - kl.last().unwrap())).abs() < 1e-3);
    let rows = json["rho"].as_array().unwrap();
    assert_eq!(rows.len(), time.len());
    assert!((rows[0][2].as_f64().unwrap() - 0.5).abs() < 1e-12);
    assert!(json["spectral_gap"].as_f64().unwrap() > 1.0);
    assert!(json["w2_from_to"].as_f64().unwrap() > 0.0);
    assert!(json["w2_from_target"].as_f64().unwrap() > 0.0);
}

#[test]
fn two_states_have_the_distance_of_the_integral() {
    for (target, weight, expected) in
        [("0.5,0.5", "sqrt", 0.5756413164893677), ("0.8,0.2", "ratio", 0.8549661950707171)]
    {
        let line =
            format!("flow --target {target} --from 0.2,0.8 --to 0.6,0.4 --weight {weight} --json");
        let found = lab(&line).json()["w2_from_to"].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-10, "{found} {expected}");
    }
}

#[test]
fn people_get_a_table_and_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ring.txt"), "0 1 1\n1 2 1\n2 3 1\n3 0 0.5\n").unwrap();
    let (ring, svg) = (folder.path().join("ring.txt"), folder.path().join("flow.svg"));
    let ran = lab(&format!(
        "flow --target 0.1,0.2,0.3,0.4 --from 1,0,0,0 --graph {} --weight ratio --plot {}",
        ring.display(),
        svg.display()
    ));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for part in ["−dKL/dt", "spectral gap", "W₂ to the target", "particles", "picture in"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let long = ran.out.lines().find(|line| line.chars().count() > 80 && !line.contains("picture"));
    assert_eq!(long, None);
    let picture = std::fs::read_to_string(svg).unwrap();
    assert!(picture.contains("KL(ρ(t)") && !picture.contains("NaN") && !picture.contains("inf"));
}

#[test]
fn what_does_not_flow_is_refused_in_a_sentence() {
    let refusals = [
        ("flow", 2, "--target"),
        ("flow --target 0.5,0.6", 2, "sums to 1.1, not to 1"),
        ("flow --target 1", 2, "at least two states"),
        ("flow --target 0.5,x", 2, "invalid value 'x'"),
        ("flow --target 0.5,NaN", 2, "NaN"),
        ("flow --target 1,0", 2, "probability 0 at state 1"),
        ("flow --target 0.5,0.5 --from 0.2,0.3,0.5", 2, "--from has 3 probabilities"),
        ("flow --target 0.5,0.5 --to 0.2,0.9", 2, "--to sums to 1.1"),
        ("flow --target 0.5,0.5 --time 0", 2, "must be positive"),
        ("flow --target 0.5,0.5 --time inf", 2, "inf"),
        ("flow --target 0.5,0.5 --time 1e7", 2, "try a shorter --time"),
        ("flow --target 0.5,0.5 --particles 99999999999", 2, "fewer --particles"),
        ("flow --target 0.5,0.5 --weight sqr", 2, "did you mean 'sqrt'?"),
        ("flow --target 0.5,0.5 --graph no-such-file", 1, "no-such-file"),
        ("flow --target 0.5,0.5 --plot x.pdf", 2, ".svg or .png"),
    ];
    for (line, code, sentence) in refusals {
        let ran = lab(line);
        assert_eq!(ran.code, code, "{line}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{line}: {}", ran.err);
    }
}
