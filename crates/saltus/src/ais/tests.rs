//! Annealing against normalisers that can be counted.

use super::*;
use crate::math::{log_sum_exp, softplus};
use crate::model::independent::Independent;
use crate::model::lattice::Lattice;
use crate::model::pairwise::Pairwise;
use crate::rng::Annealing;
use crate::rng::{ChainRng, Stream};
use crate::sampler::{Method, Sampler};
use crate::space::{Space, States};
use crate::{Differences, ModelError};
use std::sync::atomic::{AtomicUsize, Ordering};

fn settings(chains: usize, temperatures: usize) -> AisSettings {
    AisSettings { chains, temperatures, seed: 1, threads: Some(1), ..AisSettings::default() }
}

/// log Z of a model, and independent draws from it, by listing its states.
struct Listed {
    states: Vec<Vec<u8>>,
    weights: Vec<f64>,
    log_z: f64,
}

impl Listed {
    fn new<M: Model>(model: &M) -> Self {
        let (sites, values) = (model.space().sites(), model.space().values());
        let states: Vec<Vec<u8>> = (0..values.pow(sites as u32))
            .map(|number| {
                (0..sites).map(|n| (number / values.pow(n as u32) % values) as u8).collect()
            })
            .collect();
        let mut cache = model.new_cache(1);
        let log_prob = |state: &Vec<u8>| {
            let mut log_prob = [0.0];
            model.log_prob(States::new(state, sites), &mut cache, &mut log_prob).unwrap();
            log_prob[0]
        };
        let logs: Vec<f64> = states.iter().map(log_prob).collect();
        let log_z = log_sum_exp(&logs);
        let weights = logs.iter().map(|log| (log - log_z).exp()).collect();
        Self { states, weights, log_z }
    }

    fn draws(&self, count: usize, seed: u64) -> Vec<u8> {
        let mut rng = ChainRng::new(seed, Stream::Annealing(Annealing::Draw, 0));
        let total = self.weights.iter().sum();
        (0..count).flat_map(|_| self.states[rng.index(&self.weights, total)].clone()).collect()
    }
}

/// An RBM of 8 sites and 4 hidden units that holds its sites together, and its normaliser by
/// listing the hidden states.
fn strong_rbm() -> (Rbm, f64) {
    let weights: Vec<f32> = (0..32).map(|i| ((i * 37 + 11) % 29) as f32 / 6.0 - 2.2).collect();
    let mean = [0.2, 0.5, 0.9, 0.4, 0.6, 0.3, 0.1, 0.7];
    let visible = [-0.5, 0.2, 0.9, -1.1, 0.4, -0.3, 0.6, 0.1];
    let hidden = [0.7, -0.4, 0.2, -0.9];
    let rbm = Rbm::new(2, &weights, &hidden, &visible, Some(&mean)).unwrap();
    let listed = rbm.enumerate(Some(1), |_, _| Control::Continue).unwrap().unwrap().log_z();
    (rbm, listed)
}

/// Fails unless an estimate is within five standard errors, and these are small.
fn assert_near(found: Estimate, exact: f64, largest_error: f64, what: &str) {
    let error = found.standard_error.unwrap();
    assert!(error < largest_error, "{what}: standard error {error}");
    // Rounding remains where there is no other error.
    let allowed = 5.0 * error + 1e-5;
    assert!((found.log_z - exact).abs() < allowed, "{what}: {found:?}, exact {exact}");
}

/// The samplers that can be annealed.
fn unweighted() -> impl Iterator<Item = Method> {
    (Method::ALL.iter().copied()).filter(|method| method.is_general() && !method.is_weighted())
}

fn ising() -> Pairwise {
    let fields: Vec<f32> = (0..16).map(|i| ((i * 7) % 5) as f32 / 10.0 - 0.2).collect();
    Pairwise::ising_lattice(Lattice::free(4, 4).unwrap(), 0.4, fields).unwrap()
}

#[test]
fn fair_coins_have_every_state_once() {
    // All weights are equal: nothing is left to chance.
    let coins = Independent::bernoulli(vec![0.0; 300]).unwrap();
    let found = Ais::new(&coins, settings(3, 2)).go().unwrap().forward.unwrap();
    assert!((found.log_z - 300.0 * 2f64.ln()).abs() < 1e-9, "{found:?}");
    assert!(found.standard_error.unwrap() < 1e-12);
    assert!((found.effective_chains - 3.0).abs() < 1e-9);
    let rbm = Rbm::new(2, &[0.0; 300], &[0.0; 3], &[0.0; 100], None).unwrap();
    let found = Ais::alternating(&rbm, settings(3, 7)).go().unwrap().forward.unwrap();
    assert!((found.log_z - 103.0 * 2f64.ln()).abs() < 1e-6, "{found:?}");
}

#[test]
fn biased_coins_and_dice_have_the_product_of_their_sums() {
    let logits: Vec<f32> = (0..20).map(|i| (i as f32 - 8.0) / 5.0).collect();
    let exact = logits.iter().map(|logit| softplus(f64::from(*logit))).sum();
    let coins = Independent::bernoulli(logits).unwrap();
    for (sampler, temperatures) in [(Sampler::dlmc(), 200), (Sampler::rwm(), 4000)] {
        let name = sampler.to_string();
        let settings = AisSettings { sampler, ..settings(400, temperatures) };
        let found = Ais::new(&coins, settings).go().unwrap().forward.unwrap();
        assert_near(found, exact, 0.1, &name);
    }
    let table: Vec<f32> = (0..30).map(|i| ((i * 7) % 11) as f32 / 4.0).collect();
    let exact = table
        .chunks(3)
        .map(|row| log_sum_exp(&row.iter().map(|log| f64::from(*log)).collect::<Vec<_>>()))
        .sum();
    let dice = Independent::categorical(3, &table).unwrap();
    let found = Ais::new(&dice, settings(400, 200)).go().unwrap().forward.unwrap();
    assert_near(found, exact, 0.05, "dice");
    // Independent sites that are the model itself leave nothing to estimate.
    let by_value: Vec<f32> = (0..30).map(|entry| table[entry % 10 * 3 + entry / 10]).collect();
    let of_dice = Base::new(dice.space().clone(), by_value).unwrap();
    let found = Ais::new(&dice, settings(3, 2)).base(of_dice).go().unwrap();
    assert!((found.forward.unwrap().log_z - exact).abs() < 1e-5);
}

#[test]
fn every_sampler_finds_the_normaliser_of_a_lattice_and_of_an_rbm() {
    let (lattice, (rbm, of_rbm)) = (ising(), strong_rbm());
    let of_lattice = Listed::new(&lattice).log_z;
    for method in unweighted() {
        // A step that changes a site or two is not worth one that may change them all.
        let temperatures = match method {
            Method::Gibbs | Method::Dmala | Method::Dlmcf | Method::Dlmc => 400,
            _ => 4000,
        };
        let settings = AisSettings { sampler: method.into(), ..settings(600, temperatures) };
        let found = Ais::new(&lattice, settings.clone()).go().unwrap();
        assert_near(found.forward.unwrap(), of_lattice, 0.05, &format!("{method}, lattice"));
        assert!(found.acceptance > 0.1 && found.acceptance <= 1.0, "{method}");
        let found = Ais::new(&rbm, settings.clone()).go().unwrap().forward.unwrap();
        assert_near(found, of_rbm, 0.15, &format!("{method}, RBM"));
    }
}

#[test]
fn alternating_layers_find_the_normaliser_with_many_temperatures_and_with_few() {
    let (rbm, exact) = strong_rbm();
    let listed = rbm.enumerate(Some(1), |_, _| Control::Continue).unwrap().unwrap();
    for (chains, temperatures, error) in [(200, 2000, 0.02), (40_000, 4, 0.03)] {
        let mut starts = vec![0; chains * 8];
        for (number, state) in starts.chunks_exact_mut(8).enumerate() {
            listed.draw(
                &mut ChainRng::new(5, Stream::Annealing(Annealing::Draw, number as u64)),
                state,
            );
        }
        let settings = settings(chains, temperatures);
        let found = Ais::alternating(&rbm, settings.clone()).reverse_from(starts).go().unwrap();
        assert_near(found.forward.unwrap(), exact, error, "forward");
        assert_near(found.reverse.unwrap(), exact, error, "reverse");
        assert_eq!(found.acceptance, 1.0);
    }
    let levels = Rbm::random(4, 6, 3, 9).unwrap();
    let exact = Listed::new(&levels).log_z;
    let found = Ais::alternating(&levels, settings(400, 200)).go().unwrap().forward.unwrap();
    assert_near(found, exact, 0.02, "three values");
}

#[test]
fn few_temperatures_are_low_forward_and_high_in_reverse() {
    let (rbm, of_rbm) = strong_rbm();
    let lattice = ising();
    let (listed, listed_lattice) = (Listed::new(&rbm), Listed::new(&lattice));
    let repeats = 800;
    let mean = |estimate: &dyn Fn(u64) -> AisOutcome, exact: f64, what: &str| {
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for seed in 0..repeats {
            let found = estimate(seed);
            low.push(found.forward.unwrap().log_z - exact);
            high.push(exact - found.reverse.unwrap().log_z);
        }
        for (which, gaps) in [("forward", low), ("reverse", high)] {
            let mean = gaps.iter().sum::<f64>() / repeats as f64;
            let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>();
            let error = (variance / (repeats - 1) as f64 / repeats as f64).sqrt();
            assert!(mean < -4.0 * error, "{what}, {which}: {mean} ± {error}");
        }
    };
    let few = |seed| AisSettings { seed, ..settings(4, 4) };
    let of_alternating = |seed| {
        let settings = few(seed);
        Ais::alternating(&rbm, settings.clone()).reverse_from(listed.draws(4, seed)).go().unwrap()
    };
    mean(&of_alternating, of_rbm, "alternating");
    let of_sampler = |seed| {
        let settings = AisSettings { sampler: Sampler::gibbs(), ..few(seed) };
        Ais::new(&lattice, settings.clone())
            .reverse_from(listed_lattice.draws(4, seed))
            .go()
            .unwrap()
    };
    mean(&of_sampler, listed_lattice.log_z, "gibbs");
}

/// Counts how often it is asked.
struct Counted(Independent, AtomicUsize);

impl Model for Counted {
    type Cache = <Independent as Model>::Cache;

    fn space(&self) -> &Space {
        self.0.space()
    }

    fn new_cache(&self, chains: usize) -> Self::Cache {
        self.0.new_cache(chains)
    }

    fn log_prob(
        &self,
        states: States<'_>,
        cache: &mut Self::Cache,
        log_prob: &mut [f64],
    ) -> Result<(), ModelError> {
        self.0.log_prob(states, cache, log_prob)
    }

    fn log_prob_and_diff(
        &self,
        kind: Differences,
        states: States<'_>,
        cache: &mut Self::Cache,
        log_prob: &mut [f64],
        diff: &mut [f32],
    ) -> Result<(), ModelError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.log_prob_and_diff(kind, states, cache, log_prob, diff)
    }

    fn block_size(&self, chains: usize) -> usize {
        chains
    }
}

#[test]
fn a_temperature_costs_one_evaluation() {
    let coins = Independent::bernoulli(vec![1.0; 30]).unwrap();
    for method in [Method::Gwg, Method::Pas, Method::Dmala, Method::Dlmc] {
        let model = Counted(coins.clone(), AtomicUsize::new(0));
        let scale = (method != Method::Gwg).then_some(1.0);
        let sampler = Sampler { scale, ..method.into() };
        let settings = AisSettings { sampler, ..settings(8, 51) };
        Ais::new(&model, settings.clone()).go().unwrap();
        // The start, and the goal of each of fifty steps; a goal that is known is not evaluated.
        let asked = model.1.load(Ordering::Relaxed);
        assert!(asked > 40 && asked <= 51, "{method}: {asked}");
    }
}

/// Annealing with several blocks in both directions.
fn annealing<'a>(rbm: &'a Rbm, settings: &AisSettings, sampled: bool) -> Ais<'a, Rbm> {
    let starts = Listed::new(rbm).draws(17, 4);
    let ais = if sampled {
        Ais::new(rbm, settings.clone())
    } else {
        Ais::alternating(rbm, settings.clone())
    };
    ais.reverse_from(starts)
}

fn numbers(outcome: &AisOutcome) -> (Vec<u64>, Option<Estimate>, Option<Estimate>, u64) {
    let weights = outcome.log_weights.iter().map(|weight| weight.to_bits()).collect();
    (weights, outcome.forward, outcome.reverse, outcome.acceptance.to_bits())
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let (rbm, _) = strong_rbm();
    for sampled in [false, true] {
        let found = [1, 2, 5].map(|threads| {
            let settings = AisSettings { threads: Some(threads), ..settings(40, 60) };
            numbers(&annealing(&rbm, &settings, sampled).go().unwrap())
        });
        assert_eq!(found[0], found[1]);
        assert_eq!(found[0], found[2]);
    }
}

#[test]
fn stopping_again_and_again_changes_nothing() {
    let (rbm, _) = strong_rbm();
    let methods = unweighted().map(Some).chain([None]);
    for method in methods {
        let sampler = Sampler::new(method.unwrap_or_default());
        let settings = AisSettings { sampler, ..settings(20, 1600) };
        let sampled = method.is_some();
        let whole = annealing(&rbm, &settings, sampled).go().unwrap();
        let mut checkpoint: Option<AisCheckpoint> = None;
        let mut stops = 0;
        let ended = loop {
            let mut latest: Option<AisCheckpoint> = None;
            // Far enough for another checkpoint: chains are evaluated afresh every hundred visits.
            let far = 110 + checkpoint.as_ref().map_or(0, AisCheckpoint::visits);
            let mut ais = annealing(&rbm, &settings, sampled)
                .keep(Duration::ZERO, |checkpoint| {
                    latest = Some(checkpoint.clone());
                    Ok(())
                })
                .monitor(|progress| match !progress.tuning && progress.done.0 >= far {
                    true => Control::Stop,
                    false => Control::Continue,
                });
            if let Some(checkpoint) = checkpoint.take() {
                ais = ais.resume(checkpoint);
            }
            let outcome = ais.go().unwrap();
            checkpoint = latest;
            match outcome.ended {
                Ended::Interrupted => {
                    assert_eq!((outcome.forward, outcome.reverse), (None, None));
                    stops += 1;
                }
                _ => break outcome,
            }
        };
        assert!(stops > 3, "{method:?}: {stops}");
        assert_eq!(numbers(&ended), numbers(&whole), "{method:?}");
        // What is complete stays so.
        let again = annealing(&rbm, &settings, sampled).resume(checkpoint.unwrap());
        let again = again.go().unwrap();
        assert_eq!(numbers(&again), numbers(&whole));
    }
}

#[test]
fn what_cannot_be_annealed_is_refused_in_a_sentence() {
    let (rbm, _) = strong_rbm();
    let good = settings(4, 20);
    let sentence =
        |settings: &AisSettings| Ais::new(&rbm, settings.clone()).go().unwrap_err().to_string();
    assert!(sentence(&AisSettings { temperatures: 1, ..good.clone() }).contains("got 1"));
    assert!(sentence(&AisSettings { chains: 0, ..good.clone() }).contains("chains must be"));
    let sampler = Sampler { scale: Some(-1.0), ..Sampler::dlmc() };
    let scale = AisSettings { sampler, ..good.clone() };
    assert!(sentence(&scale).contains("a step size from"));
    let weighted = AisSettings { sampler: Sampler::dld(), ..good.clone() };
    assert!(sentence(&weighted).contains("dld"), "{}", sentence(&weighted));
    let starts = |states: Vec<u8>| {
        Ais::new(&rbm, good.clone()).reverse_from(states).go().unwrap_err().to_string()
    };
    assert!(starts(vec![0; 9]).contains("9 values are not a number of states of 8 sites"));
    assert!(starts(vec![3; 8]).contains("site 0 has value 3, but its values go from 0 to 1"));
    let base = Base::uniform(&Space::new(5, 2).unwrap());
    let failed = Ais::new(&rbm, good.clone()).base(base).go().unwrap_err().to_string();
    assert!(
        failed.contains("are 5 sites × 2 values, the model has 8 sites × 2 values"),
        "{failed}"
    );

    let mut kept = None;
    let keep = |checkpoint: &AisCheckpoint| {
        kept = Some(checkpoint.clone());
        Ok(())
    };
    Ais::new(&rbm, good.clone()).keep(Duration::ZERO, keep).go().unwrap();
    let kept = kept.unwrap();
    let refused = |ais: Ais<'_, Rbm>| ais.resume(kept.clone()).go().unwrap_err().to_string();
    let other = AisSettings { seed: 2, ..good.clone() };
    assert!(refused(Ais::new(&rbm, other.clone())).contains("with other settings"));
    assert!(refused(Ais::alternating(&rbm, good.clone())).contains("with other settings"));
    let back = Ais::new(&rbm, good.clone()).reverse_from(vec![0; 16]);
    assert!(refused(back).contains("its reverse chains started from other states"));
    let other = Rbm::random(8, 4, 2, 0).unwrap();
    assert!(refused(Ais::new(&other, good.clone())).contains("log π of a state was"));
    assert!(!refused(Ais::new(&other, good.clone())).contains("reverse chains"));
    let smaller = Rbm::random(7, 4, 2, 0).unwrap();
    assert!(
        refused(Ais::new(&smaller, good.clone())).contains("8 sites × 2 values, this one has 7")
    );
}

#[test]
fn reverse_chains_that_start_elsewhere_are_not_resumed() {
    // To uniform sites all starts are equally likely.
    fn from<'a>(rbm: &'a Rbm, settings: &AisSettings, starts: [[u8; 8]; 2]) -> Ais<'a, Rbm> {
        let uniform = Base::uniform(rbm.space());
        Ais::alternating(rbm, settings.clone()).base(uniform).reverse_from(starts.concat())
    }
    let (rbm, _) = strong_rbm();
    let settings = settings(4, 20);
    let mut kept = None;
    let keep = |checkpoint: &AisCheckpoint| {
        kept = Some(checkpoint.clone());
        Ok(())
    };
    let one = [[0; 8], [1; 8]];
    from(&rbm, &settings, one).keep(Duration::ZERO, keep).go().unwrap();
    let kept = kept.unwrap();
    let other = from(&rbm, &settings, [one[1], one[0]]).resume(kept.clone());
    let sentence = other.go().unwrap_err().to_string();
    assert!(sentence.ends_with("its reverse chains started from other states"), "{sentence}");
    assert!(from(&rbm, &settings, one).resume(kept).go().is_ok());
}

#[test]
fn what_cannot_be_kept_is_known_before_the_work_and_costs_no_estimate_after_it() {
    let (rbm, _) = strong_rbm();
    let settings = settings(4, 20);
    let mut told = 0;
    let full = Ais::alternating(&rbm, settings.clone())
        .monitor(|_| {
            told += 1;
            Control::Continue
        })
        .keep(Duration::ZERO, |_| Err("no room".to_owned()));
    assert_eq!(full.go().unwrap_err().to_string(), "no room");
    assert_eq!(told, 0);

    let whole = Ais::alternating(&rbm, settings.clone()).go().unwrap();
    assert!(!whole.kept && whole.not_kept.is_none());
    // Room for all checkpoints but the last, after nineteen temperatures.
    let filled = Ais::alternating(&rbm, settings.clone())
        .keep(Duration::ZERO, |checkpoint| match checkpoint.visits() {
            19 => Err("no room".to_owned()),
            _ => Ok(()),
        })
        .go()
        .unwrap();
    assert_eq!((filled.kept, filled.not_kept.as_deref()), (false, Some("no room")));
    assert_eq!(numbers(&filled), numbers(&whole));
    let kept =
        Ais::alternating(&rbm, settings.clone()).keep(Duration::ZERO, |_| Ok(())).go().unwrap();
    assert!(kept.kept && kept.not_kept.is_none());
}

#[test]
fn tuning_is_part_of_the_time() {
    let (rbm, _) = strong_rbm();
    let time_limit = Some(Duration::ZERO);
    let settings = AisSettings { time_limit, ..settings(4, 1000) };
    let mut kept = 0;
    let mut tuned = 0;
    let stopped = Ais::new(&rbm, settings.clone())
        .monitor(|progress| {
            tuned += usize::from(progress.tuning);
            Control::Continue
        })
        .keep(Duration::ZERO, |_| {
            kept += 1;
            Ok(())
        })
        .go()
        .unwrap();
    assert_eq!((stopped.ended, stopped.kept, stopped.scale), (Ended::TimeLimit, false, None));
    assert!(stopped.seconds > 0.0);
    assert_eq!((tuned, kept), (1, 0));
    // Without tuning, chains are moved at the first temperature; what is kept is where they were last
    // evaluated afresh.
    let mut visits = usize::MAX;
    let stopped = Ais::alternating(&rbm, settings.clone())
        .keep(Duration::ZERO, |checkpoint| {
            visits = checkpoint.visits();
            Ok(())
        })
        .go()
        .unwrap();
    assert_eq!((stopped.ended, stopped.kept, visits), (Ended::TimeLimit, true, 0));
}

#[cfg(feature = "zarr")]
#[test]
fn a_checkpoint_is_read_back_or_refused_in_a_sentence() {
    let (rbm, _) = strong_rbm();
    let settings = settings(4, 20);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept");
    assert!(AisCheckpoint::load(&path).unwrap().is_none());
    let whole = Ais::new(&rbm, settings.clone())
        .keep(Duration::ZERO, |checkpoint| checkpoint.save(&path).map_err(|e| e.to_string()))
        .go()
        .unwrap();
    let read = AisCheckpoint::load(&path).unwrap().unwrap();
    assert_eq!(read.visits(), 19);
    let again = Ais::new(&rbm, settings.clone()).resume(read).go().unwrap();
    assert_eq!(numbers(&again), numbers(&whole));
    let bytes = std::fs::read(&path).unwrap();
    let cases = [
        (bytes[..10].to_vec(), "cut off after 10 bytes"),
        (bytes[..bytes.len() - 1].to_vec(), "bytes of"),
        (b"P5 28 28 255 and so on, a picture".to_vec(), "it is not a checkpoint of saltus ais"),
        ([&bytes[..60], &[!bytes[60]], &bytes[61..]].concat(), "checksum"),
    ];
    for (bytes, reason) in cases {
        std::fs::write(&path, bytes).unwrap();
        let sentence = AisCheckpoint::load(&path).unwrap_err().to_string();
        assert!(sentence.contains(reason) && sentence.contains("kept"), "{sentence}");
    }
}

/// An RBM whose mass lies where its base has none: eight sites that hold each other up, and stay down for long.
fn hidden_mass() -> (Rbm, f64) {
    let rbm = Rbm::new(2, &[5.0; 32], &[-12.0; 4], &[-9.0; 8], Some(&[0.001; 8])).unwrap();
    let exact = rbm.enumerate(Some(1), |_, _| Control::Continue).unwrap().unwrap().log_z();
    (rbm, exact)
}

#[test]
fn mass_that_the_base_has_none_of_is_noticed_on_the_way_back() {
    let (rbm, exact) = hidden_mass();
    // Nearly all of it in one state: 4 softplus(40 − 12) − 72.
    assert!((exact - 40.0).abs() < 0.01, "{exact}");
    let gibbs = AisSettings { sampler: Sampler::gibbs(), ..settings(100, 200) };
    for ais in [Ais::alternating(&rbm, settings(100, 200)), Ais::new(&rbm, gibbs)] {
        let outcome = ais.look_back(8).go().unwrap();
        let (forward, reverse) = (outcome.forward.unwrap(), outcome.reverse.unwrap());
        // Wrong, with a small error and every chain effective.
        assert!(forward.log_z < exact - 30.0, "{forward:?}");
        assert!(forward.standard_error.unwrap() < 0.1 && forward.effective_chains > 50.0);
        // High, as it is where temperatures are few.
        assert!((exact - 1.0..exact + 12.0).contains(&reverse.log_z), "{reverse:?}");
        let findings = crate::of_annealing(&outcome);
        assert_eq!(findings.iter().map(|one| one.code()).collect::<Vec<_>>(), ["directions-apart"]);
    }
}

/// Sites that are rarely on, and a hidden unit that holds up twenty of forty, where no start comes: Z is nearly e⁷⁴.
#[test]
fn a_needle_in_the_middle_is_found_on_the_way_back() {
    let pattern = |site: usize| site * 7 % 40 < 20;
    let weights: Vec<f32> = (0..40).map(|site| if pattern(site) { 30.0 } else { -30.0 }).collect();
    let rbm = Rbm::new(2, &weights, &[-426.0], &[-5.0; 40], None).unwrap();
    let outcome = Ais::alternating(&rbm, settings(100, 500)).look_back(8).go().unwrap();
    assert!(outcome.forward.unwrap().log_z < 1.0);
    assert!(outcome.reverse.unwrap().log_z > 73.0, "{:?}", outcome.reverse);
    let findings = crate::of_annealing(&outcome);
    assert_eq!(findings.iter().map(|one| one.code()).collect::<Vec<_>>(), ["directions-apart"]);
}

#[test]
fn good_annealing_raises_no_alarm_on_the_way_back() {
    let (rbm, _) = strong_rbm();
    for seed in 0..10 {
        let settings = |chains| AisSettings { seed, ..settings(chains, 400) };
        let of_rbm = Ais::alternating(&rbm, settings(100)).look_back(8).go().unwrap();
        let of_spins = Ais::new(&ising(), settings(60)).look_back(8).go().unwrap();
        for outcome in [of_rbm, of_spins] {
            assert_eq!(crate::of_annealing(&outcome), [], "seed {seed}: {outcome:?}");
            assert_eq!(outcome.reverse_chains, 8);
        }
    }
}

#[test]
fn looking_back_changes_nothing_forwards_and_survives_a_stop() {
    let model = ising();
    let alone = Ais::new(&model, settings(20, 300)).go().unwrap();
    let both = Ais::new(&model, settings(20, 300)).look_back(8).go().unwrap();
    assert_eq!(alone.log_weights, both.log_weights);
    let mut kept = None;
    let mut visits = 0;
    let stopped = Ais::new(&model, settings(20, 300))
        .look_back(8)
        .keep(Duration::ZERO, |checkpoint| {
            kept = Some(checkpoint.clone());
            Ok(())
        })
        .monitor(|progress| {
            visits += usize::from(!progress.tuning);
            if visits > 3 { Control::Stop } else { Control::Continue }
        })
        .go()
        .unwrap();
    assert_eq!(stopped.forward, None);
    let again =
        Ais::new(&model, settings(20, 300)).look_back(8).resume(kept.unwrap()).go().unwrap();
    assert_eq!((again.log_weights, again.reverse), (both.log_weights, both.reverse));
}
