//! `saltus ais`: the normaliser of a learnt model, and how likely it finds test images.

mod images;
mod json;
mod report;
mod subject;

use crate::arguments::{AisArguments, Transition};
use crate::failure::{Failure, Finish};
use crate::memory::Demand;
use crate::progress::{View, pace};
use crate::{announce, interrupt, out, say};
use images::test_images;
use json::print_json;
use report::{Estimation, Found, ReverseFrom, print_text};
use saltus::Control;
use saltus::ais::{
    Ais, AisCheckpoint, AisError, AisOutcome, AisProgress, AisSettings, mean_log_prob,
};
use saltus::model::rbm::{Enumerated, Rbm};
use saltus::rng::{ChainRng, Stream};
use saltus::{Ended, Model};
use std::time::Duration;
use subject::{Prepared, Starts, Subject};

/// Time between two checkpoints.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(30);
/// RBMs of so many hidden units are listed even if nobody asks, because that takes no time.
const LISTED_UNASKED: usize = 12;
/// Hidden states that are drawn for every image to bound the likelihood of a network.
const DRAWS: usize = 10;

/// Estimates and prints.
pub fn run(arguments: &AisArguments) -> Result<Finish, Failure> {
    // What was estimated is in the checkpoint, and the same command tells it.
    out::goes_elsewhere(arguments.checkpoint.is_some());
    let subject = Subject::new(arguments)?;
    let transition = arguments.sampler.unwrap_or_else(|| subject.default_transition());
    let settings = arguments.settings(transition);
    check(arguments, &subject, transition, &settings)?;
    if let Some(sentence) = arguments.unused_weight(transition) {
        say(&format!("saltus: {sentence}"));
    }
    let images = test_images(arguments, &subject, settings.seed)?;
    let resumed = match &arguments.checkpoint {
        Some(path) => AisCheckpoint::load(path)?,
        None => None,
    };
    let about = Estimation {
        arguments,
        transition,
        settings: &settings,
        subject: &subject,
        images: images.len() / subject.space().sites(),
        done: resumed.as_ref().map(AisCheckpoint::visits),
    };
    announce(&about.heading(), arguments.json, arguments.quiet)?;
    interrupt::listen();

    let mut listed = None;
    let is_cheap = |rbm: &&Rbm| rbm.hidden() <= LISTED_UNASKED && rbm.check_enumerable().is_ok();
    let rbm = subject.rbm().filter(|rbm| arguments.exact || is_cheap(rbm));
    if let Some(rbm) = rbm {
        listed = enumerate(rbm, arguments)?;
        if listed.is_none() {
            return finish(&about, &Found::default());
        }
    }
    // Who gives images and does not ask for exact draws goes back from the images.
    let drawn = listed.as_ref().filter(|_| arguments.exact || images.is_empty());
    let (starts, reverse_from) = starts(&settings, drawn, &subject, &images);
    let outcome = anneal(&about, starts, resumed)?;
    let found = Found {
        log_z_exact: listed.as_ref().map(Enumerated::log_z),
        mean_log_prob: match outcome.ended {
            Ended::Complete => likelihood(&subject, &images, arguments)?,
            _ => None,
        },
        outcome: Some(outcome),
        reverse_from: Some(reverse_from),
    };
    finish(&about, &found)
}

/// Fails if this cannot be done.
fn check(
    arguments: &AisArguments,
    subject: &Subject,
    transition: Transition,
    settings: &AisSettings,
) -> Result<(), Failure> {
    let usage = |sentence: String| Err(Failure::Usage(sentence));
    if let (Transition::Alternating, Some(option)) = (transition, arguments.moves.given()) {
        return usage(format!(
            "{option} is about samplers of the pixels alone: name one by --sampler"
        ));
    }
    match subject.rbm() {
        Some(rbm) if arguments.exact => rbm.check_enumerable()?,
        Some(_) => {}
        None if arguments.exact => {
            return usage(
                "--exact sums over hidden units, which only RBMs and DBNs have".to_owned(),
            );
        }
        None if transition == Transition::Alternating => {
            return usage("--sampler alternating is for RBMs, which have hidden units".to_owned());
        }
        None => {}
    }
    if matches!(subject, Subject::Named(..)) {
        let of_images = [arguments.data.is_some(), arguments.dataset.is_some()];
        if of_images.contains(&true) {
            return usage("--data is about learnt models: name a file".to_owned());
        }
    }
    if arguments.data.is_some() != arguments.dataset.is_some() {
        return usage("--data and --dataset go together".to_owned());
    }
    if arguments.binarise.is_some() && arguments.data.is_none() {
        return usage("--binarise is about images: name them by --data and --dataset".to_owned());
    }
    let space = subject.space_of_chains();
    let traits = match transition {
        Transition::Alternating => saltus::kernel::layers::traits(space),
        Transition::Sampler(_) => {
            settings.sampler.check(space).map_err(AisError::from)?;
            settings.sampler.traits(space)
        }
    };
    settings.check(&traits)?;
    Demand {
        sites: space.sites(),
        values: space.values(),
        parameters: subject.parameters(),
        // As many go back.
        chains: settings.chains.saturating_mul(2),
    }
    .check()
}

fn finish(about: &Estimation, found: &Found) -> Result<Finish, Failure> {
    if about.arguments.json {
        print_json(about, found)?;
        if let Some(sentence) = found.not_kept() {
            say(&format!("saltus: {sentence}"));
        }
    } else {
        print_text(about, found)?;
    }
    Ok(if found.is_complete(about) { Finish::Complete } else { Finish::Early })
}

/// Lists the hidden states; nothing if the user asked to stop.
fn enumerate<'m>(
    rbm: &'m Rbm,
    arguments: &AisArguments,
) -> Result<Option<Enumerated<'m>>, Failure> {
    let mut view = View::new("", arguments.quiet);
    let listed = rbm.enumerate(arguments.threads, |done, parts| {
        view.tell("listing", (done, parts), |since| pace("parts", (done, parts), since))
    });
    view.finish();
    Ok(listed?)
}

/// Where reverse chains start: as many as go forward at exact draws or at images, or a few far from the base.
fn starts(
    settings: &AisSettings,
    listed: Option<&Enumerated<'_>>,
    subject: &Subject,
    images: &[u8],
) -> (Starts, ReverseFrom) {
    if let Some(listed) = listed {
        let sites = subject.space_of_chains().sites();
        let mut states = vec![0; settings.chains * sites];
        let mut rng = ChainRng::new(settings.seed, Stream::Reference);
        states.chunks_exact_mut(sites).for_each(|state| listed.draw(&mut rng, state));
        return (Starts::Given(states), ReverseFrom::Exact);
    }
    let pixels = subject.space().sites();
    let count = images.len() / pixels;
    if count == 0 {
        return (Starts::Far(back_from_afar(settings.chains)), ReverseFrom::Found);
    }
    // Spread over all images, which may be sorted.
    let chains = settings.chains.min(count);
    let spread: Vec<u8> = (0..chains)
        .flat_map(|chain| {
            let image = chain * count / chains;
            images[image * pixels..(image + 1) * pixels].iter().copied()
        })
        .collect();
    let states = match subject {
        Subject::Network(network) => network.draw_hidden(&spread, settings.seed),
        _ => spread,
    };
    (Starts::Given(states), ReverseFrom::Data)
}

/// Chains that go back from each of a few places, where others have nothing to start from: a share of those that
/// go forward, and so many that their spread is known.
pub fn back_from_afar(chains: usize) -> usize {
    (chains / 20).max(8)
}

fn anneal(
    about: &Estimation,
    starts: Starts,
    resumed: Option<AisCheckpoint>,
) -> Result<AisOutcome, Failure> {
    let Estimation { arguments, settings, .. } = *about;
    let mut view = View::new("", arguments.quiet).after(about.done.unwrap_or(0));
    let prepared = Prepared {
        starts,
        monitor: Box::new(|progress| show(&mut view, progress)),
        keeper: arguments.checkpoint.as_deref().map(|path| (CHECKPOINT_EVERY, path)),
        resumed,
    };
    let settings = settings.clone();
    let of_rbm = |rbm, prepared: Prepared<'_>| match about.transition {
        Transition::Alternating => prepared.go(Ais::alternating(rbm, settings.clone())),
        Transition::Sampler(_) => prepared.go(Ais::new(rbm, settings.clone())),
    };
    let outcome = match about.subject {
        Subject::Rbm(rbm) => of_rbm(rbm, prepared),
        Subject::Network(network) => of_rbm(network.top(), prepared),
        #[cfg(feature = "deep")]
        Subject::Deep(model) => prepared.go(Ais::new(&**model, settings)),
        Subject::Named(built) => match built.model.rbm() {
            Some(rbm) => of_rbm(rbm, prepared),
            None => prepared.go(Ais::new(&built.model, settings)),
        },
    };
    view.finish();
    outcome.map_err(|error| match (error, &arguments.checkpoint) {
        (error @ AisError::Checkpoint(_), Some(path)) => Failure::Failed(format!(
            "{error}; without {} annealing starts from its beginning",
            path.display()
        )),
        (error, _) => error.into(),
    })
}

fn show(view: &mut View, AisProgress { tuning, done }: AisProgress) -> Control {
    let (phase, what) = if tuning { ("tuning", "rounds") } else { ("annealing", "temperatures") };
    let wish = view.tell(phase, done, |since| pace(what, done, since));
    // What comes next counts other things.
    if tuning && done.0 == done.1 {
        view.restart();
    }
    wish
}

/// The mean log π of the images, or its bound, before log Z is taken off; none without images, or if
/// the user asked to stop.
fn likelihood(
    subject: &Subject,
    images: &[u8],
    arguments: &AisArguments,
) -> Result<Option<f64>, Failure> {
    if images.is_empty() {
        return Ok(None);
    }
    let (seed, threads) = (arguments.seed.unwrap_or(0), arguments.threads);
    let mut view = View::new("", arguments.quiet);
    let monitor =
        |done, all| view.tell("images", (done, all), |since| pace("images", (done, all), since));
    let found = match subject {
        Subject::Rbm(rbm) => mean_log_prob(&**rbm, images, threads, monitor),
        #[cfg(feature = "deep")]
        Subject::Deep(model) => mean_log_prob(&**model, images, threads, monitor),
        Subject::Network(network) => network.mean_log_bound(images, DRAWS, seed, threads, monitor),
        // Images are refused before.
        Subject::Named(..) => return Ok(None),
    };
    view.finish();
    Ok(found?)
}
