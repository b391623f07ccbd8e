//! What physicists observe of spins: powers of the magnetisation, and the structure factor.

use super::observable::{Count, Magnetisation, Observable};
use crate::space::Space;
use std::f64::consts::TAU;

/// A number made of the mean spin m of a state of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MagnetisationPower {
    /// |m|.
    Absolute,
    /// m².
    Second,
    /// m⁴.
    Fourth,
}

/// A power of the magnetisation of so many sites.
///
/// ```
/// use saltus::Observable;
/// use saltus::draws::magnet::{MagnetisationPower, OfMagnetisation};
/// let of = |power| OfMagnetisation { power, sites: 4 }.value(&[0, 0, 0, 1]);
/// assert_eq!(of(MagnetisationPower::Absolute), 0.5);
/// assert_eq!(of(MagnetisationPower::Fourth), 0.0625);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OfMagnetisation {
    /// Which power.
    pub power: MagnetisationPower,
    /// Number of sites.
    pub sites: usize,
}

impl Observable for OfMagnetisation {
    fn value(&self, state: &[u8]) -> f64 {
        self.value_of(self.count(state))
    }

    fn as_count(&self) -> Option<&dyn Count> {
        Some(self)
    }
}

impl Count for OfMagnetisation {
    fn count(&self, state: &[u8]) -> i64 {
        Magnetisation { sites: self.sites }.count(state)
    }

    fn change(&self, site: usize, from: u8, to: u8) -> i64 {
        Magnetisation { sites: self.sites }.change(site, from, to)
    }

    fn value_of(&self, count: i64) -> f64 {
        let m = Magnetisation { sites: self.sites }.value_of(count);
        match self.power {
            MagnetisationPower::Absolute => m.abs(),
            MagnetisationPower::Second => m * m,
            MagnetisationPower::Fourth => m.powi(4),
        }
    }
}

/// A power of Potts models' order parameter m = (q x − 1)/(q − 1), where x is the share of the commonest of q values: 0 where all are as common, 1
/// where all sites are alike.
///
/// ```
/// use saltus::Observable;
/// use saltus::draws::magnet::OfOrder;
/// let order = OfOrder { power: 2, values: 3 };
/// assert_eq!(order.value(&[0, 1, 2]), 0.0);
/// assert_eq!(order.value(&[2, 2, 2]), 1.0);
/// assert_eq!(order.value(&[2, 1, 2, 0]), 0.0625);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OfOrder {
    /// Which power.
    pub power: i32,
    /// q.
    pub values: usize,
}

impl Observable for OfOrder {
    fn value(&self, state: &[u8]) -> f64 {
        let mut counts = [0u32; 256];
        state.iter().for_each(|value| counts[usize::from(*value)] += 1);
        let most = counts.iter().copied().max().unwrap_or(0);
        let (share, values) = (f64::from(most) / state.len() as f64, self.values as f64);
        ((values * share - 1.0) / (values - 1.0)).powi(self.power)
    }
}

/// The structure factor S(k) = |Σ s e^(ik·r)|²/N of spins s = ±1 at a wave vector k.
///
/// ```
/// use saltus::draws::magnet::StructureFactor;
/// use saltus::{Observable, Space};
/// let ring = Space::new(8, 2)?.with_shape(&[8])?;
/// let waves = StructureFactor::new(&ring, &[1]).unwrap();
/// assert!(waves.value(&[1; 8]).abs() < 1e-12); // nothing but k = 0
/// assert!(waves.value(&[1, 1, 1, 1, 0, 0, 0, 0]) > 3.0);
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct StructureFactor {
    /// cos k·r and sin k·r of every site.
    waves: Vec<(f64, f64)>,
}

impl StructureFactor {
    /// That of so many waves along each axis of a space of two values, whose sites are arranged in as many dimensions;
    /// none if they are not.
    pub fn new(space: &Space, waves: &[i64]) -> Option<Self> {
        let shape = space.shape()?;
        if !space.is_binary() || waves.len() != shape.len() {
            return None;
        }
        let phase = |site: usize| {
            let mut rest = site;
            let mut turns = 0.0;
            // The last axis runs fastest.
            for (length, waves) in shape.iter().zip(waves).rev() {
                turns += (rest % length) as f64 * *waves as f64 / *length as f64;
                rest /= length;
            }
            let (sin, cos) = (TAU * turns).sin_cos();
            (cos, sin)
        };
        Some(Self { waves: (0..space.sites()).map(phase).collect() })
    }
}

impl Observable for StructureFactor {
    fn value(&self, state: &[u8]) -> f64 {
        let (mut real, mut imaginary) = (0.0, 0.0);
        for (value, (cos, sin)) in state.iter().zip(&self.waves) {
            let spin = 2.0 * f64::from(*value) - 1.0;
            real += spin * cos;
            imaginary += spin * sin;
        }
        (real * real + imaginary * imaginary) / state.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structure_factors_of_all_waves_add_up_to_the_number_of_sites() {
        let space = Space::new(12, 2).unwrap().with_shape(&[3, 4]).unwrap();
        let state = [1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1];
        let all = (0..3).flat_map(|a| (0..4).map(move |b| [a, b]));
        let sum: f64 = all.map(|k| StructureFactor::new(&space, &k).unwrap().value(&state)).sum();
        // Parseval.
        assert!((sum - 12.0).abs() < 1e-9, "{sum}");
        let m = Magnetisation { sites: 12 }.value(&state);
        let at_zero = StructureFactor::new(&space, &[0, 0]).unwrap().value(&state);
        assert!((at_zero - 12.0 * m * m).abs() < 1e-9);
        // A stripe along the fast axis.
        let stripes = [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0];
        assert!(
            (StructureFactor::new(&space, &[0, 2]).unwrap().value(&stripes) - 12.0).abs() < 1e-9
        );
    }

    #[test]
    fn sites_without_axes_have_none() {
        let space = Space::new(12, 2).unwrap();
        assert!(StructureFactor::new(&space, &[1]).is_none());
        let shaped = space.with_shape(&[3, 4]).unwrap();
        assert!(StructureFactor::new(&shaped, &[1]).is_none());
    }
}
