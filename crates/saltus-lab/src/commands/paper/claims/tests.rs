//! Verdicts on studies that were made up so that the verdict is known.

use super::{Claim, Verdict, judge};
use crate::commands::paper::cell::{Cell, cells};
use crate::commands::paper::measure::Row;
use crate::commands::paper::results::Results;
use crate::commands::paper::tables::gibbs;
use crate::study::Target;
use saltus::{Balancing, Method};

/// A row of a world in which everything the paper says is true.
fn row(cell: &Cell) -> Row {
    let &Cell { target, sampler, weight, model_seed, fixed_scale } = cell;
    let values = match target.name().rsplit('-').next() {
        Some("4") => 4,
        Some("8") => 8,
        _ => 2,
    };
    let factorised = target.is_factorised();
    let ratio_helps =
        [Target::BERNOULLI, Target::ISING, Target::BINARY_RBM].concat().contains(&target);
    let gain = match (weight, sampler) {
        (Some(Balancing::Ratio), Method::Dlmc) if target.is_rbm() => 0.9,
        (Some(Balancing::Ratio), Method::Dlmc) if !Target::FHMM.contains(&target) => 1.0,
        (Some(Balancing::Ratio), _) if target == Target::BernoulliLow => 2.0,
        (Some(Balancing::Ratio), _) => {
            if ratio_helps {
                1.5
            } else {
                0.7
            }
        }
        _ => 1.0,
    };
    let share = match sampler {
        Method::Dlmc | Method::Dlmcf if factorised => 0.99,
        Method::Dlmc if target.is_rbm() => 0.6,
        Method::Dlmc => 0.5,
        Method::Dlmcf if Target::POTTS.contains(&target) => 0.45,
        Method::Dlmcf => 0.28,
        Method::Pas => 0.26,
        Method::Dmala => 0.12,
        Method::Gwg => 0.01,
        _ => 0.001,
    };
    let share: f64 = if factorised && share == 0.99 { share } else { share * gain };
    let seconds = match (sampler, values) {
        (Method::Hb | Method::Bg, 8) => 900.0,
        (Method::Hb | Method::Bg, _) => 60.0,
        (Method::Pas, _) => 500.0,
        (Method::Dlmc, _) => 140.0,
        (Method::Dlmcf, _) => 130.0,
        _ => 100.0,
    };
    let is_dlmc = sampler == Method::Dlmc && fixed_scale.is_none();
    let is_pas = sampler == Method::Pas;
    Row {
        target: target.name().to_owned(),
        sampler,
        weight,
        model_seed: Some(model_seed),
        machine: None,
        fixed_scale,
        sites: 100,
        values,
        chains: 100,
        steps: if sampler == Method::Gibbs { 1000 } else { 100_000 },
        draws: 50_000,
        study_seed: 0,
        seed: 1,
        threads: 2,
        scale: None,
        acceptance: if factorised { 1.0 } else { 0.574 },
        sites_changed_per_step: 10.0,
        ess_mean: 50_000.0 * share,
        ess_sd: None,
        ess_min: 1.0,
        stuck_chains: 0,
        evaluations_per_step: 4.0,
        ess_per_evaluation: 12_500.0 * share,
        ess_per_evaluation_sd: None,
        ess_per_second: 1e5 * share / seconds,
        ess_per_second_sd: None,
        seconds_per_100k: seconds,
        paper_seconds: None,
        rhat: Some(1.0),
        log_prob_mean: None,
        log_prob_mcse: None,
        total_rate_cv: is_pas.then_some(0.05),
        total_rate_start_over_end: is_pas.then_some(3.0),
        interpolation_error: is_dlmc.then_some(0.02),
        euler_error: is_dlmc.then_some(0.1),
        small_step_error: is_dlmc.then_some(1e-6),
        large_step_error: is_dlmc.then_some(1e-12),
    }
}

/// The claims in that world, after a change to each row.
fn claims(change: impl Fn(&mut Row)) -> Vec<Claim> {
    let rows = Target::ALL.into_iter().flat_map(|target| cells(target, 0)).map(|cell| {
        let mut row = row(&cell);
        change(&mut row);
        row
    });
    judge(&Results::new(rows.collect()))
}

/// The claims that do not hold as they are.
fn broken(change: impl Fn(&mut Row)) -> Vec<(&'static str, Verdict)> {
    claims(change)
        .into_iter()
        .filter(|claim| claim.verdict != Verdict::Holds)
        .map(|claim| (claim.id, claim.verdict))
        .collect()
}

fn scale(row: &mut Row, factor: f64) {
    row.ess_mean *= factor;
    row.ess_per_evaluation *= factor;
    row.ess_per_second *= factor;
}

#[test]
fn in_the_papers_world_everything_holds() {
    let claims = claims(|_| ());
    let ids: Vec<&str> = claims.iter().map(|claim| claim.id).collect();
    assert_eq!(
        ids,
        ["C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C10", "C11", "C12", "C13", "C15"]
    );
    for claim in claims {
        assert_eq!(claim.verdict, Verdict::Holds, "{claim:#?}");
    }
}

#[test]
fn without_cells_nothing_is_decided() {
    let claims = judge(&Results::new(Vec::new()));
    assert_eq!(claims.len(), 14);
    assert!(claims.iter().all(|claim| claim.verdict == Verdict::NotDecided));
}

#[test]
fn each_claim_falls_by_its_own_numbers() {
    use Verdict::{DoesNotHold, Partly};
    let on = |row: &Row, target: Target| row.target() == Some(target);
    // A sampler that catches up with DLMC on one lattice takes one of four answers.
    let pas_leads = |row: &mut Row| {
        if on(row, Target::IsingHigh) && row.sampler == Method::Pas {
            scale(row, 3.0);
        }
    };
    assert_eq!(broken(pas_leads), [("C5", Partly)]);
    let lattices = [Target::ISING, Target::POTTS].concat();
    let pas_leads_on_lattices = |row: &mut Row| {
        if row.target().is_some_and(|t| lattices.contains(&t)) && row.sampler == Method::Pas {
            scale(row, 3.0);
        }
    };
    assert_eq!(broken(pas_leads_on_lattices), [("C5", DoesNotHold)]);
    let rejects = |row: &mut Row| {
        if on(row, Target::Categorical4) && row.fixed_scale == Some(1.0) {
            row.acceptance = 0.99;
        }
    };
    assert_eq!(broken(rejects), [("C2", Partly)]);
    let correlated = |row: &mut Row| {
        if on(row, Target::BernoulliLow) && row.sampler == Method::Dlmc {
            scale(row, 0.9);
        }
    };
    assert_eq!(broken(correlated), [("C1", Partly)]);
    let slow = |row: &mut Row| {
        if row.sampler == Method::Dlmc {
            row.seconds_per_100k = 200.0;
        }
    };
    assert_eq!(broken(slow), [("C12", Partly)]);
    let wrong_rows = |row: &mut Row| row.interpolation_error = row.interpolation_error.map(|_| 0.3);
    assert_eq!(broken(wrong_rows), [("C10", DoesNotHold)]);
    let even = |row: &mut Row| row.total_rate_cv = row.total_rate_cv.map(|_| 0.001);
    assert_eq!(broken(even), [("C15", Partly)]);
    let dmala_ahead = |row: &mut Row| {
        if on(row, Target::BernoulliHigh) && row.sampler == Method::Dmala {
            scale(row, 2.5);
        }
    };
    assert_eq!(broken(dmala_ahead), [("C3", Partly)]);
    let stuck = |row: &mut Row| row.large_step_error = row.large_step_error.map(|_| 0.1);
    assert_eq!(broken(stuck), [("C13", Partly)]);
    let dmala = |row: &mut Row| {
        if on(row, Target::Fhmm8) && row.sampler == Method::Dmala {
            scale(row, 1.5);
        }
    };
    assert_eq!(broken(dmala), [("C9", Partly)]);
    let blind = |row: &mut Row| {
        if on(row, Target::Rbm4) && row.sampler == Method::Bg {
            scale(row, 6.0);
        }
    };
    assert_eq!(broken(blind), [("C11", Partly)]);
}

#[test]
fn weight_functions_decide_four_claims() {
    use Verdict::Partly;
    let swapped = |row: &mut Row| {
        if row.fixed_scale.is_none() && row.sampler == Method::Dmala {
            row.weight = match row.weight {
                Some(Balancing::Sqrt) => Some(Balancing::Ratio),
                _ => Some(Balancing::Sqrt),
            };
        }
    };
    assert_eq!(broken(swapped), [("C4", Partly), ("C6", Partly), ("C7", Partly), ("C8", Partly)]);
}

/// What C5 says of an Ising model with three draws of its parameters, on which rows are what this makes of them.
fn lead_on_draws(change: impl Fn(&Cell, &mut Row)) -> (Verdict, String) {
    let rows = (0..3).flat_map(|model_seed| cells(Target::IsingHigh, model_seed));
    let rows = rows.map(|cell| {
        let mut row = row(&cell);
        change(&cell, &mut row);
        row
    });
    let claims = judge(&Results::new(rows.collect()));
    let lead = find(&claims, "C5");
    assert_eq!(lead.parts[0].answers.len(), 1);
    (lead.verdict, lead.parts[0].numbers())
}

#[test]
fn draws_of_the_parameters_are_averaged_and_errors_are_over_them() {
    // On two draws PAS is ahead or nearly so, on the third far behind: DLMC's lead on average is chance.
    let factors = [1.5, 1.2, 0.1];
    let (verdict, numbers) = lead_on_draws(|cell, row| {
        if cell.sampler == Method::Pas {
            scale(row, factors[cell.model_seed as usize]);
        }
    });
    // 0.5 over the mean of 0.26·1.5·(1.5, 1.2, 0.1).
    assert_eq!((verdict, numbers.as_str()), (Verdict::NotDecided, "ising-high (pas) 1.37 ≈"));
    // Draws that are ten times as hard for all of them say the same.
    let factors = [1.0, 10.0, 0.1];
    let (verdict, numbers) =
        lead_on_draws(|cell, row| scale(row, factors[cell.model_seed as usize]));
    // 0.5 over 0.26·1.5, whatever the draw.
    assert_eq!((verdict, numbers.as_str()), (Verdict::WhereDecided, "ising-high (pas) 1.28"));
}

/// What the claims say of rows that some were taken from.
fn without(gone: impl Fn(&Row) -> bool) -> Vec<Claim> {
    let all = Target::ALL.into_iter().flat_map(|target| cells(target, 0));
    let rows = all.map(|cell| row(&cell)).filter(|row| !gone(row));
    judge(&Results::new(rows.collect()))
}

fn find<'a>(claims: &'a [Claim], id: &str) -> &'a Claim {
    claims.iter().find(|claim| claim.id == id).unwrap()
}

#[test]
fn a_missing_cell_takes_its_comparisons_away() {
    let claims = without(|row| {
        row.target == "ising-low"
            && row.sampler == Method::Pas
            && row.weight == Some(Balancing::Ratio)
    });
    // Nobody leads while one has not arrived.
    let lead = find(&claims, "C5");
    assert_eq!((lead.parts[0].answers.len(), lead.parts[0].asked), (3, 4));
    assert_eq!(
        (lead.verdict, lead.coverage().unwrap().as_str()),
        (Verdict::WhereDecided, "3 of 4 numbers")
    );
    let complete = judge(&Results::new(
        Target::ALL
            .into_iter()
            .flat_map(|target| cells(target, 0))
            .map(|cell| row(&cell))
            .collect(),
    ));
    assert!(complete.iter().all(|claim| claim.coverage().is_none()));
    // Acceptance at a tuned step size alone says nothing of every step size.
    let claims = without(|row| row.fixed_scale.is_some());
    assert_eq!(find(&claims, "C2").verdict, Verdict::NotDecided);
    // Two targets are not several.
    let claims = without(|row| !row.target.starts_with("potts"));
    assert_eq!(find(&claims, "C9").parts[0].verdict(), Verdict::NotDecided);
}

#[test]
fn what_chance_decides_is_not_decided() {
    let claims = claims(|row| {
        if row.target == "ising-low" && row.sampler == Method::Pas {
            // 0.26 · 1.5 · 1.3 = 0.507 beside 0.5, with an error of a tenth on each.
            scale(row, 1.3);
        }
        row.ess_per_evaluation_sd = Some(row.ess_per_evaluation);
    });
    let part = &find(&claims, "C5").parts[0];
    let answer = part.answers.iter().find(|answer| answer.of == "ising-low (pas)").unwrap();
    assert_eq!(answer.holds, None);
    assert!((answer.error / answer.value - 0.02f64.sqrt()).abs() < 1e-12);
    assert!(part.numbers().contains("ising-low (pas) 0.986 ≈"), "{}", part.numbers());
}

#[test]
fn only_like_is_compared_with_like() {
    // A study at quick budget of which some cells were run again at full.
    let quick = |cell: &Cell| Row { steps: 10_000, ..row(cell) };
    let of_ising = cells(Target::IsingHigh, 0);
    let mut rows: Vec<Row> = of_ising.iter().map(quick).collect();
    let upgraded = Row { ess_per_evaluation: 1e9, ..row(&of_ising[0]) };
    rows[0] = upgraded.clone();
    rows.push(quick(&of_ising[0]));
    let results = Results::new(rows.clone());
    let steps = |results: &Results| -> Vec<usize> {
        let rows = results.of_target(Target::IsingHigh);
        let mut steps: Vec<usize> =
            rows.filter(|row| row.sampler != Method::Gibbs).map(|row| row.steps).collect();
        steps.dedup();
        steps
    };
    assert_eq!(steps(&results), [10_000]);
    // Once all are there, the full ones count.
    rows.extend(of_ising.iter().map(row));
    let results = Results::new(rows);
    assert_eq!(steps(&results), [100_000]);
    // Draws of the parameters count once all their cells are there.
    let second: Vec<Cell> = cells(Target::IsingHigh, 1).into_iter().take(5).collect();
    let rows = of_ising.iter().chain(&second).map(row).collect();
    let results = Results::new(rows);
    assert!(results.of_target(Target::IsingHigh).all(|row| row.model_seed == Some(0)));
}

fn drift(row: &mut Row) {
    row.rhat = Some(1.5);
    row.ess_mean = 10.0;
}

#[test]
fn chains_that_have_hardly_moved_only_bound() {
    // The worst balanced sampler is GWG, the best blind one ten times worse.
    let verdict = |change: fn(&mut Row)| {
        let claims = claims(change);
        let coupled = &find(&claims, "C11").parts[0].answers[4];
        assert_eq!(coupled.of.split(' ').next(), Some("ising-low"));
        coupled.holds
    };
    assert_eq!(verdict(|_| ()), Some(true));
    // That the blind ones are worth even less does not matter; that GWG may be does.
    assert_eq!(
        verdict(|row| if row.weight.is_none() {
            drift(row)
        }),
        Some(true)
    );
    assert_eq!(
        verdict(|row| if row.sampler == Method::Gwg {
            drift(row)
        }),
        None
    );
    // Blind samplers seem better, but what they are worth is only a bound.
    let claims = claims(|row| {
        if row.weight.is_none() {
            scale(row, 100.0);
            drift(row);
        }
    });
    assert_eq!(find(&claims, "C11").verdict, Verdict::NotDecided);
}

#[test]
fn a_part_that_is_not_decided_keeps_a_claim_from_holding() {
    let hmm = |row: &Row| row.target().is_some_and(|target| Target::FHMM.contains(&target));
    let claims = claims(|row| {
        if hmm(row) && row.weight.is_none() {
            scale(row, 1000.0);
            drift(row);
        }
    });
    let claim = find(&claims, "C7");
    assert_eq!(claim.parts[0].verdict(), Verdict::NotDecided);
    assert_eq!(claim.parts.last().unwrap().verdict(), Verdict::Holds);
    assert_eq!(claim.verdict, Verdict::WhereDecided);
}

#[test]
fn what_stands_beside_a_claim_does_not_decide_it() {
    let claims = claims(|row| {
        if row.sampler == Method::Dlmcf && row.target.starts_with("ising") {
            scale(row, 10.0);
        }
    });
    let claim = find(&claims, "C5");
    let beside = claim.parts.iter().find(|part| !part.is_claimed).unwrap();
    assert_eq!((beside.verdict(), claim.verdict), (Verdict::Partly, Verdict::Holds));
}

#[test]
fn gibbs_stands_beside_the_best_that_has_moved() {
    let line = |change: fn(&mut Row)| {
        let all = Target::ALL.into_iter().flat_map(|target| cells(target, 0));
        let rows = all.map(|cell| {
            let mut row = row(&cell);
            change(&mut row);
            row
        });
        let table = gibbs(&Results::new(rows.collect()));
        let line = table.lines().find(|line| line.starts_with("| ising-low |"));
        line.unwrap().split('|').nth(3).unwrap().trim().to_owned()
    };
    assert_eq!(line(|_| ()), "dlmc");
    // A sampler whose chains drift seems to be worth anything.
    assert_eq!(
        line(|row| if row.sampler == Method::Gwg {
            scale(row, 1e4);
            drift(row);
        }),
        "dlmc"
    );
    assert_eq!(line(drift), "none");
}
