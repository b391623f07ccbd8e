//! Sentences for a name that does not exist, with the nearest one that does.

/// "unknown sampler 'dlcm': did you mean 'dlmc'? (known: …)".
///
/// ```
/// let sentence = saltus::names::unknown("dataset", "mnits", ["mnist", "omniglot"]);
/// assert_eq!(sentence, "unknown dataset 'mnits': did you mean 'mnist'? (known: mnist, omniglot)");
/// ```
pub fn unknown<'a>(kind: &str, given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let nearest = known.iter().min_by_key(|name| edit_distance(given, name));
    let hint = match nearest {
        Some(name) if edit_distance(given, name) <= 2.max(name.len() / 3) => {
            format!(": did you mean '{name}'?")
        }
        _ => String::new(),
    };
    format!("unknown {kind} '{given}'{hint} (known: {})", known.join(", "))
}

/// Insertions, deletions, substitutions and swaps of neighbours between two words.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let substitute = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut best = substitute.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(table[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        let known = ["rwm", "dlmc", "dmala"];
        assert_eq!(
            unknown("sampler", "dlcm", known),
            "unknown sampler 'dlcm': did you mean 'dlmc'? (known: rwm, dlmc, dmala)"
        );
        assert!(!unknown("sampler", "hamiltonian", known).contains("did you mean"));
    }

    #[test]
    fn edit_distance_counts_a_swap_as_one() {
        assert_eq!(edit_distance("dlcm", "dlmc"), 1);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }
}
