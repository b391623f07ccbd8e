//! Where states live: a number of sites, a number of values per site, and rows of bytes.

use crate::model::ModelError;

/// The set of states: `sites` sites, each holding one of `values` values `0, 1, …, values − 1`.
///
/// ```
/// use saltus::Space;
/// let space = Space::new(900, 4)?;
/// assert_eq!((space.sites(), space.values(), space.planes()), (900, 4, 4));
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    sites: usize,
    values: usize,
}

impl Space {
    /// A space of `sites ≥ 1` sites with `2 ..= 256` values each.
    pub fn new(sites: usize, values: usize) -> Result<Self, ModelError> {
        if sites == 0 {
            return Err(ModelError::invalid("a model needs at least one site, got 0"));
        }
        if sites > u32::MAX as usize {
            return Err(ModelError::invalid(format!(
                "{sites} sites are more than the {} saltus can index",
                u32::MAX
            )));
        }
        if !(2..=256).contains(&values) {
            return Err(ModelError::invalid(format!(
                "a site needs between 2 and 256 values, got {values}"
            )));
        }
        Ok(Self { sites, values })
    }

    /// Number of sites.
    pub fn sites(&self) -> usize {
        self.sites
    }

    /// Number of values per site.
    pub fn values(&self) -> usize {
        self.values
    }

    /// Whether every site has two values.
    pub fn is_binary(&self) -> bool {
        self.values == 2
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

    /// The states, chain after chain.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
        self.bytes.chunks_exact(self.sites)
    }
}
