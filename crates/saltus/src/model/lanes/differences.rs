//! Differences of spins on any graph, sixteen chains at once: what a site's neighbours pull it with stands in registers, a
//! chain in each lane.

use super::transposed::{BLOCK, Transposed, by_chain, place};
use super::{CHAINS, Lane};
use crate::math::vectorised;
use crate::model::graph::Graph;

/// Sites whose differences are kept until they are written chain by chain.
const TILE: usize = 16;
/// Fewer chains are evaluated one by one, to the same bits.
pub(crate) const LEAST: usize = 4;

/// Fills in log π and the differences of at most sixteen chains. Sums are in double precision, and added up in the order of the
/// neighbours and sites, as for one chain.
pub(crate) fn of_group(
    (graph, fields): (&Graph, &[f32]),
    states: &[u8],
    turned: &mut Transposed,
    log_prob: &mut [f64],
    diff: &mut [f32],
) {
    let sites = fields.len();
    turned.read(states, sites, |value| value.wrapping_mul(2).wrapping_sub(1));
    let spins = &*turned.values_mut();
    let mut sums = [0.0; CHAINS];
    for (number, fields) in fields.chunks(TILE).enumerate() {
        let first = number * TILE;
        let mut tile = [[0.0; CHAINS]; TILE];
        vectorised(
            #[inline(always)]
            || {
                for (at, (out, field)) in tile.iter_mut().zip(fields).enumerate() {
                    let pull = pull(graph, spins, first + at);
                    let (own, field) = (&spins[place(first + at)], f64::from(*field));
                    for lane in 0..CHAINS {
                        let spin = f64::from(own[lane] as i8);
                        out[lane] = (-2.0 * spin * (pull[lane] + field)) as f32;
                        sums[lane] += spin * (0.5 * pull[lane] + field);
                    }
                }
            },
        );
        for (chain, diff) in diff.chunks_exact_mut(sites).enumerate() {
            let out = &mut diff[first..first + fields.len()];
            for (out, lanes) in out.iter_mut().zip(&tile) {
                *out = lanes[chain];
            }
        }
    }
    log_prob.copy_from_slice(&sums[..log_prob.len()]);
}

/// Σⱼ Jᵢⱼ sⱼ of every chain.
#[inline(always)]
fn pull(graph: &Graph, spins: &[Lane<u8>], site: usize) -> Lane<f64> {
    let mut pull = [0.0; CHAINS];
    for (other, weight) in graph.neighbours(site) {
        let (spins, weight) = (&spins[place(other)], f64::from(weight));
        for lane in 0..CHAINS {
            pull[lane] += weight * f64::from(spins[lane] as i8);
        }
    }
    pull
}

/// Spins without fields whose couplings are small whole multiples of a unit: what a site's neighbours pull it with fits
/// into a byte, so that sixteen chains are turned round in bytes, and their differences, exact like all sums, are the
/// ones that [`of_group`] finds.
#[derive(Clone, Debug)]
pub(crate) struct WholeCouplings {
    unit: f32,
    /// Whether all couplings are one unit.
    alike: bool,
    /// Where the neighbours of each site end.
    ends: Vec<u32>,
    places: Vec<u32>,
    times: Vec<i8>,
}

/// Sums of so many sites are exact in double precision, whatever the unit.
const MOST_SITES: usize = 1 << 21;

impl WholeCouplings {
    /// None if couplings are no such multiples of the unit, or too many or large to be added up in bytes.
    pub(crate) fn new(graph: &Graph, fields: &[f32], unit: f32) -> Option<Self> {
        let sites = fields.len();
        if sites > MOST_SITES || fields.iter().any(|field| *field != 0.0) {
            return None;
        }
        let (mut ends, mut places, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for site in 0..sites {
            let mut sum = 0.0;
            for (other, weight) in graph.neighbours(site) {
                let multiple = f64::from(weight) / f64::from(unit);
                sum += multiple.abs();
                if multiple != multiple.round() || sum > 127.0 {
                    return None;
                }
                places.push(place(other) as u32);
                times.push(multiple as i8);
            }
            ends.push(places.len() as u32);
        }
        let alike = times.iter().all(|times| *times == 1);
        Some(Self { unit, alike, ends, places, times })
    }

    /// Fills in log π and the differences of at most sixteen chains.
    pub(crate) fn of_group(
        &self,
        states: &[u8],
        turned: &mut Transposed,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) {
        let sites = self.ends.len();
        turned.read(states, sites, |value| value.wrapping_mul(2).wrapping_sub(1));
        let spins = &*turned.values_mut();
        let mut aligned = [0i32; CHAINS];
        vectorised(
            #[inline(always)]
            || match self.alike {
                true => self.fill::<true>(spins, &mut aligned[..log_prob.len()], diff),
                false => self.fill::<false>(spins, &mut aligned[..log_prob.len()], diff),
            },
        );
        for (log_prob, aligned) in log_prob.iter_mut().zip(aligned) {
            // Every pair was met from both ends.
            *log_prob = 0.5 * f64::from(self.unit) * f64::from(aligned);
        }
    }

    #[inline(always)]
    fn fill<const ALIKE: bool>(&self, spins: &[Lane<u8>], sums: &mut [i32], diff: &mut [f32]) {
        let sites = self.ends.len();
        let to_flip = -2.0 * self.unit;
        let mut start = 0;
        for (number, ends) in self.ends.chunks(BLOCK).enumerate() {
            let first = number * BLOCK;
            let mut aligned = [[0; CHAINS]; BLOCK];
            for (at, end) in ends.iter().enumerate() {
                let neighbours = start..*end as usize;
                start = neighbours.end;
                let places = &self.places[neighbours.clone()];
                let pull = match ALIKE {
                    true => sum_of(spins, places),
                    false => weighted_sum_of(spins, places, &self.times[neighbours]),
                };
                let (own, out) = (&spins[place(first + at)], &mut aligned[place(at)]);
                for lane in 0..CHAINS {
                    // The pull, or its opposite where the spin is down.
                    let down = ((own[lane] as i8) >> 7) as u8;
                    out[lane] = (pull[lane] ^ down).wrapping_sub(down);
                }
            }
            let rows = by_chain(&aligned);
            for ((row, sum), diff) in rows.iter().zip(&mut *sums).zip(diff.chunks_exact_mut(sites))
            {
                for (diff, aligned) in diff[first..][..ends.len()].iter_mut().zip(row) {
                    *diff = to_flip * f32::from(*aligned as i8);
                }
                *sum += row.iter().map(|aligned| i32::from(*aligned as i8)).sum::<i32>();
            }
        }
    }
}

/// What spins of these places add up to, as signed bytes.
#[inline(always)]
fn sum_of(spins: &[Lane<u8>], places: &[u32]) -> Lane<u8> {
    let mut sum = [0u8; CHAINS];
    for place in places {
        let spins = &spins[*place as usize];
        for lane in 0..CHAINS {
            sum[lane] = sum[lane].wrapping_add(spins[lane]);
        }
    }
    sum
}

/// The same, each taken so many times.
#[inline(always)]
fn weighted_sum_of(spins: &[Lane<u8>], places: &[u32], times: &[i8]) -> Lane<u8> {
    let mut sum = [0i16; CHAINS];
    for (place, times) in places.iter().zip(times) {
        let spins = &spins[*place as usize];
        for lane in 0..CHAINS {
            sum[lane] += i16::from(*times) * i16::from(spins[lane] as i8);
        }
    }
    sum.map(|sum| sum as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::graph::Edge;
    use crate::rng::{ChainRng, Stream};

    #[test]
    fn whole_couplings_give_the_same_to_the_last_bit() {
        let mut rng = ChainRng::new(4, Stream::Model);
        for (sites, alike) in [(70, true), (150, false), (64, false)] {
            let mut edge = |number: u32| {
                let from = number % sites;
                let to = (from + 1 + rng.below(sites as usize - 1) as u32) % sites;
                let times = if alike { 1.0 } else { rng.below(9) as f32 - 4.0 };
                Edge { from, to, weight: 0.375 * times }
            };
            let edges: Vec<Edge> = (0..2 * sites).map(&mut edge).collect();
            let graph = Graph::new(sites as usize, &edges).unwrap();
            let fields = vec![0.0; sites as usize];
            let whole = WholeCouplings::new(&graph, &fields, 0.375).unwrap();
            assert_eq!(whole.alike, alike);
            for chains in [16, 5] {
                let length = chains * sites as usize;
                let states: Vec<u8> = (0..length).map(|_| rng.below(2) as u8).collect();
                let mut turned = Transposed::default();
                let answers = || (vec![0.0; chains], vec![0.0; length]);
                let (mut expected, mut found) = (answers(), answers());
                let (log_prob, diff) = (&mut expected.0, &mut expected.1);
                of_group((&graph, &fields), &states, &mut turned, log_prob, diff);
                whole.of_group(&states, &mut turned, &mut found.0, &mut found.1);
                assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn what_does_not_fit_into_bytes_is_left_to_others() {
        let edge = |weight: f32| Edge { from: 0, to: 1, weight };
        let suits = |weights: &[f32], field: f32| {
            let edges: Vec<Edge> = weights.iter().map(|weight| edge(*weight)).collect();
            let graph = Graph::new(2, &edges).unwrap();
            WholeCouplings::new(&graph, &[0.0, field], 0.5).is_some()
        };
        assert!(suits(&[0.5, -63.0], 0.0));
        assert!(!suits(&[0.5, -63.5], 0.0) && !suits(&[0.7], 0.0) && !suits(&[0.5], 0.1));
    }
}
