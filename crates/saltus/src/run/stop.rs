//! Stop rules: whether the draws so far are worth what was asked, looked at after fixed numbers of
//! draws.

use super::Settings;
use crate::control::Reached;

/// The first look.
const FIRST_LOOK: usize = 100;

/// What the draws shall be worth.
#[derive(Clone, Copy, Debug)]
pub(super) struct StopRules {
    ess: Option<f64>,
    rhat: Option<f64>,
    log_z: Option<f64>,
}

impl StopRules {
    pub(super) fn new(settings: &Settings) -> Option<Self> {
        let Settings { until_ess: ess, until_rhat: rhat, until_log_z: log_z, .. } = *settings;
        let any = ess.is_some() || rhat.is_some() || log_z.is_some();
        any.then_some(Self { ess, rhat, log_z })
    }

    /// Whether observables have to be followed.
    pub(super) fn follow(settings: &Settings) -> bool {
        settings.until_ess.is_some() || settings.until_rhat.is_some()
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

    /// Whether all rules are met by the effective draws and the R-hat of every observable, and the error of log Z; then how.
    pub(super) fn met(
        self,
        draws: usize,
        observables: impl Iterator<Item = (f64, Option<f64>)>,
        log_z_error: Option<f64>,
    ) -> Option<Reached> {
        let (mut ess, mut rhat) = (f64::INFINITY, 1.0f64);
        for (of_one, rhat_of_one) in observables {
            ess = ess.min(of_one);
            // Chains that never moved do not agree.
            rhat = rhat.max(rhat_of_one.unwrap_or(f64::INFINITY));
        }
        let enough = self.ess.is_none_or(|asked| ess >= asked);
        let agree = self.rhat.is_none_or(|asked| rhat <= asked);
        let error = log_z_error.unwrap_or(f64::INFINITY);
        let known = self.log_z.is_none_or(|asked| error <= asked);
        (enough && agree && known).then(|| {
            let ess = self.ess.map(|asked| (ess, asked));
            let rhat = self.rhat.map(|asked| (rhat, asked));
            let log_z = self.log_z.map(|asked| (error, asked));
            Reached { draws, ess, rhat, log_z }
        })
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

    #[test]
    fn the_worst_observable_decides() {
        let settings = Settings { until_ess: Some(50.0), ..Settings::default() };
        let rules = StopRules::new(&settings).unwrap();
        assert_eq!(rules.met(100, [(60.0, None), (49.0, Some(1.0))].into_iter(), None), None);
        let reached = rules.met(100, [(60.0, None), (51.0, Some(1.0))].into_iter(), None).unwrap();
        assert_eq!((reached.draws, reached.ess, reached.rhat), (100, Some((51.0, 50.0)), None));
        let settings = Settings { until_rhat: Some(1.1), ..Settings::default() };
        let rules = StopRules::new(&settings).unwrap();
        assert_eq!(rules.met(100, [(60.0, Some(1.05)), (49.0, None)].into_iter(), None), None);
        assert!(rules.met(100, [(60.0, Some(1.05))].into_iter(), None).is_some());
    }

    #[test]
    fn log_z_is_known_by_its_error() {
        let settings = Settings { until_log_z: Some(0.01), ..Settings::default() };
        assert!(!StopRules::follow(&settings));
        let rules = StopRules::new(&settings).unwrap();
        let nothing = || std::iter::empty();
        assert_eq!(rules.met(100, nothing(), None), None);
        assert_eq!(rules.met(100, nothing(), Some(0.02)), None);
        assert_eq!(rules.met(100, nothing(), Some(0.009)).unwrap().log_z, Some((0.009, 0.01)));
    }
}
