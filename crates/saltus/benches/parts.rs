//! Where the time of a step goes: each part of an all-site sampler on its own, on one thread.
//!
//! `cargo bench -p saltus --bench parts` prints nanoseconds per site, the least of twenty rounds.

use saltus::Closeness;
use saltus::kernel::dlmc;
use saltus::kernel::metropolis::Proposal;
use saltus::kernel::row::RowFormula;
use saltus::kernel::rows::Rows;
use saltus::model::fhmm::Fhmm;
use saltus::model::lattice::Lattice;
use saltus::model::paper::{self, Temperature};
use saltus::rng::{ChainRng, Stream};
use saltus::{Balancing, Differences, Model, States};
use std::hint::black_box;
use std::time::Instant;

fn main() {
    println!(
        "| target | model | random words | rows and score of the way back, dlmc / dlmcf / dmala | draw and score |"
    );
    println!("|---|---|---|---|---|");
    parts("bernoulli-high", &paper::bernoulli(Temperature::High, 10_000, 0).unwrap());
    let square = |side| Lattice::free(side, side).unwrap();
    parts("ising-high", &paper::ising(Temperature::High, square(50), 0).unwrap());
    parts("categorical-8", &paper::categorical(2000, 8, 0).unwrap());
    parts("potts-8", &paper::potts(square(30), 8, 0).unwrap());
    parts("fhmm-binary-high", &Fhmm::simulate(200, 10, 2, 0).unwrap());
}

fn parts<M: Model>(name: &str, model: &M) {
    let sites = model.space().sites();
    let mut rng = ChainRng::new(0, Stream::Chain(0));
    let mut state = vec![0; sites];
    model.initial_state(&mut rng, &mut state);
    let mut proposed = state.clone();
    let mut cache = model.new_cache(1);
    let mut log_prob = [0.0];
    let mut diff = vec![0.0; model.space().diff_len()];
    let evaluate = time(sites, || {
        let states = States::new(&state, sites);
        let taylor = Differences::Taylor;
        model.log_prob_and_diff(taylor, states, &mut cache, &mut log_prob, &mut diff).unwrap();
    });
    let mut words = vec![0; sites];
    let fill = time(sites, || rng.fill(&mut words));
    let (mut rows, mut draw) = (Vec::new(), 0.0);
    let (h, balancing) = (0.09, Balancing::Sqrt);
    for formula in RowFormula::ALL {
        let proposal = Rows {
            traits: dlmc::traits,
            formula,
            balancing,
            differences: Differences::Taylor,
            closeness: Closeness::Equal,
        };
        let mut table = proposal.new_table(model.space());
        let row = time(sites, || {
            black_box(proposal.prepare(h, &state, &diff, &mut table, &proposed, &()));
        });
        rows.push(format!("{row:.2}"));
        draw = time(sites, || {
            black_box(proposal.draw(h, &state, &mut table, &mut rng, &mut proposed, &mut ()));
        });
    }
    let rows = rows.join(" / ");
    println!("| {name} | {evaluate:.2} | {fill:.2} | {rows} | {draw:.2} |");
}

/// Nanoseconds per site, the least of twenty rounds of a hundred calls.
fn time(sites: usize, mut call: impl FnMut()) -> f64 {
    let rounds = (0..20).map(|_| {
        let started = Instant::now();
        (0..100).for_each(|_| call());
        started.elapsed().as_secs_f64() / 100.0
    });
    rounds.fold(f64::INFINITY, f64::min) * 1e9 / sites as f64
}
