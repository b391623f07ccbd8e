//! The time of a step as the median over stretches of a run, so that a machine that was busy with
//! something else, or asleep, for a part of a cell does not spoil its number.

use std::time::Instant;

/// Stretches of a run and how long they took.
#[derive(Default)]
pub struct Pace {
    last: Option<(Instant, usize)>,
    /// Seconds per step, and steps.
    stretches: Vec<(f64, usize)>,
}

impl Pace {
    /// The run has made so many steps by now.
    pub fn note(&mut self, steps: usize) {
        let now = Instant::now();
        if let Some((then, before)) = self.last
            && steps > before
        {
            let made = steps - before;
            self.stretches.push(((now - then).as_secs_f64() / made as f64, made));
        }
        self.last = Some((now, steps));
    }

    /// Seconds per step: half of all steps were made at this pace or a faster one.
    pub fn median(mut self) -> Option<f64> {
        self.stretches.sort_by(|one, other| one.0.total_cmp(&other.0));
        let all: usize = self.stretches.iter().map(|stretch| stretch.1).sum();
        let mut so_far = 0;
        self.stretches.into_iter().find_map(|(pace, steps)| {
            so_far += steps;
            (2 * so_far >= all).then_some(pace)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_does_not_count() {
        let stretches = vec![(0.1, 10), (50.0, 5), (0.2, 20), (0.11, 10), (0.19, 15)];
        assert_eq!(Pace { last: None, stretches }.median(), Some(0.19));
        assert_eq!(Pace::default().median(), None);
    }
}
