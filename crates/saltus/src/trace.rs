//! What is kept of a run: one number per observable, chain and draw, and whole states on request.

/// The kept draws of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    chains: usize,
    draws: usize,
    names: Vec<String>,
    /// By observable, then chain, then draw.
    series: Vec<Vec<Vec<f64>>>,
    /// By chain, rows of one state per draw; empty unless states are kept.
    states: Vec<Vec<u8>>,
}

/// Observable 0 of every trace: log π of the state.
pub const LOG_PROB: &str = "log_prob";
/// Observable 1 of every trace: number of sites that differ from a fixed random state.
pub const HAMMING: &str = "hamming";

impl Trace {
    pub(crate) fn new(names: Vec<String>, chains: Vec<ChainTrace>) -> Self {
        // After an error chains may have come to different lengths; keep what all have.
        let draws = chains.iter().map(|chain| chain.draws).min().unwrap_or(0);
        let count = chains.len();
        let mut series: Vec<Vec<Vec<f64>>> = names.iter().map(|_| Vec::new()).collect();
        let mut states = Vec::new();
        for mut chain in chains {
            for (all, mut own) in series.iter_mut().zip(chain.series) {
                own.truncate(draws);
                all.push(own);
            }
            if !chain.states.is_empty() {
                let sites = chain.states.len() / chain.draws;
                chain.states.truncate(draws * sites);
                states.push(chain.states);
            }
        }
        Self { chains: count, draws, names, series, states }
    }

    /// Number of chains.
    pub fn chains(&self) -> usize {
        self.chains
    }

    /// Kept draws of each chain.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// Names of the observables.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The draws of an observable, chain by chain; `None` if there is none of that name.
    pub fn series(&self, name: &str) -> Option<&[Vec<f64>]> {
        let number = self.names.iter().position(|known| known == name)?;
        Some(&self.series[number])
    }

    /// log π of every draw, chain by chain.
    pub fn log_prob(&self) -> &[Vec<f64>] {
        &self.series[0]
    }

    /// Hamming distance of every draw to the reference state, chain by chain.
    pub fn hamming(&self) -> &[Vec<f64>] {
        &self.series[1]
    }

    /// The states of one chain, draw after draw; empty unless states were kept.
    pub fn states(&self, chain: usize) -> &[u8] {
        self.states.get(chain).map_or(&[], Vec::as_slice)
    }
}

/// What is kept of one chain while it runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChainTrace {
    pub(crate) draws: usize,
    pub(crate) series: Vec<Vec<f64>>,
    pub(crate) states: Vec<u8>,
}
