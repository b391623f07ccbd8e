//! `saltus-lab paper`: the whole pipeline with a few hundred steps.

use crate::common::{images_of_columns, tensors};
use crate::lab;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The columns of the table that do not depend on the clock or the number of threads.
fn timeless(results: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(results).unwrap();
    let rows = reader.deserialize().map(|row| {
        let mut row: BTreeMap<String, String> = row.unwrap();
        row.retain(|column, _| !column.contains("second") && column != "threads");
        row
    });
    rows.collect()
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = std::fs::read_dir(folder.join("cells")).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    let done = paths.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    done.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn two_targets_give_tables_figures_and_verdicts() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    let study = |out: &Path, options: &str| {
        lab(&format!(
            "paper bernoulli-low potts-4 --steps 300 --chains 6 --out {} {options}",
            out.display()
        ))
    };
    let ran = study(&one, "--quiet");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let parts = [
        "58 cells of 2 targets",
        "Effective draws per evaluation",
        "Seconds for 100,000 steps of 100 chains",
        "C1 ",
        "C15 ",
    ];
    for part in parts {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let long = ran.out.lines().find(|line| line.chars().count() > 80 && !line.contains("written"));
    assert_eq!(long, None);
    let text = |name: &str| std::fs::read_to_string(one.join(name)).unwrap();
    assert!(text("claims.md").lines().count() > 14);
    assert!(text("running-time.md").contains("| potts-4 |"));
    assert!(text("gibbs.md").contains("| bernoulli-low |"));
    for figure in ["bernoulli-low.svg", "potts-4.svg"] {
        assert!(text(figure).contains("effective draws per evaluation"), "{figure}");
    }
    let rows = timeless(&one.join("results.csv"));
    assert_eq!(rows.len(), 58);
    let dlmc = rows.iter().find(|row| {
        row["target"] == "bernoulli-low"
            && row["sampler"] == "dlmc"
            && row["weight"] == "ratio"
            && row["fixed_scale"].is_empty()
    });
    let dlmc = dlmc.unwrap();
    assert!(dlmc["acceptance"].parse::<f64>().unwrap() > 0.999);
    // Of 150 independent draws the estimator finds most.
    assert!(dlmc["ess_mean"].parse::<f64>().unwrap() > 100.0);

    // The same cells again, on one thread and one by one, come to the same numbers.
    let json = study(&two, "--quiet --json --threads 1").json();
    assert_eq!((&json["complete"], &json["done"]), (&true.into(), &58.into()));
    assert_eq!(json["claims"].as_array().unwrap().len(), 14);
    assert_eq!(rows, timeless(&two.join("results.csv")));

    // The table alone is enough to judge by.
    let table = lab(&format!("paper --results {}/results.csv --json", one.display())).json();
    let again = study(&one, "--quiet --json").json();
    assert_eq!(table["claims"], again["claims"]);
    assert_eq!(table["done"], 58);

    // What is there is not run again, and another seed is another study.
    let before = files(&one);
    assert_eq!(study(&one, "--quiet").code, 0);
    assert_eq!(files(&one), before);
    let other = study(&two, "--quiet --json --seed 1").json();
    assert_eq!(other["done"], 58);
    assert_ne!(rows, timeless(&two.join("results.csv")));
}

#[test]
fn a_killed_study_loses_the_cell_in_progress_alone() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!(
        "paper ising-high --steps 4000 --chains 20 --quiet --out {}",
        folder.path().display()
    );
    let start = || {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("saltus-lab"));
        command.args(line.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let wait_for = |cells: usize| {
        while files(folder.path()).len() < cells {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    };
    let mut child = start();
    wait_for(3);
    child.kill().unwrap();
    child.wait().unwrap();
    let before = files(folder.path());
    assert!(before.len() < 14);

    #[cfg(unix)]
    {
        // Asked politely, it also says what it has.
        let child = start();
        wait_for(before.len() + 1);
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert!(String::from_utf8_lossy(&output.stdout).contains("the same command goes on"));
        assert!(timeless(&folder.path().join("results.csv")).len() > before.len());
    }

    assert_eq!(lab(&line).code, 0);
    let after = files(folder.path());
    assert_eq!(after.len(), 14);
    for (path, bytes) in before {
        assert_eq!(after[&path], bytes, "{}", path.display());
    }
}

#[test]
fn machines_are_trained_once_where_the_authors_are_not_at_hand() {
    let data = images_of_columns();
    let out = data.path().join("study");
    let line = format!(
        "paper rbm-25 --steps 300 --chains 5 --quiet --data {} --out {}",
        data.path().display(),
        out.display()
    );
    assert_eq!(lab(&line).code, 0);
    let machine = out.join("machines/rbm-25.safetensors");
    let bytes = std::fs::read(&machine).unwrap();
    let rows = timeless(&out.join("results.csv"));
    assert_eq!((rows.len(), rows[0]["sites"].as_str()), (14, "30"));
    assert!(rows.iter().all(|row| row["machine"].contains("trained")));
    let made = std::fs::metadata(&machine).unwrap().modified().unwrap();
    assert_eq!(lab(&line).code, 0);
    assert_eq!(std::fs::metadata(&machine).unwrap().modified().unwrap(), made);
    assert_eq!(std::fs::read(&machine).unwrap(), bytes);

    // The authors' machine takes its place, and what was measured of the other is measured anew.
    let authors = data.path().join("authors");
    std::fs::create_dir(&authors).unwrap();
    let theirs = authors.join("mnist-binary-25.safetensors");
    std::fs::write(&theirs, &bytes).unwrap();
    let line = format!("{line} --machines {}", authors.display());
    assert_eq!(lab(&line).code, 0);
    let rows = timeless(&out.join("results.csv"));
    assert!(rows.iter().all(|row| row["machine"].starts_with("the authors'")));
    let small = tensors(&[
        ("weight", &[7, 30], &[0.0; 210]),
        ("hidden_bias", &[7], &[0.0; 7]),
        ("visible_bias", &[30], &[0.0; 30]),
    ]);
    std::fs::write(&theirs, small).unwrap();
    let ran = lab(&line);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("holds a machine of 7 hidden units"), "{}", ran.err);
}

#[test]
fn several_draws_of_the_parameters_are_averaged() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!(
        "paper ising-low --steps 200 --chains 2 --model-seeds 3 --quiet --out {}",
        folder.path().display()
    );
    assert_eq!(lab(&line).code, 0);
    let rows = timeless(&folder.path().join("results.csv"));
    assert_eq!(rows.len(), 3 * 14);
    let figure = std::fs::read_to_string(folder.path().join("ising-low.svg")).unwrap();
    assert!(figure.contains("standard deviation over 3 draws of the parameters"));
}

#[test]
fn what_cannot_be_studied_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display();
    let refusals = [
        (format!("paper isng-high --out {path}/a"), 2, "did you mean 'ising-high'?"),
        (format!("paper ising-high --steps 10 --out {path}/a"), 2, "at least 200 steps"),
        (format!("paper ising-high --budget huge --out {path}/a"), 2, "'huge'"),
        (format!("paper rbm-25 --out {path}/a"), 1, "--machines names the folder"),
        (format!("paper rbm-25 --machines {path}/none --out {path}/a"), 1, "which is not in"),
        (format!("paper rbm-25 --data {path}/none --out {path}/a"), 1, "no images of mnist"),
        (format!("paper ising-high --out {path}/file"), 1, "cannot make the folder"),
        (format!("paper --results {path}/none.csv"), 1, "none.csv is not a table of results"),
        (format!("paper --results {path}/file"), 1, "is not a table of results"),
        (format!("paper --results {path}/file --out {path}/a"), 2, "cannot be used with"),
        (format!("paper ising-high --model-seeds 0 --out {path}/a"), 2, "0 is not in 1..=1000"),
    ];
    std::fs::write(folder.path().join("file"), "a,b\n1,2\n").unwrap();
    for (line, code, sentence) in refusals {
        let ran = lab(&format!("{line} --quiet"));
        assert_eq!(ran.code, code, "{line}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{line}: {}", ran.err);
    }
    // A file that somebody broke is named, and nothing is overwritten.
    let line = format!("paper potts-8 --steps 200 --chains 2 --quiet --out {path}/b");
    assert_eq!(lab(&line).code, 0);
    let cell = folder.path().join("b/cells/potts-8-bg.json");
    std::fs::write(&cell, "{\"target\": \"pot").unwrap();
    let ran = lab(&line);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("potts-8-bg.json is not the result of a cell"), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
}

#[test]
fn the_list_names_every_target() {
    let ran = lab("paper --list");
    assert_eq!((ran.code, ran.out.lines().count()), (0, 20));
    assert!(ran.out.contains("fhmm-binary-high") && ran.out.contains("14 cells"), "{}", ran.out);
}
