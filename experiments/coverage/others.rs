//! Targets that nobody looked at while thresholds were chosen: what the verdict is worth beyond the first list.

use crate::targets::{Target, lattice, normal};
use saltus::model::callable::Callable;
use saltus::model::clamped::Clamped;
use saltus::model::factor::Factor;
use saltus::model::factors::Factors;
use saltus::rng::{ChainRng, Stream};
use saltus::{Edge, Independent, Lattice, Model, Pairwise, Rbm, Sampler, Space};

/// Random numbers that belong to a model.
pub fn numbers(seed: u64, count: usize, sd: f32) -> Vec<f32> {
    let mut rng = ChainRng::new(seed, Stream::Model);
    (0..count).map(|_| sd * normal(&mut rng)).collect()
}

/// log π as a function of one state.
pub fn function(
    sites: usize,
    values: usize,
    log_prob_of: impl Fn(&[u8]) -> f64 + Send + Sync + 'static,
) -> Callable {
    let space = Space::new(sites, values).expect("a space");
    Callable::new(space, move |states, log_prob| {
        for (state, log_prob) in states.rows().zip(log_prob) {
            *log_prob = log_prob_of(state);
        }
        Ok(())
    })
}

/// Sites of one to five values in a ring of random tables.
fn mixed(sd: f32) -> Factors {
    mixed_of(40, sd)
}

/// The same by other numbers.
pub fn mixed_of(seed: u64, sd: f32) -> Factors {
    let values = [2, 5, 3, 1, 4, 2, 3];
    let factors: Vec<Factor> = (0..values.len())
        .map(|site| {
            let other = (site + 1) % values.len();
            let table = numbers(seed + site as u64, values[site] * values[other], sd);
            let table: Vec<f64> = table.into_iter().map(f64::from).collect();
            Factor::new([site as u32, other as u32], table).expect("a table")
        })
        .collect();
    Factors::new(Space::mixed(&values).expect("a space"), &factors).expect("tables")
}

/// Spins on the 4×4 torus with couplings of either sign by a rule for the two ends of a bond.
pub fn bonds(coupling: impl Fn(u32, u32) -> f32, fields: Vec<f32>) -> Pairwise {
    let at = |row: u32, column: u32| 4 * (row % 4) + column % 4;
    let edges: Vec<Edge> = (0..16)
        .flat_map(|site| {
            let (row, column) = (site / 4, site % 4);
            [at(row + 1, column), at(row, column + 1)].map(|to| (site, to))
        })
        .map(|(from, to)| Edge { from, to, weight: coupling(from, to) })
        .collect();
    Pairwise::ising(&edges, fields).expect("spins")
}

fn potts(values: usize, coupling: f32, favoured: f32) -> Pairwise {
    let lattice = Lattice::periodic(3, 3).expect("a lattice");
    // Value by value, the first one favoured.
    let fields: Vec<f32> =
        (0..9 * values).map(|entry| if entry < 9 { favoured } else { 0.0 }).collect();
    Pairwise::potts_lattice(lattice, values, coupling, &fields).expect("a Potts model")
}

fn rbm(seed: u64, visible: usize, hidden: usize, sd: f32) -> Rbm {
    let (weights, biases) = (numbers(seed, visible * hidden, sd), numbers(seed + 1, visible, sd));
    Rbm::new(2, &weights, &vec![0.0; hidden], &biases, None).expect("an RBM")
}

/// Sum of the values.
pub fn total(state: &[u8]) -> f64 {
    state.iter().map(|value| f64::from(*value)).sum()
}

/// Ten easy targets and twelve hard ones.
pub fn others() -> Vec<Target> {
    fn easy(name: &'static str, model: impl Model + 'static, sampler: Sampler) -> Target {
        Target::new(name, false, model, sampler)
    }
    fn hard(name: &'static str, model: impl Model + 'static, sampler: Sampler) -> Target {
        Target::new(name, true, model, sampler)
    }
    let staggered = |strength: f32| -> Vec<f32> {
        (0..16)
            .map(|site| if (site / 4 + site % 4) % 2 == 0 { strength } else { -strength })
            .collect()
    };
    let steep = (0..14).map(|site| if site % 3 == 0 { 3.5 } else { -3.0 }).collect();
    let steep = Independent::bernoulli(steep).expect("bits");
    let fields = numbers(7, 16, 0.5);
    let glass = bonds(|_, _| 0.25, fields.clone());
    let clamped = Clamped::new(lattice(0.3, |_| 0.1), &[(0, 1), (5, 0), (10, 1)]).expect("spins");
    // Two halves of the torus that hardly see each other.
    let halves = bonds(|from, to| if from / 8 == to / 8 { 0.9 } else { 0.03 }, vec![0.0; 16]);
    let twins = function(12, 2, |state| {
        6.0 * state.chunks(2).filter(|pair| pair[0] == pair[1]).count() as f64
            + 0.8 * f64::from(state[0])
            - 0.5 * f64::from(state[3])
    });
    let two_wells = function(4, 9, |state| {
        let mean = total(state) / 4.0;
        -1.5 * (mean - 1.5).powi(2).min((mean - 6.5).powi(2) - 0.4)
            - 0.3 * state.iter().map(|value| (f64::from(*value) - mean).powi(2)).sum::<f64>()
    });
    // A wide valley of many states, and a steep one of few that weighs as much.
    let wide_and_steep = function(14, 2, |state| {
        let ones = total(state);
        if ones <= 7.0 { 0.0 } else { 1.9 * (ones - 8.0) - 2.5 }
    });
    let all_or_none = function(12, 2, |state| {
        let group = total(&state[..6]);
        let together = if group == 6.0 { 5.0 } else { -0.6 * group };
        together + 0.3 * total(&state[6..])
    });
    let even = function(10, 2, |state| if total(state) % 2.0 == 0.0 { 4.0 } else { 0.0 });
    vec![
        easy("steep bits, gibbs", steep, Sampler::gibbs()),
        easy("ring of tables, gibbs", mixed(0.5), Sampler::gibbs()),
        easy("ring of tables, dlmc", mixed(0.5), Sampler::dlmc()),
        easy("warm antiferromagnet, dlmc", lattice(-0.2, |_| 0.1), Sampler::dlmc()),
        easy("spins in random fields, dmala", glass, Sampler::dmala()),
        easy("some spins known, pas", clamped, Sampler::pas()),
        easy("soft RBM, layers", rbm(20, 12, 4, 0.5), Sampler::layers()),
        easy("soft RBM, dlmcf", rbm(22, 12, 4, 0.5), Sampler::dlmcf()),
        easy("warm Potts model, hb", potts(4, 0.3, 0.2), Sampler::hb()).thinned(4),
        easy("warm Potts model, bg", potts(4, 0.3, 0.2), Sampler::bg()).thinned(4),
        hard("cold antiferromagnet, dlmc", lattice(-0.8, |_| 0.0), Sampler::dlmc()),
        hard(
            "antiferromagnet in a staggered field, gibbs",
            bonds(|_, _| -0.8, staggered(0.05)),
            Sampler::gibbs(),
        ),
        hard("cold Potts model, dmala", potts(3, 1.6, 0.0), Sampler::dmala()),
        hard("cold Potts model with a favourite, gwg", potts(3, 1.6, 0.1), Sampler::gwg()),
        hard("two halves, gibbs", halves, Sampler::gibbs()),
        hard("twins, gibbs", twins, Sampler::gibbs()),
        hard("steep RBM, dlmcf", rbm(30, 12, 4, 2.5), Sampler::dlmcf()),
        hard("steep RBM, rwm", rbm(32, 12, 4, 2.5), Sampler::rwm()),
        hard("two wells of levels, gibbs", two_wells, Sampler::gibbs()),
        hard("a wide valley and a steep one, gibbs", wide_and_steep, Sampler::gibbs()),
        hard("six together or none, dlmc", all_or_none, Sampler::dlmc()),
        hard("even sums, gibbs", even, Sampler::gibbs()),
    ]
}
