//! The course of a training as a picture: what people watch, over its iterations.

use super::folder::Iteration;
use super::report::mean;
use crate::plot::frame::Division;
use crate::plot::row::Row;
use crate::plot::style::COLOURS;

/// Points of a curve at most: each the mean of the iterations since the last.
const POINTS: usize = 400;

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
