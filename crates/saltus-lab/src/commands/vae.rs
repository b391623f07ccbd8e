//! `saltus-lab train vae`: an autoencoder learnt from images, judged by others, kept with a picture of its
//! samples.

mod report;

use crate::arguments::TrainVaeArguments;
use crate::vae::{BoundSettings, TrainedVae, VaeError, VaeSettings, VaeSizes, train_vae};
use report::{About, Judged, print_json, print_text};
use saltus_cli::arguments::existing;
use saltus_cli::failure::{Failure, Finish};
use saltus_cli::memory::check_bytes;
use saltus_cli::plot::mosaic::Mosaic;
use saltus_cli::progress::{View, pace};
use saltus_cli::train::files::Files;
use saltus_cli::{announce, interrupt, out};
use saltus_learn::data::{Coding, Split};
use std::time::Instant;

/// Samples in their picture.
const SAMPLES: usize = 100;
/// Numbers kept per parameter: itself, the best, ready for products both ways, its gradient, two
/// moments.
const PER_PARAMETER: f64 = 7.0;

/// Trains and prints.
pub fn run(arguments: &TrainVaeArguments) -> Result<Finish, Failure> {
    out::goes_elsewhere(true);
    let (settings, bound) = (arguments.settings(), arguments.bound_settings());
    bound.check()?;
    let files = Files::beside(&arguments.out, ["samples"])?;
    files.check(arguments.force)?;
    let split = arguments.dataset.load(&arguments.data, Coding::DRAWN)?;
    let sizes = settings.check(&split)?;
    check_memory(&sizes, &settings)?;

    let about = About { dataset: &arguments.dataset, split: &split, sizes };
    announce(&about.heading(&settings), arguments.json, arguments.quiet)?;
    let trained = train(&split, &settings, arguments.quiet)?;
    trained.model.save(&files.model, &about.in_words(&trained))?;
    let mosaic = Mosaic { rows: split.rows, columns: split.columns };
    let [samples] = &files.pictures;
    let drawn = trained.model.samples(SAMPLES, settings.seed);
    mosaic.of_states(&drawn, sizes.values()).write(samples, existing(arguments.force))?;
    // Who has stopped the training does not want to wait for this either.
    let judged = match trained.complete {
        true => judge(&trained, &split, &bound, arguments.quiet)?,
        false => None,
    };
    if arguments.json {
        print_json(&about, &trained, judged.as_ref(), &files.all())?;
    } else {
        print_text(&trained, judged.as_ref(), &files.all())?;
    }
    Ok(if trained.complete && !interrupt::requested() { Finish::Complete } else { Finish::Early })
}

fn check_memory(sizes: &VaeSizes, settings: &VaeSettings) -> Result<(), Failure> {
    let VaeSettings { hidden, latent, batch, channels, .. } = *settings;
    // About what an image takes in all layers, there and back; of convolutions, four maps of twice the channels and their pairs.
    let maps = 4 * 2 * 2 * 3 * channels.unwrap_or(0) + 3;
    let per_image = (maps * sizes.pixels() + 18 * sizes.levels() * hidden + 8 * latent) as f64;
    let numbers = PER_PARAMETER * sizes.parameters() as f64 + per_image * batch as f64;
    let what = format!("batches of {batch} for {hidden} hidden units and {latent} latent numbers");
    check_bytes(&what, 4.0 * numbers)
}

fn train(split: &Split, settings: &VaeSettings, quiet: bool) -> Result<TrainedVae, Failure> {
    interrupt::listen();
    let mut view = View::new("", quiet);
    let trained = train_vae(split, settings, |progress| {
        let done = (progress.update, progress.updates);
        view.tell("training", done, |since| {
            let pace = pace("updates", done, since);
            match progress.latest {
                None => pace,
                Some(latest) => format!("{pace}, {}", report::epoch(&latest)),
            }
        })
    });
    view.finish();
    Ok(trained?)
}

/// The bound on the test images, or on those it was chosen by if there are no others.
fn judge(
    trained: &TrainedVae,
    split: &Split,
    settings: &BoundSettings,
    quiet: bool,
) -> Result<Option<Judged>, Failure> {
    let parts = [("test", &split.test), ("validation", &split.validation)];
    let found = parts.into_iter().find_map(|(part, images)| Some((part, images.as_ref()?)));
    let Some((part, images)) = found else { return Ok(None) };
    let started = Instant::now();
    let mut view = View::new("", quiet);
    let bound = trained.model.bound(images, settings, |progress| {
        let done = (progress.images, progress.of);
        view.tell("bound", done, |since| pace("images", done, since))
    });
    view.finish();
    let seconds = started.elapsed().as_secs_f64();
    let per_dim = -1.0 / (std::f64::consts::LN_2 * trained.model.sizes().pixels() as f64);
    Ok(bound?.map(|bound| Judged { part, bound, bits_per_dim: bound.mean * per_dim, seconds }))
}

impl From<VaeError> for Failure {
    fn from(error: VaeError) -> Self {
        match error {
            VaeError::Setting(sentence) => Self::Usage(sentence),
            VaeError::Model(error) => error.into(),
            VaeError::Diverged { .. } | VaeError::Threads(_) => Self::Failed(error.to_string()),
        }
    }
}
