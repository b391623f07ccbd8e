//! What the program is made of as users build it: crates of the public registry alone, under licences that let everyone use it. `deny.toml` says
//! the same to cargo-deny, which also knows of advisories but has to fetch them.

use serde_json::Value;
use std::process::Command;

/// Licences that ask for no more than to be named.
const ALLOWED: [&str; 11] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "0BSD",
    "BSL-1.0",
    "Zlib",
    "Unlicense",
    "Unicode-3.0",
    "CC0-1.0",
];
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Whether what is required of us by an expression is allowed: all parts of AND, one part of OR.
fn allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    expression.split(" AND ").all(|part| {
        let part = part.trim_matches(['(', ')', ' ']);
        part.split(" OR ").any(|one| ALLOWED.contains(&one.trim_matches(['(', ')', ' '])))
    })
}

#[test]
fn everything_comes_from_the_registry_under_a_free_licence() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    if !output.status.success() {
        // Crates of other systems may not be at hand without a network.
        println!("skipped: {}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 100);
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let licence = package["license"].as_str().unwrap_or("none");
        assert!(allowed(licence), "{name} is under {licence}");
        let ours = package["source"].is_null() && name.starts_with("saltus");
        assert!(ours || package["source"] == REGISTRY, "{name} is from {}", package["source"]);
    }
}

#[test]
fn expressions_are_understood() {
    for (expression, is_allowed) in [
        ("MIT OR Apache-2.0", true),
        ("MIT/Apache-2.0", true),
        ("GPL-3.0-only", false),
        ("MIT OR LGPL-2.1-or-later", true),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("MIT AND GPL-2.0-only", false),
    ] {
        assert_eq!(allowed(expression), is_allowed, "{expression}");
    }
}
