//! Numbers as people read them: three significant digits, or as many as their error allows.

/// A parameter as it was given, without a row of zeros.
pub fn exact(number: f32) -> String {
    let plain = number == 0.0 || (1e-5..1e7).contains(&number.abs());
    if plain { number.to_string() } else { format!("{number:e}") }
}

/// Three significant digits of what is not whole; powers of ten where zeros would hide them.
pub fn short(number: f64) -> String {
    let size = number.abs();
    if number.fract() == 0.0 && size < 1e6 {
        // Zero has no sign here.
        format!("{:.0}", number + 0.0)
    } else if !number.is_finite() {
        "–".to_owned()
    } else if (1e-4..1e6).contains(&size) {
        // Rounding may carry into another digit: 9.996 has one decimal less than it seems.
        let carried = format!("{size:.2e}").parse().unwrap_or(size);
        let decimals = (2 - magnitude(carried)).max(0) as usize;
        format!("{number:.decimals$}")
    } else {
        format!("{number:.1e}")
    }
}

/// As [`short`], or a dash if there is no number.
pub fn short_or_dash(number: Option<f64>) -> String {
    number.map_or("–".to_owned(), short)
}

/// A mean and its error, to two significant digits of the error.
pub fn with_error(mean: Option<f64>, error: Option<f64>) -> String {
    match (mean, error) {
        (None, _) => "–".to_owned(),
        (Some(mean), Some(error)) if mean.abs().max(error) >= LARGE => {
            format!("{} ± {}", short(mean), short(error))
        }
        (Some(mean), Some(error)) if error > 0.0 => {
            let decimals = (1 - magnitude(error)).clamp(0, 6) as usize;
            format!("{mean:.decimals$} ± {error:.decimals$}")
        }
        (Some(mean), _) => short(mean),
    }
}

/// From here on all digits of a number are too many.
const LARGE: f64 = 1e9;

/// The power of ten of the first digit.
fn magnitude(number: f64) -> i32 {
    number.log10().floor() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        let cases = [
            (0.0, "0"),
            (0.574, "0.574"),
            (-0.0, "0"),
            (-4.0, "-4"),
            (-0.0123456, "-0.0123"),
            (9.996, "10.0"),
            (12.3456, "12.3"),
            (2999.6, "3000"),
            (999_999.9, "1000000"),
            (1.5e8, "1.5e8"),
            (3e-7, "3.0e-7"),
            (f64::NAN, "–"),
        ];
        for (number, expected) in cases {
            assert_eq!(short(number), expected);
        }
    }

    #[test]
    fn errors_set_the_digits() {
        assert_eq!(with_error(Some(3412.346), Some(0.23)), "3412.35 ± 0.23");
        assert_eq!(with_error(Some(3412.3), Some(23.0)), "3412 ± 23");
        assert_eq!(with_error(Some(1.5), None), "1.50");
        assert_eq!(with_error(Some(1.5), Some(0.0)), "1.50");
        assert_eq!(with_error(None, None), "–");
        assert_eq!(with_error(Some(6e39), Some(3e38)), "6.0e39 ± 3.0e38");
        assert_eq!(with_error(Some(1.5), Some(f64::INFINITY)), "1.50 ± –");
        assert_eq!(with_error(Some(1.5), Some(f64::NAN)), "1.50");
    }

    #[test]
    fn parameters_are_not_rounded() {
        assert_eq!(exact(0.44068), "0.44068");
        assert_eq!(exact(-2.0), "-2");
        assert_eq!(exact(3e38), "3e38");
    }
}
