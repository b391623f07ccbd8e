//! A small picture of a lattice in text: two spins per character, or a digit per site.

use crate::parse::Size;

/// Most columns of a picture.
const MOST_COLUMNS: usize = 50;
/// Most lines of a picture.
const MOST_LINES: usize = 30;

/// Draws a state of a lattice in so many lines at most, its upper left part if it is large; also tells which part.
pub fn draw(state: &[u8], size: Size, values: usize, lines: usize) -> (Size, String) {
    let rows_per_line = if values == 2 { 2 } else { 1 };
    let shown = Size {
        rows: size.rows.min(lines.min(MOST_LINES) * rows_per_line),
        columns: size.columns.min(MOST_COLUMNS),
    };
    let rows: Vec<&[u8]> = state
        .chunks(size.columns.max(1))
        .take(shown.rows)
        .map(|row| &row[..shown.columns.min(row.len())])
        .collect();
    let draw = if values == 2 { half_blocks } else { digits };
    let lines = rows.chunks(rows_per_line).map(|rows| draw(rows, shown.columns) + "\n");
    (shown, lines.collect())
}

/// Two rows of spins: a filled half is value 1.
fn half_blocks(rows: &[&[u8]], columns: usize) -> String {
    let up = |row: usize, column: usize| {
        rows.get(row).is_some_and(|row: &&[u8]| row.get(column) == Some(&1))
    };
    let both = (0..columns).map(|column| match (up(0, column), up(1, column)) {
        (true, true) => '█',
        (true, false) => '▀',
        (false, true) => '▄',
        (false, false) => ' ',
    });
    both.collect()
}

/// One character per site: its value, in digits and then letters.
fn digits(rows: &[&[u8]], _columns: usize) -> String {
    let values = rows.iter().flat_map(|row| row.iter());
    values.map(|value| char::from_digit(u32::from(*value), 36).unwrap_or('+')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spins_become_half_blocks() {
        let size = Size { rows: 3, columns: 4 };
        let state = [0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0];
        assert_eq!(draw(&state, size, 2, 9), (size, " ▀▄█\n▀ ▀ \n".to_owned()));
    }

    #[test]
    fn values_become_digits() {
        let size = Size { rows: 2, columns: 3 };
        assert_eq!(draw(&[0, 1, 2, 9, 10, 200], size, 256, 9).1, "012\n9a+\n");
    }

    #[test]
    fn large_lattices_are_cut() {
        let size = Size { rows: 100, columns: 200 };
        let (shown, picture) = draw(&vec![1; 20_000], size, 2, usize::MAX);
        assert_eq!(shown, Size { rows: 60, columns: 50 });
        assert_eq!(picture.lines().count(), 30);
        assert!(picture.lines().all(|line| line.chars().count() == 50));
        // No taller than there is room.
        let (shown, picture) = draw(&vec![1; 20_000], size, 2, 7);
        assert_eq!((shown.rows, picture.lines().count()), (14, 7));
        let small = Size { rows: 50, columns: 50 };
        assert_eq!(draw(&[1; 2500], small, 2, 30).0, small);
    }
}
