//! `saltus merge`: one store of the parts that `saltus sample --shard` made.

use crate::arguments::MergeArguments;
use crate::failure::{Failure, Finish};
use crate::job::Config;
use crate::model::{Context, build};
use crate::table::wrap;
use crate::{advice, interrupt};
use saltus::store::{self, StoreWriter, Stored};
use saltus::zoo::Built;
use saltus::{Finding, Summary};
use std::io::Write;
use std::path::Path;

/// Joins the stores in the order of their chains.
pub fn run(arguments: &MergeArguments) -> Result<Finish, Failure> {
    let mut parts = Vec::new();
    for path in &arguments.parts {
        let stored = Stored::open(path)?;
        let config: Option<Config> =
            serde_json::from_value(stored.description().config.clone()).ok();
        let Some(config) = config.filter(|config| config.part.is_some()) else {
            return Err(Failure::Usage(format!(
                "{} was not made by `saltus sample --shard`",
                path.display()
            )));
        };
        parts.push((config.part.map_or(0, |part| part.shard.index), config, stored));
    }
    parts.sort_by_key(|(index, ..)| *index);
    let of = parts[0].1.part.map_or(0, |part| part.shard.of);
    let indices: Vec<usize> = parts.iter().map(|(index, ..)| *index).collect();
    if indices != (0..of).collect::<Vec<_>>() {
        return Err(Failure::Usage(format!(
            "all {of} shards are needed, each once; there are shards {indices:?}"
        )));
    }
    let config = Config { part: None, ..parts[0].1.clone() };
    if parts.iter().any(|(_, other, _)| Config { part: None, ..other.clone() } != config) {
        return Err(Failure::Usage("the shards are of different models".to_owned()));
    }
    let stored: Vec<Stored> = parts.into_iter().map(|(_, _, stored)| stored).collect();
    store::merge(&stored, &arguments.out, serde_json::json!(config), arguments.force)?;
    let (chains, draws): (usize, _) = (stored.iter().map(Stored::chains).sum(), stored[0].draws());
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}: {chains} chains of {draws} draws", arguments.out.display())?;
    if !arguments.no_scouts {
        for warning in scouted(&config, &arguments.out)? {
            write!(out, "{}", wrap(&warning, "", ""))?;
        }
    }
    Ok(Finish::Complete)
}

/// Sends scouts after the whole run, as after one that was made in one piece; what they found.
fn scouted(config: &Config, folder: &Path) -> Result<Vec<String>, Failure> {
    let given = config.given();
    let context = Context { seed: config.model_seed, chains: 1, given: Some(&given) };
    let Built { title, model } = match build(&config.model, context) {
        Ok(built) => built,
        // Its parameters may be on another machine; the store says that nobody looked.
        Err(failure) => {
            let reason = failure.sentence().unwrap_or_default();
            return Ok(vec![format!("no scouts were sent, because there is no model: {reason}")]);
        }
    };
    interrupt::listen();
    let mut outcome = Stored::open(folder)?.outcome()?;
    outcome.scouts = None;
    let mut summary = Summary::new(title.name, &outcome);
    summary.scout(&model, &outcome, interrupt::control);
    if let Some(scouts) = &summary.scouts {
        StoreWriter::put_scouts(folder, scouts)?;
    }
    let of_scouts = |finding: &&Finding| {
        matches!(finding, Finding::Elsewhere { .. } | Finding::Unscouted { .. })
    };
    Ok(summary.findings.iter().filter(of_scouts).map(advice::sentence).collect())
}
