//! An image of channels in memory: rows of pixels of channels with a border of zeros, one pixel wide,
//! so that a window over the edge reads zeros and no loop asks where it is.

use std::ops::Range;

/// The size of an image of channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plane {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Channels of a pixel, filling included.
    pub(super) channels: usize,
}

impl Plane {
    /// Memory of it, borders and all.
    pub(super) fn zeros(&self) -> Vec<f32> {
        vec![0.0; (self.rows + 2) * self.pitch()]
    }

    /// Numbers from a row to the next.
    pub(super) fn pitch(&self) -> usize {
        (self.columns + 2) * self.channels
    }

    /// Where a pixel starts if the border counts: the upper left pixel of the border is (0, 0).
    pub(super) fn with_border(&self, row: usize, column: usize) -> usize {
        row * self.pitch() + column * self.channels
    }

    /// Where a pixel starts.
    pub(super) fn at(&self, row: usize, column: usize) -> usize {
        self.with_border(row + 1, column + 1)
    }

    /// Where each row is, without the border.
    pub(super) fn row_ranges(self) -> impl Iterator<Item = Range<usize>> {
        let length = self.columns * self.channels;
        (0..self.rows).map(move |row| {
            let start = self.at(row, 0);
            start..start + length
        })
    }

    /// Number of pixels.
    pub(super) fn pixels(&self) -> usize {
        self.rows * self.columns
    }
}
