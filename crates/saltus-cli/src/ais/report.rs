//! What is said of an estimated normaliser: before annealing and after it.

use super::subject::Subject;
use crate::advice;
use crate::arguments::{AisArguments, Transition};
use crate::failure::Failure;
use crate::number::{short, with_error};
use crate::table::{finish, plain_table, wrap};
use comfy_table::{Cell, CellAlignment};
use saltus::ais::{AisOutcome, AisSettings, Estimate};
use saltus::{Ended, Space, of_annealing};
use serde::Serialize;
use std::io::Write;

/// What is annealed, and how.
pub struct Estimation<'a> {
    pub arguments: &'a AisArguments,
    pub transition: Transition,
    pub settings: &'a AisSettings,
    pub subject: &'a Subject,
    /// Number of test images.
    pub images: usize,
    /// Temperatures that were done before.
    pub done: Option<usize>,
}

/// Where reverse chains started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReverseFrom {
    /// At exact draws of the RBM.
    Exact,
    /// At images, which are draws of the RBM only as far as it has learnt them.
    Data,
    /// At states that short chains found, which are no draws of the model.
    Found,
}

/// What came out.
#[derive(Default)]
pub struct Found {
    pub outcome: Option<AisOutcome>,
    pub log_z_exact: Option<f64>,
    /// Of the images, without log Z.
    pub mean_log_prob: Option<f64>,
    pub reverse_from: Option<ReverseFrom>,
}

impl Found {
    /// Whether everything that was asked was done.
    pub fn is_complete(&self, about: &Estimation<'_>) -> bool {
        let annealed =
            self.outcome.as_ref().is_some_and(|outcome| outcome.ended == Ended::Complete);
        annealed && (about.images == 0 || self.mean_log_prob.is_some())
    }

    /// What is to be said if the chains could not be kept at last.
    pub fn not_kept(&self) -> Option<String> {
        let reason = self.outcome.as_ref()?.not_kept.as_ref()?;
        Some(format!("the last checkpoint could not be kept: {reason}"))
    }
}

impl Estimation<'_> {
    /// The space of the images.
    pub fn space(&self) -> &Space {
        self.subject.space()
    }

    /// Where the model comes from.
    pub fn source(&self) -> String {
        let file = self.arguments.file.as_ref().map(|file| file.display().to_string());
        file.unwrap_or_else(|| self.subject.name().to_owned())
    }

    /// The first lines of a report.
    pub fn heading(&self) -> String {
        let AisSettings { chains, temperatures, .. } = self.settings;
        let (what, description) = self.subject.in_words();
        let data = match &self.arguments.dataset {
            Some(dataset) => format!("data     {} test images of {dataset}\n", self.images),
            None => String::new(),
        };
        let resumed = match (self.done, &self.arguments.checkpoint) {
            (Some(done), Some(path)) => {
                format!("resumed  {}, which has {done} temperatures\n", path.display())
            }
            _ => String::new(),
        };
        format!(
            "{what}  {}: {} sites of {} values, {description}\n\
             {data}chains   {chains}, through {temperatures} temperatures, moved by {}\n{resumed}",
            self.source(),
            self.space().sites(),
            self.space().values(),
            self.transition,
        )
    }
}

/// How likely the images are.
pub struct Likelihood {
    /// Mean of the logarithm.
    pub nats: f64,
    pub bits_per_dim: f64,
}

/// How likely the images are if that is log Z.
pub fn likelihood(about: &Estimation<'_>, found: &Found, log_z: Option<f64>) -> Option<Likelihood> {
    let nats = found.mean_log_prob? - log_z?;
    let bits_per_dim = -nats / (about.space().sites() as f64 * std::f64::consts::LN_2);
    Some(Likelihood { nats, bits_per_dim })
}

/// A line per number, with what it means, and a warning where one is due.
pub fn print_text(about: &Estimation<'_>, found: &Found) -> Result<(), Failure> {
    let mut out = crate::out::stdout();
    let outcome = found.outcome.as_ref();
    let Some(forward) = outcome.and_then(|outcome| outcome.forward) else {
        let kept = kept(about, outcome);
        let sentences = format!("Stopped before log Z could be estimated.{kept}");
        write!(out, "{}", wrap(&sentences, "", ""))?;
        out.flush()?;
        return Ok(());
    };
    write!(out, "{}", table(about, found, forward))?;
    let stopped = (!found.is_complete(about))
        .then(|| "Stopped before all images were looked at: there is no likelihood.".to_owned());
    let warnings = warnings(found);
    for warning in warnings.into_iter().chain(stopped) {
        write!(out, "{}", wrap(&warning, "• ", "  "))?;
    }
    out.flush()?;
    Ok(())
}

/// What is there to go on from after annealing was stopped.
fn kept(about: &Estimation<'_>, outcome: Option<&AisOutcome>) -> String {
    match (&about.arguments.checkpoint, outcome) {
        (Some(path), Some(outcome)) if outcome.kept => {
            format!(" Kept in {}: the same command goes on.", path.display())
        }
        (Some(_), Some(_)) => {
            " Scales were still being tuned: nothing is kept, the same command begins again."
                .to_owned()
        }
        _ => String::new(),
    }
}

fn table(about: &Estimation<'_>, found: &Found, forward: Estimate) -> String {
    let mut table = plain_table();
    let mut row = |name: &str, value: String, meaning: String| {
        table.add_row([
            Cell::new(name),
            Cell::new(value).set_alignment(CellAlignment::Right),
            Cell::new(meaning),
        ]);
    };
    let estimate = |estimate: &Estimate| with_error(Some(estimate.log_z), estimate.standard_error);
    row("log Z", estimate(&forward), "± standard error; low on average".to_owned());
    if let Some(reverse) = found.outcome.as_ref().and_then(|outcome| outcome.reverse) {
        let from = match found.reverse_from {
            Some(ReverseFrom::Exact) => "from exact draws; high on average",
            Some(ReverseFrom::Found) => "from far starts; larger if mass is missed",
            _ => "from images; high if the RBM has learnt them",
        };
        row("… in reverse", estimate(&reverse), from.to_owned());
    }
    if let Some(exact) = found.log_z_exact {
        row("… exact", format!("{exact:.4}"), "from all states of the hidden units".to_owned());
    }
    let chains = about.settings.chains;
    row(
        "effective chains",
        short(forward.effective_chains.round()),
        format!("of {chains}, by the spread of their weights"),
    );
    if let Some(reverse) = found.outcome.as_ref().and_then(|outcome| outcome.reverse) {
        let effective = short(reverse.effective_chains.round());
        row("… in reverse", effective, "of those that went back".to_owned());
    }
    if let Some(likelihood) = likelihood(about, found, Some(forward.log_z)) {
        let bound = if about.subject.is_bounded() { " at least;" } else { "" };
        row(
            "log-likelihood",
            format!("{:.2}", likelihood.nats),
            format!("{bound} nats, mean of {} test images", about.images).trim().to_owned(),
        );
        row("bits per pixel", format!("{:.4}", likelihood.bits_per_dim), String::new());
    }
    if let Some(outcome) = &found.outcome {
        if let Transition::Sampler(_) = about.transition {
            let scale = outcome.scale.map(|scale| format!("at scale {} in the end", short(scale)));
            let meaning = scale.unwrap_or_else(|| "mean over all steps".to_owned());
            row("acceptance", short(outcome.acceptance), meaning);
        }
        let threads = format!("on {} threads", outcome.threads);
        row("time", format!("{:.1} s", outcome.seconds), threads);
    }
    finish(&mut table)
}

/// What deserves attention.
pub fn warnings(found: &Found) -> Vec<String> {
    let findings = found.outcome.as_ref().map(of_annealing).unwrap_or_default();
    let told = findings.iter().map(|finding| capitalised(&advice::sentence(finding)) + ".");
    let not_kept = found.not_kept().map(|sentence| format!("Complete, but {sentence}."));
    told.chain(not_kept).collect()
}

fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(log_z: f64, effective_chains: f64) -> Estimate {
        Estimate { log_z, standard_error: Some(0.01), effective_chains }
    }

    fn found(forward: Estimate, reverse: Estimate) -> Found {
        Found {
            outcome: Some(AisOutcome {
                forward: Some(forward),
                reverse: Some(reverse),
                reverse_chains: 100,
                log_weights: vec![0.0; 100],
                acceptance: 1.0,
                scale: None,
                threads: 1,
                seconds: 0.0,
                ended: Ended::Complete,
                kept: false,
                not_kept: None,
            }),
            reverse_from: Some(ReverseFrom::Exact),
            ..Found::default()
        }
    }

    #[test]
    fn unequal_weights_and_directions_apart_are_said() {
        let good = estimate(10.0, 80.0);
        assert!(warnings(&found(good, estimate(10.01, 80.0))).is_empty());
        let apart = warnings(&found(good, estimate(11.0, 80.0)));
        assert!(apart.len() == 1 && apart[0].contains("1.00 nats larger"), "{apart:?}");
        assert!(apart[0].contains("saltus log-z"), "{apart:?}");
        let few = warnings(&found(estimate(10.0, 2.0), good));
        assert!(few.len() == 1 && few[0].contains("100 count for 2.0"), "{few:?}");
    }

    #[test]
    fn a_single_chain_raises_no_alarm() {
        let alone = |log_z| Estimate { standard_error: None, ..estimate(log_z, 80.0) };
        assert!(warnings(&found(alone(10.0), alone(11.0))).is_empty());
        assert!(warnings(&found(estimate(10.0, 80.0), alone(11.0))).is_empty());
    }

    #[test]
    fn a_checkpoint_that_was_not_kept_is_said() {
        let mut full = found(estimate(10.0, 80.0), estimate(10.0, 80.0));
        assert_eq!(full.not_kept(), None);
        if let Some(outcome) = &mut full.outcome {
            outcome.not_kept = Some("cannot write kept: no room".to_owned());
        }
        let said = warnings(&full);
        assert!(said.len() == 1 && said[0].contains("cannot write kept: no room"), "{said:?}");
    }
}
