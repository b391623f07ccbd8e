//! Long series made short enough for a page.

/// Most stretches that a series is cut into.
pub const STRETCHES: usize = 400;

/// The series as points, or where it is long the smallest and the largest value of every stretch,
/// so that no excursion gets lost.
pub fn extremes(series: &[f64]) -> Vec<(f64, f64)> {
    if series.len() <= 2 * STRETCHES {
        return series.iter().enumerate().map(|(t, value)| (t as f64, *value)).collect();
    }
    let mut points = Vec::new();
    for stretch in 0..STRETCHES {
        let from = stretch * series.len() / STRETCHES;
        let to = (stretch + 1) * series.len() / STRETCHES;
        let smallest = (from..to).min_by(|a, b| series[*a].total_cmp(&series[*b]));
        let largest = (from..to).max_by(|a, b| series[*a].total_cmp(&series[*b]));
        let mut both: Vec<usize> = smallest.into_iter().chain(largest).collect();
        both.sort_unstable();
        both.dedup();
        points.extend(both.into_iter().map(|t| (t as f64, series[t])));
    }
    points
}

/// About as many places along a series of that length, the last one included.
pub fn places(length: usize, wanted: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (1..=wanted).map(|k| k * length / wanted).collect();
    places.retain(|place| *place > 0);
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excursions_survive() {
        let mut series = vec![0.0; 100_000];
        series[77_777] = 5.0;
        series[3] = -2.0;
        let points = extremes(&series);
        assert!(points.len() <= 2 * STRETCHES);
        assert!(points.contains(&(77_777.0, 5.0)) && points.contains(&(3.0, -2.0)));
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(extremes(&[3.0, 4.0]), [(0.0, 3.0), (1.0, 4.0)]);
    }

    #[test]
    fn places_end_at_the_end() {
        assert_eq!(places(100, 4), [25, 50, 75, 100]);
        assert_eq!(places(3, 10), [1, 2, 3]);
        assert_eq!(places(0, 10), [0usize; 0]);
    }
}
