//! Draws as arrays, a store on disk, and a run that is stopped, resumed and extended.
//!
//! However a run is cut into pieces, its draws are those of a run in one piece, byte for byte.
//!
//! ```sh
//! cargo run --release -p saltus --example draws_and_resume --features zarr
//! ```

use saltus::model::lattice::Lattice;
use saltus::model::pairwise::Pairwise;
use saltus::store::{Description, Keep, StoreWriter, Stored};
use saltus::{Control, Ended, Model, Run, Settings};
use std::path::Path;
use std::time::Duration;

/// Goes on with the run in a folder, or begins it.
fn go_on<M: Model>(
    model: &M,
    settings: &Settings,
    path: &Path,
) -> Result<Ended, Box<dyn std::error::Error>> {
    let described = Description::new("ising", model.shown_space(), settings);
    let description = Description { keep: Keep::Bits, ..described };
    // A monitor may also stop a run: Ctrl-C of the command line does.
    let mut run = Run::new(model, settings.clone()).monitor(|_progress| Control::Continue);
    let mut writer = if Stored::is_store(path) {
        let (writer, checkpoint, seconds) = StoreWriter::resume(path, description)?;
        run = run.after(seconds);
        if let Some(checkpoint) = checkpoint {
            run = run.resume(checkpoint);
        }
        writer
    } else {
        StoreWriter::create(path, description, false)?
    };
    Ok(run.go_into(&mut writer)?.ended)
}

/// Runs it; public, because a test does, too.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sites = 64;
    let model = Pairwise::ising_lattice(Lattice::periodic(8, 8)?, 0.3, vec![0.0; sites])?;
    let short = Settings { chains: 4, warmup: 500, draws: 600, ..Settings::default() };
    let long = Settings { draws: 1500, ..short.clone() };

    // In memory: a number per chain and draw for every observable, and whole states on request.
    let outcome = Run::new(&model, long.clone()).keep_states().go()?;
    let trace = &outcome.trace;
    let log_prob: &[Vec<f64>] = trace.log_prob();
    assert_eq!((log_prob.len(), log_prob[0].len()), (4, 1500));
    let last: &[u8] = trace.states(3).chunks_exact(sites).next_back().unwrap();
    assert_eq!(last, outcome.last_states[3]);

    // On disk, in three pieces: stopped as early as can be, brought to 600 draws, extended to 1,500.
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("run");
    let stopped = Settings { time_limit: Some(Duration::ZERO), ..short.clone() };
    let ended = [
        go_on(&model, &stopped, &path)?,
        go_on(&model, &short, &path)?,
        go_on(&model, &long, &path)?,
    ];
    println!("{}; {}; {}", ended[0], ended[1], ended[2]);
    assert_eq!(ended, [Ended::TimeLimit, Ended::Complete, Ended::Complete]);

    let stored = Stored::open(&path)?;
    assert_eq!(stored.draws(), 1500);
    assert_eq!(stored.series("log_prob")?, log_prob);
    assert_eq!(stored.series("hamming")?, trace.hamming());
    for chain in 0..4 {
        assert_eq!(stored.states(chain, 0..1500)?.unwrap(), trace.states(chain));
    }
    println!("the same {} draws of {} chains", stored.draws(), stored.chains());
    Ok(())
}
