//! Results as UAI competitions have them.

/// `MAR`: the number of sites, and for each the number of its values and their probabilities.
pub fn marginals(table: &[Vec<f64>]) -> String {
    let sites = table.iter().map(|row| {
        let numbers: Vec<String> = row.iter().map(f64::to_string).collect();
        format!(" {} {}", row.len(), numbers.join(" "))
    });
    format!("MAR\n{}{}\n", table.len(), sites.collect::<String>())
}

/// `MPE`: the number of sites, and the value of each.
pub fn state(state: &[u8]) -> String {
    let values: String = state.iter().map(|value| format!(" {value}")).collect();
    format!("MPE\n{}{values}\n", state.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_form_of_the_competitions() {
        assert_eq!(marginals(&[vec![0.25, 0.75], vec![1.0]]), "MAR\n2 2 0.25 0.75 1 1\n");
        assert_eq!(state(&[1, 0, 3]), "MPE\n3 1 0 3\n");
    }
}
