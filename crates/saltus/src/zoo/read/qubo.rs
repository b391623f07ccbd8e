//! qbsolv's `.qubo`: `p qubo 0 max n m`, then `i i bias` and `i j bias`, counted from 0.

use super::ModelFile;
use super::pairs::Pairs;
use super::quadratic::{Quadratic, Vartype, finite};
use super::text::{decode, first_word, float};

/// Nodes that even a short file may number.
const MOST_WITHOUT_TERM: usize = 2048;

pub(super) fn detect(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 16)]).into_owned();
    let text = text.trim_start_matches('\u{feff}');
    let first = text.lines().find(|line| !is_comment(line));
    first.is_some_and(|line| is_problem(line) || has_sense(line))
        || (first_word(bytes) == "==>" && text.lines().any(is_problem))
}

fn is_comment(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with(['c', 'C', '#'])
}

fn is_problem(line: &str) -> bool {
    let mut words = line.split_whitespace();
    (words.next(), words.next()) == (Some("p"), Some("qubo"))
}

/// Quantagonia's files of the same ending begin with what is wanted of the energy.
fn has_sense(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default().to_uppercase();
    ["MINIMIZE", "MAXIMIZE"].contains(&first.as_str())
}

pub(super) fn read(bytes: &[u8]) -> Result<ModelFile, String> {
    let text = decode(bytes)?;
    let mut lines = text.lines().enumerate().filter(|(_, line)| !is_comment(line));
    let Some((number, head)) = lines.next() else {
        return Err("is empty".to_owned());
    };
    if has_sense(head) {
        return Err(format!(
            "line {}: begins with {}, as Quantagonia's files do, which are not read; lines of 'i j bias' \
             alone, energies to be minimised, are",
            number + 1,
            head.trim()
        ));
    }
    if !is_problem(head) {
        return Err(format!(
            "line {}: expected 'p qubo 0 maxNodes nNodes nCouplers', found '{head}'; if this line is \
             not part of the file, take it away",
            number + 1
        ));
    }
    let words: Vec<&str> = head.split_whitespace().collect();
    let [_, _, _, _, nodes, couplers] = words[..] else {
        return Err(format!(
            "line {}: expected four numbers after 'p qubo', found '{head}'",
            number + 1
        ));
    };
    let count = |word: &str| {
        word.parse::<usize>().map_err(|_| format!("line {}: '{word}' is no count", number + 1))
    };
    let announced = (count(nodes)?, count(couplers)?);
    let mut pairs = Pairs::default();
    let mut found = (0, 0);
    for (number, line) in lines {
        let wrong = || format!("line {}: expected 'i j bias', found '{}'", number + 1, line.trim());
        let words: Vec<&str> = line.split_whitespace().collect();
        let [one, other, bias] = words[..] else {
            return Err(wrong());
        };
        let (Ok(one), Ok(other), Some(bias)) = (one.parse(), other.parse(), float(bias)) else {
            return Err(wrong());
        };
        let (one, other): (u32, u32) = (one, other);
        // Every node up to the largest takes memory, whatever the head announces.
        if one.max(other) as usize >= text.len().max(MOST_WITHOUT_TERM) {
            return Err(format!(
                "line {}: names node {}, which is more than the file is long",
                number + 1,
                one.max(other)
            ));
        }
        if one == other {
            found.0 += 1
        } else {
            found.1 += 1
        }
        pairs.0.push((one, other, finite(bias, number + 1)?));
    }
    let mut assumed = vec!["nodes count from 0".to_owned()];
    assumed.extend(pairs.missing_first("node"));
    let (terms, again) = pairs.added_up();
    assumed.extend(again);
    let mut model = Quadratic::new(Vartype::Binary, 0);
    terms.into_iter().for_each(|(one, other, bias)| model.add(one, other, bias));
    if model.linear.is_empty() {
        return Err("has no node".to_owned());
    }
    if found != announced {
        assumed.push(format!(
            "the head announces {} nodes and {} couplers, but there are {} and {}",
            announced.0, announced.1, found.0, found.1
        ));
    }
    Ok(model.file("QUBO", assumed))
}

#[cfg(test)]
mod tests {
    use super::super::Body;
    use super::super::quadratic::energy;
    use super::*;

    #[test]
    fn counts_may_be_wrong_and_are_said_to_be() {
        let text = "c a problem\np qubo 0 3 2 7\n0 0 -1\nc inside\n2 2 1.5\n0 2 2\n";
        let file = read(text.as_bytes()).unwrap();
        let Body::Spins(spins) = file.body else { panic!("spins") };
        assert_eq!(spins.fields.len(), 3);
        assert!((energy(&spins, &[1, 0, 1]) - 2.5).abs() < 1e-12);
        assert!(
            file.assumed[1].contains("announces 2 nodes and 7 couplers, but there are 2 and 1")
        );
        assert!(detect(text.as_bytes()));
    }

    #[test]
    fn silent_misreadings_are_said() {
        let read = |text: &str| {
            assert!(detect(text.as_bytes()), "{text}");
            read(text.as_bytes()).unwrap()
        };
        // Both halves of a pair, and a bias, twice.
        let file = read("# by hand\nc-----\nC it\np qubo 0 2 2 2\n0 0 1\n0 0 2\n0 1 2\n1 0 3\n");
        let Body::Spins(spins) = file.body else { panic!("spins") };
        assert!((energy(&spins, &[1, 1]) - 8.0).abs() < 1e-12);
        assert_eq!(file.assumed[1], "2 pairs are given more than once, and add up");
        let file = read("p qubo 0 3 2 1\n1 1 1\n2 2 2\n1 2 2\n");
        assert!(file.assumed[1].contains("node 0 is there and has no term"), "{:?}", file.assumed);
    }

    #[test]
    fn what_is_broken_is_refused_with_its_line() {
        let broken = b"==> a/b.qubo <==\np qubo 0 3 2 7\n0 0 -1\n";
        assert!(detect(broken));
        assert!(read(broken).unwrap_err().starts_with("line 1: expected 'p qubo"));
        assert!(detect(b"MINIMIZE\n2 1\n0 1 2\n"));
        let cases: [(&[u8], &str); 6] = [
            (b"p qubo 0 4294967295 2 1\n0 4294967294 1\n", "names node 4294967294, which is"),
            (b"MINIMIZE\n2 1\n0 1 2\n", "line 1: begins with MINIMIZE, as Quantagonia's"),
            (b"p qubo 0 3 2\n", "four numbers"),
            (b"p qubo 0 3 2 1\n0 1\n", "line 2: expected 'i j bias'"),
            (b"p qubo 0 3 2 1\n0 4000000000 1\n", "names node 4000000000"),
            (b"p qubo 0 3 2 1\n", "has no node"),
        ];
        for (text, expected) in cases {
            let reason = read(text).unwrap_err();
            assert!(reason.contains(expected), "{reason}");
        }
    }
}
