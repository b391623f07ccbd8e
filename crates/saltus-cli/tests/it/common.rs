//! Runs the real binary and looks at what it printed. The laboratory's tests use this file too.

// Each file of tests uses its own part of this one.
#![allow(dead_code)]

use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What a run of the binary left.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Its output as one JSON object and nothing else.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| {
            panic!("{error}\nstdout: {}\nstderr: {}", self.out, self.err);
        })
    }
}

/// Runs `saltus` with the words of a line.
pub fn saltus(line: &str) -> Ran {
    saltus_with(&line.split_whitespace().collect::<Vec<_>>())
}

/// Runs `saltus` with these arguments.
pub fn saltus_with(arguments: &[&str]) -> Ran {
    run("saltus", arguments)
}

/// Runs a binary of the tests' crate with these arguments.
pub fn run(binary: &str, arguments: &[&str]) -> Ran {
    let output = Command::cargo_bin(binary).unwrap().args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let ran = Ran {
        code: output.status.code().expect("ended by a signal"),
        out: text(output.stdout),
        err: text(output.stderr),
    };
    assert!(!ran.err.contains("panicked"), "{arguments:?}: {}", ran.err);
    ran
}

/// The summary of a run that must succeed.
pub fn summary(line: &str) -> Value {
    let ran = saltus(&format!("{line} --json --quiet"));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{line}");
    ran.json()
}

/// Waits until a file is there.
pub fn wait_for(path: &str) {
    let started = Instant::now();
    while !Path::new(path).exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "{path} never came");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Runs every command of a binary that stands in the blocks of a page, in their order and in a folder
/// of their own. In the page a command begins with one of these words.
pub fn run_page(page: &str, (binary, beginnings): (&str, &[&str]), fewest: usize) {
    let folder = tempfile::tempdir().unwrap();
    // The file that the guide to diagnostics makes with a command of the shell.
    std::fs::write(folder.path().join("weights.txt"), "0 1\n1 1\n2 -1\n").unwrap();
    // Small images in the place of the real ones.
    put_images_of_columns(&folder.path().join("data"), &["train", "t10k"]);
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let lines = blocks.flat_map(str::lines);
    let commands: Vec<Vec<&str>> = lines
        .map(|line| line.split('#').next().unwrap().trim())
        .filter_map(|line| beginnings.iter().find_map(|words| line.strip_prefix(words)))
        .map(|arguments| arguments.split_whitespace().collect())
        .collect();
    assert!(commands.len() >= fewest, "{commands:?}");
    for arguments in commands {
        let mut command = Command::cargo_bin(binary).unwrap();
        let output = command.args(&arguments).current_dir(folder.path()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{binary} {}: {errors}", arguments.join(" "));
        assert!(!output.stdout.is_empty());
    }
}

/// A folder of files that goes away with it.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// In memory where that is possible: stores insist on being written to disk.
    pub fn in_memory() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }

    /// Where something of that name would be.
    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path: PathBuf = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

/// A safetensors file of 32-bit floats.
pub fn tensors(entries: &[(&str, &[usize], &[f32])]) -> Vec<u8> {
    use safetensors::tensor::{Dtype, TensorView, serialize};
    let bytes: Vec<Vec<u8>> = entries
        .iter()
        .map(|(_, _, numbers)| numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
        .collect();
    let views = entries.iter().zip(&bytes).map(|((name, shape, _), bytes)| {
        (*name, TensorView::new(Dtype::F32, shape.to_vec(), bytes).unwrap())
    });
    serialize(views, None).unwrap()
}

/// 200 images of 6×5 pixels with a bright column, in a folder like MNIST's.
pub fn images_of_columns() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    put_images_of_columns(folder.path(), &["train"]);
    folder
}

/// Puts these parts of such a dataset into the folder `mnist` of a folder.
pub fn put_images_of_columns(folder: &Path, parts: &[&str]) {
    let mut bytes = vec![0, 0, 8, 3];
    bytes.extend([200u32, 6, 5].iter().flat_map(|size| size.to_be_bytes()));
    for image in 0..200 {
        bytes.extend((0..30).map(|pixel| if pixel % 5 == image % 5 { 230u8 } else { 20 }));
    }
    let own = folder.join("mnist");
    std::fs::create_dir_all(&own).unwrap();
    for part in parts {
        let file = std::fs::File::create(own.join(format!("{part}-images-idx3-ubyte.gz"))).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, &bytes).unwrap();
        encoder.finish().unwrap();
    }
}
