//! Where the time of a step goes: each part of an all-site sampler on its own, on one thread.
//!
//! `cargo bench -p saltus --bench parts` prints nanoseconds per site, the least of twenty rounds; and what tables of pairs cost
//! beside the additions that they cannot do without: `… -- tables` prints these alone.

use saltus::Closeness;
use saltus::kernel::dlmc;
use saltus::kernel::metropolis::Proposal;
use saltus::kernel::row::RowFormula;
use saltus::kernel::rows::Rows;
use saltus::math::vectorised;
use saltus::model::factor::Factor;
use saltus::model::factors::Factors;
use saltus::model::fhmm::Fhmm;
use saltus::model::lattice::Lattice;
use saltus::model::paper::{self, Temperature};
use saltus::rng::{ChainRng, Stream};
use saltus::{Balancing, Differences, Model, Run, Sampler, Settings, Space, States, Summary};
use std::hint::black_box;
use std::time::Instant;

fn main() {
    if std::env::args().any(|word| word == "tables") {
        return look_ups();
    }
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
    look_ups();
}

/// A model of proteins, 100 sites of 21 values with a table for each pair: the bare additions of the rows that differences
/// and sweeps look up, beside both, in nanoseconds per pair of sites and chain. As many chains as a block has share a
/// table while it is in the cache.
fn look_ups() {
    const SITES: usize = 100;
    const VALUES: usize = 21;
    /// A row as it is stored, in whole registers.
    type Row = [[f32; 8]; 3];
    let pairs = SITES * (SITES - 1) / 2;
    let mut rng = ChainRng::new(1, Stream::Model);
    let mut factors = Vec::new();
    for one in 0..SITES as u32 {
        for other in 0..one {
            let logs: Vec<f64> = (0..VALUES * VALUES).map(|_| 0.1 * rng.uniform()).collect();
            factors.push(Factor::new([other, one], logs).unwrap());
        }
    }
    let space = Space::new(SITES, VALUES).unwrap();
    let model = Factors::new(space.clone(), &factors).unwrap();
    let chains = model.block_size(100);
    let states: Vec<u8> = (0..chains * SITES).map(|_| rng.below(VALUES) as u8).collect();
    let (mut cache, mut log_prob) = (model.new_cache(chains), vec![0.0; chains]);
    let mut diff = vec![0.0; chains * space.diff_len()];
    let of_model = time_of(2, pairs * chains, || {
        let states = States::new(&states, SITES);
        let exact = Differences::Exact;
        model.log_prob_and_diff(exact, states, &mut cache, &mut log_prob, &mut diff).unwrap();
    });
    let rows: Vec<Row> = vec![[[0.01; 8]; 3]; SITES * SITES * VALUES];
    let bare = time_of(2, pairs * chains, || {
        let all = rows.chunks_exact(SITES * VALUES).map(|tables| {
            states.chunks_exact(SITES).map(|state| added(tables, state)).sum::<f32>()
        });
        black_box(all.sum::<f32>());
    });
    println!("\n| tables of 21 × 21 | ns per pair and chain |\n|---|---|");
    println!("| log π and all differences of {chains} chains | {of_model:.2} |");
    let step = step(&model) * SITES as f64 / pairs as f64;
    println!("| a step of dlmc | {step:.2} |");
    println!("| their additions alone | {bare:.2} |");

    /// What the rows of all sites add up to.
    fn added(tables: &[Row], state: &[u8]) -> f32 {
        vectorised(
            #[inline(always)]
            || {
                // Two sums side by side, so that no addition waits for the one before it. The row of the site itself is
                // added as well, of a hundred.
                let mut sums = [[[0.0f32; 8]; 3]; 2];
                let (values, _) = state.as_chunks::<2>();
                for (values, tables) in values.iter().zip(tables.chunks_exact(2 * VALUES)) {
                    for half in 0..2 {
                        let row = &tables[half * VALUES + usize::from(values[half])];
                        for chunk in 0..3 {
                            for lane in 0..8 {
                                sums[half][chunk][lane] += row[chunk][lane];
                            }
                        }
                    }
                }
                sums.as_flattened().as_flattened().iter().sum()
            },
        )
    }
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

/// Nanoseconds per site and chain of a step of `dlmc`, the least of three runs.
fn step(model: &Factors) -> f64 {
    let dlmc = Sampler::dlmc();
    let settings =
        Settings { chains: 100, warmup: 10, draws: 100, threads: Some(1), ..dlmc.into() };
    let runs = (0..3).map(|_| {
        let outcome = Run::new(model, settings.clone()).go().unwrap();
        Summary::new("tables", &outcome).ns_per_site_step
    });
    runs.fold(f64::INFINITY, f64::min)
}

/// Nanoseconds per site, the least of twenty rounds of a hundred calls.
fn time(sites: usize, call: impl FnMut()) -> f64 {
    time_of(100, sites, call)
}

/// The same of rounds of so many calls.
fn time_of(calls: usize, sites: usize, mut call: impl FnMut()) -> f64 {
    let rounds = (0..20).map(|_| {
        let started = Instant::now();
        (0..calls).for_each(|_| call());
        started.elapsed().as_secs_f64() / calls as f64
    });
    rounds.fold(f64::INFINITY, f64::min) * 1e9 / sites as f64
}
