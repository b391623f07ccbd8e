//! Kernels from the literature that might be worth having, as plainly as can be, for sites of two values. `candidates.rs` measures them, and a
//! test of the library enumerates them (`kernel/exactness/candidates.rs`).

use saltus::kernel::metropolis::{Metropolis, MetropolisScratch, Proposal};
use saltus::kernel::{Chains, Kernel, KernelTraits, Kind, ScaleTraits};
use saltus::{ChainRng, Differences, Model, Space, StepError};

/// The probability that a site flips, from the difference of its flip.
#[derive(Clone, Copy, Debug)]
pub enum Row {
    /// The paper's forward Euler with h restricted so that every row is a distribution: h·g ≤ 1 at every site of the
    /// state (Sun et al. 2023, section 4.1), instead of clipped site by site.
    Restricted,
    /// h·t^α against 1: any-scale balancing (Sun et al. 2023b; α = ½ is DMALA).
    Power(f64),
}

/// Flips every site with its own probability.
#[derive(Clone, Copy, Debug)]
pub struct Flips(pub Row);

const STEP_SIZE: f64 = 1e4;

fn traits(name: &'static str, scale: ScaleTraits) -> KernelTraits {
    KernelTraits {
        name,
        summary: "a candidate",
        reference: "see experiments/candidates",
        kind: Kind::AllSites,
        is_balanced: false,
        has_solver: false,
        scale: Some(scale),
        evaluations_charged: 1.0,
        is_weighted: false,
        is_tried: false,
    }
}

impl Flips {
    fn fill(self, h: f64, diff: &[f32], table: &mut Vec<f64>) {
        table.clear();
        match self.0 {
            Row::Restricted => {
                let rates = diff.iter().map(|d| (0.5 * f64::from(*d)).exp());
                let h = rates.clone().fold(h, |h, rate| h.min(1.0 / rate));
                table.extend(rates.map(|rate| h * rate));
            }
            Row::Power(alpha) => table.extend(diff.iter().map(|d| {
                let odds = h.ln() + alpha * f64::from(*d);
                1.0 / (1.0 + (-odds).exp())
            })),
        }
    }
}

fn log_of(table: &[f64], from: &[u8], to: &[u8]) -> f64 {
    let sites = table.iter().zip(from.iter().zip(to));
    sites.map(|(p, (from, to))| if from == to { (-p).ln_1p() } else { p.ln() }).sum()
}

impl Proposal for Flips {
    type Table = Vec<f64>;
    type Path = ();

    fn traits(&self, space: &Space) -> KernelTraits {
        traits("flips", ScaleTraits::step_size(space.sites(), STEP_SIZE))
    }

    fn new_table(&self, _space: &Space) -> Vec<f64> {
        Vec::new()
    }

    fn differences(&self) -> Differences {
        Differences::Taylor
    }

    fn prepare(
        &self,
        scale: f64,
        from: &[u8],
        diff: &[f32],
        table: &mut Vec<f64>,
        to: &[u8],
        (): &(),
    ) -> f64 {
        self.fill(scale, diff, table);
        log_of(table, from, to)
    }

    fn draw(
        &self,
        _scale: f64,
        state: &[u8],
        table: &mut Vec<f64>,
        rng: &mut ChainRng,
        proposed: &mut [u8],
        (): &mut (),
    ) -> f64 {
        for (site, p) in table.iter().enumerate() {
            proposed[site] = state[site] ^ u8::from(rng.flip(*p));
        }
        log_of(table, state, proposed)
    }
}

/// Gibbs with gradients of several flips: sites drawn with replacement from one softmax of half the differences, all flipped at once,
/// the list of draws as auxiliary variable (Grathwohl et al. 2021, section 6.1). PAS draws without replacement.
#[derive(Clone, Copy, Debug)]
pub struct SeveralFlips;

impl Proposal for SeveralFlips {
    /// Weights, and the logarithms of their shares.
    type Table = (Vec<f64>, Vec<f64>);
    type Path = Vec<usize>;

    fn traits(&self, space: &Space) -> KernelTraits {
        traits("several flips", ScaleTraits::radius(space.sites(), 0.5, 0.574))
    }

    fn new_table(&self, _space: &Space) -> Self::Table {
        Self::Table::default()
    }

    fn differences(&self) -> Differences {
        Differences::Taylor
    }

    fn prepare(
        &self,
        _scale: f64,
        _from: &[u8],
        diff: &[f32],
        (weights, logs): &mut Self::Table,
        _to: &[u8],
        path: &Vec<usize>,
    ) -> f64 {
        logs.clear();
        logs.extend(diff.iter().map(|d| 0.5 * f64::from(*d)));
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        weights.clear();
        weights.extend(logs.iter().map(|log| (log - largest).exp()));
        let total = weights.iter().sum::<f64>().ln() + largest;
        logs.iter_mut().for_each(|log| *log -= total);
        path.iter().map(|site| logs[*site]).sum()
    }

    fn draw(
        &self,
        scale: f64,
        state: &[u8],
        (weights, logs): &mut Self::Table,
        rng: &mut ChainRng,
        proposed: &mut [u8],
        path: &mut Vec<usize>,
    ) -> f64 {
        // One fewer now and then, against parity.
        let count = scale.round().max(1.0) as usize - usize::from(rng.flip(0.1));
        proposed.copy_from_slice(state);
        path.clear();
        for _ in 0..count {
            let site = rng.index(&*weights, weights.iter().sum());
            proposed[site] ^= 1;
            path.push(site);
        }
        path.iter().map(|site| logs[*site]).sum()
    }
}

/// Automatic cyclical sampling (Pynadath, Bhattacharya, Hariharan and Zhang 2024): step sizes and powers of the differences go from bold to
/// careful and begin again. Getting ready for another scale is not counted, in its favour.
#[derive(Clone, Copy, Debug)]
pub struct Cyclical {
    /// Steps of a cycle.
    pub length: usize,
    /// The boldest and the most careful step size, as multiples of the scale, and powers of the differences.
    pub sizes: (f64, f64),
    pub powers: (f64, f64),
}

impl Cyclical {
    /// Factor of the scale and power at a step.
    fn at(self, step: usize) -> (f64, f64) {
        let phase = (step % self.length) as f64 / self.length as f64;
        let bold = 0.5 * (1.0 + (std::f64::consts::PI * phase).cos());
        let size = bold * self.sizes.0.ln() + (1.0 - bold) * self.sizes.1.ln();
        (size.exp(), bold * self.powers.0 + (1.0 - bold) * self.powers.1)
    }
}

impl<M: Model> Kernel<M> for Cyclical {
    type Scratch = MetropolisScratch<M, Flips>;
    type Own = ();

    fn traits(&self, model: &M) -> KernelTraits {
        traits("cyclical", ScaleTraits::step_size(model.space().sites(), STEP_SIZE))
    }

    fn new_scratch(&self, model: &M, chains: usize) -> Self::Scratch {
        Metropolis(Flips(Row::Power(0.5))).new_scratch(model, chains)
    }

    fn start(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        Metropolis(Flips(Row::Power(0.5))).start(model, chains, scratch)
    }

    fn step(
        &self,
        model: &M,
        chains: &mut Chains,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        let (factor, alpha) = self.at(chains.step);
        let kernel = Metropolis(Flips(Row::Power(alpha)));
        let scales = chains.scales.clone();
        chains.scales.iter_mut().for_each(|scale| *scale *= factor);
        kernel.start(model, chains, scratch)?;
        kernel.step(model, chains, scratch)?;
        chains.scales = scales;
        Ok(())
    }
}
