//! The page itself: summary and verdict, charts in tabs, pictures; one file without a network.

use super::pictures::Pictures;
use crate::advice;
use crate::number::{short, short_or_dash, with_error};
use crate::plot::svg::escape;
use saltus::Summary;
use saltus::draws::trace::LOG_PROB;
use saltus::plain_name;
use saltus::stats::Movement;
use saltus::summary::{ENERGY, ObservableSummary};
use std::fmt::Write;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A chart with a title and a line below.
pub struct Figure {
    pub title: &'static str,
    pub svg: String,
    /// May hold elements of the page.
    pub caption: String,
}

impl Figure {
    pub fn new(title: &'static str, svg: String, caption: String) -> Self {
        Self { title, svg, caption }
    }

    fn html(&self) -> String {
        let Self { title, svg, caption } = self;
        format!(
            "<figure class=\"card\"><h3>{title}</h3>\n{svg}<figcaption>{caption}</figcaption></figure>\n"
        )
    }
}

/// A picture of sites.
pub struct Picture {
    pub source: String,
    pub rows: usize,
    pub columns: usize,
    pub caption: String,
}

impl Picture {
    fn html(&self) -> String {
        let Self { source, rows, columns, caption } = self;
        let caption = escape(caption);
        format!(
            "<figure class=\"picture\"><img src=\"{source}\" width=\"{columns}\" height=\"{rows}\" \
             alt=\"{caption}\"><figcaption>{caption}</figcaption></figure>\n"
        )
    }
}

/// The charts of one scalar.
pub struct Panel {
    pub id: String,
    pub title: String,
    pub about: String,
    pub figures: Vec<Figure>,
    /// What stands there without figures.
    pub empty: String,
}

/// Everything on the page.
pub struct Page<'a> {
    pub summary: &'a Summary,
    pub version: &'a str,
    /// Whether the run has ended.
    pub ended: bool,
    pub series: Vec<Panel>,
    pub warmup: Vec<Figure>,
    pub pictures: Pictures,
}

impl Page<'_> {
    /// The whole file.
    pub fn html(&self) -> String {
        let summary = self.summary;
        let words = summary.description.as_deref().unwrap_or(&summary.model);
        let (title, rest) = words.split_once(", ").unwrap_or((words, ""));
        let sections = [
            self.verdict(),
            self.numbers(),
            self.observables(),
            self.charts(),
            section("Warm-up", &figures(&self.warmup)),
            self.states(),
        ];
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title} – saltus</title>\n<link rel=\"icon\" href=\"data:,\">\n\
             <style>\n{STYLE}</style>\n</head>\n<body>\n\
             <header>\n<div><h1>{title}</h1>\n<p class=\"faint\">{subtitle}</p></div>\n\
             <button id=\"theme\" type=\"button\" aria-pressed=\"false\">Dark</button>\n</header>\n\
             <main>\n{sections}</main>\n\
             <footer class=\"faint\">Made by saltus {version}. Long series are drawn by the smallest \
             and the largest value of each of {stretches} stretches, and of at most four chains: \
             those of the lowest and the highest mean and two between. All numbers are of all \
             draws.</footer>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
            title = escape(&capitalised(title)),
            subtitle = escape(&subtitle(rest, summary)),
            sections = sections.concat(),
            version = escape(self.version),
            stretches = super::lines::STRETCHES,
        )
    }

    fn verdict(&self) -> String {
        let (fine, warnings) = (advice::fine(self.summary), advice::warnings(self.summary));
        let mut body = String::new();
        if !self.ended {
            body.push_str(
                "<p>The run has not ended, or was cut off: this is what is stored.</p>\n",
            );
        }
        let list = |class: &str, sentences: &[String]| {
            let items = sentences.iter().map(|sentence| {
                format!("<li class=\"{class}\">{}.</li>\n", with_code(&capitalised(sentence)))
            });
            items.collect::<String>()
        };
        body.push_str("<ul class=\"verdict\">\n");
        body.push_str(&list("warning", &warnings));
        body.push_str(&list("fine", &fine));
        body.push_str("</ul>\n");
        let title = if warnings.is_empty() { "No warnings" } else { "What deserves attention" };
        section(title, &body)
    }

    fn numbers(&self) -> String {
        let s = self.summary;
        let worth = s.effective_draws.as_ref();
        let scale = s.scale.map(|scale| ("scale", short(scale), "chosen in warm-up".to_owned()));
        let mut numbers = vec![
            (
                "chains × draws",
                format!("{} × {}", s.chains, s.draws),
                format!("thinned by {}", s.thin),
            ),
            ("acceptance", short(s.acceptance), "mean over draws".to_owned()),
        ];
        numbers.extend(scale);
        numbers.extend([
            ("sites changed", short(s.sites_changed_per_step), format!("per step, of {}", s.sites)),
            (
                "effective draws",
                short_or_dash(worth.map(|worth| worth.ess.round())),
                worth.map_or(String::new(), |worth| {
                    let all = short((s.chains * s.draws) as f64);
                    format!("of {all}, least of {}", plain_name(&worth.observable))
                }),
            ),
            (
                "… per evaluation",
                short_or_dash(s.effective_draws_per_evaluation),
                "in all chains".to_owned(),
            ),
            (
                "… per second",
                short_or_dash(s.effective_draws_per_second),
                "in all chains".to_owned(),
            ),
            (
                "time",
                format!("{} s", short(s.seconds.warmup + s.seconds.draws + s.seconds.summary)),
                format!("{} ns per site and step", short(s.ns_per_site_step)),
            ),
        ]);
        if let Some(counts) = s.site_counts {
            numbers.push((
                "sites that moved",
                counts.moving.to_string(),
                format!("{} frozen, {} constant", counts.frozen, counts.constant),
            ));
        }
        if let Some(overlap) = s.overlap {
            numbers.push((
                "overlap in a chain",
                format!("{:.3}", overlap.at_lag),
                format!(
                    "after {} draws; {:.3} after half of that; {} between chains",
                    overlap.lag,
                    overlap.at_half_lag,
                    overlap.between_chains.map_or("–".to_owned(), |share| format!("{share:.3}"))
                ),
            ));
        }
        let mut body = String::from("<dl class=\"numbers\">\n");
        for (name, value, note) in numbers {
            // Writing to a string cannot fail.
            let _ = writeln!(
                body,
                "<div><dt>{name}</dt><dd>{}<small>{}</small></dd></div>",
                escape(&value),
                escape(&note)
            );
        }
        body.push_str("</dl>\n");
        section("Numbers", &body)
    }

    fn observables(&self) -> String {
        let mut body = String::from(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of observables\">\
             <table>\n<thead><tr><th>observable</th><th>mean ± error</th><th>sd</th><th>effective</th>\
             <th>R-hat</th></tr></thead>\n<tbody>\n",
        );
        for ObservableSummary { name, diagnosis, .. } in &self.summary.observables {
            let name = match name.as_str() {
                LOG_PROB => "log π".to_owned(),
                ENERGY => "energy, −log π".to_owned(),
                name => name.replace('_', " "),
            };
            let rhat = match diagnosis.movement {
                Movement::Constant => "constant".to_owned(),
                Movement::Frozen => "frozen".to_owned(),
                Movement::Moving => diagnosis
                    .rhat
                    .filter(|rhat| rhat.is_finite())
                    .map_or("–".to_owned(), |rhat| format!("{rhat:.3}")),
            };
            let cells = [
                with_error(diagnosis.mean, diagnosis.mcse),
                short_or_dash(diagnosis.sd),
                short_or_dash(diagnosis.ess().map(f64::round)),
                rhat,
            ];
            let cells: String = cells.iter().map(|cell| format!("<td>{cell}</td>")).collect();
            let _ = writeln!(body, "<tr><th scope=\"row\">{}</th>{cells}</tr>", escape(&name));
        }
        body.push_str("</tbody></table></div>\n");
        section("Observables", &body)
    }

    fn charts(&self) -> String {
        let mut tabs = String::new();
        let mut panels = String::new();
        for (number, panel) in self.series.iter().enumerate() {
            let (id, title) = (escape(&panel.id), escape(&panel.title));
            let _ = writeln!(
                tabs,
                "<button type=\"button\" role=\"tab\" id=\"tab-{id}\" aria-controls=\"panel-{id}\" \
                 aria-selected=\"{}\">{title}</button>",
                number == 0
            );
            let body = match panel.figures.is_empty() {
                true => format!("<p>{}</p>", panel.empty),
                false => figures(&panel.figures),
            };
            let _ = writeln!(
                panels,
                "<div role=\"tabpanel\" id=\"panel-{id}\" aria-labelledby=\"tab-{id}\">\
                 <p class=\"faint\">{title}: {}</p>\n{body}</div>",
                escape(&panel.about)
            );
        }
        let body = match self.series.is_empty() {
            true => "<p>There are no draws.</p>\n".to_owned(),
            false => {
                format!("<div role=\"tablist\" aria-label=\"Observable\">\n{tabs}</div>\n{panels}")
            }
        };
        section("Draws", &body)
    }

    fn states(&self) -> String {
        let Pictures { mean, draws, marginals, hint } = &self.pictures;
        let mut body = String::new();
        if mean.is_some() || marginals.is_some() {
            body.push_str("<div class=\"figures\">\n");
            if let Some(mean) = mean {
                let picture = mean.html();
                let _ =
                    writeln!(body, "<div class=\"card mean\"><h3>Mean picture</h3>{picture}</div>");
            }
            body.extend(marginals.iter().map(Figure::html));
            body.push_str("</div>\n");
        }
        if !draws.is_empty() {
            let grid: String = draws.iter().map(Picture::html).collect();
            let _ = writeln!(
                body,
                "<h3>Single draws, chain · draw</h3>\n<div class=\"grid-of-draws\">\n{grid}</div>"
            );
        }
        if let Some(hint) = hint {
            let _ = writeln!(body, "<p class=\"faint\">{hint}</p>");
        }
        section("Sites", &body)
    }
}

fn subtitle(rest: &str, summary: &Summary) -> String {
    let weight = summary.balancing.map_or(String::new(), |weight| format!(", weight {weight}"));
    let model = if rest.is_empty() { String::new() } else { format!("{rest}. ") };
    format!(
        "{model}{} sites × {} values. Sampler {}{weight}, seed {}.",
        summary.sites, summary.values, summary.sampler, summary.seed
    )
}

fn figures(figures: &[Figure]) -> String {
    let all: String = figures.iter().map(Figure::html).collect();
    if all.is_empty() { all } else { format!("<div class=\"figures\">\n{all}</div>\n") }
}

/// Nothing if there is nothing in it.
fn section(title: &str, body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    format!("<section>\n<h2>{title}</h2>\n{body}</section>\n")
}

fn capitalised(sentence: &str) -> String {
    let mut chars = sentence.chars();
    let first = chars.next().map(|first| first.to_uppercase().collect::<String>());
    format!("{}{}", first.unwrap_or_default(), chars.as_str())
}

/// What stands between backticks is something to type.
fn with_code(sentence: &str) -> String {
    let parts = sentence.split('`').enumerate();
    parts
        .map(|(number, part)| match number % 2 {
            0 => escape(part),
            _ => format!("<code>{}</code>", escape(part)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_become_elements() {
        assert_eq!(with_code("a < b; try `x --y`"), "a &lt; b; try <code>x --y</code>");
        assert_eq!(capitalised("the run"), "The run");
        assert_eq!(section("Empty", ""), "");
    }
}
