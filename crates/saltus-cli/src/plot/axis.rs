//! From numbers to places on a page, and where to put marks with round numbers.

use crate::number::short;

/// A range of numbers laid along a line of the page.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
    logarithmic: bool,
}

/// A mark on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where it stands on the page.
    pub at: f64,
    /// Its number; empty for a mark between the labelled ones.
    pub label: String,
}

impl Axis {
    /// Equal distances for equal differences; a single number gets room on both sides.
    pub fn linear(low: f64, high: f64, start: f64, end: f64) -> Self {
        let room = if high > low { 0.0 } else { low.abs().max(1.0) * 0.5 };
        Self { low: low - room, high: high + room, start, end, logarithmic: false }
    }

    /// Equal distances for equal ratios, from the power of ten below, over at least one decade.
    pub fn logarithmic(low: f64, high: f64, start: f64, end: f64) -> Self {
        let bottom = low.log10().floor();
        let low = 10f64.powf(bottom);
        Self { low, high: high.max(10.0 * low), start, end, logarithmic: true }
    }

    /// Place of a number; what lies beyond an end is put there.
    pub fn at(&self, number: f64) -> f64 {
        let share = if self.logarithmic {
            (number.max(self.low) / self.low).log10() / (self.high / self.low).log10()
        } else {
            (number - self.low) / (self.high - self.low)
        };
        self.start + (self.end - self.start) * share.clamp(0.0, 1.0)
    }

    /// Marks at round numbers: about as many labels as wanted.
    pub fn ticks(&self, wanted: usize) -> Vec<Tick> {
        if self.logarithmic { self.decades(wanted) } else { self.round_numbers(wanted) }
    }

    fn round_numbers(&self, wanted: usize) -> Vec<Tick> {
        let rough = (self.high - self.low) / wanted.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = step.into_iter().find(|step| *step >= rough * 0.999).unwrap_or(10.0 * power);
        let first = (self.low / step - 1e-9).ceil();
        let count = ((self.high / step + 1e-9).floor() - first).max(0.0) as usize;
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let label = |number: f64| {
            if (1e-4..1e6).contains(&step) {
                // Zero has no sign here.
                format!("{:.decimals$}", number + 0.0)
            } else {
                short(number)
            }
        };
        (0..=count)
            .map(|k| (first + k as f64) * step)
            .map(|number| Tick { at: self.at(number), label: label(number) })
            .collect()
    }

    fn decades(&self, wanted: usize) -> Vec<Tick> {
        let (bottom, top) = (self.low.log10().round() as i32, self.high.log10().ceil() as i32);
        let every = ((top - bottom) as usize).div_ceil(wanted.max(1)).max(1) as i32;
        let mut ticks = Vec::new();
        let mut mark = |number: f64, label: String| {
            // A hair beyond the end is rounding.
            if number <= self.high * 1.000_001 {
                ticks.push(Tick { at: self.at(number), label });
            }
        };
        for power in bottom..=top {
            let number = 10f64.powi(power);
            let labelled = (power - bottom) % every == 0;
            mark(number, if labelled { power_of_ten(power) } else { String::new() });
            if every == 1 {
                (2..10).for_each(|k| mark(f64::from(k) * number, String::new()));
            }
        }
        ticks
    }
}

/// A power of ten, written out where that is short.
fn power_of_ten(power: i32) -> String {
    match power {
        0..=4 => format!("{}", 10i64.pow(power as u32)),
        -3..0 => format!("{:.*}", -power as usize, 10f64.powi(power)),
        _ => {
            let superscript = |digit: char| match digit {
                '-' => '⁻',
                '1' => '¹',
                '2' => '²',
                '3' => '³',
                digit => char::from_u32('⁰' as u32 + u32::from(digit) - 48).unwrap_or(digit),
            };
            format!("10{}", power.to_string().chars().map(superscript).collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: Axis, wanted: usize) -> Vec<String> {
        let labels = axis.ticks(wanted).into_iter().map(|tick| tick.label);
        labels.filter(|label| !label.is_empty()).collect()
    }

    #[test]
    fn marks_are_round() {
        assert_eq!(
            labels(Axis::linear(0.0, 1.0, 0.0, 1.0), 5),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(labels(Axis::linear(-7.3, 12.0, 0.0, 1.0), 4), ["-5", "0", "5", "10"]);
        assert_eq!(labels(Axis::linear(3.0, 3.0, 0.0, 1.0), 3), ["2", "3", "4"]);
        assert_eq!(labels(Axis::logarithmic(0.02, 30.0, 0.0, 1.0), 9), ["0.01", "0.1", "1", "10"]);
        assert_eq!(
            labels(Axis::logarithmic(1e-7, 1e5, 0.0, 1.0), 4),
            ["10⁻⁷", "10⁻⁴", "0.1", "100", "10⁵"]
        );
    }

    #[test]
    fn places_follow_the_scale() {
        let axis = Axis::logarithmic(1.0, 100.0, 200.0, 0.0);
        assert_eq!([axis.at(1.0), axis.at(10.0), axis.at(100.0)], [200.0, 100.0, 0.0]);
        assert_eq!([axis.at(0.0), axis.at(1e9)], [200.0, 0.0]);
        assert_eq!(Axis::linear(0.0, 10.0, 0.0, 100.0).at(2.5), 25.0);
    }
}
