//! `saltus train resnet` on images small enough to learn in a moment.

use crate::common::{images_of_columns as data, saltus};
use std::path::Path;
use tempfile::TempDir;

/// The command on that data, with a folder beside it and these options besides.
fn line(data: &TempDir, out: &str, options: &str) -> String {
    let folder = data.path().display();
    format!(
        "train resnet --data {folder} --dataset mnist --width 4 --blocks 1 --batch 10 --buffer 30 \
         --steps 2 --warmup 0 --out {folder}/{out} {options}"
    )
}

fn read(data: &TempDir, name: &str) -> Vec<u8> {
    std::fs::read(data.path().join(name)).unwrap()
}

#[test]
fn a_training_leaves_a_model_a_checkpoint_a_history_and_pictures() {
    let data = data();
    let ran = saltus(&line(&data, "run", "--iterations 5 --save-every 2"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    for part in ["200 of mnist, 6×5 pixels of 2 values", "5 iterations in", "written"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    for iteration in [2, 4, 5] {
        let bytes = read(&data, &format!("run/samples-{iteration:06}.png"));
        let picture = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        assert!(picture.info().width >= 38);
    }
    let history = String::from_utf8(read(&data, "run/history.csv")).unwrap();
    assert_eq!(history.lines().count(), 6);
    assert!(data.path().join("run/checkpoint.safetensors").is_file());
    let curves = String::from_utf8(read(&data, "run/curves.svg")).unwrap();
    assert!(curves.contains("mnist, 2 steps of dlmc per iteration"), "{curves}");
    let model = data.path().join("run/model.safetensors");
    let json = crate::common::summary(&format!(
        "sample resnet --weights {} --chains 4 --warmup 20 --draws 20",
        model.display()
    ));
    assert_eq!((&json["model"], &json["sites"]), (&"resnet".into(), &30.into()));
}

#[test]
fn a_resumed_training_leaves_the_files_of_one_that_never_stopped() {
    let data = data();
    let folder = data.path().display();
    let options = "--sampler pas --seed 4 --quiet --json";
    assert_eq!(saltus(&line(&data, "whole", &format!("--iterations 9 {options}"))).code, 0);
    let cut = format!("--iterations 4 --threads 1 {options}");
    assert_eq!(saltus(&line(&data, "parts", &cut)).code, 0);
    let ran = saltus(&format!(
        "train resnet --resume {folder}/parts --iterations 9 --threads 2 --quiet --json"
    ));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let json = ran.json();
    assert_eq!((&json["iterations"], &json["complete"]), (&9.into(), &true.into()));
    assert_eq!(json["settings"]["sampler"], "pas");
    for file in json["files"].as_array().unwrap() {
        assert!(Path::new(file.as_str().unwrap()).is_file(), "{file}");
    }
    for name in ["model.safetensors", "samples-000009.png"] {
        let of = |run: &str| read(&data, &format!("{run}/{name}"));
        assert!(of("whole") == of("parts"), "{name}");
    }
    // All but the seconds, by both clocks.
    let history = |run: &str| -> Vec<String> {
        let text = String::from_utf8(read(&data, &format!("{run}/history.csv"))).unwrap();
        text.lines().map(|line| line.rsplitn(3, ',').last().unwrap().to_owned()).collect()
    };
    assert_eq!(history("whole"), history("parts"));
}

#[test]
fn the_likelihood_of_what_was_learnt_is_estimated() {
    let data = data();
    let folder = data.path().display();
    crate::common::put_images_of_columns(data.path(), &["t10k"]);
    let options = "--iterations 40 --learning-rate 0.003 --quiet";
    assert_eq!(saltus(&line(&data, "run", options)).code, 0);
    let model = format!("{folder}/run/model.safetensors");
    let ais = |options: &str| {
        crate::common::summary(&format!(
            "ais {model} --chains 40 --temperatures 100 --data {folder} --dataset mnist {options}"
        ))
    };
    let found = ais("");
    let number = |json: &serde_json::Value, key: &str| json[key].as_f64().unwrap();
    assert_eq!((&found["model"], &found["sampler"]), (&"resnet".into(), &"dlmc".into()));
    assert_eq!((&found["images"], &found["reverse_from"]), (&200.into(), &"data".into()));
    // Five images make up the data: no distribution finds them likelier than 1/5.
    let likelihood = number(&found, "log_likelihood");
    assert!(likelihood < -(5f64.ln()) && likelihood > -30.0 * 2f64.ln(), "{found}");
    let bits = -likelihood / (30.0 * 2f64.ln());
    assert!((number(&found, "bits_per_dim") - bits).abs() < 1e-9);
    let other = ais("--sampler gwg --seed 3");
    let apart = (number(&found, "log_z") - number(&other, "log_z")).abs();
    let error = number(&found, "log_z_se").hypot(number(&other, "log_z_se"));
    assert!(apart < 5.0 * error, "{found} {other}");

    for (options, code, sentence) in [
        ("--exact", 2, "hidden units, which only RBMs and DBNs have"),
        ("--sampler alternating", 2, "is for RBMs"),
        ("--data x --dataset static-mnist --binarise threshold", 2, "--binarise is about RBMs"),
        ("--data /nowhere --dataset static-mnist", 1, "belong there"),
        ("--data /nowhere --dataset statik-mnist", 1, "did you mean 'static-mnist'?"),
    ] {
        let ran = saltus(&format!("ais {model} {options}"));
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{options}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{options}: {}", ran.err);
    }
}

#[test]
fn more_than_two_values_are_learnt_too() {
    let data = data();
    let options = "--values 3 --projection 2 --iterations 3 --sampler dmala --quiet --json";
    let json = saltus(&line(&data, "three", options)).json();
    assert_eq!((&json["values"], &json["iterations"]), (&3.into(), &3.into()));
    assert!(json["scale"].as_f64().unwrap() > 0.0 && json["energy_gap"].is_number());
}

#[cfg(feature = "burn")]
#[test]
fn burn_trains_as_our_loops_do() {
    let data = data();
    let gap = |backend: &str| {
        let options = format!("--iterations 2 --backend {backend} --quiet --json");
        saltus(&line(&data, backend, &options)).json()["energy_gap"].as_f64().unwrap()
    };
    let (own, burn) = (gap("cpu"), gap("burn"));
    assert!((own - burn).abs() < 1e-3 * own.abs(), "{own} {burn}");
    // It goes on as it began, unless the other way is asked for.
    let folder = data.path().display();
    let resume = |options: &str| {
        let ran = saltus(&format!("train resnet --resume {folder}/burn --quiet {options}"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out.contains("computed by burn")
    };
    assert!(resume("--iterations 3"));
    assert!(!resume("--iterations 4 --backend cpu"));
    assert!(!resume("--iterations 5"));
}

#[test]
fn a_resumed_training_saves_as_often_as_before() {
    let data = data();
    saltus(&line(&data, "run", "--iterations 3 --save-every 2 --quiet"));
    let folder = data.path().join("run").display().to_string();
    let ran = saltus(&format!("train resnet --resume {folder} --iterations 7 --quiet"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    for iteration in [4, 6, 7] {
        assert!(data.path().join(format!("run/samples-{iteration:06}.png")).is_file());
    }
}

#[test]
fn divergence_keeps_the_last_checkpoint() {
    let data = data();
    // The first step is as long as the learning rate: not yet beyond all bounds.
    let bad = "--iterations 60 --learning-rate 2e5 --save-every 1 --quiet --json";
    let ran = saltus(&line(&data, "run", bad));
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("training diverged at iteration 2: "), "{}", ran.err);
    assert!(ran.err.contains("The checkpoint of iteration 1 is kept in "), "{}", ran.err);
    assert!(data.path().join("run/checkpoint.safetensors").is_file());
}

#[test]
fn every_command_of_the_page_is_understood() {
    let page = include_str!("../../../../docs/deep.md");
    let commands: Vec<&str> =
        page.lines().filter_map(|line| line.trim().strip_prefix("saltus train ")).collect();
    assert!(commands.len() >= 3, "{commands:?}");
    for command in commands {
        // Everything but the data is there: real trainings take hours.
        let command =
            command.replace(" DIR ", " /nowhere ").replace("--resume ", "--resume /nowhere/");
        let ran = saltus(&format!("train {command}"));
        assert_eq!(ran.code, 1, "{command}: {}", ran.err);
        assert!(ran.err.contains("belong there") || ran.err.contains("cannot be read"));
    }
}

#[test]
fn what_cannot_be_trained_is_refused_in_a_sentence() {
    let data = data();
    let folder = data.path().display();
    let usage = [
        ("--steps 0", "at least 1, got 0"),
        ("--values 1", "between 2 and 256 values, got 1"),
        ("--learning-rate 0", "must be a positive number, got 0"),
        ("--decay 1", "below 1, got 1"),
        ("--preset papre", "did you mean 'paper'?"),
        ("--backend brun", "did you mean 'burn'?"),
        ("--sampler dlcm", "did you mean 'dlmc'?"),
        ("--sampler gwg --target-acceptance 0.5", "gwg has no scale"),
        ("--sampler dld", "count by weights"),
        ("--projection 3", "two values are not projected"),
    ];
    for (options, sentence) in usage {
        let line = line(&data, "x", options);
        let line = if options.contains("--steps") { line.replace("--steps 2 ", "") } else { line };
        let ran = saltus(&line);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{options}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{options}: {}", ran.err);
    }
    let failed = [
        (
            format!("--data {folder} --dataset frey --out {folder}/x"),
            "images-idx3-ubyte.gz belongs",
        ),
        (format!("--data {folder} --dataset mnits --out {folder}/x"), "unknown dataset 'mnits'"),
        (format!("--resume {folder}/none"), "cannot be read"),
    ];
    for (options, sentence) in failed {
        let ran = saltus(&format!("train resnet {options}"));
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{options}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{options}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
    #[cfg(not(feature = "burn"))]
    assert!(saltus(&line(&data, "x", "--backend burn")).err.contains("built without burn"));
    assert!(!data.path().join("x").exists());
    assert_eq!(saltus(&line(&data, "run", "--iterations 1 --quiet")).code, 0);
    let ran = saltus(&line(&data, "run", "--iterations 1 --quiet"));
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("--resume goes on with it, --force replaces it"), "{}", ran.err);
    std::fs::remove_file(data.path().join("run/checkpoint.safetensors")).unwrap();
    let ran = saltus(&line(&data, "run", "--iterations 1 --quiet"));
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("that cannot be resumed: --force replaces them"), "{}", ran.err);
    assert_eq!(saltus(&line(&data, "run", "--iterations 2 --quiet --force")).code, 0);
    assert!(!data.path().join("run/samples-000001.png").exists(), "it is of another training");
    assert!(data.path().join("run/samples-000002.png").is_file());
}

#[test]
fn a_weight_function_that_is_not_used_is_said() {
    let data = data();
    let ran = saltus(&line(&data, "run", "--iterations 1 --sampler gibbs --weight ratio --quiet"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("gibbs has no balancing function, --weight ratio is not used"));
    assert!(ran.out.contains("2 steps of gibbs per iteration"), "{}", ran.out);
    let ran = saltus(&line(&data, "other", "--iterations 1 --weight ratio --quiet"));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.contains("2 steps of dlmc (ratio) per iteration"), "{}", ran.out);
}

#[test]
fn validation_keeps_the_best_and_draws_a_learning_curve() {
    let data = data();
    let folder = data.path().display();
    let options = "--learning-rate 0.003 --final-learning-rate 0.0001 --fall cosine --max-steps 3 \
                   --validation-chains 10 --validation-temperatures 20 --validate-every 4 --quiet";
    let none = saltus(&line(&data, "none", &format!("--iterations 8 {options}")));
    assert_eq!(none.code, 2, "{}", none.err);
    assert!(none.err.contains("has no validation images"), "{}", none.err);
    crate::common::put_images_of_columns(data.path(), &["valid"]);
    let ran = saltus(&line(&data, "whole", &format!("--iterations 10 {options} --json")));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let json = ran.json();
    let looks = json["validation"].as_array().unwrap();
    let iterations: Vec<u64> =
        looks.iter().map(|look| look["iteration"].as_u64().unwrap()).collect();
    assert_eq!(iterations, [4, 8, 10]);
    let score = |look: &serde_json::Value| {
        let nats = |key: &str| look[key].as_f64().unwrap();
        nats("log_likelihood").min(nats("log_likelihood_reverse"))
    };
    let best = looks.iter().map(score).fold(f64::NEG_INFINITY, f64::max);
    assert_eq!(score(&json["best"]), best);
    assert!(json["best"]["effective_chains_reverse"].as_f64().unwrap() >= 1.0);
    for name in ["best.safetensors", "validation.csv", "learning.svg"] {
        assert!(data.path().join("whole").join(name).is_file(), "{name}");
    }
    // A training in two parts looks at the same models.
    let cut = format!("--iterations 5 {options}");
    assert_eq!(saltus(&line(&data, "parts", &cut)).code, 0);
    let ran =
        saltus(&format!("train resnet --resume {folder}/parts --iterations 10 --quiet --json"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let of = |json: &serde_json::Value, iteration: u64| {
        let looks = json["validation"].as_array().unwrap().clone();
        looks.into_iter().find(|look| look["iteration"] == iteration).unwrap()
    };
    // The rate falls towards the last iteration, of which there were fewer at first.
    assert_eq!(of(&ran.json(), 10)["iteration"], 10);
    let text = saltus(&line(&data, "text", &format!("--iterations 4 {options}")));
    assert!(text.out.contains("best") && text.out.contains("in reverse"), "{}", text.out);
}
