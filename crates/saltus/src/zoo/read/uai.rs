//! UAI: `MARKOV` or `BAYES`, numbers of values, scopes, tables, the last site of a scope fastest.

use super::text::{Words, decode, first_word};
use super::{Body, ModelFile, uneven, uneven_rows};
use crate::model::factor::Factor;

pub(super) fn detect(bytes: &[u8]) -> bool {
    let without_comments = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 16)]).into_owned();
        uncommented(&text).split_whitespace().next().unwrap_or_default().to_owned()
    };
    let is_kind = |word: &str| ["MARKOV", "BAYES"].contains(&word.to_uppercase().as_str());
    is_kind(&first_word(bytes)) || is_kind(&without_comments(bytes))
}

/// The text without lines that begin with a `c` of their own, which some writers use for comments.
fn uncommented(text: &str) -> String {
    let is_comment = |line: &str| {
        let line = line.trim_start();
        line == "c" || line.starts_with("c ") || line.starts_with("c\t") || line.starts_with('#')
    };
    // Lines stay where they are, so that sentences name the right one.
    let lines = text.lines().map(|line| if is_comment(line) { "" } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

pub(super) fn read(bytes: &[u8]) -> Result<ModelFile, String> {
    let text = uncommented(&decode(bytes)?);
    let mut words = Words::new(&text);
    let kind = words.next_word().unwrap_or_default().to_uppercase();
    if !["MARKOV", "BAYES"].contains(&kind.as_str()) {
        return Err(format!("begins with '{kind}', not with MARKOV or BAYES"));
    }
    let sites = words.count("the number of variables", 2)?;
    let cardinality = |words: &mut Words<'_>| match words.number("a number of values")? {
        values @ 1..=256 => Ok(values),
        values => Err(format!(
            "line {}: a variable of {values} values; between 1 and 256 can be sampled",
            words.line()
        )),
    };
    let cardinalities: Vec<usize> =
        (0..sites).map(|_| cardinality(&mut words)).collect::<Result<_, _>>()?;
    // A factor takes at least its number of sites, and one entry with the number of entries.
    let count = words.count("the number of factors", 6)?;
    let scopes: Vec<Box<[u32]>> =
        (0..count).map(|_| scope(&mut words, sites)).collect::<Result<_, _>>()?;
    let mut factors = Vec::with_capacity(count);
    let mut off = 0;
    for scope in scopes {
        let (factor, values) = table(&mut words, scope, &cardinalities)?;
        // The child of a Bayesian network is its last site.
        if let (false, Some(child)) = (kind == "MARKOV", factor.scope().last()) {
            off += uneven(&values, cardinalities[*child as usize]);
        }
        factors.push(factor);
    }
    if let Some(word) = words.next_word() {
        return Err(format!(
            "line {}: the last table is followed by '{word}', where the file should end",
            words.line()
        ));
    }
    let network = if kind == "MARKOV" { "Markov" } else { "Bayesian" };
    Ok(ModelFile {
        variables: None,
        body: Body::Factors { cardinalities, factors },
        words: format!("{network} network of {count} tables"),
        assumed: uneven_rows(off).into_iter().collect(),
        names: Vec::new(),
    })
}

fn scope(words: &mut Words<'_>, sites: usize) -> Result<Box<[u32]>, String> {
    let length = words.count("the number of sites of a factor", 2)?;
    let site = |words: &mut Words<'_>| {
        let site: u32 = words.number("a variable, counted from 0")?;
        if (site as usize) < sites {
            return Ok(site);
        }
        Err(format!(
            "line {}: names variable {site}, but the last one is {}",
            words.line(),
            sites as i64 - 1
        ))
    };
    (0..length).map(|_| site(words)).collect()
}

fn table(
    words: &mut Words<'_>,
    scope: Box<[u32]>,
    cardinalities: &[usize],
) -> Result<(Factor, Vec<f64>), String> {
    let entries = words.count("the number of entries of a table", 2)?;
    let line = words.line();
    let expected =
        scope.iter().try_fold(1usize, |all, site| all.checked_mul(cardinalities[*site as usize]));
    if expected != Some(entries) {
        return Err(format!(
            "line {line}: a table of {entries} entries for variables {scope:?}, whose values make {}",
            expected.map_or("too many".to_owned(), |expected| expected.to_string())
        ));
    }
    let values: Vec<f64> =
        (0..entries).map(|_| words.float("an entry of a table")).collect::<Result<_, _>>()?;
    let factor = Factor::from_potentials(&scope, &values)
        .map_err(|error| format!("line {line}: {error}"))?;
    Ok((factor, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(text: &str) -> Result<Vec<Factor>, String> {
        match read(text.as_bytes())?.body {
            Body::Factors { factors, .. } => Ok(factors),
            _ => panic!("tables"),
        }
    }

    #[test]
    fn what_is_legal_is_read() {
        let text = "c a comment\nmarkov\n3\n2 1 3\n4\n1 0\n2 0 2\n0\n1 0\n\n2\n 1. .5\n\n6\n1 2 3\n1e-5 0 6\n\
                    c another\n1 7\n2 1 1";
        let found = factors(text).unwrap();
        assert_eq!(found.len(), 4);
        assert_eq!(found[0].log_values(), [0.0, 0.5f64.ln()]);
        assert_eq!((found[1].scope(), found[1].log_values()[4]), (&[0, 2][..], f64::NEG_INFINITY));
        assert_eq!((found[2].scope().len(), found[2].log_values()), (0, &[7f64.ln()][..]));
        assert!(detect(text.as_bytes()) && detect(b"BAYES\n"));
    }

    #[test]
    fn rows_of_bayesian_networks_that_do_not_add_up_are_told() {
        let assumed = |kind: &str| {
            let text = format!("{kind} 2 2 2 2 1 0 2 0 1 2 .5 .5 4 .1 .9 .3 .3");
            read(text.as_bytes()).unwrap().assumed
        };
        assert_eq!(assumed("MARKOV"), [""; 0]);
        assert!(assumed("BAYES")[0].starts_with("1 row of probabilities does not"));
    }

    #[test]
    fn what_is_not_is_refused_with_its_line() {
        let cases = [
            ("MARKOV\n2\n2 2\n1\n1 2\n", "line 5: names variable 2, but the last one is 1"),
            ("MARKOV\n2\n2 0\n", "line 3: a variable of 0 values"),
            ("MARKOV\n1\n2\n1\n1 0\n3 1 1 1", "a table of 3 entries for variables [0], whose"),
            ("MARKOV\n1\n2\n1\n1 0\n2 1 -1", "is -1, not a potential"),
            ("MARKOV\n1\n2\n1\n1 0\n2 1 nan", "not a potential"),
            ("MARKOV\n1\n2\n1\n1 0\n2 1", "ends before"),
            ("MARKOV\n1\n2\n1\n1 0\n2 1 1\n5", "is followed by '5'"),
            ("MARKOV\n1\n2\n1\n2 0 0\n4 1 1 1 1", "site 0 twice"),
            ("MARKOV\n99999999999\n2", "ends before 99999999999"),
            ("MARKOV\n-1\n2", "found '-1'"),
            ("MARKOV\n3\n2 2 2\n1\n99999999 0", "ends before 99999999"),
            ("ISING 3", "not with MARKOV or BAYES"),
            ("", "not with MARKOV or BAYES"),
        ];
        for (text, expected) in cases {
            let reason = factors(text).unwrap_err();
            assert!(reason.contains(expected), "{text}: {reason}");
        }
    }
}
