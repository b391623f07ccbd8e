//! Autoencoders of a few pixels: what the tests share, and what is refused.

mod bounds;
mod training;

use super::posterior::fill_noise;
use super::*;
use saltus::Control;
use saltus::Space;
use saltus_learn::data::Examples;
use saltus_learn::data::Split;

/// All images of so many pixels, one after the other.
fn all_images(pixels: usize) -> Vec<u8> {
    let bits = |number: usize| (0..pixels).map(move |pixel| ((number >> pixel) & 1) as u8);
    (0..1 << pixels).flat_map(bits).collect()
}

fn examples(pixels: usize, images: Vec<u8>) -> Examples {
    Examples::new(Space::new(pixels, 2).unwrap(), images).unwrap()
}

fn split(rows: usize, columns: usize, training: Vec<u8>, validation: Option<Vec<u8>>) -> Split {
    let examples = |images| examples(rows * columns, images);
    Split {
        rows,
        columns,
        training: examples(training),
        validation: validation.map(examples),
        test: None,
    }
}

/// An autoencoder whose biases are not zero either.
fn random(rows: usize, columns: usize, hidden: usize, latent: usize) -> Vae {
    random_of(VaeSizes::new(rows, columns, hidden, latent).unwrap())
}

/// One of any form.
fn random_of(sizes: VaeSizes) -> Vae {
    let mut rng = ChainRng::new(3, Stream::Data(0));
    let mut vae = Vae::random(sizes, 5);
    vae.change_parameters(|parameters| {
        for (_, layer) in Plans::new(&sizes).layers {
            fill_noise(&mut rng, &mut parameters[layer.bias]);
        }
    });
    vae
}

fn double(vae: &Vae) -> Vec<f64> {
    vae.parameters.iter().map(|number| f64::from(*number)).collect()
}

fn bound(vae: &Vae, examples: &Examples, samples: usize) -> Bound {
    let settings = BoundSettings { samples, ..BoundSettings::default() };
    vae.bound(examples, &settings, |_| Control::Continue).unwrap().unwrap()
}

#[test]
fn what_makes_no_sense_is_refused() {
    let good = split(2, 2, vec![1; 400], None);
    let settings = VaeSettings { hidden: 2, latent: 1, ..VaeSettings::default() };
    let refused = |settings: VaeSettings, split: &Split| {
        train_vae(split, &settings, |_| Control::Continue).unwrap_err().to_string()
    };
    let cases = [
        (VaeSettings { epochs: 0, ..settings.clone() }, "epochs must be at least 1"),
        (VaeSettings { batch: 0, ..settings.clone() }, "batch must be at least 1"),
        (VaeSettings { patience: 0, ..settings.clone() }, "patience must be at least 1"),
        (VaeSettings { batch: 101, ..settings.clone() }, "a batch of 101 is more than the 100"),
        (VaeSettings { hidden: 0, ..settings.clone() }, "at least one hidden unit, got 0"),
        (VaeSettings { learning_rate: -1.0, ..settings.clone() }, "positive number, got -1"),
        (VaeSettings { epochs: usize::MAX, ..settings.clone() }, "random numbers of their own"),
        (
            VaeSettings { learning_rate: 1e9, ..settings.clone() },
            "training diverged at update 1: a number is no longer usable; try a smaller learning rate \
             than 1000000000",
        ),
    ];
    for (settings, sentence) in cases {
        let found = refused(settings, &good);
        assert!(found.contains(sentence), "{found}");
    }
    let gray = Examples::new(Space::new(4, 3).unwrap(), vec![2; 400]).unwrap();
    let gray = Split { training: gray, validation: Some(good.training.clone()), ..good.clone() };
    let sentence = "have 3 values per pixel, those to choose by 2";
    assert!(refused(settings.clone(), &gray).contains(sentence));
    let wide = Split { columns: 3, ..good.clone() };
    assert!(refused(settings, &wide).contains("2×3 pixels cannot learn from states of 4 sites"));

    let vae = random(2, 2, 3, 1);
    let refused = |vae: &Vae, images: &Examples, samples: usize| {
        let settings = BoundSettings { samples, ..BoundSettings::default() };
        vae.bound(images, &settings, |_| Control::Continue).unwrap_err().to_string()
    };
    assert!(refused(&vae, &good.training, 0).contains("between 1 and 1000000 draws"));
    assert!(refused(&vae, &examples(2, vec![1; 2]), 5).contains("cannot judge states of 2 sites"));
    let huge = Vae::new(vae.sizes, vec![1e30; vae.parameters.len()]).unwrap();
    let sentence = refused(&huge, &good.training, 5);
    assert!(sentence.contains("its bound at image 0 is "), "{sentence}");
    // An encoder that says nothing, and a decoder whose sums are infinity minus infinity.
    let decoder = Plans::new(&vae.sizes).layers[3].1.weight.start;
    let mut numbers = vec![0.0; vae.parameters.len()];
    for (index, number) in numbers[decoder..].iter_mut().enumerate() {
        *number = if index % 2 == 0 { 1e30 } else { -1e30 };
    }
    let sentence = refused(&Vae::new(vae.sizes, numbers).unwrap(), &good.training, 5);
    assert!(sentence.contains("its bound at image 0 is "), "{sentence}");
}
