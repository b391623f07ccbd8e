//! MatrixMarket files, of coordinates or whole arrays, as couplings J: log π = Σ_{i<j} J_ij s s′ + Σ J_ii s of spins.

use super::pairs::Halves;
use super::text::{decode, first_word, float};
use super::{Body, ModelFile, Spins};
use crate::model::polynomial::Variables;
use std::collections::BTreeMap;

const BANNER: &str = "%%MatrixMarket";

pub(super) fn detect(bytes: &[u8]) -> bool {
    first_word(bytes).eq_ignore_ascii_case(BANNER)
}

pub(super) fn read(bytes: &[u8]) -> Result<ModelFile, String> {
    let text = decode(bytes)?;
    let mut lines = text.lines().enumerate();
    let banner = lines.next().map(|(_, line)| line.to_lowercase()).unwrap_or_default();
    let words: Vec<&str> = banner.split_whitespace().collect();
    let [_, "matrix", form @ ("coordinate" | "array"), field, symmetry] = words[..] else {
        return Err(format!(
            "line 1: expected '{BANNER} matrix coordinate real symmetric', or array, or general, found \
             '{banner}'"
        ));
    };
    let is_array = form == "array";
    if !["real", "integer", "double", "pattern"].contains(&field) || is_array && field == "pattern"
    {
        return Err(format!("line 1: has entries that are {field}, not real"));
    }
    let symmetric = match symmetry {
        "symmetric" => true,
        "general" => false,
        other => return Err(format!("line 1: is {other}; couplings are symmetric")),
    };
    let mut lines =
        lines.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('%'));
    let (number, sizes) = lines.next().ok_or("ends before its sizes")?;
    let sizes: Vec<usize> = sizes.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let (rows, columns, announced) = match sizes[..] {
        [rows, columns] if is_array => (rows, columns, None),
        [rows, columns, entries] if !is_array => (rows, columns, Some(entries)),
        _ => {
            let expected = if is_array { "rows columns" } else { "rows columns entries" };
            return Err(format!("line {}: expected '{expected}'", number + 1));
        }
    };
    if rows != columns || rows == 0 || rows > text.len() {
        return Err(format!(
            "line {}: a matrix of {rows} by {columns} in {} bytes is not one of couplings",
            number + 1,
            text.len()
        ));
    }
    let mut matrix: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    let mut found = 0;
    let all = if symmetric { rows * (rows + 1) / 2 } else { rows * rows };
    let entries = announced.unwrap_or(all);
    // An array goes down its columns, a symmetric one from the diagonal.
    let mut next = (0, 0);
    for (number, line) in lines {
        let wrong =
            || format!("line {}: expected 'i j value', found '{}'", number + 1, line.trim());
        let words: Vec<&str> = line.split_whitespace().collect();
        let (i, j, value) = match words[..] {
            [value] if is_array => (None, None, float(value).ok_or_else(wrong)?),
            [i, j] if field == "pattern" => (Some(i), Some(j), 1.0),
            [i, j, value] if !is_array => (Some(i), Some(j), float(value).ok_or_else(wrong)?),
            _ => return Err(wrong()),
        };
        let value = super::quadratic::finite(value, number + 1)?;
        let place = |word: &str| -> Result<u32, String> {
            let place: usize = word.parse().map_err(|_| wrong())?;
            if !(1..=rows).contains(&place) {
                return Err(format!("line {}: names row {place} of {rows}", number + 1));
            }
            Ok(place as u32 - 1)
        };
        found += 1;
        let (i, j) = match (i, j) {
            (Some(i), Some(j)) => (place(i)?, place(j)?),
            _ if found > entries => {
                return Err(format!("has more than the {entries} entries of its array"));
            }
            _ => {
                let (i, j) = next;
                let last = i as usize + 1 == rows;
                next = if last { (if symmetric { j + 1 } else { 0 }, j + 1) } else { (i + 1, j) };
                (i, j)
            }
        };
        if is_array && value == 0.0 {
            continue;
        }
        // A symmetric matrix has one of its halves.
        let place = if symmetric { (i.min(j), i.max(j)) } else { (i, j) };
        if matrix.insert(place, value).is_some() {
            return Err(format!(
                "line {}: gives the entry {} {} a second time{}; an entry is given once",
                number + 1,
                i + 1,
                j + 1,
                if symmetric { ", of a symmetric matrix" } else { "" }
            ));
        }
    }
    if found != entries {
        return Err(format!("announces {entries} entries, but has {found}"));
    }
    // A symmetric matrix has one of its halves.
    let (spins, halves) = spins_of(&matrix, rows)?;
    let mut assumed = vec![
        "log π = Σ_{i<j} J s s′, with the diagonal as fields".to_owned(),
        "rows count from 1".to_owned(),
    ];
    assumed.extend((!symmetric).then(|| halves.words("J")));
    Ok(ModelFile {
        words: format!("Ising model of {rows} spins and {} couplings", spins.couplings.len()),
        body: Body::Spins(spins),
        assumed,
        variables: Some(Variables::Spins),
        names: Vec::new(),
    })
}

/// Couplings and fields of the entries of a matrix, and how its halves belong together.
pub(super) fn spins_of(
    matrix: &BTreeMap<(u32, u32), f64>,
    sites: usize,
) -> Result<(Spins, Halves), String> {
    let at = |i: u32, j: u32| matrix.get(&(i, j)).copied().unwrap_or(0.0);
    let mut spins = Spins { fields: vec![0.0; sites], ..Spins::default() };
    for (site, field) in spins.fields.iter_mut().enumerate() {
        *field = at(site as u32, site as u32);
    }
    // Every pair at its first entry, that above the diagonal if there are both.
    let is_first = |(i, j): &&(u32, u32)| i < j || (i > j && !matrix.contains_key(&(*j, *i)));
    let pairs = matrix.keys().filter(is_first).map(|(i, j)| (*i.min(j), *i.max(j)));
    let both = |(i, j): (u32, u32)| (at(i, j), at(j, i));
    let halves = Halves::of("J", pairs.clone().map(both))?;
    spins.couplings = pairs.map(|(i, j)| (i, j, halves.joined(both((i, j))))).collect();
    Ok((spins, halves))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spins(text: &str) -> Result<Spins, String> {
        match read(text.as_bytes())?.body {
            Body::Spins(spins) => Ok(spins),
            _ => panic!("spins"),
        }
    }

    #[test]
    fn symmetric_and_general_matrices_say_the_same() {
        let head = "%%MatrixMarket matrix coordinate real";
        let lower = format!("{head} symmetric\n% J\n3 3 3\n2 1 0.5\n3 2 -1\n3 3 2\n");
        let whole = format!("{head} general\n3 3 5\n2 1 0.5\n1 2 0.5\n3 2 -1\n2 3 -1\n3 3 2\n");
        assert_eq!(spins(&lower).unwrap(), spins(&whole).unwrap());
        let triangle = lower.replace("symmetric", "general");
        assert_eq!(spins(&lower).unwrap(), spins(&triangle).unwrap());
        assert_eq!(read(triangle.as_bytes()).unwrap().assumed[2], "J is triangular");
        assert!(read(whole.as_bytes()).unwrap().assumed[2].contains("every pair counts once"));
        let found = spins(&lower).unwrap();
        assert_eq!(found.couplings, [(0, 1, 0.5), (1, 2, -1.0)]);
        assert_eq!(found.fields, [0.0, 0.0, 2.0]);
        assert!(detect(lower.as_bytes()));
    }

    #[test]
    fn whole_arrays_say_the_same_as_coordinates() {
        let coordinates =
            "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 5.0D-1\n3 2 -1\n3 3 2\n";
        let lower = "\u{feff}%%MatrixMarket matrix array real symmetric\n3 3\n0\n.5\n0\n0\n-1\n2\n";
        let whole =
            "%%MatrixMarket matrix array real general\n3 3\n0\n.5\n0\n.5\n0\n-1\n0\n-1\n2\n";
        let expected = spins(coordinates).unwrap();
        assert_eq!(expected.couplings, [(0, 1, 0.5), (1, 2, -1.0)]);
        for text in [lower, whole] {
            assert!(detect(text.as_bytes()));
            assert_eq!(spins(text).unwrap(), expected);
            assert!(spins(&format!("{text}1\n")).unwrap_err().contains("more than the"));
            let shorter = &text[..text.len() - 2];
            assert!(spins(shorter).unwrap_err().contains("entries, but has"));
        }
    }

    #[test]
    fn what_is_no_coupling_is_refused() {
        let head = "%%MatrixMarket matrix coordinate real";
        let cases = [
            (format!("{head} general\n2 2 2\n1 2 1\n2 1 2\n"), "neither symmetric nor triangular"),
            (format!("{head} general\n2 2 2\n1 2 1\n1 2 1\n"), "line 4: gives the entry 1 2"),
            (format!("{head} symmetric\n2 2 2\n2 1 1\n1 2 1\n"), "line 4: gives the entry 1 2"),
            (format!("{head} symmetric\n2 3 1\n1 2 1\n"), "2 by 3"),
            (format!("{head} symmetric\n2 2 2\n1 2 1\n"), "announces 2 entries, but has 1"),
            (format!("{head} symmetric\n2 2 1\n1 3 1\n"), "names row 3 of 2"),
            (format!("{head} skew-symmetric\n2 2 1\n1 2 1\n"), "is skew-symmetric"),
            ("%%MatrixMarket vector coordinate real general\n".to_owned(), "line 1: expected"),
        ];
        for (text, expected) in cases {
            let reason = spins(&text).unwrap_err();
            assert!(reason.contains(expected), "{text}: {reason}");
        }
    }
}
