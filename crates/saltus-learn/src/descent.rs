//! Moving parameters along a gradient by Adam, shared out among threads.

use crate::adam::{Moments, Step};
use rayon::prelude::*;
use saltus::math::vectorised;

/// Numbers that one task moves.
pub const CHUNK: usize = 4096;
/// Parameters beyond this have nothing to do with data.
const LARGEST: f32 = 1e6;

/// Makes a step; whether all parameters are numbers to go on with.
pub fn descend(
    step: Step,
    gradient: &[f32],
    Moments { first, second }: &mut Moments,
    parameters: &mut [f32],
) -> bool {
    parameters
        .par_chunks_mut(CHUNK)
        .zip(gradient.par_chunks(CHUNK))
        .zip(first.par_chunks_mut(CHUNK))
        .zip(second.par_chunks_mut(CHUNK))
        .map(|(((parameters, gradient), first), second)| {
            vectorised(
                #[inline(always)]
                || {
                    step.apply(parameters, gradient, (first, second));
                    // NaN is not below anything.
                    parameters.iter().fold(true, |all, number| all & (number.abs() <= LARGEST))
                },
            )
        })
        .reduce(|| true, |one, other| one && other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_all_bounds_are_noticed_wherever_they_are() {
        let count = 2 * CHUNK + 3;
        for bad in
            [None, Some((0, f32::NAN)), Some((count - 1, 2e6)), Some((CHUNK, -f32::INFINITY))]
        {
            let mut parameters = vec![0.5; count];
            if let Some((at, number)) = bad {
                parameters[at] = number;
            }
            let (mut moments, gradient) = (Moments::new(count), vec![1.0; count]);
            let usable = descend(Step::new(0.1, 1), &gradient, &mut moments, &mut parameters);
            assert_eq!(usable, bad.is_none(), "{bad:?}");
            // Adam's first step is as long as the learning rate.
            assert!((parameters[1] - 0.4).abs() < 1e-4, "{}", parameters[1]);
        }
    }
}
