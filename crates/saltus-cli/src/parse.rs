//! Options with a meaning: counts, sizes, finite numbers and durations, each refused in a sentence.

use serde::{Deserialize, Serialize};
use std::str::FromStr;
use std::time::Duration;

/// Rows and columns of a lattice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Size {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
}

impl FromStr for Size {
    type Err = String;

    /// `30x40`, or `16` for a square.
    fn from_str(text: &str) -> Result<Self, String> {
        let (rows, columns) = text.split_once(['x', 'X', '×']).unwrap_or((text, text));
        let side = |side: &str| {
            positive(side.trim()).map_err(|reason| {
                format!("{reason}; a size is ROWSxCOLUMNS such as 30x40, or 16 for a square")
            })
        };
        Ok(Self { rows: side(rows)?, columns: side(columns)? })
    }
}

impl TryFrom<String> for Size {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Size> for String {
    fn from(size: Size) -> Self {
        size.to_string()
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.rows, self.columns)
    }
}

/// A whole number that may be zero.
pub fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| {
        let negative = text.parse::<f64>().is_ok_and(|number| number < 0.0);
        let large = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if negative {
            format!("it cannot be negative, got {text}")
        } else if large {
            format!("{text} is more than can be counted")
        } else {
            format!("'{text}' is not a whole number")
        }
    })
}

/// A whole number of at least one.
pub fn positive(text: &str) -> Result<usize, String> {
    match count(text)? {
        0 => Err("it must be at least 1, got 0".to_owned()),
        number => Ok(number),
    }
}

/// A seed.
pub fn seed(text: &str) -> Result<u64, String> {
    count(text).map(|seed| seed as u64)
}

/// A number of threads that a machine could have.
pub fn threads(text: &str) -> Result<usize, String> {
    match positive(text)? {
        number @ 1..=MOST_THREADS => Ok(number),
        number => Err(format!("at most {MOST_THREADS} threads can be started, got {number}")),
    }
}

/// More would take longer to start than to run.
const MOST_THREADS: usize = 1024;

/// A number of values per site.
pub fn values(text: &str) -> Result<usize, String> {
    match count(text)? {
        number @ 2..=256 => Ok(number),
        number => Err(format!("a site needs between 2 and 256 values, got {number}")),
    }
}

/// A number that is not NaN or infinite.
pub fn finite(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("'{text}' is not a number"))?;
    if number.is_finite() { Ok(number) } else { Err(format!("{number} is not a finite number")) }
}

/// A finite number in single precision, in which models keep their parameters.
pub fn finite_single(text: &str) -> Result<f32, String> {
    let number = finite(text)? as f32;
    if number.is_finite() { Ok(number) } else { Err(format!("{text} is too large")) }
}

/// A duration: `30s`, `10m`, `2h`, `1.5h`; a bare number is in seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds_per_unit = match &text[digits.len()..] {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        unit => return Err(format!("unknown unit '{unit}': use s, m or h, such as 30s")),
    };
    let number: f64 =
        digits.parse().map_err(|_| format!("'{text}' is not a time such as 30s, 10m or 2h"))?;
    let duration = Duration::try_from_secs_f64(number * seconds_per_unit);
    match duration {
        Ok(duration) if duration > Duration::ZERO => Ok(duration),
        _ => Err(format!("{text} is not a time that can pass")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let size = |rows, columns| Ok(Size { rows, columns });
        assert_eq!("30x40".parse::<Size>(), size(30, 40));
        assert_eq!("16".parse::<Size>(), size(16, 16));
        assert_eq!("3X4".parse::<Size>(), size(3, 4));
        for wrong in
            ["", "x", "3x", "0", "3x0", "-3x4", "3x4x5", "3.5", "ten", "99999999999999999999"]
        {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn counts() {
        assert_eq!(count("0"), Ok(0));
        assert!(count("-5").unwrap_err().contains("cannot be negative"));
        assert!(count("99999999999999999999").unwrap_err().contains("more than can be counted"));
        assert!(count("many").unwrap_err().contains("not a whole number"));
        assert!(positive("0").unwrap_err().contains("at least 1"));
        assert!(values("1").unwrap_err().contains("between 2 and 256"));
        assert_eq!(values("256"), Ok(256));
        assert!(threads("100000").unwrap_err().contains("at most 1024 threads"));
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
    }

    #[test]
    fn numbers() {
        assert_eq!(finite("-1e-3"), Ok(-1e-3));
        for wrong in ["nan", "inf", "-inf", "", "one"] {
            assert!(finite(wrong).is_err(), "{wrong}");
        }
        assert!(finite_single("1e300").is_err());
    }

    #[test]
    fn durations() {
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("30"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("1.5h"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        for wrong in ["", "s", "0s", "-3s", "nan", "inf", "infs", "1e300h", "3 weeks", "3d", "½h"]
        {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
