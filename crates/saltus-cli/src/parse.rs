//! Options with a meaning besides those of the models: seeds, threads and durations, each refused in a
//! sentence.

pub use saltus::zoo::parse::{Size, count, finite, positive, values};

use std::time::Duration;

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
    fn threads_and_seeds() {
        assert!(threads("100000").unwrap_err().contains("at most 1024 threads"));
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
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
