//! What some tests need besides the project itself. Where it is missing a test is skipped and says so,
//! but fails where the environment has CI: there a test that nobody ran shall not look like one that passed.

// Each crate's tests use their own part of this file.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Says that a test is skipped because something is missing.
pub fn missing(what: &str) {
    assert!(std::env::var_os("CI").is_none(), "{what}, and in CI that is a failure");
    println!("skipped: {what}");
}

/// Python with these modules: the one in `SALTUS_PYTHON`, in `target/python`, or in the path.
pub fn python(modules: &str) -> Option<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let candidates = [
        std::env::var_os("SALTUS_PYTHON").map(PathBuf::from),
        Some(workspace.join("target/python/bin/python")),
        Some(PathBuf::from("python3")),
    ];
    let import = format!("import {modules}");
    let found = candidates.into_iter().flatten().find(|python| runs(python, &["-c", &import]));
    if found.is_none() {
        missing(&format!("there is no Python that can `{import}` (see SALTUS_PYTHON)"));
    }
    found
}

/// Chromium: the one in `SALTUS_CHROMIUM`, or in the path.
pub fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("SALTUS_CHROMIUM").map(PathBuf::from).into_iter();
    let known = ["chromium", "chromium-browser", "google-chrome"].map(PathBuf::from);
    let found = named.chain(known).find(|name| runs(name, &["--version"]));
    if found.is_none() {
        missing("there is no Chromium (see SALTUS_CHROMIUM)");
    }
    found
}

/// Valgrind, in the path.
pub fn valgrind() -> Option<PathBuf> {
    let found = Some(PathBuf::from("valgrind")).filter(|name| runs(name, &["--version"]));
    if found.is_none() {
        missing("valgrind is not installed");
    }
    found
}

/// The folder of reference RBMs in the data.
pub fn reference_machines() -> Option<PathBuf> {
    data("rbm-reference")
}

/// A folder of model files in the data.
pub fn formats(name: &str) -> Option<PathBuf> {
    data(&format!("formats/{name}"))
}

/// A folder of the data: `SALTUS_DATA`, or `../shared/data` beside the project.
fn data(name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let named = std::env::var_os("SALTUS_DATA").map(PathBuf::from);
    let promised = named.is_some() || beside.is_dir();
    let folder = named.unwrap_or(beside.join("data")).join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    let what = format!("{} does not exist (see SALTUS_DATA)", folder.display());
    // Who has a project alone has no data, also in CI.
    if promised {
        missing(&what)
    } else {
        println!("skipped: {what}")
    }
    None
}

fn runs(program: &Path, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}
