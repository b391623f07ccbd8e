//! Bars on a logarithmic scale with error bars, several panels side by side: who is how good.

use super::frame::{Division, Frame};
use super::style::{self, FAINT, TEXT, text};
use super::svg::Svg;
use crate::number::short;

/// A picture of panels that share their bars' names.
pub struct BarPlot {
    /// What is shown.
    pub title: String,
    /// Further lines, smaller.
    pub subtitles: Vec<String>,
    /// From left to right.
    pub panels: Vec<Panel>,
    /// What the colours mean, by [`Bar::group`].
    pub groups: Vec<&'static str>,
}

/// One measure of all bars.
pub struct Panel {
    /// What is measured.
    pub title: String,
    /// From left to right.
    pub bars: Vec<Bar>,
}

/// A value with its error.
pub struct Bar {
    /// Name below it, on several lines if it has colons.
    pub label: String,
    /// Its height; nothing is drawn at 0. None where the chains do not agree, so that no number means anything.
    pub value: Option<f64>,
    /// Half the length of its error bar.
    pub error: Option<f64>,
    /// Which colour of [`BarPlot::groups`].
    pub group: usize,
}

impl Bar {
    /// How high it is, if it can be drawn.
    pub fn height(&self) -> Option<f64> {
        self.value.filter(|value| *value > 0.0 && value.is_finite())
    }

    /// What stands at its end.
    pub fn number(&self) -> String {
        self.value.map_or("no agreement".to_owned(), short)
    }
}

/// Colours that stay apart for the colour-blind and in grey (Okabe and Ito 2008).
const COLOURS: [&str; 4] = ["#999999", "#56B4E9", "#0072B2", "#D55E00"];

const TOP: f64 = 116.0;
const PANEL_HEIGHT: f64 = 270.0;
const BOTTOM: f64 = 72.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 20.0;
/// Width that a bar and the gap beside it take, and more if its name does.
const PER_BAR: f64 = 56.0;
const PER_LETTER: f64 = 7.4;

impl BarPlot {
    /// The whole picture.
    pub fn svg(&self) -> String {
        let most = self.panels.iter().map(|panel| panel.bars.len()).max().unwrap_or(0);
        // Wide enough for the titles even with a single bar.
        let inner = (most as f64 * self.per_bar()).max(280.0);
        let panel_width = LEFT + inner + RIGHT;
        let width = panel_width * self.panels.len().max(1) as f64;
        let height = TOP + PANEL_HEIGHT + BOTTOM;
        let mut svg = Svg::new(width, height);
        svg.rectangle(0.0, 0.0, width, height, r##"fill="#ffffff""##);
        svg.text(24.0, 34.0, &self.title, &format!(r#"font-size="18" fill="{TEXT}""#));
        for (number, line) in self.subtitles.iter().enumerate() {
            let y = 54.0 + 17.0 * number as f64;
            svg.text(24.0, y, line, &format!(r#"font-size="12" fill="{FAINT}""#));
        }
        for (number, panel) in self.panels.iter().enumerate() {
            panel.draw(&mut svg, panel_width * number as f64 + LEFT, inner);
        }
        self.legend(&mut svg, 24.0, height - 18.0);
        // Also in front of a dark page the picture keeps its own colours.
        svg.finish(&style::whole(width, height), &self.description())
    }

    fn per_bar(&self) -> f64 {
        let bars = self.panels.iter().flat_map(|panel| &panel.bars);
        let letters = bars.flat_map(|bar| bar.label.split(':')).map(|line| line.chars().count());
        PER_BAR.max(PER_LETTER * letters.max().unwrap_or(0) as f64)
    }

    fn legend(&self, svg: &mut Svg, x: f64, y: f64) {
        let used = |group: &usize| {
            self.panels.iter().any(|panel| panel.bars.iter().any(|bar| bar.group == *group))
        };
        let mut x = x;
        for group in (0..self.groups.len()).filter(used) {
            let colour = COLOURS[group % COLOURS.len()];
            svg.rectangle(x, y - 10.0, 12.0, 12.0, &format!(r#"fill="{colour}" rx="2""#));
            let name = self.groups[group];
            svg.text(x + 18.0, y, name, &format!(r#"font-size="12" fill="{FAINT}""#));
            x += 18.0 + 6.6 * name.chars().count() as f64 + 22.0;
        }
    }

    /// The values in words, for those who cannot see the picture.
    fn description(&self) -> String {
        let panels = self.panels.iter().map(|panel| {
            let bars = panel.bars.iter().map(|bar| format!("{} {}", bar.label, bar.number()));
            format!("{}: {}", panel.title, bars.collect::<Vec<_>>().join(", "))
        });
        format!("{}. {}.", self.title, panels.collect::<Vec<_>>().join(". "))
    }
}

impl Panel {
    fn draw(&self, svg: &mut Svg, left: f64, width: f64) {
        let (top, bottom) = (TOP, TOP + PANEL_HEIGHT);
        let frame = Frame { left, right: left + width, top, ground: bottom, look: &style::LOOK };
        svg.text(left, top - 14.0, &self.title, &text(13, "start", TEXT));
        let Some((low, high)) = self.range() else {
            let height = (top + bottom) / 2.0;
            svg.text(frame.middle(), height, "nothing moved", &text(13, "middle", FAINT));
            return;
        };
        let axis = frame.y_axis(low, high, Division::Logarithmic);
        frame.y_ticks(svg, &axis, 6);
        let slot = width / self.bars.len().max(1) as f64;
        for (number, bar) in self.bars.iter().enumerate() {
            let middle = left + slot * (number as f64 + 0.5);
            for (line, part) in bar.label.split(':').enumerate() {
                let y = bottom + 18.0 + 14.0 * line as f64;
                svg.text(middle, y, part, &text(12, "middle", TEXT));
            }
            let mut above = bottom;
            if let Some(value) = bar.height() {
                above = axis.at(value);
                let half = (slot * 0.32).min(24.0);
                let fill = format!(r#"fill="{}""#, COLOURS[bar.group % COLOURS.len()]);
                svg.rectangle(middle - half, above, 2.0 * half, bottom - above, &fill);
                if let Some(error) = bar.error.filter(|error| *error > 0.0) {
                    let ends = (axis.at(value - error), axis.at(value + error));
                    error_bar(svg, middle, ends);
                    above = ends.1;
                }
            }
            svg.text(middle, above - 6.0, &bar.number(), &text(11, "middle", TEXT));
        }
        frame.across(svg, bottom, frame.look.axis);
    }

    /// The smallest and the largest number that must be seen. The smallest value stays a bar, and
    /// an error bar may run out of the picture below, but not above.
    fn range(&self) -> Option<(f64, f64)> {
        let low = self.bars.iter().filter_map(Bar::height).reduce(f64::min)?;
        let error = |bar: &Bar| bar.error.filter(|error| error.is_finite()).unwrap_or(0.0);
        let reach = |bar: &Bar| Some(bar.height()? + error(bar));
        let high = self.bars.iter().filter_map(reach).reduce(f64::max)?;
        // Room for the number above the highest bar.
        Some((0.7 * low, 1.6 * high))
    }
}

fn error_bar(svg: &mut Svg, x: f64, (low, high): (f64, f64)) {
    let stroke = format!(r#"stroke="{TEXT}" stroke-width="1.2""#);
    svg.line((x, low), (x, high), &stroke);
    for y in [low, high] {
        svg.line((x - 5.0, y), (x + 5.0, y), &stroke);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(values: &[f64]) -> Panel {
        let bars = values.iter().map(|value| Bar {
            label: "name".to_owned(),
            value: Some(*value),
            error: Some(2.0 * value),
            group: 1,
        });
        Panel { title: "measure".to_owned(), bars: bars.collect() }
    }

    #[test]
    fn every_positive_value_has_a_bar() {
        let plot = BarPlot {
            title: "a".to_owned(),
            subtitles: Vec::new(),
            panels: vec![panel(&[1e-5, 0.0, 30.0]), panel(&[0.0, 0.0])],
            groups: vec!["one", "two"],
        };
        let svg = plot.svg();
        // The ground, two bars, and one group that is used.
        assert_eq!(svg.matches("<rect").count(), 4, "{svg}");
        assert!(svg.contains("nothing moved") && svg.contains(">two<") && !svg.contains(">one<"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
