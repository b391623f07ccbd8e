//! Which site and value is meant by what people write: the names of the model's file first, then numbers.

use super::read::SiteNames;
use crate::model::polynomial::Variables;
use crate::names::unknown;

/// What a model calls its sites and their values, as far as it does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Of every site, if sites have names.
    pub sites: Vec<SiteNames>,
    /// What two values stand for: −1 and +1, or 0 and 1.
    pub variables: Option<Variables>,
}

/// Names that a sentence lists.
const MOST_NAMED: usize = 20;

impl Names {
    /// The site and the value that are meant; the error is a sentence.
    ///
    /// ```
    /// use saltus::zoo::Names;
    /// use saltus::zoo::read::SiteNames;
    /// let values = ["1", "2", "3"].map(str::to_owned).to_vec();
    /// let dice = Names { sites: vec![SiteNames { site: "dice".into(), values }], variables: None };
    /// assert_eq!(dice.place("dice", "1"), Ok((0, 0)));
    /// assert!(dice.place("dice", "0").is_err());
    /// ```
    pub fn place(&self, site: &str, value: &str) -> Result<(usize, u8), String> {
        let sites: Vec<&str> = self.sites.iter().map(|site| site.site.as_str()).collect();
        let at = among("site", site, &sites)?;
        let own = self.sites.get(at).map_or(&[][..], |site| &site.values);
        let values: Vec<&str> = match self.variables {
            _ if !own.is_empty() => own.iter().map(String::as_str).collect(),
            Some(Variables::Spins) => vec!["-1", "1"],
            Some(Variables::Bits) => vec!["0", "1"],
            None => Vec::new(),
        };
        let place = among("value", value.strip_prefix('+').unwrap_or(value), &values)?;
        let place = u8::try_from(place).map_err(|_| format!("{value} is no value"))?;
        Ok((at, place))
    }
}

/// The place of what is meant: a name that is known, or else a number that counts from 0. Where names are
/// numbers that mean other places, they alone are meant.
fn among(kind: &str, given: &str, known: &[&str]) -> Result<usize, String> {
    if let Some(place) = known.iter().position(|name| *name == given) {
        return Ok(place);
    }
    let is_place = |(place, name): (usize, &&str)| {
        name.parse::<usize>().map_or(true, |number| number == place)
    };
    let counts = known.iter().enumerate().all(is_place);
    match given.parse() {
        Ok(number) if counts => Ok(number),
        _ if known.is_empty() => Err(format!(
            "'{given}' is no {kind}: the model has no names for its {kind}s, which are numbers from 0"
        )),
        _ => Err(unknown(kind, given, known.iter().take(MOST_NAMED).copied())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(site: &str, values: &[&str]) -> SiteNames {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        SiteNames { site: site.to_owned(), values }
    }

    #[test]
    fn names_come_before_numbers() {
        let sites = vec![site("rain", &["yes", "no"]), site("1st", &["1", "2", "3"])];
        let names = Names { sites, variables: None };
        assert_eq!(names.place("rain", "no"), Ok((0, 1)));
        assert_eq!(names.place("0", "1"), Ok((0, 1)));
        // The value that is named 1, not the one at place 1; and none is named 0.
        assert_eq!(names.place("1st", "1"), Ok((1, 0)));
        assert_eq!(names.place("1", "3"), Ok((1, 2)));
        assert!(names.place("1st", "0").unwrap_err().contains("known: 1, 2, 3"));
        assert!(names.place("rian", "no").unwrap_err().contains("did you mean 'rain'"));
        // Sites that are named by other sites' numbers.
        let turned = Names { sites: vec![site("1", &[]), site("0", &[])], variables: None };
        assert_eq!(turned.place("1", "1"), Ok((0, 1)));
        assert!(turned.place("2", "1").is_err());
    }

    #[test]
    fn spins_are_plus_and_minus_one() {
        let of = |variables| Names { sites: vec![site("a", &[])], variables };
        let spins = of(Some(Variables::Spins));
        for (value, place) in [("-1", 0), ("1", 1), ("+1", 1), ("0", 0)] {
            assert_eq!(spins.place("a", value), Ok((0, place)), "{value}");
        }
        let reason = of(Some(Variables::Bits)).place("a", "-1").unwrap_err();
        assert!(reason.contains("known: 0, 1"), "{reason}");
        let reason = of(None).place("a", "-1").unwrap_err();
        assert!(reason.contains("'-1' is no value: the model has no names"), "{reason}");
    }
}
