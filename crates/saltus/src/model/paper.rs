//! The targets of the paper (Sun et al. 2023) by name, with their random parameters drawn from a
//! seed.

use super::independent::Independent;
use super::lattice::Lattice;
use super::pairwise::Pairwise;
use crate::error::ModelError;
use crate::rng::{ChainRng, Stream};
use rand_distr::{Distribution, StandardNormal};

/// How sharp a binary target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Temperature {
    /// The flat version of a target.
    High,
    /// The sharp version.
    Low,
}

/// Independent bits; the logits have standard deviation 0.5 (high) or 5 (low), which is what the
/// paper's two weights per site of variance 0.125 and 12.5 amount to. The paper has 10,000 sites.
pub fn bernoulli(
    temperature: Temperature,
    sites: usize,
    seed: u64,
) -> Result<Independent, ModelError> {
    let deviation = match temperature {
        Temperature::High => 0.5,
        Temperature::Low => 5.0,
    };
    Independent::bernoulli(normals(sites, deviation, seed))
}

/// Independent sites of several values with weights of variance 1.125. The paper has 2,000 sites.
pub fn categorical(sites: usize, values: usize, seed: u64) -> Result<Independent, ModelError> {
    Independent::categorical(values, &normals(sites * values, 1.125f64.sqrt(), seed))
}

/// The Ising model of the paper in the reading of its authors' code: free boundaries, ±1 spins,
/// a random field that pulls apart the inner disc and the rest. The paper has 50×50 sites.
///
/// High temperature: coupling ½, field U(−1.5, 1.5) ± 0.5. Low: twice both.
pub fn ising(
    temperature: Temperature,
    lattice: Lattice,
    seed: u64,
) -> Result<Pairwise, ModelError> {
    let (coupling, field) = ising_parameters(temperature, lattice, seed);
    Pairwise::ising_lattice(lattice, coupling, field)
}

/// Coupling and field of [`ising()`].
pub fn ising_parameters(temperature: Temperature, lattice: Lattice, seed: u64) -> (f32, Vec<f32>) {
    let scale = match temperature {
        Temperature::High => 1.0,
        Temperature::Low => 2.0,
    };
    let mut rng = ChainRng::new(seed, Stream::Model);
    let field = inside_disc(lattice)
        .map(|inside| {
            let random = 1.5 * (2.0 * rng.uniform() - 1.0);
            // log π = … − Σ b s: the sign is the code's.
            -(scale * (random + if inside { 0.5 } else { -0.5 })) as f32
        })
        .collect();
    (0.5 * scale as f32, field)
}

/// The Potts model of the paper: free boundaries, coupling 1, field U(−1.5, 1.5) ± 0.5·c/C for
/// value number c = 1…C, plus inside the disc and minus outside. The paper has 30×30 sites.
pub fn potts(lattice: Lattice, values: usize, seed: u64) -> Result<Pairwise, ModelError> {
    Pairwise::potts_lattice(lattice, values, 1.0, &potts_field(lattice, values, seed))
}

/// The field of [`potts()`].
pub fn potts_field(lattice: Lattice, values: usize, seed: u64) -> Vec<f32> {
    let mut rng = ChainRng::new(seed, Stream::Model);
    let mut field = Vec::with_capacity(lattice.sites() * values);
    for inside in inside_disc(lattice) {
        for value in 1..=values {
            let random = 1.5 * (2.0 * rng.uniform() - 1.0);
            let slope = 0.5 * value as f64 / values as f64;
            field.push((random + if inside { slope } else { -slope }) as f32);
        }
    }
    field
}

fn normals(count: usize, deviation: f64, seed: u64) -> Vec<f32> {
    let mut rng = ChainRng::new(seed, Stream::Model);
    (0..count)
        .map(|_| {
            let standard: f64 = StandardNormal.sample(&mut rng);
            (deviation * standard) as f32
        })
        .collect()
}

/// Which sites of a lattice lie in the disc of half the area around its middle.
fn inside_disc(lattice: Lattice) -> impl Iterator<Item = bool> {
    let (rows, columns) = lattice.shape();
    (0..rows).flat_map(move |row| {
        (0..columns).map(move |column| {
            let down = row as f64 / rows as f64 - 0.5;
            let across = column as f64 / columns as f64 - 0.5;
            down * down + across * across < 0.5 / std::f64::consts::PI
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disc_has_the_sites_of_the_authors_code() {
        let count = |side| inside_disc(Lattice::free(side, side).unwrap()).filter(|x| *x).count();
        assert_eq!((count(50), count(30)), (1245, 437));
    }
}
