//! Gibbs sweeps of a lattice of spins, one colour of the checkerboard at a time, packed so that the
//! sites of a colour stand side by side and a whole colour is drawn in vector loops.

use super::Sweep;
use super::lattice::Lattice;
use crate::math::{Arithmetic, FusedLoop, exp, larger, smaller, vectorised, vectorised_and_fused};
use crate::parts::{self, PART, is_large};
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
    /// For every site of a colour, all bits where its horizontal neighbour of another place stands to the right, none where to the
    /// left.
    to_the_right: [Vec<i8>; 2],
}

/// Memory of one sweep; nothing until there is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct CheckerboardCache {
    /// The spins of each colour, with a row of border above and below.
    spins: [Vec<i8>; 2],
    sums: Vec<i8>,
    words: Vec<u32>,
    uniforms: Vec<f32>,
}

/// Logits are held within this of zero, where exponentials are normal numbers.
const SHARPEST: f32 = 80.0;

impl CheckerboardCache {
    /// Takes the room that a sweep of this lattice needs.
    fn fit(&mut self, board: &Checkerboard) {
        let (rows, stride) = (board.lattice.shape().0, board.stride);
        self.spins.iter_mut().for_each(|spins| spins.resize((rows + 2) * stride, 0));
        self.sums.resize(rows * stride, 0);
        self.words.resize(rows * stride, 0);
        self.uniforms.resize(rows * stride, 0.0);
    }
}

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
        let to_the_right = [0, 1].map(|colour| {
            let of_row = |row| vec![-(Self::offset(row, colour) as i8); stride];
            (0..rows).flat_map(of_row).collect()
        });
        Some(Self { lattice, coupling, stride, fields, to_the_right })
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
        cache.fit(self);
        vectorised(
            #[inline(always)]
            || self.pack(state, 1, &mut cache.spins[1]),
        );
        for colour in 0..2 {
            match beta == 1.0 {
                true => self.draw::<false>(colour, 1.0, cache, rng),
                false => self.draw::<true>(colour, beta as f32, cache, rng),
            }
            self.close(&mut cache.spins[colour], colour);
        }
        self.finish(state, cache)
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
            // One place is left over, or two.
            line[length + 1] = last;
            line[stride - 1] = last;
        }
        if periodic {
            spins.copy_within(rows * stride..(rows + 1) * stride, 0);
            spins.copy_within(stride..2 * stride, (rows + 1) * stride);
        }
    }

    /// How many rows are swept together, by one thread: an even number, or all.
    fn rows_of_part(&self) -> usize {
        let (rows, columns) = self.lattice.shape();
        if is_large(rows * columns) { (2 * PART.div_ceil(2 * columns)).min(rows) } else { rows }
    }

    /// Draws every site of a colour, given the other.
    fn draw<const HEATED: bool>(
        &self,
        colour: usize,
        beta: f32,
        cache: &mut CheckerboardCache,
        rng: &mut ChainRng,
    ) {
        let CheckerboardCache { spins, sums, words, uniforms } = cache;
        let (stride, rows) = (self.stride, self.rows_of_part());
        let [first, second] = &mut *spins;
        let (own, other) = if colour == 0 { (first, &*second) } else { (second, &*first) };
        let own = &mut own[stride..][..sums.len()];
        let fields = &self.fields[colour];
        let to_the_right = &self.to_the_right[colour][..];
        let logit = (-2.0 * self.coupling, beta);
        if rows == self.lattice.shape().0 {
            let rows = ColourRows {
                logit,
                stride,
                other,
                own,
                fields,
                to_the_right,
                sums,
                words,
                uniforms,
            };
            vectorised_and_fused(DrawLoop::<HEATED> { rows, rng });
            return;
        }
        let (key, of_part) = (rng.key(), rows * stride);
        let random = words.chunks_mut(of_part).zip(uniforms.chunks_mut(of_part));
        let known = own.chunks_mut(of_part).zip(fields.chunks(of_part)).enumerate();
        let found = sums.chunks_mut(of_part);
        let parts = known.zip(found).zip(random).map(|((known, sums), random)| {
            let ((number, (own, fields)), (words, uniforms)) = (known, random);
            let other = &other[number * of_part..];
            ColourRows { logit, stride, other, own, fields, to_the_right, sums, words, uniforms }
        });
        parts::each(parts.collect(), |number, rows| {
            let rng = &mut parts::stream(key, number);
            vectorised_and_fused(DrawLoop::<HEATED> { rows, rng });
        });
    }

    /// Writes the state that has been drawn, and says what happened to it.
    fn finish(&self, state: &mut [u8], cache: &CheckerboardCache) -> Sweep {
        let (rows, columns) = (self.rows_of_part(), self.lattice.shape().1);
        let found = |number: usize, state: &mut [u8]| {
            vectorised(
                #[inline(always)]
                || self.finish_rows(number * rows, state, cache),
            )
        };
        let parts = match rows == self.lattice.shape().0 {
            true => vec![found(0, state)],
            false => parts::each(state.chunks_mut(rows * columns).collect(), found),
        };
        let pairs: i64 = parts.iter().map(|part| part.pairs).sum();
        let fields = |colour: usize| parts.iter().map(|part| part.fields[colour]).sum::<f64>();
        Sweep {
            changed: parts.iter().map(|part| part.changed).sum(),
            log_prob: f64::from(self.coupling) * pairs as f64 + fields(0) + fields(1),
        }
    }

    /// The same with some rows, by the number of the first.
    #[inline(always)]
    fn finish_rows(&self, first: usize, state: &mut [u8], cache: &CheckerboardCache) -> Finished {
        let CheckerboardCache { spins, sums, .. } = cache;
        let (stride, columns) = (self.stride, self.lattice.shape().1);
        let rows = first..first + state.len() / columns;
        // Every edge joins the two colours, so the sums around colour 1 hold all of them.
        let mut pairs = 0i32;
        for row in rows.clone() {
            let packed = 1..=self.length(row, 1);
            let spins = &spins[1][(row + 1) * stride..][packed.clone()];
            for (spin, sum) in spins.iter().zip(&sums[row * stride..][packed]) {
                pairs += i32::from(spin * sum);
            }
        }
        let entries = rows.start * stride..rows.end * stride;
        let fields = [0, 1].map(|colour: usize| {
            let spins = &spins[colour][stride..][entries.clone()];
            aligned(&self.fields[colour][entries.clone()], spins)
        });
        let mut changed = 0;
        for (row, line) in rows.zip(state.chunks_exact_mut(columns)) {
            let packed = |colour: usize| {
                &spins[colour][(row + 1) * stride + 1..][..self.length(row, colour)]
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
        Finished { pairs: i64::from(pairs), fields, changed }
    }
}

/// What rows came to: pairs that agree without those that do not, the sums of fields by colour, and changed sites.
struct Finished {
    pairs: i64,
    fields: [f64; 2],
    changed: u32,
}

/// Some rows of a colour, an even number of rows from the first.
struct ColourRows<'a> {
    /// What sums of neighbours are multiplied by, and all logits.
    logit: (f32, f32),
    stride: usize,
    /// The other colour, with a row above and below.
    other: &'a [i8],
    own: &'a mut [i8],
    fields: &'a [f32],
    to_the_right: &'a [i8],
    sums: &'a mut [i8],
    words: &'a mut [u32],
    uniforms: &'a mut [f32],
}

impl ColourRows<'_> {
    /// For every site, what its neighbours, all of the other colour, add up to.
    #[inline(always)]
    fn add_up(&mut self) {
        let Self { stride, other, to_the_right, sums, .. } = self;
        let (stride, length) = (*stride, sums.len());
        let (above, below) = (&other[..length], &other[2 * stride..][..length]);
        // One horizontal neighbour has the same place in its packed row; the other has the next or the last.
        let beside = &other[stride..][..length];
        let (left, right) = (&other[stride - 1..][..length], &other[stride + 1..][..length]);
        let to_the_right = &to_the_right[..length];
        for at in 0..length {
            let mask = to_the_right[at];
            let shifted = (right[at] & mask) | (left[at] & !mask);
            sums[at] = above[at] + below[at] + beside[at] + shifted;
        }
    }
}

/// The loop that draws them; at the model's own temperature nothing is multiplied by it.
struct DrawLoop<'a, const HEATED: bool> {
    rows: ColourRows<'a>,
    rng: &'a mut ChainRng,
}

impl<const HEATED: bool> FusedLoop for DrawLoop<'_, HEATED> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { mut rows, rng } = self;
        rows.add_up();
        let ColourRows { logit: (coupling, beta), own, fields, sums, words, uniforms, .. } = rows;
        rng.fill_uniform(words, uniforms);
        let length = own.len();
        let (fields, sums, uniforms) = (&fields[..length], &sums[..length], &uniforms[..length]);
        for at in 0..length {
            let logit = A::mul_add(coupling, f32::from(sums[at]), -2.0 * fields[at]);
            let logit = if HEATED { beta * logit } else { logit };
            let odds_down = exp::<A>(larger(smaller(logit, SHARPEST), -SHARPEST));
            // u < 1/(1 + odds), without the division.
            let up = A::mul_add(uniforms[at], odds_down, uniforms[at]) < 1.0;
            own[at] = 2 * i8::from(up) - 1;
        }
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
