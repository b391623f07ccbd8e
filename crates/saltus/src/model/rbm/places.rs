//! Where an RBM may have mass: at the likeliest sites given each hidden unit alone, all of them, none, or some at random.

use super::Rbm;
use crate::model::Model;
use crate::rng::ChainRng;
use crate::space::States;

/// Patterns that are looked at: of hidden units alone, and at random.
const ALONE: usize = 256;
const RANDOM: usize = 16;
/// Places that are handed out.
const MOST: usize = 8;
/// How often both layers are set to what is likeliest given the other.
const SETTLING: usize = 10;

/// The likeliest states that were found, the best first.
pub(super) fn of(rbm: &Rbm, rng: &mut ChainRng) -> Vec<Vec<u8>> {
    let hidden = rbm.hidden();
    let mut patterns: Vec<Vec<bool>> = vec![vec![true; hidden], vec![false; hidden]];
    // Of many units some, spread evenly.
    let alone = (0..hidden).step_by(hidden.div_ceil(ALONE).max(1));
    patterns.extend(alone.map(|unit| (0..hidden).map(|other| other == unit).collect()));
    patterns.extend((0..RANDOM).map(|_| (0..hidden).map(|_| rng.flip(0.5)).collect()));
    let states = patterns.iter().map(|pattern| likeliest_sites(rbm, pattern)).collect();
    let found: Vec<Vec<u8>> =
        best(rbm, states).into_iter().map(|state| settled(rbm, state)).collect();
    best(rbm, found)
}

/// What the sites are most likely to be given the hidden units.
fn likeliest_sites(rbm: &Rbm, pattern: &[bool]) -> Vec<u8> {
    let on: Vec<usize> = (0..pattern.len()).filter(|unit| pattern[*unit]).collect();
    let input = |site: usize, value: u8| {
        let weights = on.iter().map(|unit| f64::from(rbm.weight(*unit, site, value)));
        rbm.bias(site, value) + weights.sum::<f64>()
    };
    let likeliest = |site: usize| {
        let values = (0..rbm.space.values()).map(|value| value as u8);
        let inputs = values.map(|value| (value, input(site, value)));
        inputs.max_by(|one, other| one.1.total_cmp(&other.1)).map_or(0, |(value, _)| value)
    };
    (0..rbm.space.sites()).map(likeliest).collect()
}

/// Both layers in turn at what is likeliest given the other, until nothing changes.
fn settled(rbm: &Rbm, mut state: Vec<u8>) -> Vec<u8> {
    for _ in 0..SETTLING {
        let is_on = |unit: usize| {
            let sites = state.iter().enumerate();
            let weights = sites.map(|(site, value)| f64::from(rbm.weight(unit, site, *value)));
            f64::from(rbm.hidden_bias(unit)) + weights.sum::<f64>() > 0.0
        };
        let pattern: Vec<bool> = (0..rbm.hidden()).map(is_on).collect();
        let next = likeliest_sites(rbm, &pattern);
        if next == state {
            break;
        }
        state = next;
    }
    state
}

/// The likeliest of them, each once.
fn best(rbm: &Rbm, states: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut cache = rbm.new_cache(1);
    let mut weigh = |state: Vec<u8>| {
        let mut log_prob = [f64::NEG_INFINITY];
        let known = rbm.log_prob(States::new(&state, state.len()), &mut cache, &mut log_prob);
        known.is_ok().then_some((log_prob[0], state))
    };
    let mut weighed: Vec<(f64, Vec<u8>)> = states.into_iter().filter_map(&mut weigh).collect();
    weighed.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    weighed.dedup();
    weighed.truncate(MOST);
    weighed.into_iter().map(|(_, state)| state).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn a_needle_that_one_hidden_unit_holds_up_is_among_the_places() {
        // Sites that are on by themselves with probability e⁻⁵, and a unit that asks for a pattern.
        let pattern: Vec<u8> = (0..40).map(|site| (site * 7 % 40 < 20) as u8).collect();
        let weights: Vec<f32> =
            pattern.iter().map(|value| if *value == 1 { 30.0 } else { -30.0 }).collect();
        let rbm = Rbm::new(2, &weights, &[-426.0], &[-5.0; 40], None).unwrap();
        let mut rng = ChainRng::new(0, Stream::Model);
        assert_eq!(rbm.places(&mut rng)[0], pattern);
    }

    #[test]
    fn places_are_the_likeliest_of_what_was_tried() {
        let rbm = Rbm::random(9, 6, 2, 3).unwrap();
        let places = rbm.places(&mut ChainRng::new(0, Stream::Model));
        let mut cache = rbm.new_cache(1);
        let mut log_prob = |state: &[u8]| {
            let mut log_prob = [0.0];
            rbm.log_prob(States::new(state, 9), &mut cache, &mut log_prob).unwrap();
            log_prob[0]
        };
        let found: Vec<f64> = places.iter().map(|place| log_prob(place)).collect();
        assert!(found.is_sorted_by(|one, other| one >= other) && !found.is_empty());
        // By listing all states: at least as good as the half of them.
        let mut all: Vec<f64> = (0..512u32)
            .map(|code| {
                let state: Vec<u8> = (0..9).map(|site| (code >> site & 1) as u8).collect();
                log_prob(&state)
            })
            .collect();
        all.sort_by(f64::total_cmp);
        assert!(found[0] > all[500], "{found:?}, {}", all[511]);
    }
}
