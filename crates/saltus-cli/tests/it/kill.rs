//! A real process, killed at random moments and resumed until it is done, leaves the bytes of one
//! that was left in peace.
#![cfg(unix)]

use crate::common::{Folder, saltus};
use crate::folder::assert_same;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: [&str; 8] = [
    "ising --size 12 --sampler dlmc --chains 6 --draws 25000 --keep bits",
    "ising --size 12 --sampler gibbs --chains 4 --draws 25000",
    "potts --size 8 --sampler dmala --chains 3 --draws 15000 --keep states",
    "potts --size 8 --sampler gwg --chains 4 --draws 40000 --thin 3",
    "fhmm --length 12 --factors 4 --sampler pas --chains 4 --draws 15000",
    "rbm --visible 30 --hidden 10 --sampler rwm --chains 8 --draws 30000 --keep bits",
    "categorical --sites 60 --sampler dlmcf --chains 5 --draws 20000",
    "bernoulli --sites 100 --sampler hb --chains 4 --draws 60000 --until-ess 100000",
];

fn start(arguments: &str) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("saltus"))
        .args(arguments.split_whitespace())
        .args(["--checkpoint-every", "15ms", "--quiet"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits that long for the end of a process, then kills it; whether it had to.
fn kill_after(mut child: Child, time: Duration) -> bool {
    let started = Instant::now();
    while started.elapsed() < time {
        if let Some(status) = child.try_wait().unwrap() {
            let output = child.wait_with_output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(status.code(), Some(0), "{errors}");
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    true
}

#[test]
fn killed_runs_are_resumed_to_the_same_bytes() {
    kill_and_resume(15);
}

#[test]
#[ignore = "takes ten minutes; .ci/night runs it"]
fn runs_killed_many_times_are_resumed_to_the_same_bytes() {
    kill_and_resume(1000);
}

/// Kills so many runs at least, and compares what is left with runs that were left in peace.
fn kill_and_resume(fewest: usize) {
    let folder = Folder::in_memory();
    let whole: Vec<String> =
        (0..RUNS.len()).map(|run| folder.path(&format!("whole{run}"))).collect();
    let mut kills = 0;
    let mut moment = 12345u64;
    for attempt in 0.. {
        for (line, whole) in RUNS.iter().zip(&whole) {
            let line = format!("sample {line} --warmup 2500 --seed 3 --model-seed 4 --threads 2");
            if attempt == 0 {
                let ran = saltus(&format!("{line} --out {whole} --quiet --json"));
                assert_eq!(ran.code, 0, "{}", ran.err);
            }
            let broken = folder.path("broken");
            let mut stops = 0;
            loop {
                // Longer and longer, so that a slow machine gets to the end as well.
                moment = moment.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let time = Duration::from_millis(5 + (moment >> 40) % (60 + 25 * stops));
                let begun = Path::new(&broken).join("zarr.json").exists();
                let arguments = match begun {
                    true => format!("sample --resume {broken} --threads {}", 1 + stops % 3),
                    false => format!("{line} --out {broken}"),
                };
                if !kill_after(start(&arguments), time) {
                    break;
                }
                stops += 1;
            }
            kills += stops as usize;
            assert_same(whole, &broken, &line);
            std::fs::remove_dir_all(&broken).unwrap();
        }
        if kills >= fewest {
            break;
        }
        assert!(attempt < 200, "runs end before they can be killed: {kills} kills");
    }
    println!("{kills} kills");
}
