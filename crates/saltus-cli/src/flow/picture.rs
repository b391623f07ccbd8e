//! The flow in three pictures: densities in time, the divergence and its last slope, and particles
//! beside the density.

use super::Followed;
use crate::number::short;
use crate::plot::axis::Axis;
use crate::plot::style::{self, FAINT, TEXT};
use crate::plot::svg::{Svg, digits};

/// Colours that stay apart for the colour-blind (Okabe and Ito 2008), for states in turn.
const COLOURS: [&str; 7] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"];

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 56.0;
const GAP: f64 = 20.0;
/// The smallest divergence that is shown: below are rounding errors.
const LEAST: f64 = 1e-14;

/// The whole picture.
pub fn draw(followed: &Followed) -> String {
    let (width, height) = (3.0 * (LEFT + WIDTH + GAP), TOP + HEIGHT + BOTTOM);
    let mut svg = Svg::new(width, height);
    svg.rectangle(0.0, 0.0, width, height, r##"fill="#ffffff""##);
    let title =
        format!("Gradient flow on {} states, weight {}", followed.target.len(), followed.weight);
    svg.text(24.0, 34.0, &title, &format!(r#"font-size="18" fill="{TEXT}""#));
    densities(&mut Frame::new(&mut svg, 0), followed);
    divergence(&mut Frame::new(&mut svg, 1), followed);
    particles(&mut Frame::new(&mut svg, 2), followed);
    let last = followed.kl.len() - 1;
    let description = format!(
        "{title}. KL falls from {} to {} in time {}.",
        short(followed.kl[0]),
        short(followed.kl[last]),
        short(followed.time[last])
    );
    svg.finish(&style::whole(width, height), &description)
}

/// One of the three.
struct Frame<'a> {
    svg: &'a mut Svg,
    left: f64,
}

impl<'a> Frame<'a> {
    fn new(svg: &'a mut Svg, number: usize) -> Self {
        Self { svg, left: LEFT + number as f64 * (LEFT + WIDTH + GAP) }
    }

    fn text(&mut self, x: f64, y: f64, text: &str, size: u32, anchor: &str, colour: &str) {
        let attributes = format!(r#"font-size="{size}" text-anchor="{anchor}" fill="{colour}""#);
        self.svg.text(x, y, text, &attributes);
    }

    fn title(&mut self, title: &str) {
        self.text(self.left, TOP - 14.0, title, 13, "start", TEXT);
    }

    fn x_axis(&self, high: f64) -> Axis {
        Axis::linear(0.0, high, self.left, self.left + WIDTH)
    }

    fn x_ticks(&mut self, axis: &Axis, name: &str) {
        let ground = TOP + HEIGHT;
        for tick in axis.ticks(5) {
            self.text(tick.at, ground + 18.0, &tick.label, 11, "middle", FAINT);
        }
        self.text(self.left + WIDTH / 2.0, ground + 38.0, name, 12, "middle", TEXT);
        let ends = ((self.left, ground), (self.left + WIDTH, ground));
        self.svg.line(ends.0, ends.1, &format!(r#"stroke="{FAINT}""#));
    }

    fn y_ticks(&mut self, axis: &Axis) {
        for tick in axis.ticks(5) {
            let colour = if tick.label.is_empty() { "#f1f1f1" } else { "#d9d9d9" };
            let ends = ((self.left, tick.at), (self.left + WIDTH, tick.at));
            self.svg.line(ends.0, ends.1, &format!(r#"stroke="{colour}""#));
            self.text(self.left - 8.0, tick.at + 4.0, &tick.label, 11, "end", FAINT);
        }
    }

    fn curve(&mut self, points: impl Iterator<Item = (f64, f64)>, colour: &str, more: &str) {
        let attributes = format!(r#"fill="none" stroke="{colour}" stroke-width="2" {more}"#);
        self.svg.path(points, &attributes);
    }
}

fn colour(state: usize) -> &'static str {
    COLOURS[state % COLOURS.len()]
}

/// ρ(t) as lines, with the target as dashes and particles as dots.
fn densities(frame: &mut Frame<'_>, followed: &Followed) {
    frame.title("ρ(t), state by state; dashes: the target; dots: particles");
    let rows = || followed.rho.iter().chain(&followed.particle_rho);
    let most = rows().flatten().chain(&followed.target).copied().fold(0.0, f64::max);
    let (x, y) = (
        frame.x_axis(*followed.time.last().unwrap_or(&1.0)),
        Axis::linear(0.0, 1.05 * most, TOP + HEIGHT, TOP),
    );
    frame.y_ticks(&y);
    frame.x_ticks(&x, "time");
    for (state, p) in followed.target.iter().enumerate() {
        let colour = colour(state);
        let ends = ((frame.left, y.at(*p)), (frame.left + WIDTH, y.at(*p)));
        let dashes = format!(r#"stroke="{colour}" stroke-dasharray="3 4" opacity="0.6""#);
        frame.svg.line(ends.0, ends.1, &dashes);
        let points = followed.time.iter().zip(&followed.rho);
        frame.curve(points.map(|(t, rho)| (x.at(*t), y.at(rho[state]))), colour, "");
        for (t, rho) in followed.time.iter().zip(&followed.particle_rho).step_by(5) {
            let (cx, cy) = (digits(x.at(*t)), digits(y.at(rho[state])));
            frame.svg.push(&format!(
                r#"<circle cx="{cx}" cy="{cy}" r="2.5" fill="{colour}" opacity="0.55"/>"#
            ));
        }
        let end = followed.rho.last().map_or(0.0, |rho| rho[state]);
        frame.text(
            frame.left + WIDTH + 4.0,
            y.at(end) + 4.0,
            &state.to_string(),
            11,
            "start",
            colour,
        );
    }
}

/// KL(t) on a logarithmic scale, with the slope that the spectral gap gives it in the end.
fn divergence(frame: &mut Frame<'_>, followed: &Followed) {
    frame.title("KL(ρ(t) ‖ π); dashes: e^(−2·gap·t)");
    let shown: Vec<(f64, f64)> = followed
        .time
        .iter()
        .copied()
        .zip(followed.kl.iter().copied())
        .filter(|(_, kl)| *kl > LEAST)
        .collect();
    let x = frame.x_axis(*followed.time.last().unwrap_or(&1.0));
    let (Some(first), Some(last)) = (shown.first(), shown.last()) else {
        frame.x_ticks(&x, "time");
        frame.text(frame.left + WIDTH / 2.0, TOP + HEIGHT / 2.0, "ρ is π", 13, "middle", FAINT);
        return;
    };
    let y = Axis::logarithmic(last.1, 2.0 * first.1, TOP + HEIGHT, TOP);
    frame.y_ticks(&y);
    frame.x_ticks(&x, "time");
    let slope = |t: f64| last.1 * (2.0 * followed.spectral_gap * (last.0 - t)).exp();
    // From where the line enters the frame from above.
    let inside = followed.time.iter().filter(|t| **t <= last.0 && slope(**t) <= 2.0 * first.1);
    frame.curve(
        inside.map(|t| (x.at(*t), y.at(slope(*t)))),
        COLOURS[1],
        r#"stroke-dasharray="5 5""#,
    );
    frame.curve(shown.iter().map(|(t, kl)| (x.at(*t), y.at(*kl))), COLOURS[0], "");
}

/// Shares of particles as bars, ρ as marks, a fifth of the way.
fn particles(frame: &mut Frame<'_>, followed: &Followed) {
    let k = followed.time.len() / 5;
    let title =
        format!("{} particles at time {}; marks: ρ", followed.particles, short(followed.time[k]));
    frame.title(&title);
    let (shares, rho) = (&followed.particle_rho[k], &followed.rho[k]);
    let most = shares.iter().chain(rho).copied().fold(0.0, f64::max);
    let y = Axis::linear(0.0, 1.05 * most, TOP + HEIGHT, TOP);
    frame.y_ticks(&y);
    let slot = WIDTH / rho.len() as f64;
    let ground = TOP + HEIGHT;
    // With many states only some can be named.
    let named = rho.len().div_ceil(20);
    for (state, (share, p)) in shares.iter().zip(rho).enumerate() {
        let middle = frame.left + slot * (state as f64 + 0.5);
        let (half, top) = (0.35 * slot, y.at(*share));
        let fill = format!(r#"fill="{}" opacity="0.55""#, colour(state));
        frame.svg.rectangle(middle - half, top, 2.0 * half, ground - top, &fill);
        let mark = ((middle - 1.2 * half, y.at(*p)), (middle + 1.2 * half, y.at(*p)));
        frame.svg.line(mark.0, mark.1, &format!(r#"stroke="{TEXT}" stroke-width="2""#));
        if state % named == 0 {
            frame.text(middle, ground + 18.0, &state.to_string(), 11, "middle", FAINT);
        }
    }
    frame.text(frame.left + WIDTH / 2.0, ground + 38.0, "state", 12, "middle", TEXT);
    let ends = ((frame.left, ground), (frame.left + WIDTH, ground));
    frame.svg.line(ends.0, ends.1, &format!(r#"stroke="{FAINT}""#));
}
