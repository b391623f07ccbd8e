//! The flow in three pictures: densities in time, the divergence and its last slope, and particles
//! beside the density.

use super::Followed;
use saltus_cli::number::short;
use saltus_cli::plot::axis::Axis;
use saltus_cli::plot::frame::{COLOURS, Frame, GROUND, Row, TOP, WIDTH};
use saltus_cli::plot::style::{FAINT, TEXT};
use saltus_cli::plot::svg::digits;

/// The smallest divergence that is shown: below are rounding errors.
const LEAST: f64 = 1e-14;

/// The whole picture.
pub fn draw(followed: &Followed) -> String {
    let title =
        format!("Gradient flow on {} states, weight {}", followed.target.len(), followed.weight);
    let mut row = Row::new(3, &title);
    densities(&mut row.frame(0), followed);
    divergence(&mut row.frame(1), followed);
    particles(&mut row.frame(2), followed);
    let last = followed.kl.len() - 1;
    let description = format!(
        "{title}. KL falls from {} to {} in time {}.",
        short(followed.kl[0]),
        short(followed.kl[last]),
        short(followed.time[last])
    );
    row.finish(&description)
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
        Axis::linear(0.0, 1.05 * most, GROUND, TOP),
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
        frame.text(frame.left + WIDTH / 2.0, (TOP + GROUND) / 2.0, "ρ is π", 13, "middle", FAINT);
        return;
    };
    let y = Axis::logarithmic(last.1, 2.0 * first.1, GROUND, TOP);
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
    let y = Axis::linear(0.0, 1.05 * most, GROUND, TOP);
    frame.y_ticks(&y);
    let slot = WIDTH / rho.len() as f64;
    // With many states only some can be named.
    let named = rho.len().div_ceil(20);
    for (state, (share, p)) in shares.iter().zip(rho).enumerate() {
        let middle = frame.left + slot * (state as f64 + 0.5);
        let (half, top) = (0.35 * slot, y.at(*share));
        let fill = format!(r#"fill="{}" opacity="0.55""#, colour(state));
        frame.svg.rectangle(middle - half, top, 2.0 * half, GROUND - top, &fill);
        let mark = ((middle - 1.2 * half, y.at(*p)), (middle + 1.2 * half, y.at(*p)));
        frame.svg.line(mark.0, mark.1, &format!(r#"stroke="{TEXT}" stroke-width="2""#));
        if state % named == 0 {
            frame.text(middle, GROUND + 18.0, &state.to_string(), 11, "middle", FAINT);
        }
    }
    frame.text(frame.left + WIDTH / 2.0, GROUND + 38.0, "state", 12, "middle", TEXT);
    let ends = ((frame.left, GROUND), (frame.left + WIDTH, GROUND));
    frame.svg.line(ends.0, ends.1, &format!(r#"stroke="{FAINT}""#));
}
