//! What is known of the states of whatever model is built: fixed sites, one-hot groups, fixed sums; and
//! that there is a state to start from.

use super::Built;
use crate::error::ModelError;
use crate::model::Model;
use crate::model::clamped::{Clamped, known};
use crate::model::erased::Erased;
use crate::model::fixed_sum::{FixedSum, FixedSums};
use crate::model::one_hot::OneHot;
use crate::model::settled::Settled;
use crate::rng::{ChainRng, Stream};
use crate::space::{Space, States};

/// What is known of the states of a model, in terms of its own sites.
///
/// ```
/// use saltus::model::erased::Erased;
/// use saltus::model::fixed_sum::FixedSum;
/// use saltus::model::independent::Independent;
/// use saltus::zoo::Given;
/// use saltus::Model;
/// let given = Given {
///     evidence: vec![(5, 1)],
///     one_hot: vec![vec![0, 1, 2]],
///     sums: vec![FixedSum { total: 2, sites: vec![3, 4, 5, 6] }],
/// };
/// let model = given.apply(Erased::new(Independent::bernoulli(vec![0.0; 7])?))?;
/// // The group is one site of three values, site 5 is gone, and one is left of the sum.
/// assert_eq!((model.space().sites(), model.sums()[0].total), (4, 1));
/// assert_eq!(model.shown_space().sites(), 7);
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// Sites that are fixed, and their values.
    pub evidence: Vec<(usize, u8)>,
    /// Groups of bits of which exactly one is set.
    pub one_hot: Vec<Vec<u32>>,
    /// Sums that are fixed; one without sites is about all sites that nothing else is said of.
    pub sums: Vec<FixedSum>,
}

impl Given {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.evidence.is_empty() && self.one_hot.is_empty() && self.sums.is_empty()
    }

    /// The model given what is known.
    pub fn apply(&self, model: Erased) -> Result<Erased, ModelError> {
        let Self { evidence, one_hot, sums } = self.settled(model.space())?;
        if let Some(settled) = settled_by(&model, &evidence)? {
            return Ok(Erased::new(settled));
        }
        let mut model = model;
        // What the sites that are left are called, step by step.
        let mut numbers: Vec<u32> = (0..model.space().sites() as u32).collect();
        if !evidence.is_empty() {
            let free = |site: &u32| !evidence.iter().any(|(fixed, _)| *fixed == *site as usize);
            let left: Vec<u32> = numbers.iter().copied().filter(free).collect();
            for (number, site) in left.iter().enumerate() {
                numbers[*site as usize] = number as u32;
            }
            model = Erased::new(Clamped::new(model, &evidence)?);
        }
        let renamed = |sites: &[u32], numbers: &[u32]| -> Vec<u32> {
            sites.iter().map(|site| numbers[*site as usize]).collect()
        };
        if !one_hot.is_empty() {
            let groups: Vec<Vec<u32>> =
                one_hot.iter().map(|group| renamed(group, &numbers)).collect();
            let grouped = OneHot::new(model, &groups)?;
            let mut owners = vec![0; grouped.inner().space().sites()];
            for (site, members) in grouped.members().iter().enumerate() {
                members.iter().for_each(|member| owners[*member as usize] = site as u32);
            }
            // Fixed sites have no owner, and nobody asks for it.
            numbers.iter_mut().for_each(|number| {
                *number = owners.get(*number as usize).copied().unwrap_or(u32::MAX);
            });
            model = Erased::new(grouped);
        }
        if !sums.is_empty() {
            let sums: Vec<FixedSum> = sums
                .into_iter()
                .map(|sum| FixedSum { sites: renamed(&sum.sites, &numbers), ..sum })
                .collect();
            model = Erased::new(FixedSums::new(model, &sums)?);
        }
        Ok(model)
    }

    /// The same where no site is spoken of twice: what evidence leaves of groups and sums.
    fn settled(&self, space: &Space) -> Result<Self, ModelError> {
        let sums = self.of_named_sites(space)?;
        let mut known: Vec<Option<u8>> = vec![None; space.sites()];
        for (site, value) in &self.evidence {
            if let Some(known) = known.get_mut(*site) {
                *known = Some(*value);
            }
        }
        let mut settled = Self { evidence: self.evidence.clone(), ..Self::default() };
        for group in &self.one_hot {
            let is = |site: &u32, value: u8| known[*site as usize] == Some(value);
            let ones = group.iter().filter(|site| is(site, 1)).count();
            let mut open: Vec<u32> = group.clone();
            open.retain(|site| known[*site as usize].is_none());
            match (ones, &open[..]) {
                (0, [_, _, ..]) => settled.one_hot.push(open),
                (0, [only]) => settled.evidence.push((*only as usize, 1)),
                (1, _) => settled.evidence.extend(open.iter().map(|site| (*site as usize, 0))),
                (0, []) => {
                    return Err(ModelError::invalid(
                        "all sites of a one-hot group are fixed at 0: none can be 1",
                    ));
                }
                _ => {
                    return Err(ModelError::invalid(format!(
                        "{ones} sites of a one-hot group are fixed at 1: only one can be"
                    )));
                }
            }
        }
        for FixedSum { total, sites } in sums {
            let of_known: usize =
                sites.iter().filter_map(|site| known[*site as usize]).map(usize::from).sum();
            let mut open = sites;
            open.retain(|site| known[*site as usize].is_none());
            let most: usize = open.iter().map(|site| space.values_at(*site as usize) - 1).sum();
            match total.checked_sub(of_known) {
                Some(left) if left == 0 || left == most => {
                    let value = |site: u32| match left {
                        0 => 0,
                        _ => space.values_at(site as usize) as u8 - 1,
                    };
                    settled.evidence.extend(open.iter().map(|site| (*site as usize, value(*site))));
                }
                Some(left) if left < most => match &open[..] {
                    [only] => settled.evidence.push((*only as usize, left as u8)),
                    _ => settled.sums.push(FixedSum { total: left, sites: open }),
                },
                _ => {
                    return Err(ModelError::invalid(format!(
                        "a sum cannot be {total}: fixed sites make {of_known} of it, and the others \
                         {most} at most"
                    )));
                }
            }
        }
        Ok(settled)
    }

    /// The sums with all their sites named. Fails where a site is named twice or does not exist.
    fn of_named_sites(&self, space: &Space) -> Result<Vec<FixedSum>, ModelError> {
        let mut named = vec![false; space.sites()];
        let groups = self.one_hot.iter().map(|group| (group, "a one-hot group"));
        let sums = self.sums.iter().map(|sum| (&sum.sites, "a fixed sum"));
        for (sites, what) in groups.chain(sums) {
            for site in sites {
                match named.get_mut(*site as usize) {
                    None => {
                        return Err(ModelError::invalid(format!(
                            "{what} names site {site}, but the last site is {}",
                            space.sites() - 1
                        )));
                    }
                    Some(true) => {
                        return Err(ModelError::invalid(format!(
                            "site {site} is in two one-hot groups or fixed sums: it can only be in one"
                        )));
                    }
                    Some(named) => *named = true,
                }
            }
        }
        let others: Vec<u32> =
            (0..space.sites() as u32).filter(|site| !named[*site as usize]).collect();
        let of_all = self.sums.iter().filter(|sum| sum.sites.is_empty()).count();
        if of_all > 1 {
            return Err(ModelError::invalid("the sum of all sites is fixed twice"));
        }
        let whole = |sum: &FixedSum| match sum.sites.is_empty() {
            true => FixedSum { total: sum.total, sites: others.clone() },
            false => sum.clone(),
        };
        Ok(self.sums.iter().map(whole).collect())
    }

    /// What is known, as a title has it.
    pub fn words(&self) -> String {
        let count = |number: usize, one: &str, several: &str| match number {
            0 => None,
            1 => Some(format!("1 {one}")),
            number => Some(format!("{number} {several}")),
        };
        let parts = [
            count(self.evidence.len(), "site", "sites"),
            count(self.one_hot.len(), "one-hot group", "one-hot groups"),
            count(self.sums.len(), "fixed sum", "fixed sums"),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

impl Built {
    /// The model given what is known of its states. Fails if no state of positive probability is found.
    pub fn given(mut self, given: &Given) -> Result<Self, ModelError> {
        if !given.is_empty() {
            self.model = given.apply(self.model)?;
            self.title.words += &format!(", given {}", given.words());
        }
        check_start(&self.model, !given.is_empty())?;
        Ok(self)
    }
}

/// The one state that evidence leaves of a model, if it leaves no more.
fn settled_by(model: &Erased, evidence: &[(usize, u8)]) -> Result<Option<Settled>, ModelError> {
    let space = model.space();
    let known = known(space, evidence)?;
    let is_open = |site: &usize| known[*site].is_none() && space.values_at(*site) > 1;
    if evidence.is_empty() || (0..space.sites()).any(|site| is_open(&site)) {
        return Ok(None);
    }
    let state: Vec<u8> = known.into_iter().map(Option::unwrap_or_default).collect();
    let mut log_prob = [0.0];
    model.log_prob(States::new(&state, state.len()), &mut model.new_cache(1), &mut log_prob)?;
    let shown_space = model.shown_space().clone();
    let mut shown = vec![0; shown_space.sites()];
    model.show(&state, &mut shown);
    Ok(Some(Settled::new(shown_space, shown, log_prob[0])))
}

/// Fails if the state that a chain would start from is impossible.
fn check_start(model: &Erased, given: bool) -> Result<(), ModelError> {
    let mut state = vec![0; model.space().sites()];
    model.initial_state(&mut ChainRng::new(0, Stream::Model), &mut state);
    let mut log_prob = [0.0];
    let states = States::new(&state, state.len());
    model.log_prob(states, &mut model.new_cache(1), &mut log_prob)?;
    if log_prob[0] > f64::NEG_INFINITY {
        return Ok(());
    }
    let why = if given { "what is given contradicts the" } else { "there may be none under the" };
    Err(ModelError::invalid(format!(
        "no state of positive probability was found to start from: {why} zeros of the tables, or \
         such states are too rare to be searched for"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::Exact;
    use crate::model::independent::Independent;
    use crate::{Run, Settings};

    fn settled(given: &Given) -> Result<Given, String> {
        given
            .settled(&Space::mixed(&[2, 2, 2, 2, 3, 3]).unwrap())
            .map_err(|error| error.to_string())
    }

    fn sum(total: usize, sites: &[u32]) -> FixedSum {
        FixedSum { total, sites: sites.to_vec() }
    }

    #[test]
    fn evidence_is_taken_out_of_groups_and_sums() {
        let given = |evidence: &[(usize, u8)]| Given {
            evidence: evidence.to_vec(),
            one_hot: vec![vec![0, 1, 2]],
            sums: vec![sum(3, &[3, 4, 5])],
        };
        let left = settled(&given(&[(1, 0), (4, 2)])).unwrap();
        assert_eq!((left.one_hot, left.sums), (vec![vec![0, 2]], vec![sum(1, &[3, 5])]));
        // A bit that is set settles the others; so does a sum that is reached.
        let left = settled(&given(&[(1, 1), (4, 2), (5, 1)])).unwrap();
        assert_eq!(left.evidence, [(1, 1), (4, 2), (5, 1), (0, 0), (2, 0), (3, 0)]);
        assert!(left.one_hot.is_empty() && left.sums.is_empty());
        let left = settled(&given(&[(0, 0), (1, 0), (3, 0), (5, 1)])).unwrap();
        assert_eq!(left.evidence[4..], [(2, 1), (4, 2)]);
    }

    #[test]
    fn a_sum_of_no_sites_is_about_all_that_are_left() {
        let given =
            Given { one_hot: vec![vec![0, 1]], sums: vec![sum(4, &[])], ..Given::default() };
        assert_eq!(settled(&given).unwrap().sums, [sum(4, &[2, 3, 4, 5])]);
    }

    #[test]
    fn of_a_model_whose_sites_are_all_known_one_state_is_left() {
        let coins = || Erased::new(Independent::bernoulli(vec![0.5, -1.0, 2.0]).unwrap());
        let given = |evidence: &[(usize, u8)]| Given {
            evidence: evidence.to_vec(),
            one_hot: vec![vec![0, 1]],
            ..Given::default()
        };
        // The group settles site 1: log π = 0.5 + 2.
        let model = given(&[(0, 1), (2, 1)]).apply(coins()).unwrap();
        let exact = Exact::new(&model).unwrap();
        assert_eq!((exact.log_z(), exact.map()), (2.5, &[1, 0, 1][..]));
        assert_eq!(exact.marginals(), [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]);
        let refused = Run::new(&model, Settings::default()).go().unwrap_err().to_string();
        assert!(refused.contains("nothing is left to sample") && refused.contains("saltus exact"));
        let wrong = given(&[(0, 1), (2, 2)]).apply(coins()).unwrap_err().to_string();
        assert!(wrong.contains("its last value is 1"), "{wrong}");
    }

    #[test]
    fn contradictions_are_refused_in_a_sentence() {
        let reason = |evidence: &[(usize, u8)], one_hot: &[u32], sums: &[FixedSum]| {
            let groups = if one_hot.is_empty() { Vec::new() } else { vec![one_hot.to_vec()] };
            let given = Given { evidence: evidence.to_vec(), one_hot: groups, sums: sums.to_vec() };
            settled(&given).unwrap_err()
        };
        assert!(reason(&[(0, 0), (1, 0)], &[0, 1], &[]).contains("none can be 1"));
        assert!(reason(&[(0, 1), (1, 1)], &[0, 1], &[]).contains("only one can be"));
        assert!(reason(&[], &[0, 1], &[sum(1, &[1, 2])]).contains("it can only be in one"));
        assert!(reason(&[], &[0, 6], &[]).contains("the last site is 5"));
        assert!(reason(&[(4, 2)], &[], &[sum(1, &[4, 5])]).contains("fixed sites make 2 of it"));
        assert!(reason(&[], &[], &[sum(9, &[])]).contains("a sum cannot be 9"));
        assert!(reason(&[], &[], &[sum(1, &[]), sum(2, &[])]).contains("fixed twice"));
    }
}
