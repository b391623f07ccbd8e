//! The charts of the warm-up: acceptance and scale, round by round.

use super::page::Figure;
use crate::plot::chart::Chart;
use crate::plot::frame::Division;
use saltus::tune::Round;

/// None if there was no warm-up.
pub fn charts(rounds: &[Round]) -> Vec<Figure> {
    if rounds.is_empty() {
        return Vec::new();
    }
    let mut steps = 0;
    // Each round stands where it ends.
    let ends: Vec<f64> = rounds
        .iter()
        .map(|round| {
            steps += round.steps;
            steps as f64
        })
        .collect();
    let x = (0.0, steps as f64);
    let mut chart = Chart::new(x, (0.0, 1.0), Division::Linear, "step of warm-up");
    chart.line(ends.iter().zip(rounds).map(|(end, round)| (*end, round.acceptance)), "s0");
    let acceptance = chart.finish("mean acceptance of each round of warm-up");
    let mut figures =
        vec![Figure::new("Acceptance", acceptance, "mean over all chains, by rounds".to_owned())];
    let scales: Vec<(f64, f64)> = ends
        .iter()
        .zip(rounds)
        .filter_map(|(end, round)| Some((*end, round.scale.filter(|scale| *scale > 0.0)?)))
        .collect();
    let (low, high) = scales.iter().fold((f64::INFINITY, 0.0f64), |(low, high), (_, scale)| {
        (low.min(*scale), high.max(*scale))
    });
    if !scales.is_empty() {
        let mut chart = Chart::new(x, (low, high), Division::Logarithmic, "step of warm-up");
        chart.line(scales, "s1");
        let scale = chart.finish("scale of each round of warm-up");
        let caption = "of the steps of each round, logarithmic".to_owned();
        figures.push(Figure::new("Scale", scale, caption));
    }
    figures
}
