//! Refuses models and numbers of chains that cannot fit in memory, before they are built.

use crate::failure::Failure;

/// What a model and its chains are going to hold.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    /// Number of sites.
    pub sites: usize,
    /// Values per site.
    pub values: usize,
    /// Numbers among the model's parameters.
    pub parameters: usize,
    /// Number of chains.
    pub chains: usize,
}

/// Bytes that a sampler keeps per value of a site and chain, about: the state and its differences
/// and transition rows, here and at the proposal.
const PER_VALUE_AND_CHAIN: f64 = 24.0;
/// Bytes per parameter of a model, about: they are read, rearranged and kept.
const PER_PARAMETER: f64 = 16.0;

impl Demand {
    fn bytes(self) -> f64 {
        let planes = if self.values == 2 { 1 } else { self.values };
        let per_chain = PER_VALUE_AND_CHAIN * planes as f64 * self.sites as f64;
        per_chain * self.chains as f64 + PER_PARAMETER * self.parameters as f64
    }

    /// Fails if this is more than the machine has to offer.
    pub fn check(self) -> Result<(), Failure> {
        self.check_against(available().unwrap_or(UNKNOWN))
    }

    fn check_against(self, available: f64) -> Result<(), Failure> {
        let needed = self.bytes();
        if needed <= available {
            return Ok(());
        }
        Err(Failure::Usage(format!(
            "{} chains of {} sites with {} values need about {} of memory, but there are {}: \
             try fewer chains or a smaller model",
            self.chains,
            self.sites,
            self.values,
            gibibytes(needed),
            gibibytes(available)
        )))
    }
}

/// Fails if so many bytes of something are more than the machine has to offer.
pub fn check_bytes(what: &str, needed: f64) -> Result<(), Failure> {
    check_bytes_against(what, needed, available().unwrap_or(UNKNOWN))
}

fn check_bytes_against(what: &str, needed: f64, available: f64) -> Result<(), Failure> {
    if needed <= available {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{what} need about {} of memory, but there are {}",
        gibibytes(needed),
        gibibytes(available)
    )))
}

/// Taken as available where the system does not say.
const UNKNOWN: f64 = 64.0 * 1024.0 * 1024.0 * 1024.0;

fn gibibytes(bytes: f64) -> String {
    format!("{:.1} GiB", bytes / 1024f64.powi(3))
}

/// Bytes that Linux says can be had without swapping.
fn available() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_impossible_is_refused_and_the_rest_is_not() {
        let demand = |sites, chains| Demand { sites, values: 2, parameters: sites, chains };
        assert_eq!(demand(2500, 100).check(), Ok(()));
        assert!(demand(2500, 100).check_against(1000.0).is_err());
        assert!(demand(usize::MAX, usize::MAX).check().is_err());
        let gibibyte = 1024f64.powi(3);
        assert_eq!(check_bytes_against("weights", gibibyte, gibibyte), Ok(()));
        assert_eq!(
            check_bytes_against("weights", 3.0 * gibibyte, gibibyte),
            Err(Failure::Usage(
                "weights need about 3.0 GiB of memory, but there are 1.0 GiB".into()
            ))
        );
    }
}
