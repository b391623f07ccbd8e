//! How the learning rate rises and falls, how steps become more, and how parameters are averaged over
//! iterations.

use serde::{Deserialize, Serialize};

/// How a learning rate falls from its full height to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fall {
    /// In equal steps.
    #[default]
    Linear,
    /// Along half a wave: slowly at both ends.
    Cosine,
    /// By the same factor at every iteration.
    Geometric,
}

impl Fall {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Cosine => "cosine",
            Self::Geometric => "geometric",
        }
    }
}

impl std::str::FromStr for Fall {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = [Self::Linear, Self::Cosine, Self::Geometric];
        let known = all.into_iter().find(|fall| fall.name() == name);
        known.ok_or_else(|| saltus::names::unknown("fall", name, all.map(Self::name)))
    }
}

/// The learning rates of a training.
///
/// ```
/// use saltus_learn::{Fall, Rate};
/// let rate = Rate { full: 0.5, warmup: 4, last: Some(0.125), fall: Fall::Linear };
/// assert_eq!([1, 2, 4, 5, 7].map(|iteration| rate.of(iteration, 7)), [0.125, 0.25, 0.5, 0.375, 0.125]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// The highest.
    pub full: f64,
    /// Iterations during which it rises in equal steps.
    pub warmup: usize,
    /// That of the last iteration, if it is another.
    pub last: Option<f64>,
    /// How it gets there.
    pub fall: Fall,
}

impl Rate {
    /// The learning rate of an iteration, counted from 1, of so many.
    pub fn of(&self, iteration: usize, iterations: usize) -> f64 {
        let Self { full, warmup, last, fall } = *self;
        if iteration < warmup {
            return full * iteration as f64 / warmup as f64;
        }
        let Some(last) = last else { return full };
        let first = warmup.max(1);
        let length = iterations.saturating_sub(first).max(1) as f64;
        let done = ((iteration - first) as f64 / length).min(1.0);
        match fall {
            Fall::Linear => full + done * (last - full),
            Fall::Cosine => {
                last + (full - last) * 0.5 * (1.0 + (std::f64::consts::PI * done).cos())
            }
            Fall::Geometric => full * (last / full).powf(done),
        }
    }
}

/// Iterations over which the energy gap is averaged before steps become more.
const WINDOW: usize = 500;
/// A mean gap, in nats, that chains which keep up do not have.
const GAP: f64 = 1.0;
/// By how much steps become more.
const MORE: f64 = 1.25;

/// The steps of an iteration, which become more as long as chains do not keep up with the model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Patience {
    steps: usize,
    seen: usize,
    sum: f64,
}

impl Patience {
    /// So many steps at first.
    pub fn new(steps: usize) -> Self {
        Self { steps, seen: 0, sum: 0.0 }
    }

    /// Steps of the next iteration.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Takes in the energy gap of an iteration. If its mean over 500 iterations is beyond one nat, steps become more
    /// by a quarter, up to `most`.
    pub fn look(&mut self, gap: f64, most: Option<usize>) {
        self.seen += 1;
        self.sum += gap;
        if self.seen < WINDOW {
            return;
        }
        let mean = self.sum / self.seen as f64;
        (self.seen, self.sum) = (0, 0.0);
        if let Some(most) = most.filter(|_| mean.abs() > GAP) {
            let more = (self.steps as f64 * MORE).ceil() as usize;
            self.steps = self.steps.max(more.min(most));
        }
    }
}

/// Moves a running mean of parameters: `average = decay · average + (1 − decay) · now`.
#[inline(always)]
pub(super) fn move_average(average: &mut [f32], now: &[f32], decay: f64) {
    // Rounded once: what is kept and what is taken must be one together.
    let taken = (1.0 - decay) as f32;
    for (average, now) in average.iter_mut().zip(now) {
        *average += taken * (now - *average);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_learning_rate_rises_and_stays() {
        let rate = Rate { full: 0.2, warmup: 10, last: None, fall: Fall::Linear };
        let rates = [1, 5, 10, 11, 1000].map(|iteration| rate.of(iteration, 1000));
        for (found, expected) in rates.iter().zip([0.02, 0.1, 0.2, 0.2, 0.2]) {
            assert!((found - expected).abs() < 1e-15, "{rates:?}");
        }
        assert_eq!(Rate { warmup: 0, ..rate }.of(1, 5), 0.2);
    }

    #[test]
    fn the_learning_rate_falls_to_its_end() {
        let rate = |fall| Rate { full: 0.4, warmup: 0, last: Some(0.1), fall };
        for (fall, middle) in [
            (Fall::Linear, 0.25),
            (Fall::Cosine, 0.25),
            // The root of 0.4 · 0.1.
            (Fall::Geometric, 0.2),
        ] {
            let rates = [1, 3, 5, 9].map(|iteration| rate(fall).of(iteration, 5));
            for (found, expected) in rates.iter().zip([0.4, middle, 0.1, 0.1]) {
                assert!((found - expected).abs() < 1e-12, "{fall:?}: {rates:?}");
            }
        }
        // A quarter of half a wave: 0.1 + 0.3·(1 + cos 45°)/2.
        assert!((rate(Fall::Cosine).of(2, 5) - 0.356_066).abs() < 1e-6);
        assert_eq!(rate(Fall::Linear).of(1, 1), 0.4);
    }

    #[test]
    fn steps_become_more_while_chains_lag() {
        let mut patience = Patience::new(4);
        let window = |patience: &mut Patience, gap: f64, most| {
            (0..WINDOW).for_each(|_| patience.look(gap, most));
            patience.steps()
        };
        assert_eq!(window(&mut patience, 0.9, Some(7)), 4);
        assert_eq!(window(&mut patience, -3.0, None), 4);
        assert_eq!(window(&mut patience, -3.0, Some(7)), 5);
        assert_eq!(window(&mut patience, 1.1, Some(7)), 7);
        assert_eq!(window(&mut patience, 9.0, Some(7)), 7);
        // Gaps to both sides are chance.
        let mut patience = Patience::new(4);
        (0..WINDOW).for_each(|at| patience.look(if at % 2 == 0 { 50.0 } else { -50.0 }, Some(9)));
        assert_eq!(patience.steps(), 4);
    }

    #[test]
    fn averages_are_those_computed_by_hand() {
        let mut average = [1.0f32, 0.0];
        move_average(&mut average, &[3.0, 8.0], 0.75);
        // 0.75·1 + 0.25·3 and 0.25·8.
        assert_eq!(average, [1.5, 2.0]);
        move_average(&mut average, &[0.0, -4.0], 0.75);
        // 0.75·1.5 and 0.75·2 − 0.25·4.
        assert_eq!(average, [1.125, 0.5]);
    }
}
