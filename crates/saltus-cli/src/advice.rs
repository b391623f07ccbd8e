//! Findings as sentences for users of the command line, with what to try.

use saltus::{Assurance, Finding, Summary};

/// What was found, and what to do about it.
pub fn sentence(finding: &Finding) -> String {
    let advice = match finding {
        Finding::Stuck { .. } => "; try a smaller --scale, or another sampler".to_owned(),
        Finding::Frozen { .. } => "; draw more, or try another sampler".to_owned(),
        Finding::ShortWarmup { warmup, .. } => format!("; try --warmup {}", (4 * warmup).max(1000)),
        Finding::Disagree { .. } => {
            "; try --temper, or another sampler with `saltus compare`".to_owned()
        }
        Finding::TooFewDraws { .. } => {
            "; draw more, or try another sampler with `saltus compare`".to_owned()
        }
        Finding::Barrier { .. } => "; try --temper auto, or a longer --warmup".to_owned(),
        Finding::Exploration { .. } => "; try another --sampler, or --thin".to_owned(),
        // Whatever else is found is told as the library tells it.
        _ => String::new(),
    };
    format!("{finding}{advice}")
}

/// Everything that deserves attention.
pub fn warnings(summary: &Summary) -> Vec<String> {
    summary.findings.iter().map(sentence).collect()
}

/// Everything that looks fine.
pub fn fine(summary: &Summary) -> Vec<String> {
    summary.assurances.iter().map(Assurance::to_string).collect()
}
