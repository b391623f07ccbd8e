//! How far a run is, on stderr: a bar where someone watches, else a line every few seconds.

use crate::number::short;
use crate::{interrupt, say};
use indicatif::{ProgressBar, ProgressStyle};
use saltus::Control;
use saltus::run::Progress;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Time between two lines where there is no bar.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// Shows the progress of one run.
pub struct View {
    label: String,
    started: Instant,
    /// What had been done by then.
    before: usize,
    kind: Kind,
}

/// How long something has been going on, and how much of it had been done before.
#[derive(Clone, Copy, Debug)]
pub struct Since {
    elapsed: Duration,
    before: usize,
}

enum Kind {
    Quiet,
    Bar(ProgressBar),
    Lines { last: Instant },
}

impl View {
    /// A view of a run; the label stands before everything it shows.
    pub fn new(label: &str, quiet: bool) -> Self {
        let kind = if quiet {
            Kind::Quiet
        } else if std::io::stderr().is_terminal() {
            let bar = ProgressBar::new(0);
            // The bar takes what the numbers leave of the line.
            let template = "{prefix}{wide_bar} {msg}";
            // The default style is better than none.
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("█▌ "));
            }
            Kind::Bar(bar)
        } else {
            Kind::Lines { last: Instant::now() }
        };
        let label = if label.is_empty() { String::new() } else { format!("{label}: ") };
        Self { label, started: Instant::now(), before: 0, kind }
    }

    /// The same of a run that goes on after so much had been done.
    pub fn after(self, before: usize) -> Self {
        Self { before, ..self }
    }

    /// Counts from here, for what comes next in the same run.
    pub fn restart(&mut self) {
        (self.started, self.before) = (Instant::now(), 0);
    }

    /// Shows where the run is, and passes on the user's wish to stop.
    pub fn show(&mut self, progress: Progress) -> Control {
        let phase = if progress.warming_up { "warm-up" } else { "draws" };
        let (steps, total) = (progress.steps, progress.total_steps);
        self.tell(phase, (steps, total), |since| numbers(&progress, since))
    }

    /// Shows how much of something is done, and passes on the user's wish to stop.
    pub fn tell(
        &mut self,
        phase: &str,
        (done, total): (usize, usize),
        numbers: impl Fn(Since) -> String,
    ) -> Control {
        let since = Since { elapsed: self.started.elapsed(), before: self.before };
        let numbers = || numbers(since);
        match &mut self.kind {
            Kind::Quiet => {}
            Kind::Bar(bar) => {
                bar.set_length(total as u64);
                bar.set_prefix(format!("{}{phase:7} ", self.label));
                bar.set_message(numbers());
                bar.set_position(done as u64);
            }
            Kind::Lines { last } => {
                if last.elapsed() >= BETWEEN_LINES {
                    *last = Instant::now();
                    say(&format!("{}{phase} {}", self.label, numbers()));
                }
            }
        }
        if interrupt::requested() { Control::Stop } else { Control::Continue }
    }

    /// Leaves the terminal as it was.
    pub fn finish(self) {
        if let Kind::Bar(bar) = self.kind {
            bar.finish_and_clear();
        }
    }
}

/// "500/2000 steps, 50/s, 30 s left, acceptance 0.57, scale 0.09", or the effective draws of all
/// chains once they are counted.
fn numbers(progress: &Progress, since: Since) -> String {
    let Progress { warming_up, steps, total_steps, acceptance, scale, ess } = *progress;
    // The scale is news while it is tuned, and what the draws are worth afterwards.
    let last = if warming_up {
        scale.map(|scale| format!(", scale {}", short(scale)))
    } else {
        ess.map(|ess| format!(", ESS {}", short(ess.round())))
    };
    let pace = pace("steps", (steps, total_steps), since);
    format!("{pace}, acceptance {acceptance:.2}{}", last.unwrap_or_default())
}

/// "500/2000 steps, 50/s, 30 s left".
pub fn pace(what: &str, (done, total): (usize, usize), since: Since) -> String {
    let per_second = done.saturating_sub(since.before) as f64 / since.elapsed.as_secs_f64();
    let left = total.saturating_sub(done) as f64 / per_second;
    format!("{done}/{total} {what}, {}/s, {} left", short(per_second), duration(left))
}

fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 100.0 => format!("{seconds:.0} s"),
        seconds if seconds < 6000.0 => format!("{:.0} min", seconds / 60.0),
        seconds if seconds.is_finite() => format!("{:.0} h", seconds / 3600.0),
        _ => "?".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ten_seconds_after(before: usize) -> Since {
        Since { elapsed: Duration::from_secs(10), before }
    }

    #[test]
    fn a_line_tells_everything() {
        let progress = Progress {
            warming_up: true,
            steps: 500,
            total_steps: 2000,
            acceptance: 0.5,
            scale: Some(0.0904),
            ess: None,
        };
        assert_eq!(
            numbers(&progress, ten_seconds_after(0)),
            "500/2000 steps, 50/s, 30 s left, acceptance 0.50, scale 0.0904"
        );
        let drawing = Progress { warming_up: false, ess: Some(1234.5), ..progress };
        assert_eq!(
            numbers(&drawing, ten_seconds_after(0)),
            "500/2000 steps, 50/s, 30 s left, acceptance 0.50, ESS 1235"
        );
    }

    #[test]
    fn what_was_done_before_does_not_make_it_faster() {
        let pace = |before| pace("steps", (500, 2000), ten_seconds_after(before));
        assert_eq!(pace(300), "500/2000 steps, 20/s, 75 s left");
        assert_eq!(pace(500), "500/2000 steps, 0/s, ? left");
    }

    #[test]
    fn times_left_are_rough() {
        let texts = [3.4, 240.0, 7200.0, f64::INFINITY].map(duration);
        assert_eq!(texts, ["3 s", "4 min", "2 h", "?"]);
    }
}
