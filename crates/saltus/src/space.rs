//! Where states live: a number of sites, the number of values of each, and rows of bytes.

use crate::error::ModelError;
use std::sync::Arc;

/// The set of states: sites that hold one of their values `0, 1, …`.
///
/// Most spaces are uniform: every site has the same number of values, and all loops run over planes
/// of sites. A [mixed](Space::mixed) space has a number of values for every site, one included; its
/// planes are those of the largest number, and what a site does not have is masked: no sampler
/// proposes it and no model is asked for it.
///
/// A space may have a [shape](Space::with_shape), which pictures and stores use. Two spaces are equal
/// if they hold the same states, whatever their shapes.
///
/// ```
/// use saltus::Space;
/// let space = Space::new(900, 4)?.with_shape(&[30, 30])?;
/// assert_eq!((space.sites(), space.values(), space.planes()), (900, 4, 4));
/// let mixed = Space::mixed(&[2, 5, 1])?;
/// assert_eq!((mixed.values(), mixed.values_at(0), mixed.free_sites()), (5, 2, 2));
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Space {
    sites: usize,
    /// The largest number of values of a site.
    values: usize,
    mixed: Option<Arc<Mixed>>,
    shape: Option<Arc<[usize]>>,
}

/// What a mixed space knows of its sites.
#[derive(Debug, PartialEq, Eq)]
struct Mixed {
    cardinalities: Vec<u16>,
    /// Sites with more than one value.
    free: Vec<u32>,
    /// Entries of a table of differences that belong to values which do not exist.
    masked: Vec<u32>,
    /// For every entry of a table of differences, whether its value exists: 1 or 0.
    exists: Vec<u8>,
    /// Changes of a single site from a state.
    changes: usize,
}

impl PartialEq for Space {
    fn eq(&self, other: &Self) -> bool {
        let all = |space: &Self| (space.sites, space.values);
        all(self) == all(other) && self.mixed == other.mixed
    }
}

impl Eq for Space {}

/// Values that a byte can tell apart.
const MOST_VALUES: usize = 256;

impl Space {
    /// A space of `sites ≥ 1` sites with `2 ..= 256` values each.
    pub fn new(sites: usize, values: usize) -> Result<Self, ModelError> {
        check_sites(sites)?;
        if !(2..=MOST_VALUES).contains(&values) {
            return Err(ModelError::invalid(format!(
                "a site needs between 2 and {MOST_VALUES} values, got {values}"
            )));
        }
        Ok(Self { sites, values, mixed: None, shape: None })
    }

    /// A space whose sites have these numbers of values, from 1 to 256; at least one has more than
    /// one.
    pub fn mixed(cardinalities: &[usize]) -> Result<Self, ModelError> {
        let sites = cardinalities.len();
        check_sites(sites)?;
        let most = cardinalities.iter().copied().max().unwrap_or(0);
        let allowed = 1..=MOST_VALUES;
        if let Some(site) = cardinalities.iter().position(|values| !allowed.contains(values)) {
            return Err(ModelError::invalid(format!(
                "site {site} has {} values; a site needs between 1 and {MOST_VALUES}",
                cardinalities[site]
            )));
        }
        if most == 1 {
            return Err(ModelError::invalid("every site has a single value: nothing can change"));
        }
        if cardinalities.iter().all(|values| *values == most) {
            return Self::new(sites, most);
        }
        let mut space = Self { sites, values: most, mixed: None, shape: None };
        if space.diff_len() > u32::MAX as usize {
            return Err(ModelError::invalid(format!(
                "{sites} sites of up to {most} values are more than saltus can index"
            )));
        }
        // With two values the one plane is that of flips.
        let first = if space.is_binary() { 1 } else { 0 };
        let exists: Vec<u8> = (first..most)
            .flat_map(|value| (0..sites).map(move |site| u8::from(value < cardinalities[site])))
            .collect();
        space.mixed = Some(Arc::new(Mixed {
            masked: (0..exists.len() as u32).filter(|entry| exists[*entry as usize] == 0).collect(),
            exists,
            free: (0..sites as u32).filter(|site| cardinalities[*site as usize] > 1).collect(),
            changes: cardinalities.iter().map(|values| values - 1).sum(),
            cardinalities: cardinalities.iter().map(|values| *values as u16).collect(),
        }));
        Ok(space)
    }

    /// A space of a single state, in which nothing can change.
    pub(crate) fn of_one_state(sites: usize) -> Self {
        Self { sites, values: 1, mixed: None, shape: None }
    }

    /// The same with its sites arranged in rows and columns, or in any number of dimensions; the
    /// last one runs fastest.
    pub fn with_shape(mut self, shape: &[usize]) -> Result<Self, ModelError> {
        let sites = shape.iter().try_fold(1usize, |sites, length| sites.checked_mul(*length));
        if sites != Some(self.sites) {
            return Err(ModelError::invalid(format!(
                "a shape of {shape:?} does not have {} sites",
                self.sites
            )));
        }
        self.shape = Some(shape.into());
        Ok(self)
    }

    /// Number of sites.
    pub fn sites(&self) -> usize {
        self.sites
    }

    /// Number of values of a site; in a mixed space the largest.
    pub fn values(&self) -> usize {
        self.values
    }

    /// Number of values of that site.
    #[inline]
    pub fn values_at(&self, site: usize) -> usize {
        match &self.mixed {
            None => self.values,
            Some(mixed) => usize::from(mixed.cardinalities[site]),
        }
    }

    /// Whether every site has the same number of values.
    pub fn is_uniform(&self) -> bool {
        self.mixed.is_none()
    }

    /// Whether no site has more than two values.
    pub fn is_binary(&self) -> bool {
        self.values == 2
    }

    /// How the sites are arranged, if that is known.
    pub fn shape(&self) -> Option<&[usize]> {
        self.shape.as_deref()
    }

    /// Number of sites that have more than one value.
    pub fn free_sites(&self) -> usize {
        match &self.mixed {
            Some(mixed) => mixed.free.len(),
            None if self.values == 1 => 0,
            None => self.sites,
        }
    }

    /// The site of that number among those that have more than one value.
    #[inline]
    pub fn free_site(&self, number: usize) -> usize {
        self.mixed.as_ref().map_or(number, |mixed| mixed.free[number] as usize)
    }

    /// Number of states that differ from a state at one site.
    pub fn changes(&self) -> usize {
        self.mixed.as_ref().map_or(self.sites * (self.values - 1), |mixed| mixed.changes)
    }

    /// Planes of a difference table: one (the flip) for two values, else one per value.
    pub fn planes(&self) -> usize {
        if self.is_binary() { 1 } else { self.values }
    }

    /// Length of one chain's difference table: `planes × sites`, plane after plane, so that loops
    /// run over neighbouring sites whatever the number of values.
    pub fn diff_len(&self) -> usize {
        self.planes() * self.sites
    }

    /// Entries of a chain's difference table that belong to values which do not exist.
    pub fn masked(&self) -> &[u32] {
        self.mixed.as_ref().map_or(&[], |mixed| &mixed.masked)
    }

    /// For every entry of a chain's difference table, whether its value exists: 1 or 0; empty in a
    /// uniform space.
    pub(crate) fn exists(&self) -> &[u8] {
        self.mixed.as_ref().map_or(&[], |mixed| &mixed.exists)
    }

    /// Writes −∞ where a chain's difference table speaks of values which do not exist.
    #[inline]
    pub fn mask(&self, diff: &mut [f32]) {
        for entry in self.masked() {
            diff[*entry as usize] = f32::NEG_INFINITY;
        }
    }

    /// The first site of a state that has a value which does not exist.
    pub fn misplaced(&self, state: &[u8]) -> Option<usize> {
        (0..state.len()).find(|site| usize::from(state[*site]) >= self.values_at(*site))
    }

    /// The sites and values in a few words: "900 sites × 4 values".
    pub fn words(&self) -> String {
        match &self.mixed {
            None => format!("{} sites × {} values", self.sites, self.values),
            Some(mixed) => {
                let least = mixed.cardinalities.iter().min().copied().unwrap_or(1);
                format!("{} sites × {least} to {} values", self.sites, self.values)
            }
        }
    }
}

fn check_sites(sites: usize) -> Result<(), ModelError> {
    if sites == 0 {
        return Err(ModelError::invalid("a model needs at least one site, got 0"));
    }
    if sites > u32::MAX as usize {
        return Err(ModelError::invalid(format!(
            "{sites} sites are more than the {} saltus can index",
            u32::MAX
        )));
    }
    Ok(())
}

/// The states of a block of chains, one row of bytes per chain.
#[derive(Clone, Copy, Debug)]
pub struct States<'a> {
    bytes: &'a [u8],
    sites: usize,
}

impl<'a> States<'a> {
    /// Rows of `sites` bytes each.
    ///
    /// # Panics
    /// If `bytes` is not a whole number of rows.
    pub fn new(bytes: &'a [u8], sites: usize) -> Self {
        assert!(sites > 0 && bytes.len().is_multiple_of(sites), "states must be whole rows");
        Self { bytes, sites }
    }

    /// Number of chains.
    pub fn chains(&self) -> usize {
        self.bytes.len() / self.sites
    }

    /// Number of sites of each chain.
    pub fn sites(&self) -> usize {
        self.sites
    }

    /// The state of one chain.
    pub fn row(&self, chain: usize) -> &'a [u8] {
        &self.bytes[chain * self.sites..(chain + 1) * self.sites]
    }

    /// All states as bytes, chain after chain.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The states, chain after chain.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
        self.bytes.chunks_exact(self.sites)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mixed_space_masks_what_its_sites_do_not_have() {
        let space = Space::mixed(&[3, 1, 2]).unwrap();
        assert_eq!((space.sites(), space.values(), space.diff_len()), (3, 3, 9));
        assert_eq!((space.free_sites(), space.free_site(1), space.changes()), (2, 2, 3));
        let mut diff = [0.0; 9];
        space.mask(&mut diff);
        let masked: Vec<usize> = (0..9).filter(|at| diff[*at] == f32::NEG_INFINITY).collect();
        // Value 1 of site 1, value 2 of sites 1 and 2.
        assert_eq!(masked, [4, 7, 8]);
        assert_eq!((space.misplaced(&[2, 0, 1]), space.misplaced(&[2, 1, 1])), (None, Some(1)));
        assert_eq!(space.words(), "3 sites × 1 to 3 values");
        // Flips of sites that have one value.
        assert_eq!(Space::mixed(&[2, 1, 1]).unwrap().masked(), [1, 2]);
    }

    #[test]
    fn equal_numbers_make_a_uniform_space() {
        let space = Space::mixed(&[4, 4]).unwrap();
        assert!(space.is_uniform() && space.masked().is_empty());
        assert_eq!(space, Space::new(2, 4).unwrap().with_shape(&[2, 1]).unwrap());
        assert_ne!(space, Space::mixed(&[4, 3]).unwrap());
    }

    #[test]
    fn impossible_spaces_are_refused_in_a_sentence() {
        let reason = |space: Result<Space, ModelError>| space.unwrap_err().to_string();
        assert!(reason(Space::mixed(&[2, 0])).contains("site 1 has 0 values"));
        assert!(reason(Space::mixed(&[257])).contains("site 0 has 257 values"));
        assert!(reason(Space::mixed(&[1, 1])).contains("nothing can change"));
        assert!(reason(Space::mixed(&[])).contains("at least one site"));
        let shaped = Space::new(6, 2).unwrap().with_shape(&[2, 2]);
        assert_eq!(reason(shaped), "a shape of [2, 2] does not have 6 sites");
    }
}
