//! Couplings and fields on any graph, read from text files.

use super::file::seen_as;
use super::read::pairs::Pairs;
use super::{Building, Built};
#[cfg(feature = "clap")]
use super::{MODEL, parse};
use crate::error::ModelError;
use crate::model::edge_list::{read_edges, read_fields, sites_joined};
use crate::model::graph::Edge;
use crate::model::pairwise::Pairwise;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Couplings and fields on any graph, read from text files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(deny_unknown_fields)]
pub struct PairwiseSpec {
    /// Text file of edges 'i j J', one per line, sites numbered from 0
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", help_heading = MODEL))]
    pub edges: PathBuf,
    /// Text file of fields 'i b', or 'i value b' with more than two values
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", help_heading = MODEL))]
    pub fields: Option<PathBuf>,
    /// Values per site [default: 2]: couplings act on ±1 with two, on equal values with more
    #[cfg_attr(feature = "clap", arg(long, value_name = "C", help_heading = MODEL, value_parser = parse::values, allow_negative_numbers = true))]
    pub values: Option<usize>,
    /// Number of sites [default: as many as the edges name]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = MODEL, value_parser = parse::positive, allow_negative_numbers = true))]
    pub sites: Option<usize>,
}

impl PairwiseSpec {
    pub(super) const NAME: &str = "pairwise";

    pub(super) fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        std::iter::once(&mut self.edges).chain(&mut self.fields).collect()
    }

    pub(super) fn build(&self, building: &Building<'_>) -> Result<Built, ModelError> {
        let path = self.edges.display();
        let edges = read_edges(&self.edges)?;
        let joined = sites_joined(&edges);
        let sites = self.sites.unwrap_or(joined);
        if sites < joined {
            return Err(ModelError::invalid(format!(
                "at least {joined} sites are needed, not {sites}: {path} names site {}, and sites \
                 count from 0",
                joined - 1
            )));
        }
        if sites == 0 {
            return Err(ModelError::File {
                path: path.to_string(),
                reason: "holds no edge; without edges the number of sites is needed".to_owned(),
            });
        }
        let values = self.values.unwrap_or(2);
        building.check_sparse(sites, values)?;
        let fields = match &self.fields {
            Some(path) => read_fields(path, sites, values)?,
            None => vec![0.0; if values == 2 { sites } else { sites * values }],
        };
        let model = if values == 2 {
            Pairwise::ising(&edges, fields)
        } else {
            Pairwise::potts(values, &edges, &fields)
        }?;
        let (model, lattice) = model.seen_as_lattice()?;
        let kind = if values == 2 { "Ising" } else { "Potts" };
        let fields = if self.fields.is_some() { "fields from a file" } else { "no fields" };
        let doubts = doubts(&edges);
        let words =
            format!("{kind} model on the {} edges of {path}, {fields}{doubts}", edges.len());
        Ok(Built::new(Self::NAME, words + &seen_as(lattice), model))
    }
}

/// What a file of edges may not have meant: counting from 1, and pairs that are given twice.
fn doubts(edges: &[Edge]) -> String {
    let entry = |edge: &Edge| (edge.from, edge.to, f64::from(edge.weight));
    let pairs = Pairs(edges.iter().map(entry).collect());
    let doubts = [pairs.missing_first("site"), pairs.added_up().1];
    doubts.into_iter().flatten().map(|doubt| format!("; {doubt}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_have_been_meant_is_said() {
        let edges = |pairs: &[(u32, u32)]| -> Vec<Edge> {
            pairs.iter().map(|(from, to)| Edge { from: *from, to: *to, weight: 1.0 }).collect()
        };
        assert_eq!(doubts(&edges(&[(0, 1), (1, 2)])), "");
        assert!(doubts(&edges(&[(1, 2), (2, 3)])).contains("count from 1?"));
        assert!(doubts(&edges(&[(0, 1), (1, 0)])).contains("1 pair is given more than once"));
    }
}
