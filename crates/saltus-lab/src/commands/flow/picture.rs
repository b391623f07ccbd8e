//! The flow in three pictures: densities in time, the divergence and its last slope, and particles
//! beside the density.

use super::Followed;
use saltus_cli::number::short;
use saltus_cli::plot::frame::Division;
use saltus_cli::plot::row::{Panel, Row};
use saltus_cli::plot::style::{COLOURS, FAINT, TEXT};
use saltus_cli::plot::svg::digits;

/// The smallest divergence that is shown: below are rounding errors.
const LEAST: f64 = 1e-14;

/// The whole picture.
pub fn draw(followed: &Followed) -> String {
    let title =
        format!("Gradient flow on {} states, weight {}", followed.target.len(), followed.weight);
    let mut row = Row::new(3, &title);
    densities(&mut row.panel(0), followed);
    divergence(&mut row.panel(1), followed);
    particles(&mut row.panel(2), followed);
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
fn densities(panel: &mut Panel<'_>, followed: &Followed) {
    panel.title("ρ(t), state by state; dashes: the target; dots: particles");
    let rows = || followed.rho.iter().chain(&followed.particle_rho);
    let most = rows().flatten().chain(&followed.target).copied().fold(0.0, f64::max);
    let (x, y) = panel.axes((end(followed), "time"), (0.0, 1.05 * most), Division::Linear);
    for (state, p) in followed.target.iter().enumerate() {
        let colour = colour(state);
        let dashes = format!(r#"stroke="{colour}" stroke-dasharray="3 4" opacity="0.6""#);
        panel.frame.across(panel.svg, y.at(*p), &dashes);
        let points = followed.time.iter().zip(&followed.rho);
        panel.curve(points.map(|(t, rho)| (x.at(*t), y.at(rho[state]))), colour, "");
        for (t, rho) in followed.time.iter().zip(&followed.particle_rho).step_by(5) {
            let (cx, cy) = (digits(x.at(*t)), digits(y.at(rho[state])));
            panel.svg.push(&format!(
                r#"<circle cx="{cx}" cy="{cy}" r="2.5" fill="{colour}" opacity="0.55"/>"#
            ));
        }
        let last = followed.rho.last().map_or(0.0, |rho| rho[state]);
        panel.text(
            panel.frame.right + 4.0,
            y.at(last) + 4.0,
            &state.to_string(),
            11,
            "start",
            colour,
        );
    }
}

/// KL(t) on a logarithmic scale, with the slope that the spectral gap gives it in the end.
fn divergence(panel: &mut Panel<'_>, followed: &Followed) {
    panel.title("KL(ρ(t) ‖ π); dashes: e^(−2·gap·t)");
    let shown: Vec<(f64, f64)> = followed
        .time
        .iter()
        .copied()
        .zip(followed.kl.iter().copied())
        .filter(|(_, kl)| *kl > LEAST)
        .collect();
    let (Some(first), Some(last)) = (shown.first(), shown.last()) else {
        let x = panel.frame.x_axis(0.0, end(followed));
        panel.frame.x_ticks(panel.svg, &x, "time");
        let height = (panel.frame.top + panel.frame.ground) / 2.0;
        panel.text(panel.frame.middle(), height, "ρ is π", 13, "middle", FAINT);
        return;
    };
    let range = (last.1, 2.0 * first.1);
    let (x, y) = panel.axes((end(followed), "time"), range, Division::Logarithmic);
    let slope = |t: f64| last.1 * (2.0 * followed.spectral_gap * (last.0 - t)).exp();
    // From where the line enters the frame from above.
    let inside = followed.time.iter().filter(|t| **t <= last.0 && slope(**t) <= 2.0 * first.1);
    panel.curve(
        inside.map(|t| (x.at(*t), y.at(slope(*t)))),
        COLOURS[1],
        r#"stroke-dasharray="5 5""#,
    );
    panel.curve(shown.iter().map(|(t, kl)| (x.at(*t), y.at(*kl))), COLOURS[0], "");
}

/// Shares of particles as bars, ρ as marks, a fifth of the way.
fn particles(panel: &mut Panel<'_>, followed: &Followed) {
    let k = followed.time.len() / 5;
    let title =
        format!("{} particles at time {}; marks: ρ", followed.particles, short(followed.time[k]));
    panel.title(&title);
    let (shares, rho) = (&followed.particle_rho[k], &followed.rho[k]);
    let most = shares.iter().chain(rho).copied().fold(0.0, f64::max);
    let frame = panel.frame;
    let y = frame.y_axis(0.0, 1.05 * most, Division::Linear);
    frame.y_ticks(panel.svg, &y, 5);
    let slot = (frame.right - frame.left) / rho.len() as f64;
    // With many states only some can be named.
    let named = rho.len().div_ceil(20);
    for (state, (share, p)) in shares.iter().zip(rho).enumerate() {
        let middle = panel.frame.left + slot * (state as f64 + 0.5);
        let (half, top) = (0.35 * slot, y.at(*share));
        let fill = format!(r#"fill="{}" opacity="0.55""#, colour(state));
        panel.svg.rectangle(middle - half, top, 2.0 * half, frame.ground - top, &fill);
        let mark = ((middle - 1.2 * half, y.at(*p)), (middle + 1.2 * half, y.at(*p)));
        panel.svg.line(mark.0, mark.1, &format!(r#"stroke="{TEXT}" stroke-width="2""#));
        if state % named == 0 {
            frame.x_number(panel.svg, middle, &state.to_string());
        }
    }
    frame.x_name(panel.svg, "state");
}

/// The time at which the flow was last looked at.
fn end(followed: &Followed) -> f64 {
    followed.time.last().copied().unwrap_or(1.0)
}
