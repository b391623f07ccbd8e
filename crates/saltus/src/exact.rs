//! Exact answers where they can be had: log Z, marginals, the likeliest state and independent draws.
//!
//! Two ways: listing all states, of any model, where there are few; and eliminating one site after the
//! other, of models that are sums of tables (`Model::factors`), where the graph is close to a tree.

mod eliminate;
mod enumerate;
mod means;
mod order;

pub(crate) use means::{by_elimination, of_all_states};

use crate::error::ModelError;
use crate::model::Model;
use crate::rng::ChainRng;
use crate::space::Space;
use eliminate::Eliminated;
use enumerate::Listed;
use order::{Order, order};

/// Most states that are listed.
pub const MOST_STATES: usize = 1 << 22;
/// Most numbers in the tables of an elimination, all together.
pub const MOST_ENTRIES: usize = 1 << 24;
/// Sites beyond which no order of elimination is looked for.
const MOST_SITES: usize = 20_000;

/// How an exact answer is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// All states are listed.
    Enumeration,
    /// Sites are summed out one after the other.
    Elimination,
}

impl Way {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Enumeration => "enumeration",
            Self::Elimination => "elimination",
        }
    }
}

/// Why there is no exact answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExactError {
    /// It would take too much memory.
    #[error("{0}")]
    TooLarge(String),
    /// No state is possible.
    #[error("no state is possible: log Z is −∞")]
    Impossible,
    /// The model could not be evaluated.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// The exact distribution of a model, in terms of the states that it shows.
///
/// ```
/// use saltus::exact::Exact;
/// use saltus::model::lattice::Lattice;
/// use saltus::model::pairwise::Pairwise;
/// // A ring of n spins: Z = (2 cosh J)^n + (2 sinh J)^n.
/// let ring = Pairwise::ising_lattice(Lattice::free(1, 40)?, 0.5, vec![0.0; 40])?;
/// let exact = Exact::new(&ring)?;
/// // An open row of spins: Z = 2 (2 cosh J)^39.
/// assert!((exact.log_z() - (2f64.ln() + 39.0 * (2.0 * 0.5f64.cosh()).ln())).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Exact {
    found: Found,
    log_z: f64,
    marginals: Vec<Vec<f64>>,
    map: Vec<u8>,
    map_log_prob: f64,
    view: View,
    sites: usize,
}

enum Found {
    Listed(Listed),
    Eliminated(Eliminated),
}

/// What a way leads to, in terms of the model's own states.
struct Answer {
    log_z: f64,
    marginals: Vec<Vec<f64>>,
    map: Vec<u8>,
    map_log_prob: f64,
}

/// How an exact answer could be found, if it could.
enum Plan {
    List(usize),
    Eliminate(Order),
}

fn plan<M: Model>(model: &M) -> Result<Plan, ExactError> {
    let space = model.space();
    let states = states(space).filter(|states| *states <= MOST_STATES);
    let factors = if space.sites() <= MOST_SITES { model.factors() } else { None };
    let eliminated = factors.map(|factors| order(space, &factors, MOST_ENTRIES));
    match (states, eliminated) {
        // An elimination that is not much work is preferred to a long list.
        (Some(states), Some(Ok(order))) if states > 1 << 12 && order.entries < states => {
            Ok(Plan::Eliminate(order))
        }
        (Some(states), _) => Ok(Plan::List(states)),
        (None, Some(Ok(order))) => Ok(Plan::Eliminate(order)),
        (None, Some(Err(entries))) => Err(ExactError::TooLarge(format!(
            "there are too many states to list ({}), and eliminating sites would need tables of \
             more than {entries:.0e} numbers, of which {MOST_ENTRIES} are allowed",
            space.words()
        ))),
        (None, None) => Err(ExactError::TooLarge(format!(
            "there are too many states to list ({}; at most {MOST_STATES}), and the model is no sum \
             of tables whose sites could be eliminated",
            space.words()
        ))),
    }
}

/// Number of states, if it can be counted.
fn states(space: &Space) -> Option<usize> {
    (0..space.sites()).try_fold(1usize, |all, site| all.checked_mul(space.values_at(site)))
}

/// The way to an exact answer, if there is one; nothing is computed but the order of elimination.
pub fn way<M: Model>(model: &M) -> Option<Way> {
    plan(model).ok().map(|plan| match plan {
        Plan::List(_) => Way::Enumeration,
        Plan::Eliminate(_) => Way::Elimination,
    })
}

impl Exact {
    /// The exact distribution of a model, by whichever way is open.
    pub fn new<M: Model>(model: &M) -> Result<Self, ExactError> {
        Self::at(model, 1.0)
    }

    /// That of π^β. What is impossible stays so at every β.
    ///
    /// ```
    /// use saltus::{Independent, exact::Exact};
    /// let spin = Independent::bernoulli(vec![0.7])?;
    /// assert!((Exact::at(&spin, 2.0)?.log_z() - (1.0 + 1.4f64.exp()).ln()).abs() < 1e-7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn at<M: Model>(model: &M, beta: f64) -> Result<Self, ExactError> {
        let (found, answer) = match plan(model)? {
            Plan::List(states) => {
                let (listed, answer) = Listed::new(model, states, beta)?;
                (Found::Listed(listed), answer)
            }
            Plan::Eliminate(order) => {
                let factors = model.factors().unwrap_or_default();
                let raised = factors.iter().map(|factor| factor.raised(beta));
                let factors = raised.collect::<Result<_, _>>()?;
                let (eliminated, answer) = Eliminated::new(model.space(), factors, order)?;
                (Found::Eliminated(eliminated), answer)
            }
        };
        let Answer { log_z, marginals, map, map_log_prob } = answer;
        let view = View::new(model);
        Ok(Self {
            found,
            log_z,
            marginals: view.marginals(model.shown_space(), marginals),
            map: view.state(&map),
            map_log_prob,
            sites: model.space().sites(),
            view,
        })
    }

    /// log Σ π.
    pub fn log_z(&self) -> f64 {
        self.log_z
    }

    /// The probability of every value of every site.
    pub fn marginals(&self) -> &[Vec<f64>] {
        &self.marginals
    }

    /// The likeliest state, or one of them.
    pub fn map(&self) -> &[u8] {
        &self.map
    }

    /// log π of the likeliest state, or of π^β, not normalised.
    pub fn map_log_prob(&self) -> f64 {
        self.map_log_prob
    }

    /// How it was found.
    pub fn way(&self) -> Way {
        match self.found {
            Found::Listed(_) => Way::Enumeration,
            Found::Eliminated(_) => Way::Elimination,
        }
    }

    /// Draws a state, independent of all others.
    pub fn draw(&self, rng: &mut ChainRng) -> Vec<u8> {
        let mut state = vec![0; self.sites];
        match &self.found {
            Found::Listed(listed) => listed.draw(rng, &mut state),
            Found::Eliminated(eliminated) => eliminated.draw(rng, &mut state),
        }
        self.view.state(&state)
    }
}

/// What the sites of a model mean in the states that it shows.
struct View {
    /// What is shown of the state of zeros.
    shown: Vec<u8>,
    /// For every site and value the shown sites that depend on it, and their values.
    meanings: Vec<Vec<Vec<(u32, u8)>>>,
}

impl View {
    fn new<M: Model>(model: &M) -> Self {
        let (space, shown_space) = (model.space(), model.shown_space());
        let mut shown = vec![0; shown_space.sites()];
        let mut state = vec![0; space.sites()];
        model.show(&state, &mut shown);
        if space == shown_space {
            let itself = |site: usize| {
                (0..space.values_at(site)).map(|value| vec![(site as u32, value as u8)]).collect()
            };
            return Self { shown, meanings: (0..space.sites()).map(itself).collect() };
        }
        let mut meanings = Vec::with_capacity(space.sites());
        for site in 0..space.sites() {
            let mut seen: Vec<Vec<u8>> = Vec::new();
            for value in 1..space.values_at(site) {
                let mut changed = shown.clone();
                state[site] = value as u8;
                model.show(&state, &mut changed);
                seen.push(changed);
            }
            state[site] = 0;
            let depends = |place: &usize| seen.iter().any(|seen| seen[*place] != shown[*place]);
            let places: Vec<usize> = (0..shown.len()).filter(depends).collect();
            let meaning = |seen: &Vec<u8>| -> Vec<(u32, u8)> {
                places.iter().map(|place| (*place as u32, seen[*place])).collect()
            };
            meanings.push(std::iter::once(&shown).chain(&seen).map(meaning).collect());
        }
        Self { shown, meanings }
    }

    fn state(&self, state: &[u8]) -> Vec<u8> {
        let mut shown = self.shown.clone();
        for (meanings, value) in self.meanings.iter().zip(state) {
            for (place, seen) in &meanings[usize::from(*value)] {
                shown[*place as usize] = *seen;
            }
        }
        shown
    }

    fn marginals(&self, space: &Space, marginals: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        let known = |site: usize| {
            let mut certain = vec![0.0; space.values_at(site)];
            certain[usize::from(self.shown[site])] = 1.0;
            certain
        };
        let mut all: Vec<Vec<f64>> = (0..space.sites()).map(known).collect();
        for (meanings, marginal) in self.meanings.iter().zip(marginals) {
            for (place, _) in &meanings[0] {
                all[*place as usize].fill(0.0);
            }
            for (meaning, probability) in meanings.iter().zip(marginal) {
                for (place, seen) in meaning {
                    all[*place as usize][usize::from(*seen)] += probability;
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests;
