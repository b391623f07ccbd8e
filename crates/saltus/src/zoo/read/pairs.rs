//! Pairs of variables as files list them or as matrices have them, and what those may not have meant.

use std::collections::{BTreeMap, HashSet};

/// Entries of pairs, in the order of a file.
#[derive(Clone, Debug, Default)]
pub(in crate::zoo) struct Pairs(pub(in crate::zoo) Vec<(u32, u32, f64)>);

fn pair((one, other, _): &(u32, u32, f64)) -> (u32, u32) {
    (*one.min(other), *one.max(other))
}

impl Pairs {
    /// The place of the first entry whose pair stood in an earlier one, in either order.
    pub(super) fn again(&self) -> Option<usize> {
        let mut seen = HashSet::with_capacity(self.0.len());
        self.0.iter().position(|entry| !seen.insert(pair(entry)))
    }

    /// Every pair once, where it stood first: what is given several times adds up, which is said.
    pub(in crate::zoo) fn added_up(self) -> (Vec<(u32, u32, f64)>, Option<String>) {
        let mut sorted: Vec<(u32, u32)> = self.0.iter().map(pair).collect();
        sorted.sort_unstable();
        let mut sums: BTreeMap<(u32, u32), Option<f64>> = BTreeMap::new();
        let twice = sorted.windows(2).filter(|pairs| pairs[0] == pairs[1]);
        sums.extend(twice.map(|pairs| (pairs[0], Some(0.0))));
        if sums.is_empty() {
            return (self.0, None);
        }
        let words = match sums.len() {
            1 => "1 pair is given more than once, and adds up".to_owned(),
            pairs => format!("{pairs} pairs are given more than once, and add up"),
        };
        for entry in &self.0 {
            if let Some(Some(sum)) = sums.get_mut(&pair(entry)) {
                *sum += entry.2;
            }
        }
        let mut entries = self.0;
        entries.retain_mut(|entry| match sums.get_mut(&pair(entry)).map(Option::take) {
            None => true,
            Some(Some(sum)) => {
                entry.2 = sum;
                true
            }
            Some(None) => false,
        });
        (entries, Some(words))
    }

    /// What to say if no entry names the first of what is counted from 0.
    pub(in crate::zoo) fn missing_first(&self, what: &str) -> Option<String> {
        let least = self.0.iter().map(|entry| pair(entry).0).min()?;
        (least > 0).then(|| no_first(what))
    }
}

/// What to say where the first of what is counted from 0 is not named.
pub(super) fn no_first(what: &str) -> String {
    format!("{what} 0 is there and has no term (does the file count from 1?)")
}

/// How the halves of a matrix of pairs belong together.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Halves {
    /// Every pair stands there twice.
    Symmetric,
    /// Above the diagonal, or below it.
    Triangular,
}

impl Halves {
    pub(super) fn words(self, name: &str) -> String {
        match self {
            Self::Symmetric => format!("{name} is symmetric, and every pair counts once"),
            Self::Triangular => format!("{name} is triangular"),
        }
    }

    /// Of matrices that are looked at entry by entry: both entries of every pair.
    pub(super) fn of(
        name: &str,
        mut pairs: impl Iterator<Item = (f64, f64)> + Clone,
    ) -> Result<Self, String> {
        if pairs.clone().all(|(upper, lower)| upper == lower) {
            return Ok(Self::Symmetric);
        }
        let (mut above, mut below) = (false, false);
        for (upper, lower) in pairs.by_ref() {
            (above, below) = (above || upper != 0.0, below || lower != 0.0);
        }
        match above && below {
            true => Err(format!("has {name} that is neither symmetric nor triangular")),
            false => Ok(Self::Triangular),
        }
    }

    pub(super) fn joined(self, (upper, lower): (f64, f64)) -> f64 {
        if self == Self::Symmetric { upper } else { upper + lower }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_are_given_again_add_up_in_either_order() {
        let pairs = Pairs(vec![(2, 1, 0.5), (1, 3, 1.0), (1, 2, 0.25), (4, 3, -1.0), (3, 1, 2.0)]);
        assert_eq!(pairs.again(), Some(2));
        assert!(pairs.missing_first("node").unwrap().starts_with("node 0 is there"));
        let (once, words) = pairs.added_up();
        assert_eq!(once, [(2, 1, 0.75), (1, 3, 3.0), (4, 3, -1.0)]);
        assert_eq!(words.unwrap(), "2 pairs are given more than once, and add up");
        let (same, words) = Pairs(once.clone()).added_up();
        assert_eq!((same, words), (once, None));
        assert!(Pairs(vec![(1, 0, 1.0)]).missing_first("node").is_none());
    }
}
