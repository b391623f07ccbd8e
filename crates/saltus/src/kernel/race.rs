//! Draws distinct sites one after the other, each with probability proportional to its weight among
//! those that are left: a race of exponential clocks.
//!
//! If site n rings after an exponential time of rate wₙ, the order of ringing is the order of such
//! draws. So instead of drawing one site, taking it out and drawing the next, all clocks are set at
//! once in one vector loop, and only the few that ring early are looked at.

use crate::math::bits::{for_each_set, pack};
use crate::math::{ln, vectorised};
use crate::rng::{ChainRng, is_coarse, unit};

/// Scratch space of a race.
#[derive(Clone, Debug, Default)]
pub(super) struct Race {
    sites: Vec<u32>,
    uniforms: Vec<f32>,
    rates: Vec<f32>,
    times: Vec<f32>,
    ranking: Vec<u64>,
}

/// Sites whose clocks are set together.
const TILE: usize = 256;

impl Race {
    /// Draws `count` sites into `order`. Weights of drawn sites are set to zero and kept in
    /// `drawn`, so that the caller can put them back.
    ///
    /// Clocks are watched up to a time by which about enough should have rung. If too few have, the
    /// others are set anew: what has not rung yet does not remember how long it has been running. Where fewer
    /// sites have any weight, only these are drawn.
    pub(super) fn draw(
        &mut self,
        count: usize,
        weights: &mut [f32],
        rng: &mut ChainRng,
        order: &mut Vec<u32>,
        drawn: &mut Vec<f32>,
    ) {
        order.clear();
        drawn.clear();
        while order.len() < count {
            let missing = count - order.len();
            let needed = missing as f64;
            let total = vectorised(
                #[inline(always)]
                || sum(weights),
            );
            if total <= 0.0 {
                break;
            }
            let until = (1.1 * (needed + 3.0 * needed.sqrt() + 2.0) / total) as f32;
            vectorised(
                #[inline(always)]
                || self.ring(until, weights, rng),
            );
            self.ranking.sort_unstable();
            for entry in self.ranking.iter().take(missing) {
                let site = *entry as u32;
                order.push(site);
                drawn.push(std::mem::replace(&mut weights[site as usize], 0.0));
            }
        }
    }

    /// Ranks the sites that ring before a time, by when.
    #[inline(always)]
    fn ring(&mut self, until: f32, weights: &[f32], rng: &mut ChainRng) {
        let Self { sites, uniforms, rates, times, ranking } = self;
        sites.clear();
        uniforms.clear();
        rates.clear();
        for (number, weights) in weights.chunks(TILE).enumerate() {
            let length = weights.len();
            let words = &mut [0u32; TILE][..length];
            let units = &mut [0.0f32; TILE][..length];
            rng.fill(words);
            let mut coarse = 0u32;
            for site in 0..length {
                coarse += u32::from(is_coarse(words[site]));
                units[site] = unit(words[site]);
            }
            if coarse > 0 {
                rng.refine(words, units);
            }
            // 1 − e^−x ≤ x: none that rings in time is missed, and no exponential is needed.
            let mut early = [0u8; TILE];
            let early_now = &mut early[..length];
            for site in 0..length {
                early_now[site] = u8::from(units[site] < weights[site] * until);
            }
            for (part, early) in early.as_chunks::<64>().0.iter().enumerate() {
                for_each_set(pack(early), |place| {
                    let site = 64 * part + place;
                    sites.push((TILE * number + site) as u32);
                    uniforms.push(units[site]);
                    rates.push(weights[site]);
                });
            }
        }
        let count = sites.len();
        times.clear();
        times.resize(count, 0.0);
        let (uniforms, rates, times) = (&uniforms[..count], &rates[..count], &mut times[..count]);
        for at in 0..count {
            times[at] = minus_log_of_complement(uniforms[at]) / rates[at];
        }
        ranking.clear();
        for (site, time) in sites.iter().zip(times.iter()) {
            // Where weights are so small that this is infinite, every clock rings in time.
            if *time <= until {
                // Positive numbers are ordered as their bits are.
                ranking.push(u64::from(time.to_bits()) << 32 | u64::from(*site));
            }
        }
    }
}

/// −ln(1 − u) for 0 < u < 1, with the relative precision of u where that is small.
#[inline(always)]
fn minus_log_of_complement(u: f32) -> f32 {
    let complement = 1.0 - u;
    // What rounding the complement has done to u, it has done to the logarithm as well.
    let rounded = 1.0 - complement;
    let log = -ln(complement);
    if rounded > 0.0 { log * (u / rounded) } else { u }
}

/// Σ of weights, in eight running sums so that it vectorises.
#[inline(always)]
pub(super) fn sum(weights: &[f32]) -> f64 {
    let mut sums = [0.0f64; 8];
    let (weights, rest) = weights.as_chunks::<8>();
    for weights in weights {
        for lane in 0..8 {
            sums[lane] += f64::from(weights[lane]);
        }
    }
    sums.iter().sum::<f64>() + rest.iter().map(|weight| f64::from(*weight)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn a_race_ends_however_little_the_sites_weigh() {
        let mut rng = ChainRng::new(0, Stream::Chain(0));
        let (mut order, mut drawn) = (Vec::new(), Vec::new());
        // So small that the inverse of their sum is beyond single precision.
        let mut weights = [1e-44f32, 0.0, 3e-45, 1e-40];
        Race::default().draw(3, &mut weights, &mut rng, &mut order, &mut drawn);
        order.sort_unstable();
        assert_eq!(order, [0, 2, 3]);
        assert_eq!(weights, [0.0; 4]);
        // Nothing is left.
        Race::default().draw(2, &mut weights, &mut rng, &mut order, &mut drawn);
        assert!(order.is_empty(), "{order:?}");
    }
}
