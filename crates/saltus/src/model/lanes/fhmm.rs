//! Sweeps of factorial hidden Markov models, sixteen chains at once: the residual of a time step stays in a register
//! while its factors are drawn in turn.

use super::transposed::{Transposed, place};
use super::values::number_if;
use super::{CHAINS, Group, Lane, LaneUniforms, SHARPEST, TILE, narrowed, values, widened};
use crate::math::{Arithmetic, FusedLoop, exp, larger, smaller, vectorised_and_fused};

/// What a sweep must know of the model, in single precision.
#[derive(Clone, Debug)]
pub(crate) struct FhmmLanes {
    factors: usize,
    values: usize,
    /// What every value of a factor adds to the mean, over σ: factor after factor.
    weights: Vec<f32>,
    /// Observations without the bias, over σ.
    observations: Vec<f32>,
    /// log P(stay) − log P(move to one given value), and the same of starting at 0.
    stay: f32,
    start: f32,
}

/// The largest square of a residual, in units of σ², whose rounding in single precision stays below 1e-4.
const LARGEST_SQUARE: f32 = 1024.0;

impl FhmmLanes {
    /// Weights of every value and observations, over σ; none if they are too large for single precision.
    pub(crate) fn new(
        (factors, values): (usize, usize),
        weights: Vec<f32>,
        observations: Vec<f32>,
        (stay, start): (f64, f64),
    ) -> Option<Self> {
        let largest = |numbers: &[f32]| numbers.iter().copied().map(f32::abs).fold(0.0, f32::max);
        let sum: f32 = weights.chunks_exact(values).map(largest).sum();
        let residual = sum + largest(&observations);
        let is_smooth = residual * largest(&weights).max(1.0) <= LARGEST_SQUARE;
        let (stay, start) = (stay as f32, start as f32);
        is_smooth.then_some(Self { factors, values, weights, observations, stay, start })
    }

    /// Draws every site of a group of chains from its conditional distribution; returns how many sites of each
    /// changed.
    pub(crate) fn sweep(&self, group: &mut Group<'_>, turned: &mut Transposed) -> Lane<u32> {
        let sites = self.factors * self.observations.len();
        turned.read(group.states, sites, |value| value);
        let mut changed = [0; CHAINS];
        let mut uniforms = LaneUniforms::new(group.rngs);
        let mut logs = vec![[0.0; CHAINS]; self.values];
        let mut residual = [0.0; CHAINS];
        for first in (0..sites).step_by(TILE) {
            let tile = first..(first + TILE).min(sites);
            vectorised_and_fused(TileLoop {
                model: self,
                uniforms: uniforms.draw(tile.len()),
                tile,
                factors: &group.factors,
                states: turned.values_mut(),
                residual: &mut residual,
                logs: &mut logs,
                changed: &mut changed,
            });
        }
        uniforms.end();
        turned.write(group.states, sites, |value| value);
        changed
    }

    /// The residuals of a time step.
    #[inline(always)]
    fn residual(&self, time: usize, states: &[Lane<u8>]) -> Lane<f32> {
        let mut residual = [self.observations[time]; CHAINS];
        for factor in 0..self.factors {
            let own = widened(&states[place(time * self.factors + factor)]);
            let weight = self.weight_of(factor, &own);
            for lane in 0..CHAINS {
                residual[lane] -= weight[lane];
            }
        }
        residual
    }

    /// What the values of a factor add to the mean.
    #[inline(always)]
    fn weight_of(&self, factor: usize, own: &Lane<u32>) -> Lane<f32> {
        let mut sum = [0.0; CHAINS];
        let weights = &self.weights[factor * self.values..(factor + 1) * self.values];
        for (value, weight) in weights.iter().enumerate() {
            for lane in 0..CHAINS {
                sum[lane] += number_if(own[lane] == value as u32, *weight);
            }
        }
        sum
    }
}

/// The loop over a tile of sites.
struct TileLoop<'a> {
    model: &'a FhmmLanes,
    tile: std::ops::Range<usize>,
    factors: &'a Lane<f32>,
    uniforms: &'a [Lane<f32>],
    states: &'a mut [Lane<u8>],
    /// Of the time step that the tile begins in.
    residual: &'a mut Lane<f32>,
    logs: &'a mut [Lane<f32>],
    changed: &'a mut Lane<u32>,
}

impl FusedLoop for TileLoop<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { model, tile, factors, uniforms, states, residual, logs, changed } = self;
        let times = model.observations.len();
        let (mut time, mut factor) = (tile.start / model.factors, tile.start % model.factors);
        for (site, uniforms) in tile.zip(uniforms) {
            if factor == 0 {
                *residual = model.residual(time, states);
            }
            let before = time.checked_sub(1).map(|_| states[place(site - model.factors)]);
            let after = (time + 1 < times).then(|| states[place(site + model.factors)]);
            let own = &mut states[place(site)];
            let around = (before.as_ref(), after.as_ref());
            let moved = match logs {
                [_, _] => model.draw_bit::<A>(factor, own, residual, around, (factors, uniforms)),
                _ => model.draw::<A>(factor, own, residual, around, (factors, uniforms), logs),
            };
            for lane in 0..CHAINS {
                changed[lane] += moved[lane];
            }
            factor += 1;
            if factor == model.factors {
                (time, factor) = (time + 1, 0);
            }
        }
    }
}

/// The values before and after a site in time, as far as there are any.
type Around<'a> = (Option<&'a Lane<u8>>, Option<&'a Lane<u8>>);

impl FhmmLanes {
    /// Draws a site of two values; returns in which lanes it changed. Value 0 adds nothing to the mean.
    #[inline(always)]
    fn draw_bit<A: Arithmetic>(
        &self,
        factor: usize,
        own: &mut Lane<u8>,
        residual: &mut Lane<f32>,
        (before, after): Around<'_>,
        (factors, uniforms): (&Lane<f32>, &Lane<f32>),
    ) -> Lane<u32> {
        let weight = self.weights[2 * factor + 1];
        // Of value 1 against value 0, without the likelihood.
        let mut prior = [if before.is_some() { 0.0 } else { -self.start }; CHAINS];
        for other in [before, after].into_iter().flatten() {
            for lane in 0..CHAINS {
                let agrees = f32::from(other[lane]);
                prior[lane] += self.stay * A::mul_add(2.0, agrees, -1.0);
            }
        }
        let mut moved = [0; CHAINS];
        for lane in 0..CHAINS {
            // What is left to explain without this factor.
            let left = A::mul_add(weight, f32::from(own[lane]), residual[lane]);
            let gain = A::mul_add(weight, A::mul_add(-0.5, weight, left), prior[lane]);
            let logit = larger(smaller(-factors[lane] * gain, SHARPEST), -SHARPEST);
            // u < 1/(1 + odds), without the division.
            let one = A::mul_add(uniforms[lane], exp::<A>(logit), uniforms[lane]) < 1.0;
            let drawn = u8::from(one);
            moved[lane] = u32::from(drawn ^ own[lane]);
            own[lane] = drawn;
            residual[lane] = A::mul_add(-weight, f32::from(drawn), left);
        }
        moved
    }

    /// Draws a site of several values; returns in which lanes it changed.
    #[inline(always)]
    fn draw<A: Arithmetic>(
        &self,
        factor: usize,
        own: &mut Lane<u8>,
        residual: &mut Lane<f32>,
        (before, after): Around<'_>,
        (factors, uniforms): (&Lane<f32>, &Lane<f32>),
        logs: &mut [Lane<f32>],
    ) -> Lane<u32> {
        let (before, after) = (before.map(widened), after.map(widened));
        let around = (before.as_ref(), after.as_ref());
        let was = widened(own);
        let weight = self.weight_of(factor, &was);
        let mut left = *residual;
        for lane in 0..CHAINS {
            left[lane] += weight[lane];
        }
        for (value, log) in logs.iter_mut().enumerate() {
            *log = self.log_weight::<A>(factor, value, &left, around, factors);
        }
        let drawn = values::draw::<A>(logs, &was, uniforms);
        let weight = self.weight_of(factor, &drawn);
        let mut moved = [0; CHAINS];
        for lane in 0..CHAINS {
            residual[lane] = left[lane] - weight[lane];
            moved[lane] = u32::from(was[lane] != drawn[lane]);
        }
        *own = narrowed(&drawn);
        moved
    }

    /// The logarithm of the conditional weight of a value, up to what all values share.
    #[inline(always)]
    fn log_weight<A: Arithmetic>(
        &self,
        factor: usize,
        value: usize,
        left: &Lane<f32>,
        (before, after): (Option<&Lane<u32>>, Option<&Lane<u32>>),
        factors: &Lane<f32>,
    ) -> Lane<f32> {
        let weight = self.weights[factor * self.values + value];
        let value = value as u32;
        let mut log = [0.0; CHAINS];
        for lane in 0..CHAINS {
            log[lane] = weight * A::mul_add(-0.5, weight, left[lane]);
        }
        match before {
            None if value == 0 => log.iter_mut().for_each(|log| *log += self.start),
            None => {}
            Some(before) => {
                for lane in 0..CHAINS {
                    log[lane] += number_if(before[lane] == value, self.stay);
                }
            }
        }
        if let Some(after) = after {
            for lane in 0..CHAINS {
                log[lane] += number_if(after[lane] == value, self.stay);
            }
        }
        for lane in 0..CHAINS {
            log[lane] *= factors[lane];
        }
        log
    }
}
