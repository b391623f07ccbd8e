//! Groups of sites, as options and files name them.

use saltus::model::fixed_sum::FixedSum;
use std::path::Path;
use std::str::FromStr;

/// One-hot groups, as they were given.
#[derive(Clone, Debug)]
pub struct OneHotGroups(String);

/// Fixed sums, as they were given.
#[derive(Clone, Debug)]
pub struct SumGroups(String);

/// The word for groups of so many neighbouring sites each.
const EVERY: &str = "every:";
/// Sites beyond which a range is a mistake.
const MOST_SITES: u32 = 100_000_000;

impl FromStr for OneHotGroups {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let given = Self(text.to_owned());
        if !is_file(text) {
            given.read()?;
        }
        Ok(given)
    }
}

impl FromStr for SumGroups {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let given = Self(text.to_owned());
        if !is_file(text) {
            given.read()?;
        }
        Ok(given)
    }
}

/// Whether a text is the name of a file: no list of groups has other letters.
fn is_file(text: &str) -> bool {
    let plain = text.strip_prefix(EVERY).unwrap_or(text);
    Path::new(text).exists() || plain.contains(|c: char| !"0123456789-+,: *".contains(c))
}

/// The lines of a file, or the parts of a text, that say something.
fn parts(text: &str) -> Result<Vec<String>, String> {
    if !is_file(text) {
        return Ok(text.split(',').map(|part| part.trim().to_owned()).collect());
    }
    let content =
        std::fs::read_to_string(text).map_err(|error| format!("{text} cannot be read: {error}"))?;
    let lines = content.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    Ok(lines.filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// Sites of one group: numbers and ranges, joined by +, or by blanks in a file.
fn sites(text: &str) -> Result<Vec<u32>, String> {
    let number = |word: &str| {
        let number = word.parse::<u32>().ok().filter(|number| *number < MOST_SITES);
        number.ok_or_else(|| format!("'{word}' is no site"))
    };
    let mut sites = Vec::new();
    for word in text.split(['+', ' ', '\t']).filter(|word| !word.is_empty()) {
        match word.split_once('-') {
            None => sites.push(number(word)?),
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                if first > last {
                    return Err(format!("'{word}' runs backwards"));
                }
                sites.extend(first..=last);
            }
        }
    }
    match sites.is_empty() {
        true => Err("a group has no sites".to_owned()),
        false => Ok(sites),
    }
}

impl OneHotGroups {
    /// The groups; `every:K:N` makes those of the first N sites.
    pub fn read(&self) -> Result<Vec<Vec<u32>>, String> {
        if let Some(words) = self.0.strip_prefix(EVERY) {
            return every(words);
        }
        parts(&self.0)?.iter().map(|part| sites(part)).collect()
    }
}

/// Neighbouring sites by as many as the first number says, up to the second.
fn every(words: &str) -> Result<Vec<Vec<u32>>, String> {
    let meant =
        || format!("'{EVERY}{words}' is not every:K:N, groups of K among the first N sites");
    let (size, all) = words.split_once(':').ok_or_else(meant)?;
    let size: u32 = size.trim().parse().map_err(|_| meant())?;
    let all: u32 = all.trim().parse().map_err(|_| meant())?;
    if size == 0 || all == 0 || !all.is_multiple_of(size) || all > MOST_SITES {
        return Err(format!("{all} sites do not make groups of {size}"));
    }
    Ok((0..all / size).map(|group| (group * size..(group + 1) * size).collect()).collect())
}

impl SumGroups {
    /// The sums; one without sites is of all that are left.
    pub fn read(&self) -> Result<Vec<FixedSum>, String> {
        let sum = |part: &String| {
            let (total, of) = match part.split_once([':', ' ', '\t']) {
                Some((total, of)) => (total, sites(of)?),
                None => (part.as_str(), Vec::new()),
            };
            let total = total.trim().parse().map_err(|_| format!("'{total}' is no sum"))?;
            Ok(FixedSum { total, sites: of })
        };
        parts(&self.0)?.iter().map(sum).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_in_words_and_files() {
        let groups = |text: &str| OneHotGroups(text.to_owned()).read();
        assert_eq!(groups("0-2,5+7-8").unwrap(), [vec![0, 1, 2], vec![5, 7, 8]]);
        assert_eq!(groups("every:2:4").unwrap(), [[0, 1], [2, 3]]);
        for wrong in ["", "3-1", "0-2,", "every:3:4", "every:4", "1x", "no-such-file"] {
            assert!(groups(wrong).is_err(), "{wrong}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("groups");
        std::fs::write(&path, "# rows\n0 1 2\n\n3-4 7 # and one more\n").unwrap();
        let path = path.to_str().unwrap();
        assert_eq!(groups(path).unwrap(), [vec![0, 1, 2], vec![3, 4, 7]]);
        let sums = |text: &str| SumGroups(text.to_owned()).read();
        let sum = |total, sites: &[u32]| FixedSum { total, sites: sites.to_vec() };
        assert_eq!(sums("12").unwrap(), [sum(12, &[])]);
        assert_eq!(sums("3:0-2,1:4+6").unwrap(), [sum(3, &[0, 1, 2]), sum(1, &[4, 6])]);
        std::fs::write(path, "2 0 1 2\n1: 3-4\n").unwrap();
        assert_eq!(sums(path).unwrap(), [sum(2, &[0, 1, 2]), sum(1, &[3, 4])]);
        assert!(sums("x:1").is_err() && sums("-1").is_err() && sums("1:").is_err());
    }
}
