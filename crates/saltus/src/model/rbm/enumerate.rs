//! The exact normaliser of an RBM with few hidden units, and exact draws, by listing the states
//! of the hidden units.
//!
//! Given the hidden units, sites are independent: Z = Σₕ e^(c·h) Πₙ Σⱼ e^(bₙ(j) + Σₘ hₘ Wₘₙ(j)). States
//! are listed in the order of a Gray code, so that the next one differs by one unit: a multiplication
//! per site and value.

use super::Rbm;
use crate::control::Control;
use crate::error::ModelError;
use crate::math::{log_sum_exp, vectorised};
use crate::rng::ChainRng;
use crate::workers::Workers;
use rayon::prelude::*;

/// RBMs with more hidden units have too many states to list.
pub const MOST_HIDDEN: usize = 25;
/// Units that change within a part of the list; a part begins afresh, so that rounding cannot add up.
const PART_UNITS: usize = 12;
/// Parts listed between two looks at the monitor.
const PARTS_AT_ONCE: usize = 64;
/// Products are kept within e to this power, on either side of one.
const LARGEST_EXPONENT: f64 = 600.0;
/// Running products side by side.
const LANES: usize = 8;

/// What listing the hidden states of an RBM found.
///
/// ```
/// use saltus::model::rbm::Rbm;
/// use saltus::Control;
/// // One hidden unit with bias ln 3 and no weights, one site: (1 + 3) · (1 + 1) = 8.
/// let rbm = Rbm::new(2, &[0.0], &[3f32.ln()], &[0.0], None)?;
/// let listed = rbm.enumerate(None, |_, _| Control::Continue)?.expect("not stopped");
/// assert!((listed.log_z() - 8f64.ln()).abs() < 1e-6);
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Debug)]
pub struct Enumerated<'a> {
    list: List<'a>,
    /// Logarithm of the sum over each part.
    parts: Vec<f64>,
    log_z: f64,
}

impl Rbm {
    /// Fails with a sentence if the hidden states are too many, or the weights too large, to be
    /// listed.
    pub fn check_enumerable(&self) -> Result<(), ModelError> {
        List::new(self).map(|_| ())
    }

    /// Lists all states of at most [`MOST_HIDDEN`] hidden units. `monitor` is told how many parts of
    /// the list are done, of how many; nothing comes back if it asks to stop.
    pub fn enumerate(
        &self,
        threads: Option<usize>,
        mut monitor: impl FnMut(usize, usize) -> Control,
    ) -> Result<Option<Enumerated<'_>>, ModelError> {
        let list = List::new(self)?;
        let pool = Workers::new(threads).map_err(|reason| {
            ModelError::Evaluation(format!("threads could not be started: {reason}"))
        })?;
        let count = 1 << (self.hidden - list.low_units());
        let mut parts = Vec::with_capacity(count);
        while parts.len() < count {
            let numbers = parts.len()..count.min(parts.len() + PARTS_AT_ONCE);
            let sum = |number| log_sum_exp(&list.log_weights(number));
            let found: Vec<f64> = pool.install(|| numbers.into_par_iter().map(sum).collect());
            parts.extend(found);
            if monitor(parts.len(), count) == Control::Stop && parts.len() < count {
                return Ok(None);
            }
        }
        let log_z = log_sum_exp(&parts);
        Ok(Some(Enumerated { list, parts, log_z }))
    }
}

impl Enumerated<'_> {
    /// log Σ π over all states of the sites.
    pub fn log_z(&self) -> f64 {
        self.log_z
    }

    /// Draws a state of the sites, independent of all others.
    pub fn draw(&self, rng: &mut ChainRng, state: &mut [u8]) {
        let part = draw_from_logs(&self.parts, rng);
        let place = draw_from_logs(&self.list.log_weights(part), rng);
        let rbm = self.list.rbm;
        let mut units = vec![0.0; rbm.stride];
        for (unit, on) in units[..rbm.hidden].iter_mut().enumerate() {
            *on = f32::from(u8::from(self.list.is_on(part, place, unit)));
        }
        rbm.draw_sites(&units, std::slice::from_mut(rng), state);
    }
}

/// An index drawn with probability proportional to e^log.
fn draw_from_logs(logs: &[f64], rng: &mut ChainRng) -> usize {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
    rng.index(&weights, weights.iter().sum())
}

/// The states of hidden units: the first few count through a part, the others number the parts.
#[derive(Debug)]
struct List<'a> {
    rbm: &'a Rbm,
    /// e^−W and e^W of the units that change within a part, in planes of sites.
    factors: Vec<[Vec<f64>; 2]>,
    /// Sites per lane whose sums can be multiplied without leaving the range of double precision.
    group: usize,
}

impl<'a> List<'a> {
    fn new(rbm: &'a Rbm) -> Result<Self, ModelError> {
        if rbm.hidden > MOST_HIDDEN {
            return Err(ModelError::invalid(format!(
                "the exact normaliser needs at most {MOST_HIDDEN} hidden units, the RBM has {}",
                rbm.hidden
            )));
        }
        let reach = reach(rbm);
        let group = (LARGEST_EXPONENT / reach) as usize;
        if group == 0 {
            return Err(ModelError::invalid(format!(
                "the inputs of a site can reach {reach:.0}: beyond {LARGEST_EXPONENT} their \
                 exponentials cannot be summed"
            )));
        }
        let list = Self { rbm, factors: Vec::new(), group };
        let factors = (0..list.low_units())
            .map(|unit| {
                [-1.0, 1.0].map(|sign| list.planes(unit).map(|w| (sign * w).exp()).collect())
            })
            .collect();
        Ok(Self { factors, ..list })
    }

    fn low_units(&self) -> usize {
        self.rbm.hidden.min(PART_UNITS)
    }

    /// The weights of a hidden unit in planes of sites.
    fn planes(&self, unit: usize) -> impl Iterator<Item = f64> + use<'_> {
        let rbm = self.rbm;
        let (sites, binary) = (rbm.space.sites(), rbm.space.is_binary());
        (0..rbm.space.diff_len()).map(move |column| {
            let value = if binary { 1 } else { (column / sites) as u8 };
            let row = rbm.row(column % sites, value);
            f64::from(rbm.weights[row * rbm.stride + unit])
        })
    }

    /// Whether a unit is on at a place of a part.
    fn is_on(&self, part: usize, place: usize, unit: usize) -> bool {
        let low = self.low_units();
        let bits = if unit < low { gray(place) } else { part };
        let bit = if unit < low { unit } else { unit - low };
        bits >> bit & 1 == 1
    }

    /// log Σ e^… over the sites, for every state of the hidden units in a part.
    fn log_weights(&self, part: usize) -> Vec<f64> {
        let (rbm, low) = (self.rbm, self.low_units());
        let mut bias = 0.0;
        let mut logs: Vec<f64> = rbm.visible_bias.iter().map(|b| f64::from(*b)).collect();
        for unit in (low..rbm.hidden).filter(|unit| self.is_on(part, 0, *unit)) {
            bias += rbm.hidden_bias[unit];
            logs.iter_mut().zip(self.planes(unit)).for_each(|(log, weight)| *log += weight);
        }
        let mut exponentials: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
        let mut totals = vec![1.0; rbm.space.sites()];
        let binary = rbm.space.is_binary();
        (0..1usize << low)
            .map(|place| {
                let factors = (place > 0).then(|| {
                    let unit = place.trailing_zeros() as usize;
                    let on = self.is_on(part, place, unit);
                    bias += if on { 1.0 } else { -1.0 } * rbm.hidden_bias[unit];
                    &self.factors[unit][usize::from(on)][..]
                });
                let log = vectorised(
                    #[inline(always)]
                    || {
                        let factors = factors.unwrap_or(&[]);
                        exponentials.iter_mut().zip(factors).for_each(|(e, factor)| *e *= factor);
                        add_planes(&exponentials, binary, &mut totals);
                        log_of_product(&totals, self.group)
                    },
                );
                bias + log
            })
            .collect()
    }
}

/// Neighbours in this order differ in one bit: the lowest that is set in the later number.
fn gray(place: usize) -> usize {
    place ^ (place >> 1)
}

/// The sum of every site's exponentials; with two values, that of value 0 is 1.
#[inline(always)]
fn add_planes(exponentials: &[f64], binary: bool, totals: &mut [f64]) {
    totals.fill(if binary { 1.0 } else { 0.0 });
    for plane in exponentials.chunks_exact(totals.len()) {
        totals.iter_mut().zip(plane).for_each(|(total, e)| *total += e);
    }
}

/// log Π of numbers, with a logarithm after every `group` factors.
#[inline(always)]
fn log_of_product(factors: &[f64], group: usize) -> f64 {
    factors
        .chunks(group * LANES)
        .map(|factors| {
            let mut products = [1.0f64; LANES];
            let (whole, rest) = factors.as_chunks::<LANES>();
            for factors in whole {
                for lane in 0..LANES {
                    products[lane] *= factors[lane];
                }
            }
            products.iter_mut().zip(rest).for_each(|(product, factor)| *product *= factor);
            products.iter().map(|product| product.ln()).sum::<f64>()
        })
        .sum()
}

/// How far the logarithm of a site's sum can be from zero.
fn reach(rbm: &Rbm) -> f64 {
    let sites = rbm.space.sites();
    let values = || (0..rbm.space.values()).map(|value| value as u8);
    let largest = |site: usize| {
        let bias = values().map(|value| rbm.bias(site, value).abs());
        let units = (0..rbm.hidden).map(|unit| {
            let weight = |value| f64::from(rbm.weight(unit, site, value)).abs();
            values().map(weight).fold(0.0, f64::max)
        });
        bias.fold(0.0, f64::max) + units.sum::<f64>()
    };
    (0..sites).map(largest).fold(0.0, f64::max) + (rbm.space.values() as f64).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;
    use crate::rng::Stream;
    use crate::space::States;

    /// All states of the sites of a small RBM, and log π of each.
    fn by_sites(rbm: &Rbm) -> (Vec<Vec<u8>>, Vec<f64>) {
        let (sites, values) = (rbm.space.sites(), rbm.space.values());
        let states: Vec<Vec<u8>> = (0..values.pow(sites as u32))
            .map(|number| {
                (0..sites).map(|n| (number / values.pow(n as u32) % values) as u8).collect()
            })
            .collect();
        let mut cache = rbm.new_cache(1);
        let logs = states.iter().map(|state| {
            let mut log = [0.0];
            rbm.log_prob(States::new(state, sites), &mut cache, &mut log).unwrap();
            log[0]
        });
        let logs = logs.collect();
        (states, logs)
    }

    fn listed(rbm: &Rbm) -> Enumerated<'_> {
        rbm.enumerate(Some(2), |_, _| Control::Continue).unwrap().unwrap()
    }

    #[test]
    fn both_layers_have_the_same_sum() {
        // More than a part of hidden states, and less; two values, and more.
        for (visible, hidden, values) in [(9, 14, 2), (5, 13, 3), (12, 3, 2), (1, 1, 2), (2, 2, 7)]
        {
            let rbm = Rbm::random(visible, hidden, values, 7).unwrap();
            let exact = log_sum_exp(&by_sites(&rbm).1);
            let found = listed(&rbm).log_z();
            assert!((found - exact).abs() < 1e-6, "{visible}×{hidden}: {found}, exact {exact}");
        }
    }

    #[test]
    fn independent_sites_have_a_known_normaliser() {
        // Without weights and biases every state of both layers counts once.
        let rbm = Rbm::new(2, &[0.0; 300], &[0.0; 3], &[0.0; 100], None).unwrap();
        assert!((listed(&rbm).log_z() - 103.0 * 2f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn strong_weights_are_summed_in_groups_or_refused() {
        let rbm = |weight: f32| Rbm::new(2, &[weight; 40], &[0.5], &[-1.0; 40], None).unwrap();
        let exact = |weight: f64| {
            let off = 40.0 * (1.0 + (-1f64).exp()).ln();
            log_sum_exp(&[off, 0.5 + 40.0 * (1.0 + (weight - 1.0).exp()).ln()])
        };
        for weight in [0.5, 100.0, 500.0] {
            let found = listed(&rbm(weight)).log_z();
            let exact = exact(f64::from(weight));
            assert!((found - exact).abs() < 1e-9 * exact.abs(), "{weight}: {found}, {exact}");
        }
        let refused = rbm(1000.0).enumerate(None, |_, _| Control::Continue).unwrap_err();
        assert!(refused.to_string().contains("can reach 1002"), "{refused}");
        let large = Rbm::random(3, 26, 2, 0).unwrap();
        let refused = large.enumerate(None, |_, _| Control::Continue).unwrap_err();
        assert!(refused.to_string().contains("at most 25 hidden units"), "{refused}");
    }

    #[test]
    fn draws_have_the_exact_frequencies() {
        for (visible, hidden, values, draws) in [(4, 13, 2, 2000u32), (2, 3, 3, 20_000)] {
            let rbm = Rbm::random(visible, hidden, values, 3).unwrap();
            let listed = listed(&rbm);
            let (states, logs) = by_sites(&rbm);
            let mut counts = vec![0u32; states.len()];
            let mut rng = ChainRng::new(1, Stream::Annealing(crate::rng::Annealing::Forward, 0));
            let mut state = vec![0; visible];
            for _ in 0..draws {
                listed.draw(&mut rng, &mut state);
                counts[states.iter().position(|other| *other == state).unwrap()] += 1;
            }
            for (count, log) in counts.iter().zip(logs) {
                let exact = (log - listed.log_z()).exp();
                let share = f64::from(*count) / f64::from(draws);
                // Five standard deviations of independent draws.
                let allowed = 5.0 * (exact * (1.0 - exact) / f64::from(draws)).sqrt();
                assert!((share - exact).abs() < allowed, "{share}, expected {exact}");
            }
        }
    }

    #[test]
    fn a_monitor_can_stop_the_list() {
        let rbm = Rbm::random(2, 20, 2, 3).unwrap();
        assert!(rbm.enumerate(Some(1), |_, _| Control::Stop).unwrap().is_none());
        let mut seen = Vec::new();
        let whole = rbm.enumerate(Some(1), |done, all| {
            seen.push((done, all));
            Control::Continue
        });
        assert!(whole.unwrap().is_some());
        assert_eq!(seen, [(64, 256), (128, 256), (192, 256), (256, 256)]);
    }
}
