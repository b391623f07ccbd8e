//! A table over some sites: what factor graphs are made of, and what elimination works on.

use crate::error::ModelError;
use crate::space::Space;

/// The logarithms of a potential over some sites; −∞ is a hard zero.
///
/// The last site of the scope runs fastest. A factor of no sites is a constant.
///
/// ```
/// use saltus::model::factor::Factor;
/// // Two bits that never are both one.
/// let factor = Factor::from_potentials(&[3, 7], &[1.0, 0.5, 0.5, 0.0])?;
/// assert_eq!(factor.log_values()[3], f64::NEG_INFINITY);
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    scope: Box<[u32]>,
    log_values: Box<[f64]>,
}

/// Logarithms beyond this are nothing that differences in single precision could hold.
const LARGEST: f64 = 1e30;

/// β log p; what is impossible stays so.
pub(crate) fn raised(log: f64, beta: f64) -> f64 {
    if log == f64::NEG_INFINITY { log } else { beta * log }
}

impl Factor {
    /// A factor of these sites and logarithms.
    pub fn new(
        scope: impl Into<Box<[u32]>>,
        log_values: impl Into<Box<[f64]>>,
    ) -> Result<Self, ModelError> {
        let (scope, log_values) = (scope.into(), log_values.into());
        let sound = |log: &f64| *log == f64::NEG_INFINITY || log.abs() <= LARGEST;
        if let Some(at) = log_values.iter().position(|log| !sound(log)) {
            return Err(ModelError::invalid(format!(
                "entry {at} of the factor of sites {scope:?} has the logarithm {}",
                log_values[at]
            )));
        }
        let mut sorted = scope.to_vec();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(ModelError::invalid(format!(
                "a factor of sites {scope:?} names site {} twice",
                pair[0]
            )));
        }
        Ok(Self { scope, log_values })
    }

    /// A factor of these sites and potentials, which are not negative.
    pub fn from_potentials(scope: &[u32], potentials: &[f64]) -> Result<Self, ModelError> {
        if let Some(at) = potentials.iter().position(|value| !(*value >= 0.0 && value.is_finite()))
        {
            return Err(ModelError::invalid(format!(
                "entry {at} of the factor of sites {scope:?} is {}, not a potential: these are \
                 finite and not negative",
                potentials[at]
            )));
        }
        Self::new(scope, potentials.iter().map(|value| value.ln()).collect::<Box<[f64]>>())
    }

    /// The same of the distribution to the power of β.
    pub(crate) fn raised(&self, beta: f64) -> Result<Self, ModelError> {
        let logs = self.log_values.iter().map(|log| raised(*log, beta));
        Self::new(self.scope.clone(), logs.collect::<Box<[f64]>>())
    }

    /// Its sites.
    pub fn scope(&self) -> &[u32] {
        &self.scope
    }

    /// Its logarithms, the last site of the scope fastest.
    pub fn log_values(&self) -> &[f64] {
        &self.log_values
    }

    /// Fails unless its sites are of that space and its table has an entry for each of their states.
    pub fn check(&self, space: &Space) -> Result<(), ModelError> {
        if let Some(site) = self.scope.iter().find(|site| **site as usize >= space.sites()) {
            return Err(ModelError::invalid(format!(
                "a factor names site {site}, but the last site is {}",
                space.sites() - 1
            )));
        }
        let states = states_of(space, &self.scope);
        if states != Some(self.log_values.len()) {
            return Err(ModelError::invalid(format!(
                "the factor of sites {:?} has {} entries, but their values make {}",
                self.scope,
                self.log_values.len(),
                states.map_or("too many".to_owned(), |states| states.to_string())
            )));
        }
        Ok(())
    }

    /// By how much the place in the table moves with each site's value.
    pub(crate) fn strides(&self, space: &Space) -> Vec<usize> {
        strides_of(space, &self.scope)
    }

    /// The same with its sites in increasing order.
    pub(crate) fn sorted(&self, space: &Space) -> Self {
        let mut scope = self.scope.to_vec();
        scope.sort_unstable();
        if *scope == *self.scope {
            return self.clone();
        }
        let log_values = self.arranged(space, &scope);
        Self { scope: scope.into(), log_values: log_values.into() }
    }

    /// Its logarithms with the same sites in another order, the last one fastest.
    pub(crate) fn arranged(&self, space: &Space, scope: &[u32]) -> Vec<f64> {
        let own = self.strides(space);
        let stride = |site: &u32| match self.scope.iter().position(|other| other == site) {
            Some(at) => own[at],
            None => 0,
        };
        let strides: Vec<usize> = scope.iter().map(stride).collect();
        let mut places = Places::new(space, scope, strides);
        (0..self.log_values.len()).map(|_| self.log_values[places.next_place()]).collect()
    }

    /// What is left of it where some sites are known.
    pub fn given(&self, space: &Space, known: &[Option<u8>]) -> Self {
        let strides = self.strides(space);
        let value = |site: &u32| known.get(*site as usize).copied().flatten();
        let sites = || self.scope.iter().zip(&strides);
        let start: usize = sites()
            .map(|(site, stride)| value(site).map_or(0, |value| usize::from(value) * stride))
            .sum();
        let (scope, strides): (Vec<u32>, Vec<usize>) =
            sites().filter(|(site, _)| value(site).is_none()).unzip();
        let entries = states_of(space, &scope).unwrap_or(0);
        let mut places = Places::new(space, &scope, strides);
        let log_values: Vec<f64> =
            (0..entries).map(|_| self.log_values[start + places.next_place()]).collect();
        Self { scope: scope.into(), log_values: log_values.into() }
    }

    /// The same with other names of its sites.
    pub(crate) fn renamed(self, name: impl Fn(u32) -> u32) -> Self {
        let scope = self.scope.iter().map(|site| name(*site)).collect();
        Self { scope, ..self }
    }
}

/// Number of states of some sites, if it can be counted.
pub(crate) fn states_of(space: &Space, scope: &[u32]) -> Option<usize> {
    scope.iter().try_fold(1usize, |all, site| all.checked_mul(space.values_at(*site as usize)))
}

/// The strides of a table over these sites, the last one fastest.
pub(crate) fn strides_of(space: &Space, scope: &[u32]) -> Vec<usize> {
    let mut strides = vec![1; scope.len()];
    for at in (1..scope.len()).rev() {
        strides[at - 1] = strides[at] * space.values_at(scope[at] as usize);
    }
    strides
}

/// Goes through the states of some sites, the last one fastest, and tells the place of each in a table
/// of other strides.
pub(crate) struct Places {
    cardinalities: Vec<usize>,
    strides: Vec<usize>,
    values: Vec<usize>,
    place: usize,
}

impl Places {
    pub(crate) fn new(space: &Space, scope: &[u32], strides: Vec<usize>) -> Self {
        let cardinalities = scope.iter().map(|site| space.values_at(*site as usize)).collect();
        Self { cardinalities, values: vec![0; scope.len()], strides, place: 0 }
    }

    /// The place of the present state; then goes on to the next, from the last to the first.
    #[inline]
    pub(crate) fn next_place(&mut self) -> usize {
        let place = self.place;
        for at in (0..self.values.len()).rev() {
            self.values[at] += 1;
            self.place += self.strides[at];
            if self.values[at] < self.cardinalities[at] {
                break;
            }
            self.place -= self.strides[at] * self.cardinalities[at];
            self.values[at] = 0;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> Space {
        Space::mixed(&[2, 3, 4]).unwrap()
    }

    /// A factor whose entries tell the state they belong to.
    fn telling(scope: &[u32]) -> Factor {
        let states = states_of(&space(), scope).unwrap();
        let strides = strides_of(&space(), scope);
        let digits = |place: usize| {
            let value = |at: usize| place / strides[at] % space().values_at(scope[at] as usize);
            (0..scope.len()).map(|at| (value(at) * 10usize.pow(scope[at])) as f64).sum::<f64>()
        };
        Factor::new(scope, (0..states).map(digits).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn order_of_sites_does_not_change_what_entries_belong_to() {
        assert_eq!(telling(&[2, 0, 1]).sorted(&space()), telling(&[0, 1, 2]));
        assert_eq!(telling(&[1, 0]).sorted(&space()), telling(&[0, 1]));
    }

    #[test]
    fn what_is_known_is_taken_out() {
        let known = [Some(1), None, Some(3)];
        let left = telling(&[2, 1, 0]).given(&space(), &known);
        assert_eq!(left.scope(), [1]);
        assert_eq!(left.log_values(), [301.0, 311.0, 321.0]);
        let constant = telling(&[0, 2]).given(&space(), &known);
        assert_eq!((constant.scope().len(), constant.log_values()), (0, &[301.0][..]));
    }

    #[test]
    fn impossible_tables_are_refused_in_a_sentence() {
        let reason = |factor: Result<Factor, ModelError>| factor.unwrap_err().to_string();
        assert!(reason(Factor::from_potentials(&[0], &[1.0, -0.5])).contains("entry 1"));
        assert!(reason(Factor::from_potentials(&[0], &[f64::NAN, 1.0])).contains("NaN"));
        assert!(reason(Factor::new([0], [f64::INFINITY, 0.0])).contains("inf"));
        assert!(reason(Factor::new([1, 0, 1], [0.0; 18])).contains("site 1 twice"));
        let check = |factor: Factor| factor.check(&space()).unwrap_err().to_string();
        assert_eq!(
            check(Factor::new([3], [0.0, 0.0]).unwrap()),
            "a factor names site 3, but the last site is 2"
        );
        assert!(check(Factor::new([0, 1], [0.0; 5]).unwrap()).contains("5 entries"));
    }
}
