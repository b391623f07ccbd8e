//! Splits and values on files of a few small images.

use super::*;
use saltus::ChainRng;
use saltus::rng::Stream;
use std::path::Path;

/// Writes an IDX file of images of 1×2 pixels.
fn write(folder: &Path, name: &str, pixels: &[u8]) {
    std::fs::create_dir_all(folder).unwrap();
    let mut bytes = vec![0, 0, 8, 3];
    let sizes = [pixels.len() as u32 / 2, 1, 2];
    bytes.extend(sizes.iter().flat_map(|size| size.to_be_bytes()));
    bytes.extend(pixels);
    std::fs::write(folder.join(name), bytes).unwrap();
}

fn levels(values: usize) -> Coding {
    Coding { values: Some(values), ..Coding::DRAWN }
}

fn states(examples: &Examples) -> Vec<u8> {
    drawn(examples, 0)
}

/// What a look with that seed shows.
fn drawn(examples: &Examples, seed: u64) -> Vec<u8> {
    let mut rng = ChainRng::new(seed, Stream::Data(0));
    (0..examples.count())
        .flat_map(|index| {
            let mut state = vec![0; examples.space().sites()];
            examples.fill(index, &mut rng, &mut state);
            state
        })
        .collect()
}

#[test]
fn published_bits_are_taken_as_they_are_and_silhouettes_turned_round() {
    let data = tempfile::tempdir().unwrap();
    for folder in ["mnist-static-binarized", "caltech101-silhouettes"] {
        for (part, pixels) in [("train", [0, 1, 1, 1]), ("valid", [1, 0, 0, 0]), ("test", [1; 4])] {
            write(&data.path().join(folder), &format!("{part}-images-idx3-ubyte"), &pixels);
        }
    }
    let digits = Dataset::StaticMnist.load(data.path(), Coding::DRAWN).unwrap();
    assert_eq!((digits.rows, digits.columns), (1, 2));
    assert_eq!(states(&digits.training), [0, 1, 1, 1]);
    assert_eq!(states(&digits.validation.unwrap()), [1, 0, 0, 0]);
    let silhouettes = Dataset::Caltech.load(data.path(), Coding::DRAWN).unwrap();
    assert_eq!(states(&silhouettes.training), [1, 0, 0, 0]);
    assert_eq!(states(&silhouettes.test.unwrap()), [0; 4]);
    // The files themselves may stand in the folder that is named.
    let own = data.path().join("mnist-static-binarized");
    assert_eq!(
        states(&Dataset::StaticMnist.load(&own, Coding::DRAWN).unwrap().training),
        [0, 1, 1, 1]
    );
}

#[test]
fn the_last_sixth_of_the_digits_validates() {
    let data = tempfile::tempdir().unwrap();
    let own = data.path().join("mnist");
    let pixels: Vec<u8> = (0..12).flat_map(|image| [if image < 10 { 255 } else { 0 }, 0]).collect();
    write(&own, "train-images-idx3-ubyte", &pixels);
    write(&own, "t10k-images-idx3-ubyte", &[128; 40]);
    let split = Dataset::DynamicMnist.load(data.path(), Coding::DRAWN).unwrap();
    assert_eq!(split.training.count(), 10);
    assert_eq!(split.training.mean(), [1.0, 0.0]);
    assert_eq!(states(&split.validation.unwrap()), [0; 4]);
    // Bits to judge by are drawn once; those to learn from at every look.
    let test = split.test.unwrap();
    assert_eq!(drawn(&test, 0), drawn(&test, 1));
    assert!(states(&test).contains(&0) && states(&test).contains(&1));
    write(&own, "train-images-idx3-ubyte", &[128; 48]);
    let split = Dataset::DynamicMnist.load(data.path(), Coding::DRAWN).unwrap();
    assert_ne!(drawn(&split.training, 0), drawn(&split.training, 1));
    let validation = split.validation.unwrap();
    assert_eq!(drawn(&validation, 0), drawn(&validation, 1));
}

#[test]
fn pooled_sets_are_split_without_loss() {
    let data = tempfile::tempdir().unwrap();
    let faces: Vec<u8> = (0..40).flat_map(|image| [image, 200]).collect();
    write(&data.path().join("frey-faces"), "images-idx3-ubyte", &faces);
    let split = Dataset::Frey.load(data.path(), Coding::DRAWN).unwrap();
    assert_eq!(split.training.space().values(), 256);
    let parts = [&split.training, &split.validation.unwrap(), &split.test.unwrap()].map(states);
    // A quarter and an eighth: a set this small cannot give 200 images.
    assert_eq!(parts.each_ref().map(|part| part.len() / 2), [25, 5, 10]);
    let mut all: Vec<u8> = parts.concat().iter().step_by(2).copied().collect();
    assert!(!all.is_sorted());
    all.sort_unstable();
    assert_eq!(all, (0..40).collect::<Vec<u8>>());
    let letters = data.path().join("omniglot");
    write(&letters, "train-images-idx3-ubyte", &[255; 16]);
    write(&letters, "test-images-idx3-ubyte", &[255; 16]);
    let split = Dataset::Omniglot.load(data.path(), Coding::DRAWN).unwrap();
    let counts =
        [split.training, split.validation.unwrap(), split.test.unwrap()].map(|part| part.count());
    assert_eq!(counts, [10, 2, 4]);
}

/// No such images come with the project: these are made.
#[test]
fn tissue_keeps_its_256_grays_and_its_published_parts() {
    let data = tempfile::tempdir().unwrap();
    let own = data.path().join("histopathology");
    write(&own, "train-images-idx3-ubyte", &[0, 255, 17, 128]);
    write(&own, "valid-images-idx3-ubyte", &[3, 4]);
    write(&own, "test-images-idx3-ubyte", &[250, 251]);
    let split = Dataset::Histopathology.load(data.path(), Coding::DRAWN).unwrap();
    assert_eq!(split.training.space().values(), 256);
    assert_eq!(states(&split.training), [0, 255, 17, 128]);
    assert_eq!(states(&split.validation.unwrap()), [3, 4]);
    assert_eq!(states(&split.test.unwrap()), [250, 251]);
    assert!(Dataset::Histopathology.is_small() && Dataset::Histopathology.has_grays());
}

#[test]
fn any_folder_is_a_dataset() {
    let data = tempfile::tempdir().unwrap();
    let own = data.path().join("mine");
    write(&own, "images-idx3-ubyte", &[0, 255, 255, 0]);
    let mine = Dataset::named("mine");
    let split = mine.load(data.path(), Coding::DRAWN).unwrap();
    assert_eq!(states(&split.training), [0, 1, 1, 0]);
    // Bits stay bits, also if two values are asked for.
    write(&own, "images-idx3-ubyte", &[0, 1, 1, 0]);
    let bits = mine.load(data.path(), levels(2)).unwrap();
    assert_eq!(states(&bits.training), [0, 1, 1, 0]);
    assert!(split.validation.is_none() && split.test.is_none());
    // From where the program runs, or from the root.
    let elsewhere = Dataset::named(own.to_str().unwrap());
    assert_eq!(elsewhere.load(Path::new("/nowhere"), Coding::DRAWN).unwrap().training.count(), 2);
    write(&own, "train-images-idx3-ubyte", &[0, 100, 200, 50]);
    let split = mine.load(data.path(), Coding::DRAWN).unwrap();
    assert_eq!(split.training.mean(), [100.0 / 255.0, 75.0 / 255.0]);
    let split = mine.load(data.path(), levels(4)).unwrap();
    assert_eq!(states(&split.training), [0, 1, 3, 0]);
}

#[test]
fn what_is_missing_or_malformed_is_named() {
    let data = tempfile::tempdir().unwrap();
    let refused =
        |dataset: &Dataset| dataset.load(data.path(), Coding::DRAWN).unwrap_err().to_string();
    let sentence = refused(&Dataset::Histopathology);
    for part in ["histopathology", "train-images-idx3-ubyte.gz", "valid-images", "belong there"] {
        assert!(sentence.contains(part), "{sentence}");
    }
    assert!(refused(&Dataset::Frey).contains(": images-idx3-ubyte is missing; "));
    let sentence = refused(&Dataset::FashionMnist);
    assert!(sentence.contains("dataset-fashion-mnist"), "{sentence}");
    let nowhere = Dataset::Mnist.training_images("/nowhere").unwrap_err().to_string();
    assert!(nowhere.starts_with("no images of mnist in /nowhere, which is no folder: "));
    let sentence = refused(&Dataset::named("statik-mnist"));
    assert!(sentence.contains("did you mean 'static-mnist'?"), "{sentence}");
    let own = data.path().join("mnist-static-binarized");
    write(&own, "train-images-idx3-ubyte", &[0, 1]);
    let sentence = refused(&Dataset::StaticMnist);
    assert!(sentence.starts_with("no images of static-mnist in "), "{sentence}");
    assert!(sentence.contains(": valid-images-idx3-ubyte is missing; "), "{sentence}");
    // To learn from, the others are not needed.
    let alone = Dataset::StaticMnist.training(data.path(), Coding::default()).unwrap();
    assert_eq!(states(&alone.training), [0, 1]);
    write(&own, "valid-images-idx3-ubyte", &[0, 1]);
    write(&own, "test-images-idx3-ubyte", &[0, 37]);
    assert!(refused(&Dataset::StaticMnist).contains("not all 0 and 1"));
    std::fs::write(own.join("train-images-idx3-ubyte"), b"no images").unwrap();
    assert!(refused(&Dataset::StaticMnist).contains("is not an IDX file of images"));
}

#[test]
fn digits_are_cut_by_threshold_drawn_or_levels() {
    let data = tempfile::tempdir().unwrap();
    let own = data.path().join("mnist");
    write(&own, "train-images-idx3-ubyte", &[0, 100, 200, 128]);
    write(&own, "t10k-images-idx3-ubyte", &[255, 0]);
    let load = |coding| Dataset::Mnist.load(data.path(), coding).unwrap();
    let split = load(Coding::default());
    assert_eq!(states(&split.training), [0, 0, 1, 1]);
    assert_eq!(states(&split.test.unwrap()), [1, 0]);
    assert!(split.validation.is_none());
    assert_eq!(load(Coding::DRAWN).training.mean(), [100.0 / 255.0, 114.0 / 255.0]);
    assert_eq!(states(&load(levels(4)).training), [0, 1, 3, 2]);
    let test = Dataset::Mnist.test(data.path(), Coding::default()).unwrap();
    assert_eq!(states(&test.training), [1, 0]);
}

#[test]
fn names_are_read_back() {
    for dataset in Dataset::NAMED {
        assert_eq!(Dataset::named(dataset.name()), dataset);
    }
}
