//! Runs in parts: `--shard` and `merge` leave the draws of one run, whatever the number of parts.
#![cfg(unix)]

use crate::common::{Folder, Ran, saltus};
use crate::folder::content;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LINE: &str = "sample potts --size 4 --values 3 --coupling 0.4 --chains 10 --warmup 150 \
                    --draws 60 --seed 7 --keep states --quiet";

fn done(line: &str) -> Ran {
    let ran = saltus(line);
    assert_eq!(ran.code, 0, "{line}: {}", ran.err);
    ran
}

/// Runs all parts and merges them; the folder of the whole.
fn in_parts(folder: &Folder, of: usize, options: &str) -> String {
    merged(folder, of, &format!("{LINE} {options}"))
}

fn merged(folder: &Folder, of: usize, line: &str) -> String {
    let out = folder.path(&format!("run{of}"));
    for index in 0..of {
        done(&format!("{line} --out {out} --shard {index}/{of}"));
    }
    // In any order.
    let parts: Vec<String> = (0..of).rev().map(|index| format!("{out}.{index}of{of}")).collect();
    let whole = folder.path(&format!("whole{of}"));
    let ran = done(&format!("merge {} --out {whole} --force", parts.join(" ")));
    assert!(ran.out.contains("10 chains of 60 draws"), "{}", ran.out);
    whole
}

/// The files of all draws.
fn draws(store: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = content(Path::new(store));
    files.retain(|name, _| name.starts_with("posterior") || name.starts_with("sample_stats"));
    assert!(files.len() > 5, "{files:?}");
    files
}

#[test]
fn any_number_of_shards_leaves_the_same_draws() {
    let folder = Folder::new();
    let one = draws(&in_parts(&folder, 1, "--sampler dlmc"));
    assert_eq!(draws(&in_parts(&folder, 3, "--sampler dlmc")), one);
    // They are those of a plain run with the scale that the first chains of the run were tuned to.
    let plain = folder.path("plain");
    let short = LINE.replace("--draws 60", "--draws 1").replace("--keep states", "--json");
    let tuned = done(&format!("{short} --sampler dlmc")).json();
    done(&format!("{LINE} --scale {} --out {plain}", tuned["scale"]));
    assert_eq!(draws(&plain), one);
    let report = done(&format!("report {}", folder.path("whole3")));
    assert!(report.out.contains("whole3.html"));
}

#[test]
fn shards_choose_the_sampler_of_the_whole() {
    let folder = Folder::new();
    let options = "--warmup 3000";
    let line = LINE.replace("--warmup 150", "");
    let plain = folder.path("plain");
    done(&format!("{line} {options} --out {plain}"));
    for index in 0..2 {
        let part = format!("{line} {options} --out {} --shard {index}/2", folder.path("run"));
        done(&part);
    }
    let whole = folder.path("whole");
    let (first, second) = (folder.path("run.0of2"), folder.path("run.1of2"));
    done(&format!("merge {first} {second} --out {whole}"));
    assert_eq!(draws(&plain), draws(&whole));
}

#[test]
fn samplers_without_a_scale_need_no_pilot() {
    let folder = Folder::new();
    let whole = draws(&in_parts(&folder, 4, "--sampler gibbs"));
    let plain = folder.path("plain");
    done(&format!("{LINE} --sampler gibbs --out {plain}"));
    assert_eq!(draws(&plain), whole);
}

/// Ladders of temperatures: draws, round trips and log Z, also of a model whose chains are evaluated many at once.
#[test]
fn ladders_are_cut_into_shards_too() {
    let tempering = |store: &str| {
        let root = std::fs::read(Path::new(store).join("zarr.json")).unwrap();
        let root: serde_json::Value = serde_json::from_slice(&root).unwrap();
        root["attributes"]["tempering"].as_str().unwrap().to_owned()
    };
    let rbm =
        LINE.replace("potts --size 4 --values 3 --coupling 0.4", "rbm --visible 12 --hidden 4");
    for line in [
        format!("{LINE} --sampler dlmc --temper"),
        format!("{LINE} --sampler gibbs --temper 4 --beta 0.7"),
        format!("{rbm} --sampler gibbs --temper 3"),
    ] {
        let folder = Folder::new();
        let (one, four) = (merged(&folder, 1, &line), merged(&folder, 4, &line));
        assert_eq!(draws(&four), draws(&one));
        assert_eq!(tempering(&four), tempering(&one));
        let told: serde_json::Value = serde_json::from_str(&tempering(&four)).unwrap();
        assert_eq!((&told["ensembles"], &told["scans"]), (&10.into(), &60.into()));
    }
}

#[test]
fn a_shard_that_is_started_again_goes_on() {
    let folder = Folder::new();
    let part = format!("{LINE} --out {} --shard 1/2", folder.path("run"));
    done(&part);
    let first = draws(&folder.path("run.1of2"));
    done(&part);
    assert_eq!(draws(&folder.path("run.1of2")), first);
    done(&format!("sample --resume {} --extend 5 --quiet", folder.path("run.1of2")));
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let folder = Folder::new();
    let (out, whole) = (folder.path("run"), folder.path("whole"));
    done(&format!("{LINE} --out {out} --shard 1/2"));
    done(&format!("{LINE} --out {out}"));
    let cases = [
        (format!("merge {out}.1of2 --out {whole}"), "all 2 shards are needed"),
        (format!("merge {out} --out {whole}"), "was not made by `saltus sample --shard`"),
        (format!("{LINE} --out {out} --shard 2/2"), "numbered from 0"),
        (format!("{LINE} --shard 0/2"), "--out"),
        (format!("{LINE} --out {out} --shard 0/2 --until-ess 5"), "leave out --until-ess"),
    ];
    for (line, sentence) in cases {
        let ran = saltus(&line);
        assert_eq!(ran.code, 2, "{line}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{line}: {}", ran.err);
    }
}

/// As queues do it: SIGUSR1 or SIGTERM, and later the same line again.
#[test]
fn a_shard_that_is_told_to_stop_leaves_a_checkpoint_and_goes_on_later() {
    let folder = Folder::new();
    let line = "sample ising --size 12 --coupling 0.3 --chains 8 --warmup 300 --draws 300000 --seed 7 --sampler dlmc \
                --quiet --shard 1/2 --out";
    done(&format!("{line} {}", folder.path("whole")));
    for signal in ["-TERM", "-USR1"] {
        let line = format!("{line} {}", folder.path(signal));
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("saltus"))
            .args(line.split_whitespace())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let part = folder.path(&format!("{signal}.1of2"));
        // The warm-up is saved before the first draw.
        while !Path::new(&part).join("checkpoint").exists() {
            assert_eq!(child.try_wait().unwrap(), None);
            std::thread::sleep(Duration::from_millis(5));
        }
        let asked = Instant::now();
        let told = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(told.success());
        assert_eq!(child.wait().unwrap().code(), Some(3), "{signal}");
        assert!(asked.elapsed() < Duration::from_secs(10), "{signal}: {:?}", asked.elapsed());
        done(&line);
        assert_eq!(draws(&part), draws(&folder.path("whole.1of2")), "{signal}");
    }
}
