//! A model from a file of any known format.

use super::Names;
use super::read::{Body, Format, ModelFile, PolynomialTerms, Spins, read_as};
use super::write::tables_of;
use super::{Building, Built, Extent, Size};
#[cfg(feature = "clap")]
use super::{MODEL, parse};
use crate::error::ModelError;
use crate::model::Model;
use crate::model::factor::Factor;
use crate::model::factors::Factors;
use crate::model::graph::Edge;
use crate::model::lattice::Lattice;
use crate::model::pairwise::Pairwise;
use crate::model::polynomial::Polynomial;
use crate::model::settled::Settled;
use crate::space::Space;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A model from a file of any known format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    /// The file, perhaps compressed by gzip; - is stdin
    #[cfg_attr(feature = "clap", arg(value_name = "FILE"))]
    pub path: PathBuf,
    /// Its format [default: found by what the file begins with]; `saltus list` names them all
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME", help_heading = MODEL))]
    pub format: Option<Format>,
    /// Names of an RBM's tensors, if they are others; .T behind a name transposes
    #[cfg_attr(feature = "clap", arg(long, value_name = "weight=W.T,…", value_delimiter = ',', value_parser = parse::pair, help_heading = MODEL))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub map: Vec<(String, String)>,
}

impl FileSpec {
    pub(super) const NAME: &str = "file";

    /// The model in that file, whatever its format.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), format: None, map: Vec::new() }
    }

    /// What the file calls its sites and their values, if it does.
    pub fn names(&self) -> Result<Names, ModelError> {
        let file = read_as(&self.path, self.format, &self.map)?.1;
        Ok(Names { sites: file.names, variables: file.variables })
    }

    pub(super) fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        // What was read from stdin has no place to be found at.
        if self.path == Path::new("-") { Vec::new() } else { vec![&mut self.path] }
    }

    pub(super) fn build(&self, building: &Building<'_>) -> Result<Built, ModelError> {
        let (format, file) = read_as(&self.path, self.format, &self.map)?;
        let failed = |error: ModelError| ModelError::File {
            path: self.path.display().to_string(),
            reason: error.to_string(),
        };
        let words = self.words(format, &file);
        match file.body {
            Body::Factors { cardinalities, factors } => {
                if cardinalities.iter().all(|values| *values == 1) && !cardinalities.is_empty() {
                    // One entry per table.
                    let log_prob = factors.iter().flat_map(Factor::log_values).sum();
                    let sites = cardinalities.len();
                    let settled =
                        Settled::new(Space::of_one_state(sites), vec![0; sites], log_prob);
                    return Ok(Built::new(Self::NAME, words, settled));
                }
                let space = Space::mixed(&cardinalities).map_err(failed)?;
                let parameters =
                    factors.iter().map(|one| one.log_values().len() * one.scope().len());
                let parameters = parameters.sum();
                let (sites, values) = (space.sites(), space.values());
                building.check(Extent { sites, values, parameters })?;
                let model = Factors::new(space, &factors).map_err(failed)?;
                drop(factors);
                Ok(Built::new(Self::NAME, words, model))
            }
            Body::Spins(spins) => {
                let (sites, couplings) = (spins.fields.len(), spins.couplings.len());
                building.check(Extent { sites, values: 2, parameters: sites + 4 * couplings })?;
                let (model, lattice) = model_of(&spins).map_err(failed)?;
                let words = words + &seen_as(lattice);
                if !building.exact {
                    return Ok(Built::new(Self::NAME, words, model));
                }
                let space = model.space().clone();
                let factors = tables_of(&spins).map_err(failed)?;
                Ok(Built::new(Self::NAME, words, Factors::new(space, &factors).map_err(failed)?))
            }
            Body::Polynomial(PolynomialTerms { variables, sites, terms }) => {
                let entries: usize = terms.iter().map(|(scope, _)| 1 + scope.len()).sum();
                building.check(Extent { sites, values: 2, parameters: sites + 4 * entries })?;
                let model = Polynomial::new(variables, sites, &terms).map_err(failed)?;
                Ok(Built::new(Self::NAME, words, model))
            }
            Body::Rbm(parameters) => {
                let (sites, values) = (parameters.visible_bias.len(), parameters.values);
                let weights = parameters.weight.len();
                building.check(Extent { sites, values, parameters: weights })?;
                Ok(Built::new(Self::NAME, words, parameters.rbm().map_err(failed)?))
            }
        }
    }

    fn words(&self, format: Format, file: &ModelFile) -> String {
        let name = match self.path == Path::new("-") {
            true => "stdin".into(),
            false => self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy(),
        };
        let assumed = match file.assumed.is_empty() {
            true => String::new(),
            false => format!("; {}", file.assumed.join("; ")),
        };
        format!("{} from {name} ({format}){assumed}", file.words)
    }
}

/// What a graph was seen to be.
pub(super) fn seen_as(lattice: Option<Lattice>) -> String {
    lattice.map_or(String::new(), |lattice| {
        let ((rows, columns), periodic) = (lattice.shape(), lattice.is_periodic());
        format!("; its graph is {}", Size { rows, columns }.words(periodic))
    })
}

/// The Ising model of these couplings, and the lattice that it is on, if it is on one.
fn model_of(spins: &Spins) -> Result<(Pairwise, Option<Lattice>), ModelError> {
    let single = |number: f64| number as f32;
    let edge = |(from, to, weight): &(u32, u32, f64)| Edge {
        from: *from,
        to: *to,
        weight: single(*weight),
    };
    let edges: Vec<Edge> = spins.couplings.iter().map(edge).collect();
    let fields = spins.fields.iter().copied().map(single).collect();
    Pairwise::ising(&edges, fields)?.with_constant(spins.constant).seen_as_lattice()
}
