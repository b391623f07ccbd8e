//! Stop rules: whether the draws so far are worth what was asked, looked at after fixed numbers of
//! draws.

use super::Settings;
use super::outcome::Reached;
use crate::sink::{Sink, SinkError};
use crate::stats::{combined_ess, diagnose_weighted, split_rhat};

/// The first look.
const FIRST_LOOK: usize = 100;

/// What the draws shall be worth.
#[derive(Clone, Copy, Debug)]
pub(super) struct StopRules {
    ess: Option<f64>,
    rhat: Option<f64>,
    /// Which observable holds the weights of the draws, if they have any.
    weights: Option<usize>,
}

impl StopRules {
    pub(super) fn new(settings: &Settings, weights: Option<usize>) -> Option<Self> {
        let Settings { until_ess: ess, until_rhat: rhat, .. } = *settings;
        (ess.is_some() || rhat.is_some()).then_some(Self { ess, rhat, weights })
    }

    /// The number of draws after which to look next: 100, and then a quarter more each time, so that
    /// looking takes a fixed share of the time however long the run.
    pub(super) fn next_look(draws: usize) -> usize {
        let mut look = FIRST_LOOK;
        while look <= draws {
            look += look / 4;
        }
        look
    }

    /// Whether all rules are met; then how.
    pub(super) fn met(
        self,
        draws: usize,
        sink: &mut dyn Sink,
    ) -> Result<Option<Reached>, SinkError> {
        let (mut ess, mut rhat) = (f64::INFINITY, 1.0f64);
        // log π and the Hamming distance.
        for observable in 0..2 {
            if let Some(weights) = self.weights {
                let weights = sink.series(weights)?.into_owned();
                let diagnosis = diagnose_weighted(&sink.series(observable)?, &weights);
                ess = ess.min(diagnosis.ess_bulk.unwrap_or(0.0));
                rhat = rhat.max(diagnosis.rhat.unwrap_or(f64::INFINITY));
                continue;
            }
            let series = sink.series(observable)?;
            if self.ess.is_some() {
                ess = ess.min(combined_ess(&series).value());
            }
            if self.rhat.is_some() {
                // Chains that never moved do not agree.
                rhat = rhat.max(split_rhat(&series).unwrap_or(f64::INFINITY));
            }
        }
        let enough = self.ess.is_none_or(|asked| ess >= asked);
        let agree = self.rhat.is_none_or(|asked| rhat <= asked);
        Ok((enough && agree).then(|| {
            let ess = self.ess.map(|asked| (ess, asked));
            let rhat = self.rhat.map(|asked| (rhat, asked));
            Reached { draws, ess, rhat }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_depend_on_the_number_of_draws_alone() {
        let mut looks = vec![0];
        while looks.len() < 8 {
            looks.push(StopRules::next_look(*looks.last().unwrap()));
        }
        assert_eq!(looks, [0, 100, 125, 156, 195, 243, 303, 378]);
        // Where a run goes on from does not matter.
        assert_eq!(StopRules::next_look(130), 156);
    }
}
