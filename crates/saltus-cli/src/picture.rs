//! A small picture of a lattice in text: two spins per character, or a digit per site.

use crate::parse::Size;

/// Most columns of a picture.
const MOST_COLUMNS: usize = 50;
/// Most lines of a picture.
const MOST_LINES: usize = 30;

/// Draws a state of a lattice, its upper left part if it is large.
pub fn draw(state: &[u8], size: Size, values: usize) -> String {
    if values == 2 { half_blocks(state, size) } else { digits(state, size) }
}

/// Which part of the lattice a picture shows, if not all.
pub fn shown_part(size: Size, values: usize) -> Option<Size> {
    let rows_per_line = if values == 2 { 2 } else { 1 };
    let shown = Size {
        rows: size.rows.min(MOST_LINES * rows_per_line),
        columns: size.columns.min(MOST_COLUMNS),
    };
    (shown != size).then_some(shown)
}

/// Two rows of spins per line: a filled half is value 1.
fn half_blocks(state: &[u8], size: Size) -> String {
    let rows: Vec<&[u8]> = state.chunks(size.columns.max(1)).take(2 * MOST_LINES).collect();
    let mut picture = String::new();
    for pair in rows.chunks(2) {
        for column in 0..size.columns.min(MOST_COLUMNS) {
            let up = |row: usize| pair.get(row).is_some_and(|row| row.get(column) == Some(&1));
            picture.push(match (up(0), up(1)) {
                (true, true) => '█',
                (true, false) => '▀',
                (false, true) => '▄',
                (false, false) => ' ',
            });
        }
        picture.push('\n');
    }
    picture
}

/// One character per site: its value, in digits and then letters.
fn digits(state: &[u8], size: Size) -> String {
    let mut picture = String::new();
    for row in state.chunks(size.columns.max(1)).take(MOST_LINES) {
        let digits = row.iter().take(MOST_COLUMNS);
        picture.extend(digits.map(|value| char::from_digit(u32::from(*value), 36).unwrap_or('+')));
        picture.push('\n');
    }
    picture
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spins_become_half_blocks() {
        let size = Size { rows: 3, columns: 4 };
        let state = [0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0];
        assert_eq!(draw(&state, size, 2), " ▀▄█\n▀ ▀ \n");
    }

    #[test]
    fn values_become_digits() {
        let size = Size { rows: 2, columns: 3 };
        assert_eq!(draw(&[0, 1, 2, 9, 10, 200], size, 256), "012\n9a+\n");
    }

    #[test]
    fn large_lattices_are_cut() {
        let size = Size { rows: 100, columns: 200 };
        let picture = draw(&vec![1; 20_000], size, 2);
        assert_eq!(picture.lines().count(), 30);
        assert!(picture.lines().all(|line| line.chars().count() == 50));
        assert_eq!(shown_part(size, 2), Some(Size { rows: 60, columns: 50 }));
        assert_eq!(shown_part(Size { rows: 50, columns: 50 }, 2), None);
    }
}
