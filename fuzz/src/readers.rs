//! Every reader of files, to be given any bytes: it may refuse them, and nothing else. The fuzzing targets and the tests
//! of the gate call these.

// Each fuzzing target calls one of them.
#![allow(dead_code)]

use saltus::ais::AisCheckpoint;
use saltus::draws::linear::Linear;
use saltus::model::edge_list::{read_edges, read_fields};
use saltus::model::rbm::Rbm;
use saltus::store::Stored;
use saltus::temper::TemperReport;
use saltus::zoo::read::{Format, evidence};
use saltus::{Checkpoint, Space};
use saltus_learn::data::read_images;
use std::path::Path;

/// A reader that is given bytes.
pub type Reader = fn(&[u8]);

/// The readers by name.
pub const ALL: [(&str, Reader); 10] = [
    ("images", images),
    ("tensors", tensors),
    ("edges", edges),
    ("weights", weights),
    ("metadata", metadata),
    ("checkpoint", checkpoint),
    ("annealing", annealing),
    ("models", models),
    ("ladders", ladders),
    ("after", after),
];

/// A file of those bytes, in memory where that is possible.
fn with_file(name: &str, bytes: &[u8], read: impl FnOnce(&Path)) {
    let memory = Path::new("/dev/shm");
    let folder = match memory.is_dir() {
        true => tempfile::tempdir_in(memory),
        false => tempfile::tempdir(),
    };
    let folder = folder.expect("there is room for a folder");
    std::fs::write(folder.path().join(name), bytes).expect("there is room for a file");
    read(folder.path());
}

/// Images in the IDX format, plain or compressed.
pub fn images(bytes: &[u8]) {
    with_file("images", bytes, |folder| drop(read_images(folder.join("images"))));
}

/// A safetensors file.
pub fn tensors(bytes: &[u8]) {
    with_file("rbm.safetensors", bytes, |folder| drop(Rbm::load(folder.join("rbm.safetensors"))));
}

/// Lists of edges and of fields.
pub fn edges(bytes: &[u8]) {
    with_file("edges", bytes, |folder| {
        drop(read_edges(folder.join("edges")));
        drop(read_fields(folder.join("edges"), 5, 3));
    });
}

/// The weights of an observable.
pub fn weights(bytes: &[u8]) {
    let space = Space::new(4, 3).expect("a small space");
    with_file("weights", bytes, |folder| drop(Linear::read(folder.join("weights"), &space)));
}

/// What describes a store.
pub fn metadata(bytes: &[u8]) {
    with_file("zarr.json", bytes, |folder| {
        if let Ok(stored) = Stored::open(folder) {
            drop(stored.outcome());
        }
    });
}

/// The checkpoint of a run: what a file holds, and a file behind metadata that is right.
pub fn checkpoint(bytes: &[u8]) {
    drop(Checkpoint::from_bytes(bytes));
    with_file("checkpoint", bytes, |folder| {
        let metadata = include_bytes!("../corpus/metadata/empty");
        std::fs::write(folder.join("zarr.json"), metadata).expect("there is room for a file");
        drop(Stored::open(folder).map(|stored| stored.checkpoint()));
    });
}

/// The checkpoint of annealing.
pub fn annealing(bytes: &[u8]) {
    with_file("annealing", bytes, |folder| drop(AisCheckpoint::load(folder.join("annealing"))));
}

/// Files of models, in every format: what they hold may be asked of any of them.
pub fn models(bytes: &[u8]) {
    Format::ALL.iter().for_each(|format| drop(format.read(bytes)));
    drop(Format::detect(bytes));
    drop(evidence(bytes));
}

/// What the ladders of a part of a run counted: what a file holds, and a file that is whole.
pub fn ladders(bytes: &[u8]) {
    drop(TemperReport::from_bytes(bytes));
    with_file("ladders", bytes, |folder| {
        let metadata = include_bytes!("../corpus/metadata/empty");
        std::fs::write(folder.join("zarr.json"), metadata).expect("there is room for a file");
        drop(Stored::open(folder).map(|stored| stored.ladders()));
    });
}

/// What is found after a run: what scouts came to, and exact means.
pub fn after(bytes: &[u8]) {
    with_file("scouts.json", bytes, |folder| {
        std::fs::write(folder.join("exact.json"), bytes).expect("there is room for a file");
        let metadata = include_bytes!("../corpus/metadata/empty");
        std::fs::write(folder.join("zarr.json"), metadata).expect("there is room for a file");
        drop(Stored::open(folder).map(|stored| (stored.scouts(), stored.exact())));
    });
}
