//! Every `saltus` command of the README works as it stands there.

use assert_cmd::Command;

#[test]
fn every_command_of_the_readme_works() {
    let readme = include_str!("../../../README.md");
    let blocks = readme.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let lines = blocks.flat_map(str::lines);
    let commands: Vec<Vec<&str>> = lines
        .map(|line| line.split('#').next().unwrap().trim())
        .filter_map(|line| {
            line.strip_prefix("saltus ").or(line.strip_prefix("cargo run --release -- "))
        })
        .map(|arguments| arguments.split_whitespace().collect())
        .collect();
    assert!(commands.len() >= 6, "{commands:?}");
    for arguments in commands {
        let output = Command::cargo_bin("saltus").unwrap().args(&arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "saltus {}: {errors}", arguments.join(" "));
        assert!(!output.stdout.is_empty());
    }
}
