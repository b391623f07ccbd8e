//! `saltus-lab train vae` on images small enough to learn in a moment.

use crate::{common, lab, lab_with};
use std::path::Path;
use tempfile::TempDir;

/// An IDX file of images.
fn images(size: [u32; 3], pixels: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, 3];
    bytes.extend(size.iter().flat_map(|size| size.to_be_bytes()));
    bytes.extend(pixels);
    bytes
}

/// 200 images of 4×5 bits, one column of which is on; 40 more to choose by, 30 to test on.
fn data() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("mnist-static-binarized");
    std::fs::create_dir(&own).unwrap();
    for (part, count) in [("train", 200), ("valid", 40), ("test", 30)] {
        let bits =
            (0..count).flat_map(|image| (0..20).map(move |pixel| u8::from(pixel % 5 == image % 5)));
        let file = own.join(format!("{part}-images-idx3-ubyte"));
        std::fs::write(file, images([count, 4, 5], bits)).unwrap();
    }
    folder
}

/// The command on that data, with a file in the same folder and these options besides.
fn line(data: &TempDir, file: &str, options: &str) -> String {
    let folder = data.path().display();
    format!(
        "train vae --data {folder} --dataset static-mnist --hidden 8 --latent 2 --epochs 3 \
         --out {folder}/{file} {options}"
    )
}

#[test]
fn a_training_leaves_an_autoencoder_and_a_picture() {
    let data = data();
    let ran = lab(&line(&data, "vae.safetensors", "--batch 20"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    // 16·20 + 16, 16·8 + 16, 4·8 + 4, 16·2 + 16, 16·8 + 16, 20·8 + 20 parameters.
    for part in [
        "200 images of static-mnist, 4×5 pixels",
        "40 to choose by, 30 to test on",
        "20–8–8–2–8–8–20 numbers, 888 parameters",
        "30 updates in",
        "kept as after epoch 3",
        "30 test images, 500 draws",
        "written",
    ] {
        assert!(ran.out.replace('\n', " ").contains(part), "{part}: {}", ran.out);
    }
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80 || line.contains("written")));
    let picture = std::fs::File::open(data.path().join("vae-samples.png")).unwrap();
    let reader = png::Decoder::new(std::io::BufReader::new(picture)).read_info().unwrap();
    // Ten images of five pixels and eleven gaps, twice as large.
    assert_eq!(reader.info().width, 122);
    let file = std::fs::read(data.path().join("vae.safetensors")).unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&file).unwrap();
    assert_eq!(tensors.tensor("encoder.first.weight").unwrap().shape(), [16, 20]);
    assert_eq!(tensors.tensor("decoder.last.bias").unwrap().shape(), [20]);
}

#[test]
fn scripts_get_one_object() {
    let data = data();
    let options = "--batch 50 --samples 7 --seed 9 --warmup 2 --json --quiet";
    let ran = lab(&line(&data, "vae.safetensors", options));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let json = ran.json();
    for (key, expected) in
        [("hidden", 8), ("latent", 2), ("batch", 50), ("updates", 12), ("seed", 9), ("warmup", 2)]
    {
        assert_eq!(json[key].as_u64(), Some(expected), "{key}");
    }
    assert_eq!((&json["model"], &json["complete"]), (&"vae".into(), &true.into()));
    let history = json["history"].as_array().unwrap();
    assert_eq!((history.len(), &history[0]["weight"]), (3, &0.5.into()));
    assert!(history.iter().all(|epoch| epoch["validation"].is_number()));
    let bound = &json["bound"];
    assert_eq!((&bound["part"], &bound["samples"]), (&"test".into(), &7.into()));
    assert!(bound["mean"].as_f64().unwrap() < 0.0);
    assert!(bound["standard_error"].as_f64().unwrap() > 0.0);
    for file in json["files"].as_array().unwrap() {
        assert!(Path::new(file.as_str().unwrap()).is_file(), "{file}");
    }
}

#[test]
fn two_levels_and_convolutions_are_learnt_too() {
    let data = data();
    for (options, words, channels) in [
        ("--levels 2", "two levels of 2 numbers, layers of 8 units", None),
        ("--levels 2 --channels 2", "two levels of 2 numbers, 8 units, 2 channels", Some(2)),
    ] {
        let ran = lab(&line(&data, "text.safetensors", &format!("{options} --force")));
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains(words) || ran.out.contains(words), "{} {}", ran.err, ran.out);
        let json =
            lab(&line(&data, "a.safetensors", &format!("{options} --force --json --quiet"))).json();
        assert_eq!((&json["levels"], json["channels"].as_u64()), (&2.into(), channels));
        assert!(json["bound"]["bits_per_dim"].as_f64().unwrap() > 0.0, "{json}");
        assert!(json["processor_seconds"].as_f64().unwrap() > 0.0, "{json}");
    }
}

#[test]
fn a_folder_without_other_images_is_enough() {
    let data = common::images_of_columns();
    let folder = data.path().display();
    let command = format!(
        "train vae --data {folder} --dataset mnist --hidden 4 --latent 1 --epochs 1 --out \
         {folder}/vae.safetensors --json --quiet"
    );
    let json = lab(&command).json();
    assert_eq!(json["training_images"], 200);
    assert!(json["bound"].is_null() && json["best_epoch"].is_null());
    assert!(json["validation_images"].is_null() && json["history"][0]["validation"].is_null());
}

#[test]
fn the_same_seed_gives_the_same_files_for_any_number_of_threads() {
    let data = data();
    let bytes = |name: &str, options: &str| {
        let options = format!("--batch 60 {options} --quiet");
        assert_eq!(lab(&line(&data, &format!("{name}.safetensors"), &options)).code, 0);
        [".safetensors", "-samples.png"]
            .map(|end| std::fs::read(data.path().join(format!("{name}{end}"))).unwrap())
    };
    let one = bytes("one", "--threads 1");
    assert_eq!(one, bytes("two", "--threads 2"));
    assert_ne!(one[0], bytes("other", "--threads 1 --seed 1")[0]);
}

#[test]
fn what_cannot_be_trained_is_refused_in_a_sentence() {
    let data = data();
    let folder = data.path().display();
    let usage = [
        ("--batch 201", "a batch of 201 is more than the 200 images"),
        ("--batch 0", "at least 1, got 0"),
        ("--learning-rate 0", "must be a positive number, got 0"),
        ("--samples 1000001", "between 1 and 1000000 draws per image, got 1000001"),
        ("--patience 0", "at least 1, got 0"),
        ("--warmup -1", "cannot be negative"),
        ("--levels 3", "one level or two, got 3"),
        ("--channels 4", "convolutions are for two levels"),
    ];
    for (options, sentence) in usage {
        let ran = lab(&line(&data, "x.safetensors", options));
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{options}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{options}: {}", ran.err);
    }
    let faces = data.path().join("frey-faces");
    std::fs::create_dir(&faces).unwrap();
    std::fs::write(faces.join("images-idx3-ubyte"), images([40, 1, 2], 0..80)).unwrap();
    let vae = |options: String| lab(&format!("train vae {options}"));
    let gray =
        format!("--data {folder} --dataset frey --batch 10 --hidden 3 --latent 1 --epochs 2");
    let ran = vae(format!("{gray} --out {folder}/gray.safetensors --json --quiet"));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(ran.json()["values"], 256);
    assert!(ran.json()["bound"].is_null() || ran.json()["bound"]["bits_per_dim"].is_number());
    let bad = data.path().join("bad");
    std::fs::create_dir(&bad).unwrap();
    std::fs::write(bad.join("train-images-idx3-ubyte"), b"no images").unwrap();
    std::fs::write(data.path().join("old-samples.png"), "precious").unwrap();
    let failed = [
        (format!("--data {folder} --dataset caltech --out x"), "no images of caltech"),
        (format!("--data {folder} --dataset statik-mnist --out x"), "did you mean 'static-mnist'?"),
        (format!("--data {folder} --dataset bad --out x"), "is not an IDX file of images"),
        (format!("--data {folder} --dataset static-mnist --out {folder}/none/x"), "does not exist"),
        (format!("--data {folder} --dataset static-mnist --out {folder}/bad"), "is a folder"),
        (format!("--data {folder} --dataset static-mnist --out {folder}/old.s"), "exists already"),
    ];
    for (options, sentence) in failed {
        let ran = vae(options.clone());
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{options}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{options}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
    let ran = lab(&line(&data, "x.safetensors", "--learning-rate 1e9 --json --quiet"));
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("training diverged at update 1: "), "{}", ran.err);
    assert!(!data.path().join("x.safetensors").exists());
}

#[test]
fn every_command_of_the_page_is_understood() {
    let page = include_str!("../../../../docs/vae.md");
    let commands: Vec<&str> =
        page.lines().filter_map(|line| line.trim().strip_prefix("saltus-lab train vae ")).collect();
    assert!(commands.len() >= 2, "{commands:?}");
    for command in commands {
        // Everything but the data is there: real trainings take minutes.
        let mut words: Vec<&str> = command.split_whitespace().collect();
        let data = words.iter().position(|word| *word == "--data").unwrap();
        words[data + 1] = "/nowhere";
        let ran = lab_with(&[&["train", "vae"], &words[..]].concat());
        assert_eq!(ran.code, 1, "{command}: {}", ran.err);
        assert!(ran.err.contains("no images of"), "{command}: {}", ran.err);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_was_learnt() {
    use std::process::{Command, Stdio};
    let data = data();
    let line = line(&data, "stopped.safetensors", "--batch 20 --json --quiet");
    let line = line.replace("--epochs 3", "--epochs 100000000 --patience 100000000");
    let child = Command::new(assert_cmd::cargo::cargo_bin!("saltus-lab"))
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
    assert_eq!((&json["complete"], &json["bound"]), (&false.into(), &serde_json::Value::Null));
    assert!(json["updates"].as_u64().unwrap() > 0);
    assert!(data.path().join("stopped.safetensors").is_file());
}
