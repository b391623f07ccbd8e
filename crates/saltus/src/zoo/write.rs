//! Model files out: what was read in one format, written in another.

use super::read::{Body, Format, ModelFile, Spins};
use crate::model::factor::Factor;
use std::fmt::Write;

/// The text of a file in a format that models are written in: `uai` for any, `coo` for spins.
///
/// ```
/// use saltus::zoo::read::Format;
/// use saltus::zoo::write::write;
/// let coin = Format::Uai.read(b"MARKOV 1 2 1 1 0 2 0.25 0.75")?;
/// let again = Format::Uai.read(write(&coin, Format::Uai)?.as_bytes())?;
/// assert_eq!(again.body, coin.body);
/// # Ok::<(), String>(())
/// ```
pub fn write(file: &ModelFile, format: Format) -> Result<String, String> {
    match (format, &file.body) {
        (Format::Uai, Body::Factors { cardinalities, factors }) => Ok(uai(cardinalities, factors)),
        (Format::Uai, Body::Spins(spins)) => {
            let factors = tables(spins).map_err(|error| error.to_string())?;
            Ok(uai(&vec![2; spins.fields.len()], &factors))
        }
        (Format::Coo, Body::Spins(spins)) => Ok(coo(spins)),
        (Format::Coo, Body::Factors { .. }) => {
            Err("tables of more than two values or sites are no quadratic energy: write .uai"
                .into())
        }
        (format, _) => Err(format!("{format} is read, but not written: write uai or coo")),
    }
}

/// Numbers are written so that they are read as the same.
fn uai(cardinalities: &[usize], factors: &[Factor]) -> String {
    let list = |numbers: &mut dyn Iterator<Item = String>| numbers.collect::<Vec<_>>().join(" ");
    let mut text = format!("MARKOV\n{}\n", cardinalities.len());
    let _ = writeln!(text, "{}", list(&mut cardinalities.iter().map(usize::to_string)));
    let _ = writeln!(text, "{}", factors.len());
    for factor in factors {
        let scope = list(&mut factor.scope().iter().map(u32::to_string));
        let _ = writeln!(text, "{} {scope}", factor.scope().len());
    }
    for factor in factors {
        let entries = list(&mut factor.log_values().iter().map(|log| potential(*log)));
        let _ = writeln!(text, "\n{}\n{entries}", factor.log_values().len());
    }
    text
}

/// The shortest number whose logarithm is that one.
fn potential(log: f64) -> String {
    let value = log.exp();
    let nearby = [value, value.next_up(), value.next_down()];
    let exact = nearby.into_iter().find(|value| value.ln() == log);
    // A number with few digits is likely what it was made of.
    let short: f64 = format!("{value:.12e}").parse().unwrap_or(value);
    if short.ln() == log { short.to_string() } else { exact.unwrap_or(value).to_string() }
}

/// A table per field and coupling.
fn tables(spins: &Spins) -> Result<Vec<Factor>, crate::error::ModelError> {
    let mut factors = vec![Factor::new([], [spins.constant])?];
    for (site, field) in spins.fields.iter().enumerate().filter(|(_, field)| **field != 0.0) {
        factors.push(Factor::new([site as u32], [-field, *field])?);
    }
    for (one, other, weight) in &spins.couplings {
        factors.push(Factor::new([*one, *other], [*weight, -weight, -weight, *weight])?);
    }
    Ok(factors)
}

/// Energies are −log π; the constant is lost, which COO files have no place for.
fn coo(spins: &Spins) -> String {
    let mut text = "# vartype=SPIN\n".to_owned();
    for (site, field) in spins.fields.iter().enumerate() {
        // The last one is written in any case, so that the number of variables is kept.
        if *field != 0.0 || site + 1 == spins.fields.len() {
            let _ = writeln!(text, "{site} {site} {}", -field);
        }
    }
    for (one, other, weight) in &spins.couplings {
        let _ = writeln!(text, "{one} {other} {}", -weight);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let text = b"# vartype=SPIN\n0 0 0.5\n0 2 -1.25\n1 2 3\n";
        let spins = Format::Coo.read(text).unwrap();
        let again = Format::Coo.read(write(&spins, Format::Coo).unwrap().as_bytes()).unwrap();
        assert_eq!(again.body, spins.body);
        // As tables the same log π up to rounding of exponentials.
        let uai = Format::Uai.read(write(&spins, Format::Uai).unwrap().as_bytes()).unwrap();
        let Body::Factors { factors, .. } = &uai.body else { panic!("tables") };
        let found: Vec<f64> = factors.iter().flat_map(|one| one.log_values().to_vec()).collect();
        let expected = [0.0, 0.5, -0.5, 1.25, -1.25, -1.25, 1.25, -3.0, 3.0, 3.0, -3.0];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
        assert!(write(&uai, Format::Coo).unwrap_err().contains("write .uai"));
    }

    #[test]
    fn tables_come_back_as_they_were() {
        let text =
            b"MARKOV\n2\n2 3\n2\n2 0 1\n1 1\n6 0.1 0 1e-300 7 0.333333333333333 1e12\n3 1 2 3\n";
        let file = Format::Uai.read(text).unwrap();
        let again = Format::Uai.read(write(&file, Format::Uai).unwrap().as_bytes()).unwrap();
        assert_eq!(again.body, file.body);
    }
}
