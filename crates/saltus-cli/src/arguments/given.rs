//! What is known of a model's states.

use super::ModelArguments;
use super::groups::{OneHotGroups, SumGroups};
use crate::failure::Failure;
use clap::Args;
use saltus::zoo::read::{bytes_of, evidence_cases};
use saltus::zoo::{Given, Names};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Sites that are fixed. Global, so that it may stand before or after a model's name.
#[derive(Clone, Debug, Default, Args)]
pub struct GivenArguments {
    /// Fix sites at values, as the model's file names them or counted from 0; spins also at -1 and 1
    #[arg(
        long,
        global = true,
        value_name = "SITE=VALUE,…",
        value_delimiter = ',',
        help_heading = "Model"
    )]
    pub clamp: Vec<Fixed>,
    /// Fix the sites that a file of UAI evidence names, at its values; FILE#K is the K-th of several cases in it,
    /// counted from 1
    #[arg(long, global = true, value_name = "FILE", help_heading = "Model")]
    pub evidence: Option<PathBuf>,
    /// Groups of bits of which exactly one is 1, such as 0-3,4-7 or 0+2+5 or every:4; or a file with a group per
    /// line
    #[arg(long, global = true, value_name = "GROUPS|FILE", help_heading = "Model")]
    pub one_hot: Option<OneHotGroups>,
    /// Sums that are fixed: 12 of all sites, 3:0-9,2:10-19 of some; or a file with a sum and its sites per line
    #[arg(long, global = true, value_name = "SUMS|FILE", help_heading = "Model")]
    pub fixed_sum: Option<SumGroups>,
}

/// A site and its value, by numbers or names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    site: String,
    value: String,
}

impl FromStr for Fixed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim().split_once('=') {
            Some((site, value)) if !site.is_empty() && !value.is_empty() => {
                Ok(Self { site: site.trim().to_owned(), value: value.trim().to_owned() })
            }
            _ => Err(format!("'{text}' is not SITE=VALUE, such as 3=1")),
        }
    }
}

impl GivenArguments {
    /// Whether anything is known.
    pub fn given(&self) -> Option<&'static str> {
        let options = [
            ("--clamp", !self.clamp.is_empty()),
            ("--evidence", self.evidence.is_some()),
            ("--one-hot", self.one_hot.is_some()),
            ("--fixed-sum", self.fixed_sum.is_some()),
        ];
        options.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// What is known of a model's states.
    pub fn read(&self, model: &ModelArguments) -> Result<Given, Failure> {
        let of_option =
            |option: &'static str| move |why: String| Failure::Usage(format!("{option}: {why}"));
        let one_hot = self.one_hot.as_ref().map_or(Ok(Vec::new()), OneHotGroups::read);
        let sums = self.fixed_sum.as_ref().map_or(Ok(Vec::new()), SumGroups::read);
        Ok(Given {
            evidence: self.fixed_sites(model)?,
            one_hot: one_hot.map_err(of_option("--one-hot"))?,
            sums: sums.map_err(of_option("--fixed-sum"))?,
        })
    }

    /// The fixed sites of a model and their values.
    fn fixed_sites(&self, model: &ModelArguments) -> Result<Vec<(usize, u8)>, Failure> {
        let mut fixed = Vec::new();
        if let Some(path) = &self.evidence {
            fixed.extend(case_of(path)?);
        }
        let names = match self.clamp[..] {
            [] => Names::default(),
            _ => names_of(model)?,
        };
        for Fixed { site, value } in &self.clamp {
            let place = names.place(site, value);
            fixed.push(place.map_err(|reason| Failure::Usage(format!("--clamp: {reason}")))?);
        }
        Ok(fixed)
    }
}

/// The evidence of a file, or of the case that stands behind its name.
fn case_of(path: &Path) -> Result<Vec<(usize, u8)>, Failure> {
    let named = path.to_str().and_then(|name| {
        let (file, case) = name.rsplit_once('#')?;
        Some((PathBuf::from(file), case.parse::<usize>().ok()?))
    });
    // A file whose own name ends like that is meant first.
    let (file, case) = match named.filter(|_| !path.exists()) {
        Some((file, case)) => (file, Some(case)),
        None => (path.to_owned(), None),
    };
    let failed = |reason| Failure::Failed(format!("{}: {reason}", file.display()));
    let mut cases = evidence_cases(&bytes_of(&file)?).map_err(failed)?;
    match case.unwrap_or(1).checked_sub(1) {
        Some(_) if case.is_none() && cases.len() > 1 => Err(failed(format!(
            "has {} cases of evidence; name one of them, such as --evidence {}#1",
            cases.len(),
            file.display()
        ))),
        Some(place) if place < cases.len() => Ok(cases.swap_remove(place)),
        _ => Err(failed(format!("has {} cases of evidence, counted from 1", cases.len()))),
    }
}

/// What a model calls its sites and their values.
fn names_of(model: &ModelArguments) -> Result<Names, Failure> {
    match model {
        ModelArguments::Zoo(spec) => Ok(spec.names()?),
        _ => Ok(Names::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_and_values_stand_on_either_side() {
        let fixed = |text: &str| text.parse::<Fixed>().unwrap();
        let expected = Fixed { site: "grass".to_owned(), value: "-1".to_owned() };
        assert_eq!(fixed(" grass = -1"), expected);
        for wrong in ["3", "=1", "3=", ""] {
            assert!(wrong.parse::<Fixed>().is_err(), "{wrong}");
        }
    }
}
