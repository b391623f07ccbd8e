//! The same bars in a terminal: lines of blocks on a logarithmic scale.

use super::bars::{Bar, BarPlot, Panel};

/// Length of the longest bar.
const WIDTH: f64 = 48.0;

impl BarPlot {
    /// All panels, one below the other.
    pub fn text(&self) -> String {
        self.panels.iter().map(Panel::text).collect::<Vec<_>>().join("\n")
    }
}

impl Panel {
    fn text(&self) -> String {
        let values = self.bars.iter().filter_map(Bar::height);
        let (least, most) = values.fold((f64::INFINITY, 0.0f64), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        let mut lines = format!("{}, log scale\n", self.title);
        // From the power of ten below the least, so that every bar has a length.
        let from = (least.log10() - 1e-9).floor();
        let decades = (most.log10() - from).max(1.0);
        let names = self.bars.iter().map(|bar| bar.label.chars().count()).max().unwrap_or(0);
        for bar in &self.bars {
            let length = |value: f64| (value.log10() - from) / decades * WIDTH;
            let length = bar.height().map_or(0, |value| length(value).round().max(1.0) as usize);
            let line = "█".repeat(length);
            lines += &format!("{:>names$} {line} {}\n", bar.label, bar.number());
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(values: &[f64]) -> Vec<usize> {
        let bars = values.iter().map(|value| Bar {
            label: "x".to_owned(),
            value: Some(*value),
            error: None,
            group: 0,
        });
        let text = Panel { title: "t".to_owned(), bars: bars.collect() }.text();
        text.lines().skip(1).map(|line| line.matches('█').count()).collect()
    }

    #[test]
    fn a_decade_has_the_same_length_everywhere() {
        assert_eq!(lengths(&[10.0, 100.0, 1000.0, 10_000.0]), [12, 24, 36, 48]);
        assert_eq!(lengths(&[0.0, 0.5, 1.0]), [0, 34, 48]);
        assert_eq!(lengths(&[0.0]), [0]);
        assert_eq!(lengths(&[]), [0usize; 0]);
    }
}
