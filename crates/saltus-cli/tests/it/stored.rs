//! Runs with `--out`: stopped, resumed, extended, exported, refused.
#![cfg(unix)]

use crate::common::{Folder, Ran, saltus, wait_for};
use crate::folder::assert_same;
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

const SMALL: &str = "sample ising --size 6 --chains 3 --warmup 200";

fn done(line: &str) -> Ran {
    let ran = saltus(&format!("{line} --quiet"));
    assert_eq!(ran.code, 0, "{line}: {}", ran.err);
    ran
}

fn refused(line: &str, code: i32, sentence: &str) {
    let ran = saltus(line);
    assert_eq!(ran.code, code, "{line}: {}", ran.err);
    assert!(ran.err.contains(sentence), "{line}: {}", ran.err);
    assert!(ran.out.is_empty(), "{line}: {}", ran.out);
}

#[test]
fn storing_changes_nothing_but_the_store() {
    let folder = Folder::new();
    let line = format!("{SMALL} --draws 900 --sampler pas --json");
    let stored = done(&format!("{line} --out {}", folder.path("run"))).json();
    let memory = done(&line).json();
    let same =
        ["acceptance", "scale", "rhat", "ess", "log_prob", "sites_changed_per_step", "draws"];
    for key in same {
        assert_eq!(stored[key], memory[key], "{key}");
    }
    assert_eq!(stored["stopped_by"], "draws");
    assert_eq!(stored["out"], folder.path("run"));
    assert_eq!(memory["out"], Value::Null);
}

#[test]
fn an_interrupted_run_keeps_every_draw_and_goes_on() {
    let folder = Folder::in_memory();
    let (mut broken, whole) = (String::new(), folder.path("whole"));
    let line = "sample ising --size 8 --chains 4 --warmup 500 --draws 400000 --threads 1";
    for signal in ["-INT", "-TERM", "-USR1"] {
        broken = folder.path(signal);
        let child = Command::new(assert_cmd::cargo::cargo_bin!("saltus"))
            .args(format!("{line} --out {broken} --force --quiet --json").split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It has been found which sampler suits.
        wait_for(&format!("{broken}/.lock"));
        std::thread::sleep(Duration::from_millis(300));
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{errors}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["stopped_by"], "interrupt");
        let draws = json["draws"].as_u64().unwrap();
        assert!(draws > 0 && draws < 400_000, "{draws}");
        let csv = folder.path(&format!("{signal}.csv"));
        done_export(&format!("export {broken} --csv {csv}"));
        assert_eq!(fs::read_to_string(csv).unwrap().lines().count() as u64, 1 + 4 * draws);
    }
    let ran = saltus(&format!("sample --resume {broken} --time-limit 100ms --json --quiet"));
    assert_eq!((ran.code, ran.json()["stopped_by"].as_str()), (3, Some("time-limit")));
    let json = done(&format!("sample --resume {broken} --json")).json();
    assert_eq!(json["draws"], 400_000);
    done(&format!("{line} --out {whole}"));
    assert_same(&broken, &whole, line);
    // Going on with a run that is done changes nothing.
    done(&format!("sample --resume {broken}"));
    assert_same(&broken, &whole, line);
}

fn done_export(line: &str) {
    let ran = saltus(line);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{line}");
}

#[test]
fn a_run_is_extended() {
    let folder = Folder::new();
    let (short, long) = (folder.path("short"), folder.path("long"));
    done(&format!("{SMALL} --draws 1000 --keep bits --out {short}"));
    let json = done(&format!("sample --resume {short} --extend 500 --json")).json();
    assert_eq!(json["draws"], 1500);
    done(&format!("{SMALL} --draws 1500 --keep bits --out {long}"));
    assert_same(&short, &long, "1000 and 500 draws");
}

#[test]
fn stop_rules_say_that_they_fired() {
    let folder = Folder::new();
    let path = folder.path("run");
    let line = "sample bernoulli --sites 40 --chains 4 --warmup 300 --draws 100000";
    let json = done(&format!("{line} --until-ess 2000 --json --out {path}")).json();
    assert_eq!(json["stopped_by"], "until-ess");
    let draws = json["draws"].as_u64().unwrap();
    assert!((100..100_000).contains(&draws), "{draws}");
    assert!(json["ended"].as_str().unwrap().contains("independent"), "{json}");
    assert_eq!(json["warnings"], Value::Array(vec![]));
    // The same rule without a store stops at the same draw.
    assert_eq!(done(&format!("{line} --until-ess 2000 --json")).json()["draws"], draws);
    let json = done(&format!("{line} --until-rhat 1.05 --json")).json();
    assert_eq!(json["stopped_by"], "until-rhat");
    let ran = done(&format!("{line} --until-ess 2000 --until-rhat 1.05"));
    assert!(ran.out.contains("Stopped: enough after"), "{}", ran.out);
    // A run that a rule stopped is done, and can be extended.
    let json = done(&format!("sample --resume {path} --extend 10 --json")).json();
    assert_eq!(json["draws"], draws + 10);
    refused("sample ising --until-ess 0", 2, "must be positive, got 0");
    refused("sample ising --until-rhat 0.9", 2, "must be above 1, got 0.9");
}

#[test]
fn nothing_is_overwritten_unless_asked() {
    let folder = Folder::new();
    let path = folder.path("run");
    done(&format!("{SMALL} --draws 50 --out {path}"));
    let again = format!("{SMALL} --draws 20 --out {path}");
    refused(&again, 1, "holds a run already: --resume goes on with it, --force replaces it");
    assert_eq!(done(&format!("{again} --force --json")).json()["draws"], 20);
    let notes = folder.path("notes");
    fs::create_dir(&notes).unwrap();
    fs::write(format!("{notes}/a.txt"), "mine").unwrap();
    let into = format!("{SMALL} --draws 20 --out {notes} --force");
    refused(&into, 1, "is neither empty nor a run of saltus, and is left as it is");
    let file = folder.file("file", "mine");
    refused(&format!("{SMALL} --out {file}"), 1, "cannot ");
    refused(&format!("{SMALL} --out {file}/below"), 1, "cannot ");
    refused(&format!("{SMALL} --out /proc/saltus"), 1, "cannot create /proc/saltus");
    refused(&format!("export {path} --csv {file}"), 1, "--force replaces it");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    done_export(&format!("export {path} --csv {file} --force"));
}

#[test]
fn what_cannot_be_resumed_is_refused() {
    let folder = Folder::new();
    let path = folder.path("run");
    refused(&format!("sample --resume {path}"), 1, "is not a run of saltus");
    let edges = folder.file("edges.txt", "0 1 0.5\n1 2 0.5\n");
    let line = format!("sample pairwise --edges {edges} --chains 2 --warmup 50 --draws 60");
    done(&format!("{line} --out {path}"));
    let resume = format!("sample --resume {path}");
    refused(&format!("{resume} ising"), 2, "leave out the model");
    refused(&format!("{resume} --chains 5"), 2, "leave out --chains");
    refused(&format!("{resume} --draws 5"), 2, "--extend");
    refused(&format!("{resume} --out {path}"), 2, "leave out --out");
    refused("sample ising --extend 5", 2, "--resume");
    refused("sample ising --keep states", 2, "--out");
    refused("sample", 2, "which model?");
    let out = folder.path("other");
    refused(&format!("sample potts --out {out} --keep bits"), 2, "use --keep states");
    assert!(!fs::exists(&out).unwrap());
    // The model is another one now.
    folder.file("edges.txt", "0 1 0.5\n1 2 0.6\n");
    refused_late(&resume, "it is of another model: log π of a state was");
    folder.file("edges.txt", "0 1 0.5\n1 2 0.5\n");
    // The checkpoint is cut off, or that of another run.
    let checkpoint = format!("{path}/checkpoint");
    let whole = fs::read(&checkpoint).unwrap();
    fs::write(&checkpoint, &whole[..whole.len() - 9]).unwrap();
    refused(&resume, 1, &format!("bytes of {}", whole.len()));
    done(&format!("{SMALL} --draws 20 --out {out}"));
    fs::copy(format!("{out}/checkpoint"), &checkpoint).unwrap();
    refused_late(&resume, "it is of a model of 36 sites × 2 values, this one has 3 × 2");
    fs::write(&checkpoint, "something else").unwrap();
    refused(&resume, 1, "it is not a checkpoint of saltus");
    // Without one the run is made again from its beginning.
    fs::remove_file(&checkpoint).unwrap();
    assert_eq!(done(&format!("{resume} --json")).json()["draws"], 60);
}

/// As [`refused`], once the heading is printed.
fn refused_late(line: &str, sentence: &str) {
    let ran = saltus(&format!("{line} --quiet --json"));
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{line}: {}", ran.err);
    assert!(ran.err.contains(sentence), "{line}: {}", ran.err);
}

#[test]
fn a_full_disk_leaves_what_was_written() {
    let folder = Folder::new();
    let disk = folder.path("disk");
    fs::create_dir(&disk).unwrap();
    let saltus = assert_cmd::cargo::cargo_bin!("saltus").display();
    // A small disk of its own, that goes away with the shell.
    let run = format!(
        "mount -t tmpfs -o size=4000k tmpfs {disk} || exit 77
         {saltus} sample ising --size 12 --chains 4 --warmup 100 --draws 200000 --keep bits \
             --out {disk}/run --checkpoint-every 10ms --quiet --json
         echo \"code $?\" >&2
         {saltus} export {disk}/run --csv {}",
        folder.path("draws.csv")
    );
    let arguments = ["--mount", "--map-root-user", "sh", "-c", &run];
    let output = Command::new("unshare").args(arguments).output();
    let Some(output) = output.ok().filter(|output| {
        output.status.code() != Some(77)
            && !String::from_utf8_lossy(&output.stderr).starts_with("unshare:")
    }) else {
        println!("skipped: this user cannot mount a small disk");
        return;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(errors.contains("No space left on device") && errors.contains("code 1"), "{errors}");
    let draws = fs::read_to_string(folder.path("draws.csv")).unwrap().lines().count();
    assert!(draws > 4 * 100, "{draws}");
}
