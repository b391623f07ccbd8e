//! Sweeps of Potts values on any graph, sixteen chains at once.

use super::transposed::{Transposed, place};
use super::values::number_if;
use super::{CHAINS, Group, Lane, LaneUniforms, TILE, Tally, narrowed, order, values, widened};
use crate::math::{Arithmetic, FusedLoop, vectorised_and_fused};
use crate::model::graph::Graph;

/// A graph of values in the order in which a sweep visits its sites.
#[derive(Clone, Debug)]
pub(crate) struct PottsLanes {
    sites: usize,
    values: usize,
    visits: Vec<Visit>,
    /// Neighbours of the visited sites, one after the other: those visited before first.
    neighbours: Vec<Neighbour>,
    /// θ of every value of the visited sites.
    fields: Vec<f32>,
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    place: u32,
    /// How many neighbours are visited before and after it.
    before: u32,
    after: u32,
}

#[derive(Clone, Copy, Debug)]
struct Neighbour {
    place: u32,
    weight: f32,
}

impl PottsLanes {
    /// Visits the sites colour by colour; `field` has a plane of sites per value.
    pub(crate) fn new(graph: &Graph, field: &[f32], values: usize) -> Self {
        let sites = field.len() / values;
        let (visits, neighbours, fields) = (Vec::new(), Vec::new(), Vec::new());
        let mut lanes = Self { sites, values, visits, neighbours, fields };
        let mut is_visited = vec![false; sites];
        for site in order(graph.adjacency()) {
            let split = |before: bool| {
                let some = graph.neighbours(site).filter(|(other, _)| is_visited[*other] == before);
                let neighbour = |(other, weight)| Neighbour { place: place(other) as u32, weight };
                some.map(neighbour).collect::<Vec<_>>()
            };
            let (before, after) = (split(true), split(false));
            let lengths = (before.len() as u32, after.len() as u32);
            lanes.visits.push(Visit {
                place: place(site) as u32,
                before: lengths.0,
                after: lengths.1,
            });
            lanes.neighbours.extend(before.into_iter().chain(after));
            lanes.fields.extend((0..values).map(|value| field[value * sites + site]));
            is_visited[site] = true;
        }
        lanes
    }

    /// Draws every site of a group of chains from its conditional distribution.
    pub(crate) fn sweep(&self, group: Group<'_>, turned: &mut Transposed, constant: f64) {
        let Group { states, factors, rngs, done } = group;
        turned.read(states, self.sites, |value| value);
        let mut tally = Tally::ZERO;
        let mut uniforms = LaneUniforms::new(rngs);
        let mut logs = vec![[0.0; CHAINS]; self.values];
        let mut neighbours = &self.neighbours[..];
        let tiles = self.visits.chunks(TILE).zip(self.fields.chunks(TILE * self.values));
        for (visits, fields) in tiles {
            neighbours = vectorised_and_fused(TileLoop {
                visits,
                neighbours,
                fields,
                factors: &factors,
                uniforms: uniforms.draw(visits.len()),
                states: turned.values_mut(),
                logs: &mut logs,
                tally: &mut tally,
            });
        }
        uniforms.end();
        turned.write(states, self.sites, |value| value);
        tally.write(constant, done);
    }
}

/// The loop over a tile of sites; returns the neighbours of the sites behind it.
struct TileLoop<'a, 't> {
    visits: &'a [Visit],
    neighbours: &'a [Neighbour],
    fields: &'a [f32],
    factors: &'t Lane<f32>,
    uniforms: &'t [Lane<f32>],
    states: &'t mut [Lane<u8>],
    logs: &'t mut [Lane<f32>],
    tally: &'t mut Tally,
}

impl<'a> FusedLoop for TileLoop<'a, '_> {
    type Output = &'a [Neighbour];

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> &'a [Neighbour] {
        let Self { visits, mut neighbours, fields, factors, uniforms, states, logs, tally } = self;
        let fields = fields.chunks_exact(logs.len());
        let (mut log_prob, mut changed) = (tally.log_prob, tally.changed);
        for ((visit, uniforms), fields) in visits.iter().zip(uniforms).zip(fields) {
            let (around, rest) = neighbours.split_at((visit.before + visit.after) as usize);
            neighbours = rest;
            for (value, (log, field)) in logs.iter_mut().zip(fields).enumerate() {
                let mut sum = equal([*field; CHAINS], &[value as u32; CHAINS], around, states);
                for lane in 0..CHAINS {
                    sum[lane] *= factors[lane];
                }
                *log = sum;
            }
            let own = widened(&states[visit.place as usize]);
            let drawn = values::draw::<A>(logs, &own, uniforms);
            states[visit.place as usize] = narrowed(&drawn);
            let mut settled = [0.0; CHAINS];
            for (value, field) in fields.iter().enumerate() {
                for lane in 0..CHAINS {
                    settled[lane] += number_if(drawn[lane] == value as u32, *field);
                }
            }
            // Those visited before have their new values: with them, every pair is met once.
            let settled = equal(settled, &drawn, &around[..visit.before as usize], states);
            for lane in 0..CHAINS {
                changed[lane] += u32::from(own[lane] != drawn[lane]);
                log_prob[lane] += f64::from(settled[lane]);
            }
        }
        (tally.log_prob, tally.changed) = (log_prob, changed);
        neighbours
    }
}

/// Adds the weights of those neighbours that have a lane's value.
#[inline(always)]
fn equal(
    mut sum: Lane<f32>,
    value: &Lane<u32>,
    neighbours: &[Neighbour],
    states: &[Lane<u8>],
) -> Lane<f32> {
    for neighbour in neighbours {
        let other = &states[neighbour.place as usize];
        for lane in 0..CHAINS {
            sum[lane] += number_if(u32::from(other[lane]) == value[lane], neighbour.weight);
        }
    }
    sum
}
