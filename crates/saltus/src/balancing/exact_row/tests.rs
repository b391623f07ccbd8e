//! Exact rows against matrix exponentials to hundreds of digits (`experiments/exact-rows/make.py`).

use super::ExactRow;
use crate::balancing::{Balance, Balancing};
use crate::kernel::row::RowFormula;

/// Log-probabilities as the script makes them.
fn logs(values: usize, spread: f64) -> Vec<f64> {
    (0..values).map(|j| -spread * ((j as f64 * 0.61803398875) % 1.0)).collect()
}

fn row(diff: &[f64], current: usize, h: f64, balancing: Balancing) -> Vec<f64> {
    let mut row = vec![0.0; diff.len()];
    ExactRow::default().write(diff, current, h, balancing, &mut row);
    row
}

/// The relative error that each method may make in any entry.
fn tolerance(balancing: Balancing, h: f64) -> f64 {
    match balancing {
        // Along a contour rounding grows with 1/h; 9e-11 was found elsewhere at h = 1e-3.
        Balancing::Sqrt | Balancing::Sum => (1e-13 / h).max(1e-11),
        Balancing::Ratio | Balancing::Min | Balancing::Max => 1e-11,
    }
}

#[test]
fn every_entry_is_that_of_a_dense_exponential() {
    let mut worst = [0.0f64; 5];
    let mut lines = 0;
    for line in include_str!("rows.tsv").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let balancing: Balancing = fields[0].parse().unwrap();
        let number = |field: usize| fields[field].parse::<f64>().unwrap();
        let (values, h, current) = (number(1) as usize, number(3), number(4) as usize);
        let found = row(&logs(values, number(2)), current, h, balancing);
        for entry in fields[5].split(' ') {
            let (value, exact) = entry.split_once(':').unwrap();
            let exact: f64 = exact.parse().unwrap();
            let error = (found[value.parse::<usize>().unwrap()] / exact - 1.0).abs();
            let place = Balancing::ALL.iter().position(|of| *of == balancing).unwrap();
            worst[place] = worst[place].max(error);
            assert!(error < tolerance(balancing, h), "{line}\n{value}: {error:e}");
        }
        lines += 1;
    }
    assert_eq!(lines, 620);
    println!("worst relative errors of {:?}: {worst:?}", Balancing::ALL);
}

/// A function of nobody's, whose rows are made as those of any: √t by another name.
struct Plain;
impl Balance for Plain {
    const SUMMARY: &'static str = "";
    fn log(d: f64) -> f64 {
        0.5 * d
    }
    fn rate(power: f32) -> f32 {
        power.sqrt()
    }
    fn symmetric(power: f32) -> f32 {
        1.0 / power.sqrt()
    }
}

#[test]
fn a_function_without_a_way_of_its_own_has_exact_rows_too() {
    let mut lines = 0;
    for line in include_str!("rows.tsv").lines().filter(|line| line.starts_with("sqrt\t")) {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |field: usize| fields[field].parse::<f64>().unwrap();
        let (values, h, current) = (number(1) as usize, number(3), number(4) as usize);
        if values > 32 {
            continue;
        }
        let diff = logs(values, number(2));
        let mut found = vec![0.0; values];
        let mut maker = ExactRow::default();
        maker.fill_nu(&diff);
        Plain::exact_row(maker.work(&diff, current, h), &mut found);
        for entry in fields[5].split(' ') {
            let (value, exact) = entry.split_once(':').unwrap();
            let exact: f64 = exact.parse().unwrap();
            let error = (found[value.parse::<usize>().unwrap()] / exact - 1.0).abs();
            assert!(error < 1e-11, "{line}\n{value}: {error:e}");
        }
        lines += 1;
    }
    assert_eq!(lines, 120);
}

#[test]
fn rows_are_distributions_and_reversible() {
    for balancing in Balancing::ALL {
        for values in [2, 3, 5, 40] {
            let diff = logs(values, 7.0);
            let total: f64 = diff.iter().map(|diff| diff.exp()).sum();
            for h in [1e-5, 0.2, 3.0, 1e9] {
                let rows: Vec<Vec<f64>> =
                    (0..values).map(|i| row(&diff, i, h, balancing)).collect();
                for (i, one) in rows.iter().enumerate() {
                    assert!((one.iter().sum::<f64>() - 1.0).abs() < 1e-14);
                    for (j, other) in rows.iter().enumerate() {
                        let there = diff[i].exp() / total * one[j];
                        let back = diff[j].exp() / total * other[i];
                        let tolerance = tolerance(balancing, h) * 4.0;
                        assert!((there / back - 1.0).abs() < tolerance, "{balancing} {h} {i} {j}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_step_is_two_half_steps() {
    // What interpolation lacks with more than two values.
    let diff = logs(6, 5.0);
    for balancing in Balancing::ALL {
        let rows: Vec<Vec<f64>> = (0..6).map(|i| row(&diff, i, 0.15, balancing)).collect();
        let whole = row(&diff, 2, 0.3, balancing);
        for j in 0..6 {
            let twice: f64 = (0..6).map(|k| rows[2][k] * rows[k][j]).sum();
            assert!((twice / whole[j] - 1.0).abs() < 1e-11, "{balancing} {twice} {}", whole[j]);
        }
    }
}

#[test]
fn two_values_are_interpolated_exactly() {
    for balancing in Balancing::ALL {
        for (d, h) in [(0.3, 0.1), (-40.0, 3.0), (30.0, 1e-3), (0.0, 1e9)] {
            let logs = RowFormula::Interpolated.log_row(&[0.0, d], 0, h, balancing);
            for (log, exact) in logs.iter().zip(row(&[0.0, d], 0, h, balancing)) {
                assert!((log.exp() - exact).abs() <= 1e-13 * exact, "{balancing} {d} {h}");
            }
        }
    }
}

#[test]
fn what_is_not_a_number_stays_so() {
    assert!(row(&[0.0, f64::NAN, 1.0], 0, 0.1, Balancing::Sqrt).iter().all(|p| p.is_nan()));
}
