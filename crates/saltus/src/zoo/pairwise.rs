//! Couplings and fields on any graph, read from text files.

use super::{Building, Title, UseModel};
#[cfg(feature = "clap")]
use super::{MODEL, parse};
use crate::error::ModelError;
use crate::model::edge_list::{read_edges, read_fields, sites_joined};
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

    pub(super) fn build<U: UseModel>(
        &self,
        building: &Building<'_>,
        user: U,
    ) -> Result<U::Output, ModelError> {
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
        let kind = if values == 2 { "Ising" } else { "Potts" };
        let fields = if self.fields.is_some() { "fields from a file" } else { "no fields" };
        let words = format!("{kind} model on the {} edges of {path}, {fields}", edges.len());
        Ok(user.call(Title { name: Self::NAME, words }, model))
    }
}
