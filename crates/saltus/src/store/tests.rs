//! Stores that were tampered with: what is wrong is said, and nothing else happens.

use super::layout::{FORMAT, SITE_MEANS, WITHOUT_RUN};
use super::{Description, Keep, StoreError, StoreWriter, Stored, digest};
use crate::model::independent::Independent;
use crate::{Model, Run, Sampler, Scouts, Settings, Unsent};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn model() -> Independent {
    Independent::bernoulli(vec![0.3; 9]).unwrap()
}

fn settings(draws: usize) -> Settings {
    let sampler = Sampler::gibbs();
    Settings { chains: 4, warmup: 20, draws, threads: Some(1), ..sampler.into() }
}

/// Stores a run of that many draws.
fn store(path: &Path, draws: usize) {
    let (model, settings) = (model(), settings(draws));
    let description =
        Description { keep: Keep::States, ..Description::new("test", model.space(), &settings) };
    let mut writer = StoreWriter::create(path, description, false).unwrap();
    Run::new(&model, settings).watch_sites().go_into(&mut writer).unwrap();
}

fn resume(path: &Path, draws: usize) -> Result<(), StoreError> {
    let (model, settings) = (model(), settings(draws));
    let description =
        Description { keep: Keep::States, ..Description::new("test", model.space(), &settings) };
    StoreWriter::resume(path, description).map(drop)
}

/// Reads everything there is.
fn read(path: &Path) -> Result<(), StoreError> {
    let stored = Stored::open(path)?;
    stored.outcome()?;
    stored.trace()?;
    for chain in 0..stored.chains() {
        stored.states(chain, 0..stored.draws())?;
    }
    Ok(())
}

/// Changes the metadata and makes its digest right again, as somebody would who knows how.
fn forge(path: &Path, change: impl Fn(&mut Value)) {
    let file = path.join("zarr.json");
    let mut root: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    change(&mut root);
    root["attributes"]["saltus_digest"] = json!(digest::BLANK);
    let mut bytes = serde_json::to_vec_pretty(&root).unwrap();
    digest::insert(&mut bytes);
    fs::write(&file, bytes).unwrap();
}

fn array<'a>(root: &'a mut Value, path: &str) -> &'a mut Value {
    &mut root["consolidated_metadata"]["metadata"][path]
}

fn fresh(draws: usize) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    store(&path, draws);
    (folder, path)
}

#[test]
fn metadata_that_was_changed_is_not_believed() {
    let (_folder, path) = fresh(50);
    let file = path.join("zarr.json");
    let whole = fs::read_to_string(&file).unwrap();
    for draws in ["10", "51", "2147483648", "1152921504606846976", "18446744073709551615"] {
        let changed = whole.replace("50\n", &format!("{draws}\n"));
        assert_ne!(changed, whole);
        fs::write(&file, changed).unwrap();
        assert!(matches!(read(&path), Err(StoreError::Damaged { .. })), "{draws}");
        assert!(matches!(resume(&path, 50), Err(StoreError::Damaged { .. })), "{draws}");
    }
    fs::write(&file, &whole).unwrap();
    read(&path).unwrap();
}

#[test]
fn arrays_must_agree_and_files_must_be_there_whoever_made_the_metadata() {
    let large = [51, 1000, 1 << 31, 1 << 53, 1 << 60, u64::MAX];
    for draws in large {
        let (_folder, path) = fresh(50);
        forge(&path, |root| array(root, "sample_stats/lp")["shape"] = json!([4, draws]));
        let error = read(&path).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{draws}: {error}");
        // All arrays alike.
        forge(&path, |root| {
            let all = root["consolidated_metadata"]["metadata"].as_object_mut().unwrap();
            for array in all.values_mut().filter(|array| array["shape"][1] == json!(50)) {
                array["shape"][1] = json!(draws);
            }
            array(root, "sample_stats/lp")["shape"][1] = json!(draws);
        });
        // A file of many draws has room for a few more, which are told by being no numbers.
        if draws > 1 << 17 {
            assert!(matches!(read(&path), Err(StoreError::Damaged { .. })), "{draws}");
        }
    }
}

/// Changes what a store says of its run, which is text in an attribute.
fn described(root: &mut Value, change: impl FnOnce(&mut Value)) {
    let run = &mut root["attributes"]["run"];
    let mut parts: Value = serde_json::from_str(run.as_str().unwrap()).unwrap();
    change(&mut parts);
    *run = parts.to_string().into();
}

#[test]
fn shapes_of_files_are_not_believed_either() {
    let changes: [fn(&mut Value); 6] = [
        |root| {
            array(root, "sample_stats/lp")["chunk_grid"]["configuration"]["chunk_shape"] =
                json!([4, 1u64 << 60])
        },
        |root| {
            array(root, "sample_stats/lp")["chunk_grid"]["configuration"]["chunk_shape"] =
                json!([1u64 << 40, 1u64 << 40])
        },
        |root| array(root, "posterior/state")["shape"] = json!([4, 50, 1u64 << 40]),
        |root| described(root, |run| run["settings"]["chains"] = json!(1u64 << 60)),
        |root| described(root, |run| run["sites"] = json!(1u64 << 60)),
        |root| array(root, SITE_MEANS)["shape"] = json!([1u64 << 60]),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let (_folder, path) = fresh(50);
        forge(&path, change);
        // Means of sites that are not there are cut off, which harms nobody.
        if number < 5 {
            assert!(matches!(read(&path), Err(StoreError::Damaged { .. })), "{number}");
        } else {
            let _ = read(&path);
        }
    }
}

#[test]
fn other_formats_are_refused() {
    let (_folder, path) = fresh(10);
    forge(&path, |root| root["attributes"]["saltus_format"] = json!(FORMAT + 1));
    assert!(matches!(Stored::open(&path), Err(StoreError::Damaged { .. })));
    // Nor does it help to call it none.
    forge(&path, |root| root["attributes"]["saltus_format"] = Value::Null);
    assert!(matches!(Stored::open(&path), Err(StoreError::Damaged { .. })));
}

#[test]
fn a_file_in_the_place_of_another_is_noticed_also_by_who_goes_on() {
    let (_folder, path) = fresh(3000);
    let files = ["posterior/hamming/c/0/0", "sample_stats/lp/c/0/0"].map(|name| path.join(name));
    let whole = fs::read(&files[1]).unwrap();
    fs::copy(&files[0], &files[1]).unwrap();
    assert!(matches!(read(&path), Err(StoreError::Damaged { .. })));
    assert!(matches!(resume(&path, 4000), Err(StoreError::Damaged { .. })));
    fs::write(&files[1], &whole).unwrap();
    resume(&path, 4000).unwrap();
    // States are not read by a summary, and checked all the same.
    let states = path.join("posterior/state/c/0/0/0");
    let mut bytes = fs::read(&states).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&states, bytes).unwrap();
    assert!(matches!(resume(&path, 4000), Err(StoreError::Damaged { .. })));
    fs::remove_file(&states).unwrap();
    assert!(matches!(resume(&path, 4000), Err(StoreError::Damaged { .. })));
}

#[test]
fn a_thinned_trace_is_the_one_that_memory_holds() {
    use crate::draws::trace::Trace;
    let (_folder, path) = fresh(9000);
    let stored = Stored::open(&path).unwrap();
    let all = stored.trace().unwrap();
    let mut thinned = Trace::new(false).at_most(10_000);
    Run::new(&model(), settings(9000)).watch_sites().go_into(&mut thinned).unwrap();
    let read = stored.thinned_trace(10_000).unwrap();
    assert_eq!((read.draws(), read.every()), (9000, 4));
    for name in ["log_prob", "hamming", "sites_changed"] {
        let [all, thinned, read] = [&all, &thinned, &read].map(|one| one.series(name).unwrap());
        assert_eq!(thinned, read);
        let every: Vec<f64> = all[2].iter().copied().step_by(4).collect();
        assert_eq!(read[2], every);
    }
}

#[test]
fn many_draws_are_few_files() {
    fn count(path: &Path) -> usize {
        let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        entries.map(|path| if path.is_dir() { count(&path) } else { 1 }).sum()
    }
    let [few, many] = [1000, 140_000].map(|draws| {
        let (_folder, path) = fresh(draws);
        count(&path)
    });
    // One file more for each of seven arrays over chain and draw.
    assert_eq!(many, few + 7);
}

#[test]
fn metadata_of_any_shape_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    for text in ["\"attributes\"", "[]", "7", "null", "{}", "{\"attributes\": 3}"] {
        fs::write(folder.path().join("zarr.json"), text).unwrap();
        assert!(Stored::open(folder.path()).is_err(), "{text}");
        assert!(!Stored::is_store(folder.path()), "{text}");
    }
}

/// The same run with another seed.
fn of_seed(seed: u64) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let (model, settings) = (model(), Settings { seed, ..settings(40) });
    let description =
        Description { keep: Keep::States, ..Description::new("test", model.space(), &settings) };
    let mut writer = StoreWriter::create(&path, description, false).unwrap();
    Run::new(&model, settings).watch_sites().go_into(&mut writer).unwrap();
    (folder, path)
}

#[test]
fn a_file_of_another_run_is_noticed_by_who_reads_and_by_who_goes_on() {
    let ((_one, path), (_three, other)) = (of_seed(0), of_seed(3));
    let chunk = "sample_stats/lp/c/0/0";
    let own = fs::read(path.join(chunk)).unwrap();
    fs::copy(other.join(chunk), path.join(chunk)).unwrap();
    let sentence = read(&path).unwrap_err().to_string();
    assert!(sentence.contains("does not match its run"), "{sentence}");
    assert!(resume(&path, 60).is_err());
    fs::write(path.join(chunk), own).unwrap();
    read(&path).unwrap();
    // Runs of the same draws have the same files, and one that is extended those of the longer run.
    let ((_again, same), (_longer, longer)) = (of_seed(0), fresh(40));
    let root = |path: &Path| Stored::open(path).unwrap().run().unwrap().to_owned();
    assert_eq!((root(&path), root(&path)), (root(&same), root(&longer)));
    assert_ne!(root(&path), root(&other));
}

#[test]
fn what_scouts_came_to_is_sealed() {
    let ((_one, path), (_three, other)) = (of_seed(0), of_seed(3));
    for path in [&path, &other] {
        StoreWriter::put_scouts(path, &Scouts::unsent(Unsent::Costly)).unwrap();
    }
    let told = Stored::open(&path).unwrap().scouts().unwrap();
    assert_eq!(told, Some(Scouts::unsent(Unsent::Costly)));
    let file = path.join("scouts.json");
    let own = fs::read_to_string(&file).unwrap();
    for wrong in [
        own.replace("costly", "tempered"),
        r#"{"sent": 8, "elsewhere": 0}"#.to_owned(),
        fs::read_to_string(other.join("scouts.json")).unwrap(),
    ] {
        fs::write(&file, wrong).unwrap();
        assert!(matches!(read(&path), Err(StoreError::Damaged { .. })));
    }
}

#[test]
fn stores_of_format_4_are_read_and_gone_on_with() {
    let (_folder, path) = fresh(40);
    // What a seal was: a checksum of place and content.
    let mut folders = vec![path.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            let key = file.strip_prefix(&path).unwrap().to_str().unwrap().to_owned();
            if file.is_dir() {
                folders.push(file);
            } else if key.contains("/c/") {
                let mut bytes = fs::read(&file).unwrap();
                bytes.truncate(bytes.len() - 4);
                let sum = crc32c::crc32c_append(crc32c::crc32c(key.as_bytes()), &bytes);
                bytes.extend(sum.to_le_bytes());
                fs::write(&file, bytes).unwrap();
            }
        }
    }
    forge(&path, |root| {
        root["attributes"]["saltus_format"] = json!(WITHOUT_RUN);
        root["attributes"].as_object_mut().unwrap().remove("saltus_run");
    });
    fs::write(path.join("scouts.json"), r#"{"sent": 8, "elsewhere": 0}"#).unwrap();
    read(&path).unwrap();
    let (model, settings) = (model(), settings(60));
    let description =
        Description { keep: Keep::States, ..Description::new("test", model.space(), &settings) };
    let (mut writer, checkpoint, _) = StoreWriter::resume(&path, description).unwrap();
    let run = Run::new(&model, settings).watch_sites().resume(checkpoint.unwrap());
    run.go_into(&mut writer).unwrap();
    drop(writer);
    read(&path).unwrap();
    assert_eq!(Stored::open(&path).unwrap().draws(), 60);
}
