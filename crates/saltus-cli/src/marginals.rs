//! `--marginals`: how likely every value of every site is, with errors.

use crate::export::put;
use crate::failure::Failure;
use crate::uai;
use saltus::{MarginalTable, Space};
use serde::Serialize;
use std::path::Path;

/// Marginals by site and value, and their standard errors: NaN, in JSON null, for one chain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SampledMarginals {
    pub marginals: Vec<Vec<f64>>,
    pub marginals_se: Vec<Vec<f64>>,
}

impl SampledMarginals {
    /// Those of an observer, each site with its own values; what is known of a site has no error.
    pub fn new(table: &MarginalTable, space: &Space, known: &[(usize, u8)]) -> Self {
        let own = |rows: &[Vec<f64>]| {
            let row = |(site, row): (usize, &Vec<f64>)| row[..space.values_at(site)].to_vec();
            rows.iter().enumerate().map(row).collect()
        };
        let mut marginals_se: Vec<Vec<f64>> = own(&table.spread);
        let single = (0..space.sites()).filter(|site| space.values_at(*site) == 1);
        for site in known.iter().map(|(site, _)| *site).chain(single) {
            marginals_se[site].fill(0.0);
        }
        Self { marginals: own(&table.mean), marginals_se }
    }

    /// Writes them as UAI competitions have them.
    pub fn write_uai(&self, path: &Path, replace: bool) -> Result<(), Failure> {
        put(path, replace, &uai::marginals(&self.marginals))
    }

    /// The first sites, in lines.
    pub fn words(&self) -> String {
        let mut text = "site  probabilities of its values, ± standard error\n".to_owned();
        let rows = self.marginals.iter().zip(&self.marginals_se).enumerate();
        for (site, (means, errors)) in rows.take(MOST_SITES) {
            let words = |(mean, se): (&f64, &f64)| match se.is_nan() {
                true => format!("{mean:.4} ± –"),
                false => format!("{mean:.4} ± {se:.4}"),
            };
            let both = means.iter().zip(errors).map(words);
            text += &format!("{site:>4}  {}\n", both.collect::<Vec<_>>().join("  "));
        }
        if self.marginals.len() > MOST_SITES {
            let more = self.marginals.len() - MOST_SITES;
            text += &format!("… and {more} more; --json has them all\n");
        }
        text
    }
}

/// Sites whose marginals are printed for people.
const MOST_SITES: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_have_their_own_values() {
        let table = MarginalTable {
            mean: vec![vec![0.25, 0.75, 0.0], vec![0.2, 0.3, 0.5]],
            spread: vec![vec![0.01, f64::NAN, 0.5], vec![0.25; 3]],
            fewest: None,
        };
        let own = SampledMarginals::new(&table, &Space::mixed(&[2, 3]).unwrap(), &[(1, 2)]);
        assert_eq!(own.marginals_se[1], [0.0; 3]);
        assert!(serde_json::to_string(&own).unwrap().contains("[0.01,null]"));
        assert_eq!(own.marginals, [vec![0.25, 0.75], vec![0.2, 0.3, 0.5]]);
        assert!(own.words().contains("   0  0.2500 ± 0.0100  0.7500 ± –\n"), "{}", own.words());
    }
}
