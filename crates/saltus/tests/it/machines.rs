//! What several test files need.

use std::path::PathBuf;

/// The folder of reference machines, or nothing if it is not there.
pub fn reference_machines() -> Option<PathBuf> {
    let data = std::env::var_os("SALTUS_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    let folder = data.join("rbm-reference");
    if folder.is_dir() {
        Some(folder)
    } else {
        println!(
            "skipped: {} does not exist (set SALTUS_DATA to the folder of data)",
            folder.display()
        );
        None
    }
}
