//! Families of targets at several strengths, each with one of many samplers: more kinds than anybody would choose thresholds by.

use crate::others::{bonds, function, mixed_of, numbers, total};
use crate::targets::{Target, lattice};
use saltus::model::clamped::Clamped;
use saltus::model::erased::Erased;
use saltus::model::factor::Factor;
use saltus::model::factors::Factors;
use saltus::model::fixed_sum::{FixedSum, FixedSums};
use saltus::model::one_hot::OneHot;
use saltus::{Edge, Independent, Lattice, Method, Pairwise, Rbm, Sampler, Settings, Space};

/// A kind of model.
struct Family {
    name: &'static str,
    hard: bool,
    /// One of them, by a seed and a strength around one.
    model: fn(u64, f64) -> Erased,
}

/// Strengths.
const STRENGTHS: [f64; 4] = [0.5, 0.8, 1.1, 1.5];

/// Every family at every strength, with samplers in turn, and every third with the one that is chosen.
pub fn families() -> Vec<Target> {
    let mut methods = Method::ALL.iter().cycle();
    let mut targets = Vec::new();
    for (number, strength) in STRENGTHS.into_iter().enumerate() {
        for (place, family) in FAMILIES.iter().enumerate() {
            let seed = 1000 + 100 * number as u64 + place as u64;
            let model = (family.model)(seed, strength);
            let suits =
                |method: &&Method| Settings::from(Sampler::new(**method)).suits(&model).is_ok();
            let method = methods.by_ref().take(Method::ALL.len()).find(suits);
            let method = method.copied().unwrap_or_default();
            let chosen = (number + place) % 3 == 0;
            let by = if chosen { "chosen".to_owned() } else { method.to_string() };
            let name = format!("{} {strength}, {by}", family.name);
            let target = Target::new(name, family.hard, model, Sampler::new(method));
            targets.push(target.by_default(chosen));
        }
    }
    targets
}

const fn hard(name: &'static str, model: fn(u64, f64) -> Erased) -> Family {
    Family { name, hard: true, model }
}

const fn easy(name: &'static str, model: fn(u64, f64) -> Erased) -> Family {
    Family { name, hard: false, model }
}

const FAMILIES: &[Family] = &[
    hard("two patterns", |seed, s| patterns(seed, 12, 3.0 * s, &[0.0, -0.7])),
    hard("three patterns", |seed, s| patterns(seed, 14, 2.5 * s, &[0.0, -1.0, 0.5])),
    hard("a hole in a green", |_, s| hole(12, 0.3 * s)),
    hard("traps", |_, s| traps(12, 4, 1.5 * s)),
    hard("colourings", |_, s| colourings(7, s)),
    hard("assignment by penalties", |seed, s| assignment(seed, 4.0 * s)),
    hard("one of each group", |seed, s| groups(seed, 2.0 * s)),
    hard("machine with modes", |seed, s| machine(seed, 12, 5, 2.0 * s)),
    hard("Potts model in a field", |seed, s| potts(seed, 1.5 * s)),
    hard("ferromagnet in a field", |_, s| Erased::new(lattice(0.8 * s as f32, |_| 0.02))),
    hard("ferromagnet with a frame", |_, s| framed(0.8 * s as f32)),
    hard("glass", |seed, s| glass(seed, 14, 1.2 * s)),
    hard("parities", |_, s| parities(12, 3.0 * s)),
    hard("levels in two wells", |_, s| wells(s)),
    hard("ring of strong bonds", |_, s| ring(14, 2.0 * s as f32)),
    hard("all alike", |_, s| alike(14, 2.2 * s, 0.1)),
    hard("a steep corner", |_, s| corner(13, 1.6 * s)),
    hard("frustrated in fields", |seed, s| frustrated(seed, s as f32)),
    hard("a fixed number of ones", |seed, s| fixed(seed, 1.5 * s)),
    hard("implications", |seed, s| implications(seed, 12, 4.0 * s)),
    easy("soft tables", |seed, s| tables(seed, 0.4 * s)),
    easy("warm magnet", |_, s| Erased::new(lattice(0.2 * s as f32, |_| 0.1))),
    easy("soft machine", |seed, s| machine(seed, 12, 4, 0.3 * s)),
    easy("warm Potts model", |seed, s| potts(seed, 0.3 * s)),
    easy("warm glass", |seed, s| glass(seed, 14, 0.2 * s)),
    easy("warm magnet, some of it fixed", |_, s| framed(0.15 * s as f32)),
    easy("few ones in soft tables", |seed, s| fixed(seed, 0.3 * s)),
    easy("bits", alike_bits),
];

/// log Σ e^x.
fn log_sum(logs: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = logs.clone().fold(f64::NEG_INFINITY, f64::max);
    largest + logs.map(|log| (log - largest).exp()).sum::<f64>().ln()
}

/// A mixture of independent bits around random patterns.
fn patterns(seed: u64, sites: usize, strength: f64, weights: &'static [f64]) -> Erased {
    let signs = numbers(seed, sites * weights.len(), 1.0);
    Erased::new(function(sites, 2, move |state| {
        let of_one = |(pattern, weight): (&[f32], &f64)| {
            let matches =
                state.iter().zip(pattern).filter(|(x, sign)| (**x == 1) == (**sign > 0.0));
            weight + strength * matches.count() as f64
        };
        log_sum(signs.chunks(sites).zip(weights).map(of_one))
    }))
}

/// Flat towards the middle, and one state away from it that has a share of all mass.
fn hole(sites: usize, share: f64) -> Erased {
    let bonus = (share * (1u64 << sites) as f64).ln();
    Erased::new(function(sites, 2, move |state| {
        let there = state.iter().enumerate().all(|(site, x)| usize::from(*x) == site % 2);
        if there { bonus } else { 0.0 }
    }))
}

/// Groups of sites that lead away from where they are best (Deb and Goldberg 1993).
fn traps(sites: usize, size: usize, strength: f64) -> Erased {
    Erased::new(function(sites, 2, move |state| {
        let of_group = |group: &[u8]| {
            let ones = total(group);
            let size = size as f64;
            if ones == size { size } else { (size - 1.0 - ones) * 0.9 }
        };
        strength * state.chunks(size).map(of_group).sum::<f64>()
    }))
}

/// Proper colourings of a ring in three colours, the first colour favoured on one half of it.
fn colourings(sites: usize, strength: f64) -> Erased {
    let differ: Vec<f64> =
        (0..9).map(|at| if at / 3 == at % 3 { f64::NEG_INFINITY } else { 0.0 }).collect();
    let bonds = (0..sites).map(|site| {
        let scope = [site as u32, ((site + 1) % sites) as u32];
        Factor::new(scope, differ.clone()).expect("a table")
    });
    let fields = (0..sites / 2)
        .map(|site| Factor::new([site as u32], [2.0 * strength, 0.0, 0.0]).expect("a table"));
    let factors: Vec<Factor> = bonds.chain(fields).collect();
    Erased::new(Factors::new(Space::new(sites, 3).expect("a space"), &factors).expect("tables"))
}

/// Four to four by sixteen bits, with a penalty for every row and column that has not one.
fn assignment(seed: u64, penalty: f64) -> Erased {
    let gains = numbers(seed, 16, 1.0);
    Erased::new(function(16, 2, move |state| {
        let count =
            |sites: [usize; 4]| sites.iter().map(|site| f64::from(state[*site])).sum::<f64>();
        let off = |n: usize| {
            (count([4 * n, 4 * n + 1, 4 * n + 2, 4 * n + 3]) - 1.0).powi(2)
                + (count([n, n + 4, n + 8, n + 12]) - 1.0).powi(2)
        };
        let gain: f64 =
            state.iter().zip(&gains).map(|(x, gain)| f64::from(*x) * f64::from(*gain)).sum();
        gain - penalty * (0..4).map(off).sum::<f64>()
    }))
}

/// Five groups of three bits, one of each, that see each other.
fn groups(seed: u64, strength: f64) -> Erased {
    let groups: Vec<Vec<u32>> = (0..5).map(|group| (3 * group..3 * group + 3).collect()).collect();
    Erased::new(OneHot::new(all_pairs(seed, 15, strength), &groups).expect("groups"))
}

fn all_pairs(seed: u64, sites: u32, sd: f64) -> Pairwise {
    let pairs = (0..sites).flat_map(|from| (from + 1..sites).map(move |to| (from, to)));
    let weights = numbers(seed, (sites * sites) as usize, (sd / f64::from(sites).sqrt()) as f32);
    let edges: Vec<Edge> =
        pairs.zip(weights).map(|((from, to), weight)| Edge { from, to, weight }).collect();
    Pairwise::ising(&edges, numbers(seed + 50, sites as usize, 0.1)).expect("spins")
}

fn glass(seed: u64, sites: u32, sd: f64) -> Erased {
    Erased::new(all_pairs(seed, sites, sd))
}

fn machine(seed: u64, visible: usize, hidden: usize, sd: f64) -> Erased {
    let weights = numbers(seed, visible * hidden, sd as f32);
    // Hidden units are in the middle where visible ones are.
    let of_hidden =
        |unit: usize| -0.5 * weights[unit * visible..(unit + 1) * visible].iter().sum::<f32>();
    let biases: Vec<f32> = (0..hidden).map(of_hidden).collect();
    let own = numbers(seed + 1, visible, 0.3 * sd as f32);
    Erased::new(Rbm::new(2, &weights, &biases, &own, None).expect("a machine"))
}

fn potts(seed: u64, coupling: f64) -> Erased {
    let lattice = Lattice::periodic(3, 3).expect("a lattice");
    let fields = numbers(seed, 27, 0.2);
    Erased::new(
        Pairwise::potts_lattice(lattice, 3, coupling as f32, &fields).expect("a Potts model"),
    )
}

/// A side that is up and one that is down.
fn framed(coupling: f32) -> Erased {
    let fixed = [(0, 1), (1, 1), (2, 1), (8, 0), (9, 0)];
    Erased::new(
        Clamped::new(lattice(coupling, |site| 0.02 * (site % 3) as f32), &fixed).expect("spins"),
    )
}

/// Neighbours in threes that like even sums.
fn parities(sites: usize, strength: f64) -> Erased {
    Erased::new(function(sites, 2, move |state| {
        let even = |site: &usize| {
            (state[*site] + state[(site + 1) % sites] + state[(site + 5) % sites]) % 2 == 0
        };
        strength * (0..sites).filter(even).count() as f64 / 2.0 + 0.3 * total(&state[..3])
    }))
}

fn wells(strength: f64) -> Erased {
    Erased::new(function(4, 11, move |state| {
        let mean = total(state) / 4.0;
        let spread: f64 = state.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum();
        let left = -1.2 * strength * (mean - 2.0).powi(2);
        let right = -2.0 * strength * (mean - 8.0).powi(2) + 0.4;
        left.max(right) - 0.4 * strength * spread
    }))
}

fn ring(sites: u32, coupling: f32) -> Erased {
    let edges: Vec<Edge> =
        (0..sites).map(|from| Edge { from, to: (from + 1) % sites, weight: coupling }).collect();
    let fields = (0..sites).map(|site| if site < sites / 2 { 0.05 } else { -0.02 }).collect();
    Erased::new(Pairwise::ising(&edges, fields).expect("spins"))
}

/// Spins that all see the sum of all.
fn alike(sites: usize, coupling: f64, field: f64) -> Erased {
    Erased::new(function(sites, 2, move |state| {
        let spins = 2.0 * total(state) - sites as f64;
        coupling * spins * spins / (2.0 * sites as f64) + field * spins
    }))
}

/// A wide valley, and a corner of few states that is as deep.
fn corner(sites: usize, slope: f64) -> Erased {
    let middle = 0.6 * sites as f64;
    let bonus = 0.7 * sites as f64 * 2f64.ln() - slope * 0.4 * sites as f64;
    Erased::new(function(sites, 2, move |state| {
        let ones = total(state);
        if ones <= middle { 0.0 } else { slope * (ones - middle) + bonus.max(-4.0) }
    }))
}

fn frustrated(seed: u64, strength: f32) -> Erased {
    let fields = numbers(seed, 16, 0.15);
    let sign =
        |from: u32, to: u32| if (from + to).is_multiple_of(3) { -strength } else { strength };
    Erased::new(bonds(sign, fields))
}

fn fixed(seed: u64, strength: f64) -> Erased {
    let pairs = all_pairs(seed, 12, 2.0 * strength);
    let half = FixedSum { total: 5, sites: (0..12).collect() };
    Erased::new(FixedSums::new(pairs, &[half]).expect("a sum"))
}

/// If one then not another, most of the time.
fn implications(seed: u64, sites: u32, penalty: f64) -> Erased {
    let ends = numbers(seed, 3 * sites as usize, 3.0);
    let clauses: Vec<Factor> = ends
        .chunks(2)
        .enumerate()
        .filter_map(|(number, pair)| {
            let from = number as u32 % sites;
            let to = (from + 1 + (pair[0].abs() * 7.0) as u32 % (sites - 1)) % sites;
            let bad = (pair[1].abs() * 10.0) as usize % 4;
            let table: Vec<f64> = (0..4).map(|at| if at == bad { -penalty } else { 0.0 }).collect();
            Factor::new([from, to], table).ok()
        })
        .collect();
    Erased::new(
        Factors::new(Space::new(sites as usize, 2).expect("a space"), &clauses).expect("tables"),
    )
}

fn tables(seed: u64, sd: f64) -> Erased {
    Erased::new(mixed_of(seed, sd as f32))
}

fn alike_bits(seed: u64, sd: f64) -> Erased {
    Erased::new(Independent::bernoulli(numbers(seed, 14, sd as f32)).expect("bits"))
}
