//! The paper's claims about sampling, each with the numbers that decide it and a verdict.

mod efficiency;
mod mechanism;
mod time;

use super::results::Results;
use crate::number::short;
use saltus::Sampler;
use saltus::study::Target;
use serde::Serialize;

/// What the numbers say about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Verdict {
    #[serde(rename = "holds")]
    Holds,
    #[serde(rename = "holds partly")]
    Partly,
    #[serde(rename = "does not hold")]
    DoesNotHold,
    /// The cells that would decide it were not run.
    #[serde(rename = "not measured")]
    NotMeasured,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::Partly => "holds partly",
            Self::DoesNotHold => "does not hold",
            Self::NotMeasured => "not measured",
        })
    }
}

/// A statement of the paper, judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// C1 to C15.
    pub id: &'static str,
    pub statement: &'static str,
    pub verdict: Verdict,
    pub parts: Vec<Part>,
}

/// A question that is asked of several targets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// What is measured, and what it must be for the claim to hold.
    pub question: &'static str,
    /// How many answers must be yes; all if not said.
    pub enough: Option<usize>,
    pub answers: Vec<Answer>,
}

/// A number and whether it is what the claim says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    pub of: String,
    pub value: f64,
    pub holds: bool,
}

impl Part {
    fn all(question: &'static str, answers: impl IntoIterator<Item = Answer>) -> Self {
        Self { question, enough: None, answers: answers.into_iter().collect() }
    }

    fn verdict(&self) -> Verdict {
        let yes = self.answers.iter().filter(|answer| answer.holds).count();
        match (yes, self.answers.len()) {
            (_, 0) => Verdict::NotMeasured,
            (yes, all) if yes >= self.enough.unwrap_or(all) => Verdict::Holds,
            (0, _) => Verdict::DoesNotHold,
            _ => Verdict::Partly,
        }
    }

    /// "ising-high 1.31, potts-8 0.98 ✗".
    pub fn numbers(&self) -> String {
        let texts = self.answers.iter().map(|answer| {
            let mark = if answer.holds { "" } else { " ✗" };
            format!("{} {}{mark}", answer.of, short(answer.value))
        });
        texts.collect::<Vec<_>>().join(", ")
    }
}

impl Claim {
    fn new(id: &'static str, statement: &'static str, parts: Vec<Part>) -> Self {
        let verdicts: Vec<Verdict> = parts
            .iter()
            .map(Part::verdict)
            .filter(|verdict| *verdict != Verdict::NotMeasured)
            .collect();
        let verdict = if verdicts.is_empty() {
            Verdict::NotMeasured
        } else if verdicts.iter().all(|verdict| *verdict == Verdict::Holds) {
            Verdict::Holds
        } else if verdicts.iter().all(|verdict| *verdict == Verdict::DoesNotHold) {
            Verdict::DoesNotHold
        } else {
            Verdict::Partly
        };
        Self { id, statement, verdict, parts }
    }
}

/// All claims about sampling, in the order of their numbers.
pub fn judge(results: &Results) -> Vec<Claim> {
    let mut claims = efficiency::claims(results);
    claims.extend(mechanism::claims(results));
    claims.extend(time::claims(results));
    let number = |claim: &Claim| claim.id[1..].parse::<u32>().unwrap_or(u32::MAX);
    claims.sort_by_key(number);
    claims
}

/// Samplers that know nothing of differences.
const BLIND: [Sampler; 3] = [Sampler::Hb, Sampler::Bg, Sampler::Rwm];
/// The locally balanced ones.
const BALANCED: [Sampler; 5] =
    [Sampler::Gwg, Sampler::Pas, Sampler::Dmala, Sampler::Dlmcf, Sampler::Dlmc];
const FACTORISED: [Target; 4] =
    [Target::BernoulliLow, Target::BernoulliHigh, Target::Categorical4, Target::Categorical8];
const LATTICES: [Target; 4] = [Target::IsingLow, Target::IsingHigh, Target::Potts4, Target::Potts8];
const FHMMS: [Target; 4] =
    [Target::FhmmBinaryLow, Target::FhmmBinaryHigh, Target::Fhmm4, Target::Fhmm8];
const MACHINES: [Target; 4] = [Target::Rbm25, Target::Rbm200, Target::Rbm4, Target::Rbm8];

/// The samplers of the study without one of them.
fn others(than: Sampler) -> Vec<Sampler> {
    saltus::study::SAMPLERS.into_iter().filter(|sampler| *sampler != than).collect()
}

#[cfg(test)]
mod tests;
