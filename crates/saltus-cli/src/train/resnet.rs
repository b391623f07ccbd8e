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
use report::{NetworkTraining, heading, print_json, print_text};
use saltus::Control;
use saltus::data::Examples;
use saltus::files::Existing;
use saltus_nn::data::{Dataset, Split};
use saltus_nn::train::{Checkpoint, Report, TrainError, TrainSettings, Training};
use saltus_nn::{Architecture, Cpu, Network};
use std::path::{Path, PathBuf};

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
    if arguments.values.is_some() && !matches!(dataset, Dataset::Folder(_)) {
        return Err(Failure::Usage(format!(
            "{dataset} has its own values; --values is for folders"
        )));
    }
    let about = NetworkTraining {
        data: absolute(arguments.data.as_deref().unwrap_or(Path::new("."))),
        dataset: dataset.to_string(),
        values: arguments.values,
        backend,
        save_every: arguments.save_every,
    };
    let settings = arguments.settings(dataset);
    let folder = Folder::new(out);
    folder.check_empty(arguments.force)?;
    let split = about.load()?;
    let architecture = architecture(arguments, &split)?;
    settings.check(&split.training)?;
    check_memory(&architecture, &settings)?;
    if let Some(sentence) = arguments.unused_weight() {
        say(&format!("saltus: {sentence}"));
    }
    folder.begin()?;
    announce(&heading(&about, &split, &architecture, &settings), arguments.json, arguments.quiet)?;
    let training: Training<N> = Training::new(&split.training, architecture, settings)?;
    go_on(arguments, &folder, &about, &architecture, training)
}

fn resume<N: Network + 'static>(
    arguments: &TrainResnetArguments,
    backend: Backend,
    stopped: Stopped,
) -> Result<Finish, Failure> {
    let Stopped { folder, checkpoint, mut about } = stopped;
    about.backend = backend;
    about.save_every = arguments.save_every.or(about.save_every);
    if let Some(data) = &arguments.data {
        about.data = absolute(data);
    }
    let split = about.load()?;
    let architecture = *checkpoint.architecture();
    check_memory(&architecture, checkpoint.settings())?;
    folder.forget_after(checkpoint.iteration())?;
    let iterations = arguments.iterations;
    let training: Training<N> =
        Training::resume(&split.training, checkpoint, iterations, arguments.threads)?;
    let first = heading(&about, &split, &architecture, training.settings());
    let heading = format!("{first}resumed  after iteration {}\n", training.iteration());
    announce(&heading, arguments.json, arguments.quiet)?;
    go_on(arguments, &folder, &about, &architecture, training)
}

/// The path from the root, so that a training can be resumed from anywhere.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
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
    architecture: &Architecture,
    mut training: Training<'_, N>,
) -> Result<Finish, Failure> {
    interrupt::listen();
    let mut keeper = Keeper { folder, about, architecture, unsaved: Vec::new() };
    let every = about.save_every.unwrap_or(SAVE_EVERY);
    let mut view = View::new("", arguments.quiet).after(training.iteration());
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
    };
    view.finish();
    let finish = ended.map_err(|error| folder.explain(error.into()))?;
    if !keeper.unsaved.is_empty() {
        keeper.save(&training)?;
    }
    let history = folder.history()?;
    let complete = finish == Finish::Complete;
    if arguments.json {
        print_json(about, architecture, &training, complete, &history, folder)?;
    } else {
        print_text(&training, complete, &history, folder)?;
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
    fn save<N: Network + 'static>(&mut self, training: &Training<'_, N>) -> Result<(), Failure> {
        let mosaic =
            Mosaic { rows: self.architecture.rows(), columns: self.architecture.columns() };
        let picture = mosaic.of_states(training.chains(), self.architecture.values());
        picture.write(&self.folder.samples(training.iteration()), Existing::Replace)?;
        let about = self.about.in_words(training);
        training.averaged()?.save(self.folder.model(), &about)?;
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

impl From<TrainError> for Failure {
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Setting(sentence) => Self::Usage(sentence),
            TrainError::Model(error) => error.into(),
            TrainError::Diverged { .. } | TrainError::Threads(_) | TrainError::File { .. } => {
                Self::Failed(error.to_string())
            }
        }
    }
}

impl NetworkTraining {
    fn load(&self) -> Result<Split, Failure> {
        Ok(Dataset::named(&self.dataset).load(&self.data, self.values)?)
    }
}

/// Number of examples of a part of a dataset.
fn count(part: &Option<Examples>) -> usize {
    part.as_ref().map_or(0, Examples::count)
}
