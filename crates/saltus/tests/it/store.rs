//! Stores give back what was drawn, stay readable when something goes wrong, and never take the place
//! of what was there.

use crate::folder::temporary;
use saltus::draws::sink::STATISTICS;
use saltus::model::independent::Independent;
use saltus::model::lattice::Lattice;
use saltus::model::pairwise::Pairwise;
use saltus::store::{Description, Keep, StoreError, StoreWriter, Stored};
use saltus::{Ended, Model, Outcome, Run, RunError, Sampler, Settings};
use std::fs;
use std::path::{Path, PathBuf};

fn ising() -> Pairwise {
    Pairwise::ising_lattice(Lattice::free(3, 3).unwrap(), 0.3, vec![0.1; 9]).unwrap()
}

fn store<M: Model>(path: &Path, model: &M, settings: &Settings, keep: Keep) -> Outcome {
    let description = Description { keep, ..Description::new("test", model.space(), settings) };
    let mut writer = StoreWriter::create(path, description, false).unwrap();
    Run::new(model, settings.clone()).observe("sum", sum).go_into(&mut writer).unwrap()
}

fn sum(state: &[u8]) -> f64 {
    state.iter().map(|value| f64::from(*value)).sum()
}

fn settings() -> Settings {
    Settings { chains: 3, warmup: 120, draws: 1100, thin: 2, ..Settings::default() }
}

#[test]
fn everything_comes_back() {
    let folder = temporary();
    let settings = settings();
    let memory =
        Run::new(&ising(), settings.clone()).observe("sum", sum).keep_states().go().unwrap();
    for keep in [Keep::None, Keep::States, Keep::Bits] {
        let path = folder.path().join(format!("{keep:?}"));
        let ran = store(&path, &ising(), &settings, keep);
        assert_eq!(ran.trace.draws(), 0, "draws that are in a store are not in memory, too");
        let stored = Stored::open(&path).unwrap();
        assert_eq!((stored.chains(), stored.draws()), (3, 1100));
        assert_eq!(stored.names(), ["log_prob", "hamming", "sum"]);
        assert_eq!(stored.ended(), Some(Ended::Complete));
        assert_eq!(stored.warmup().unwrap(), memory.warmup);
        assert_eq!(stored.scale(), memory.scale);
        let names = stored.names().iter().map(String::as_str).chain(STATISTICS);
        for name in names {
            let here = memory.trace.series(name).unwrap();
            assert_eq!(stored.series(name).unwrap(), here, "{name}");
            assert_eq!(stored.trace().unwrap().series(name).unwrap(), here, "{name}");
        }
        for chain in 0..3 {
            let states = stored.states(chain, 900..1100).unwrap();
            let expected = (keep != Keep::None).then(|| &memory.trace.states(chain)[900 * 9..]);
            assert_eq!(states.as_deref(), expected);
        }
        let outcome = stored.outcome().unwrap();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12 * b.abs(), "{a} {b}");
        close(outcome.acceptance, memory.acceptance);
        close(outcome.sites_changed_per_step, memory.sites_changed_per_step);
        close(outcome.evaluations_performed_per_step, memory.evaluations_performed_per_step);
        assert_eq!(outcome.stuck, memory.stuck);
        assert_eq!(outcome.settings, settings);
    }
}

#[test]
fn statistics_of_draws_add_up() {
    let outcome = Run::new(&ising(), settings()).go().unwrap();
    let changed: f64 = outcome.trace.series("sites_changed").unwrap().iter().flatten().sum();
    let steps = 3.0 * 1100.0 * 2.0;
    assert_eq!(changed / steps, outcome.sites_changed_per_step);
    let rates = outcome.trace.series("acceptance_rate").unwrap();
    assert!(rates.iter().flatten().all(|rate| (0.0..=1.0).contains(rate)));
}

#[test]
fn what_is_there_is_not_overwritten() {
    let folder = temporary();
    let settings = settings();
    let model = ising();
    let description = || Description::new("test", model.space(), &settings);
    let create = |path: &Path, replace| StoreWriter::create(path, description(), replace).map(drop);
    // Not wherever one happens to be.
    assert!(create(Path::new(""), false).unwrap_err().to_string().contains("no name"));
    assert!(!Path::new(".lock").exists());
    // A run: only if asked to.
    let path = folder.path().join("run");
    store(&path, &model, &settings, Keep::None);
    fs::write(path.join("notes.txt"), "mine").unwrap();
    assert_eq!(create(&path, false), Err(StoreError::Exists(path.display().to_string())));
    assert_eq!(Stored::open(&path).unwrap().draws(), 1100);
    create(&path, true).unwrap();
    assert_eq!(Stored::open(&path).unwrap().draws(), 0);
    assert_eq!(fs::read_to_string(path.join("notes.txt")).unwrap(), "mine");
    // Anything else: never.
    for (name, file) in [("notes", "a.txt"), ("other_zarr", "zarr.json")] {
        let path = folder.path().join(name);
        fs::create_dir(&path).unwrap();
        fs::write(path.join(file), "{\"attributes\": {}}").unwrap();
        for replace in [false, true] {
            let foreign = StoreError::Foreign(path.display().to_string());
            assert_eq!(create(&path, replace), Err(foreign));
        }
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1);
    }
    // An empty folder is as good as none.
    let path = folder.path().join("empty");
    fs::create_dir(&path).unwrap();
    create(&path, false).unwrap();
    // A file in the way.
    let path = folder.path().join("file");
    fs::write(&path, "mine").unwrap();
    for path in [path.clone(), path.join("below")] {
        let sentence = create(&path, true).unwrap_err().to_string();
        assert!(sentence.starts_with("cannot "), "{sentence}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

/// Every file of a store that holds numbers.
fn chunks(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { chunks(&path) } else { vec![path] })
        .filter(|path| path.components().any(|part| part.as_os_str() == "c"))
        .collect()
}

#[test]
fn damage_is_found_and_named() {
    let folder = temporary();
    let path = folder.path().join("run");
    store(&path, &ising(), &settings(), Keep::States);
    let read_all = || -> Result<(), StoreError> {
        let stored = Stored::open(&path)?;
        stored.outcome()?;
        stored.checkpoint()?;
        stored.states(0, 0..1100).map(drop)
    };
    read_all().unwrap();
    let mut files = chunks(&path);
    // Coordinates and energies are for others to read.
    let for_others = ["/chain/", "/draw/", "/site/", "/row/", "/column/", "/energy/"];
    files.retain(|file| !for_others.iter().any(|name| file.to_str().unwrap().contains(name)));
    assert!(files.len() >= 10, "{files:?}");
    files.extend(["zarr.json", "checkpoint", "timing.json"].map(|name| path.join(name)));
    for file in files {
        let whole = fs::read(&file).unwrap();
        let mut flipped = whole.clone();
        flipped[whole.len() / 3] ^= 0x80;
        for damaged in [&whole[..whole.len() / 2], &[], &flipped] {
            fs::write(&file, damaged).unwrap();
            let sentence = read_all().unwrap_err().to_string();
            assert!(!sentence.contains('\n'), "{sentence}");
            let named = sentence.contains("damaged") || sentence.contains("not a run");
            assert!(named, "{}: {sentence}", file.display());
        }
        fs::write(&file, whole).unwrap();
    }
    fs::remove_file(path.join("sample_stats/lp/c/0/0")).unwrap();
    let sentence = read_all().unwrap_err().to_string();
    assert!(sentence.contains("sample_stats/lp/c/0/0 is missing"), "{sentence}");
    let sentence = Stored::open(folder.path()).unwrap_err().to_string();
    assert!(sentence.ends_with("is not a run of saltus"), "{sentence}");
}

#[test]
fn a_write_that_fails_leaves_what_was_written() {
    let folder = temporary();
    let path = folder.path().join("run");
    let model = Independent::bernoulli(vec![0.3; 3]).unwrap();
    // So many chains that a file has 128 draws.
    let settings =
        Settings { chains: 3000, warmup: 0, draws: 400, ..Settings::from(Sampler::gibbs()) };
    let description = Description::new("test", model.space(), &settings);
    let mut writer = StoreWriter::create(&path, description, false).unwrap();
    // The third file finds a folder in its place.
    let in_the_way = path.join("posterior/hamming/c/0/2");
    fs::create_dir_all(in_the_way.join("occupied")).unwrap();
    let every = std::time::Duration::ZERO;
    let failed = Run::new(&model, settings.clone()).checkpoint_every(every).go_into(&mut writer);
    let RunError::Sink(sentence) = failed.unwrap_err() else { panic!() };
    assert!(sentence.to_string().contains("posterior/hamming/c/0/2: "), "{sentence}");
    drop(writer);
    let stored = Stored::open(&path).unwrap();
    assert_eq!(stored.ended(), None);
    assert!(stored.draws() > 0 && stored.draws() <= 256, "{}", stored.draws());
    let memory = Run::new(&model, settings.clone()).go().unwrap();
    let draws = stored.draws();
    assert_eq!(stored.series("hamming").unwrap()[2], memory.trace.hamming()[2][..draws]);
    // And once there is room again, it goes on from there.
    fs::remove_dir_all(in_the_way).unwrap();
    let description = stored.description().clone();
    let (mut writer, checkpoint, _) = StoreWriter::resume(&path, description).unwrap();
    let run = Run::new(&model, settings.clone()).resume(checkpoint.unwrap());
    run.go_into(&mut writer).unwrap();
    let trace = Stored::open(&path).unwrap().trace().unwrap();
    assert_eq!(trace.hamming(), memory.trace.hamming());
}

#[test]
fn bits_are_for_two_values() {
    let folder = temporary();
    let model = Independent::categorical(3, &[0.0; 6]).unwrap();
    let settings = settings();
    let description =
        Description { keep: Keep::Bits, ..Description::new("test", model.space(), &settings) };
    let mut writer = StoreWriter::create(folder.path().join("run"), description, false).unwrap();
    let refused = Run::new(&model, settings.clone()).go_into(&mut writer).unwrap_err();
    assert!(refused.to_string().contains("3 values per site do not fit"), "{refused}");
}

#[test]
fn a_single_site_fits_into_a_bit() {
    let folder = temporary();
    let model = Independent::bernoulli(vec![0.3]).unwrap();
    let memory = Run::new(&model, settings()).keep_states().go().unwrap();
    store(&folder.path().join("run"), &model, &settings(), Keep::Bits);
    let stored = Stored::open(folder.path().join("run")).unwrap();
    assert_eq!(stored.states(2, 0..1100).unwrap().unwrap(), memory.trace.states(2));
}

#[test]
fn two_processes_do_not_write_to_one_store() {
    let folder = temporary();
    let path = folder.path().join("run");
    let model = ising();
    let description = Description::new("test", model.space(), &settings());
    let writer = StoreWriter::create(&path, description.clone(), false).unwrap();
    let busy = StoreError::Busy(path.display().to_string());
    assert_eq!(StoreWriter::resume(&path, description.clone()).map(drop), Err(busy.clone()));
    assert_eq!(StoreWriter::create(&path, description, true).map(drop), Err(busy));
    drop(writer);
}
