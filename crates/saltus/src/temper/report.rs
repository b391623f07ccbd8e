//! What a ladder showed while draws were kept: rungs, rejections, round trips, log Z, and whether that is
//! fine.

use super::barrier::{IDENTIFIED, between, cumulated, local, trips_per_scan};
use super::ensemble::Sums;
use super::evidence::Evidence;
use super::rungs::Rungs;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Fewer round trips than this share of what ideal exploration makes are too few.
const SLOW: f64 = 0.1;
/// Round trips to be expected before they can be judged.
const JUDGED: f64 = 10.0;

/// What tempering came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TemperReport {
    /// Inverse temperatures of the rungs, from 0 at the base; the model itself is at 1.
    pub betas: Vec<f64>,
    /// How often neighbours did not swap: one less the mean probability to.
    pub rejections: Vec<f64>,
    /// The communication barrier Λ, the sum of the rejections.
    pub barrier: f64,
    /// Round trips of replicas from the base to the model and back, in all ensembles.
    pub round_trips: u64,
    /// Round trips if chains explored ideally.
    pub round_trips_expected: f64,
    /// log Z at the highest rung.
    pub log_z: f64,
    /// Its standard error, by leaving out an ensemble at a time.
    pub log_z_se: Option<f64>,
    /// log Z is at least this, but for chance.
    pub log_z_lower: Option<f64>,
    /// log Z is at most this, but for chance.
    pub log_z_upper: Option<f64>,
    /// The same by the mean of stepping stones up and down, from the same draws, to compare with programs that tell these; noisier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_z_stones: Option<f64>,
    /// Its standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_z_stones_se: Option<f64>,
    /// Ensembles of replicas, and the scans that each made.
    pub ensembles: usize,
    /// Scans of each ensemble.
    pub scans: u64,
    /// How fast the barrier rises at each rung.
    pub local_barrier: Vec<f64>,
    /// Mean acceptance of the kernel on each rung from the second.
    pub acceptances: Vec<f64>,
    /// The kernel's scale on each rung from the second.
    pub scales: Vec<f64>,
    /// Correlation of V = log π − log p before and after a step, on each rung from the second.
    pub autocorrelations: Vec<Option<f64>>,
    /// About log Z of each rung less that of the one below, as the warm-up found it.
    #[serde(default)]
    pub shifts: Vec<f64>,
    /// What all this was computed from, until it is written down elsewhere.
    #[serde(skip)]
    pub(crate) tally: Option<Arc<Tally>>,
}

/// What ensembles counted while draws were kept: from those of all parts of a run follows the report of the whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub(crate) rungs: Rungs,
    /// Added to log Z, where the path does not lead to the model's own normaliser.
    pub(crate) offset: f64,
    /// Of every ensemble.
    pub(crate) sums: Vec<Sums>,
}

impl Tally {
    /// That of all ensembles of several, in their order; none unless they are whole and stood on the same rungs.
    pub(crate) fn joined(parts: Vec<Self>) -> Option<Self> {
        let is_whole = |part: &Self| {
            let rungs = part.rungs.betas.len();
            let whole = |sums: &Sums| sums.rungs.len() == rungs && sums.pairs.len() + 1 == rungs;
            part.rungs.are_sound() && part.sums.iter().all(whole)
        };
        if !parts.iter().all(is_whole) {
            return None;
        }
        let mut parts = parts.into_iter();
        let mut all = parts.next()?;
        for part in parts {
            if part.rungs != all.rungs || part.offset != all.offset {
                return None;
            }
            all.sums.extend(part.sums);
        }
        Some(all)
    }
}

/// What to say of a ladder.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum LadderVerdict {
    /// Nothing is wrong.
    Fine,
    /// Swaps are so rare somewhere that the barrier is not known.
    AddRungs {
        /// The largest rejection.
        rejection: f64,
        /// Between this rung and the next.
        beta: f64,
    },
    /// Replicas travel much more slowly than the swaps would let them.
    TooSlow {
        /// The rung whose chain forgets most slowly.
        beta: f64,
    },
    /// Too few scans to see round trips.
    NotMeasured {
        /// Scans that would do.
        scans: u64,
    },
}

impl TemperReport {
    /// From all ensembles after their kept scans.
    pub(crate) fn new(tally: Tally) -> Self {
        let (rungs, offset) = (&tally.rungs, tally.offset);
        let sums: Vec<&Sums> = tally.sums.iter().collect();
        let mut total = Sums::default();
        sums.iter().for_each(|sums| total.add(sums));
        let rejections = total.rejections();
        let scans = sums.first().map_or(0, |sums| sums.scans);
        let evidence = Evidence::of(&sums, rungs);
        let of_rungs = total.rungs.iter().skip(1);
        let all_scans = total.scans.max(1) as f64;
        Self {
            barrier: rejections.iter().sum(),
            round_trips: total.trips,
            round_trips_expected: trips_per_scan(&rejections) * total.scans as f64,
            log_z: evidence.log_z + offset,
            log_z_se: evidence.standard_error,
            log_z_lower: evidence.bracket.map(|(lower, _)| lower + offset),
            log_z_upper: evidence.bracket.map(|(_, upper)| upper + offset),
            log_z_stones: Some(evidence.stones.0 + offset).filter(|stones| stones.is_finite()),
            log_z_stones_se: evidence.stones.1,
            ensembles: sums.len(),
            scans,
            local_barrier: local(&rungs.betas, &cumulated(rejections.iter().map(|r| between(*r)))),
            acceptances: of_rungs.clone().map(|rung| rung.acceptance / all_scans).collect(),
            scales: rungs.scales[1..].to_vec(),
            autocorrelations: of_rungs.map(|rung| rung.autocorrelation(total.scans)).collect(),
            betas: rungs.betas.clone(),
            shifts: rungs.shifts.clone(),
            rejections,
            tally: Some(Arc::new(tally)),
        }
    }

    /// Reads what the ladders of a part of a run counted, as stores hold it; none if that is not whole.
    #[doc(hidden)]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let tally = postcard::from_bytes(bytes).ok()?;
        Tally::joined(vec![tally]).map(Self::new)
    }

    /// The ladder, for other runs to stand on; none of one that was stored before there were shifts.
    pub fn rungs(&self) -> Option<Rungs> {
        let Self { betas, scales, shifts, .. } = self;
        let lowest = scales.first().copied().into_iter();
        let scales = lowest.chain(scales.iter().copied()).collect();
        let rungs = Rungs { betas: betas.clone(), scales, shifts: shifts.clone() };
        rungs.are_sound().then_some(rungs)
    }

    /// Whether the barrier is known: no swap is rarer than one in four.
    pub fn is_identified(&self) -> bool {
        self.rejections.iter().all(|rejection| *rejection < IDENTIFIED)
    }

    /// What to say of it.
    pub fn verdict(&self) -> LadderVerdict {
        let worst = (self.rejections.iter().copied().enumerate())
            .max_by(|one, other| one.1.total_cmp(&other.1));
        if let Some((lower, rejection)) = worst
            && rejection >= IDENTIFIED
        {
            return LadderVerdict::AddRungs { rejection, beta: self.betas[lower] };
        }
        if self.round_trips_expected < JUDGED {
            let missing = JUDGED / self.round_trips_expected.max(1e-9);
            let scans = (missing * self.scans.max(1) as f64).ceil() as u64;
            return LadderVerdict::NotMeasured { scans };
        }
        if (self.round_trips as f64) < SLOW * self.round_trips_expected {
            let slowest = (self.autocorrelations.iter().enumerate())
                .filter_map(|(below, correlation)| Some((below + 1, (*correlation)?)))
                .max_by(|one, other| one.1.total_cmp(&other.1));
            let rung = slowest.map_or(self.betas.len() - 1, |(rung, _)| rung);
            return LadderVerdict::TooSlow { beta: self.betas[rung] };
        }
        LadderVerdict::Fine
    }
}

impl std::fmt::Display for LadderVerdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fine => f.write_str("fine"),
            Self::AddRungs { rejection, beta } => write!(
                f,
                "add rungs: above b = {beta:.4} {:.0} % of swaps are rejected, so how far it is from the \
                 base to the model is not known",
                100.0 * rejection
            ),
            Self::TooSlow { beta } => write!(
                f,
                "exploration too slow at b = {beta:.4}: replicas make far fewer round trips than their \
                 swaps would let them"
            ),
            Self::NotMeasured { scans } => {
                write!(f, "round trips not measured: that needs at least {scans} scans")
            }
        }
    }
}
