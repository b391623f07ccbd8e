//! Sweeps of spins on any graph, sixteen chains at once.

use super::differences::WholeCouplings;
use super::transposed::{Transposed, place};
use super::{CHAINS, Group, Lane, LaneUniforms, SHARPEST, TILE, Tally, order};
use crate::math::{Arithmetic, FusedLoop, exp, larger, smaller, vectorised_and_fused};
use crate::model::graph::Graph;
use crate::model::pairwise::aligned_field;

/// A graph of spins in the order in which a sweep visits them.
#[derive(Clone, Debug)]
pub(crate) struct IsingLanes {
    visits: Vec<Visit>,
    /// Neighbours of the visited sites, one after the other: those visited before first.
    neighbours: Vec<Neighbour>,
    /// What weights and fields are multiples of.
    unit: f32,
    fields: Vec<f32>,
    has_fields: bool,
    /// By which differences are found, if couplings are small whole multiples.
    whole: Option<WholeCouplings>,
}

/// The largest sum of a site's couplings in single precision, where its rounding stays below 1e-4.
const LARGEST_SUM: f32 = 1024.0;

/// One site of a sweep.
#[derive(Clone, Copy, Debug)]
struct Visit {
    place: u32,
    field: f32,
    /// How many neighbours are visited before and after it.
    before: u32,
    after: u32,
}

#[derive(Clone, Copy, Debug)]
struct Neighbour {
    place: u32,
    weight: f32,
}

impl IsingLanes {
    /// Visits the sites colour by colour. None if a sum of couplings would be too rough in single
    /// precision.
    pub(crate) fn new(graph: &Graph, fields: &[f32]) -> Option<Self> {
        let (unit, is_exact) = unit_of(graph);
        let largest = (0..fields.len()).map(|site| sum_at(graph, fields, site)).fold(0.0, f32::max);
        if !is_exact && largest > LARGEST_SUM {
            return None;
        }
        let (visits, neighbours) = (Vec::new(), Vec::new());
        let has_fields = fields.iter().any(|field| *field != 0.0);
        let whole = WholeCouplings::new(graph, fields, unit).filter(|_| is_exact);
        let mut lanes =
            Self { visits, neighbours, unit, fields: fields.to_vec(), has_fields, whole };
        let mut is_visited = vec![false; fields.len()];
        for site in order(graph.adjacency()) {
            lanes.visit(graph, site, &is_visited);
            is_visited[site] = true;
        }
        Some(lanes)
    }

    /// A way to differences, if there is one faster than on any graph.
    pub(crate) fn whole(&self) -> Option<&WholeCouplings> {
        self.whole.as_ref()
    }

    fn visit(&mut self, graph: &Graph, site: usize, is_visited: &[bool]) {
        let unit = self.unit;
        let split = |before: bool| {
            let some =
                graph.neighbours(site).filter(move |(other, _)| is_visited[*other] == before);
            some.map(|(other, weight)| Neighbour {
                place: place(other) as u32,
                weight: weight / unit,
            })
        };
        let start = self.neighbours.len();
        self.neighbours.extend(split(true));
        let middle = self.neighbours.len();
        self.neighbours.extend(split(false));
        self.visits.push(Visit {
            place: place(site) as u32,
            field: self.fields[site] / unit,
            before: (middle - start) as u32,
            after: (self.neighbours.len() - middle) as u32,
        });
    }

    /// Draws every spin of a group of chains from its conditional distribution.
    pub(crate) fn sweep(&self, group: Group<'_>, spins: &mut Transposed, constant: f64) {
        let Group { states, factors, rngs, done } = group;
        let sites = self.fields.len();
        spins.read(states, sites, |value| value.wrapping_mul(2).wrapping_sub(1));
        let twice = factors.map(|factor| 2.0 * self.unit * factor);
        let mut tally = Tally::ZERO;
        let mut uniforms = LaneUniforms::new(rngs);
        let mut neighbours = &self.neighbours[..];
        for visits in self.visits.chunks(TILE) {
            let (uniforms, spins) = (uniforms.draw(visits.len()), spins.values_mut());
            let tile = TileLoop { visits, neighbours, twice, uniforms, spins, tally: &mut tally };
            neighbours = vectorised_and_fused(tile);
        }
        uniforms.end();
        spins.write(states, sites, |spin| (spin >> 7) ^ 1);
        tally.log_prob = tally.log_prob.map(|pairs| pairs * f64::from(self.unit));
        if self.has_fields {
            for (sum, state) in tally.log_prob.iter_mut().zip(states.chunks_exact(sites)) {
                *sum += aligned_field(&self.fields, state);
            }
        }
        tally.write(constant, done);
    }
}

/// Σ|J| + |b| of a site.
fn sum_at(graph: &Graph, fields: &[f32], site: usize) -> f32 {
    graph.neighbours(site).map(|(_, weight)| weight.abs()).sum::<f32>() + fields[site].abs()
}

/// What all couplings are whole multiples of, if there is such a number and their sums are exact;
/// else one.
fn unit_of(graph: &Graph) -> (f32, bool) {
    const EXACT: f32 = 16_777_216.0;
    let sites = 0..graph.adjacency().sites();
    let weights =
        || sites.clone().flat_map(|site| graph.neighbours(site)).map(|(_, weight)| weight);
    let nonzero = weights().map(f32::abs).filter(|weight| *weight > 0.0);
    let least = nonzero.fold(f32::INFINITY, f32::min);
    let is_multiple = |weight: f32| {
        let times = f64::from(weight) / f64::from(least);
        times == times.round()
    };
    let sum = |site| graph.neighbours(site).map(|(_, weight)| (weight / least).abs()).sum::<f32>();
    if least.is_normal()
        && weights().all(is_multiple)
        && sites.clone().all(|site| sum(site) < EXACT)
    {
        (least, true)
    } else {
        (1.0, false)
    }
}

/// The loop over a tile of sites; returns the neighbours of the sites behind it.
struct TileLoop<'a, 't> {
    visits: &'a [Visit],
    neighbours: &'a [Neighbour],
    /// Twice what multiplies log π on the rung of each chain.
    twice: Lane<f32>,
    uniforms: &'t [Lane<f32>],
    spins: &'t mut [Lane<u8>],
    tally: &'t mut Tally,
}

impl<'a> FusedLoop for TileLoop<'a, '_> {
    type Output = &'a [Neighbour];

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> &'a [Neighbour] {
        let Self { visits, mut neighbours, twice, uniforms, spins, tally } = self;
        let (mut log_prob, mut changed) = (tally.log_prob, tally.changed);
        for (visit, uniforms) in visits.iter().zip(uniforms) {
            let (before, rest) = neighbours.split_at(visit.before as usize);
            let (after, rest) = rest.split_at(visit.after as usize);
            neighbours = rest;
            // Those visited before have their new spins: with them, every pair is met once.
            let settled = pull::<A>([0.0; CHAINS], before, spins);
            let field = pull::<A>(settled, after, spins);
            let mut own = spins[visit.place as usize];
            for lane in 0..CHAINS {
                let spin = own[lane] as i8;
                let logit = twice[lane] * (field[lane] + visit.field) * f32::from(spin);
                let odds_to_stay = exp::<A>(larger(smaller(logit, SHARPEST), -SHARPEST));
                // u < 1/(1 + odds), without the division.
                let flips = A::mul_add(uniforms[lane], odds_to_stay, uniforms[lane]) < 1.0;
                let spin = if flips { -spin } else { spin };
                own[lane] = spin as u8;
                changed[lane] += u32::from(flips);
                log_prob[lane] += f64::from(f32::from(spin) * settled[lane]);
            }
            spins[visit.place as usize] = own;
        }
        (tally.log_prob, tally.changed) = (log_prob, changed);
        neighbours
    }
}

/// Adds to a field what some neighbours pull with.
#[inline(always)]
fn pull<A: Arithmetic>(
    mut field: Lane<f32>,
    neighbours: &[Neighbour],
    spins: &[Lane<u8>],
) -> Lane<f32> {
    for neighbour in neighbours {
        let spins = &spins[neighbour.place as usize];
        for lane in 0..CHAINS {
            field[lane] = A::mul_add(neighbour.weight, f32::from(spins[lane] as i8), field[lane]);
        }
    }
    field
}
