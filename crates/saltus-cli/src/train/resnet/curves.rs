//! The course of a training as a picture: what people watch, over its iterations.

use super::folder::Iteration;
use super::report::mean;
use crate::plot::frame::Division;
use crate::plot::row::Row;
use crate::plot::style::COLOURS;
use saltus_learn::Validation;

/// Points of a curve at most: each the mean of the iterations since the last.
const POINTS: usize = 400;
/// Nats below the best that are shown of a learning curve.
const SHOWN: f64 = 100.0;

/// Energy gap, acceptance and changed sites.
pub fn draw(history: &[Iteration], title: &str) -> String {
    let mut row = Row::new(3, title);
    let charts: [(Number, &str); 3] = [
        (|row| row.energy_gap, "energy gap: mean of the data − mean of the chains"),
        (|row| row.acceptance, "acceptance"),
        (|row| row.sites_changed_per_step, "sites changed per step"),
    ];
    let iterations = history.len() as f64;
    for (number, (of_row, name)) in charts.into_iter().enumerate() {
        let points = means(history, of_row);
        let mut panel = row.panel(number);
        panel.title(name);
        let along = (iterations.max(1.0), "iteration");
        let (x, y) = panel.axes(along, range(&points), Division::Linear);
        let places = points.iter().map(|(iteration, mean)| (x.at(*iteration), y.at(*mean)));
        panel.curve(places, COLOURS[0], "");
    }
    row.finish(&format!(
        "{title}: energy gap, acceptance and changed sites over {iterations} iterations"
    ))
}

/// The likelihood of validation images in both directions against the minutes of training.
pub fn learning(looks: &[Validation], title: &str) -> String {
    let title = format!("{title}: validation images");
    let mut row = Row::new(1, &title);
    let forward = looks.iter().map(|look| (look.minutes, look.log_likelihood));
    let reverse =
        looks.iter().filter_map(|look| Some((look.minutes, look.log_likelihood_reverse?)));
    let curves: [Vec<(f64, f64)>; 2] = [forward.collect(), reverse.collect()];
    // What a model has not begun to learn would flatten all that follows.
    let best = curves.iter().flatten().map(|(_, nats)| *nats).fold(f64::NEG_INFINITY, f64::max);
    let seen = |nats: &f64| nats.is_finite() && *nats > best - SHOWN;
    let low = curves.iter().flatten().map(|(_, nats)| *nats).filter(seen).fold(best, f64::min);
    let minutes = looks.iter().map(|look| look.minutes).fold(0.0, f64::max);
    let mut panel = row.panel(0);
    panel.title("log-likelihood in nats; in reverse: the other colour");
    let range = if best.is_finite() { (low - 1.0, best + 1.0) } else { (0.0, 1.0) };
    let (x, y) = panel.axes((minutes.max(1e-3), "minutes"), range, Division::Linear);
    for (points, colour) in curves.iter().zip(COLOURS) {
        let shown = points.iter().filter(|(_, nats)| seen(nats));
        panel.curve(shown.map(|(minutes, nats)| (x.at(*minutes), y.at(*nats))), colour, "");
    }
    row.finish(&format!("{title}: log-likelihood over {minutes:.1} minutes of training"))
}

/// A number of an iteration.
type Number = fn(&Iteration) -> f64;

/// Iterations and means of a number.
fn means(history: &[Iteration], number: Number) -> Vec<(f64, f64)> {
    let lines = history.chunks(history.len().div_ceil(POINTS).max(1));
    let points = lines.map(|lines| (mean(lines, |row| row.iteration as f64), mean(lines, number)));
    points.filter(|(_, mean)| mean.is_finite()).collect()
}

/// What an axis must hold, zero included.
fn range(points: &[(f64, f64)]) -> (f64, f64) {
    let (low, high) = points
        .iter()
        .fold((0.0f64, 0.0f64), |(low, high), (_, mean)| (low.min(*mean), high.max(*mean)));
    let room = 0.05 * (high - low);
    if room > 0.0 { (if low < 0.0 { low - room } else { 0.0 }, high + room) } else { (0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_means_and_axes_hold_them() {
        let row = |iteration: usize| Iteration {
            iteration,
            energy_gap: -(iteration as f64),
            ..Iteration::default()
        };
        let history: Vec<Iteration> = (1..=800).map(row).collect();
        let points = means(&history, |row| row.energy_gap);
        assert_eq!((points.len(), points[0]), (400, (1.5, -1.5)));
        let (low, high) = range(&points);
        assert!(low < -799.5 && high > 0.0, "{low} {high}");
        assert_eq!(range(&[]), (0.0, 1.0));
        let picture = draw(&history, "a training");
        assert!(picture.contains("acceptance") && picture.contains("a training"));
        assert!(draw(&[], "nothing yet").contains("</svg>"));
    }
}
