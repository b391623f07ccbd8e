//! Every `saltus-lab` command of the README and the guide to the flow works as it stands there.

use crate::common::run_page;

const LAB: (&str, &[&str]) =
    ("saltus-lab", &["saltus-lab ", "cargo run --release -p saltus-lab -- "]);

#[test]
fn every_command_of_the_readme_works() {
    run_page(include_str!("../../../../README.md"), LAB, 2);
}

#[test]
fn every_command_about_the_flow_works() {
    run_page(include_str!("../../../../docs/flow.md"), LAB, 3);
}

/// What `experiments/trace.py` says of a reproduction, and whether every number was found; none without Python.
fn trace(document: &std::path::Path) -> Option<(String, bool)> {
    let python = crate::tools::python("csv, json")?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/trace.py");
    let output = std::process::Command::new(python).arg(script).arg(document).output().unwrap();
    Some((String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success()))
}

#[test]
fn numbers_of_the_reproduction_are_those_of_stored_files() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../REPRODUCTION.md");
    let Some((said, found)) = trace(path.as_ref()) else { return };
    assert!(found, "{said}");
}

#[test]
fn numbers_that_no_stored_file_has_are_noticed() {
    let text = include_str!("../../../../REPRODUCTION.md");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changed.md");
    let in_table = text.replacen("| -101.8 ± 0.3 |", "| -99.8 ± 0.3 |", 1);
    let in_sentence = text.replacen("after 83 epochs", "after 84 epochs", 1);
    let added = format!("{text}\nIt is 7.5 times faster.\n");
    for changed in [in_table, in_sentence, added] {
        assert_ne!(changed, text);
        std::fs::write(&path, changed).unwrap();
        let Some((said, found)) = trace(&path) else { return };
        assert!(!found && said.contains("MISMATCH"), "{said}");
    }
}
