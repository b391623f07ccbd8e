//! Parameters of direct coupling analysis, as adabmDCA and bmDCA write them: `J i j a b v` and `h i a v`.

use super::text::{decode, float};
use super::{Body, ModelFile, SiteNames};
use crate::model::factor::Factor;
use std::collections::BTreeMap;

/// Alphabets that letters are looked for in, in this order.
const ALPHABETS: [&str; 3] = ["-ACDEFGHIKLMNPQRSTVWY", "-ACGU", "-ACGT"];
/// Numbers that tables of few given entries may have beyond what the file is long.
const SMALL: usize = 1 << 22;

/// A line: one or two sites with their values, and a number.
struct Parameter<'t> {
    first: (u32, &'t str),
    second: Option<(u32, &'t str)>,
    number: f64,
}

pub(super) fn detect(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).into_owned();
    let first = head.lines().find(|line| !content(line).is_empty());
    first.is_some_and(|line| has_form(content(line)))
}

/// Whether a line has the words of a parameter, right or wrong.
fn has_form(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    matches!(words[..], ["J" | "j", _, _, _, _, _] | ["h" | "H", _, _, _])
        && words[1].starts_with(|letter: char| letter.is_ascii_digit())
}

fn content(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}

fn parameter(line: usize, text: &str) -> Result<Parameter<'_>, String> {
    let wrong = || format!("line {line}: expected 'J i j a b v' or 'h i a v', found '{text}'");
    let words: Vec<&str> = text.split_whitespace().collect();
    let site = |word: &str| word.parse::<u32>().map_err(|_| wrong());
    let (first, second, number) = match words[..] {
        ["J" | "j", i, j, a, b, v] => ((site(i)?, a), Some((site(j)?, b)), v),
        ["h" | "H", i, a, v] => ((site(i)?, a), None, v),
        _ => return Err(wrong()),
    };
    let number = float(number).ok_or_else(wrong)?;
    if second.is_some_and(|second| second.0 == first.0) {
        return Err(format!("line {line}: couples site {} to itself", first.0));
    }
    if number.is_nan() || number.abs() > 1e30 {
        return Err(format!("line {line}: {number} is not a number that can be used"));
    }
    Ok(Parameter { first, second, number })
}

pub(super) fn read(bytes: &[u8]) -> Result<ModelFile, String> {
    let text = decode(bytes)?;
    let lines = || text.lines().enumerate().filter(|(_, line)| !content(line).is_empty());
    // Twice through the text, so that it is not kept as a list of words.
    let (mut letters, mut largest, mut sites, mut count) = (Vec::new(), 0, 0, 0);
    let mut names_first = false;
    for (number, line) in lines() {
        let parameter = parameter(number + 1, content(line))?;
        count += 1;
        for (site, value) in std::iter::once(parameter.first).chain(parameter.second) {
            sites = sites.max(site as usize + 1);
            names_first |= site == 0;
            match value.parse::<u8>() {
                Ok(value) => largest = largest.max(usize::from(value) + 1),
                Err(_) if value.chars().count() == 1 => {
                    let letter = value.chars().next().unwrap_or('-');
                    if !letters.contains(&letter) {
                        letters.push(letter);
                    }
                }
                Err(_) => {
                    return Err(format!("line {}: '{value}' is no value of a site", number + 1));
                }
            }
        }
    }
    if count == 0 {
        return Err("holds no line 'J i j a b v' or 'h i a v'".to_owned());
    }
    if sites > 64 + 8 * count {
        return Err(format!("names site {}, but has {count} lines alone", sites - 1));
    }
    let alphabet = alphabet_of(letters, largest)?;
    let values = alphabet.len();
    let place = |value: &str| match value.parse::<usize>() {
        Ok(number) => number,
        Err(_) => alphabet.iter().position(|letter| letter == value).unwrap_or(0),
    };
    let mut fields = vec![0.0; sites * values];
    let mut couplings: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    let most = text.len().max(SMALL);
    for (number, line) in lines() {
        let Parameter { first: (i, first), second, number: theta } =
            parameter(number + 1, content(line))?;
        match second {
            None => fields[i as usize * values + place(first)] += theta,
            Some((j, second)) => {
                if (couplings.len() + 1).saturating_mul(values * values) > most
                    && !couplings.contains_key(&(i.min(j), i.max(j)))
                {
                    return Err("has tables of couplings much larger than itself".to_owned());
                }
                let table = couplings
                    .entry((i.min(j), i.max(j)))
                    .or_insert_with(|| vec![0.0; values * values]);
                // Both halves of a pair add up: J_ij(a, b) = J(i, j, a, b) + J(j, i, b, a).
                let (a, b) = (place(first), place(second));
                let (a, b) = if i < j { (a, b) } else { (b, a) };
                table[a * values + b] += theta;
            }
        }
    }
    let pairs = couplings.len();
    let mut assumed = vec![
        format!("alphabet {}", alphabet.concat()),
        "sites count from 0".to_owned(),
        "log p = Σ h + Σ J".to_owned(),
    ];
    if !names_first {
        assumed
            .push("site 0 is there and has no parameter (does the file count from 1?)".to_owned());
    }
    let fields = fields.chunks_exact(values).enumerate();
    let fields = fields.map(|(site, logs)| Factor::new([site as u32], logs));
    let couplings = couplings.into_iter().map(|((i, j), logs)| Factor::new([i, j], logs));
    let factors: Vec<Factor> = fields
        .chain(couplings)
        .collect::<Result<_, _>>()
        .map_err(|error: crate::error::ModelError| error.to_string())?;
    let name = |site: usize| SiteNames { site: site.to_string(), values: alphabet.clone() };
    Ok(ModelFile {
        variables: None,
        body: Body::Factors { cardinalities: vec![values; sites], factors },
        words: format!("Potts model of {sites} sites and {pairs} coupled pairs"),
        assumed,
        names: (0..sites).map(name).collect(),
    })
}

/// The values that letters or numbers stand for.
fn alphabet_of(letters: Vec<char>, largest: usize) -> Result<Vec<String>, String> {
    let split = |alphabet: &str| alphabet.chars().map(String::from).collect::<Vec<_>>();
    if letters.is_empty() {
        // Numbers: an alphabet that has so many letters, or the numbers themselves.
        let known = ALPHABETS[..2].iter().find(|alphabet| alphabet.len() == largest);
        let numbers = || (0..largest.max(2)).map(|value| value.to_string()).collect();
        return Ok(known.map_or_else(numbers, |alphabet| split(alphabet)));
    }
    if largest > 0 {
        return Err("has values that are letters and values that are numbers".to_owned());
    }
    // The smallest that has them all.
    let fits = |alphabet: &&&str| letters.iter().all(|letter| alphabet.contains(*letter));
    let known = ALPHABETS.iter().filter(fits).min_by_key(|alphabet| alphabet.len());
    let own = || {
        let mut letters = letters.clone();
        letters.sort_unstable();
        letters.iter().map(|letter| String::from(*letter)).collect::<Vec<_>>()
    };
    let alphabet = known.map_or_else(own, |alphabet| split(alphabet));
    match alphabet.len() {
        2..=256 => Ok(alphabet),
        length => Err(format!("has {length} different values; between 2 and 256 can be sampled")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(text: &str) -> Result<(Vec<Factor>, String), String> {
        let file = read(text.as_bytes())?;
        let Body::Factors { factors, .. } = file.body else { panic!("tables") };
        Ok((factors, file.assumed[0].clone()))
    }

    #[test]
    fn both_halves_of_a_pair_add_up() {
        let text = "# adabmDCA\nJ 0 1 - A 0.5\nJ 1 0 A - 0.25\nJ 1 0 C U 1\nh 0 G -1\n";
        let (factors, alphabet) = factors(text).unwrap();
        assert_eq!(alphabet, "alphabet -ACGU");
        assert_eq!(factors[0].log_values(), [0.0, 0.0, 0.0, -1.0, 0.0]);
        assert_eq!(factors[2].scope(), [0, 1]);
        assert_eq!(factors[2].log_values()[1], 0.75);
        // Site 0 has U, site 1 has C.
        assert_eq!(factors[2].log_values()[4 * 5 + 2], 1.0);
        assert!(detect(text.as_bytes()) && detect(b"h 0 A nan\n") && !detect(b"0 1 1\n"));
    }

    #[test]
    fn alphabets_are_found_or_are_the_numbers() {
        assert_eq!(factors("h 0 W 1\nh 0 - 2").unwrap().1, "alphabet -ACDEFGHIKLMNPQRSTVWY");
        assert_eq!(factors("h 0 0 1\nh 0 2 1").unwrap().1, "alphabet 012");
        assert_eq!(factors("h 0 20 1").unwrap().1, "alphabet -ACDEFGHIKLMNPQRSTVWY");
        assert_eq!(factors("h 0 ! 1\nh 1 x 1").unwrap().1, "alphabet !x");
    }

    #[test]
    fn a_file_that_seems_to_count_from_one_is_asked_about() {
        let assumed = |text: &str| read(text.as_bytes()).unwrap().assumed.join("; ");
        assert!(assumed("J 1 2 A C 0.5\nh 1 A 1D-1").contains("does the file count from 1?"));
        assert!(!assumed("J 0 1 A C 0.5\nh 1 A 1").contains("count from 1?"));
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_line() {
        let cases = [
            ("h 0 A 1\nJ 0 1 A 1", "line 2: expected 'J i j a b v'"),
            ("J 3 3 A A 1", "line 1: couples site 3 to itself"),
            ("h 0 AA 1", "line 1: 'AA' is no value"),
            ("h 0 A 1\nh 0 1 1", "letters and values that are numbers"),
            ("h 4000000000 A 1", "names site 4000000000"),
            ("h 0 A nan", "line 1: NaN"),
            ("# nothing", "holds no line"),
        ];
        for (text, expected) in cases {
            let reason = factors(text).unwrap_err();
            assert!(reason.contains(expected), "{text}: {reason}");
        }
    }
}
