//! `saltus-lab flow`: the gradient flow on a few states, followed in time.

mod picture;

use crate::arguments::FlowArguments;
use crate::flow::distance::Distance;
use crate::flow::{Flow, FlowError, Graph, distribution};
use comfy_table::CellAlignment;
use saltus::ChainRng;
use saltus::model::edge_list::read_edges;
use saltus::rng::Stream;
use saltus_cli::arguments::existing;
use saltus_cli::failure::{Failure, Finish};
use saltus_cli::number::short;
use saltus_cli::table::{finish, plain_table};
use saltus_cli::{out, plot};
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// Times at which the flow is looked at.
const TIMES: usize = 101;
/// Every how many of them are printed.
const PRINTED: usize = 10;
/// Time constants that are followed unless the user says otherwise.
const CONSTANTS: f64 = 5.0;

/// A flow that was followed; serialised, it is what `--json` prints.
#[derive(Serialize)]
pub struct Followed {
    pub target: Vec<f64>,
    pub weight: saltus::Balancing,
    pub time: Vec<f64>,
    /// The law at each time.
    pub rho: Vec<Vec<f64>>,
    /// KL(ρ‖π).
    pub kl: Vec<f64>,
    /// −dKL/dt.
    pub dissipation: Vec<f64>,
    pub spectral_gap: f64,
    pub w2_from_target: f64,
    pub w2_from_target_error: f64,
    pub w2_from_to: Option<f64>,
    pub w2_from_to_error: Option<f64>,
    /// Number of particles.
    pub particles: usize,
    /// Their share in every state at each time.
    pub particle_rho: Vec<Vec<f64>>,
}

/// Follows the flow and prints.
pub fn run(arguments: &FlowArguments) -> Result<Finish, Failure> {
    for path in &arguments.plot {
        plot::check_name(path, existing(arguments.force))?;
    }
    out::goes_elsewhere(!arguments.plot.is_empty());
    let graph = graph(arguments.graph.as_deref())?;
    let flow = Flow::new(&arguments.target, &graph, arguments.weight.unwrap_or_default())?;
    let states = flow.states();
    let given = |name: &str, numbers: &[f64]| {
        let rho = distribution(name, numbers)?;
        if rho.len() == states {
            return Ok(rho);
        }
        Err(Failure::Usage(format!(
            "{name} has {} probabilities, but the target has {states}",
            rho.len()
        )))
    };
    let from = match &arguments.from[..] {
        [] => vec![1.0 / states as f64; states],
        from => given("--from", from)?,
    };
    let to = match &arguments.to[..] {
        [] => None,
        to => Some(given("--to", to)?),
    };
    let followed = follow(&flow, arguments, &from, to.as_deref())?;
    if !arguments.plot.is_empty() {
        let svg = picture::draw(&followed);
        for path in &arguments.plot {
            plot::write(&svg, path, existing(arguments.force))?;
        }
    }
    let mut out = out::stdout();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &followed)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", text(&followed))?;
        for path in &arguments.plot {
            writeln!(out, "picture in {}", path.display())?;
        }
    }
    Ok(Finish::Complete)
}

fn follow(
    flow: &Flow,
    arguments: &FlowArguments,
    from: &[f64],
    to: Option<&[f64]>,
) -> Result<Followed, Failure> {
    let semigroup = flow.semigroup();
    let gap = semigroup.spectral_gap();
    let end = arguments.time.unwrap_or(CONSTANTS / gap);
    if end <= 0.0 {
        return Err(Failure::Usage(format!("--time must be positive, got {end}")));
    }
    let time: Vec<f64> = (0..TIMES).map(|k| end * k as f64 / (TIMES - 1) as f64).collect();
    let rho: Vec<Vec<f64>> = time.iter().map(|time| semigroup.at(from, *time)).collect();
    let particles = arguments.particles.unwrap_or(10_000);
    check_jumps(flow, &time, &rho, particles)?;
    let mut rng = ChainRng::new(arguments.seed.unwrap_or(0), Stream::Chain(0));
    let particle_rho = flow.simulate(from, &time, particles, &mut rng);
    let to_target = flow.distance(from, flow.target())?;
    let between = to.map(|to| flow.distance(from, to)).transpose()?;
    Ok(Followed {
        target: flow.target().to_vec(),
        weight: flow.weight(),
        kl: rho.iter().map(|rho| flow.divergence(rho)).collect(),
        dissipation: rho.iter().map(|rho| flow.dissipation(rho)).collect(),
        spectral_gap: gap,
        w2_from_target: to_target.value,
        w2_from_target_error: to_target.error,
        w2_from_to: between.map(|distance| distance.value),
        w2_from_to_error: between.map(|distance| distance.error),
        particles,
        particle_rho,
        time,
        rho,
    })
}

/// Jumps of all particles that are simulated in a moment.
const MOST_JUMPS: f64 = 3e7;

/// Fails if the particles would jump for ever, or as good as that.
fn check_jumps(
    flow: &Flow,
    time: &[f64],
    rho: &[Vec<f64>],
    particles: usize,
) -> Result<(), Failure> {
    let rate = |rho: &Vec<f64>| -> f64 {
        rho.iter().enumerate().map(|(state, p)| -p * flow.rates()[(state, state)]).sum()
    };
    // Right ends: where a particle hurries away from, it does not stay for a stretch of time.
    let jumps: f64 = rho[1..].iter().map(rate).sum::<f64>() * time[1] * particles as f64;
    if jumps <= MOST_JUMPS {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{particles} particles would jump some {jumps:.0e} times until time {}: try a shorter --time \
         or fewer --particles",
        short(time[time.len() - 1])
    )))
}

fn graph(name: Option<&Path>) -> Result<Graph, Failure> {
    let Some(name) = name else {
        return Ok(Graph::Complete);
    };
    match name.to_str() {
        Some("complete") => Ok(Graph::Complete),
        Some("path") => Ok(Graph::Path),
        _ => {
            let edges = read_edges(name)?;
            let edges = edges
                .iter()
                .map(|edge| (edge.from as usize, edge.to as usize, f64::from(edge.weight)));
            Ok(Graph::Edges(edges.collect()))
        }
    }
}

impl From<FlowError> for Failure {
    fn from(error: FlowError) -> Self {
        match error {
            FlowError::Distribution(_) | FlowError::Graph(_) => Self::Usage(error.to_string()),
            FlowError::Numerical(_) => Self::Failed(error.to_string()),
        }
    }
}

/// Widths of the bar that shows a distribution.
const BAR: usize = 40;

/// What a terminal shows.
fn text(followed: &Followed) -> String {
    let mut table = plain_table();
    table.set_header(["time", "KL", "−dKL/dt", "ρ, state by state"]);
    for k in (0..followed.time.len()).step_by(PRINTED) {
        table.add_row([
            short(followed.time[k]),
            short(followed.kl[k]),
            short(followed.dissipation[k]),
            bar(&followed.rho[k]),
        ]);
    }
    for column in table.column_iter_mut().take(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = format!("{}\n", finish(&mut table));
    let gap = followed.spectral_gap;
    text += &format!(
        "spectral gap     {}: in the end KL falls as e^(−{} t)\n",
        short(gap),
        short(2.0 * gap)
    );
    let distance = |value, error| Distance { value, error };
    let to_target = distance(followed.w2_from_target, followed.w2_from_target_error);
    text += &format!("W₂ to the target {}\n", with_accuracy(to_target));
    if let (Some(value), Some(error)) = (followed.w2_from_to, followed.w2_from_to_error) {
        text += &format!("W₂ from to       {}\n", with_accuracy(distance(value, error)));
    }
    let last = followed.rho.len() - 1;
    let pairs = followed.rho[last].iter().zip(&followed.particle_rho[last]);
    let off = pairs.map(|(rho, share)| (rho - share).abs()).fold(0.0, f64::max);
    text += &format!(
        "particles        {}: at the end their shares differ from ρ by at most {}\n",
        followed.particles,
        short(off)
    );
    text
}

fn with_accuracy(distance: Distance) -> String {
    format!("{:.8} (accurate to about {:.0e})", distance.value, distance.error.max(1e-15))
}

/// Every state's share of a line, written in its number.
fn bar(rho: &[f64]) -> String {
    let mut text = String::new();
    let mut sum = 0.0;
    for (state, p) in rho.iter().enumerate() {
        sum += p;
        let until = (sum * BAR as f64).round() as usize;
        let digit = char::from_digit((state % 36) as u32, 36).unwrap_or('?');
        while text.len() < until.min(BAR) {
            text.push(digit);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shares_out_a_line() {
        assert_eq!(bar(&[0.5, 0.25, 0.25]), "0".repeat(20) + &"1".repeat(10) + &"2".repeat(10));
        assert_eq!(bar(&[0.0, 1.0]).len(), BAR);
    }
}
