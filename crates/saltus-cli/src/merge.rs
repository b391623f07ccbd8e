//! `saltus merge`: one store of the parts that `saltus sample --shard` made.

use crate::arguments::MergeArguments;
use crate::failure::{Failure, Finish};
use crate::job::Config;
use saltus::store::{self, Stored};
use std::io::Write;

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
    Ok(Finish::Complete)
}
