//! The sampler that `auto` chooses beside every other, in effective draws per second of processor time, and the cost of a step as it is
//! counted beside what it takes.
//!
//! ```text
//! cargo run --release --package saltus --features zarr --example auto -- [--data DIR] [--seconds 600] [--others] [--tried] [NAME …] > table.md
//! ```
//!
//! Targets are the sixteen of the paper (its RBMs from DIR/rbm-reference, else random ones), the presets, and six models of files (from
//! DIR/formats); with `--others` a dozen more, on which nothing was tuned. `--tried` leaves samplers out that `auto` never tries. 100 chains on one thread. A sampler tunes for at most a third of its time, then draws.
//! Effective draws are those of the observable, log π or the Hamming distance, that has fewest, of all chains together; where chains disagree
//! (R-hat above 1.1) they are no more than the distance between chains says, 2 chains/(R-hat² − 1), and such a sampler is compared only if all are; then there is no ratio but
//! both R-hats, that of auto's choice first and the smallest. Time is that of the
//! process, so that other work on the machine disturbs it little; it takes about the seconds that are asked for, with those of an idle machine.

use saltus::stats::{Diagnosis, diagnose};
use saltus::zoo::{Building, ModelSpec};
use saltus::{Choice, Control, Method, Model, Outcome, Run, Sampler, Settings, choose};
use std::path::{Path, PathBuf};

const PAPER: &[(&str, &str)] = &[
    ("bernoulli low", r#"{"bernoulli": {"preset": "low"}}"#),
    ("bernoulli high", r#"{"bernoulli": {"preset": "high"}}"#),
    ("categorical 4", r#"{"categorical": {"preset": "c4"}}"#),
    ("categorical 8", r#"{"categorical": {"preset": "c8"}}"#),
    ("ising low", r#"{"ising": {"preset": "low"}}"#),
    ("ising high", r#"{"ising": {"preset": "high"}}"#),
    ("potts 4", r#"{"potts": {"preset": "c4"}}"#),
    ("potts 8", r#"{"potts": {"preset": "c8"}}"#),
    ("fhmm low", r#"{"fhmm": {"preset": "low"}}"#),
    ("fhmm high", r#"{"fhmm": {"preset": "high"}}"#),
    ("fhmm 4", r#"{"fhmm": {"preset": "c4"}}"#),
    ("fhmm 8", r#"{"fhmm": {"preset": "c8"}}"#),
    ("rbm 25", "rbm-reference/mnist-binary-25.safetensors"),
    ("rbm 200", "rbm-reference/mnist-binary-200.safetensors"),
    ("rbm 4 levels", "rbm-reference/fashion-mnist-4-levels-50.safetensors"),
    ("rbm 8 levels", "rbm-reference/fashion-mnist-8-levels-50.safetensors"),
    (
        "ising 32×32 at β_c",
        r#"{"ising": {"size": "32x32", "coupling": 0.4406868, "periodic": true}}"#,
    ),
    ("rbm", r#"{"rbm": {}}"#),
    ("ObjectDetection_11", "formats/uai/ObjectDetection_11.uai"),
    ("Promedus_11", "formats/uai/Promedus_11.uai"),
    ("alarm", "formats/bif/alarm.bif.gz"),
    ("insurance", "formats/bif/insurance.bif.gz"),
    ("5x5_v1", "formats/dimod/5x5_v1.bqm"),
    ("G11", "formats/gset/G11.txt"),
];

/// Nothing was tuned on these.
const OTHERS: &[(&str, &str)] = &[
    ("ising 16×16 at 0.42", r#"{"ising": {"size": "16x16", "coupling": 0.42, "periodic": true}}"#),
    ("ising 48×48 at 0.3", r#"{"ising": {"size": "48x48", "coupling": 0.3, "periodic": true}}"#),
    ("ising 64×64 at 0.43", r#"{"ising": {"size": "64x64", "coupling": 0.43, "periodic": true}}"#),
    ("ising 8×8×8 at 0.2", r#"{"ising": {"size": "8x8x8", "coupling": 0.2, "periodic": true}}"#),
    (
        "spin glass 8×8×8 at 0.5",
        r#"{"ising": {"size": "8x8x8", "coupling": 0.5, "periodic": true, "disorder": "pm"}}"#,
    ),
    ("potts 3 24×24 at 0.9", r#"{"potts": {"size": "24x24", "values": 3, "coupling": 0.9}}"#),
    ("rbm 100×40", r#"{"rbm": {"visible": 100, "hidden": 40}}"#),
    ("rbm 300×100×3", r#"{"rbm": {"visible": 300, "hidden": 100, "values": 3}}"#),
    ("fhmm 50×8×3", r#"{"fhmm": {"length": 50, "factors": 8, "values": 3}}"#),
    ("categorical 30×3", r#"{"categorical": {"sites": 30, "values": 3}}"#),
    ("linkage_11", "formats/uai/linkage_11.uai"),
    ("CSP_12", "formats/uai/CSP_12.uai"),
    ("G1", "formats/gset/G1.txt"),
    ("G14", "formats/gset/G14.txt"),
    ("asia", "formats/uai/asia.uai"),
];

const CHAINS: usize = 100;
/// Ladders, if that is what is chosen.
const LADDERS: usize = 16;
/// Share of a sampler's time that it tunes for, at most.
const TUNING: f64 = 0.33;
const MOST_DRAWS: usize = 20_000;
const DISAGREEMENT: f64 = 1.1;
const SEED: u64 = 1;

/// Seconds of this process on all its threads, by the ticks of the kernel.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    let ticks = |n: usize| fields.split(' ').nth(n).and_then(|word| word.parse::<f64>().ok());
    // utime and stime, the 14th and 15th; there are 100 ticks in a second on every Linux.
    (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / 100.0
}

/// What a sampler came to.
struct Measured {
    name: String,
    /// Effective draws per second, whether chains agree, and whether one was stuck.
    worth: f64,
    agrees: bool,
    rhat: f64,
    stuck: bool,
    /// Nanoseconds of a step of a chain.
    step: f64,
    counted: f64,
}

struct Comparing<'a> {
    name: &'a str,
    /// Seconds for each sampler.
    seconds: f64,
    /// Only samplers that are tried.
    tried: bool,
}

impl Comparing<'_> {
    fn compare<M: Model>(&self, model: &M) {
        let settings = Settings { chains: CHAINS, seed: SEED, ..Settings::default() };
        let settings = Settings { threads: Some(1), ..settings };
        let before = processor_seconds();
        let choice = choose::choose(model, &settings, || Control::Continue);
        let choice = choice.expect("nobody stops it");
        let choosing = processor_seconds() - before;
        let measure = |sampler: &Sampler| measured(model, sampler, self.seconds);
        let of = |method: &&Method| {
            let traits = method.traits(model.space());
            !traits.is_weighted && (traits.is_tried || !self.tried)
        };
        let methods = Method::ALL.iter().filter(of);
        let samplers = methods.map(|method| Sampler::new(*method));
        let mut all: Vec<Measured> = samplers.filter_map(|sampler| measure(&sampler)).collect();
        let chosen = match &choice.temper {
            None if choice.sampler == Sampler::new(choice.sampler.method) => all
                .iter()
                .position(|one| one.name == choice.sampler.to_string())
                .unwrap_or_default(),
            _ => {
                let name = format!("{} {:?}", choice.sampler, choice.sampler.balancing);
                let ladder = measured_with(model, &choice, self.seconds);
                all.extend(ladder.map(|one| Measured { name, ..one }));
                all.len() - 1
            }
        };
        print(self.name, &choice, &all, chosen, choosing);
    }
}

fn print(name: &str, choice: &Choice, all: &[Measured], chosen: usize, choosing: f64) {
    let some_agree = all.iter().any(|one| one.agrees);
    let compared = all.iter().filter(|one| (one.agrees || !some_agree) && !one.stuck);
    // Where none agree, those are best that are closest to it.
    let rank = |one: &Measured| if some_agree { one.worth } else { -one.rhat };
    let Some(best) = compared.max_by(|one, other| rank(one).total_cmp(&rank(other))) else {
        println!("| {name} | nothing could be compared | | | | | |");
        return;
    };
    let own = &all[chosen];
    let ladder = if choice.temper.is_some() { " with a ladder" } else { "" };
    let doubt = match (own.agrees, own.stuck) {
        (_, true) => " (stuck)",
        (false, _) => " (disagree)",
        _ => "",
    };
    let ratio = match some_agree {
        true => format!("{:.2}", own.worth / best.worth),
        false => format!("none agree: R-hat {:.1}, {:.1}", own.rhat, best.rhat),
    };
    println!(
        "| {name} | {}{ladder}{doubt} | {:.4} | {} | {:.4} | {ratio} | {choosing:.2} |",
        own.name, own.worth, best.name, best.worth,
    );
    for one in all {
        let agrees = if one.agrees { "" } else { "*" };
        eprintln!(
            "{name}\t{}{agrees}\t{:.4}\t{:.3}\t{:.0}\t{:.0}\t{:.2}",
            one.name,
            one.worth,
            one.rhat,
            one.step,
            one.counted,
            one.counted / one.step
        );
    }
    for trial in &choice.trials {
        eprintln!("{name}\ttried\t{trial:?}");
    }
}

fn measured<M: Model>(model: &M, sampler: &Sampler, seconds: f64) -> Option<Measured> {
    let choice = Choice { sampler: sampler.clone(), temper: None, trials: Vec::new() };
    measured_with(model, &choice, seconds)
}

fn measured_with<M: Model>(model: &M, choice: &Choice, seconds: f64) -> Option<Measured> {
    let sampler = &choice.sampler;
    let chains = if choice.temper.is_some() { LADDERS } else { CHAINS };
    let plain = Settings { chains, seed: SEED, threads: Some(1), ..sampler.clone().into() };
    let plain = Settings { temper: choice.temper.clone(), ..plain };
    plain.suits(model).ok()?;
    let suited = plain.clone().suited(model, None, None);
    let go = |settings: Settings, starts: Option<Vec<u8>>| -> Option<(Outcome, f64)> {
        let before = processor_seconds();
        let mut run = Run::new(model, settings);
        if let Some(starts) = starts {
            run = run.start_from(starts);
        }
        let outcome = run.go().ok()?;
        Some((outcome, processor_seconds() - before))
    };
    // Twice as many steps until they take long enough to be counted.
    let mut steps = 8;
    let step = loop {
        let fixed = Sampler { scale: suited.sampler.scale, ..sampler.clone() };
        let settings =
            Settings { warmup: steps, draws: 1, thin: 1, sampler: fixed, ..plain.clone() };
        let (_, seconds) = go(settings, None)?;
        if seconds > 0.05 {
            break seconds / steps as f64;
        }
        steps *= 2;
    };
    let affordable = |share: f64| (share * seconds / step) as usize;
    let warmup = suited.warmup.min(affordable(TUNING)).max(50);
    let left = affordable(1.0).saturating_sub(warmup);
    let most = MOST_DRAWS * CHAINS / chains;
    let draws = (left / suited.thin).clamp(50, most);
    let (outcome, taken) = if choice.temper.is_some() {
        // A ladder cannot be started where another was: what its warm-up takes is in proportion.
        let settings = Settings { warmup, draws, thin: 1, ..plain };
        let (outcome, taken) = go(settings, None)?;
        (outcome, taken * draws as f64 / (draws + warmup) as f64)
    } else {
        let tuning = Settings { warmup, draws: 1, thin: 1, ..plain.clone() };
        let (tuned, _) = go(tuning, None)?;
        let fixed = Sampler { scale: tuned.scale.or(sampler.scale), ..sampler.clone() };
        let sampler = fixed;
        let settings = Settings { sampler, warmup: 0, draws, thin: suited.thin, ..plain };
        go(settings, Some(tuned.last_states.concat()))?
    };
    let trace = &outcome.trace;
    let judged: Vec<Diagnosis> =
        [trace.log_prob(), trace.hamming()].into_iter().map(diagnose).collect();
    let fewest = judged.iter().map(|one| one.ess_bulk.unwrap_or(0.0)).fold(f64::INFINITY, f64::min);
    let rhat = judged.iter().filter_map(|one| one.rhat).fold(1.0, f64::max);
    let fewest = match rhat > DISAGREEMENT {
        true => fewest.min(2.0 * chains as f64 / (rhat * rhat - 1.0)),
        false => fewest,
    };
    let all_steps = (chains * draws * suited.thin) as f64;
    Some(Measured {
        name: sampler.to_string(),
        worth: fewest / taken.max(0.01),
        agrees: rhat <= DISAGREEMENT,
        rhat,
        stuck: !outcome.stuck.is_empty(),
        step: 1e9 * taken / all_steps,
        counted: sampler.terms(model, CHAINS).work
            + 0.3 * model.space().sites() as f64 / suited.thin as f64,
    })
}

/// The model of a target, if its file is there.
fn spec(text: &str, data: &Path) -> Option<ModelSpec> {
    if text.starts_with('{') {
        return Some(serde_json::from_str(text).expect("a model"));
    }
    let path = data.join(text);
    let text = match path.extension().is_some_and(|ending| ending == "safetensors") {
        true => serde_json::json!({"rbm": {"weights": path}}),
        false => serde_json::json!({"file": {"path": path}}),
    };
    path.exists().then(|| serde_json::from_value(text).expect("a file"))
}

fn main() {
    let mut words = std::env::args().skip(1);
    let (mut data, mut seconds, mut names) = (PathBuf::from("data"), 600.0, Vec::new());
    let (mut targets, mut tried) = (PAPER, false);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--data" => data = words.next().expect("a folder").into(),
            "--seconds" => seconds = words.next().and_then(|s| s.parse().ok()).expect("a number"),
            "--others" => targets = OTHERS,
            "--tried" => tried = true,
            _ => names.push(word),
        }
    }
    let asked = |name: &str| names.is_empty() || names.iter().any(|part| name.contains(part));
    let targets: Vec<_> = targets
        .iter()
        .filter(|(name, _)| asked(name))
        .filter_map(|(name, text)| Some((*name, spec(text, &data)?)))
        .collect();
    // Some ten samplers of each, and a quarter for what is not drawing.
    let each = 0.75 * seconds / (10 * targets.len()) as f64;
    println!(
        "| target | auto chose | effective draws per second | best | | auto / best | choosing, s |"
    );
    println!("|---|---|---:|---|---:|---:|---:|");
    for (name, spec) in targets {
        match spec.build(&Building::default()) {
            Ok(built) => Comparing { name, seconds: each, tried }.compare(&built.model),
            Err(error) => println!("| {name} | {error} | | | | | |"),
        }
    }
}
