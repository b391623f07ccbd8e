//! What a store says about its run.

use crate::control::{Ended, Reached, Seconds};
use crate::error::{ModelError, StepFailure};
use crate::run::Settings;
use crate::space::Space;
use serde::{Deserialize, Serialize};

/// What is kept of whole states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// Nothing.
    #[default]
    None,
    /// A byte per site.
    States,
    /// A bit per site; for two values.
    Bits,
}

/// What was sampled, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Name of the model.
    pub model: String,
    /// The model in words.
    pub description: Option<String>,
    /// Number of sites.
    pub sites: usize,
    /// Values per site; the largest number of values if they differ.
    pub values: usize,
    /// Values of every site, if they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cardinalities: Option<Vec<usize>>,
    /// How the sites are arranged, the last dimension running fastest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<usize>>,
    /// What the kernel is called, if it is not one of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The settings of the run.
    pub settings: Settings,
    /// What is kept of whole states.
    pub keep: Keep,
    /// Whatever its maker needs to build the model again.
    pub config: serde_json::Value,
}

impl Description {
    /// A run of a model of that name and space; nothing is kept of states.
    pub fn new(model: impl Into<String>, space: &Space, settings: &Settings) -> Self {
        Self {
            model: model.into(),
            description: None,
            sites: space.sites(),
            values: space.values(),
            cardinalities: (!space.is_uniform())
                .then(|| (0..space.sites()).map(|site| space.values_at(site)).collect()),
            shape: space.shape().map(<[usize]>::to_vec),
            kernel: None,
            // These two differ between runs of the same draws.
            settings: Settings { threads: None, time_limit: None, ..settings.clone() },
            keep: Keep::None,
            config: serde_json::Value::Null,
        }
    }
}

impl Description {
    /// What tells its files from those of another run: a digest of all that decides what the chains do and how they are
    /// kept. Runs of the same draws have the same, and so has one that is extended.
    pub(super) fn identity(&self) -> String {
        let run =
            Self { description: None, settings: self.settings.of_the_chains(), ..self.clone() };
        let bytes = serde_json::to_vec(&run).unwrap_or_default();
        format!("{:08x}", crc32c::crc32c(&bytes))
    }

    /// The space of the stored states.
    pub fn space(&self) -> Result<Space, ModelError> {
        let space = match &self.cardinalities {
            None => Space::new(self.sites, self.values)?,
            Some(cardinalities) => Space::mixed(cardinalities)?,
        };
        match &self.shape {
            None => Ok(space),
            Some(shape) => space.with_shape(shape),
        }
    }
}

/// What differs between two runs of the same draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Threads that were used last.
    pub threads: usize,
    /// Wall time, over all parts of a run that was resumed.
    pub seconds: Seconds,
}

/// How a run ended, as a store keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct EndRecord {
    rule: String,
    sentence: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reached: Option<Reached>,
    /// Chain, step and cause of a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed: Option<(usize, usize, String)>,
}

impl EndRecord {
    pub(super) fn new(ended: &Ended) -> Self {
        let reached = match ended {
            Ended::Reached(reached) => Some(*reached),
            _ => None,
        };
        let failed = match ended {
            Ended::Failed { chain, step, cause } => Some((*chain, *step, cause.to_string())),
            _ => None,
        };
        let (rule, sentence) = (ended.rule().to_owned(), ended.to_string());
        Self { rule, sentence, reached, failed }
    }

    pub(super) fn ended(&self) -> Ended {
        match (&self.reached, &self.failed, self.rule.as_str()) {
            (Some(reached), ..) => Ended::Reached(*reached),
            // The cause is known in words only.
            (_, Some((chain, step, cause)), _) => Ended::Failed {
                chain: *chain,
                step: *step,
                cause: StepFailure::Model(ModelError::Invalid(cause.clone())),
            },
            (.., "time-limit") => Ended::TimeLimit,
            (.., "draws") => Ended::Complete,
            _ => Ended::Interrupted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_is_told_again() {
        let reached = Reached { draws: 100, ess: Some((120.5, 110.0)), rhat: None, log_z: None };
        let cause = StepFailure::LogProb(f64::NAN);
        let all = [
            Ended::Complete,
            Ended::Interrupted,
            Ended::TimeLimit,
            Ended::Reached(reached),
            Ended::Failed { chain: 3, step: 5, cause },
        ];
        for ended in all {
            let json = serde_json::to_string(&EndRecord::new(&ended)).unwrap();
            let again = serde_json::from_str::<EndRecord>(&json).unwrap().ended();
            assert_eq!((again.rule(), again.to_string()), (ended.rule(), ended.to_string()));
        }
    }
}
