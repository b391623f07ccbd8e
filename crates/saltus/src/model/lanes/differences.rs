//! Differences of spins on any graph, sixteen chains at once: what a site's neighbours pull it with stands in registers, a
//! chain in each lane.

use super::transposed::{Transposed, place};
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
