//! Weights of a convolution in the order in which they are used: for every group of pixels, panels of
//! output channels, and in each the numbers of a window one after the other.

use super::plan::Plan;

/// Output channels that are added up side by side; images of channels are filled up to a multiple.
pub(super) const PANEL: usize = 16;

/// A number of channels with the filling, which is always zero.
pub(super) fn filled(channels: usize) -> usize {
    channels.next_multiple_of(PANEL)
}

/// The weights of a plan.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    /// For every group: [panel][tap][input channel][channel of the panel].
    pub(super) groups: Vec<Vec<f32>>,
}

impl Packed {
    /// Zeros in the shape of a plan.
    pub(super) fn zeros(plan: &Plan) -> Self {
        let length = |taps: usize| taps * plan.inputs * filled(plan.outputs);
        Self {
            groups: plan.groups.iter().map(|group| vec![0.0; length(group.taps.len())]).collect(),
        }
    }

    /// Calls `visit` with tap, input, output and the number kept for them; `inputs` and `outputs`
    /// are those without the filling.
    pub(super) fn for_each(
        &mut self,
        plan: &Plan,
        inputs: usize,
        outputs: usize,
        mut visit: impl FnMut(usize, usize, usize, &mut f32),
    ) {
        for (group, numbers) in plan.groups.iter().zip(&mut self.groups) {
            for (number, panel) in
                numbers.chunks_exact_mut(group.taps.len() * plan.inputs * PANEL).enumerate()
            {
                let first = number * PANEL;
                let width = outputs.saturating_sub(first).min(PANEL);
                for (tap, window) in
                    group.taps.iter().zip(panel.chunks_exact_mut(plan.inputs * PANEL))
                {
                    for (input, lanes) in window.chunks_exact_mut(PANEL).take(inputs).enumerate() {
                        for (lane, number) in lanes[..width].iter_mut().enumerate() {
                            visit(*tap, input, first + lane, number);
                        }
                    }
                }
            }
        }
    }
}
