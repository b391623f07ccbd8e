//! The cells of the study: one sampler with one weight function on one target, each with a seed of
//! its own.

use crate::study::{SAMPLERS, Target, WEIGHTS};
use saltus::{Balancing, Method};

/// What is run at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    pub target: Target,
    pub sampler: Method,
    /// Of the samplers that have one.
    pub weight: Option<Balancing>,
    /// Seed of the target's random parameters.
    pub model_seed: u64,
    /// Step size, if it is not tuned.
    pub fixed_scale: Option<f64>,
}

/// How long and with which seed cells are run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Protocol {
    pub chains: usize,
    /// Steps of a chain, of which the first half is discarded.
    pub steps: usize,
    pub seed: u64,
}

/// A Gibbs sweep visits every site: a tenth of the steps, and no more than these, is as much work as
/// any other cell has.
const GIBBS: (usize, usize) = (10, 1000);
/// Steps of a cell that only looks at acceptance.
const FIXED_STEPS: usize = 400;
/// Step sizes at which the acceptance of factorised targets is looked at.
const FIXED_SCALES: [f64; 3] = [0.01, 1.0, 100.0];

impl Protocol {
    /// Steps of a cell.
    pub fn steps_of(self, cell: &Cell) -> usize {
        match cell {
            Cell { fixed_scale: Some(_), .. } => self.steps.min(FIXED_STEPS),
            Cell { sampler: Method::Gibbs, .. } => (self.steps / GIBBS.0).min(GIBBS.1),
            _ => self.steps,
        }
    }
}

impl Cell {
    /// Name of its file, and what people see.
    pub fn name(&self) -> String {
        let Self { target, sampler, weight, model_seed, fixed_scale } = self;
        let weight = weight.map_or(String::new(), |weight| format!("-{weight}"));
        let fixed = fixed_scale.map_or(String::new(), |scale| format!("-at-{scale}"));
        let seed = if *model_seed == 0 { String::new() } else { format!("-model-{model_seed}") };
        format!("{target}-{sampler}{weight}{fixed}{seed}")
    }

    /// The seed of its chains: that of the study, stirred with the name, so that it does not depend
    /// on which other cells there are.
    pub fn seed(&self, study: u64) -> u64 {
        hash(self.name().into_bytes().into_iter().chain(study.to_le_bytes()))
    }
}

/// FNV-1a, whose value for given bytes never changes.
pub fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// All cells of a target with one draw of its parameters: the paper's, and Gibbs sweeps beside them.
pub fn cells(target: Target, model_seed: u64) -> Vec<Cell> {
    let cell = |sampler, weight| Cell { target, sampler, weight, model_seed, fixed_scale: None };
    let mut cells = Vec::new();
    for sampler in SAMPLERS {
        if sampler.is_balanced() {
            cells.extend(WEIGHTS.map(|weight| cell(sampler, Some(weight))));
        } else {
            cells.push(cell(sampler, None));
        }
    }
    cells.push(cell(Method::Gibbs, None));
    // Where sites are independent, every proposal should be accepted.
    if target.is_factorised() && model_seed == 0 {
        for sampler in [Method::Dlmc, Method::Dlmcf] {
            for weight in Balancing::ALL {
                let at = |scale| Cell { fixed_scale: Some(scale), ..cell(sampler, Some(weight)) };
                cells.extend(FIXED_SCALES.map(at));
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_a_name_and_a_seed_of_its_own() {
        let all: Vec<Cell> = Target::ALL
            .into_iter()
            .flat_map(|target| [cells(target, 0), cells(target, 1)].concat())
            .collect();
        let mut names: Vec<String> = all.iter().map(Cell::name).collect();
        let mut seeds: Vec<u64> = all.iter().map(|cell| cell.seed(0)).collect();
        seeds.extend(all.iter().map(|cell| cell.seed(1)));
        names.sort();
        names.dedup();
        seeds.sort();
        seeds.dedup();
        assert_eq!((names.len(), seeds.len()), (all.len(), 2 * all.len()));
        // Eight samplers, five of them with two weight functions, and Gibbs.
        assert_eq!(cells(Target::IsingHigh, 0).len(), 14);
        assert_eq!(cells(Target::BernoulliLow, 0).len(), 14 + 30);
    }

    #[test]
    fn half_a_cell_is_warm_up_and_gibbs_runs_less() {
        let protocol = Protocol { chains: 100, steps: 100_000, seed: 0 };
        let steps: Vec<usize> =
            cells(Target::Categorical4, 0).iter().map(|cell| protocol.steps_of(cell)).collect();
        assert_eq!(steps[..14], [[100_000; 13].as_slice(), &[1000]].concat());
        assert!(steps[14..].iter().all(|steps| *steps == 400));
    }
}
