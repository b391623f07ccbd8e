//! Convolutions of 3×3 pixels at a stride of one, by tiles: sixteen products per channel make 2×2 pixels, where sums of
//! nine take thirty-six. This is F(2×2, 3×3) of Winograd (1980), for networks by Lavin and Gray (2016, equations 7 to 12).
//!
//! Input d, weights g and products m are changed to other coordinates and back, Bᵀ d B, G g Gᵀ and Aᵀ m A, by additions
//! and halves. In between stand sixteen products of matrices, one per coordinate: a plan of sixteen groups.

use super::convolve::{Convolve, Start};
use super::packed::{PANEL, Packed};
use super::plan::{Group, Pixel, Plan};
use super::plane::Plane;
use crate::layout::Layer;
use pulp::{Arch, Simd, WithSimd};

/// Pixels along a side of what a tile reads.
const READ: usize = 4;
/// Pixels along a side of what it makes.
const MADE: usize = 2;
/// Channels from which on fewer products save more than the change of coordinates takes.
const LEAST_CHANNELS: usize = 2 * PANEL;
/// Coordinates of a tile.
const PLACES: usize = READ * READ;

/// A convolution by tiles, or the way back through one.
#[derive(Clone, Debug)]
pub(super) struct Tiles {
    tiles: Vec<Tile>,
    /// In every coordinate a row of channels per tile.
    products: Plan,
    weights: Packed,
}

/// A tile of an image.
#[derive(Clone, Debug)]
struct Tile {
    /// Where the pixels start that it reads; beyond the border it reads the border.
    from: [usize; PLACES],
    /// Where the pixels start that it makes, as far as they are inside.
    to: [Option<usize>; MADE * MADE],
}

/// Memory for an image in other coordinates: [place][tile][channel].
#[derive(Clone, Debug, Default)]
pub(super) struct Coordinates {
    input: Vec<f32>,
    products: Vec<f32>,
}

impl Tiles {
    /// For a layer between images of those sizes, where tiles are worth it; without weights yet.
    pub(super) fn new(layer: &Layer, input: Plane, output: Plane) -> Option<Self> {
        let (rows, columns) = (output.rows.div_ceil(MADE), output.columns.div_ceil(MADE));
        let fewer = rows * columns * PLACES < output.pixels() * layer.side * layer.side;
        let wide = input.channels.min(output.channels) >= LEAST_CHANNELS;
        let whole = input.channels.is_multiple_of(PANEL) && output.channels.is_multiple_of(PANEL);
        if (layer.side, layer.stride) != (3, 1) || !fewer || !wide || !whole {
            return None;
        }
        let inside = |at: usize, side: usize| if at < side + 2 { at } else { 0 };
        let tile = |row: usize, column: usize| Tile {
            from: std::array::from_fn(|place| {
                let (row, column) = (row + place / READ, column + place % READ);
                input.with_border(inside(row, input.rows), inside(column, input.columns))
            }),
            to: std::array::from_fn(|place| {
                let (row, column) = (row + place / MADE, column + place % MADE);
                (row < output.rows && column < output.columns).then(|| output.at(row, column))
            }),
        };
        let tiles: Vec<_> = (0..rows * columns)
            .map(|number| tile(number / columns * MADE, number % columns * MADE))
            .collect();
        let group = |place: usize| Group {
            pixels: (0..tiles.len())
                .map(|row| Pixel { from: row * input.channels, to: row * output.channels })
                .collect(),
            runs: vec![0],
            length: input.channels,
            taps: vec![place],
        };
        let groups = (0..PLACES).map(group).collect();
        let products = Plan { groups, inputs: input.channels, outputs: output.channels };
        Some(Self { tiles, weights: Packed::zeros(&products), products })
    }

    /// Takes over weights, of a place of the window (row · 3 + column), an input and an output.
    pub(super) fn set(
        &mut self,
        inputs: usize,
        outputs: usize,
        weight: impl Fn(usize, usize, usize) -> f32,
    ) {
        let mut changed = vec![0.0; inputs * outputs * PLACES];
        for (pair, changed) in changed.chunks_exact_mut(PLACES).enumerate() {
            let (output, input) = (pair / inputs, pair % inputs);
            let rows: [[f32; READ]; 3] = std::array::from_fn(|row| {
                spread(std::array::from_fn(|column| weight(row * 3 + column, input, output)))
            });
            for column in 0..READ {
                let numbers = spread(rows.map(|row| row[column]));
                for (row, number) in numbers.into_iter().enumerate() {
                    changed[row * READ + column] = number;
                }
            }
        }
        self.weights.for_each(&self.products, inputs, outputs, |place, input, output, number| {
            *number = changed[(output * inputs + input) * PLACES + place];
        });
    }

    /// Makes every pixel of the output.
    pub(super) fn apply(
        &self,
        instructions: Arch,
        start: Start<'_>,
        input: &[f32],
        output: &mut [f32],
        coordinates: &mut Coordinates,
    ) {
        let Self { tiles, products: plan, weights } = self;
        let matrices = (tiles.len() * plan.inputs, tiles.len() * plan.outputs);
        let changed = at_least(&mut coordinates.input, PLACES * matrices.0);
        let products = at_least(&mut coordinates.products, PLACES * matrices.1);
        instructions.dispatch(There { tiles, channels: plan.inputs, input, changed });
        let places = plan.groups.iter().zip(&weights.groups);
        let matrices = changed.chunks_exact(matrices.0).zip(products.chunks_exact_mut(matrices.1));
        for ((group, weights), (input, output)) in places.zip(matrices) {
            instructions.dispatch(Convolve { group, weights, start: Start::Zero, input, output });
        }
        instructions.dispatch(Back { tiles, channels: plan.outputs, start, products, output });
    }
}

/// The first numbers of a memory that grows as is needed.
fn at_least(memory: &mut Vec<f32>, length: usize) -> &mut [f32] {
    if memory.len() < length {
        memory.resize(length, 0.0);
    }
    &mut memory[..length]
}

/// G applied to three weights.
fn spread([first, middle, last]: [f32; 3]) -> [f32; READ] {
    let outer = first + last;
    [first, 0.5 * (outer + middle), 0.5 * (outer - middle), last]
}

/// Bᵀ applied to four numbers.
#[inline(always)]
fn take<S: Simd>(simd: S, [a, b, c, d]: [S::f32s; READ]) -> [S::f32s; READ] {
    [simd.sub_f32s(a, c), simd.add_f32s(b, c), simd.sub_f32s(c, b), simd.sub_f32s(b, d)]
}

/// Aᵀ applied to four numbers.
#[inline(always)]
fn make<S: Simd>(simd: S, [a, b, c, d]: [S::f32s; READ]) -> [S::f32s; MADE] {
    [simd.add_f32s(simd.add_f32s(a, b), c), simd.sub_f32s(simd.sub_f32s(b, c), d)]
}

/// The input in the coordinates of its tiles: [place][tile][channel].
struct There<'a> {
    tiles: &'a [Tile],
    channels: usize,
    input: &'a [f32],
    changed: &'a mut [f32],
}

impl WithSimd for There<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let vectors = self.channels / S::F32_LANES;
        let (input, changed) = (S::as_simd_f32s(self.input).0, S::as_mut_simd_f32s(self.changed).0);
        let matrix = self.tiles.len() * vectors;
        for (tile_number, tile) in self.tiles.iter().enumerate() {
            let from = tile.from.map(|from| from / S::F32_LANES);
            for vector in 0..vectors {
                let mut columns = [[simd.splat_f32s(0.0); READ]; READ];
                for (column, numbers) in columns.iter_mut().enumerate() {
                    let read = |row: usize| input[from[row * READ + column] + vector];
                    *numbers = take(simd, [read(0), read(1), read(2), read(3)]);
                }
                let [a, b, c, d] = &columns;
                for row in 0..READ {
                    let numbers = take(simd, [a[row], b[row], c[row], d[row]]);
                    for (column, number) in numbers.into_iter().enumerate() {
                        let place = row * READ + column;
                        changed[place * matrix + tile_number * vectors + vector] = number;
                    }
                }
            }
        }
    }
}

/// From the products in the coordinates of tiles to pixels.
struct Back<'a> {
    tiles: &'a [Tile],
    channels: usize,
    start: Start<'a>,
    products: &'a [f32],
    output: &'a mut [f32],
}

impl WithSimd for Back<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let vectors = self.channels / S::F32_LANES;
        let (products, output) =
            (S::as_simd_f32s(self.products).0, S::as_mut_simd_f32s(self.output).0);
        let matrix = self.tiles.len() * vectors;
        for (tile_number, tile) in self.tiles.iter().enumerate() {
            for vector in 0..vectors {
                let mut columns = [[simd.splat_f32s(0.0); MADE]; READ];
                for (column, numbers) in columns.iter_mut().enumerate() {
                    let read = |row: usize| {
                        products[(row * READ + column) * matrix + tile_number * vectors + vector]
                    };
                    *numbers = make(simd, [read(0), read(1), read(2), read(3)]);
                }
                let [a, b, c, d] = &columns;
                for row in 0..MADE {
                    let made = make(simd, [a[row], b[row], c[row], d[row]]);
                    for (to, made) in tile.to[row * MADE..][..MADE].iter().zip(made) {
                        let Some(to) = to else { continue };
                        let to = &mut output[to / S::F32_LANES + vector];
                        *to = match self.start {
                            Start::Zero => made,
                            Start::Bias(bias) => {
                                simd.add_f32s(made, S::as_simd_f32s(bias).0[vector])
                            }
                            Start::Sum => simd.add_f32s(made, *to),
                        };
                    }
                }
            }
        }
    }
}
