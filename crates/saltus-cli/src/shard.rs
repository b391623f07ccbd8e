//! A part of the chains of a run, for a process of its own: on another machine, or as a task of a cluster's queue.
//!
//! All parts must agree on the scale and on temperatures without hearing of each other. So every one makes the same pilot
//! first, of the first chains of the run ([`saltus::run::pilot`]), and then all chains are warmed up and drawn with what it
//! came to. The draws are the same bytes for any number of parts.

use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Part `index` of `of`, numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Its number.
    pub index: usize,
    /// How many there are.
    pub of: usize,
}

/// The shard as it was asked for, and the chains of the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    #[serde(flatten)]
    pub shard: Shard,
    /// Chains of the whole run.
    pub chains: usize,
}

/// Variables that tell a process its number and how many there are.
const SOURCES: [(&str, &str, Option<&str>); 3] = [
    ("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", Some("SLURM_ARRAY_TASK_MIN")),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", None),
    ("PMI_RANK", "PMI_SIZE", None),
];

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Self::of_environment(|name| std::env::var(name).ok());
        }
        let numbers = text.split_once('/');
        let numbers = numbers.and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        let (index, of) = numbers
            .ok_or_else(|| format!("expected I/N, such as 0/4 to 3/4, or auto, got '{text}'"))?;
        Self { index, of }.checked()
    }
}

impl Shard {
    fn checked(self) -> Result<Self, String> {
        let Self { index, of } = self;
        if index < of {
            return Ok(self);
        }
        Err(format!("shards are numbered from 0: there is no shard {index} of {of}"))
    }

    /// As a queue or MPI says.
    fn of_environment(get: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let number = |name: &str| get(name)?.trim().parse::<usize>().ok();
        for (index, of, least) in SOURCES {
            if let (Some(index), Some(of)) = (number(index), number(of)) {
                let least = least.and_then(number).unwrap_or(0);
                return Self { index: index.saturating_sub(least), of }.checked();
            }
        }
        Err("neither SLURM nor MPI says which shard this is: give I/N".to_owned())
    }

    /// Where its draws go, beside those of the others.
    pub fn folder(self, out: &Path) -> PathBuf {
        let mut name = out.file_name().unwrap_or("run".as_ref()).to_owned();
        name.push(format!(".{}of{}", self.index, self.of));
        out.with_file_name(name)
    }
}

impl Part {
    /// Its chains.
    pub fn range(self) -> Range<usize> {
        let Self { shard: Shard { index, of }, chains } = self;
        let begin = |index: usize| (index as u128 * chains as u128 / of as u128) as usize;
        begin(index)..begin(index + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_parsed_and_cover_all_chains() {
        assert_eq!("2/5".parse(), Ok(Shard { index: 2, of: 5 }));
        for wrong in ["", "3", "5/5", "1/0", "-1/3", "a/b"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
        for (chains, of) in [(10, 3), (100, 7), (3, 3)] {
            let parts = (0..of).map(|index| Part { shard: Shard { index, of }, chains }.range());
            assert!(parts.flatten().eq(0..chains), "{chains} {of}");
        }
        let folder = Shard { index: 1, of: 4 }.folder(Path::new("a/run"));
        assert_eq!(folder, Path::new("a/run.1of4"));
    }

    #[test]
    fn queues_say_which_shard_this_is() {
        let slurm = |name: &str| match name {
            "SLURM_ARRAY_TASK_ID" => Some("3".to_owned()),
            "SLURM_ARRAY_TASK_COUNT" => Some("8".to_owned()),
            "SLURM_ARRAY_TASK_MIN" => Some("1".to_owned()),
            _ => None,
        };
        assert_eq!(Shard::of_environment(slurm), Ok(Shard { index: 2, of: 8 }));
        let mpi = |name: &str| match name {
            "PMI_RANK" => Some("0".to_owned()),
            "PMI_SIZE" => Some("2".to_owned()),
            _ => None,
        };
        assert_eq!(Shard::of_environment(mpi), Ok(Shard { index: 0, of: 2 }));
        assert!(Shard::of_environment(|_| None).is_err());
    }
}
