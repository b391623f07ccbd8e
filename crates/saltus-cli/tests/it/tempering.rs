//! Ladders, log Z, scans and best states on the command line.

use crate::common::{saltus, summary};
use crate::folder::{assert_same, temporary};

/// Σ of e^(−βE) f over the states of a 4×4 torus, for several f of energy and mean spin.
fn torus(beta: f64, functions: &[&dyn Fn(f64, f64) -> f64]) -> Vec<f64> {
    let mut sums = vec![0.0; functions.len() + 1];
    for state in 0u32..1 << 16 {
        let spin = |row: u32, column: u32| {
            let bit = (row % 4) * 4 + column % 4;
            if state >> bit & 1 == 1 { 1.0 } else { -1.0 }
        };
        let (mut energy, mut spins) = (0.0, 0.0);
        for row in 0..4 {
            for column in 0..4 {
                let here = spin(row, column);
                spins += here;
                energy -= here * (spin(row + 1, column) + spin(row, column + 1));
            }
        }
        let weight = (-beta * energy).exp();
        sums[0] += weight;
        for (sum, function) in sums[1..].iter_mut().zip(functions) {
            *sum += weight * function(energy, spins / 16.0);
        }
    }
    let z = sums[0];
    std::iter::once(z.ln()).chain(sums[1..].iter().map(|sum| sum / z)).collect()
}

#[test]
fn a_ladder_is_told_in_json_and_in_words() {
    let line = "sample ising --size 4 --periodic --coupling 0.4 --sampler gibbs --temper --warmup 500 \
                --draws 500";
    let json = summary(line);
    let ladder = &json["tempering"];
    let betas = ladder["betas"].as_array().unwrap();
    assert_eq!((betas.len(), json["chains"].as_u64()), (4, Some(16)));
    assert_eq!((betas[0].as_f64(), betas[3].as_f64()), (Some(0.0), Some(1.0)));
    assert_eq!(ladder["rejections"].as_array().unwrap().len(), 3);
    for key in ["barrier", "round_trips", "round_trips_expected", "log_z", "log_z_se"] {
        assert!(ladder[key].is_number(), "{key}: {ladder}");
    }
    let exact = torus(0.4, &[])[0];
    assert!((exact - 14.561093).abs() < 1e-6, "{exact}");
    let error = ladder["log_z_se"].as_f64().unwrap();
    assert!((ladder["log_z"].as_f64().unwrap() - exact).abs() < 4.0 * error, "{ladder}");
    let words = saltus(&format!("{line} --quiet")).out;
    assert!(words.contains("Ladder: fine. Barrier 1."), "{words}");
    assert!(words.contains("16 ladders, each with 500 scans"), "{words}");
    assert!(words.lines().all(|line| line.chars().count() <= 80), "{words}");
    assert!(summary("sample ising --size 4 --draws 9 --warmup 9")["tempering"].is_null());
}

#[test]
fn a_stored_ladder_goes_on_to_the_same_bytes() {
    let folder = temporary();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    let line = |draws, out: &std::path::Path| {
        format!(
            "sample ising --size 4 --periodic --coupling 0.5 --temper 4 --chains 3 --warmup 300 \
             --draws {draws} --quiet --out {}",
            out.display()
        )
    };
    assert_eq!(saltus(&line(300, &whole)).code, 0);
    assert_eq!(saltus(&line(100, &parts)).code, 0);
    let more = format!("sample --resume {} --extend 200 --quiet --threads 1", parts.display());
    let more = saltus(&more);
    assert_eq!(more.code, 0, "{}", more.err);
    assert_same(&whole, &parts, "a ladder");
}

#[test]
fn log_z_has_an_error_and_a_bracket() {
    let exact = torus(0.4, &[])[0];
    for method in ["temper", "ais"] {
        let json = summary(&format!(
            "log-z ising --size 4 --periodic --coupling 0.4 --warmup 500 --draws 500 --method {method}"
        ));
        let number = |key: &str| json[key].as_f64().unwrap();
        assert_eq!(json["method"], method);
        assert!((number("log_z") - exact).abs() < 4.0 * number("log_z_se"), "{json}");
        assert!(number("lower") <= exact, "{json}");
        assert!(method == "ais" || number("upper") >= exact, "{json}");
    }
}

#[test]
fn log_z_is_drawn_until_its_error_is_small() {
    // The critical 8 × 8 torus, from its density of states.
    let line =
        "log-z ising --size 8 --periodic --coupling 0.440686794 --warmup 500 --method temper";
    let number = |json: &serde_json::Value, key: &str| json[key].as_f64().unwrap();
    let mut scans = Vec::new();
    for asked in [0.1, 0.03] {
        let json = summary(&format!("{line} --error {asked}"));
        let (off, error) = (number(&json, "log_z") - 60.141781, number(&json, "log_z_se"));
        assert!(off.abs() < 4.0 * error && error <= asked, "{json}");
        scans.push(json["tempering"]["scans"].as_u64().unwrap());
    }
    // A third of the error takes about nine times as long.
    assert!(scans[1] > 3 * scans[0], "{scans:?}");
    let ran = saltus(&format!("{line} --error 0"));
    assert!(ran.code == 2 && ran.err.contains("must be positive"), "{}", ran.err);
}

#[test]
fn a_search_by_ladders_that_is_cut_short_has_states() {
    let line = "minimize ising --size 30 --method temper --sweeps 1000000 --time-limit 50ms";
    let json = summary(line);
    assert!(!json["states"].as_array().unwrap().is_empty(), "{json}");
}

#[test]
fn a_scan_is_exact_within_its_errors() {
    let folder = temporary();
    let csv = folder.path().join("rows.csv");
    let json = summary(&format!(
        "scan ising --size 4 --periodic --coupling 1 --beta 0.2:0.5:4 --warmup 500 --draws 1500 --csv {}",
        csv.display()
    ));
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    for row in rows {
        let beta = row["beta"].as_f64().unwrap();
        let exact = torus(
            beta,
            &[&|e, _| e, &|e, _| e * e, &|_, m| m.abs(), &|_, m| m * m, &|_, m| m.powi(4)],
        );
        let (e, e2, m, m2, m4) = (exact[1], exact[2], exact[3], exact[4], exact[5]);
        for (key, exact) in [
            ("energy", e),
            ("energy_per_site", e / 16.0),
            ("specific_heat", beta * beta * (e2 - e * e) / 16.0),
            ("abs_m", m),
            ("m2", m2),
            ("m4", m4),
            ("susceptibility", beta * 16.0 * (m2 - m * m)),
            ("binder", 1.0 - m4 / (3.0 * m2 * m2)),
        ] {
            let (found, error) =
                (row[key].as_f64().unwrap(), row[format!("{key}_se")].as_f64().unwrap());
            assert!(
                (found - exact).abs() < 5.0 * error,
                "{key} at {beta}: {found} ± {error}, {exact}"
            );
            assert!(error < 0.05 * exact.abs(), "{key} at {beta}: ± {error} of {exact}");
        }
    }
    let text = std::fs::read_to_string(csv).unwrap();
    assert_eq!(text.lines().count(), 5);
    assert!(text.starts_with("beta,energy,energy_se,energy_per_site,"), "{text}");
}

#[test]
fn a_scan_tells_what_else_is_asked_for_and_draws_it() {
    let folder = temporary();
    let (plot, weights) = (folder.path().join("scan.svg"), folder.path().join("weights.txt"));
    let lines: Vec<String> = (0..16).map(|site| format!("{site} {}\n", 1 + site % 2)).collect();
    std::fs::write(&weights, lines.concat()).unwrap();
    let line = format!(
        "scan ising --size 4 --periodic --coupling 1 --beta 0.2:0.4:3 --warmup 300 --draws 500 --observe structure:0,0 \
         --observe structure:1,2 --observe sum={} --plot {}",
        weights.display(),
        plot.display()
    );
    let json = summary(&line);
    for row in json["rows"].as_array().unwrap() {
        let number = |key: &str| row[key].as_f64().unwrap();
        // No wave at all is N m², draw by draw.
        assert!((number("structure_0_0") - 16.0 * number("m2")).abs() < 1e-9, "{row}");
        let wave = torus_states(number("beta"), |state| {
            let (mut re, mut im) = (0.0, 0.0);
            for (site, value) in state.iter().enumerate() {
                let (row, column) = (site / 4, site % 4);
                let angle = std::f64::consts::TAU * (row + 2 * column) as f64 / 4.0;
                let spin = 2.0 * f64::from(*value) - 1.0;
                re += spin * angle.cos();
                im += spin * angle.sin();
            }
            (re * re + im * im) / 16.0
        });
        let off = (number("structure_1_2") - wave).abs() / number("structure_1_2_se");
        assert!(off < 5.0, "{row}: {wave}");
        // Up and down are as likely: a half of 8 · 1 + 8 · 2.
        assert!((number("sum") - 12.0).abs() < 5.0 * number("sum_se"), "{row}");
    }
    let svg = std::fs::read_to_string(&plot).unwrap();
    // Energy, specific heat, |m|, susceptibility, Binder, and what was asked for.
    assert_eq!(svg.matches("<path").count(), 8, "{svg}");
    assert!(svg.contains(">structure_1_2<") && !svg.contains("NaN"), "{svg}");
    let ran = saltus(&line);
    assert!(ran.code == 1 && ran.err.contains("exists already"), "{}", ran.err);
    let ran = saltus("scan ising --size 4 --beta 0.2:0.4:3 --observe m2");
    assert!(ran.code == 2 && ran.err.contains("tells m2 already"), "{}", ran.err);
}

/// The mean of a number over all states of the 4 × 4 torus.
fn torus_states(beta: f64, number: impl Fn(&[u8]) -> f64) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for bits in 0..1u32 << 16 {
        let state: Vec<u8> = (0..16).map(|site| (bits >> site & 1) as u8).collect();
        let agree = |one: usize, other: usize| if state[one] == state[other] { 1.0 } else { -1.0 };
        let bonds: f64 = (0..16)
            .map(|site| {
                let (row, column) = (site / 4, site % 4);
                agree(site, row * 4 + (column + 1) % 4) + agree(site, (row + 1) % 4 * 4 + column)
            })
            .sum();
        let weight = (beta * bonds).exp();
        sum += weight * number(&state);
        total += weight;
    }
    sum / total
}

#[test]
fn every_way_to_the_best_states_of_a_magnet_arrives() {
    for method in ["anneal", "reheat", "temper"] {
        let line = format!(
            "minimize ising --size 6 --periodic --coupling 1 --sweeps 300 --method {method}"
        );
        let json = summary(&line);
        assert_eq!(
            (&json["method"], json["best"]["energy"].as_f64()),
            (&method.into(), Some(-72.0))
        );
        assert!(json["best"]["count"].as_u64().unwrap() > 1, "{json}");
        let ends = (json["first_beta"].as_f64().unwrap(), json["last_beta"].as_f64().unwrap());
        match json["reheated_to"].as_f64() {
            Some(peak) => assert!(method == "reheat" && ends.0 <= peak && peak < ends.1, "{json}"),
            None => assert_ne!(method, "reheat"),
        }
        let again = summary(&format!("{line} --threads 1"));
        assert_eq!(json["states"], again["states"]);
    }
    let ran = saltus("minimize ising --size 6 --method cool");
    assert!(ran.code == 2 && ran.err.contains("anneal"), "{}", ran.err);
}

#[test]
fn layers_go_along_a_ladder() {
    let model = "--visible 10 --hidden 6 --model-seed 4";
    let exact = saltus(&format!("exact rbm {model} --json")).json()["log_z"].as_f64().unwrap();
    let json = summary(&format!("log-z rbm {model} --sampler layers --warmup 500 --draws 1000"));
    let (found, error) = (json["log_z"].as_f64().unwrap(), json["log_z_se"].as_f64().unwrap());
    assert!((found - exact).abs() < 4.0 * error && error < 0.1, "{found} ± {error}, {exact}");
    // Where all is the model's own, everything is accepted.
    let acceptances = json["tempering"]["acceptances"].as_array().unwrap();
    assert_eq!(acceptances.last().unwrap().as_f64(), Some(1.0), "{acceptances:?}");
    let stones = json["tempering"]["log_z_stones"].as_f64().unwrap();
    let stones_error = json["tempering"]["log_z_stones_se"].as_f64().unwrap();
    assert!((stones - exact).abs() < 4.0 * stones_error, "{stones} ± {stones_error}, {exact}");
}

#[test]
fn the_best_states_of_a_magnet_are_all_up_and_all_down() {
    let json = summary("minimize ising --size 6 --periodic --coupling 1 --sweeps 300");
    assert_eq!(json["best"]["energy"].as_f64(), Some(-72.0));
    let states = json["states"].as_array().unwrap();
    assert_eq!(states[1]["energy"].as_f64(), Some(-72.0));
    for state in &states[..2] {
        let values = state["state"].as_array().unwrap();
        assert!(values.iter().all(|value| *value == values[0]), "{state}");
        assert!(state["count"].as_u64().unwrap() > 1, "{state}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (line, sentence) in [
        ("sample ising --temper 1", "a ladder has from 2 to 10000 rungs, got 1"),
        ("sample ising --temper many", "neither auto nor a number of rungs"),
        ("sample ising --keep-rungs x.csv", "ask for one by --temper"),
        ("sample ising --beta -1", "must be positive"),
        ("scan ising", "which temperatures?"),
        ("scan ising --beta 1:0:4", "is not a range A:B:N"),
    ] {
        let ran = saltus(line);
        assert_eq!(ran.code, 2, "{line}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{line}: {}", ran.err);
    }
}

#[test]
fn log_z_of_few_hidden_units_is_exact() {
    // By either layer: the other way round it is the same machine, but for parameters.
    for (model, way) in [("--visible 9 --hidden 4", "hidden"), ("--visible 9 --hidden 30", "sites")]
    {
        let json = summary(&format!("log-z rbm {model}"));
        assert_eq!((&json["method"], &json["log_z_se"]), (&"exact".into(), &0.0.into()), "{way}");
        let exact = saltus(&format!("exact rbm {model} --json")).json()["log_z"].as_f64().unwrap();
        assert!((json["log_z"].as_f64().unwrap() - exact).abs() < 1e-5 * exact.abs(), "{way}");
        // Who asks for a ladder gets one.
        let asked = summary(&format!("log-z rbm {model} --method temper --warmup 200 --draws 200"));
        assert_eq!(asked["method"], "temper");
    }
}
