//! Pairs of sites that like to be equal, or to differ, as cluster moves see them.

use super::factor::Factor;
use crate::adjacency::Adjacency;
use crate::error::ModelError;
use crate::space::Space;
use std::collections::{BTreeMap, HashMap};

/// log π = c + Σ wᵢⱼ δ(xᵢ, xⱼ) + Σ θᵢ(xᵢ), where no loop of pairs is frustrated: some state gives every pair what
/// it likes.
///
/// Of two values every table over a pair is of this kind, since a spin model of couplings J has w = 2J; a negative w likes
/// the two to differ. Of more values all w are positive.
///
/// ```
/// use saltus::model::graph::Edge;
/// use saltus::{Model, Pairwise};
/// let edge = |from, to, weight| Edge { from, to, weight };
/// let ring = |last| [edge(0, 1, 0.5), edge(1, 2, -0.5), edge(2, 0, last)];
/// let couplings = |last| Pairwise::ising(&ring(last), vec![0.0; 3])?.couplings();
/// assert_eq!(couplings(-0.5)?.pairs().len(), 3);
/// assert!(couplings(0.5).unwrap_err().to_string().contains("frustrated"));
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Couplings {
    space: Space,
    constant: f64,
    pairs: Vec<(u32, u32)>,
    /// Which weight each pair has, in their order and in that of the adjacency's rows.
    kinds: Vec<u32>,
    kinds_around: Vec<u32>,
    weights: Vec<f64>,
    adjacency: Adjacency,
    /// θ of every value of every site, one site after the other.
    fields: Vec<f64>,
    has_field: bool,
}

/// Parts of a table that are smaller than this share of its largest entry are rounding.
const ROUNDING: f64 = 1e-7;

impl Couplings {
    /// The couplings of a model that is the sum of these tables; the error says why it has none.
    pub fn new(space: &Space, factors: &[Factor]) -> Result<Self, ModelError> {
        let mut sum = Sum::new(space);
        for factor in factors {
            sum.add(factor)?;
        }
        let Sum { constant, fields, pairs, .. } = sum;
        let pairs: Vec<_> = pairs.into_iter().filter(|(_, weight)| *weight != 0.0).collect();
        check_balance(space, &pairs)?;
        let (pairs, of_pairs): (Vec<_>, Vec<f64>) = pairs.into_iter().unzip();
        let (mut weights, mut known) = (Vec::new(), HashMap::new());
        let mut kind = |weight: &f64| {
            *known.entry(weight.to_bits()).or_insert_with(|| {
                weights.push(*weight);
                weights.len() as u32 - 1
            })
        };
        let kinds: Vec<u32> = of_pairs.iter().map(&mut kind).collect();
        let adjacency = Adjacency::new(space.sites(), &pairs);
        let mut kinds_around = vec![0; 2 * pairs.len()];
        for (kind, (one, other)) in kinds.iter().zip(adjacency.places(&pairs)) {
            (kinds_around[one], kinds_around[other]) = (*kind, *kind);
        }
        let has_field = fields.chunks_exact(space.values()).enumerate().any(|(site, field)| {
            field[..space.values_at(site)].iter().any(|value| *value != field[0])
        });
        let space = space.clone();
        Ok(Self {
            space,
            constant,
            pairs,
            kinds,
            kinds_around,
            weights,
            adjacency,
            fields,
            has_field,
        })
    }

    /// The pairs, each once.
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// The space of the sites.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Which of the [`weights`](Self::weights) each pair has.
    pub fn kinds(&self) -> &[u32] {
        &self.kinds
    }

    /// All weights w that pairs have.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The neighbours of a site, and which weight each pair has.
    #[inline]
    pub fn around(&self, site: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let kinds = &self.kinds_around[self.adjacency.row(site)];
        let pairs = self.adjacency.neighbours(site).iter().zip(kinds);
        pairs.map(|(other, kind)| (*other as usize, *kind as usize))
    }

    /// Whether a value of a site is likelier than another by itself.
    pub fn has_field(&self) -> bool {
        self.has_field
    }

    /// θ of a value of a site.
    #[inline]
    pub fn field(&self, site: usize, value: u8) -> f64 {
        self.fields[site * self.space.values() + usize::from(value)]
    }

    /// log π of a state.
    pub fn log_prob(&self, state: &[u8]) -> f64 {
        let equal = |(one, other): &(u32, u32)| state[*one as usize] == state[*other as usize];
        let pairs = self.pairs.iter().zip(&self.kinds);
        let of_pairs: f64 = match self.weights[..] {
            [weight] => weight * self.pairs.iter().filter(|pair| equal(pair)).count() as f64,
            _ => pairs
                .map(|(pair, kind)| if equal(pair) { self.weights[*kind as usize] } else { 0.0 })
                .sum(),
        };
        if !self.has_field {
            return self.constant + of_pairs;
        }
        let fields = state.iter().enumerate().map(|(site, value)| self.field(site, *value));
        self.constant + of_pairs + fields.sum::<f64>()
    }
}

/// Tables that are added up.
struct Sum<'s> {
    space: &'s Space,
    constant: f64,
    fields: Vec<f64>,
    pairs: BTreeMap<(u32, u32), f64>,
}

impl<'s> Sum<'s> {
    fn new(space: &'s Space) -> Self {
        let fields = vec![0.0; space.sites() * space.values()];
        Self { space, constant: 0.0, fields, pairs: BTreeMap::new() }
    }

    fn add(&mut self, factor: &Factor) -> Result<(), ModelError> {
        let table = factor.log_values();
        if table.contains(&f64::NEG_INFINITY) {
            return refused("some of its states are forbidden");
        }
        let free: Vec<u32> = (factor.scope().iter().copied())
            .filter(|site| self.space.values_at(*site as usize) > 1)
            .collect();
        match free[..] {
            [] => self.constant += table[0],
            [site] => self.add_field(site, table),
            [one, other] => self.add_pair(one, other, table)?,
            _ => return refused(&format!("a table joins {} sites", free.len())),
        }
        Ok(())
    }

    fn add_field(&mut self, site: u32, table: &[f64]) {
        let first = site as usize * self.space.values();
        for (field, log) in self.fields[first..].iter_mut().zip(table) {
            *field += log;
        }
    }

    /// T(x, y) = c + a(x) + b(y) + w δ(x, y) with a(0) = b(0) = 0.
    fn add_pair(&mut self, one: u32, other: u32, table: &[f64]) -> Result<(), ModelError> {
        let (rows, columns) =
            (self.space.values_at(one as usize), self.space.values_at(other as usize));
        let at = |x: usize, y: usize| table[x * columns + y];
        let rounding = ROUNDING * table.iter().fold(0.0, |most: f64, log| most.max(log.abs()));
        let weight = match rows == columns {
            true => 0.5 * (at(0, 0) + at(1, 1) - at(0, 1) - at(1, 0)),
            false => 0.0,
        };
        let weight = if weight.abs() <= rounding { 0.0 } else { weight };
        let constant = at(0, 0) - weight;
        let of_one: Vec<f64> =
            (0..rows).map(|x| if x == 0 { 0.0 } else { at(x, 0) - constant }).collect();
        let of_other: Vec<f64> =
            (0..columns).map(|y| if y == 0 { 0.0 } else { at(0, y) - constant }).collect();
        let rest = |x: usize, y: usize| {
            let equal = if x == y { weight } else { 0.0 };
            at(x, y) - constant - of_one[x] - of_other[y] - equal
        };
        if (0..rows).any(|x| (0..columns).any(|y| rest(x, y).abs() > 4.0 * rounding)) {
            return refused(&format!(
                "sites {one} and {other} see more of each other than whether they are equal"
            ));
        }
        self.constant += constant;
        self.add_field(one, &of_one);
        self.add_field(other, &of_other);
        *self.pairs.entry((one.min(other), one.max(other))).or_default() += weight;
        Ok(())
    }
}

/// Why clusters cannot be built, in a sentence.
fn refused<T>(reason: &str) -> Result<T, ModelError> {
    Err(ModelError::invalid(format!(
        "clusters are for pairs of sites that like to be equal, or for spins without frustration, but {reason}: gibbs \
         samples it, on a ladder of temperatures if it has several modes"
    )))
}

/// Fails if some loop of pairs cannot be satisfied.
fn check_balance(space: &Space, pairs: &[((u32, u32), f64)]) -> Result<(), ModelError> {
    // Of every site another one of its cluster, and whether the two like to differ.
    let mut parents: Vec<(u32, bool)> =
        (0..space.sites() as u32).map(|site| (site, false)).collect();
    let find = |parents: &[(u32, bool)], mut site: u32| {
        let mut differs = false;
        while parents[site as usize].0 != site {
            differs ^= parents[site as usize].1;
            site = parents[site as usize].0;
        }
        (site, differs)
    };
    for ((one, other), weight) in pairs {
        if *weight < 0.0 && space.values_at(*one as usize) > 2 {
            return refused(&format!(
                "sites {one} and {other} of more than two values like to differ"
            ));
        }
        let ((root, differs), (other_root, other_differs)) =
            (find(&parents, *one), find(&parents, *other));
        // Shorter ways for the next time.
        if root != *one {
            parents[*one as usize] = (root, differs);
        }
        if other_root != *other {
            parents[*other as usize] = (other_root, other_differs);
        }
        let like_to_differ = *weight < 0.0;
        if root != other_root {
            parents[other_root as usize] = (root, differs ^ other_differs ^ like_to_differ);
        } else if differs ^ other_differs != like_to_differ {
            return refused(&format!(
                "its couplings are frustrated: a loop through sites {one} and {other} cannot satisfy all of them"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::model::factors::Factors;
    use crate::model::graph::Edge;
    use crate::model::lattice::Lattice;
    use crate::model::pairwise::Pairwise;
    use crate::space::States;

    fn reason(space: &Space, factors: &[Factor]) -> String {
        Couplings::new(space, factors).unwrap_err().to_string()
    }

    #[test]
    fn log_prob_is_the_models() {
        let field: Vec<f32> = (0..12).map(|i| (i as f32).sin()).collect();
        let spins = Pairwise::ising_lattice(Lattice::periodic(3, 4).unwrap(), 0.4, field.clone());
        let edges = [Edge { from: 0, to: 2, weight: 0.7 }, Edge { from: 1, to: 2, weight: 0.2 }];
        let values = Pairwise::potts(4, &edges, &field).unwrap();
        for model in [spins.unwrap(), values] {
            let couplings = model.couplings().unwrap();
            for number in 0..50u32 {
                let (sites, values) = (model.space().sites(), model.space().values() as u32);
                let state: Vec<u8> = (0..sites as u32)
                    .map(|site| ((number * 7 + site * number * 5) % values) as u8)
                    .collect();
                let mut log_prob = [0.0];
                let states = States::new(&state, sites);
                model.log_prob(states, &mut model.new_cache(1), &mut log_prob).unwrap();
                assert!((couplings.log_prob(&state) - log_prob[0]).abs() < 1e-5, "{state:?}");
            }
        }
    }

    #[test]
    fn tables_of_two_bits_are_always_couplings() {
        let space = Space::new(2, 2).unwrap();
        let table = [0.3, -1.2, 0.9, 0.1];
        let couplings = Couplings::new(&space, &[Factor::new([1, 0], table).unwrap()]).unwrap();
        for (at, log) in table.iter().enumerate() {
            let state = [(at % 2) as u8, (at / 2) as u8];
            assert!((couplings.log_prob(&state) - log).abs() < 1e-12);
        }
    }

    #[test]
    fn what_has_no_clusters_is_refused_in_a_sentence() {
        let bits = Space::new(3, 2).unwrap();
        let zero = Factor::new([0, 1], [0.0, 0.0, 0.0, f64::NEG_INFINITY]).unwrap();
        assert!(reason(&bits, &[zero]).contains("forbidden"));
        let three = Factor::new([0, 1, 2], [0.0; 8]).unwrap();
        assert!(reason(&bits, &[three]).contains("joins 3 sites"));
        let values = Space::new(2, 3).unwrap();
        let any =
            Factor::new([0, 1], (0..9).map(|i| f64::from(i * i)).collect::<Vec<_>>()).unwrap();
        assert!(reason(&values, &[any]).contains("sites 0 and 1 see more"));
        let differ = (0..9).map(|i| if i % 4 == 0 { -1.0 } else { 0.0 }).collect::<Vec<_>>();
        assert!(
            reason(&values, &[Factor::new([0, 1], differ).unwrap()]).contains("like to differ")
        );
    }

    #[test]
    fn bits_among_other_values_have_couplings_too() {
        let space = Space::mixed(&[2, 3, 2, 3]).unwrap();
        let equal = |one: u32, other: u32, values: usize, weight: f64| {
            let entries =
                (0..values * values).map(|at| if at % (values + 1) == 0 { weight } else { 0.0 });
            Factor::new([one, other], entries.collect::<Vec<_>>()).unwrap()
        };
        let factors = vec![equal(0, 2, 2, -0.8), equal(1, 3, 3, 0.5)];
        let model = Factors::new(space, &factors).unwrap();
        assert_eq!(model.couplings().unwrap().weights(), [-0.8, 0.5]);
    }
}
