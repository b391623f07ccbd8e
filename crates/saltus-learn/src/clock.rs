//! How long something took: by the clock on the wall, and by the processors' own.

use cpu_time::ProcessTime;
use std::time::Instant;

/// What a piece of work cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Seconds until it was done.
    pub seconds: f64,
    /// Seconds that all threads of the process computed meanwhile: the same on a machine that is shared, and
    /// while it is paused. Zero where the system does not tell.
    pub processor_seconds: f64,
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, more: Self) {
        self.seconds += more.seconds;
        self.processor_seconds += more.processor_seconds;
    }
}

/// A clock that runs since it was made.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    wall: Instant,
    processor: Option<ProcessTime>,
}

impl Clock {
    /// Starts it.
    pub fn start() -> Self {
        Self { wall: Instant::now(), processor: ProcessTime::try_now().ok() }
    }

    /// What was spent since.
    pub fn spent(&self) -> Spent {
        let processor = self.processor.and_then(|start| start.try_elapsed().ok());
        Spent {
            seconds: self.wall.elapsed().as_secs_f64(),
            processor_seconds: processor.unwrap_or_default().as_secs_f64(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn who_sleeps_does_not_compute() {
        let clock = Clock::start();
        std::thread::sleep(Duration::from_millis(300));
        let slept = clock.spent();
        assert!(slept.seconds >= 0.3);
        // Other tests of a binary may compute meanwhile, if they share the process.
        let clock = Clock::start();
        let mut sum = 0u64;
        while clock.spent().processor_seconds < 0.05 {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
        }
        let worked = clock.spent();
        assert!(worked.processor_seconds >= 0.05 && worked.seconds > 0.0, "{worked:?}");
        let mut both = slept;
        both += worked;
        assert_eq!(both.seconds, slept.seconds + worked.seconds);
    }
}
