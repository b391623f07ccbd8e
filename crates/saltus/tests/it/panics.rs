//! Code of users that panics at some step ends a run, which names chain and step and keeps what was
//! drawn.

use saltus::draws::observers::Marginals;
use saltus::kernel::random_walk::{self, RandomWalk, RandomWalkScratch};
use saltus::model::callable::Callable;
use saltus::{
    Chains, Draws, Ended, Kernel, KernelTraits, Model, Observer, Outcome, Run, Sampler, Settings,
    Space, StepError, StepFailure, Summary,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const WARMUP: usize = 20;
const THIN: usize = 2;

/// Chains are marked by their first two sites, which are equal in all states that are allowed and so
/// never change one at a time. `look` sees every state that is evaluated.
fn marked(look: impl Fn(&[u8]) + Send + Sync + 'static) -> Callable {
    let started = AtomicUsize::new(0);
    let model = Callable::new(Space::new(5, 4).unwrap(), move |states, log_prob| {
        for (state, log_prob) in states.rows().zip(log_prob) {
            look(state);
            let free: f64 = state[2..].iter().map(|value| f64::from(*value) * 0.3).sum();
            *log_prob = if state[0] == state[1] { free } else { f64::NEG_INFINITY };
        }
        Ok(())
    });
    // The reference comes first, then the chains.
    model.with_initial_state(move |rng, state| {
        state.iter_mut().for_each(|value| *value = rng.below(4) as u8);
        state[..2].fill((started.fetch_add(1, Ordering::Relaxed) % 4) as u8);
    })
}

/// The mark of the chain that everything happens to, which is number 1.
const MARK: u8 = 2;

fn settings() -> Settings {
    Settings {
        chains: 3,
        warmup: WARMUP,
        draws: 500,
        thin: THIN,
        threads: Some(2),
        ..Settings::from(Sampler::gibbs())
    }
}

/// A run of chains in blocks of one and of three.
fn both_ways(check: impl Fn(usize)) {
    [1, 3].into_iter().for_each(check);
}

#[track_caller]
fn failed_at(outcome: &Outcome) -> (usize, usize, String) {
    let Ended::Failed { chain, step, cause: StepFailure::Panic(words) } = &outcome.ended else {
        panic!("{}", outcome.ended)
    };
    let summary = Summary::new("panics", outcome);
    assert!(summary.findings[0].to_string().contains(words), "{}", summary.findings[0]);
    (*chain, *step, words.clone())
}

/// What was drawn is the beginning of what would have been drawn.
fn check_draws(outcome: &Outcome, draws: usize) {
    let settings = Settings { draws: draws.max(1), ..outcome.settings.clone() };
    let whole = Run::new(&marked(|_| ()), settings).keep_states().go().unwrap();
    assert_eq!(outcome.trace.draws(), draws);
    for chain in 0..3 {
        assert_eq!(outcome.trace.states(chain), &whole.trace.states(chain)[..draws * 5]);
        assert_eq!(outcome.trace.log_prob()[chain], whole.trace.log_prob()[chain][..draws]);
    }
}

#[test]
fn in_a_closure_of_a_model() {
    let seen = AtomicUsize::new(0);
    let model = marked(move |state| {
        // A sweep looks at every value of every site, so that this is far beyond the warm-up.
        if state[..2] == [MARK; 2] && seen.fetch_add(1, Ordering::Relaxed) == 3000 {
            panic!("the closure broke");
        }
    });
    let outcome = Run::new(&model, settings()).keep_states().go().unwrap();
    let (chain, step, words) = failed_at(&outcome);
    assert_eq!((chain, words.as_str()), (1, "the closure broke"));
    assert!(step > WARMUP && step < WARMUP + 500 * THIN, "{step}");
    check_draws(&outcome, (step - WARMUP) / THIN);
}

#[test]
fn in_a_closure_during_warm_up() {
    let seen = AtomicUsize::new(0);
    let model = marked(move |_| {
        if seen.fetch_add(1, Ordering::Relaxed) == 100 {
            panic!("early");
        }
    });
    let outcome = Run::new(&model, settings()).keep_states().go().unwrap();
    let (_, step, _) = failed_at(&outcome);
    assert!(step < WARMUP, "{step}");
    assert_eq!(outcome.trace.draws(), 0);
}

#[test]
fn in_an_observable() {
    both_ways(|block| {
        let model = marked(|_| ()).with_block_size(block);
        let seen = AtomicUsize::new(0);
        let observable = move |state: &[u8]| {
            if state[0] == MARK && seen.fetch_add(1, Ordering::Relaxed) == 33 {
                panic!("draw {} is too much", 34);
            }
            0.0
        };
        let run = Run::new(&model, settings()).observe("bad", observable);
        let outcome = run.keep_states().observer("marginals", Marginals).go().unwrap();
        let (chain, step, words) = failed_at(&outcome);
        assert_eq!((chain, step), (1, WARMUP + 34 * THIN), "blocks of {block}");
        assert_eq!(words, "draw 34 is too much");
        check_draws(&outcome, 33);
    });
}

/// Panics at a draw of the block that begins with a chain.
struct Fragile {
    chain: usize,
    seen: AtomicUsize,
}

impl Observer for Fragile {
    type State = ();
    type Output = ();

    fn new_state(&self, _space: &Space, _chains: usize) {}

    fn see(&self, (): &mut (), draws: &Draws<'_>) {
        if draws.first_chain() == self.chain && self.seen.fetch_add(1, Ordering::Relaxed) == 50 {
            panic!("an observer broke");
        }
    }

    fn finish(&self, _blocks: Vec<()>) {}
}

#[test]
fn in_an_observer() {
    // In blocks of one it is the second chain; a block of all is known by its first.
    for (block, chain) in [(1, 1), (3, 0)] {
        let model = marked(|_| ()).with_block_size(block);
        let fragile = Fragile { chain, seen: AtomicUsize::new(0) };
        let run = Run::new(&model, settings()).observer("fragile", fragile).keep_states();
        let outcome = run.go().unwrap();
        let (found, step, words) = failed_at(&outcome);
        assert_eq!((found, step), (chain, WARMUP + 51 * THIN), "blocks of {block}");
        assert_eq!(words, "an observer broke");
        // The numbers of that draw had been taken when the observer broke, of whole blocks.
        let draws = outcome.trace.draws();
        assert!(draws == 50 || draws == 51, "{draws}");
        check_draws(&outcome, draws);
    }
}

/// Panics before the first draw, or after the last.
struct Clumsy {
    at_the_end: bool,
}

impl Observer for Clumsy {
    type State = ();
    type Output = ();

    fn new_state(&self, _space: &Space, _chains: usize) {
        assert!(self.at_the_end, "no room");
    }

    fn see(&self, (): &mut (), _draws: &Draws<'_>) {}

    fn finish(&self, _blocks: Vec<()>) {
        panic!("nothing adds up");
    }
}

#[test]
fn in_an_observer_that_begins_or_sums_up() {
    let model = marked(|_| ());
    let run = Run::new(&model, settings()).observer("clumsy", Clumsy { at_the_end: false });
    let error = run.go().map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("no room"), "{error}");
    // Models count their chains, so that every run has one of its own.
    let model = marked(|_| ());
    let run = Run::new(&model, settings()).observer("clumsy", Clumsy { at_the_end: true });
    let outcome = run.observer("marginals", Marginals).keep_states().go().unwrap();
    let (_, step, words) = failed_at(&outcome);
    assert_eq!(step, WARMUP + 500 * THIN);
    assert_eq!(words, "observer 'clumsy': nothing adds up");
    // The draws are whole, and other observers have their say.
    check_draws(&outcome, 500);
    assert!(outcome.observed::<Marginals>("marginals").is_some());
}

/// The random walk until a step at which it panics.
struct Breaking {
    at: usize,
    starts: Arc<AtomicUsize>,
}

impl<M: Model> Kernel<M> for Breaking {
    type Scratch = RandomWalkScratch<M>;
    type Own = ();

    fn traits(&self, model: &M) -> KernelTraits {
        KernelTraits { name: "breaking", ..random_walk::traits(model.space()) }
    }

    fn new_scratch(&self, model: &M, chains: usize) -> Self::Scratch {
        RandomWalk.new_scratch(model, chains)
    }

    fn start(&self, m: &M, c: &mut Chains, s: &mut Self::Scratch) -> Result<(), StepError> {
        self.starts.fetch_add(1, Ordering::Relaxed);
        RandomWalk.start(m, c, s)
    }

    fn step(&self, m: &M, c: &mut Chains, s: &mut Self::Scratch) -> Result<(), StepError> {
        assert!(c.step != self.at || c.state(0)[0] != MARK, "the kernel broke");
        RandomWalk.step(m, c, s)
    }
}

#[test]
fn in_a_kernel() {
    let sampler = Sampler { scale: Some(1.0), ..Sampler::rwm() };
    let settings = Settings { sampler, ..settings() };
    let model = marked(|_| ());
    let starts = Arc::new(AtomicUsize::new(0));
    let kernel = Breaking { at: WARMUP + 61, starts: starts.clone() };
    let outcome = Run::with_kernel(&model, kernel, settings).keep_states().go().unwrap();
    let (chain, step, words) = failed_at(&outcome);
    assert_eq!((chain, step, words.as_str()), (1, WARMUP + 61, "the kernel broke"));
    check_draws(&outcome, 30);
    assert!(starts.load(Ordering::Relaxed) > 0);
}

#[test]
fn in_a_monitor() {
    let model = marked(|_| ());
    let run = Run::new(&model, settings()).keep_states();
    let outcome = run.monitor(|_| panic!("nobody looks")).go().unwrap();
    let (_, step, words) = failed_at(&outcome);
    assert_eq!(words, "monitor: nobody looks");
    check_draws(&outcome, step.saturating_sub(WARMUP) / THIN);
}

#[test]
fn before_the_first_step() {
    let model = marked(|_| ()).with_initial_state(|_, _| panic!("no start"));
    let error = Run::new(&model, settings()).go().unwrap_err().to_string();
    assert!(error.contains("no start"), "{error}");
    let model = marked(|_| panic!("no value"));
    let outcome = Run::new(&model, settings()).go().unwrap();
    assert_eq!(failed_at(&outcome), (0, 0, "no value".to_owned()));
}

#[cfg(feature = "zarr")]
#[test]
fn while_a_run_that_is_stored_makes_itself_known() {
    use saltus::store::{Description, StoreWriter, Stored};
    let folder = crate::folder::temporary();
    let path = folder.path().join("run");
    let model = marked(|_| panic!("no value"));
    let description = Description::new("test", model.space(), &settings());
    let mut writer = StoreWriter::create(&path, description, false).unwrap();
    let outcome = Run::new(&model, settings()).go_into(&mut writer).unwrap();
    assert_eq!(failed_at(&outcome), (0, 0, "no value".to_owned()));
    drop(writer);
    assert_eq!(Stored::open(&path).unwrap().draws(), 0);
}
