//! xarray and ArviZ open a store as it is, and find in it what saltus exports.

use crate::common::{Folder, saltus};
use crate::tools::python;
use std::path::Path;
use std::process::Command;

#[test]
fn stores_open_in_python() {
    let Some(python) = python("arviz, xarray, zarr") else { return };
    let folder = Folder::new();
    let cases = [
        ("ising --size 5x7 --chains 4 --draws 3000", "bits"),
        ("ising --size 4 --chains 3 --draws 700 --sampler gwg --thin 3", "states"),
        ("potts --size 4 --chains 2 --draws 1024", "states"),
        ("rbm --visible 20 --hidden 5 --chains 5 --draws 600 --sampler gibbs", "none"),
    ];
    for (number, (line, keep)) in cases.into_iter().enumerate() {
        let [store, csv, npz] =
            ["store", "csv", "npz"].map(|kind| folder.path(&format!("{number}.{kind}")));
        let ran =
            saltus(&format!("sample {line} --warmup 300 --keep {keep} --out {store} --quiet"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        let ran = saltus(&format!("export {store} --csv {csv} --npz {npz}"));
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/open_store.py");
        let arguments = [&store, &csv, &npz, keep];
        let output = Command::new(&python).arg(script).args(arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {errors}");
    }
}
