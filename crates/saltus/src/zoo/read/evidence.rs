//! UAI evidence: which sites are known. The new form is `k` and k pairs; the old one has a line with the number
//! of cases, mostly `1`, before as many of those.

use super::text::{Words, decode};

/// The known sites and their values in the bytes of a file of evidence, of either form; the error is
/// the reason alone.
///
/// ```
/// use saltus::zoo::read::evidence;
/// assert_eq!(evidence(b"2 0 1 5 0")?, [(0, 1), (5, 0)]);
/// assert_eq!(evidence(b"1\n2 0 1 5 0")?, [(0, 1), (5, 0)]);
/// assert!(evidence(b"0\n")?.is_empty() && evidence(b"")?.is_empty());
/// # Ok::<(), String>(())
/// ```
pub fn evidence(bytes: &[u8]) -> Result<Vec<(usize, u8)>, String> {
    let mut cases = evidence_cases(bytes)?;
    match cases.len() {
        1 => Ok(cases.remove(0)),
        cases => Err(format!("has {cases} cases of evidence, and one can be known at a time")),
    }
}

/// The same of every case of a file.
///
/// ```
/// use saltus::zoo::read::evidence_cases;
/// assert_eq!(evidence_cases(b"2\n1 0 1\n2 0 1 5 0")?, [vec![(0, 1)], vec![(0, 1), (5, 0)]]);
/// # Ok::<(), String>(())
/// ```
pub fn evidence_cases(bytes: &[u8]) -> Result<Vec<Vec<(usize, u8)>>, String> {
    let text = decode(bytes)?;
    let mut words = Words::new(&text);
    let mut numbers: Vec<u32> = Vec::with_capacity(text.len() / 2);
    while let Some(word) = words.clone().next_word() {
        numbers.push(words.number("a number of the evidence")?);
        let _ = word;
    }
    if let [] | [0] = numbers[..] {
        return Ok(vec![Vec::new()]);
    }
    let (count, rest) = (numbers[0], &numbers[1..]);
    if rest.len() as u64 == 2 * u64::from(count) {
        return Ok(vec![pairs(rest)?]);
    }
    let several = blocks(count, rest).ok_or_else(|| {
        format!(
            "speaks of {count} known sites, but {} numbers follow; a site and its value each, or a first \
             line with the number of cases and then the same of each, are evidence",
            rest.len()
        )
    })?;
    several.into_iter().map(pairs).collect()
}

/// The numbers of each case, if there are so many and nothing else.
fn blocks(cases: u32, mut rest: &[u32]) -> Option<Vec<&[u32]>> {
    let mut blocks = Vec::new();
    for _ in 0..cases {
        let (count, behind) = rest.split_first()?;
        let (block, behind) =
            behind.split_at_checked(usize::try_from(*count).ok()?.checked_mul(2)?)?;
        blocks.push(block);
        rest = behind;
    }
    rest.is_empty().then_some(blocks)
}

fn pairs(numbers: &[u32]) -> Result<Vec<(usize, u8)>, String> {
    numbers.as_chunks::<2>().0.iter().map(|[site, value]| known(*site, *value)).collect()
}

fn known(site: u32, value: u32) -> Result<(usize, u8), String> {
    let value = u8::try_from(value).map_err(|_| format!("gives site {site} the value {value}"))?;
    Ok((site as usize, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_told_apart() {
        // One pair in the new form; one site in the old form would have three more numbers.
        assert_eq!(evidence(b"1 7 2").unwrap(), [(7, 2)]);
        assert_eq!(evidence(b"1\n1 7 2\n").unwrap(), [(7, 2)]);
        assert_eq!(evidence(b"1 0").unwrap(), []);
        assert!(evidence(b"2 0 1 5").unwrap_err().contains("speaks of 2 known sites, but 3"));
        assert_eq!(evidence_cases(b"2\n0\n2 7 2 1 1\n").unwrap(), [vec![], vec![(7, 2), (1, 1)]]);
        assert!(evidence(b"2\n0\n2 7 2 1 1\n").unwrap_err().contains("has 2 cases"));
        assert!(evidence(b"4\n0\n2 7 2 1 1\n").unwrap_err().contains("speaks of 4"));
        assert!(evidence(b"4000000000 0 0 0").unwrap_err().contains("speaks of 4000000000"));
        assert!(evidence(b"1 0 300").unwrap_err().contains("value 300"));
        assert!(evidence(b"1 x 3").unwrap_err().contains("found 'x'"));
    }
}
