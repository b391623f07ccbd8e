//! What is said of an estimated normaliser: before annealing, after it, and to scripts.

use super::visible;
use crate::arguments::{AisArguments, Transition};
use crate::failure::Failure;
use crate::number::{short, with_error};
use crate::table::{finish, plain_table, wrap};
use comfy_table::{Cell, CellAlignment};
use saltus::ais::{AisCheckpoint, AisOutcome, AisSettings, Estimate};
use saltus::dbn::Layers;
use saltus::{Ended, Space};
use serde::Serialize;
use std::io::Write;

/// What is annealed, and how.
pub struct About<'a> {
    arguments: &'a AisArguments,
    settings: &'a AisSettings,
    layers: &'a Layers,
    /// Number of test images.
    images: usize,
    /// Temperatures that were done before.
    done: Option<usize>,
}

/// Where reverse chains started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReverseFrom {
    /// At exact draws of the machine.
    Exact,
    /// At images, which are draws of the machine only as far as it has learnt them.
    Data,
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

impl<'a> About<'a> {
    pub fn new(
        arguments: &'a AisArguments,
        settings: &'a AisSettings,
        layers: &'a Layers,
        images: &[u8],
        resumed: Option<&AisCheckpoint>,
    ) -> Self {
        let images = images.len() / visible(layers).sites();
        let done = resumed.map(AisCheckpoint::visits);
        Self { arguments, settings, layers, images, done }
    }

    fn space(&self) -> &Space {
        visible(self.layers)
    }

    /// Hidden units, layer by layer.
    fn hidden(&self) -> Vec<usize> {
        match self.layers {
            Layers::One(machine) => vec![machine.hidden()],
            Layers::Two(network) => vec![network.bottom().hidden(), network.top().hidden()],
        }
    }

    /// The first lines of a report.
    pub fn heading(&self) -> String {
        let AisSettings { chains, temperatures, .. } = self.settings;
        let hidden: Vec<String> = self.hidden().iter().map(usize::to_string).collect();
        let what = match self.layers {
            Layers::One(_) => "machine",
            Layers::Two(_) => "network",
        };
        let data = match self.arguments.dataset {
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
            "{what}  {}: {} sites of {} values, {} hidden units\n\
             {data}chains   {chains}, through {temperatures} temperatures, moved by {}\n{resumed}",
            self.arguments.file.display(),
            self.space().sites(),
            self.space().values(),
            hidden.join(" + "),
            self.arguments.transition(),
        )
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Json {
    model: &'static str,
    file: String,
    sites: usize,
    values: usize,
    hidden: Vec<usize>,
    sampler: String,
    chains: usize,
    temperatures: usize,
    seed: u64,
    complete: bool,
    /// Low on average.
    log_z: Option<f64>,
    log_z_se: Option<f64>,
    effective_chains: Option<f64>,
    /// High on average.
    log_z_reverse: Option<f64>,
    log_z_reverse_se: Option<f64>,
    effective_chains_reverse: Option<f64>,
    reverse_from: Option<ReverseFrom>,
    log_z_exact: Option<f64>,
    dataset: Option<&'static str>,
    images: usize,
    /// Nats per image, with `log_z`.
    log_likelihood: Option<f64>,
    /// Nats per image, with `log_z_exact`.
    log_likelihood_exact: Option<f64>,
    /// Whether the likelihood is only bounded from below.
    log_likelihood_is_bound: bool,
    bits_per_dim: Option<f64>,
    acceptance: Option<f64>,
    scale: Option<f64>,
    threads: Option<usize>,
    seconds: Option<f64>,
}

/// Numbers that follow from what was found.
struct Likelihood {
    nats: f64,
    bits_per_dim: f64,
}

fn likelihood(about: &About<'_>, found: &Found, log_z: Option<f64>) -> Option<Likelihood> {
    let nats = found.mean_log_prob? - log_z?;
    let bits_per_dim = -nats / (about.space().sites() as f64 * std::f64::consts::LN_2);
    Some(Likelihood { nats, bits_per_dim })
}

/// One object for scripts.
pub fn print_json(about: &About<'_>, found: &Found) -> Result<(), Failure> {
    let outcome = found.outcome.as_ref();
    let forward = outcome.and_then(|outcome| outcome.forward);
    let reverse = outcome.and_then(|outcome| outcome.reverse);
    let estimated = likelihood(about, found, forward.map(|forward| forward.log_z));
    let json = Json {
        model: if matches!(about.layers, Layers::One(_)) { "rbm" } else { "dbn" },
        file: about.arguments.file.display().to_string(),
        sites: about.space().sites(),
        values: about.space().values(),
        hidden: about.hidden(),
        sampler: about.arguments.transition().to_string(),
        chains: about.settings.chains,
        temperatures: about.settings.temperatures,
        seed: about.settings.seed,
        complete: outcome.is_some_and(|outcome| outcome.ended == Ended::Complete),
        log_z: forward.map(|forward| forward.log_z),
        log_z_se: forward.and_then(|forward| forward.standard_error),
        effective_chains: forward.map(|forward| forward.effective_chains),
        log_z_reverse: reverse.map(|reverse| reverse.log_z),
        log_z_reverse_se: reverse.and_then(|reverse| reverse.standard_error),
        effective_chains_reverse: reverse.map(|reverse| reverse.effective_chains),
        reverse_from: found.reverse_from.filter(|_| reverse.is_some()),
        log_z_exact: found.log_z_exact,
        dataset: about.arguments.dataset.map(|dataset| dataset.name()),
        images: about.images,
        log_likelihood: estimated.as_ref().map(|likelihood| likelihood.nats),
        log_likelihood_exact: likelihood(about, found, found.log_z_exact).map(|exact| exact.nats),
        log_likelihood_is_bound: matches!(about.layers, Layers::Two(_)),
        bits_per_dim: estimated.map(|likelihood| likelihood.bits_per_dim),
        acceptance: outcome.map(|outcome| outcome.acceptance),
        scale: outcome.and_then(|outcome| outcome.scale),
        threads: outcome.map(|outcome| outcome.threads),
        seconds: outcome.map(|outcome| outcome.seconds),
    };
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &json)?;
    writeln!(out)?;
    Ok(())
}

/// A line per number, with what it means, and a warning where one is due.
pub fn print_text(about: &About<'_>, found: &Found) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let outcome = found.outcome.as_ref();
    let Some(forward) = outcome.and_then(|outcome| outcome.forward) else {
        let kept = match (&about.arguments.checkpoint, outcome) {
            (Some(path), Some(_)) => {
                format!(" Kept in {}: the same command goes on.", path.display())
            }
            _ => String::new(),
        };
        write!(
            out,
            "{}",
            wrap(&format!("Stopped before log Z could be estimated.{kept}"), "", "")
        )?;
        out.flush()?;
        return Ok(());
    };
    write!(out, "{}", table(about, found, forward))?;
    for warning in warnings(about.settings.chains, found, forward) {
        write!(out, "{}", wrap(&warning, "• ", "  "))?;
    }
    out.flush()?;
    Ok(())
}

fn table(about: &About<'_>, found: &Found, forward: Estimate) -> String {
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
            _ => "from images; high if the machine has learnt them",
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
    if let Some(likelihood) = likelihood(about, found, Some(forward.log_z)) {
        let bound = match about.layers {
            Layers::One(_) => "",
            Layers::Two(_) => " at least;",
        };
        row(
            "log-likelihood",
            format!("{:.2}", likelihood.nats),
            format!("{bound} nats, mean of {} test images", about.images).trim().to_owned(),
        );
        row("bits per pixel", format!("{:.4}", likelihood.bits_per_dim), String::new());
    }
    if let Some(outcome) = &found.outcome {
        if let Transition::Sampler(_) = about.arguments.transition() {
            let scale = outcome.scale.map(|scale| format!("at scale {} in the end", short(scale)));
            let meaning = scale.unwrap_or_else(|| "mean over all steps".to_owned());
            row("acceptance", short(outcome.acceptance), meaning);
        }
        let threads = format!("on {} threads", outcome.threads);
        row("time", format!("{:.1} s", outcome.seconds), threads);
    }
    finish(&mut table)
}

/// Standard errors between the two directions that are taken as disagreement.
const DISAGREEMENT: f64 = 4.0;

fn warnings(chains: usize, found: &Found, forward: Estimate) -> Vec<String> {
    let mut warnings = Vec::new();
    if chains > 1 && forward.effective_chains < 0.1 * chains as f64 {
        warnings.push(format!(
            "The weights of the chains differ so much that {} count for {}: log Z is likely too \
             low, and its standard error too. More --temperatures help more than more chains.",
            chains,
            short(forward.effective_chains),
        ));
    }
    let reverse = found.outcome.as_ref().and_then(|outcome| outcome.reverse);
    if let (Some(reverse), Some(ReverseFrom::Exact)) = (reverse, found.reverse_from) {
        let errors = [forward, reverse].map(|estimate| estimate.standard_error.unwrap_or(0.0));
        let gap = reverse.log_z - forward.log_z;
        if gap > DISAGREEMENT * errors[0].hypot(errors[1]) {
            warnings.push(format!(
                "The two directions are {gap:.2} nats apart, more than their errors explain: use \
                 more --temperatures."
            ));
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unequal_weights_and_directions_apart_are_said() {
        let estimate = |log_z, effective_chains| Estimate {
            log_z,
            standard_error: Some(0.01),
            effective_chains,
        };
        let found = |reverse| Found {
            outcome: Some(AisOutcome {
                forward: None,
                reverse: Some(reverse),
                log_weights: Vec::new(),
                acceptance: 1.0,
                scale: None,
                threads: 1,
                seconds: 0.0,
                ended: Ended::Complete,
            }),
            reverse_from: Some(ReverseFrom::Exact),
            ..Found::default()
        };
        let good = estimate(10.0, 80.0);
        assert!(warnings(100, &found(estimate(10.01, 80.0)), good).is_empty());
        let apart = warnings(100, &found(estimate(11.0, 80.0)), good);
        assert!(apart.len() == 1 && apart[0].contains("1.00 nats apart"), "{apart:?}");
        let few = warnings(100, &Found::default(), estimate(10.0, 2.0));
        assert!(few.len() == 1 && few[0].contains("100 count for 2"), "{few:?}");
    }
}
