//! How far a run is, on stderr: a bar where someone watches, else a line every few seconds.

use crate::number::{short, short_or_dash};
use crate::{interrupt, say};
use indicatif::{ProgressBar, ProgressStyle};
use saltus::run::{Progress, Wish};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Time between two lines where there is no bar.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// Shows the progress of one run.
pub struct View {
    label: String,
    kind: Kind,
}

enum Kind {
    Quiet,
    Bar(ProgressBar),
    Lines { started: Instant, last: Instant },
}

impl View {
    /// A view of a run; the label stands before everything it shows.
    pub fn new(label: &str, quiet: bool) -> Self {
        let kind = if quiet {
            Kind::Quiet
        } else if std::io::stderr().is_terminal() {
            let bar = ProgressBar::new(0);
            let template = "{prefix}{bar:16} {pos}/{len} steps, {per_sec:.0}, {eta} left{msg}";
            // The default style is better than none.
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("█▌ "));
            }
            Kind::Bar(bar)
        } else {
            Kind::Lines { started: Instant::now(), last: Instant::now() }
        };
        let label = if label.is_empty() { String::new() } else { format!("{label}: ") };
        Self { label, kind }
    }

    /// Shows where the run is, and passes on the user's wish to stop.
    pub fn show(&mut self, progress: Progress) -> Wish {
        let phase = if progress.warming_up { "warm-up" } else { "draws" };
        let acceptance = short(progress.acceptance);
        match &mut self.kind {
            Kind::Quiet => {}
            Kind::Bar(bar) => {
                bar.set_length(progress.total_steps as u64);
                bar.set_prefix(format!("{}{phase:7} ", self.label));
                let scale = progress.scale.map(|s| format!(", h {}", short(s))).unwrap_or_default();
                bar.set_message(format!(", acc {acceptance}{scale}"));
                bar.set_position(progress.steps as u64);
            }
            Kind::Lines { started, last } => {
                if last.elapsed() >= BETWEEN_LINES {
                    *last = Instant::now();
                    say(&line(&self.label, phase, &progress, started.elapsed()));
                }
            }
        }
        if interrupt::requested() { Wish::Stop } else { Wish::Continue }
    }

    /// Leaves the terminal as it was.
    pub fn finish(self) {
        if let Kind::Bar(bar) = self.kind {
            bar.finish_and_clear();
        }
    }
}

/// A line for logs.
fn line(label: &str, phase: &str, progress: &Progress, elapsed: Duration) -> String {
    let Progress { steps, total_steps, acceptance, scale, .. } = *progress;
    let per_second = steps as f64 / elapsed.as_secs_f64();
    let left = total_steps.saturating_sub(steps) as f64 / per_second;
    format!(
        "{label}{phase}, {steps} of {total_steps} steps, {} steps/s, {} s left, acceptance {}, \
         scale {}",
        short(per_second),
        short(left),
        short(acceptance),
        short_or_dash(scale)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_everything() {
        let progress = Progress {
            warming_up: true,
            steps: 500,
            total_steps: 2000,
            acceptance: 0.5,
            scale: None,
        };
        assert_eq!(
            line("dlmc: ", "warm-up", &progress, Duration::from_secs(10)),
            "dlmc: warm-up, 500 of 2000 steps, 50 steps/s, 30 s left, acceptance 0.500, scale –"
        );
    }
}
