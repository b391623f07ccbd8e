//! Gset and rudy: graphs whose largest cut is wanted, `n m` and then `i j w`, counted from 1.

use super::ModelFile;
use super::quadratic::{Quadratic, Vartype, finite};
use super::text::{decode, float};

/// Two numbers in the first line, and two or three in the next.
pub(super) fn detect(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(4096) & !1];
    let Ok(text) = decode(head).or_else(|_| decode(&head[..head.len().min(256)])) else {
        return false;
    };
    let mut lines = text.lines().filter(|line| !is_comment(line));
    let numbers = |line: Option<&str>| -> Option<usize> {
        let words: Vec<&str> = line?.split_whitespace().collect();
        words.iter().all(|word| float(word).is_some()).then_some(words.len())
    };
    let head = lines.next();
    let has_no_edges = head.is_some_and(|head| head.split_whitespace().nth(1) == Some("0"));
    let next = lines.next();
    numbers(head) == Some(2)
        && (matches!(numbers(next), Some(2 | 3)) || (next.is_none() && has_no_edges))
}

/// Lines that say nothing of the graph: empty ones, and comments as some copies have them.
fn is_comment(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with(['#', '%']) || line == "c" || line.starts_with("c ")
}

pub(super) fn read(bytes: &[u8]) -> Result<ModelFile, String> {
    let text = decode(bytes)?;
    let mut lines = text.lines().enumerate().filter(|(_, line)| !is_comment(line));
    let Some((at, head)) = lines.next() else {
        return Err("is empty".to_owned());
    };
    let words: Vec<&str> = head.split_whitespace().collect();
    let [nodes, edges] = words[..] else {
        return Err(format!("line {}: expected 'nodes edges', found '{}'", at + 1, head.trim()));
    };
    let (Ok(nodes), Ok(edges)) = (nodes.parse::<usize>(), edges.parse::<usize>()) else {
        return Err(format!("line {}: expected 'nodes edges', found '{}'", at + 1, head.trim()));
    };
    // Nodes without edges exist, but not many more of them than there are bytes.
    if nodes == 0 || nodes > text.len() {
        return Err(format!(
            "line {}: announces {nodes} nodes, which the file cannot hold",
            at + 1
        ));
    }
    let mut model = Quadratic::new(Vartype::Spin, nodes);
    let (mut found, mut unweighted) = (0, 0);
    for (number, line) in lines {
        let wrong = || format!("line {}: expected 'i j w', found '{}'", number + 1, line.trim());
        let words: Vec<&str> = line.split_whitespace().collect();
        let (one, other, weight) = match words[..] {
            [one, other] => (one, other, Some(1.0)),
            [one, other, weight] => (one, other, float(weight)),
            _ => return Err(wrong()),
        };
        unweighted += usize::from(words.len() == 2);
        let node = |word: &str| -> Result<u32, String> {
            let node: u32 = word.parse().map_err(|_| wrong())?;
            match node {
                0 => Err(format!("line {}: names node 0, but nodes count from 1", number + 1)),
                node if node as usize > nodes => {
                    Err(format!("line {}: names node {node} of {nodes}", number + 1))
                }
                node => Ok(node - 1),
            }
        };
        let (one, other) = (node(one)?, node(other)?);
        if one == other {
            return Err(format!("line {}: joins node {} to itself", number + 1, one + 1));
        }
        let weight = finite(weight.ok_or_else(wrong)?, number + 1)?;
        // A cut is (W − Σ w s s′)/2, and −cut is the energy.
        model.add(one, other, weight / 2.0);
        model.offset -= weight / 2.0;
        found += 1;
    }
    let mut assumed = vec!["nodes count from 1".to_owned(), "E = −cut".to_owned()];
    if unweighted > 0 {
        assumed.push(format!("{unweighted} edges without a weight weigh 1"));
    }
    if found != edges {
        assumed.push(format!("the head announces {edges} edges, but there are {found}"));
    }
    Ok(model.file("max-cut graph", assumed))
}

#[cfg(test)]
mod tests {
    use super::super::Body;
    use super::super::quadratic::energy;
    use super::*;

    #[test]
    fn the_energy_is_minus_the_cut() {
        let text = "3 3 \n1 2 1\n2 3 -2\n1 3\n";
        let file = read(text.as_bytes()).unwrap();
        let Body::Spins(spins) = file.body else { panic!("spins") };
        // Node 1 on one side: edges 1-2 and 1-3 are cut.
        assert!((energy(&spins, &[1, 0, 0]) + 2.0).abs() < 1e-12);
        assert!(energy(&spins, &[1, 1, 1]).abs() < 1e-12);
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let wide = [&[0xff, 0xfe][..], &wide].concat();
        assert!(detect(text.as_bytes()) && detect(&wide));
        assert_eq!(read(&wide).unwrap().assumed, file.assumed);
        let commented = format!("# a graph\nc of three nodes\n{text}");
        assert!(detect(commented.as_bytes()));
        assert_eq!(read(commented.as_bytes()).unwrap().assumed, file.assumed);
    }

    #[test]
    fn edges_twice_are_said_and_none_are_read() {
        let file = read(b"2 2\n1 2 1\n2 1 1\n").unwrap();
        assert!(file.assumed[2].contains("1 pair is given more than once, and adds up"));
        let Body::Spins(spins) = file.body else { panic!("spins") };
        assert!((energy(&spins, &[1, 0]) + 2.0).abs() < 1e-12);
        assert!(detect(b"3 0\n") && !detect(b"3 1\n") && !detect(b"3\n"));
        let Body::Spins(spins) = read(b"3 0\n").unwrap().body else { panic!("spins") };
        assert_eq!((spins.fields.len(), spins.couplings.len()), (3, 0));
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_line() {
        let cases = [
            ("3 1\n0 1 1\n", "line 2: names node 0"),
            ("3 1\n1 4 1\n", "line 2: names node 4 of 3"),
            ("3 1\n1 1 1\n", "line 2: joins node 1 to itself"),
            ("3 1\n1 2 x\n", "line 2: expected 'i j w'"),
            ("999999999999 1\n1 2 1\n", "which the file cannot hold"),
            ("", "is empty"),
        ];
        for (text, expected) in cases {
            let reason = read(text.as_bytes()).unwrap_err();
            assert!(reason.contains(expected), "{text}: {reason}");
        }
    }
}
