//! Lists of `i j bias`: dimod's COO files, and our own files of edges.

use super::ModelFile;
use super::pairs::Pairs;
use super::quadratic::{Quadratic, Vartype, finite};
use super::text::{decode, float};

/// One line of three numbers, the first two whole.
struct Entry {
    one: u32,
    other: u32,
    bias: f64,
}

/// Entries with their lines, and what a `# vartype=` comment says.
type Entries = (Vec<(usize, Entry)>, Option<Vartype>);

fn entries(text: &str) -> Result<Entries, String> {
    let (mut entries, mut vartype) = (Vec::new(), None);
    for (number, line) in text.lines().enumerate() {
        let (line, comment) = line.split_once('#').unwrap_or((line, ""));
        vartype = Vartype::of_comment(comment, number + 1)?.or(vartype);
        let words: Vec<&str> = line
            .split(|c: char| c == ',' || c.is_whitespace())
            .filter(|word| !word.is_empty())
            .collect();
        if words.is_empty() {
            continue;
        }
        let expected =
            || format!("line {}: expected 'i j bias', found '{}'", number + 1, words.join(" "));
        let [one, other, bias] = words[..] else {
            return Err(expected());
        };
        let site = |word: &str| word.parse::<u32>().ok().filter(|site| *site < u32::MAX);
        let entry = site(one).zip(site(other)).zip(float(bias));
        let ((one, other), bias) = entry.ok_or_else(expected)?;
        entries.push((number + 1, Entry { one, other, bias: finite(bias, number + 1)? }));
    }
    Ok((entries, vartype))
}

/// Three numbers in the first line that has any.
pub(super) fn detect(bytes: &[u8]) -> bool {
    let Ok(text) = decode(bytes) else {
        return false;
    };
    let head: String = text.lines().take(64).collect::<Vec<_>>().join("\n");
    head.lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .find(|line| !line.is_empty())
        .is_some_and(|line| entries(line).is_ok_and(|(entries, _)| entries.len() == 1))
}

pub(super) fn read(bytes: &[u8]) -> Result<ModelFile, String> {
    let text = decode(bytes)?;
    let (entries, vartype) = entries(&text)?;
    if entries.is_empty() {
        return Err("holds no line 'i j bias'".to_owned());
    }
    let sites = check_sites(&entries)?;
    let mut assumed = vec!["variables count from 0".to_owned()];
    let of_pair = |(_, entry): &(usize, Entry)| (entry.one, entry.other, entry.bias);
    let pairs = Pairs(entries.iter().map(of_pair).collect());
    if let Some((line, entry)) = pairs.again().map(|place| &entries[place]) {
        return Err(format!(
            "line {line}: gives the pair {} {} a second time; a pair is given once, and its two \
             halves are not added without asking",
            entry.one, entry.other
        ));
    }
    let unused = sites - used(&entries, sites);
    if let Some(doubt) = pairs.missing_first("variable") {
        assumed.push(doubt);
    } else if unused > 0 {
        assumed.push(format!("{unused} variables have no term"));
    }
    if vartype.is_none() {
        assumed.push("without a vartype in the file".to_owned());
    }
    // A diagonal of biases is what bits have; spins would make constants of them.
    let mut model = Quadratic::new(vartype.unwrap_or(Vartype::Binary), sites);
    for (_, Entry { one, other, bias }) in entries {
        match one == other {
            true => model.linear[one as usize] += bias,
            false => model.add(one, other, bias),
        }
    }
    Ok(model.file("quadratic energy", assumed))
}

/// How many variables there are; fails if so many have no term that a number must be wrong.
fn check_sites(entries: &[(usize, Entry)]) -> Result<usize, String> {
    let Some((line, last)) = entries.iter().max_by_key(|(_, entry)| entry.one.max(entry.other))
    else {
        return Ok(0);
    };
    let sites = last.one.max(last.other) as usize + 1;
    if sites > 64 + 8 * entries.len() {
        return Err(format!(
            "line {line}: names variable {}, but all {} lines together name few",
            sites - 1,
            entries.len()
        ));
    }
    Ok(sites)
}

fn used(entries: &[(usize, Entry)], sites: usize) -> usize {
    let mut used = vec![false; sites];
    for (_, entry) in entries {
        used[entry.one as usize] = true;
        used[entry.other as usize] = true;
    }
    used.iter().filter(|used| **used).count()
}

#[cfg(test)]
mod tests {
    use super::super::quadratic::energy;
    use super::super::{Body, Spins};
    use super::*;

    fn spins(text: &str) -> Result<(Spins, String), String> {
        let file = read(text.as_bytes())?;
        let Body::Spins(spins) = file.body else { panic!("spins") };
        Ok((spins, file.assumed.join("; ")))
    }

    #[test]
    fn bits_and_spins_by_the_header() {
        let (bits, words) = spins("0 0 -1.0\n1 1 2e-1\n0 1 0.5\n").unwrap();
        assert!((energy(&bits, &[1, 1]) - (-1.0 + 0.2 + 0.5)).abs() < 1e-12);
        assert!(energy(&bits, &[0, 0]).abs() < 1e-12);
        assert!(words.contains("0 and 1") && words.contains("count from 0"), "{words}");
        for key in ["vartype=SPIN", "Vartype: spin", "vartype=Vartype.SPIN", "VARTYPE = Spin"] {
            let (spins, _) = spins(&format!("# {key}\n0 0 1\n0 1 -2\n")).unwrap();
            assert!((energy(&spins, &[1, 0]) - (1.0 + 2.0)).abs() < 1e-12, "{key}");
        }
    }

    #[test]
    fn silent_misreadings_are_said_or_refused() {
        assert!(spins("1 2 0.5\n2 3 1\n").unwrap().1.contains("count from 1?"));
        assert!(spins("0 1 1\n1 0 1\n").unwrap_err().contains("line 2: gives the pair 1 0"));
        assert!(spins("0 99999 1").unwrap_err().contains("names variable 99999"));
        assert!(spins("0 1").unwrap_err().contains("expected 'i j bias'"));
        assert!(spins("0 1 1e99").unwrap_err().contains("line 1"));
        assert!(spins("# vartype=POTTS\n0 1 1").unwrap_err().contains("vartype=SPIN"));
        assert!(detect(b"# a comment\n\n0 1 1e-3\n") && !detect(b"0 1\n") && !detect(b"p qubo"));
    }
}
