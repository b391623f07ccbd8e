//! A Potts model in which every pair of sites has a table of couplings.

use super::frequencies::{add_counts, parameters};
use crate::learnable::Learnable;
use saltus::math::vectorised;
use saltus::model::{check_finite, check_length};
use saltus::{ChainRng, Differences, Model, ModelError, Space, States};

/// log π(x) = Σᵢ hᵢ(xᵢ) + Σ_{i<j} Jᵢⱼ(xᵢ, xⱼ).
///
/// Of every chain that is followed site by site, what each letter of each site would add to log π is kept: a draw
/// reads the few numbers of its site, and a change adds one row of couplings and takes one away.
#[derive(Clone, Debug)]
pub struct Potts {
    space: Space,
    /// In the order of [`Frequencies`](super::Frequencies).
    parameters: Vec<f32>,
    /// Jᵢⱼ(a, b) as a symmetric matrix: a row per site and letter.
    rows: Vec<f32>,
    /// What chains start from: how likely each letter of each site is.
    start: Vec<f64>,
    /// mᵢ(a) of the coordinates that are learnt in.
    centre: Vec<f64>,
}

/// Memory of a block of chains of a [`Potts`] model.
#[derive(Clone, Debug)]
pub struct PottsCache {
    /// hᵢ(a) + Σⱼ Jᵢⱼ(a, xⱼ) of every chain that is followed.
    inputs: Vec<f64>,
}

impl Potts {
    /// A model with parameters in the order of [`Frequencies`](super::Frequencies). Chains start from
    /// independent sites, of which `start` says how likely each letter is.
    pub fn new(space: Space, numbers: &[f32], start: Vec<f64>) -> Result<Self, ModelError> {
        let letters = space.sites() * space.values();
        check_length("the list of parameters", numbers.len(), parameters(&space))?;
        check_length("the list of frequencies", start.len(), letters)?;
        check_finite("parameters", numbers)?;
        let rows = vec![0.0; letters * letters];
        let centre = vec![0.0; letters];
        let mut model = Self { space, parameters: numbers.to_vec(), rows, start, centre };
        model.lay_out();
        Ok(model)
    }

    /// The same model, to be learnt in centred coordinates (Melchior, Fischer and Wiskott 2016): log π is written as
    /// Σᵢ h′ᵢ(xᵢ) + Σ_{i<j,a,b} Jᵢⱼ(a, b) ([xᵢ = a] − mᵢ(a)) ([xⱼ = b] − mⱼ(b)) and h′, J are followed.
    ///
    /// A letter that is a little too frequent is a little too frequent in its pairs with all other sites. Without
    /// centring, all of these couplings answer it at once, and what answers overshoots at any rate at which the rest would
    /// be learnt in time.
    pub fn centred(mut self, frequencies: &[f64]) -> Result<Self, ModelError> {
        check_length("the list of frequencies", frequencies.len(), self.length())?;
        self.centre = frequencies.to_vec();
        Ok(self)
    }

    /// Σⱼ Σ_b Jᵢⱼ(a, b) mⱼ(b), by which the fields of the centred coordinates exceed those of the model.
    fn shifts(&self) -> Vec<f64> {
        let length = self.length();
        let shift = |row: &[f32]| {
            row.iter().zip(&self.centre).map(|(number, mean)| f64::from(*number) * mean).sum()
        };
        self.rows.chunks_exact(length).map(shift).collect()
    }

    /// Makes counts of letters and pairs those of centred pairs.
    fn centre_counts(&self, counts: &mut [f64], states: f64) {
        let (sites, values) = (self.space.sites(), self.space.values());
        let (letters, pairs) = counts.split_at_mut(sites * values);
        let letters = &*letters;
        let mut tables = pairs.chunks_exact_mut(values * values);
        for one in 0..sites {
            for (other, table) in (one + 1..sites).zip(&mut tables) {
                for (a, row) in table.chunks_exact_mut(values).enumerate() {
                    let (count, mean) = (letters[one * values + a], self.centre[one * values + a]);
                    let others = other * values..(other + 1) * values;
                    let theirs = letters[others.clone()].iter().zip(&self.centre[others]);
                    for (pair, (count_b, mean_b)) in row.iter_mut().zip(theirs) {
                        *pair += states * mean * mean_b - count * mean_b - mean * count_b;
                    }
                }
            }
        }
    }

    /// The mean of what the learnt coordinates multiply, given that of letters and pairs.
    pub(super) fn centred_means(&self, mut means: Vec<f64>) -> Vec<f64> {
        self.centre_counts(&mut means, 1.0);
        means
    }

    /// h of a letter of a site.
    pub fn field(&self, site: usize, value: u8) -> f32 {
        self.parameters[site * self.space.values() + usize::from(value)]
    }

    /// J of two letters of two sites, which must be others.
    pub fn coupling(&self, one: usize, other: usize, a: u8, b: u8) -> f32 {
        let values = self.space.values();
        let (from, to) = (one * values + usize::from(a), other * values + usize::from(b));
        self.rows[from * self.space.sites() * values + to]
    }

    /// The same model with parameters of the same distribution that add up to nothing over the letters of a site:
    /// those by which contacts are predicted and models compared.
    pub fn zero_sum(&self) -> Self {
        let (sites, values) = (self.space.sites(), self.space.values());
        let count = values as f64;
        let mut numbers: Vec<f64> =
            self.parameters.iter().map(|number| f64::from(*number)).collect();
        let (fields, couplings) = numbers.split_at_mut(sites * values);
        let pairs = (0..sites).flat_map(|one| (one + 1..sites).map(move |other| (one, other)));
        for ((one, other), table) in pairs.zip(couplings.chunks_exact_mut(values * values)) {
            let rows: Vec<f64> = (0..values)
                .map(|a| table[a * values..(a + 1) * values].iter().sum::<f64>() / count)
                .collect();
            let columns: Vec<f64> = (0..values)
                .map(|b| (0..values).map(|a| table[a * values + b]).sum::<f64>() / count)
                .collect();
            let all = rows.iter().sum::<f64>() / count;
            for a in 0..values {
                fields[one * values + a] += rows[a] - all;
                fields[other * values + a] += columns[a] - all;
                for b in 0..values {
                    table[a * values + b] += all - rows[a] - columns[b];
                }
            }
        }
        for field in fields.chunks_exact_mut(values) {
            let mean = field.iter().sum::<f64>() / count;
            field.iter_mut().for_each(|field| *field -= mean);
        }
        let numbers: Vec<f32> = numbers.into_iter().map(|number| number as f32).collect();
        let mut model = self.clone();
        model.parameters.copy_from_slice(&numbers);
        model.lay_out();
        model
    }

    /// Writes the couplings into both halves of the matrix.
    fn lay_out(&mut self) {
        let (sites, values) = (self.space.sites(), self.space.values());
        let length = sites * values;
        let mut tables = self.parameters[length..].chunks_exact(values * values);
        for one in 0..sites {
            for (other, table) in (one + 1..sites).zip(&mut tables) {
                for (a, row) in table.chunks_exact(values).enumerate() {
                    let (from, to) = (one * values + a, other * values);
                    self.rows[from * length + to..][..values].copy_from_slice(row);
                    for (b, number) in row.iter().enumerate() {
                        self.rows[(to + b) * length + from] = *number;
                    }
                }
            }
        }
    }

    /// The row of a letter of a site.
    fn row(&self, site: usize, value: u8) -> &[f32] {
        let (length, values) = (self.space.sites() * self.space.values(), self.space.values());
        &self.rows[(site * values + usize::from(value)) * length..][..length]
    }

    /// Fills in what every letter of every site would add, and returns log π.
    fn fill(&self, state: &[u8], inputs: &mut [f64]) -> f64 {
        let values = self.space.values();
        let fields = &self.parameters[..inputs.len()];
        for (input, field) in inputs.iter_mut().zip(fields) {
            *input = f64::from(*field);
        }
        for (site, value) in state.iter().enumerate() {
            add(inputs, self.row(site, *value), 1.0);
        }
        // Every coupling is counted at both its ends, every field at one.
        let both = |(site, value): (usize, &u8)| {
            let at = site * values + usize::from(*value);
            inputs[at] + f64::from(fields[at])
        };
        0.5 * state.iter().enumerate().map(both).sum::<f64>()
    }

    fn length(&self) -> usize {
        self.space.sites() * self.space.values()
    }
}

fn add(sums: &mut [f64], terms: &[f32], factor: f64) {
    vectorised(
        #[inline(always)]
        || {
            for (sum, term) in sums.iter_mut().zip(terms) {
                *sum += factor * f64::from(*term);
            }
        },
    );
}

impl Model for Potts {
    type Cache = PottsCache;

    fn space(&self) -> &Space {
        &self.space
    }

    fn new_cache(&self, chains: usize) -> PottsCache {
        PottsCache { inputs: vec![0.0; chains.max(1) * self.length()] }
    }

    fn log_prob(
        &self,
        states: States<'_>,
        _cache: &mut PottsCache,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        let mut inputs = vec![0.0; self.length()];
        for (state, log_prob) in states.rows().zip(log_prob) {
            *log_prob = self.fill(state, &mut inputs);
        }
        Ok(())
    }

    fn log_prob_and_diff(
        &self,
        _kind: Differences,
        states: States<'_>,
        _cache: &mut PottsCache,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        let (sites, values) = (self.space.sites(), self.space.values());
        let mut inputs = vec![0.0; self.length()];
        let tables = diff.chunks_exact_mut(self.space.diff_len());
        for ((state, log_prob), diff) in states.rows().zip(log_prob).zip(tables) {
            *log_prob = self.fill(state, &mut inputs);
            for (site, (value, inputs)) in state.iter().zip(inputs.chunks_exact(values)).enumerate()
            {
                let here = inputs[usize::from(*value)];
                if self.space.is_binary() {
                    diff[site] = (inputs[usize::from(1 - value)] - here) as f32;
                    continue;
                }
                for (plane, input) in inputs.iter().enumerate() {
                    diff[plane * sites + site] = (input - here) as f32;
                }
            }
        }
        Ok(())
    }

    fn is_incremental(&self) -> bool {
        true
    }

    fn follow(
        &self,
        state: &[u8],
        chain: usize,
        cache: &mut PottsCache,
    ) -> Result<f64, ModelError> {
        let length = self.length();
        Ok(self.fill(state, &mut cache.inputs[chain * length..(chain + 1) * length]))
    }

    fn site_diff(
        &self,
        state: &[u8],
        chain: usize,
        cache: &mut PottsCache,
        site: usize,
        diff: &mut [f64],
    ) -> Result<(), ModelError> {
        let values = self.space.values();
        let inputs = &cache.inputs[chain * self.length() + site * values..][..values];
        let here = inputs[usize::from(state[site])];
        for (diff, input) in diff.iter_mut().zip(inputs) {
            *diff = input - here;
        }
        Ok(())
    }

    fn set_site(
        &self,
        state: &mut [u8],
        chain: usize,
        cache: &mut PottsCache,
        site: usize,
        value: u8,
    ) {
        let length = self.length();
        let inputs = &mut cache.inputs[chain * length..(chain + 1) * length];
        add(inputs, self.row(site, state[site]), -1.0);
        add(inputs, self.row(site, value), 1.0);
        state[site] = value;
    }

    fn initial_state(&self, rng: &mut ChainRng, state: &mut [u8]) {
        for (value, start) in state.iter_mut().zip(self.start.chunks_exact(self.space.values())) {
            *value = rng.index(start, start.iter().sum()) as u8;
        }
    }

    /// Chains share the rows of couplings while these are in the processor's cache.
    fn block_size(&self, chains: usize) -> usize {
        chains.clamp(1, 32)
    }
}

impl Learnable for Potts {
    type Work = ();

    fn new_work(&self, _batch: usize) {}

    /// In the coordinates of [`centred`](Potts::centred).
    fn parameters(&self) -> Vec<f32> {
        let mut parameters = self.parameters.clone();
        for (field, shift) in parameters.iter_mut().zip(self.shifts()) {
            *field = (f64::from(*field) + shift) as f32;
        }
        parameters
    }

    fn set_parameters(&mut self, parameters: &[f32]) -> Result<(), ModelError> {
        self.parameters.copy_from_slice(parameters);
        self.lay_out();
        let shifts = self.shifts();
        for (field, shift) in self.parameters.iter_mut().zip(shifts) {
            *field = (f64::from(*field) - shift) as f32;
        }
        Ok(())
    }

    fn add_gradient(
        &self,
        state: &[u8],
        share: f32,
        gradient: &mut [f32],
    ) -> Result<(), ModelError> {
        self.add_mean_gradient(States::new(state, state.len()), share, &mut (), gradient)?;
        Ok(())
    }

    /// The mean of log π is that of the centred coordinates, whose constant is another.
    fn add_mean_gradient(
        &self,
        states: States<'_>,
        share: f32,
        _work: &mut (),
        gradient: &mut [f32],
    ) -> Result<f64, ModelError> {
        // Counted in double precision: each of thousands of states is a small share.
        let mut counts = vec![0.0f64; gradient.len()];
        add_counts(&self.space, states.bytes(), |_| 1.0, &mut counts);
        self.centre_counts(&mut counts, states.chains() as f64);
        let each = f64::from(share) / states.chains() as f64;
        let (parameters, mut log_prob) = (Learnable::parameters(self), 0.0);
        for ((gradient, count), parameter) in gradient.iter_mut().zip(&counts).zip(&parameters) {
            *gradient += (each * count) as f32;
            log_prob += count * f64::from(*parameter);
        }
        Ok(log_prob / states.chains() as f64)
    }
}

/// Where the couplings of two sites stand among the parameters, the first being the smaller one.
#[cfg(test)]
pub(super) fn place(space: &Space, (one, other): (usize, usize), (a, b): (u8, u8)) -> usize {
    let values = space.values();
    let before: usize = super::frequencies::lengths_of_pairs(space).take(one).sum();
    let own = (other - one - 1) * values * values + usize::from(a) * values + usize::from(b);
    space.sites() * values + before + own
}
