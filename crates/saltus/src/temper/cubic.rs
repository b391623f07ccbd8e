//! A monotone cubic through points (Fritsch and Carlson 1980), and where it takes a value.

/// A smooth function that rises wherever its points do.
#[derive(Clone, Debug)]
pub(super) struct MonotoneCubic {
    x: Vec<f64>,
    y: Vec<f64>,
    slopes: Vec<f64>,
}

impl MonotoneCubic {
    /// Through points whose x rise and whose y do not fall; at least two.
    pub(super) fn new(x: Vec<f64>, y: Vec<f64>) -> Self {
        let last = x.len() - 1;
        let secant = |i: usize| (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
        let slope = |i: usize| match i {
            0 => secant(0),
            _ if i == last => secant(last - 1),
            _ => {
                let (before, after) = (secant(i - 1), secant(i));
                let (h, k) = (x[i] - x[i - 1], x[i + 1] - x[i]);
                if before * after <= 0.0 {
                    return 0.0;
                }
                // The weighted harmonic mean never overshoots.
                let (one, other) = (2.0 * k + h, k + 2.0 * h);
                (one + other) / (one / before + other / after)
            }
        };
        let slopes = (0..=last).map(slope).collect();
        Self { x, y, slopes }
    }

    fn at(&self, interval: usize, t: f64) -> f64 {
        let Self { x, y, slopes } = self;
        let h = x[interval + 1] - x[interval];
        hermite(t, h, (y[interval], slopes[interval]), (y[interval + 1], slopes[interval + 1]))
    }

    /// The derivative at one of the points.
    pub(super) fn slope(&self, point: usize) -> f64 {
        self.slopes[point]
    }

    /// Where it takes a value between its first and its last.
    pub(super) fn inverse(&self, value: f64) -> f64 {
        let last = self.y.len() - 2;
        let interval = self.y[1..].iter().position(|y| *y >= value).unwrap_or(last).min(last);
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            let below = self.at(interval, middle) < value;
            *(if below { &mut low } else { &mut high }) = middle;
        }
        self.x[interval] + 0.5 * (low + high) * (self.x[interval + 1] - self.x[interval])
    }
}

/// The cubic over an interval of length `h` with these values and slopes at its ends, at share `t`.
pub(super) fn hermite(t: f64, h: f64, from: (f64, f64), to: (f64, f64)) -> f64 {
    let (squared, cubed) = (t * t, t * t * t);
    (2.0 * cubed - 3.0 * squared + 1.0) * from.0
        + (cubed - 2.0 * squared + t) * h * from.1
        + (3.0 * squared - 2.0 * cubed) * to.0
        + (cubed - squared) * h * to.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_line_and_its_inverse_too() {
        let line = MonotoneCubic::new(vec![0.0, 0.1, 0.7, 1.0], vec![0.0, 0.2, 1.4, 2.0]);
        for value in [0.0, 0.05, 0.4, 1.3, 2.0] {
            assert!((line.inverse(value) - value / 2.0).abs() < 1e-12, "{value}");
        }
        assert!((line.slope(2) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_curve_is_met_closely_and_rises() {
        let x: Vec<f64> = (0..=10).map(|i| f64::from(i) / 10.0).collect();
        let curve = MonotoneCubic::new(x.clone(), x.iter().map(|x| x * x).collect());
        let mut before = 0.0;
        for i in 1..=100 {
            let value = f64::from(i) / 100.0;
            let found = curve.inverse(value);
            assert!((found - value.sqrt()).abs() < 0.01, "{value}: {found}");
            assert!(found > before);
            before = found;
        }
    }

    #[test]
    fn flat_ground_is_crossed() {
        let steps = MonotoneCubic::new(vec![0.0, 0.4, 0.6, 1.0], vec![0.0, 1.0, 1.0, 2.0]);
        assert!((steps.inverse(1.5) - 0.8).abs() < 0.1);
        assert!(steps.inverse(0.999) < 0.4 && steps.inverse(1.001) > 0.6);
    }
}
