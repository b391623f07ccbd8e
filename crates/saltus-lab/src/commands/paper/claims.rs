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
    /// Nothing speaks against it, but some of its numbers decide nothing.
    #[serde(rename = "holds where decided")]
    WhereDecided,
    #[serde(rename = "holds partly")]
    Partly,
    #[serde(rename = "does not hold")]
    DoesNotHold,
    /// The cells that would decide it were not run, or their errors are too large.
    #[serde(rename = "not decided")]
    NotDecided,
}

impl Verdict {
    /// On a claim with those parts. One that is not decided is not left out: without it a claim may
    /// fail, but not hold.
    fn of_all(parts: &[Self]) -> Self {
        let all = |verdicts: &[Self]| parts.iter().all(|part| verdicts.contains(part));
        if all(&[Self::NotDecided]) {
            Self::NotDecided
        } else if all(&[Self::Holds]) {
            Self::Holds
        } else if all(&[Self::Holds, Self::WhereDecided, Self::NotDecided]) {
            Self::WhereDecided
        } else if all(&[Self::DoesNotHold, Self::NotDecided]) {
            Self::DoesNotHold
        } else {
            Self::Partly
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::WhereDecided => "holds where decided",
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
    /// Whether the claim says so, or the number only stands beside it.
    pub is_claimed: bool,
    pub answers: Vec<Answer>,
}

/// A number and whether it is what the claim says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    pub of: String,
    pub value: f64,
    /// Its standard error, over draws of the parameters or over chains.
    pub error: f64,
    /// None if it is so close to the limit that chance decides, or on the wrong side of a bound.
    pub holds: Option<bool>,
}

/// Standard errors within which chance decides.
const ERRORS: f64 = 2.0;

impl Answer {
    /// An answer that is decided only if nothing that the number may be would change it.
    fn new(of: impl Into<String>, estimate: Estimate, holds: impl Fn(f64) -> bool) -> Self {
        let Estimate { value, error, may_be_less, may_be_more, .. } = estimate;
        // Claims set a limit to one side or the other, so the ends tell of all between them.
        let low = holds(if may_be_less { 0.0 } else { value - ERRORS * error });
        let high = holds(if may_be_more { f64::INFINITY } else { value + ERRORS * error });
        let holds = (low == high).then_some(low);
        Self { of: of.into(), value, error, holds }
    }

    /// An answer whose number has no error to speak of.
    fn exact(of: impl Into<String>, value: f64, holds: impl Fn(f64) -> bool) -> Self {
        let exact = Estimate {
            value,
            error: 0.0,
            draws: vec![value],
            may_be_less: false,
            may_be_more: false,
        };
        Self::new(of, exact, holds)
    }
}

impl Part {
    /// A question all of whose answers must be yes; answers are missing where cells are.
    fn all(question: &'static str, answers: impl IntoIterator<Item = Option<Answer>>) -> Self {
        let answers: Vec<Option<Answer>> = answers.into_iter().collect();
        let asked = answers.len();
        let answers = answers.into_iter().flatten().collect();
        Self { question, asked, enough: None, is_claimed: true, answers }
    }

    /// A question that the claim does not ask, for comparison.
    fn beside(question: &'static str, answers: impl IntoIterator<Item = Option<Answer>>) -> Self {
        Self { is_claimed: false, ..Self::all(question, answers) }
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
            // What was not run is not decided either.
            (yes, 0) if yes < self.asked => Verdict::WhereDecided,
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
        let claimed = parts.iter().filter(|part| part.is_claimed);
        let verdict = Verdict::of_all(&claimed.map(Part::verdict).collect::<Vec<_>>());
        Self { id, statement, verdict, parts }
    }

    /// How much of it was measured, unless all was: "3 of 8 numbers".
    pub fn coverage(&self) -> Option<String> {
        let claimed = || self.parts.iter().filter(|part| part.is_claimed);
        let answered: usize = claimed().map(|part| part.answers.len()).sum();
        let asked: usize = claimed().map(|part| part.asked).sum();
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
