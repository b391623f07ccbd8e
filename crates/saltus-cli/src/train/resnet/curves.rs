//! The course of a training as a picture: what people watch, over its iterations.

use super::report::{ACCEPTANCE, CHANGED, GAP, mean};
use crate::plot::axis::Axis;
use crate::plot::frame::{COLOURS, GROUND, Row, TOP};

/// Points of a curve at most: each the mean of the iterations since the last.
const POINTS: usize = 400;

/// Energy gap, acceptance and changed sites.
pub fn draw(history: &[Vec<f64>], title: &str) -> String {
    let mut row = Row::new(3, title);
    let charts = [
        (GAP, "energy gap: mean of the data − mean of the chains"),
        (ACCEPTANCE, "acceptance"),
        (CHANGED, "sites changed per step"),
    ];
    let iterations = history.len() as f64;
    for (number, (column, name)) in charts.into_iter().enumerate() {
        let points = means(history, column);
        let mut frame = row.frame(number);
        frame.title(name);
        let x = frame.x_axis(iterations.max(1.0));
        let (low, high) = range(&points);
        let y = Axis::linear(low, high, GROUND, TOP);
        frame.y_ticks(&y);
        frame.x_ticks(&x, "iteration");
        let places = points.iter().map(|(iteration, mean)| (x.at(*iteration), y.at(*mean)));
        frame.curve(places, COLOURS[0], "");
    }
    row.finish(&format!(
        "{title}: energy gap, acceptance and changed sites over {iterations} iterations"
    ))
}

/// Iterations and means of a column.
fn means(history: &[Vec<f64>], column: usize) -> Vec<(f64, f64)> {
    let lines = history.chunks(history.len().div_ceil(POINTS).max(1));
    let points = lines.map(|lines| (mean(lines, 0), mean(lines, column)));
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
        let line = |iteration: usize| vec![iteration as f64, 0.0, 0.0, -(iteration as f64)];
        let history: Vec<Vec<f64>> = (1..=800).map(line).collect();
        let points = means(&history, GAP);
        assert_eq!((points.len(), points[0]), (400, (1.5, -1.5)));
        let (low, high) = range(&points);
        assert!(low < -799.5 && high > 0.0, "{low} {high}");
        assert_eq!(range(&[]), (0.0, 1.0));
        let picture = draw(&history, "a training");
        assert!(picture.contains("acceptance") && picture.contains("a training"));
        assert!(draw(&[], "nothing yet").contains("</svg>"));
    }
}
