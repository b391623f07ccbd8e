//! Attacks: files with a few bytes changed, cut off, doubled or mixed with others. A reader may refuse them; a store that
//! is read all the same says what it said before.

#[path = "../../../../fuzz/src/readers.rs"]
mod readers;

use crate::folder::temporary;
use saltus::ais::{Ais, AisCheckpoint, AisSettings};
use saltus::model::independent::Independent;
use saltus::model::rbm::Rbm;
use saltus::store::{Description, Keep, StoreWriter, Stored};
use saltus::temper::Temper;
use saltus::{Control, Model, Run, Sampler, Scouts, Settings, Unsent, run};
use std::fs;
use std::path::{Path, PathBuf};

/// A stream of numbers that is the same everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % end.max(1)
    }
}

/// A few changes of a file; another one lends what it has.
fn mutate(bytes: &[u8], other: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len());
        let length = dice.below(16) + 1;
        let end = (at + length).min(bytes.len());
        match dice.below(8) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << dice.below(8),
            1 if !bytes.is_empty() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][dice.below(5)],
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            5 => {
                let from = dice.below(other.len());
                let lent = other[from..(from + length).min(other.len())].to_vec();
                bytes.splice(at..end, lent);
            }
            // Numbers, in digits and in bytes, that are larger than anything.
            6 => drop(bytes.splice(at..end, *b"18446744073709551615")),
            _ => drop(bytes.splice(at..end, (u64::MAX >> dice.below(40)).to_le_bytes())),
        }
    }
    bytes
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

/// The files of a reader, in the order of their names.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = corpus().join(name);
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{}", folder.display());
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn attack_readers(times: usize) {
    for (name, read) in readers::ALL {
        let seeds = seeds(name);
        let mut dice = Dice(7);
        for number in 0..times {
            let [seed, other] = [0, 1].map(|_| &seeds[dice.below(seeds.len())]);
            let bytes = mutate(seed, other, &mut dice);
            let ended = std::panic::catch_unwind(|| read(&bytes));
            assert!(ended.is_ok(), "{name}: mutation {number} of {times}");
        }
        println!("{name}: {times} mutations");
    }
}

/// A small run with everything that a store can hold.
fn store(path: &Path) {
    let model = Independent::bernoulli(vec![0.4; 11]).unwrap();
    let sampler = Sampler::gibbs();
    let settings =
        Settings { chains: 3, warmup: 30, draws: 40, threads: Some(1), ..sampler.into() };
    let description =
        Description { keep: Keep::Bits, ..Description::new("test", model.space(), &settings) };
    let mut writer = StoreWriter::create(path, description, false).unwrap();
    Run::new(&model, settings).watch_sites().go_into(&mut writer).unwrap();
}

/// All that a store says, or the first sentence about why it cannot.
fn said(path: &Path) -> Result<String, String> {
    let read = || {
        let stored = Stored::open(path)?;
        let states = (0..stored.chains()).map(|chain| stored.states(chain, 0..stored.draws()));
        let states = states.collect::<Result<Vec<_>, _>>()?;
        let (trace, rounds) = (stored.trace()?, stored.warmup()?);
        let checkpoint = stored.checkpoint()?.map(|checkpoint| checkpoint.to_bytes());
        Ok(format!("{trace:?} {states:?} {rounds:?} {:?} {checkpoint:?}", stored.sites()?))
    };
    read().map_err(|error: saltus::store::StoreError| error.to_string())
}

/// Every file of a folder.
fn files(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> =
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
    all.sort();
    all
}

fn attack_stores(times: usize) {
    let folder = temporary();
    let path = folder.path().join("run");
    store(&path);
    let whole = said(&path).unwrap();
    let files = files(&path);
    let (mut dice, mut refused) = (Dice(11), 0);
    for number in 0..times {
        let [file, other] = [0, 1].map(|_| &files[dice.below(files.len())]);
        let before = fs::read(file).unwrap();
        // Another file whole, or the same one with changes.
        let other = fs::read(other).unwrap();
        let after = if dice.below(8) == 0 { other } else { mutate(&before, &other, &mut dice) };
        fs::write(file, after).unwrap();
        match said(&path) {
            // What nobody reads may be changed: times, and metadata that the root has as well.
            Ok(said) => {
                assert!(said == whole, "mutation {number}: {} was believed", file.display())
            }
            Err(_) => refused += 1,
        }
        fs::write(file, before).unwrap();
    }
    println!("stores: {times} mutations, {refused} refused, the others read as before");
}

#[test]
fn readers_survive_a_few_mutations() {
    attack_readers(300);
}

#[test]
fn stores_survive_a_few_mutations() {
    attack_stores(300);
}

#[test]
#[ignore = "takes minutes; .ci/night runs it"]
fn readers_survive_many_mutations() {
    attack_readers(10_000);
}

#[test]
#[ignore = "takes minutes; .ci/night runs it"]
fn stores_survive_many_mutations() {
    attack_stores(10_000);
}

/// Files that are right, small ones, for every reader.
#[test]
fn the_corpus_is_what_saltus_writes() {
    if std::env::var_os("SALTUS_WRITE_CORPUS").is_some() {
        write_corpus();
    }
    let folder = temporary();
    let path = folder.path().join("run");
    fs::create_dir(&path).unwrap();
    fs::write(path.join("zarr.json"), &seeds("metadata")[0]).unwrap();
    fs::write(path.join("checkpoint"), &seeds("checkpoint")[0]).unwrap();
    assert!(Stored::open(&path).unwrap().checkpoint().unwrap().is_some());
    fs::write(path.join("rbm"), &seeds("tensors")[0]).unwrap();
    assert_eq!(Rbm::load(path.join("rbm")).unwrap().space().sites(), 4);
    fs::write(path.join("annealing"), &seeds("annealing")[0]).unwrap();
    assert!(AisCheckpoint::load(path.join("annealing")).unwrap().is_some());
    let [content, file] = [0, 1].map(|which| seeds("ladders").swap_remove(which));
    assert!(saltus::temper::TemperReport::from_bytes(&content).is_some());
    fs::write(path.join("ladders"), file).unwrap();
    assert!(Stored::open(&path).unwrap().ladders().unwrap().is_some());
    for told in seeds("after") {
        fs::write(path.join("scouts.json"), &told).unwrap();
        fs::write(path.join("exact.json"), &told).unwrap();
        let stored = Stored::open(&path).unwrap();
        assert!(
            stored.scouts().is_ok_and(|one| one.is_some()) || !stored.exact().unwrap().is_empty()
        );
    }
    for images in seeds("images") {
        fs::write(path.join("images"), images).unwrap();
        assert_eq!(saltus_learn::data::read_images(path.join("images")).unwrap().count(), 3);
    }
}

fn write_corpus() {
    let put = |reader: &str, name: &str, bytes: &[u8]| {
        fs::create_dir_all(corpus().join(reader)).unwrap();
        fs::write(corpus().join(reader).join(name), bytes).unwrap();
    };
    let folder = temporary();
    let path = folder.path().join("run");
    store(&path);
    put("checkpoint", "run", &fs::read(path.join("checkpoint")).unwrap());
    let root = fs::read(path.join("zarr.json")).unwrap();
    put("metadata", "full", &root);
    // As 0.1 wrote it, which nothing protects.
    let mut old: serde_json::Value = serde_json::from_slice(&root).unwrap();
    old["attributes"]["saltus_version"] = "0.1.0".into();
    let attributes = old["attributes"].as_object_mut().unwrap();
    attributes.remove("saltus_format");
    attributes.remove("saltus_digest");
    put("metadata", "old", &serde_json::to_vec(&old).unwrap());
    let model = Independent::bernoulli(vec![0.4; 11]).unwrap();
    let description = Description::new("test", model.space(), &Settings::default());
    drop(StoreWriter::create(folder.path().join("empty"), description, false).unwrap());
    put("metadata", "empty", &fs::read(folder.path().join("empty/zarr.json")).unwrap());
    // Found after the run of the metadata that the reader puts beside them.
    let empty = folder.path().join("empty");
    StoreWriter::put_scouts(&empty, &Scouts::unsent(Unsent::Costly)).unwrap();
    put("after", "scouts", &fs::read(empty.join("scouts.json")).unwrap());
    let means = [("log_prob".to_owned(), 0.25), ("hamming".to_owned(), -1e-3)];
    StoreWriter::put_exact(&empty, &means.into_iter().collect()).unwrap();
    put("after", "exact", &fs::read(empty.join("exact.json")).unwrap());
    let temper = Some(Temper { rungs: Some(3), ..Temper::default() });
    let settings = Settings { chains: 2, warmup: 20, draws: 20, temper, ..Sampler::gibbs().into() };
    // As of a part of a run, on a ladder that all parts share.
    let settings = run::pilot(&model, &settings, None, |_| Control::Continue).unwrap();
    let description = Description::new("test", model.space(), &settings);
    let tempered = folder.path().join("tempered");
    let mut writer = StoreWriter::create(&tempered, description, false).unwrap();
    Run::new(&model, settings).go_into(&mut writer).unwrap();
    drop(writer);
    let ladders = fs::read(tempered.join("ladders")).unwrap();
    put("ladders", "file", &ladders);
    // Between its first line, version and length, and its checksum.
    let header = "saltus ladders\n".len() + 12;
    put("ladders", "content", &ladders[header..ladders.len() - 4]);

    let machine = Rbm::new(2, &[0.1; 8], &[0.2; 2], &[0.3; 4], None).unwrap();
    let settings = AisSettings { chains: 2, temperatures: 5, ..AisSettings::default() };
    let annealing = folder.path().join("annealing");
    let keep =
        |checkpoint: &AisCheckpoint| checkpoint.save(&annealing).map_err(|error| error.to_string());
    Ais::new(&machine, settings).keep(std::time::Duration::ZERO, keep).go().unwrap();
    put("annealing", "rbm", &fs::read(&annealing).unwrap());
    use safetensors::tensor::{Dtype, TensorView, serialize};
    let numbers: Vec<u8> = [0.25f32; 8].iter().flat_map(|number| number.to_le_bytes()).collect();
    let view = |shape: &[usize]| {
        let length = 4 * shape.iter().product::<usize>();
        TensorView::new(Dtype::F32, shape.to_vec(), &numbers[..length]).unwrap()
    };
    let tensors =
        [("weight", view(&[2, 4])), ("hidden_bias", view(&[2])), ("visible_bias", view(&[4]))];
    put("tensors", "rbm", &serialize(tensors, None).unwrap());

    let mut images = vec![0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 2];
    images.extend([0, 90, 180, 255].repeat(3));
    put("images", "plain", &images);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &images).unwrap();
    put("images", "gzip", &gzip.finish().unwrap());

    put("edges", "ring", b"# a ring\n0 1 0.5\n1 2 -0.5\n2, 3, 1e-3\n3\t0 2\n");
    put("edges", "fields", b"0 0.5\n1 2 -0.25\n");
    put("weights", "sum", b"# site weight\n0 0.5\n# site value weight\n2 1 10\n");
}
