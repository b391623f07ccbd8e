//! Polynomials of any order: lines of `i j k … coefficient`, with `# vartype=SPIN` for spins.

use super::pairs::no_first;
use super::quadratic::{Vartype, finite};
use super::text::{decode, float};
use super::{Body, ModelFile, PolynomialTerms};

/// The words of a line before its comment.
fn words(line: &str) -> Vec<&str> {
    let content = line.split('#').next().unwrap_or_default();
    content.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty()).collect()
}

fn term(line: usize, words: &[&str]) -> Result<(Vec<u32>, f64), String> {
    let wrong =
        || format!("line {line}: expected 'i j k … coefficient', found '{}'", words.join(" "));
    let (coefficient, sites) = words.split_last().ok_or_else(wrong)?;
    let sites: Option<Vec<u32>> = sites.iter().map(|word| word.parse().ok()).collect();
    let coefficient = float(coefficient).ok_or_else(wrong)?;
    Ok((sites.ok_or_else(wrong)?, finite(coefficient, line)?))
}

/// Lines of whole numbers and a number, of which one at least has more than two variables or none.
pub(super) fn detect(bytes: &[u8]) -> bool {
    let Ok(text) = decode(bytes) else { return false };
    let mut lines = text.lines().take(64).map(words).filter(|words| !words.is_empty());
    let mut is_odd = false;
    let numbers = lines.all(|words| {
        is_odd |= words.len() > 3 || words.len() == 1;
        term(1, &words).is_ok()
    });
    numbers && is_odd
}

pub(super) fn read(bytes: &[u8]) -> Result<ModelFile, String> {
    let text = decode(bytes)?;
    let (mut terms, mut vartype) = (Vec::new(), None);
    for (number, line) in text.lines().enumerate() {
        let comment = line.split_once('#').map_or("", |(_, comment)| comment);
        vartype = Vartype::of_comment(comment, number + 1)?.or(vartype);
        let words = words(line);
        if !words.is_empty() {
            terms.push(term(number + 1, &words)?);
        }
    }
    let entries: usize = terms.iter().map(|(sites, _)| sites.len()).sum();
    let last = terms.iter().flat_map(|(sites, _)| sites).max();
    let Some(last) = last.map(|last| *last as usize) else {
        return Err("holds no line 'i j k … coefficient'".to_owned());
    };
    if last >= 64 + 8 * entries {
        return Err(format!("names variable {last}, but all lines together name few"));
    }
    let mut assumed = vec!["variables count from 0".to_owned()];
    if terms.iter().all(|(sites, _)| !sites.contains(&0)) {
        assumed.push(no_first("variable"));
    }
    if vartype.is_none() {
        assumed.push("without a vartype in the file".to_owned());
    }
    let vartype = vartype.unwrap_or(Vartype::Binary);
    assumed.push(vartype.words().to_owned());
    assumed.push("p ∝ e^−E".to_owned());
    let order = terms.iter().map(|(sites, _)| sites.len()).max().unwrap_or(0);
    terms.iter_mut().for_each(|(_, coefficient)| *coefficient = -*coefficient);
    let variables = vartype.variables();
    Ok(ModelFile {
        variables: Some(variables),
        words: format!(
            "polynomial of order {order} of {} variables and {} terms",
            last + 1,
            terms.len()
        ),
        body: Body::Polynomial(PolynomialTerms { variables, sites: last + 1, terms }),
        assumed,
        names: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::polynomial::Variables;

    #[test]
    fn terms_of_any_order() {
        let text = b"# Vartype=Vartype.SPIN\n0.5\n1 -1\n0, 1, 2, 2e-1\n0 2 3 4 -1\n";
        assert!(detect(text) && !detect(b"0 1 1\n1 2 2\n") && !detect(b"a b c d 1\n"));
        let file = read(text).unwrap();
        let Body::Polynomial(found) = file.body else { panic!("a polynomial") };
        assert_eq!((found.sites, found.variables), (5, Variables::Spins));
        let expected =
            [(vec![], -0.5), (vec![1], 1.0), (vec![0, 1, 2], -0.2), (vec![0, 2, 3, 4], 1.0)];
        assert_eq!(found.terms, expected);
        assert_eq!(file.words, "polynomial of order 4 of 5 variables and 4 terms");
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_line() {
        for (text, expected) in [
            ("0 1 x", "line 1: expected 'i j k"),
            ("0 1 2 1\n0 -1 2 1", "line 2: expected"),
            ("99999 1", "names variable 99999"),
            ("0 1 2 1e99", "line 1"),
            ("3.5", "holds no line"),
            ("# vartype=POTTS\n0 1 2 1", "vartype=SPIN"),
        ] {
            let reason = read(text.as_bytes()).unwrap_err();
            assert!(reason.contains(expected), "{text}: {reason}");
        }
        assert!(read(b"1 2 3 1\n").unwrap().assumed[1].contains("count from 1?"));
    }
}
