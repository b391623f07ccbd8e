//! In which order sites are eliminated: the one that makes the fewest new neighbours, or the smallest
//! table, comes first (Koller and Friedman, *Probabilistic Graphical Models*, 2009, section 9.4.3).

use crate::model::factor::Factor;
use crate::space::Space;
use std::collections::BTreeSet;

/// An order of all sites, with the sites that each leaves behind in its table.
pub(super) struct Order {
    /// Each site and those of its table that are eliminated later.
    pub(super) steps: Vec<(u32, Vec<u32>)>,
    /// Numbers in all tables together.
    pub(super) entries: usize,
}

/// What is made small at every step.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    /// Pairs of neighbours that were not joined before.
    Fill,
    /// Entries of the table.
    Weight,
}

/// Neighbours beyond which fill is not counted, since the table is too large in any case.
const MOST_NEIGHBOURS: usize = 64;

/// The cheaper of two greedy orders; the error is how many numbers its tables would have, at least.
pub(super) fn order(space: &Space, factors: &[Factor], most: usize) -> Result<Order, f64> {
    let one = greedy(space, factors, most, Rule::Weight);
    let bound = one.as_ref().map_or(most, |order| order.entries);
    match (one, greedy(space, factors, bound, Rule::Fill)) {
        (Ok(one), Ok(other)) => Ok(if other.entries < one.entries { other } else { one }),
        (Ok(found), Err(_)) | (Err(_), Ok(found)) => Ok(found),
        (Err(one), Err(other)) => Err(one.min(other)),
    }
}

fn greedy(space: &Space, factors: &[Factor], most: usize, rule: Rule) -> Result<Order, f64> {
    let sites = space.sites();
    let mut neighbours: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); sites];
    for factor in factors {
        for site in factor.scope() {
            let others = factor.scope().iter().filter(|other| *other != site);
            neighbours[*site as usize].extend(others);
        }
    }
    let mut scores: Vec<f64> =
        (0..sites).map(|site| score(space, &neighbours, site, rule)).collect();
    // The site of the smallest score first; equal ones in order.
    let mut waiting: BTreeSet<(u64, u32)> =
        (0..sites).map(|site| (key(scores[site]), site as u32)).collect();
    let (mut steps, mut entries) = (Vec::with_capacity(sites), 0.0);
    while let Some((_, site)) = waiting.pop_first() {
        let left: Vec<u32> = std::mem::take(&mut neighbours[site as usize]).into_iter().collect();
        entries += table(space, site as usize, left.iter());
        if entries > most as f64 {
            return Err(entries);
        }
        let mut touched: BTreeSet<u32> = left.iter().copied().collect();
        for one in &left {
            neighbours[*one as usize].remove(&site);
            neighbours[*one as usize].extend(left.iter().filter(|other| *other != one));
            if rule == Rule::Fill {
                touched.extend(neighbours[*one as usize].iter().take(MOST_NEIGHBOURS));
            }
        }
        for one in touched {
            let known = (key(scores[one as usize]), one);
            if waiting.remove(&known) {
                scores[one as usize] = score(space, &neighbours, one as usize, rule);
                waiting.insert((key(scores[one as usize]), one));
            }
        }
        steps.push((site, left));
    }
    Ok(Order { steps, entries: entries as usize })
}

/// Scores, which are not negative, in an order that numbers keep as bits.
fn key(score: f64) -> u64 {
    score.to_bits()
}

/// Entries of the table in which a site is summed out.
fn table<'a>(space: &Space, site: usize, others: impl Iterator<Item = &'a u32>) -> f64 {
    let own = space.values_at(site) as f64;
    others.fold(own, |all, other| all * space.values_at(*other as usize) as f64)
}

fn score(space: &Space, neighbours: &[BTreeSet<u32>], site: usize, rule: Rule) -> f64 {
    let own = &neighbours[site];
    let size = table(space, site, own.iter());
    if rule == Rule::Weight || own.len() > MOST_NEIGHBOURS {
        return size;
    }
    let missing = own.iter().enumerate().map(|(number, one)| {
        let joined = &neighbours[*one as usize];
        own.iter().skip(number + 1).filter(|other| !joined.contains(other)).count()
    });
    // Among those of equal fill the smallest table.
    missing.sum::<usize>() as f64 + 1.0 - 1.0 / (1.0 + size)
}
