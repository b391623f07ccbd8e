//! What the answers of a model cost, counted and not measured.

/// About the nanoseconds that one core takes for the answers of a model: its own sizes times constants of its loops
/// (`experiments/auto` puts them beside what is measured). Counts, not the clock, so that what is chosen by them is the same at every run.
///
/// ```
/// use saltus::{Independent, Model};
/// let few = Independent::bernoulli(vec![0.0; 10])?.work();
/// let many = Independent::bernoulli(vec![0.0; 1000])?.work();
/// assert!(many.evaluation > 10.0 * few.evaluation && many.site == few.site);
/// # Ok::<(), saltus::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// log π and all differences of a state.
    pub evaluation: f64,
    /// The differences of one site of a followed chain, a draw, and the site's new value.
    pub site: f64,
    /// A sweep over all sites of a chain, where the model has loops of its own for that.
    pub sweep: Option<f64>,
    /// What an evaluation costs more where many sites changed since the last, of a model that follows them.
    pub far: f64,
    /// Whether this is counted: what is not may take any time, and nobody asks such a model more than its run has to.
    pub is_known: bool,
}

impl Work {
    /// That of a model of which nothing is known but its number of differences: a gradient takes much more than what a sampler
    /// does with it, and a site as much as all.
    pub fn unknown(differences: usize) -> Self {
        let evaluation = 100.0 * differences as f64;
        Self { evaluation, site: evaluation, sweep: None, far: 0.0, is_known: false }
    }
}
