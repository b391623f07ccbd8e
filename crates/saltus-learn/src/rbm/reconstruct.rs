//! How much of its examples an RBM gets wrong when it sees them through its hidden units.

use rayon::prelude::*;
use saltus::math::{log_sum_exp, sigmoid};
use saltus::{Model, Rbm};

/// States looked at by one task.
const BLOCK: usize = 16;

/// The share of the sites of states that one step by layers is expected to change, if every hidden unit gives its
/// probability in place of a draw.
pub(super) fn reconstruction_error(rbm: &Rbm, states: &[u8]) -> f64 {
    let sites = rbm.space().sites();
    let blocks: Vec<f64> =
        states.par_chunks(BLOCK * sites).map(|states| wrong(rbm, states)).collect();
    blocks.iter().sum::<f64>() / states.len() as f64
}

/// Sites of some states that are expected to change.
fn wrong(rbm: &Rbm, states: &[u8]) -> f64 {
    let (space, row) = (rbm.space(), rbm.row_length());
    let (sites, table) = (space.sites(), space.diff_len());
    let mut cache = rbm.new_cache(1);
    let (mut inputs, mut on) = (vec![0.0; row], vec![0.0; row]);
    let mut visible = vec![0.0; table];
    let mut wrong = 0.0;
    for state in states.chunks_exact(sites) {
        rbm.hidden_inputs(state, 0, &mut cache, &mut inputs);
        let units = on.iter_mut().zip(&inputs).take(rbm.hidden());
        units.for_each(|(on, input)| *on = sigmoid(*input) as f32);
        rbm.visible_inputs(&on, &mut visible);
        for (input, bias) in visible.iter_mut().zip(rbm.visible_biases()) {
            *input += bias;
        }
        for (site, value) in state.iter().enumerate() {
            let log = |plane: usize| f64::from(visible[plane * sites + site]);
            wrong += if space.is_binary() {
                sigmoid(if *value == 1 { -log(0) } else { log(0) })
            } else {
                let logs: Vec<f64> = (0..space.values()).map(log).collect();
                1.0 - (logs[usize::from(*value)] - log_sum_exp(&logs)).exp()
            };
        }
    }
    wrong
}
