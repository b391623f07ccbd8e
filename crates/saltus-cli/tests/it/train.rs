//! `saltus train` on images small enough to learn in a moment.

use crate::common::{images_of_columns as data, saltus, saltus_with};
use std::path::Path;
use tempfile::TempDir;

/// The command on that data, with a file in the same folder and these options besides.
fn line(data: &TempDir, file: &str, options: &str) -> String {
    let folder = data.path().display();
    format!(
        "train rbm --data {folder} --dataset mnist --batch 20 --steps 3 --out {folder}/{file} \
         {options}"
    )
}

#[test]
fn a_training_leaves_an_rbm_and_two_pictures() {
    let data = data();
    let ran = saltus(&line(&data, "rbm.safetensors", "--hidden 7 --epochs 2"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    for part in ["200 images of mnist, 6×5 pixels", "20 updates in", "this RBM", "written"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert!(!ran.out.contains("authors"), "there is no published RBM of seven units");
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80 || line.contains("written")));
    let path = |name: &str| data.path().join(name);
    for picture in ["rbm-samples.png", "rbm-filters.png"] {
        let file = std::io::BufReader::new(std::fs::File::open(path(picture)).unwrap());
        let reader = png::Decoder::new(file).read_info().unwrap();
        assert!(reader.info().width >= 38, "{picture}");
    }
    let machine = path("rbm.safetensors");
    let line = format!(
        "sample rbm --weights {} --chains 4 --warmup 50 --draws 50 --json --quiet",
        machine.display()
    );
    let json = saltus(&line).json();
    assert_eq!((json["sites"].as_u64(), json["values"].as_u64()), (Some(30), Some(2)));
}

#[test]
fn scripts_get_one_object() {
    let data = data();
    let options = "--values 3 --method pcd --hidden 4 --epochs 3 --seed 9 --json --quiet";
    let ran = saltus(&line(&data, "three.safetensors", options));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let json = ran.json();
    for (key, expected) in
        [("values", 3), ("hidden", 4), ("steps", 3), ("batch", 20), ("updates", 30), ("seed", 9)]
    {
        assert_eq!(json[key].as_u64(), Some(expected), "{key}");
    }
    assert_eq!((&json["method"], &json["complete"]), (&"pcd".into(), &true.into()));
    assert!(json["binarise"].is_null() && json["reference"].is_null());
    assert!(json["statistics"]["weight"]["sd"].as_f64().unwrap() > 0.0);
    assert!(json["reconstruction_error"].is_number() && json["free_energy_gap"].is_number());
    assert_eq!(json["history"].as_array().unwrap().len(), 30);
    for file in json["files"].as_array().unwrap() {
        assert!(Path::new(file.as_str().unwrap()).is_file(), "{file}");
    }
}

#[test]
fn the_published_machine_stands_beside_its_like() {
    let data = data();
    let json = saltus(&line(&data, "a.safetensors", "--hidden 25 --json --quiet")).json();
    assert_eq!(json["reference"]["weight"]["min"], -0.5162);
}

#[test]
fn the_same_seed_gives_the_same_files_for_any_number_of_threads() {
    let data = data();
    let bytes = |name: &str, options: &str| {
        let options = format!("--hidden 9 --binarise stochastic {options} --quiet");
        assert_eq!(saltus(&line(&data, &format!("{name}.safetensors"), &options)).code, 0);
        [".safetensors", "-samples.png", "-filters.png"]
            .map(|end| std::fs::read(data.path().join(format!("{name}{end}"))).unwrap())
    };
    let one = bytes("one", "--threads 1");
    assert_eq!(one, bytes("two", "--threads 2"));
    assert_ne!(one[0], bytes("other", "--threads 1 --seed 1")[0]);
}

#[test]
fn files_are_replaced_only_when_asked() {
    let data = data();
    std::fs::write(data.path().join("old-samples.png"), "precious").unwrap();
    let command = line(&data, "old.safetensors", "");
    let ran = saltus(&command);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(
        ran.err.contains("old-samples.png: exists already; --force replaces it"),
        "{}",
        ran.err
    );
    assert_eq!(std::fs::read(data.path().join("old-samples.png")).unwrap(), b"precious");
    assert_eq!(saltus(&format!("{command} --force")).code, 0);
    assert_ne!(std::fs::read(data.path().join("old-samples.png")).unwrap(), b"precious");
}

#[test]
fn what_cannot_be_trained_is_refused_in_a_sentence() {
    let data = data();
    let folder = data.path().display();
    let usage = [
        ("--values 4 --binarise stochastic", "makes two values of a pixel, but --values is 4"),
        ("--values 1", "between 2 and 256 values, got 1"),
        ("--hidden 0", "at least 1, got 0"),
        ("--hidden 99999999999", "weights saltus can index"),
        ("--batch 201", "a batch of 201 is more than the 200 examples"),
        ("--learning-rate 0", "must be a positive number, got 0"),
        ("--learning-rate -1", "must be a positive number, got -1"),
        ("--method dc", "did you mean 'cd'?"),
        ("--binarise treshold", "'threshold'"),
        ("--epochs 18446744073709551615", "more than can be counted"),
    ];
    for (options, sentence) in usage {
        // The batch may be given once only.
        let line = line(&data, "x.safetensors", options);
        let line = if options.contains("--batch") { line.replace("--batch 20 ", "") } else { line };
        let ran = saltus(&line);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{options}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{options}: {}", ran.err);
    }
    let failed = [
        (format!("--data {folder}/none --dataset mnist --out x"), "no images of mnist in"),
        (format!("--data {folder} --dataset fashion-mnist --out x"), "dataset-fashion-mnist"),
        (format!("--data {folder} --dataset mnist --out {folder}/none/x"), "folder does not exist"),
        (format!("--data {folder} --dataset mnist --out {folder}/mnist"), "is a folder"),
    ];
    for (options, sentence) in failed {
        let ran = saltus(&format!("train rbm {options}"));
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{options}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{options}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
    let ran = saltus(&line(&data, "x.safetensors", "--learning-rate 1e9 --json --quiet"));
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("training diverged at iteration 1: "), "{}", ran.err);
    assert!(!data.path().join("x.safetensors").exists());
    let left: Vec<_> = std::fs::read_dir(data.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "only the data: {left:?}");
}

#[test]
fn a_place_that_takes_no_file_is_noticed_before_the_work() {
    let data = data();
    // A picture would be put under this name and twelve letters more, which is too long a name.
    let name = "x".repeat(250);
    let ran = saltus(&line(&data, &name, ""));
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(ran.err.contains("xxx-samples.png: cannot be written: "), "{}", ran.err);
    let left: Vec<_> = std::fs::read_dir(data.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "only the data: {left:?}");
}

#[test]
#[cfg(not(feature = "deep"))]
fn a_build_without_deep_models_says_how_to_get_them() {
    let ran = saltus("train resnet --data somewhere --dataset static-mnist");
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("--features deep"), "{}", ran.err);
}

#[test]
fn every_command_of_the_page_on_training_is_understood() {
    let page = include_str!("../../../../docs/training.md");
    let commands: Vec<&str> =
        page.lines().filter_map(|line| line.trim().strip_prefix("saltus train ")).collect();
    assert!(commands.len() >= 4, "{commands:?}");
    for command in commands {
        // Everything but the data is there: real trainings take minutes.
        let mut words: Vec<&str> = command.split_whitespace().collect();
        let data = words.iter().position(|word| *word == "--data").unwrap();
        words[data + 1] = "/nowhere";
        let ran = saltus_with(&[&["train"], &words[..]].concat());
        assert_eq!(ran.code, 1, "{command}: {}", ran.err);
        assert!(ran.err.contains("no images of"), "{command}: {}", ran.err);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_was_learnt() {
    use std::process::{Command, Stdio};
    let data = data();
    let line = line(&data, "stopped.safetensors", "--epochs 100000000 --json --quiet");
    let child = Command::new(assert_cmd::cargo::cargo_bin!("saltus"))
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["complete"], false);
    assert!(json["updates"].as_u64().unwrap() > 0);
    assert!(data.path().join("stopped.safetensors").is_file());
}

#[test]
fn an_rbm_and_a_network_on_it_go_on_from_their_checkpoints() {
    let data = data();
    let folder = data.path().display();
    let of = |name: &str| std::fs::read(data.path().join(name)).unwrap();
    let network = |out: &str, options: &str| {
        format!(
            "train dbn --bottom {folder}/whole.safetensors --data {folder} --dataset mnist --batch 20 \
             --steps 3 --hidden 31 --out {folder}/{out} {options}"
        )
    };
    type Line<'l> = &'l dyn Fn(&str, &str) -> String;
    let rbm: Line<'_> =
        &|out, options| line(&data, out, &format!("--hidden 7 --method pcd {options}"));
    for (line, name) in [(rbm, ""), (&network as Line<'_>, "top-")] {
        let file = |what: &str| format!("{name}{what}");
        let run = |command: String| {
            let ran = saltus(&command);
            assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{command}");
            ran.json()
        };
        let options = "--epochs 3 --quiet --json";
        let whole = run(line(&file("whole.safetensors"), options));
        assert!(whole["processor_seconds"].as_f64().unwrap() > 0.0);
        let cut = "--epochs 1 --save-every 4 --threads 1 --quiet --json";
        run(line(&file("parts.safetensors"), cut));
        let parts = run(line(&file("parts.safetensors"), &format!("{options} --resume")));
        assert_eq!((&parts["updates"], &parts["complete"]), (&30.into(), &true.into()));
        for end in [".safetensors", "-samples.png"] {
            assert!(
                of(&file(&format!("whole{end}"))) == of(&file(&format!("parts{end}"))),
                "{end}"
            );
        }
        let ran = saltus(&line(&file("parts.safetensors"), "--epochs 4 --seed 5 --resume --quiet"));
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert!(ran.err.contains("is of a training with other settings"), "{}", ran.err);
    }
    let none = saltus(&line(&data, "none.safetensors", "--resume --quiet"));
    assert!(none.code == 1 && none.err.contains("none-checkpoint.safetensors"), "{}", none.err);
}

#[test]
fn any_sampler_and_any_table_will_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    // Four sites that are all equal, as rows of numbers.
    std::fs::write(path("rows.csv"), "0,0,0,0\n1,1,1,1\n".repeat(30)).unwrap();
    let options = "--hidden 3 --batch 10 --steps 2 --epochs 4 --method pcd --buffer 20 --decay 0.9 \
                   --final-learning-rate 0.0001 --fall cosine --max-steps 4 --json --quiet";
    let line = |name: &str, more: &str| {
        format!("train rbm --data {} --out {} {options} {more}", path("rows.csv"), path(name))
    };
    let json = saltus(&line("a.safetensors", "--sampler dlmc")).json();
    assert_eq!((&json["sampler"], &json["visible"]), (&"dlmc".into(), &4.into()));
    assert_eq!((&json["examples"], &json["updates"]), (&60.into(), &24.into()));
    let json = saltus(&line("b.safetensors", "")).json();
    assert_eq!(json["sampler"], "layers");
    for (more, sentence) in [
        ("--scale 0.5", "--scale is about a sampler: name one by --sampler"),
        ("--sampler dlcm", "did you mean 'dlmc'?"),
        ("--sampler dld", "count by weights"),
        ("--max-steps 1", "2 steps at first, not fewer later"),
    ] {
        let line = line("c.safetensors", more);
        let line = match more.starts_with("--max") {
            true => line.replace("--max-steps 4 ", ""),
            false => line,
        };
        let ran = saltus(&line);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{more}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{more}: {}", ran.err);
    }
    let ran = saltus(&format!("train rbm --data {} --out x", folder.path().display()));
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("--dataset says which images are meant"), "{}", ran.err);
}

#[test]
fn couplings_of_sequences_are_learnt_kept_and_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    // The first and the last letter are a pair of RNA; one sequence has a letter of none.
    let sequences = ["ACAU", "AGCU", "CAAG", "CUUG", "UAGA", "UCCA", "GGGC", "GUAC", "GNAC"];
    let fasta: String = sequences.iter().map(|letters| format!(">x\n{letters}\n")).collect();
    std::fs::write(path("family.fasta"), fasta).unwrap();
    let line = |out: &str, options: &str| {
        format!(
            "train potts --data {} --out {} --chains 500 --steps 3 --learning-rate 0.05 \
             --final-learning-rate 0.05 --epsilon 0.05 {options} --quiet",
            path("family.fasta"),
            path(out)
        )
    };
    let whole = saltus(&line("whole.dat", "--iterations 60 --json"));
    assert_eq!((whole.code, whole.err.as_str()), (0, ""));
    let json = whole.json();
    for (key, expected) in [("sequences", 8), ("left_out", 1), ("sites", 4), ("iterations", 60)] {
        assert_eq!(json[key].as_u64(), Some(expected), "{key}");
    }
    assert_eq!(json["alphabet"], "-ACGU");
    assert!(json["pearson"].as_f64().unwrap() > 0.8, "{json}");
    for file in json["files"].as_array().unwrap() {
        assert!(Path::new(file.as_str().unwrap()).is_file(), "{file}");
    }
    let samples = std::fs::read_to_string(path("whole-samples.fasta")).unwrap();
    assert_eq!(samples.lines().count(), 1000);
    assert!(samples.starts_with(">sequence 1 | DCAenergy: "), "{samples}");
    // What was learnt is a model like any other.
    let drawn = saltus(&format!(
        "sample {} --chains 4 --warmup 50 --draws 50 --json --quiet",
        path("whole.dat")
    ));
    assert_eq!(drawn.json()["sites"], 4);
    // In two parts it comes to the same.
    assert_eq!(saltus(&line("parts.dat", "--iterations 25 --threads 1")).code, 0);
    let ran = saltus(&line("parts.dat", "--iterations 60 --threads 2 --resume"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let of = |name: &str| std::fs::read(path(name)).unwrap();
    assert!(of("whole.dat") == of("parts.dat"));
    assert!(of("whole-samples.fasta") == of("parts-samples.fasta"));
    for (options, code, sentence) in [
        ("--iterations 60", 1, "exists already; --force replaces it, --resume goes on with it"),
        ("--resume --steps 4 --iterations 60", 1, "is of a training with other settings"),
        ("--force --alphabet XY", 1, "no sequence has letters of the alphabet XY alone"),
        ("--force --identity 2", 2, "lies between 0 and 1, got 2"),
        ("--force --pseudocount 1", 2, "a share below 1, got 1"),
        ("--force --sampler dld", 2, "count by weights"),
    ] {
        let line = line("whole.dat", options);
        let line = match options.contains("--steps") {
            true => line.replace("--steps 3 ", ""),
            false => line,
        };
        let ran = saltus(&line);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{options}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{options}: {}", ran.err);
    }
}
