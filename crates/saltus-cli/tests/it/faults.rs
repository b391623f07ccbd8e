//! What may go wrong around a run: nobody reads, files are in the way, folders go away. Nothing is lost or hidden.
#![cfg(unix)]

use crate::common::{Folder, saltus, wait_for};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const SMALL: &str = "ising --size 4 --chains 2 --warmup 20 --draws 50 --quiet";

fn start(line: &str, stdout: impl Into<Stdio>) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("saltus"))
        .args(line.split_whitespace())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The end of a command whose stdout nobody reads, from its beginning.
fn unread(line: &str) -> Output {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    start(line, writer).wait_with_output().unwrap()
}

#[test]
fn work_with_another_destination_goes_on_when_nobody_reads() {
    let folder = Folder::new();
    let [run, other, csv, png, bars, page] =
        ["run", "other", "run.csv", "run.png", "bars.svg", "run.html"]
            .map(|name| folder.path(name));
    for (line, left) in [
        (format!("sample {SMALL} --out {run}"), format!("{run}/checkpoint")),
        (format!("sample {SMALL} --out {other} --json"), format!("{other}/checkpoint")),
        (format!("sample {SMALL} --mosaic {png}"), png.clone()),
        (format!("compare {SMALL} --samplers gibbs --plot {bars}"), bars.clone()),
        (format!("export {run} --csv {csv}"), csv.clone()),
        (format!("report {run}"), page.clone()),
    ] {
        let output = unread(&line);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*errors), (Some(0), ""), "{line}");
        assert!(Path::new(&left).exists(), "{line}");
    }
    assert_eq!(saltus(&format!("export {run} --csv -")).out.lines().count(), 1 + 2 * 50);
}

#[test]
fn work_for_nobody_ends_at_once_and_not_as_a_success() {
    let folder = Folder::new();
    let run = folder.path("run");
    saltus(&format!("sample {SMALL} --out {run}"));
    for line in
        ["list", "list --json", &format!("sample {SMALL}"), &format!("export {run} --csv -")]
    {
        let output = unread(line);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*errors), (Some(141), ""), "{line}");
    }
}

#[test]
fn pictures_replace_nothing_unless_asked() {
    let folder = Folder::new();
    let (png, svg) = (folder.file("old.png", "precious"), folder.file("old.svg", "precious"));
    for (line, path) in [
        (format!("sample {SMALL} --mosaic {png}"), &png),
        (format!("compare {SMALL} --samplers gibbs --plot {svg}"), &svg),
    ] {
        let ran = saltus(&line);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{line}");
        assert!(ran.err.contains("--force replaces it"), "{}", ran.err);
        assert_eq!(fs::read(path).unwrap(), b"precious");
        assert_eq!(saltus(&format!("{line} --force")).code, 0);
        assert_ne!(fs::read(path).unwrap(), b"precious");
    }
}

#[test]
fn files_replace_nothing_unless_asked() {
    let folder = Folder::new();
    let old = folder.file("old", "precious");
    let ladder = "ising --size 4 --chains 2 --warmup 40 --draws 50 --quiet";
    for line in [
        format!("sample {SMALL} --marginals --mar {old}"),
        format!("sample {ladder} --temper 3 --keep-rungs {old}"),
        format!("log-z {ladder} --uai {old}"),
        format!("scan {ladder} --beta 0.2:1:3 --csv {old}"),
    ] {
        fs::write(&old, "precious").unwrap();
        let ran = saltus(&line);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{line}");
        assert!(ran.err.contains("--force replaces it"), "{line}: {}", ran.err);
        assert_eq!(fs::read(&old).unwrap(), b"precious", "{line}");
        let ran = saltus(&format!("{line} --force"));
        assert_eq!(ran.code, 0, "{line}: {}", ran.err);
        assert_ne!(fs::read(&old).unwrap(), b"precious", "{line}");
    }
}

#[test]
fn links_in_the_way_are_not_followed() {
    let folder = Folder::new();
    let precious = folder.file("precious", "mine");
    let run = folder.path("run");
    saltus(&format!("sample {SMALL} --out {run}"));
    let png = folder.path("a.png");
    for name in
        ["a.png.partial", "a.csv.partial", "run/checkpoint.partial", "run/zarr.json.partial"]
    {
        std::os::unix::fs::symlink(&precious, folder.path(name)).unwrap();
    }
    assert_eq!(saltus(&format!("sample {SMALL} --mosaic {png}")).code, 0);
    assert_eq!(saltus(&format!("sample --resume {run} --extend 10 --quiet")).code, 0);
    assert_eq!(saltus(&format!("export {run} --csv {}", folder.path("a.csv"))).code, 0);
    assert_eq!(fs::read(&precious).unwrap(), b"mine");
}

#[test]
fn a_failed_export_leaves_the_old_file_and_nothing_else() {
    let folder = Folder::new();
    let run = folder.path("run");
    saltus(&format!("sample {SMALL} --out {run}"));
    let (csv, npz) = (folder.file("a.csv", "old"), folder.file("a.npz", "old"));
    // The last array is damaged, so that writing has begun when it is read.
    let chunk = Path::new(&run).join("sample_stats/evaluations/c/0/0");
    let mut bytes = fs::read(&chunk).unwrap();
    let last = bytes.len() / 2;
    bytes[last] ^= 1;
    fs::write(&chunk, bytes).unwrap();
    for line in
        [format!("export {run} --csv {csv} --force"), format!("export {run} --npz {npz} --force")]
    {
        let ran = saltus(&line);
        assert_eq!(ran.code, 1, "{line}");
        assert!(ran.err.contains("evaluations"), "{}", ran.err);
    }
    assert_eq!(
        (fs::read(&csv).unwrap(), fs::read(&npz).unwrap()),
        (b"old".to_vec(), b"old".to_vec())
    );
    assert_eq!(fs::read_dir(Path::new(&csv).parent().unwrap()).unwrap().count(), 3);
}

#[test]
fn an_export_needs_a_format() {
    let folder = Folder::new();
    let run = folder.path("run");
    saltus(&format!("sample {SMALL} --out {run}"));
    for line in [format!("export {run}"), format!("export {run} --npz -")] {
        let ran = saltus(&line);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{line}");
        assert!(ran.err.contains("--csv"), "{}", ran.err);
    }
    let csv = folder.path("a.csv");
    saltus(&format!("export {run} --csv {csv}"));
    let printed = saltus(&format!("export {run} --csv -"));
    assert_eq!((printed.code, printed.out), (0, fs::read_to_string(&csv).unwrap()));
}

#[test]
fn a_folder_that_goes_away_ends_the_run() {
    for deleted in [false, true] {
        let folder = Folder::in_memory();
        let (run, moved) = (folder.path("run"), folder.path("moved"));
        let long = "sample ising --size 6 --chains 2 --warmup 100 --draws 100000000 --quiet";
        let line = format!("{long} --checkpoint-every 20ms --time-limit 60s --out {run}");
        let child = start(&line, Stdio::null());
        wait_for(&format!("{run}/checkpoint"));
        fs::rename(&run, &moved).unwrap();
        if deleted {
            fs::remove_dir_all(&moved).unwrap();
        }
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains("moved, deleted or replaced"), "{errors}");
        assert!(!errors.contains("--resume goes on"), "{errors}");
        assert!(!Path::new(&run).exists());
        if !deleted {
            let ran = saltus(&format!("sample --resume {moved} --time-limit 50ms --quiet --json"));
            assert_eq!(ran.code, 3, "{}", ran.err);
        }
    }
}

#[test]
fn a_kill_before_the_first_metadata_leaves_a_folder_that_is_as_good_as_none() {
    let folder = Folder::new();
    let run = folder.path("run");
    fs::create_dir(&run).unwrap();
    fs::write(format!("{run}/.lock"), "").unwrap();
    fs::write(format!("{run}/.abcdefGHI123.partial"), "half").unwrap();
    let ran = saltus(&format!("sample {SMALL} --out {run}"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!Path::new(&run).join(".abcdefGHI123.partial").exists());
    assert_eq!(saltus(&format!("export {run} --csv -")).out.lines().count(), 1 + 2 * 50);
}

#[test]
fn only_files_are_replaced_and_the_rest_is_known_before_the_work() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let folder = Folder::new();
    let [run, pipe, link, bars] =
        ["run", "pipe", "link.uai", "link.svg"].map(|name| folder.path(name));
    saltus(&format!("sample {SMALL} --out {run}"));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let read = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    let ran = saltus(&format!("export {run} --csv {pipe} --force"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(read.join().unwrap().lines().count(), 1 + 2 * 50);
    assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    assert_eq!(saltus(&format!("export {run} --csv /dev/null")).code, 0);
    // Links that lead nowhere.
    for path in [&link, &bars] {
        symlink("nowhere", path).unwrap();
    }
    for line in [
        format!("sample {SMALL} --mar {link}"),
        format!("sample {SMALL} --temper 2 --keep-rungs {link} --force"),
        format!("compare {SMALL} --samplers gibbs --plot {bars}"),
        format!("export {run} --csv {link} --force"),
        format!("log-z {SMALL} --uai {link}"),
        format!("scan {SMALL} --beta 0.1:0.2:2 --csv {link}"),
    ] {
        let ran = saltus(&line);
        assert_eq!((ran.code, &*ran.out), (1, ""), "{line}: {}", ran.err);
        assert!(ran.err.contains("it is a link"), "{line}: {}", ran.err);
    }
    assert!(Path::new(&link).is_symlink() && !Path::new(&folder.path("nowhere")).exists());
}

#[test]
fn what_was_drawn_is_told_even_if_it_cannot_be_written() {
    let folder = Folder::new();
    // A folder that goes away during the run.
    let there = folder.path("there");
    fs::create_dir(&there).unwrap();
    let long = "ising --size 4 --chains 2 --warmup 20 --draws 100000000 --time-limit 2s --quiet";
    let child = start(
        &format!("sample {long} --sampler gibbs --no-scouts --mar {there}/x"),
        Stdio::piped(),
    );
    std::thread::sleep(Duration::from_millis(700));
    fs::remove_dir_all(&there).unwrap();
    let output = child.wait_with_output().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("cannot write ") && out.contains("magnetisation"), "{out}{err}");
}

#[test]
fn stdout_is_no_name_of_a_file() {
    let folder = Folder::new();
    let run = folder.path("run");
    saltus(&format!("sample {SMALL} --out {run} --keep states"));
    for line in [
        format!("sample {SMALL} --out -"),
        format!("report {run} --out -"),
        format!("export {run} --csv - --states -"),
        format!("sample {SMALL} --mar - --json"),
    ] {
        let ran = saltus(&line);
        assert_eq!((ran.code, &*ran.out), (2, ""), "{line}: {}", ran.err);
    }
    // Where it is one, it holds nothing else.
    let ran = saltus(&format!("sample {SMALL} --mar -"));
    assert!(ran.code == 0 && ran.out.starts_with("MAR\n"), "{}{}", ran.out, ran.err);
    assert_eq!(ran.out.lines().count(), 2);
    assert!(!Path::new("-").exists());
    // Files are written though nobody reads what is said of them.
    let (model, states) = (folder.path("m.uai"), folder.path("states.npz"));
    let edges = folder.path("edges.txt");
    fs::write(&edges, "0 1 0.5\n1 2 0.5\n").unwrap();
    for (line, left) in [
        (format!("exact ising --size 2 --draws 5 --states {states}"), &states),
        (format!("convert {edges} {model} --format coo"), &model),
    ] {
        let output = unread(&line);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*errors), (Some(0), ""), "{line}");
        assert!(Path::new(left).exists(), "{line}");
    }
}
