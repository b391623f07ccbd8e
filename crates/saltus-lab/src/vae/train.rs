//! Learning an autoencoder from images by Adam, and keeping it as it was when it did best on others.

use super::learner::{Learner, Terms};
use super::posterior::fill_noise;
use super::{Vae, VaeError, VaeSettings};
use saltus::ChainRng;
use saltus::Control;
use saltus::Workers;
use saltus::rng::{Stream, Training as Purpose};
use saltus_learn::adam::{Moments, Step};
use saltus_learn::data::Examples;
use saltus_learn::data::Split;
use saltus_learn::descent::descend;
use saltus_learn::{Clock, Order, Spent};
use serde::Serialize;

/// How an epoch went.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EpochReport {
    /// The epoch, counted from 1.
    pub epoch: usize,
    /// Balancing of the divergence in it.
    pub weight: f64,
    /// Mean of the bound on log p(x) over its images, each as the parameters were at its update.
    pub training: f64,
    /// What of it is the divergence of latent numbers from their prior.
    pub divergence: f64,
    /// Mean of the bound over the validation images after it, from one draw each.
    pub validation: Option<f64>,
}

/// Where a training is.
#[derive(Clone, Copy, Debug)]
pub struct VaeProgress {
    /// Updates made.
    pub update: usize,
    /// Updates that will have been made at the end, unless patience ends before.
    pub updates: usize,
    /// The latest report, if an epoch is over.
    pub latest: Option<EpochReport>,
}

/// A trained autoencoder and how it came about.
#[derive(Clone, Debug)]
pub struct TrainedVae {
    /// The autoencoder as it was after the epoch with the best bound on the validation images, or after
    /// the last update if there are none.
    pub model: Vae,
    /// That epoch.
    pub best: Option<usize>,
    /// How it was trained.
    pub settings: VaeSettings,
    /// Updates made.
    pub updates: usize,
    /// Whether nobody stopped it.
    pub complete: bool,
    /// How well it did in the course of it.
    pub history: Vec<EpochReport>,
    /// What it cost, with looks at the validation images.
    pub spent: Spent,
}

/// Trains an autoencoder on the training images of a set, and keeps it as it was when it did best on
/// the validation images; `monitor` is told of every update and may ask to stop.
///
/// The same seed gives the same autoencoder, byte for byte, for any number of threads.
pub fn train_vae(
    split: &Split,
    settings: &VaeSettings,
    mut monitor: impl FnMut(VaeProgress) -> Control,
) -> Result<TrainedVae, VaeError> {
    let sizes = settings.check(split)?;
    let clock = Clock::start();
    let pool = Workers::new(settings.threads).map_err(VaeError::Threads)?;
    let vae = pool.install(|| Vae::random(sizes, settings.seed));
    let mut training = Training::new(&split.training, settings, vae);
    let per_epoch = split.training.count() / settings.batch;
    let updates = settings.epochs * per_epoch;
    let mut history: Vec<EpochReport> = Vec::new();
    let mut best: Option<Best> = None;
    let (mut made, mut complete) = (0, true);
    'epochs: for epoch in 1..=settings.epochs {
        let weight = settings.weight(epoch);
        let mut sums = Terms::default();
        for _ in 0..per_epoch {
            made += 1;
            sums.add(pool.install(|| training.update(made, weight))?);
            let latest = history.last().copied();
            if monitor(VaeProgress { update: made, updates, latest }) == Control::Stop {
                complete = false;
                break 'epochs;
            }
        }
        let validation = split
            .validation
            .as_ref()
            .map(|images| pool.install(|| training.judge(images)))
            .transpose()?;
        let means = sums.over(per_epoch);
        history.push(EpochReport {
            epoch,
            weight,
            training: means.log_prob - means.divergence,
            divergence: means.divergence,
            validation,
        });
        let Some(bound) = validation else { continue };
        if best.as_ref().is_none_or(|best| bound > best.bound) {
            best = Some(Best { epoch, bound, parameters: training.vae.parameters.clone() });
        }
        // While the weight still rises, a worse bound is no sign of the end.
        let since = best.as_ref().map_or(0, |best| best.epoch).max(settings.warmup);
        if epoch >= since.saturating_add(settings.patience) {
            break;
        }
    }
    let mut model = training.vae;
    let epoch = best.as_ref().map(|best| best.epoch);
    if let Some(best) = best {
        pool.install(|| {
            model.change_parameters(|numbers| numbers.copy_from_slice(&best.parameters))
        });
    }
    Ok(TrainedVae {
        model,
        best: epoch,
        settings: settings.clone(),
        updates: made,
        complete,
        history,
        spent: clock.spent(),
    })
}

/// The autoencoder as it was when it did best.
struct Best {
    epoch: usize,
    bound: f64,
    parameters: Vec<f32>,
}

/// Everything a training changes.
struct Training<'a> {
    examples: &'a Examples,
    settings: &'a VaeSettings,
    vae: Vae,
    learner: Learner,
    moments: Moments,
    order: Order,
    noise: Vec<f32>,
}

impl<'a> Training<'a> {
    fn new(examples: &'a Examples, settings: &'a VaeSettings, vae: Vae) -> Self {
        Self {
            examples,
            settings,
            learner: Learner::new(&vae, settings.batch),
            moments: Moments::new(vae.parameters.len()),
            order: Order::default(),
            noise: vec![0.0; settings.batch * vae.sizes.noise()],
            vae,
        }
    }

    /// One update. Returns the means of both terms over its images before it.
    fn update(&mut self, update: usize, weight: f64) -> Result<Terms, VaeError> {
        let VaeSettings { batch, seed, learning_rate, .. } = *self.settings;
        let images = self.order.batch(self.examples, batch, update, seed);
        let mut rng = ChainRng::new(seed, Stream::Training(Purpose::Noise, update as u64, 0));
        fill_noise(&mut rng, &mut self.noise);
        let terms = self.learner.fill(&self.vae, &images, &self.noise, weight);
        let usable = self.step(Step::new(learning_rate, update));
        if usable && terms.log_prob.is_finite() && terms.divergence.is_finite() {
            Ok(terms)
        } else {
            Err(VaeError::Diverged { update, learning_rate })
        }
    }

    /// Moves the parameters along their gradient; whether they are numbers to go on with.
    fn step(&mut self, step: Step) -> bool {
        let Self { vae, learner, moments, .. } = self;
        let mut usable = true;
        vae.change_parameters(|parameters| {
            usable = descend(step, &learner.gradient, moments, parameters);
        });
        usable
    }

    /// Mean of the bound over images, from one draw each, which is the same after every epoch.
    fn judge(&self, images: &Examples) -> Result<f64, VaeError> {
        let all: Vec<usize> = (0..images.count()).collect();
        let bounds = self.vae.bounds_at(images, &all, 1, self.settings.seed)?;
        Ok(bounds.iter().sum::<f64>() / bounds.len() as f64)
    }
}
