//! `saltus train dbn`: a second RBM, learnt from the hidden units that a first one gives to images.

use super::files::Files;
use super::{SAMPLES, check, data, finish, train};
use crate::announce;
use crate::arguments::{TrainDbnArguments, existing};
use crate::failure::{Failure, Finish};
use crate::plot::mosaic::Mosaic;
use saltus::{Model, ModelError, tensor_file};
use saltus_learn::dbn::{Dbn, Layers};
use saltus_learn::rbm::RbmTraining;

pub fn run(arguments: &TrainDbnArguments) -> Result<Finish, Failure> {
    let TrainDbnArguments { bottom: path, training: arguments } = arguments;
    arguments.check_moves()?;
    let settings = arguments.settings();
    let files = Files::beside(&arguments.out, ["samples"])?;
    files.check(arguments.replaces())?;
    let failed = |reason: String| Failure::Failed(format!("{}: {reason}", path.display()));
    // Kept until the end: by then the file may be another.
    let bytes = tensor_file::read(path).map_err(failed)?;
    let Layers::One(bottom) = Layers::from_bytes(&bytes).map_err(failed)? else {
        return Err(Failure::Failed(format!(
            "{}: is a network already; --bottom takes an RBM of `saltus train rbm`",
            path.display()
        )));
    };
    let bottom = *bottom;
    let values = bottom.space().values();
    let (examples, mut about) = data(arguments, values)?;
    about.below = Some(bottom.hidden());
    let examples = examples.hidden_units_of(bottom.clone()).map_err(|error| {
        Failure::Failed(format!("{} does not fit the data: {error}", path.display()))
    })?;
    check(&examples, &settings)?;
    announce(&about.heading(&settings), arguments.keep.json, arguments.keep.quiet)?;
    let trained = train(RbmTraining::on_top_of(&bottom, &examples, &settings)?, arguments)?;
    trained.save_on_top_of(&bytes, &files.model, &about.in_words())?;
    let (count, steps) = SAMPLES;
    let hidden = trained.samples(count, steps)?;
    let broken = |error: ModelError| Failure::Failed(error.to_string());
    let network = Dbn::new(bottom, trained.rbm().clone()).map_err(broken)?;
    let states = network.draw_sites(&hidden, settings.seed);
    let mosaic = Mosaic { rows: about.rows, columns: about.columns };
    let [samples] = &files.pictures;
    mosaic.of_states(&states, values).write(samples, existing(arguments.replaces()))?;
    finish(&about, &trained, &files.all(), arguments.keep.json)
}
