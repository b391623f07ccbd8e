//! `--per-site`: every site judged by its own draws, and the worst of them named.

use crate::failure::Failure;
use crate::job::Job;
use crate::memory;
use crate::number::short_or_dash;
use saltus::stats::{Diagnosis, Movement, diagnose_sites};
use saltus::store::{Keep, Stored};
use saltus::{Outcome, Settings, Space};

/// Sites that are named.
const NAMED: usize = 5;

/// Fails if the states of a run cannot be looked at afterwards.
pub fn check(job: &Job, space: &Space) -> Result<(), Failure> {
    if job.keep() == Some(Keep::None) {
        return Err(Failure::Usage(
            "--per-site looks at whole states: store them by --keep states or --keep bits"
                .to_owned(),
        ));
    }
    if job.settings.sampler.method.is_weighted() {
        return Err(Failure::Usage(format!(
            "--per-site counts every draw alike, but those of {} have weights",
            job.settings.sampler
        )));
    }
    let Settings { chains, draws, .. } = job.settings;
    let bytes = [chains, draws, space.sites()].into_iter().map(|n| n as f64).product();
    memory::check_bytes("the states that --per-site looks at", bytes)
}

/// Judges every site of a run that is over.
pub fn judge(job: &Job, outcome: &Outcome) -> Result<Vec<Diagnosis>, Failure> {
    let sites = outcome.space.sites();
    let Some(path) = job.folder() else {
        let chains: Vec<&[u8]> =
            (0..outcome.trace.chains()).map(|chain| outcome.trace.states(chain)).collect();
        return Ok(diagnose_sites(&chains, sites));
    };
    let stored = Stored::open(path)?;
    let states = |chain| Ok(stored.states(chain, 0..stored.draws())?.unwrap_or_default());
    let chains = (0..stored.chains()).map(states).collect::<Result<Vec<_>, Failure>>()?;
    Ok(diagnose_sites(&chains, sites))
}

/// The sites that mix worst, in a few lines.
pub fn words(sites: &[Diagnosis]) -> String {
    let mut moving: Vec<usize> =
        (0..sites.len()).filter(|site| sites[*site].movement == Movement::Moving).collect();
    let ess = |site: &usize| sites[*site].ess_bulk.unwrap_or(f64::INFINITY);
    moving.sort_by(|one, other| ess(one).total_cmp(&ess(other)));
    let worst = moving.iter().take(NAMED).map(|site| {
        let Diagnosis { mean, ess_bulk, rhat, .. } = sites[*site];
        format!(
            "  site {site}: mean {}, ESS {}, R-hat {}\n",
            short_or_dash(mean),
            short_or_dash(ess_bulk.map(f64::round)),
            short_or_dash(rhat)
        )
    });
    let count = |movement| sites.iter().filter(|site| site.movement == movement).count();
    format!(
        "{} sites moved, {} are frozen, {} constant; the slowest of those that moved:\n{}",
        moving.len(),
        count(Movement::Frozen),
        count(Movement::Constant),
        worst.collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_site_comes_first() {
        // Site 0 alternates, site 1 changes once, site 2 never.
        let rows: Vec<u8> = (0..40).flat_map(|t| [t % 2, u8::from(t > 20), 1]).collect();
        let text = words(&diagnose_sites(&[rows], 3));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("2 sites moved, 0 are frozen, 1 constant"), "{text}");
        assert!(lines[1].starts_with("  site 1:") && lines[2].starts_with("  site 0:"), "{text}");
    }
}
