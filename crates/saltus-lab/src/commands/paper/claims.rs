//! The paper's claims about sampling, each with the numbers that decide it and a verdict.

mod efficiency;
mod mechanism;
mod time;

use super::results::{Estimate, Results};
use saltus_cli::number::short;
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
    /// The cells that would decide it were not run, or their errors are too large.
    #[serde(rename = "not decided")]
    NotDecided,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::Partly => "holds partly",
            Self::DoesNotHold => "does not hold",
            Self::NotDecided => "not decided",
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
    /// How many answers there would be if every cell were there.
    pub asked: usize,
    /// How many must be yes; all if not said.
    pub enough: Option<usize>,
    pub answers: Vec<Answer>,
}

/// A number and whether it is what the claim says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    pub of: String,
    pub value: f64,
    /// Its standard error over chains.
    pub error: f64,
    /// None if it is so close to the limit that chance decides, or on the wrong side of a bound.
    pub holds: Option<bool>,
}

/// Standard errors within which chance decides.
const ERRORS: f64 = 2.0;

impl Answer {
    /// An answer that is decided only if nothing that the number may be would change it.
    fn new(of: impl Into<String>, estimate: Estimate, holds: impl Fn(f64) -> bool) -> Self {
        let Estimate { value, error, may_be_less, may_be_more } = estimate;
        // Claims set a limit to one side or the other, so the ends tell of all between them.
        let low = holds(if may_be_less { 0.0 } else { value - ERRORS * error });
        let high = holds(if may_be_more { f64::INFINITY } else { value + ERRORS * error });
        let holds = (low == high).then_some(low);
        Self { of: of.into(), value, error, holds }
    }

    /// An answer whose number has no error to speak of.
    fn exact(of: impl Into<String>, value: f64, holds: impl Fn(f64) -> bool) -> Self {
        let exact = Estimate { value, error: 0.0, may_be_less: false, may_be_more: false };
        Self::new(of, exact, holds)
    }
}

impl Part {
    /// A question all of whose answers must be yes; answers are missing where cells are.
    fn all(question: &'static str, answers: impl IntoIterator<Item = Option<Answer>>) -> Self {
        let answers: Vec<Option<Answer>> = answers.into_iter().collect();
        let asked = answers.len();
        Self { question, asked, enough: None, answers: answers.into_iter().flatten().collect() }
    }

    fn verdict(&self) -> Verdict {
        let count =
            |holds| self.answers.iter().filter(|answer| answer.holds == Some(holds)).count();
        match (count(true), count(false)) {
            (yes, _) if self.enough.is_some_and(|enough| yes >= enough) => Verdict::Holds,
            // Too few targets to find several among them.
            _ if self.enough.is_some_and(|enough| self.answers.len() < enough) => {
                Verdict::NotDecided
            }
            (0, 0) => Verdict::NotDecided,
            (_, 0) => Verdict::Holds,
            (0, _) => Verdict::DoesNotHold,
            _ => Verdict::Partly,
        }
    }

    /// "ising-high 1.31, potts-8 0.98 ✗".
    pub fn numbers(&self) -> String {
        let texts = self.answers.iter().map(|answer| {
            let mark = match answer.holds {
                Some(true) => "",
                Some(false) => " ✗",
                None => " ≈",
            };
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
            .filter(|verdict| *verdict != Verdict::NotDecided)
            .collect();
        let verdict = if verdicts.is_empty() {
            Verdict::NotDecided
        } else if verdicts.iter().all(|verdict| *verdict == Verdict::Holds) {
            Verdict::Holds
        } else if verdicts.iter().all(|verdict| *verdict == Verdict::DoesNotHold) {
            Verdict::DoesNotHold
        } else {
            Verdict::Partly
        };
        Self { id, statement, verdict, parts }
    }

    /// How much of it was measured, unless all was: "3 of 8 numbers".
    pub fn coverage(&self) -> Option<String> {
        let answered: usize = self.parts.iter().map(|part| part.answers.len()).sum();
        let asked: usize = self.parts.iter().map(|part| part.asked).sum();
        (answered < asked).then(|| format!("{answered} of {asked} numbers"))
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

#[cfg(test)]
mod tests;
