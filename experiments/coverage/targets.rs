//! Targets whose answers are known by listing all states, easy ones and hard ones, and what a run of each is worth:
//! whether its numbers were right, and whether it said so.

use saltus::model::callable::Callable;
use saltus::model::erased::Erased;
use saltus::model::grid::{self, Disorder};
use saltus::rng::{ChainRng, Stream};
use saltus::{
    Closeness, Control, Edge, Independent, Lattice, Magnetisation, Model, Pairwise, Rbm, Run,
    Sampler, Settings, Space, States, Summary, choose,
};

/// A model, the sampler it is drawn from with, and exact means.
pub struct Target {
    /// Its name.
    pub name: String,
    /// Whether a sampler has to cross between modes, or is slow.
    pub hard: bool,
    model: Erased,
    /// That which suits the model, if none.
    sampler: Option<Sampler>,
    thin: Option<usize>,
    /// Of log π and of the sum of all values.
    exact: [f64; 2],
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether a mean is off by more than four stated errors.
    pub wrong: bool,
    /// Codes of the findings, without the one about a single chain.
    pub findings: Vec<&'static str>,
    /// Whether there is one that says more than that draws are too few.
    pub alarmed: bool,
    /// Whether nothing was found.
    pub silent: bool,
}

/// The sum of all values.
const SUM: &str = "sum";
/// Stated errors that a mean may be off by.
const ERRORS: f64 = 4.0;

/// Steps of warm-up and draws of a run.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    /// Steps of warm-up.
    pub warmup: usize,
    /// Draws of each chain.
    pub draws: usize,
}

/// What most runs have.
pub const USUAL: Length = Length { warmup: 500, draws: 2000 };
/// What people try first, and what tells them least: from 300 to 600 draws, by the seed.
pub fn short(seed: u64) -> Length {
    Length { warmup: 200, draws: 300 + 100 * (seed % 4) as usize }
}

impl Target {
    /// A target of which every step is a draw; exact means are found here.
    pub fn new(
        name: impl Into<String>,
        hard: bool,
        model: impl Model + 'static,
        sampler: Sampler,
    ) -> Self {
        let name = name.into();
        let exact = exact_means(&model);
        let (model, sampler) = (Erased::new(model), Some(sampler));
        Self { name, hard, model, sampler, thin: Some(1), exact }
    }

    /// The same with so many steps per draw.
    pub fn thinned(self, thin: usize) -> Self {
        Self { thin: Some(thin), ..self }
    }

    /// The same as the command line would run it: with the sampler that suits the model, if it is not to be this one, and as many
    /// steps as suit that.
    pub fn by_default(self, chosen: bool) -> Self {
        Self { sampler: self.sampler.filter(|_| !chosen), thin: None, ..self }
    }

    /// Runs and judges, with scouts as the command line sends them, and with exact means only if these `are_known`.
    pub fn run(&self, chains: usize, seed: u64, length: Length, are_known: bool) -> Verdict {
        let mut settings = Settings {
            chains,
            warmup: length.warmup,
            draws: length.draws,
            thin: self.thin.unwrap_or(1),
            seed,
            threads: Some(1),
            ..Settings::default()
        };
        match &self.sampler {
            Some(sampler) => settings.sampler = sampler.clone(),
            None => {
                let choice = choose::choose(&self.model, &settings, || Control::Continue);
                settings = choice.expect("nobody stops it").applied(settings);
            }
        }
        if self.thin.is_none() {
            settings = settings.suited(&self.model, Some(length.warmup), None);
        }
        let sum = |state: &[u8]| state.iter().map(|value| f64::from(*value)).sum();
        let mut run = Run::new(&self.model, settings).observe(SUM, sum);
        let space = self.model.shown_space();
        run = match are_known {
            true => run.observe_as_usual(),
            false if space.is_binary() => {
                let spins = Magnetisation { sites: space.sites() };
                run.references(3).watch_sites().observe("magnetisation", spins)
            }
            false => run.references(3).watch_sites(),
        };
        let outcome = run.go().expect("targets can be sampled");
        let mut summary = Summary::new(&*self.name, &outcome);
        summary.scout(&self.model, &outcome, || Control::Continue);
        let off = |name: &str, exact: f64| {
            let one = summary.observables.iter().find(|one| one.name == name);
            let diagnosis = one.expect("it is observed").diagnosis;
            let distance = (diagnosis.mean.unwrap_or(f64::INFINITY) - exact).abs();
            // Rounding of models in single precision.
            distance > ERRORS * diagnosis.mcse.unwrap_or(0.0) + 1e-5 * exact.abs().max(1.0)
        };
        let codes = summary.findings.iter().map(saltus::Finding::code);
        let findings: Vec<_> = codes.filter(|code| *code != "one-chain").collect();
        Verdict {
            wrong: off("log_prob", self.exact[0]) || off(SUM, self.exact[1]),
            alarmed: findings.iter().any(|code| !["too-few-draws", "unscouted"].contains(code)),
            findings,
            silent: summary.findings.is_empty(),
        }
    }
}

/// Means of log π and of the sum of all values, over all states.
fn exact_means<M: Model>(model: &M) -> [f64; 2] {
    let space = model.space();
    let sites = space.sites();
    let mut shown = vec![0u8; model.shown_space().sites()];
    let mut state = vec![0u8; sites];
    let mut cache = model.new_cache(1);
    let mut listed = Vec::new();
    loop {
        let mut log_prob = [0.0];
        model
            .log_prob(States::new(&state, sites), &mut cache, &mut log_prob)
            .expect("every state can be evaluated");
        model.show(&state, &mut shown);
        if log_prob[0] > f64::NEG_INFINITY {
            listed.push((log_prob[0], shown.iter().map(|value| f64::from(*value)).sum::<f64>()));
        }
        // The next state, counting up.
        let last = |site: usize| (space.values_at(site) - 1) as u8;
        let Some(site) = (0..sites).find(|site| state[*site] < last(*site)) else {
            break;
        };
        state[site] += 1;
        state[..site].fill(0);
    }
    let largest = listed.iter().map(|(log_prob, _)| *log_prob).fold(f64::NEG_INFINITY, f64::max);
    let (mut total, mut means) = (0.0, [0.0; 2]);
    for (log_prob, sum) in listed {
        let weight = (log_prob - largest).exp();
        total += weight;
        means[0] += weight * log_prob;
        means[1] += weight * sum;
    }
    means.map(|mean| mean / total)
}

/// Spins on a small torus.
pub fn lattice(coupling: f32, fields: impl Fn(usize) -> f32) -> Pairwise {
    let lattice = Lattice::periodic(4, 4).expect("a lattice");
    let fields = (0..16).map(fields).collect();
    Pairwise::ising_lattice(lattice, coupling, fields).expect("an Ising model")
}

/// Spins on a grid whose couplings have a random sign.
fn glass(coupling: f32) -> Pairwise {
    let edges = grid::edges(&[4, 4], true, coupling, Some((Disorder::Pm, 5))).expect("a grid");
    Pairwise::ising(&edges, vec![0.0; 16]).expect("a spin glass")
}

/// Spins that all see each other, by random couplings.
fn dense_glass(sites: u32, sd: f32) -> Pairwise {
    let mut rng = ChainRng::new(1, Stream::Model);
    let pairs = (0..sites).flat_map(|from| (from + 1..sites).map(move |to| (from, to)));
    let edges: Vec<Edge> =
        pairs.map(|(from, to)| Edge { from, to, weight: sd * normal(&mut rng) }).collect();
    Pairwise::ising(&edges, vec![0.0; sites as usize]).expect("a spin glass")
}

/// Nearly a normal number.
pub fn normal(rng: &mut ChainRng) -> f32 {
    ((0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0) as f32
}

/// A machine whose hidden units each hold one pattern of the sites together.
fn planted(patterns: &[&str], strength: f32) -> Rbm {
    let sites = patterns[0].len();
    let sign = |bit: char| if bit == '1' { 1.0 } else { -1.0 };
    let weights: Vec<f32> =
        patterns.iter().flat_map(|p| p.chars().map(move |bit| strength * sign(bit))).collect();
    let hidden: Vec<f32> = patterns
        .iter()
        .map(|pattern| -strength * (pattern.matches('1').count() as f32 - 0.5 * sites as f32 * 0.5))
        .collect();
    Rbm::new(2, &weights, &hidden, &vec![0.0; sites], None).expect("a machine")
}

/// Levels around a ring that are near to those of their neighbours.
fn ordinal(sites: usize, values: usize, coupling: f64) -> Callable {
    let space = Space::new(sites, values).expect("a space");
    Callable::new(space, move |states, log_prob| {
        for (state, log_prob) in states.rows().zip(log_prob) {
            let step =
                |site: usize| f64::from(state[site]) - f64::from(state[(site + 1) % state.len()]);
            *log_prob = -coupling * (0..state.len()).map(|site| step(site).abs()).sum::<f64>();
        }
        Ok(())
    })
}

/// Fair bits, and one state that is as likely as a share of all others together.
fn needle(sites: usize, share: f64) -> Callable {
    let space = Space::new(sites, 2).expect("a space");
    let bonus = (share * (1u64 << sites) as f64).ln();
    Callable::new(space, move |states, log_prob| {
        for (state, log_prob) in states.rows().zip(log_prob) {
            let there = state.iter().enumerate().all(|(site, bit)| *bit == (site % 3 == 0) as u8);
            *log_prob = if there { bonus } else { 0.0 };
        }
        Ok(())
    })
}

/// Ten easy targets and ten hard ones.
pub fn targets() -> Vec<Target> {
    let uneven = |site: usize| ((site * 7) % 5) as f32 / 10.0 - 0.2;
    let ring = |from: u32| Edge { from, to: (from + 1) % 4, weight: 0.8 };
    let ring = Pairwise::ising(&[0, 1, 2, 3].map(ring), vec![0.3, -0.2, 0.1, 0.2]).expect("a ring");
    let bits = (0..12).map(|site| site as f32 / 4.0 - 1.5).collect();
    let table: Vec<f32> = (0..28).map(|entry| ((entry * 7) % 11) as f32 / 6.0).collect();
    let random = |seed: u64, sd: f32| {
        let mut rng = ChainRng::new(seed, Stream::Model);
        let mut numbers =
            |count: usize| (0..count).map(|_| sd * normal(&mut rng)).collect::<Vec<_>>();
        let (weights, hidden, visible) = (numbers(60), numbers(5), numbers(12));
        Rbm::new(2, &weights, &hidden, &visible, None).expect("a machine")
    };
    let potts = |coupling| {
        let lattice = Lattice::periodic(3, 3).expect("a lattice");
        Pairwise::potts_lattice(lattice, 3, coupling, &[0.0; 27]).expect("a Potts model")
    };
    let near = |sampler: Sampler, length: f64| Sampler {
        closeness: Closeness::Ordinal { length },
        ..sampler
    };
    fn easy(name: &'static str, model: impl Model + 'static, sampler: Sampler) -> Target {
        Target::new(name, false, model, sampler)
    }
    fn hard(name: &'static str, model: impl Model + 'static, sampler: Sampler) -> Target {
        Target::new(name, true, model, sampler)
    }
    let bits = Independent::bernoulli(bits).expect("bits");
    let dice = Independent::categorical(4, &table).expect("dice");
    let patterns = ["111111000000", "000011111100"];
    let more_patterns = ["110011001100", "001100110011", "111111111111"];
    vec![
        easy("independent bits, dlmc", bits, Sampler::dlmc()),
        easy("dice, dmala", dice, Sampler::dmala()),
        easy("warm ferromagnet, gibbs", lattice(0.2, |_| 0.0), Sampler::gibbs()),
        easy("nearly flat spins, dmala", lattice(0.05, |_| 0.0), Sampler::dmala()),
        easy("nearly flat spins, pas", lattice(0.05, |_| 0.0), Sampler::pas()),
        easy("ring of four, dld, every second", ring, Sampler::dld()).thinned(2),
        easy("warm Potts model, gwg, every fourth", potts(0.4), Sampler::gwg()).thinned(4),
        easy("soft machine, dlmc", random(3, 0.4), Sampler::dlmc()),
        easy("warm glass, dlmc", glass(0.3), Sampler::dlmc()),
        easy("loose levels, dlmc", ordinal(4, 8, 0.3), near(Sampler::dlmc(), 3.0)),
        hard("cold ferromagnet, gibbs", lattice(0.8, |_| 0.0), Sampler::gibbs()),
        hard("cold ferromagnet, dlmc", lattice(0.8, |_| 0.0), Sampler::dlmc()),
        hard("cold ferromagnet in a small field, gibbs", lattice(0.8, |_| 0.04), Sampler::gibbs()),
        hard("cold ferromagnet in uneven fields, pas", lattice(0.7, uneven), Sampler::pas()),
        hard("ferromagnet at its critical point, rwm", lattice(0.44, |_| 0.0), Sampler::rwm()),
        hard("two planted patterns, gibbs", planted(&patterns, 4.0), Sampler::gibbs()),
        hard("three planted patterns, dlmc", planted(&more_patterns, 3.5), Sampler::dlmc()),
        hard("cold glass, gibbs", glass(1.5), Sampler::gibbs()),
        hard("glass of all pairs, dmala", dense_glass(14, 0.45), Sampler::dmala()),
        hard("stiff levels, gwg", ordinal(5, 8, 2.0), near(Sampler::gwg(), 2.0)),
        hard("needle, gibbs", needle(10, 0.3), Sampler::gibbs()),
    ]
}
