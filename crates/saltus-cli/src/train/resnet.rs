//! `saltus train resnet`: a deep energy-based model learnt from images, kept in a folder that the
//! training can go on from.

mod curves;
mod folder;
mod report;

use crate::arguments::{Backend, TrainResnetArguments};
use crate::failure::{Failure, Finish};
use crate::memory::check_bytes;
use crate::number::short;
use crate::plot;
use crate::plot::mosaic::Mosaic;
use crate::progress::{View, pace};
use crate::{announce, interrupt, say};
use folder::Folder;
use report::{Looks, NetworkTraining, heading, print_json, print_text};
use saltus::Control;
use saltus::ais::AisSettings;
use saltus::files::Existing;
use saltus_learn::data::{Coding, Dataset, Examples, Split, draw_examples};
use saltus_learn::{Checkpoint, Report, TrainSettings, Validation, validate};
use saltus_nn::{Architecture, Cpu, DeepModel, Network};
use std::path::{Path, PathBuf};

/// A training of a deep model.
type Training<'a, N> = saltus_learn::Training<'a, DeepModel<N>>;

/// Validation images that are looked at, at most.
const MOST_VALIDATED: usize = 2000;
/// Iterations between two checkpoints, unless others are asked for.
const SAVE_EVERY: usize = 500;
/// Bytes that a training holds per parameter, about: a gradient and its sums for each of sixteen parts
/// of a batch, moments, averages and packed copies.
const PER_PARAMETER: f64 = 4.0 * 42.0;
/// Bytes per channel and pixel of an image on its way through the network, about, of which every block
/// of chains and every part of a batch has one: activations, slopes and gradients.
const PER_CHANNEL_AND_PIXEL: f64 = 4.0 * 8.0;

/// Trains and prints.
pub fn run(arguments: &TrainResnetArguments) -> Result<Finish, Failure> {
    let stopped = arguments.resume.as_deref().map(Stopped::read).transpose()?;
    let before = stopped.as_ref().map(|stopped| stopped.about.backend);
    match arguments.backend.or(before).unwrap_or_default() {
        Backend::Cpu => run_on::<Cpu>(arguments, Backend::Cpu, stopped),
        #[cfg(feature = "burn")]
        Backend::Burn => run_on::<saltus_nn::Burn>(arguments, Backend::Burn, stopped),
        #[cfg(not(feature = "burn"))]
        Backend::Burn => Err(Failure::Failed(
            "this saltus was built without burn: build it with `--features burn`, or with `wgpu` or \
             `cuda` in its place for a GPU; --backend cpu does without"
                .to_owned(),
        )),
    }
}

fn run_on<N: Network + 'static>(
    arguments: &TrainResnetArguments,
    backend: Backend,
    stopped: Option<Stopped>,
) -> Result<Finish, Failure> {
    match stopped {
        Some(stopped) => resume::<N>(arguments, backend, stopped),
        None => begin::<N>(arguments, backend),
    }
}

/// A training that was stopped, as it is in its folder.
struct Stopped {
    folder: Folder,
    checkpoint: Checkpoint,
    about: NetworkTraining,
}

impl Stopped {
    fn read(path: &Path) -> Result<Self, Failure> {
        let folder = Folder::new(path);
        let checkpoint = Checkpoint::read(folder.checkpoint())?;
        let about = serde_json::from_str(checkpoint.about()).map_err(|error| {
            let path = folder.checkpoint();
            Failure::Failed(format!("{}: is not of this command: {error}", path.display()))
        })?;
        Ok(Self { folder, checkpoint, about })
    }
}

fn begin<N: Network + 'static>(
    arguments: &TrainResnetArguments,
    backend: Backend,
) -> Result<Finish, Failure> {
    let (Some(dataset), Some(out)) = (&arguments.dataset, &arguments.out) else {
        return Err(Failure::Usage("--dataset and --out are needed".to_owned()));
    };
    if arguments.values.is_some() && !dataset.has_open_values() {
        return Err(Failure::Usage(format!(
            "{dataset} has its own values; --values is for folders"
        )));
    }
    let mut about = NetworkTraining {
        data: absolute(arguments.data.as_deref().unwrap_or(Path::new("."))),
        dataset: dataset.to_string(),
        values: arguments.values,
        backend,
        save_every: arguments.keep.save_every,
        looks: arguments.looks(),
        architecture: None,
    };
    let settings = arguments.settings(dataset);
    let folder = Folder::new(out);
    folder.check_empty(arguments.keep.force)?;
    let split = about.load()?;
    let architecture = architecture(arguments, &split)?;
    about.architecture = Some(architecture);
    about.check_looks(&split)?;
    settings.check(split.training.space(), Some(split.training.count()))?;
    check_memory(&architecture, &settings)?;
    if let Some(sentence) = arguments.unused_weight() {
        say(&format!("saltus: {sentence}"));
    }
    folder.begin()?;
    announce(
        &heading(&about, &split, &architecture, &settings),
        arguments.keep.json,
        arguments.keep.quiet,
    )?;
    let training = untrained::<N>(&split, architecture, settings)?;
    go_on(arguments, &folder, &about, &split, training)
}

fn resume<N: Network + 'static>(
    arguments: &TrainResnetArguments,
    backend: Backend,
    stopped: Stopped,
) -> Result<Finish, Failure> {
    let Stopped { folder, checkpoint, mut about } = stopped;
    about.backend = backend;
    about.save_every = arguments.keep.save_every.or(about.save_every);
    if let (Some(every), Some(looks)) = (arguments.validate_every, about.looks) {
        about.looks = Some(Looks { every, ..looks });
    }
    about.looks = about.looks.or(arguments.looks());
    if let Some(data) = &arguments.data {
        about.data = absolute(data);
    }
    let split = about.load()?;
    let Some(architecture) = about.architecture else {
        return Err(Failure::Failed(format!(
            "{}: does not say which network it is of",
            folder.checkpoint().display()
        )));
    };
    check_memory(&architecture, checkpoint.settings())?;
    folder.forget_after(checkpoint.iteration())?;
    let before = checkpoint.settings();
    let settings = TrainSettings {
        iterations: arguments.iterations.unwrap_or(before.iterations),
        threads: arguments.learner.threads,
        ..before.clone()
    };
    let training = untrained::<N>(&split, architecture, settings)?.resumed(checkpoint)?;
    let first = heading(&about, &split, &architecture, training.settings());
    let heading = format!("{first}resumed  after iteration {}\n", training.iteration());
    announce(&heading, arguments.keep.json, arguments.keep.quiet)?;
    go_on(arguments, &folder, &about, &split, training)
}

/// The path from the root, so that a training can be resumed from anywhere.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// A training before its first iteration.
fn untrained<N: Network + 'static>(
    split: &Split,
    architecture: Architecture,
    settings: TrainSettings,
) -> Result<Training<'_, N>, Failure> {
    let model = DeepModel::untrained(architecture, &split.training, settings.seed)?;
    Ok(Training::new(&split.training, model, settings)?)
}

fn architecture(arguments: &TrainResnetArguments, split: &Split) -> Result<Architecture, Failure> {
    let width = arguments.width.unwrap_or(arguments.preset.unwrap_or_default().width());
    let values = split.training.space().values();
    let blocks = arguments.blocks.unwrap_or(Architecture::BLOCKS);
    let projection = arguments.projection.unwrap_or(Architecture::PROJECTION);
    if values == 2 && arguments.projection.is_some() {
        return Err(Failure::Usage(
            "two values are not projected: leave --projection out".to_owned(),
        ));
    }
    let architecture = Architecture::new(split.rows, split.columns, values, width)?;
    Ok(architecture.with_blocks(blocks)?.with_projection(projection)?)
}

fn check_memory(architecture: &Architecture, settings: &TrainSettings) -> Result<(), Failure> {
    let pixels = (architecture.rows() * architecture.columns()) as f64;
    let image = pixels * architecture.width() as f64 * PER_CHANNEL_AND_PIXEL;
    let chains = settings.batch as f64 * pixels * architecture.values() as f64 * 24.0;
    let bytes = architecture.parameters() as f64 * PER_PARAMETER
        + image * (settings.batch as f64 / 5.0 + 16.0)
        + chains
        + settings.buffer as f64 * pixels;
    check_bytes("the network, its gradients and its chains", bytes)
}

/// Everything that is left of a training.
fn go_on<N: Network + 'static>(
    arguments: &TrainResnetArguments,
    folder: &Folder,
    about: &NetworkTraining,
    split: &Split,
    mut training: Training<'_, N>,
) -> Result<Finish, Failure> {
    interrupt::listen();
    let architecture = &training.model().architecture();
    let mut keeper = Keeper { folder, about, architecture, unsaved: Vec::new() };
    let every = about.save_every.unwrap_or(SAVE_EVERY);
    let mut view = View::new("", arguments.keep.quiet).after(training.iteration());
    let ended = loop {
        if training.is_complete() {
            break Ok(Finish::Complete);
        }
        let report = match training.iterate() {
            Ok(report) => report,
            Err(error) => break Err(error),
        };
        keeper.unsaved.push(report);
        if training.iteration().is_multiple_of(every) && !training.is_complete() {
            keeper.save(&training)?;
        }
        let done = (training.iteration(), training.settings().iterations);
        let numbers = |since| format!("{}, {}", pace("iterations", done, since), watched(&report));
        if view.tell("training", done, numbers) == Control::Stop {
            break Ok(Finish::Early);
        }
        if keeper.look(&training, split, &mut view)? == Control::Stop {
            break Ok(Finish::Early);
        }
    };
    view.finish();
    let finish = ended.map_err(|error| folder.explain(error.into()))?;
    if !keeper.unsaved.is_empty() {
        keeper.save(&training)?;
    }
    let (history, looks) = (folder.history()?, folder.validations()?);
    let complete = finish == Finish::Complete;
    if arguments.keep.json {
        print_json(about, architecture, &training, complete, (&history, &looks), folder)?;
    } else {
        print_text(&training, complete, (&history, &looks), folder)?;
    }
    Ok(finish)
}

/// "gap −0.3, acceptance 0.57, 12 sites per step".
fn watched(report: &Report) -> String {
    format!(
        "energy gap {}, acceptance {:.2}, {} sites changed per step",
        short(report.energy_gap()),
        report.acceptance,
        short(report.changed)
    )
}

/// Keeps a training in its folder.
struct Keeper<'k> {
    folder: &'k Folder,
    about: &'k NetworkTraining,
    architecture: &'k Architecture,
    /// Reports since it was last saved.
    unsaved: Vec<Report>,
}

impl Keeper<'_> {
    /// Looks at the validation images, if it is time, and keeps the model if it is the best so far.
    fn look<N: Network + 'static>(
        &mut self,
        training: &Training<'_, N>,
        split: &Split,
        view: &mut View,
    ) -> Result<Control, Failure> {
        let (Some(looks), Some(images)) = (self.about.looks, &split.validation) else {
            return Ok(Control::Continue);
        };
        let iteration = training.iteration();
        if !iteration.is_multiple_of(looks.every) && !training.is_complete() {
            return Ok(Control::Continue);
        }
        let model = training.model().with_numbers(training.average())?;
        let states = draw_examples(images, MOST_VALIDATED, 0);
        let settings = AisSettings {
            chains: looks.chains,
            temperatures: looks.temperatures,
            threads: training.settings().threads,
            ..AisSettings::default()
        };
        let done = (iteration, training.settings().iterations);
        let mut monitor = || view.tell("validating", done, |_| "annealing".to_owned());
        let when = (iteration, training.spent());
        let Some(found) = validate(&model, &states, &settings, when, &mut monitor)? else {
            return Ok(Control::Stop);
        };
        let mut all = self.folder.validations()?;
        all.push(found);
        if Validation::best(&all).is_some_and(|best| best.iteration == iteration) {
            let about = self.about.in_words(training);
            model.save(self.folder.best(), &about)?;
        }
        self.folder.write_validations(&all)?;
        let picture = curves::learning(&all, &self.about.dataset);
        plot::write(&picture, &self.folder.learning(), Existing::Replace)?;
        Ok(Control::Continue)
    }

    fn save<N: Network + 'static>(&mut self, training: &Training<'_, N>) -> Result<(), Failure> {
        let mosaic =
            Mosaic { rows: self.architecture.rows(), columns: self.architecture.columns() };
        let picture = mosaic.of_states(training.chains(), self.architecture.values());
        picture.write(&self.folder.samples(training.iteration()), Existing::Replace)?;
        let about = self.about.in_words(training);
        training.model().with_numbers(training.average())?.save(self.folder.model(), &about)?;
        self.folder.append(&std::mem::take(&mut self.unsaved))?;
        let TrainSettings { sampler, steps, .. } = training.settings();
        let title = format!("{}, {steps} steps of {sampler} per iteration", self.about.dataset);
        let curves = curves::draw(&self.folder.history()?, &title);
        plot::write(&curves, &self.folder.curves(), Existing::Replace)?;
        // Last, because everything else can be made again from it, or is cut back to it.
        training.save(self.folder.checkpoint(), &serde_json::to_string(self.about)?)?;
        Ok(())
    }
}

impl TrainResnetArguments {
    /// How the validation images are to be looked at.
    fn looks(&self) -> Option<Looks> {
        let every = self.validate_every?;
        let chains = self.validation_chains.unwrap_or(50);
        Some(Looks { every, chains, temperatures: self.validation_temperatures.unwrap_or(1000) })
    }
}

impl NetworkTraining {
    /// Fails if there are no images to look at.
    fn check_looks(&self, split: &Split) -> Result<(), Failure> {
        match (self.looks, &split.validation) {
            (Some(_), None) => Err(Failure::Usage(format!(
                "{} has no validation images: --validate-every needs valid-images-idx3-ubyte",
                self.dataset
            ))),
            _ => Ok(()),
        }
    }

    fn load(&self) -> Result<Split, Failure> {
        let coding = Coding { values: self.values, ..Coding::DRAWN };
        Ok(Dataset::named(&self.dataset).load(&self.data, coding)?)
    }
}

/// Number of examples of a part of a dataset.
fn count(part: &Option<Examples>) -> usize {
    part.as_ref().map_or(0, Examples::count)
}
