//! Findings as sentences for users of the command line, with what to try.

use saltus::{Advice, Assurance, Finding, Summary};

/// What may help, as it is written on the command line.
fn words(advice: Advice) -> String {
    match advice {
        Advice::Chains(chains) => format!("--chains {chains}"),
        Advice::Warmup(steps) => format!("--warmup {steps}"),
        Advice::LongerWarmup => "a longer --warmup".to_owned(),
        Advice::Draws => "more --draws".to_owned(),
        Advice::Thin => "a larger --thin".to_owned(),
        Advice::SmallerScale => "a smaller --scale".to_owned(),
        Advice::Sampler => "another --sampler".to_owned(),
        Advice::Compare => "another sampler with `saltus compare`".to_owned(),
        Advice::Temper => "--temper".to_owned(),
        Advice::Rungs => "--temper auto, or more rungs".to_owned(),
        Advice::Observe => "an observable of your own (--observe)".to_owned(),
        Advice::Temperatures => "more --temperatures".to_owned(),
        Advice::LadderForLogZ => "a ladder of temperatures (`saltus log-z`)".to_owned(),
    }
}

/// What was found, and what to do about it.
pub fn sentence(finding: &Finding) -> String {
    advised(finding, finding.advice())
}

fn advised(finding: &Finding, advice: Vec<Advice>) -> String {
    let advice: Vec<String> = advice.into_iter().map(words).collect();
    match advice.is_empty() {
        true => finding.to_string(),
        false => format!("{finding}; try {}", advice.join(", or ")),
    }
}

/// Everything that deserves attention.
pub fn warnings(summary: &Summary) -> Vec<String> {
    summary.findings.iter().map(|one| advised(one, summary.advice(one))).collect()
}

/// Everything that looks fine.
pub fn fine(summary: &Summary) -> Vec<String> {
    summary.assurances.iter().map(Assurance::to_string).collect()
}
