//! UAI evidence: which sites are known. The new form is `k` and k pairs; the old one has a line `1`
//! before it.

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
    let text = decode(bytes)?;
    let mut words = Words::new(&text);
    let mut numbers: Vec<u32> = Vec::with_capacity(text.len() / 2);
    while let Some(word) = words.clone().next_word() {
        numbers.push(words.number("a number of the evidence")?);
        let _ = word;
    }
    let pairs = match numbers[..] {
        [] | [0] => &[][..],
        [count, ref pairs @ ..] if pairs.len() as u64 == 2 * u64::from(count) => pairs,
        [1, count, ref pairs @ ..] if pairs.len() as u64 == 2 * u64::from(count) => pairs,
        [count, ref pairs @ ..] => {
            return Err(format!(
                "speaks of {count} known sites, but {} numbers follow; a site and its value each, or \
                 a first line of 1 and then the same, are evidence",
                pairs.len()
            ));
        }
    };
    pairs.as_chunks::<2>().0.iter().map(|[site, value]| known(*site, *value)).collect()
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
        assert!(evidence(b"1 0 300").unwrap_err().contains("value 300"));
        assert!(evidence(b"1 x 3").unwrap_err().contains("found 'x'"));
    }
}
