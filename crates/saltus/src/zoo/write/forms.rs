//! A model in the form that a format asks for: tables, spins, a polynomial; or why it has none.

use crate::model::Model;
use crate::model::factor::Factor;
use crate::model::polynomial::{Polynomial, Variables};
use crate::zoo::read::pairs::Pairs;
use crate::zoo::read::{Body, PolynomialTerms, Spins};
use std::collections::BTreeMap;

/// Sites in a table that is made of a term, or in a term that is made of a table.
const MOST_SITES: usize = 16;

/// Why tables are no couplings of pairs.
pub(super) const TOO_WIDE: &str = "has tables of more than two sites: write .uai";

/// What a file says, to be had in several forms.
pub(crate) struct Forms<'a>(pub(crate) &'a Body);

impl Forms<'_> {
    /// Numbers of values, and tables.
    pub(crate) fn tables(&self) -> Result<(Vec<usize>, Vec<Factor>), String> {
        match self.0 {
            Body::Factors { cardinalities, factors } => {
                Ok((cardinalities.clone(), factors.clone()))
            }
            Body::Spins(spins) => {
                let factors = tables_of(spins).map_err(|error| error.to_string())?;
                Ok((vec![2; spins.fields.len()], factors))
            }
            Body::Polynomial(terms) => {
                let model = Polynomial::new(terms.variables, terms.sites, &terms.terms);
                let factors = model.map_err(|error| error.to_string())?.factors();
                let factors = factors.ok_or_else(|| {
                    format!("a term of more than {MOST_SITES} variables is no table: write .poly")
                })?;
                Ok((vec![2; terms.sites], factors))
            }
            Body::Rbm(_) => Err("an RBM has no tables: write .npz or .safetensors".to_owned()),
        }
    }

    /// Tables of one or two sites of equally many values, without zeros.
    pub(crate) fn pair_tables(&self) -> Result<(Vec<usize>, Vec<Factor>), String> {
        let (cardinalities, factors) = self.tables()?;
        if cardinalities.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err("sites have different numbers of values: write .uai".to_owned());
        }
        if factors.iter().any(|factor| factor.scope().len() > 2) {
            return Err(TOO_WIDE.to_owned());
        }
        let is_zero = |factor: &Factor| factor.log_values().contains(&f64::NEG_INFINITY);
        if factors.iter().any(is_zero) {
            return Err("has hard zeros, which couplings cannot say: write .uai".to_owned());
        }
        Ok((cardinalities, factors))
    }

    /// Products of spins or of bits.
    pub(crate) fn polynomial(&self) -> Result<PolynomialTerms, String> {
        match self.0 {
            Body::Polynomial(terms) => Ok(terms.clone()),
            Body::Spins(spins) => Ok(polynomial_of(spins)),
            Body::Factors { cardinalities, factors } => products(cardinalities, factors),
            Body::Rbm(_) => Err("an RBM is no polynomial: write .npz or .safetensors".to_owned()),
        }
    }

    /// Spins that interact in pairs.
    pub(crate) fn spins(&self) -> Result<Spins, String> {
        if let Body::Spins(spins) = self.0 {
            return Ok(spins.clone());
        }
        let terms = in_spins(self.polynomial()?)?;
        let mut spins = Spins { fields: vec![0.0; terms.sites], ..Spins::default() };
        let mut couplings = Pairs::default();
        for (scope, coefficient) in terms.terms {
            match scope[..] {
                [] => spins.constant += coefficient,
                [site] => spins.fields[site as usize] += coefficient,
                [one, other] => couplings.0.push((one, other, coefficient)),
                _ => {
                    return Err(format!(
                        "has a term of {} variables, which is no quadratic energy: write .poly or .uai",
                        scope.len()
                    ));
                }
            }
        }
        // Terms may have been given more than once, which a file of pairs does not do.
        spins.couplings = couplings.added_up().0;
        Ok(spins)
    }
}

/// A table per field and coupling.
pub(crate) fn tables_of(spins: &Spins) -> Result<Vec<Factor>, crate::error::ModelError> {
    let mut factors = vec![Factor::new([], [spins.constant])?];
    for (site, field) in spins.fields.iter().enumerate().filter(|(_, field)| **field != 0.0) {
        factors.push(Factor::new([site as u32], [-field, *field])?);
    }
    for (one, other, weight) in &spins.couplings {
        factors.push(Factor::new([*one, *other], [*weight, -weight, -weight, *weight])?);
    }
    Ok(factors)
}

fn polynomial_of(spins: &Spins) -> PolynomialTerms {
    let mut terms = vec![(Vec::new(), spins.constant)];
    let fields = spins.fields.iter().enumerate().filter(|(_, field)| **field != 0.0);
    terms.extend(fields.map(|(site, field)| (vec![site as u32], *field)));
    let pairs = spins.couplings.iter();
    terms.extend(pairs.map(|(one, other, weight)| (vec![*one, *other], *weight)));
    PolynomialTerms { variables: Variables::Spins, sites: spins.fields.len(), terms }
}

/// Tables of bits as products of spins: the coefficient of a set of sites is the mean of the table times their
/// product (Walsh).
fn products(cardinalities: &[usize], factors: &[Factor]) -> Result<PolynomialTerms, String> {
    if let Some(site) = cardinalities.iter().position(|values| *values != 2) {
        return Err(format!(
            "site {site} has {} values, which are no spins: write .uai",
            cardinalities[site]
        ));
    }
    let mut merged: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
    for factor in factors {
        let (scope, logs) = (factor.scope(), factor.log_values());
        if scope.len() > MOST_SITES {
            return Err(format!("has a table of {} sites: write .uai", scope.len()));
        }
        if logs.contains(&f64::NEG_INFINITY) {
            return Err("has hard zeros, which an energy cannot say: write .uai".to_owned());
        }
        let mut means = logs.to_vec();
        // The last site runs fastest; value 1 is +1.
        for bit in 0..scope.len() {
            for place in (0..means.len()).filter(|place| place >> bit & 1 == 0) {
                let (down, up) = (means[place], means[place | 1 << bit]);
                (means[place], means[place | 1 << bit]) = (0.5 * (up + down), 0.5 * (up - down));
            }
        }
        for (place, mean) in means.iter().enumerate().filter(|(_, mean)| **mean != 0.0) {
            let chosen = (0..scope.len()).filter(|at| place >> (scope.len() - 1 - at) & 1 == 1);
            let mut sites: Vec<u32> = chosen.map(|at| scope[at]).collect();
            sites.sort_unstable();
            *merged.entry(sites).or_insert(0.0) += mean;
        }
    }
    let terms = merged.into_iter().collect();
    Ok(PolynomialTerms { variables: Variables::Spins, sites: cardinalities.len(), terms })
}

/// The same with spins: a product of bits (1 + s)/2 is the mean of all products of its spins.
fn in_spins(terms: PolynomialTerms) -> Result<PolynomialTerms, String> {
    if terms.variables == Variables::Spins {
        return Ok(terms);
    }
    let mut merged: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
    for (scope, coefficient) in terms.terms {
        if scope.len() > MOST_SITES {
            return Err(format!("has a term of {} bits: write .poly", scope.len()));
        }
        let share = coefficient / f64::from(1u32 << scope.len());
        for chosen in 0..1usize << scope.len() {
            let sites = (0..scope.len()).filter(|at| chosen >> at & 1 == 1);
            let mut sites: Vec<u32> = sites.map(|at| scope[at]).collect();
            sites.sort_unstable();
            *merged.entry(sites).or_insert(0.0) += share;
        }
    }
    let terms_of_spins = merged.into_iter().filter(|(_, coefficient)| *coefficient != 0.0);
    Ok(PolynomialTerms {
        variables: Variables::Spins,
        sites: terms.sites,
        terms: terms_of_spins.collect(),
    })
}
