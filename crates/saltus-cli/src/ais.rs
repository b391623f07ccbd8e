//! `saltus ais`: the normaliser of a learnt machine, and how likely it finds test images.

mod json;
mod report;

use crate::arguments::{AisArguments, BinariseArgument, Transition};
use crate::failure::{Failure, Finish};
use crate::memory::Demand;
use crate::progress::{View, pace};
use crate::{announce, interrupt};
use json::print_json;
use report::{About, Found, ReverseFrom, print_text};
use saltus::ais::{
    Ais, AisCheckpoint, AisError, AisOutcome, AisProgress, AisSettings, draw_examples,
    mean_log_prob,
};
use saltus::data::Examples;
use saltus::dbn::Layers;
use saltus::model::rbm::{Enumerated, Rbm};
use saltus::rng::{ChainRng, Stream};
use saltus::run::Wish;
use saltus::{Ended, Model, Space};
use std::path::Path;
use std::time::Duration;

/// Time between two checkpoints.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(30);
/// Hidden states that are drawn for every image to bound the likelihood of a network.
const DRAWS: usize = 10;

/// Estimates and prints.
pub fn run(arguments: &AisArguments) -> Result<Finish, Failure> {
    let (settings, transition) = (arguments.settings(), arguments.transition());
    if let (Transition::Alternating, Some(option)) = (transition, arguments.about_samplers()) {
        return Err(Failure::Usage(format!(
            "{option} is about samplers of the pixels alone: name one by --sampler"
        )));
    }
    let layers = Layers::load(&arguments.file)?;
    let machine = top(&layers);
    settings.check(machine.space())?;
    if arguments.exact {
        machine.check_enumerable()?;
    }
    let space = *machine.space();
    Demand {
        sites: space.sites(),
        values: space.values(),
        parameters: space.diff_len().saturating_mul(machine.hidden()),
        // As many go back.
        chains: settings.chains.saturating_mul(2),
    }
    .check()?;
    let images = images(arguments, &layers, settings.seed)?;
    let resumed = match &arguments.checkpoint {
        Some(path) => AisCheckpoint::load(path)?,
        None => None,
    };
    let about = About::new(arguments, &settings, &layers, &images, resumed.as_ref());
    announce(&about.heading(), arguments.json, arguments.quiet)?;
    interrupt::listen();

    let mut listed = None;
    if arguments.exact {
        listed = enumerate(machine, arguments)?;
        if listed.is_none() {
            return finish(&about, &Found::default(), arguments);
        }
    }
    let (starts, reverse_from) = starts(&settings, listed.as_ref(), &layers, &images);
    let outcome = anneal(machine, arguments, &settings, starts, resumed)?;
    let found = Found {
        log_z_exact: listed.as_ref().map(Enumerated::log_z),
        mean_log_prob: match outcome.ended {
            Ended::Complete => likelihood(&layers, &images, arguments)?,
            _ => None,
        },
        outcome: Some(outcome),
        reverse_from,
    };
    finish(&about, &found, arguments)
}

fn finish(about: &About, found: &Found, arguments: &AisArguments) -> Result<Finish, Failure> {
    if arguments.json {
        print_json(about, found)?;
    } else {
        print_text(about, found)?;
    }
    Ok(found.outcome.as_ref().map_or(Finish::Early, |outcome| Finish::from(&outcome.ended)))
}

/// The machine whose normaliser is estimated.
fn top(layers: &Layers) -> &Rbm {
    match layers {
        Layers::One(machine) => machine,
        Layers::Two(network) => network.top(),
    }
}

/// The space of the images.
fn visible(layers: &Layers) -> &Space {
    match layers {
        Layers::One(machine) => machine.space(),
        Layers::Two(network) => network.space(),
    }
}

/// The states of the test images, one after the other; none without data.
fn images(arguments: &AisArguments, layers: &Layers, seed: u64) -> Result<Vec<u8>, Failure> {
    let space = visible(layers);
    let (Some(data), Some(dataset)) = (&arguments.data, arguments.dataset) else {
        return Ok(Vec::new());
    };
    if space.values() > 2 && arguments.binarise.is_some() {
        return Err(Failure::Usage(format!(
            "--binarise makes two values of a pixel, but the machine has {} values",
            space.values()
        )));
    }
    let binarisation = arguments.binarise.unwrap_or(BinariseArgument::Threshold).into();
    let images = dataset.test_images(data)?;
    let (rows, columns) = (images.rows, images.columns);
    let examples = Examples::from_images(images, space.values(), binarisation)?;
    if examples.space() != space {
        return Err(Failure::Failed(format!(
            "{} has {} sites, but images of {dataset} have {rows}×{columns} pixels",
            arguments.file.display(),
            space.sites()
        )));
    }
    Ok(draw_examples(&examples, examples.count(), seed))
}

/// Lists the hidden states; nothing if the user asked to stop.
fn enumerate<'m>(
    machine: &'m Rbm,
    arguments: &AisArguments,
) -> Result<Option<Enumerated<'m>>, Failure> {
    let mut view = View::new("", arguments.quiet);
    let listed = machine.enumerate(arguments.threads, |done, parts| {
        view.tell("listing", (done, parts), |elapsed| pace("parts", (done, parts), elapsed))
    });
    view.finish();
    Ok(listed?)
}

/// Where reverse chains start, as many as go forward: at exact draws, or at images.
fn starts(
    settings: &AisSettings,
    listed: Option<&Enumerated<'_>>,
    layers: &Layers,
    images: &[u8],
) -> (Vec<u8>, Option<ReverseFrom>) {
    let sites = top(layers).space().sites();
    if let Some(listed) = listed {
        let mut states = vec![0; settings.chains * sites];
        let mut rng = ChainRng::new(settings.seed, Stream::Reference);
        states.chunks_exact_mut(sites).for_each(|state| listed.draw(&mut rng, state));
        return (states, Some(ReverseFrom::Exact));
    }
    let pixels = visible(layers).sites();
    let count = images.len() / pixels;
    if count == 0 {
        return (Vec::new(), None);
    }
    // Spread over all images, which may be sorted.
    let chains = settings.chains.min(count);
    let spread: Vec<u8> = (0..chains)
        .flat_map(|chain| {
            let image = chain * count / chains;
            images[image * pixels..(image + 1) * pixels].iter().copied()
        })
        .collect();
    let states = match layers {
        Layers::One(_) => spread,
        Layers::Two(network) => network.draw_hidden(&spread, settings.seed),
    };
    (states, Some(ReverseFrom::Data))
}

fn anneal(
    machine: &Rbm,
    arguments: &AisArguments,
    settings: &AisSettings,
    starts: Vec<u8>,
    resumed: Option<AisCheckpoint>,
) -> Result<AisOutcome, Failure> {
    let mut view = View::new("", arguments.quiet);
    let ais = match arguments.transition() {
        Transition::Alternating => Ais::alternating(machine, settings),
        Transition::Sampler(_) => Ais::new(machine, settings),
    };
    let mut ais = ais.reverse_from(starts).monitor(|progress| show(&mut view, progress));
    if let Some(checkpoint) = resumed {
        ais = ais.resume(checkpoint);
    }
    if let Some(path) = &arguments.checkpoint {
        let path: &Path = path;
        ais = ais.keep(CHECKPOINT_EVERY, move |checkpoint| {
            checkpoint.save(path).map_err(|error| error.to_string())
        });
    }
    let outcome = ais.go();
    view.finish();
    outcome.map_err(|error| match (error, &arguments.checkpoint) {
        (error @ AisError::Checkpoint(_), Some(path)) => Failure::Failed(format!(
            "{error}; without {} annealing starts from its beginning",
            path.display()
        )),
        (error, _) => error.into(),
    })
}

fn show(view: &mut View, AisProgress { tuning, done }: AisProgress) -> Wish {
    let (phase, what) = if tuning { ("tuning", "rounds") } else { ("annealing", "temperatures") };
    view.tell(phase, done, |elapsed| pace(what, done, elapsed))
}

/// The mean log π of the images, or its bound, before log Z is taken off; none without images.
fn likelihood(
    layers: &Layers,
    images: &[u8],
    arguments: &AisArguments,
) -> Result<Option<f64>, Failure> {
    if images.is_empty() {
        return Ok(None);
    }
    let (seed, threads) = (arguments.seed.unwrap_or(0), arguments.threads);
    Ok(Some(match layers {
        Layers::One(machine) => mean_log_prob(machine, images, threads)?,
        Layers::Two(network) => {
            let mut view = View::new("", arguments.quiet);
            let bound = network.mean_log_bound(images, DRAWS, seed, threads, |done, all| {
                let done = (done, all);
                view.tell("images", done, |elapsed| pace("images", done, elapsed));
            });
            view.finish();
            bound?
        }
    }))
}
