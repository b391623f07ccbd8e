//! Finds states that hard zeros allow: propagation of what is still possible, and a search that
//! goes back where nothing is.

use super::factor::Factor;
use crate::rng::ChainRng;
use crate::space::Space;
use std::collections::VecDeque;

/// The factors with zeros, and which of them each site is in.
#[derive(Clone, Debug, Default)]
pub(super) struct Constraints {
    tables: Vec<Table>,
    /// Constraints of every site.
    of_site: Vec<Vec<u32>>,
    /// Sites that are in a constraint.
    bound: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Table {
    scope: Vec<u32>,
    strides: Vec<usize>,
    allowed: Vec<bool>,
}

/// Values that a site may still have, one bit each.
type Domain = [u64; 4];

/// States of a table's sites beyond which it says nothing yet.
const MOST_LOOKED_AT: usize = 1 << 14;
/// Times the search may go back before it starts anew, and how often it does; each time it may go back
/// twice as often.
const STEPS_BACK: usize = 200;
const STARTS: u32 = 8;

impl Constraints {
    pub(super) fn new<'f>(space: &Space, factors: impl Iterator<Item = &'f Factor>) -> Self {
        let mut found = Self { of_site: vec![Vec::new(); space.sites()], ..Self::default() };
        for factor in factors {
            let allowed: Vec<bool> =
                factor.log_values().iter().map(|log| *log > f64::NEG_INFINITY).collect();
            if allowed.iter().all(|allowed| *allowed) {
                continue;
            }
            for site in factor.scope() {
                found.of_site[*site as usize].push(found.tables.len() as u32);
            }
            let (scope, strides) = (factor.scope().to_vec(), factor.strides(space));
            found.tables.push(Table { scope, strides, allowed });
        }
        found.bound = (0..space.sites() as u32)
            .filter(|site| !found.of_site[*site as usize].is_empty())
            .collect();
        found
    }

    /// Whether there is no zero.
    pub(super) fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Draws a state that no zero forbids and that has the known values; whether there is one that was
    /// found. Without it the state is one that is forbidden.
    pub(super) fn draw(
        &self,
        space: &Space,
        known: &[Option<u8>],
        rng: &mut ChainRng,
        state: &mut [u8],
    ) -> bool {
        for (site, value) in state.iter_mut().enumerate() {
            *value = match known.get(site).copied().flatten() {
                Some(value) => value,
                None => rng.below(space.values_at(site)) as u8,
            };
        }
        if self.is_empty() {
            return true;
        }
        let mut weights = vec![1.0; self.tables.len()];
        for start in 0..STARTS {
            let mut search = Search::new(self, space, known, &mut weights);
            match search.go(STEPS_BACK << start, rng) {
                Found::Yes => {
                    for site in &self.bound {
                        state[*site as usize] = search.only(*site);
                    }
                    return true;
                }
                Found::None => return false,
                Found::GaveUp => {}
            }
        }
        false
    }
}

enum Found {
    Yes,
    /// There is none.
    None,
    GaveUp,
}

struct Search<'a> {
    constraints: &'a Constraints,
    domains: Vec<Domain>,
    /// What domains were before they shrank.
    trail: Vec<(u32, Domain)>,
    /// Sites whose value was chosen, the value, and how long the trail was.
    choices: Vec<(u32, u8, usize)>,
    queue: VecDeque<u32>,
    queued: Vec<bool>,
    /// How often each constraint was what failed: such sites are chosen first.
    weights: &'a mut [f64],
}

impl<'a> Search<'a> {
    fn new(
        constraints: &'a Constraints,
        space: &Space,
        known: &[Option<u8>],
        weights: &'a mut [f64],
    ) -> Self {
        let domain = |site: usize| match known.get(site).copied().flatten() {
            Some(value) => single(value),
            None => first(space.values_at(site)),
        };
        let tables = constraints.tables.len();
        Self {
            constraints,
            domains: (0..space.sites()).map(domain).collect(),
            trail: Vec::new(),
            choices: Vec::new(),
            queue: (0..tables as u32).collect(),
            queued: vec![true; tables],
            weights,
        }
    }

    /// The only value that a site has left.
    fn only(&self, site: u32) -> u8 {
        values(&self.domains[site as usize]).next().unwrap_or(0)
    }

    fn go(&mut self, steps_back: usize, rng: &mut ChainRng) -> Found {
        let mut back = 0;
        let mut sound = self.propagate();
        loop {
            while !sound {
                let Some((site, value, length)) = self.choices.pop() else {
                    return Found::None;
                };
                back += 1;
                if back > steps_back {
                    return Found::GaveUp;
                }
                self.undo(length);
                // That value of that site leads nowhere from here.
                let mut left = self.domains[site as usize];
                left[usize::from(value / 64)] &= !(1 << (value % 64));
                sound = self.shrink(site, left) && self.propagate();
            }
            let Some(site) = self.next_site(rng) else {
                return Found::Yes;
            };
            let domain = self.domains[site as usize];
            let value = values(&domain).nth(rng.below(count(&domain))).unwrap_or(0);
            self.choices.push((site, value, self.trail.len()));
            sound = self.shrink(site, single(value)) && self.propagate();
        }
    }

    /// An undecided site with few values left and much trouble, among some.
    fn next_site(&self, rng: &mut ChainRng) -> Option<u32> {
        const LOOKED_AT: usize = 2048;
        let bound = &self.constraints.bound;
        let shift = rng.below(bound.len());
        let undecided = (0..bound.len())
            .map(|at| bound[(at + shift) % bound.len()])
            .filter(|site| count(&self.domains[*site as usize]) > 1);
        let trouble = |site: u32| -> f64 {
            let own = &self.constraints.of_site[site as usize];
            own.iter().map(|table| self.weights[*table as usize]).sum()
        };
        let score = |site: &u32| count(&self.domains[*site as usize]) as f64 / trouble(*site);
        undecided.take(LOOKED_AT).min_by(|one, other| score(one).total_cmp(&score(other)))
    }

    fn undo(&mut self, length: usize) {
        while self.trail.len() > length {
            if let Some((site, domain)) = self.trail.pop() {
                self.domains[site as usize] = domain;
            }
        }
        for table in self.queue.drain(..) {
            self.queued[table as usize] = false;
        }
    }

    /// Leaves a site these values, and looks at its constraints again; whether any is left.
    fn shrink(&mut self, site: u32, left: Domain) -> bool {
        let domain = &mut self.domains[site as usize];
        if *domain != left {
            self.trail.push((site, *domain));
            *domain = left;
            for table in &self.constraints.of_site[site as usize] {
                if !self.queued[*table as usize] {
                    self.queued[*table as usize] = true;
                    self.queue.push_back(*table);
                }
            }
        }
        left != [0; 4]
    }

    /// Takes out all values that no state of a constraint's sites supports; whether every site has one left.
    fn propagate(&mut self) -> bool {
        while let Some(number) = self.queue.pop_front() {
            self.queued[number as usize] = false;
            let constraints = self.constraints;
            let table = &constraints.tables[number as usize];
            let Some(supported) = self.supported(table) else {
                continue;
            };
            for (site, domain) in table.scope.iter().zip(supported) {
                if !self.shrink(*site, domain) {
                    self.weights[number as usize] += 1.0;
                    return false;
                }
            }
        }
        true
    }

    /// For each site of a constraint the values that some allowed state has; none if there are too many
    /// states to look at.
    fn supported(&self, table: &Table) -> Option<Vec<Domain>> {
        let left: Vec<Vec<u8>> = table
            .scope
            .iter()
            .map(|site| values(&self.domains[*site as usize]).collect())
            .collect();
        let states = left.iter().try_fold(1usize, |all, values| all.checked_mul(values.len()))?;
        if states > MOST_LOOKED_AT {
            return None;
        }
        let mut supported = vec![[0; 4]; left.len()];
        let mut at = vec![0; left.len()];
        for _ in 0..states {
            let here = at.iter().zip(&left).map(|(at, values)| values[*at]);
            let place: usize = here
                .clone()
                .zip(&table.strides)
                .map(|(value, stride)| usize::from(value) * stride)
                .sum();
            if table.allowed[place] {
                for (supported, value) in supported.iter_mut().zip(here) {
                    supported[usize::from(value / 64)] |= 1 << (value % 64);
                }
            }
            for (at, values) in at.iter_mut().zip(&left) {
                *at += 1;
                if *at < values.len() {
                    break;
                }
                *at = 0;
            }
        }
        Some(supported)
    }
}

fn single(value: u8) -> Domain {
    let mut domain = [0; 4];
    domain[usize::from(value / 64)] = 1 << (value % 64);
    domain
}

fn first(values: usize) -> Domain {
    let mut domain = [0; 4];
    for value in 0..values.min(256) {
        domain[value / 64] |= 1 << (value % 64);
    }
    domain
}

fn count(domain: &Domain) -> usize {
    domain.iter().map(|bits| bits.count_ones() as usize).sum()
}

fn values(domain: &Domain) -> impl Iterator<Item = u8> + '_ {
    (0..=255u8).filter(|value| domain[usize::from(value / 64)] >> (value % 64) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// Neighbours on a ring have different colours.
    fn ring(sites: u32, colours: usize) -> (Space, Vec<Factor>) {
        let space = Space::new(sites as usize, colours).unwrap();
        let table: Vec<f64> = (0..colours * colours)
            .map(|place| f64::from(u8::from(place / colours != place % colours)))
            .collect();
        let pair = |site| Factor::from_potentials(&[site, (site + 1) % sites], &table).unwrap();
        (space, (0..sites).map(pair).collect())
    }

    fn draw(colours: usize, sites: u32, known: &[Option<u8>], seed: u64) -> Option<Vec<u8>> {
        let (space, factors) = ring(sites, colours);
        let constraints = Constraints::new(&space, factors.iter());
        let mut state = vec![0; sites as usize];
        let mut rng = ChainRng::new(seed, Stream::Chain(0));
        constraints.draw(&space, known, &mut rng, &mut state).then_some(state)
    }

    #[test]
    fn colourings_of_a_ring_are_found_where_there_are_some() {
        for seed in 0..5 {
            for (colours, sites) in [(2, 40), (3, 41), (5, 200)] {
                let known = [Some(1), None, Some(1)];
                let state = draw(colours, sites, &known, seed).expect("there is one");
                assert_eq!((state[0], state[2]), (1, 1));
                let next = |at: usize| state[(at + 1) % state.len()];
                assert!((0..state.len()).all(|at| state[at] != next(at)), "{state:?}");
            }
        }
        assert_ne!(draw(3, 50, &[], 1), draw(3, 50, &[], 2), "starts differ");
    }

    #[test]
    fn what_is_impossible_is_not_found() {
        assert_eq!(draw(2, 41, &[], 0), None);
        assert_eq!(draw(2, 40, &[Some(0), Some(0)], 0), None);
    }
}
