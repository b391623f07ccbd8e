//! Gibbs sweeps of a lattice of spins, one colour of the checkerboard at a time, packed so that the
//! sites of a colour stand side by side and a whole colour is drawn in vector loops.

use super::Sweep;
use super::lattice::Lattice;
use crate::math::{Arithmetic, FusedLoop, exp, larger, smaller, vectorised_and_fused};
use crate::rng::ChainRng;

/// A lattice of spins with equal couplings, in packed form.
#[derive(Clone, Debug)]
pub(crate) struct Checkerboard {
    lattice: Lattice,
    coupling: f32,
    /// Distance between packed rows: half a row and an entry of border on either side.
    stride: usize,
    /// The field of each colour, zero on the border.
    fields: [Vec<f32>; 2],
}

/// Memory of one sweep.
#[derive(Clone, Debug)]
pub(crate) struct CheckerboardCache {
    /// The spins of each colour, with a row of border above and below.
    spins: [Vec<i8>; 2],
    /// The other colour's horizontal neighbours that stand at another place.
    shifted: Vec<i8>,
    sums: Vec<i8>,
    words: Vec<u32>,
    uniforms: Vec<f32>,
}

/// Logits are held within this of zero, where exponentials are normal numbers.
const SHARPEST: f32 = 80.0;

impl Checkerboard {
    /// The packed form; none if the lattice closes on itself with an odd side, where no checkerboard
    /// fits.
    pub(crate) fn new(lattice: Lattice, coupling: f32, field: &[f32]) -> Option<Self> {
        let (rows, columns) = lattice.shape();
        if lattice.is_periodic() && (rows % 2 == 1 || columns % 2 == 1) {
            return None;
        }
        let stride = columns.div_ceil(2) + 2;
        let mut fields = [vec![0.0; rows * stride], vec![0.0; rows * stride]];
        for (site, field) in field.iter().enumerate() {
            let (row, column) = (site / columns, site % columns);
            fields[(row + column) % 2][row * stride + 1 + column / 2] = *field;
        }
        Some(Self { lattice, coupling, stride, fields })
    }

    pub(crate) fn new_cache(&self) -> CheckerboardCache {
        let (rows, stride) = (self.lattice.shape().0, self.stride);
        CheckerboardCache {
            spins: [vec![0; (rows + 2) * stride], vec![0; (rows + 2) * stride]],
            shifted: vec![0; rows * stride],
            sums: vec![0; rows * stride],
            words: vec![0; rows * stride],
            uniforms: vec![0.0; rows * stride],
        }
    }

    /// Draws every site of colour 0, then every site of colour 1, from its conditional distribution
    /// at that inverse temperature.
    pub(crate) fn sweep(
        &self,
        beta: f64,
        state: &mut [u8],
        cache: &mut CheckerboardCache,
        rng: &mut ChainRng,
    ) -> Sweep {
        if beta == 1.0 {
            vectorised_and_fused(SweepLoop::<false> { board: self, beta: 1.0, state, cache, rng })
        } else {
            let beta = beta as f32;
            vectorised_and_fused(SweepLoop::<true> { board: self, beta, state, cache, rng })
        }
    }

    /// The first column of a colour in a row: 0 or 1.
    fn offset(row: usize, colour: usize) -> usize {
        (row + colour) % 2
    }

    /// How many sites of a colour a row has.
    fn length(&self, row: usize, colour: usize) -> usize {
        (self.lattice.shape().1 + 1 - Self::offset(row, colour)) / 2
    }

    #[inline(always)]
    fn pack(&self, state: &[u8], colour: usize, spins: &mut [i8]) {
        let columns = self.lattice.shape().1;
        for (row, line) in state.chunks_exact(columns).enumerate() {
            let packed = &mut spins[(row + 1) * self.stride + 1..][..self.length(row, colour)];
            let (pairs, rest) = line.as_chunks::<2>();
            if Self::offset(row, colour) == 0 {
                for (spin, pair) in packed.iter_mut().zip(pairs) {
                    *spin = 2 * pair[0] as i8 - 1;
                }
                if let [value] = rest {
                    packed[pairs.len()] = 2 * *value as i8 - 1;
                }
            } else {
                for (spin, pair) in packed.iter_mut().zip(pairs) {
                    *spin = 2 * pair[1] as i8 - 1;
                }
            }
        }
        self.close(spins, colour);
    }

    /// Fills the border: opposite rims of a torus, zeros elsewhere.
    #[inline(always)]
    fn close(&self, spins: &mut [i8], colour: usize) {
        let (rows, stride) = (self.lattice.shape().0, self.stride);
        let periodic = self.lattice.is_periodic();
        for row in 0..rows {
            let length = self.length(row, colour);
            let line = &mut spins[(row + 1) * stride..][..stride];
            let (first, last) = if periodic { (line[length], line[1]) } else { (0, 0) };
            line[0] = first;
            line[length + 1..].fill(last);
        }
        if periodic {
            spins.copy_within(rows * stride..(rows + 1) * stride, 0);
            spins.copy_within(stride..2 * stride, (rows + 1) * stride);
        }
    }

    /// For every site of a colour, what its neighbours, all of the other colour, add up to.
    #[inline(always)]
    fn add_up(&self, colour: usize, other: &[i8], shifted: &mut [i8], sums: &mut [i8]) {
        let (rows, stride) = (self.lattice.shape().0, self.stride);
        let length = rows * stride;
        for row in 0..rows {
            // One horizontal neighbour has the same place in its packed row; the other has the
            // next or the last, depending on which colour begins the row.
            let next = Self::offset(row, colour);
            let from = (row + 1) * stride + 2 * next;
            shifted[row * stride + 1..(row + 1) * stride - 1]
                .copy_from_slice(&other[from..from + stride - 2]);
        }
        let (above, below) = (&other[..length], &other[2 * stride..][..length]);
        let beside = &other[stride..][..length];
        let shifted = &shifted[..length];
        for at in 0..length {
            sums[at] = above[at] + below[at] + beside[at] + shifted[at];
        }
    }
}

/// The loop of a sweep; at the model's own temperature nothing is multiplied by it.
struct SweepLoop<'a, const HEATED: bool> {
    board: &'a Checkerboard,
    beta: f32,
    state: &'a mut [u8],
    cache: &'a mut CheckerboardCache,
    rng: &'a mut ChainRng,
}

impl<const HEATED: bool> FusedLoop for SweepLoop<'_, HEATED> {
    type Output = Sweep;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> Sweep {
        let Self { board, beta, state, cache, rng } = self;
        let CheckerboardCache { spins, shifted, sums, words, uniforms } = cache;
        let (rows, columns) = board.lattice.shape();
        let (stride, length) = (board.stride, sums.len());
        board.pack(state, 1, &mut spins[1]);
        for colour in 0..2 {
            let [first, second] = &mut *spins;
            let (own, other) = if colour == 0 { (first, &*second) } else { (second, &*first) };
            board.add_up(colour, other, shifted, sums);
            rng.fill_uniform(words, uniforms);
            let own = &mut own[stride..][..length];
            let fields = &board.fields[colour][..length];
            let (sums, uniforms) = (&sums[..length], &uniforms[..length]);
            let coupling = -2.0 * board.coupling;
            for at in 0..length {
                let logit = A::mul_add(coupling, f32::from(sums[at]), -2.0 * fields[at]);
                let logit = if HEATED { beta * logit } else { logit };
                let odds_down = exp::<A>(larger(smaller(logit, SHARPEST), -SHARPEST));
                // u < 1/(1 + odds), without the division.
                let up = A::mul_add(uniforms[at], odds_down, uniforms[at]) < 1.0;
                own[at] = 2 * i8::from(up) - 1;
            }
            board.close(&mut spins[colour], colour);
        }
        // Every edge joins the two colours, so the sums around colour 1 hold all of them.
        let mut pairs = 0i32;
        for row in 0..rows {
            let packed = 1..=board.length(row, 1);
            let spins = &spins[1][(row + 1) * stride..][packed.clone()];
            for (spin, sum) in spins.iter().zip(&sums[row * stride..][packed]) {
                pairs += i32::from(spin * sum);
            }
        }
        let mut log_prob = f64::from(board.coupling) * f64::from(pairs);
        for colour in 0..2 {
            log_prob += aligned(&board.fields[colour], &spins[colour][stride..stride + length]);
        }
        let mut changed = 0;
        for (row, line) in state.chunks_exact_mut(columns).enumerate() {
            let packed = |colour: usize| {
                &spins[colour][(row + 1) * stride + 1..][..board.length(row, colour)]
            };
            // Even columns hold the colour of the row's first site, odd ones the other.
            let (even, odd) = (packed(row % 2), packed(1 - row % 2));
            let (pairs, rest) = line.as_chunks_mut::<2>();
            let (last, count) = (even.last(), pairs.len());
            for ((pair, even), odd) in pairs.iter_mut().zip(&even[..count]).zip(&odd[..count]) {
                let new = [(*even > 0) as u8, (*odd > 0) as u8];
                changed += u32::from(pair[0] ^ new[0]) + u32::from(pair[1] ^ new[1]);
                *pair = new;
            }
            if let ([value], Some(last)) = (rest, last) {
                changed += u32::from(*value != u8::from(*last > 0));
                *value = u8::from(*last > 0);
            }
        }
        Sweep { changed, log_prob }
    }
}

/// Σ b s, in eight running sums so that it vectorises; fields are zero on the border.
#[inline(always)]
fn aligned(fields: &[f32], spins: &[i8]) -> f64 {
    let mut sums = [0.0f64; 8];
    let (fields, fields_tail) = fields.as_chunks::<8>();
    let (spins, spins_tail) = spins.as_chunks::<8>();
    for (fields, spins) in fields.iter().zip(spins) {
        for lane in 0..8 {
            sums[lane] += f64::from(fields[lane] * f32::from(spins[lane]));
        }
    }
    let tail = fields_tail.iter().zip(spins_tail).map(|(b, s)| f64::from(b * f32::from(*s)));
    sums.iter().sum::<f64>() + tail.sum::<f64>()
}
