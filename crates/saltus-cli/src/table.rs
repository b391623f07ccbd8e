//! Summaries of runs as tables that fit into 80 columns, with a verdict in words below.

use crate::advice;
use crate::contender;
use crate::number::{short, short_or_dash, with_error};
use comfy_table::{Cell, CellAlignment, Table, presets};
use saltus::draws::trace::LOG_PROB;
use saltus::kernel::ScaleUnit;
use saltus::stats::Movement;
use saltus::summary::ObservableSummary;
use saltus::{Finding, Summary, is_further_distance, plain_name};

/// Width that texts are broken at.
const WIDTH: usize = 80;

/// One run: a line per number, with what it means.
pub fn of_run(summary: &Summary) -> String {
    let mut table = plain_table();
    let mut row = |name: &str, value: String, meaning: String| {
        table.add_row([
            Cell::new(name),
            Cell::new(value).set_alignment(CellAlignment::Right),
            Cell::new(meaning),
        ]);
    };
    row("acceptance", short(summary.acceptance), "mean over steps and chains".to_owned());
    let scale = short_or_dash(summary.scale);
    match summary.scale_unit {
        None => {}
        Some(ScaleUnit::StepSize) => {
            row("step size", scale, "simulated time of a step".to_owned());
        }
        Some(ScaleUnit::Radius) => {
            row("sites tried", scale, "number of sites a step tries to change".to_owned());
        }
    }
    let (sites, draws) = (summary.sites, summary.draws);
    row("sites changed", short(summary.sites_changed_per_step), format!("per step, of {sites}"));
    if let Some(worth) = &summary.effective_draws {
        let all = short((draws * summary.chains) as f64);
        let least = plain_name(&worth.observable);
        row("effective draws", short(worth.ess.round()), format!("of {all}, least of {least}"));
        let means_nothing = "nothing can be said: the chains do not agree";
        let or_why = |number: Option<f64>, words: String| match number {
            Some(_) => words,
            None => means_nothing.to_owned(),
        };
        let evaluations =
            format!("at {} evaluations per step", short(summary.evaluations_per_step));
        let per_evaluation = summary.effective_draws_per_evaluation;
        let per_second = summary.effective_draws_per_second;
        row("… per evaluation", short_or_dash(per_evaluation), or_why(per_evaluation, evaluations));
        row(
            "… per second",
            short_or_dash(per_second),
            or_why(per_second, "in all chains".to_owned()),
        );
    }
    row("R-hat", rhat(summary), "the largest; 1 if all chains agree".to_owned());
    if summary.seconds.trials > 0.0 {
        row("trials", seconds(summary.seconds.trials), "of samplers, before the run".to_owned());
    }
    row("warm-up", seconds(summary.seconds.warmup), format!("{} steps", summary.warmup));
    row(
        "draws",
        seconds(summary.seconds.draws),
        format!(
            "{} steps; {} ns per site and step",
            draws * summary.thin,
            short(summary.ns_per_site_step)
        ),
    );
    row("summary", seconds(summary.seconds.summary), "of all that was drawn".to_owned());
    if let Some(scouts) = summary.scouts.as_ref().filter(|scouts| scouts.sent > 0)
        && summary.seconds.scouts > 0.0
    {
        let words = format!("{} short chains from other starts", scouts.sent);
        row("scouts", seconds(summary.seconds.scouts), words);
    }
    finish(&mut table)
}

/// A line per observable: its mean and what the draws of all chains are worth for it.
pub fn of_observables(summary: &Summary) -> String {
    let mut table = plain_table();
    table.set_header(["", "mean ± error", "sd", "effective", "R-hat"]);
    // One reference state is enough to look at.
    let shown = summary.observables.iter().filter(|one| !is_further_distance(&one.name));
    for ObservableSummary { name, diagnosis, .. } in shown {
        let rounded = |ess: Option<f64>| ess.map_or("–".to_owned(), |ess| short(ess.round()));
        let rhat = match diagnosis.movement {
            Movement::Constant => "constant".to_owned(),
            Movement::Frozen => "frozen".to_owned(),
            Movement::Moving => three_decimals(diagnosis.rhat),
        };
        table.add_row([
            if name == LOG_PROB { "log π".to_owned() } else { name.clone() },
            with_error(diagnosis.mean, diagnosis.mcse),
            short_or_dash(diagnosis.sd),
            rounded(diagnosis.ess()),
            rhat,
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let words = "energy: −log π. hamming: sites that differ from a fixed random state.";
    format!("{}{}", finish(&mut table), wrap(words, "", ""))
}

/// Several runs: a line per sampler.
pub fn of_runs(summaries: &[Summary]) -> String {
    let mut table = plain_table();
    table.set_header([
        "sampler", "accept", "scale", "changed", "ESS", "ESS/eval", "ESS/s", "R-hat", "log π",
    ]);
    for summary in summaries {
        table.add_row([
            contender::name(summary),
            short(summary.acceptance),
            short_or_dash(summary.scale),
            short(summary.sites_changed_per_step),
            mean_and_deviation(summary).replace(' ', ""),
            short_or_dash(summary.ess_per_evaluation),
            short_or_dash(summary.ess_per_second),
            rhat(summary),
            with_error(summary.log_prob.mean, summary.log_prob.mcse).replace(' ', ""),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let explanation = wrap(
        "changed: sites that a step changes. ESS: effective draws of a chain, mean ± sd over \
         chains; per evaluation as the paper counts them, and per second of wall time with all \
         chains at work; – where the chains do not agree and that means nothing. log π: mean ± \
         Monte Carlo error.",
        "",
        "",
    );
    format!("{}\n{explanation}", finish(&mut table))
}

/// What deserves attention, or that nothing does.
pub fn verdict(summary: &Summary) -> String {
    let fine = advice::fine(summary).join("; ");
    let found = advice::warnings(summary);
    match (found.is_empty(), summary.largest_rhat) {
        (true, Some(_)) => wrap(&format!("No warnings: {fine}."), "", ""),
        (true, None) => {
            wrap("No warnings, but too few draws to see whether the chains agree.", "", "")
        }
        (false, _) if fine.is_empty() => warnings(&found),
        (false, _) => {
            format!("{}{}", warnings(&found), wrap(&format!("Fine: {fine}."), "", ""))
        }
    }
}

/// What deserves attention in several runs, or that nothing does.
pub fn verdict_of_runs(summaries: &[Summary]) -> String {
    let mut all: Vec<String> = summaries
        .iter()
        .flat_map(|summary| {
            let name = contender::name(summary);
            let own = summary.findings.iter().filter(|finding| **finding != Finding::OneChain);
            own.map(move |finding| format!("{name}: {}", advice::sentence(finding)))
        })
        .collect();
    // The same for all of them.
    let alone = summaries.iter().any(|summary| summary.findings.contains(&Finding::OneChain));
    all.extend(alone.then(|| advice::sentence(&Finding::OneChain)));
    if all.is_empty() { "No warnings.\n".to_owned() } else { warnings(&all) }
}

fn warnings(warnings: &[String]) -> String {
    let lines: String = warnings.iter().map(|warning| wrap(warning, "• ", "  ")).collect();
    format!("Warnings\n{lines}")
}

fn mean_and_deviation(summary: &Summary) -> String {
    let one_chain = summary.chains < 2 || !summary.ess.sd.is_finite();
    with_error(Some(summary.ess.mean), (!one_chain).then_some(summary.ess.sd))
}

fn rhat(summary: &Summary) -> String {
    three_decimals(summary.largest_rhat)
}

fn three_decimals(rhat: Option<f64>) -> String {
    let finite = rhat.filter(|rhat| rhat.is_finite());
    finite.map_or("–".to_owned(), |rhat| format!("{rhat:.3}"))
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.2} s")
}

/// A table without lines.
pub fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

/// The lines of a table, without the blanks at either end.
pub fn finish(table: &mut Table) -> String {
    if let Some(first) = table.column_mut(0) {
        first.set_padding((0, 1));
    }
    format!("{}\n", table.trim_fmt())
}

/// Breaks a text between words, with something before the first line and before all others.
pub fn wrap(text: &str, first: &str, others: &str) -> String {
    let mut lines = first.to_owned();
    let mut width = first.chars().count();
    let mut line_is_empty = true;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if !line_is_empty && width + 1 + length > WIDTH {
            lines.push('\n');
            lines.push_str(others);
            width = others.chars().count();
        } else if !line_is_empty {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(word);
        width += length;
        line_is_empty = false;
    }
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus::model::independent::Independent;
    use saltus::{Method, Settings, run};

    fn summary(method: Method, chains: usize, draws: usize) -> Summary {
        let model = Independent::bernoulli(vec![0.5; 20]).unwrap();
        let settings =
            Settings { chains, warmup: 50, draws, ..Settings::from(saltus::Sampler::new(method)) };
        Summary::new("bernoulli", &run::sample(&model, settings).unwrap())
    }

    #[test]
    fn tables_fit_into_a_terminal() {
        for method in Method::ALL.iter().filter(|method| **method != Method::Layers) {
            for (chains, draws) in [(3, 100), (1, 1)] {
                let summary = summary(*method, chains, draws);
                let runs = of_runs(std::slice::from_ref(&summary));
                let observables = of_observables(&summary);
                for text in [of_run(&summary), observables, runs, verdict(&summary)] {
                    for line in text.lines() {
                        assert!(line.chars().count() <= WIDTH, "{line}");
                    }
                }
            }
        }
    }

    #[test]
    fn warnings_come_with_the_sampler() {
        let mut summary = summary(Method::Gwg, 2, 100);
        summary.findings = vec![Finding::Stuck { chains: (0..9).collect(), of: 10 }];
        let text = verdict_of_runs(&[summary]);
        assert!(text.starts_with("Warnings\n• gwg: 9 of 10 chains are stuck"), "{text}");
        assert!(text.lines().count() > 3 && text.lines().skip(2).all(|l| l.starts_with("  ")));
    }

    #[test]
    fn texts_are_broken_between_words() {
        let text = wrap(&"word ".repeat(20), "• ", "  ");
        assert_eq!(text.lines().count(), 2);
        assert!(text.starts_with("• word word") && text.contains("word\n  word"));
        assert_eq!(wrap("short", "", "  "), "short\n");
        let long = "x".repeat(100);
        assert_eq!(wrap(&format!("a {long} b"), "", " "), format!("a\n {long}\n b\n"));
    }
}
