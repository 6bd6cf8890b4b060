//! A panel with a frame and round numbers. It draws lines and keeps their points as the panel's data.

use super::scale::{AxisScale, ends, logarithmic_ticks, tick_labels, ticks};
use super::svg::Canvas;
use super::{DrawnSeries, Panel, Point, label, look, spread};
use crate::format::{self, joined};

pub use super::scale::Spacing;

const LABELS_APART: f64 = 14.0;
/// About the width of a letter of a row's label, and the room for labels beside rows.
const LETTER: f64 = 6.2;
const LABELS_LEAST: f64 = 92.0;
const LABELS_MOST: f64 = 200.0;

/// The class of a point, and its radius.
type Dot = (&'static str, f64);
/// The value of a block.
pub const BLOCK: Dot = ("block", 2.5);
/// An estimate, or a chosen value.
pub const POINT: Dot = ("point", 4.0);

/// Half the length of the strokes that end an interval.
const WHISKER: f64 = 4.0;

/// Marked percentiles, spaced by how rare higher values are, and the highest that is drawn.
const MARKED: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
const RAREST: f64 = 0.9995;

/// More values of a line are described by their range.
const MOST_DESCRIBED: usize = 8;

/// The position of the frame.
#[derive(Debug, Clone, Copy)]
pub struct Paper {
    pub width: f64,
    pub height: f64,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    /// True if the unit is below the heading, because both are too long for one line.
    pub two_lines: bool,
}

impl Paper {
    /// About as wide as a phone, with room for names on the right.
    pub const SMALL: Self =
        Self { width: 320.0, height: 190.0, left: 52.0, right: 256.0, top: 26.0, bottom: 154.0, two_lines: false };

    /// For the only panel of a figure, which takes the whole width of a page.
    pub const WIDE: Self = Self { width: 720.0, height: 250.0, left: 58.0, right: 640.0, bottom: 210.0, ..Self::SMALL };

    /// For figures with few panels.
    pub const LARGE: Self =
        Self { width: 400.0, height: 240.0, left: 58.0, right: 330.0, bottom: 200.0, ..Self::SMALL };
}

/// What one side of a frame shows.
#[derive(Debug, Clone, Copy)]
pub struct Axis<'a> {
    /// The unit: "seconds", "NOPM".
    pub unit: &'a str,
    pub range: (f64, f64),
    pub spacing: Spacing,
}

impl<'a> Axis<'a> {
    /// An axis with room for all these values and beyond, from zero if it is linear. `None` without a positive value.
    pub fn of(unit: &'a str, spacing: Spacing, values: impl Iterator<Item = f64>, headroom: f64) -> Option<Self> {
        let (low, high) = ends(values)?;
        let range = match spacing {
            Spacing::Linear => (0.0, high * headroom),
            Spacing::Logarithmic => (low / headroom, high * headroom),
            Spacing::Rarity => (0.0, RAREST),
        };
        (high > 0.0).then_some(Self { unit, range, spacing })
    }

    fn scale(&self, ends: (f64, f64)) -> AxisScale {
        AxisScale::new(self.spacing, self.range, ends)
    }

    /// Round values, about `parts` of them, with their labels.
    fn marks(&self, parts: f64) -> Vec<(f64, String)> {
        let (low, high) = self.range;
        let marks = match self.spacing {
            Spacing::Linear => ticks(low, high, parts),
            Spacing::Logarithmic => logarithmic_ticks(low, high),
            Spacing::Rarity => MARKED.into(),
        };
        let labels: Vec<String> = match self.spacing {
            _ if self.unit == CHANGE => marks.iter().map(|tick| change(*tick)).collect(),
            Spacing::Linear => tick_labels(&marks),
            Spacing::Logarithmic => marks.iter().map(|tick| tick_labels(&[*tick]).concat()).collect(),
            Spacing::Rarity => marks.iter().map(|quantile| format::percentile(*quantile)).collect(),
        };
        marks.into_iter().zip(labels).collect()
    }
}

/// The unit of ratios whose marks are shown as changes.
pub const CHANGE: &str = "change";

/// "−15 %", "2 ×", "1/10", without trailing zeros.
fn change(ratio: f64) -> String {
    let text = format::effect(ratio);
    let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
    format!("{} {unit}", format::short(number)).trim_end().to_owned()
}

pub struct Chart {
    pub canvas: Canvas,
    pub across: AxisScale,
    pub up: AxisScale,
    paper: Paper,
    x_unit: String,
    y_unit: String,
    series: Vec<DrawnSeries>,
    /// The index of a line's look, its name and its last value.
    names: Vec<(usize, String, Option<f64>)>,
}

impl Chart {
    fn on(paper: Paper, across: AxisScale, up: AxisScale, [x_unit, y_unit]: [&str; 2]) -> Self {
        let (x_unit, y_unit) = (x_unit.to_owned(), y_unit.to_owned());
        let canvas = Canvas::new(paper.width, paper.height);
        Self { canvas, across, up, paper, x_unit, y_unit, series: Vec::new(), names: Vec::new() }
    }

    /// A chart of one value, upwards, over another.
    pub fn new(paper: Paper, head: &str, x: &Axis<'_>, y: &Axis<'_>) -> Self {
        let Paper { left, right, top, bottom, two_lines, .. } = paper;
        let mut chart = Self::on(paper, x.scale((left, right)), y.scale((bottom, top)), [x.unit, y.unit]);
        let Self { canvas, across, up, .. } = &mut chart;
        canvas.line("axis", (left, bottom), (right, bottom));
        for (value, text) in y.marks(4.0) {
            let height = up.at(value);
            if height < bottom {
                canvas.line("grid", (left, height), (right, height));
            }
            canvas.text("tick", (left - 6.0, height + 4.0), "end", &text);
        }
        for (value, text) in x.marks(5.0) {
            canvas.line("axis", (across.at(value), bottom), (across.at(value), bottom + 4.0));
            canvas.text("tick", (across.at(value), bottom + 17.0), "middle", &text);
        }
        canvas.text("small", (right, bottom + 31.0), "end", x.unit);
        if !head.is_empty() {
            canvas.text("head", (left, 14.0), "start", head);
        }
        let (place, anchor) = if two_lines { ((left, 28.0), "start") } else { ((right, 14.0), "end") };
        canvas.text("small", place, anchor, y.unit);
        chart
    }

    /// Rows one below another on one axis, `height` high together, with room for labels of so many letters. The caller draws
    /// the rows and keeps their data.
    pub fn rows(head: &str, note: &str, axis: &Axis<'_>, x_unit: &str, height: f64, letters: usize) -> Self {
        let left = (letters as f64 * LETTER).clamp(LABELS_LEAST, LABELS_MOST);
        let mut paper = Paper { left, right: 384.0, ..Paper::LARGE };
        paper.bottom = paper.top + height;
        paper.height = paper.bottom + 34.0;
        let Paper { height, right, top, bottom, .. } = paper;
        let up = AxisScale::new(Spacing::Linear, (0.0, height), (0.0, height));
        let mut chart = Self::on(paper, axis.scale((left, right)), up, [x_unit, axis.unit]);
        let Self { canvas, across, .. } = &mut chart;
        canvas.text("head", (0.0, 14.0), "start", head);
        canvas.text("small", (right, 14.0), "end", note);
        for (value, text) in axis.marks(5.0) {
            let class = if value == 0.0 { "axis" } else { "grid" };
            canvas.line(class, (across.at(value), top), (across.at(value), bottom));
            canvas.text("tick", (across.at(value), bottom + 17.0), "middle", &text);
        }
        chart
    }

    /// Where the first row begins, or where the highest value is.
    pub fn top(&self) -> f64 {
        self.paper.top
    }

    /// A vertical line through all rows, at the value with which all are compared.
    pub fn reference(&mut self, value: f64) {
        let at = self.across.at(value);
        self.canvas.line("reference", (at, self.paper.top), (at, self.paper.bottom + 4.0));
    }

    /// A row's label, on its left.
    pub fn row_label(&mut self, middle: f64, name: &str, detail: &str) {
        let height = if detail.is_empty() { middle + 4.0 } else { middle - 2.0 };
        self.canvas.text("label", (0.0, height), "start", name);
        if !detail.is_empty() {
            self.canvas.text("small", (0.0, middle + 12.0), "start", detail);
        }
    }

    /// Points with their intervals: along a row of this height, or upwards, each at its x.
    pub fn points(
        &mut self,
        (kind, radius): Dot,
        look: &str,
        name: impl Into<String>,
        points: Vec<Point>,
        row: Option<f64>,
    ) {
        let (wide, high) = if row.is_some() { (0.0, WHISKER) } else { (WHISKER, 0.0) };
        for point in &points {
            let at = |value| match row {
                Some(height) => (self.across.at(value), height),
                None => self.place((point.x.unwrap_or_default(), value)),
            };
            let (middle, ends) = (at(point.y), point.low.zip(point.high).map(|(low, high)| [at(low), at(high)]));
            if let Some(ends) = ends {
                let whiskers = ends.map(|(x, y)| [(x - wide, y - high), (x + wide, y + high)]);
                for [from, to] in [ends].into_iter().chain(whiskers) {
                    self.canvas.line(&format!("bar {look}"), from, to);
                }
            }
            self.canvas.circle(&format!("{kind} {look}"), middle, radius);
        }
        self.series.push(DrawnSeries { name: name.into(), points });
    }

    /// A shaded part from one moment to another, below everything else.
    pub fn shade(&mut self, from: f64, to: f64, said: &str) {
        let Paper { top, bottom, .. } = self.paper;
        let (from, to) = (self.across.at(from), self.across.at(to));
        self.canvas.rectangle_below("shade", (from, top), (to - from, bottom - top));
        self.canvas.text("small", (from + 4.0, top + 11.0), "start", said);
    }

    pub fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.across.at(x), self.up.at(y))
    }

    /// Draws points as a line, and keeps them as data.
    pub fn line(&mut self, class: &str, name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) {
        let (name, points): (String, Vec<Point>) =
            (name.into(), points.into_iter().map(|(x, y)| Point::new(x, y)).collect());
        self.path(class, &name, &points);
        self.series.push(DrawnSeries { name, points });
    }

    /// A line through points that are kept elsewhere.
    pub fn path(&mut self, class: &str, name: &str, points: &[Point]) {
        let values: Vec<(f64, f64)> = points.iter().map(|point| (point.x.unwrap_or_default(), point.y)).collect();
        let places: Vec<(f64, f64)> = values.iter().map(|value| self.place(*value)).collect();
        self.canvas.path(class, name, &places, &values);
    }

    /// The name of a line, for its right end.
    pub fn name(&mut self, index: usize, name: &str, last: Option<f64>) {
        self.names.push((index, name.to_owned(), last));
    }

    /// Finishes the panel, with its values for those who cannot see it. Names of lines are moved apart where needed.
    pub fn finish(self, title: &str) -> Panel {
        let Self { mut canvas, paper: Paper { width, height, right, bottom, .. }, x_unit, y_unit, series, .. } = self;
        let at = |last: &Option<f64>| last.map_or(bottom, |last| self.up.at(last)) + 4.0;
        let heights: Vec<f64> = self.names.iter().map(|(_, _, last)| at(last)).collect();
        for ((index, name, _), height) in self.names.iter().zip(spread(&heights, LABELS_APART, bottom)) {
            canvas.text(&format!("name {}", look(*index)), (right + 6.0, height), "start", &label(name));
        }
        let svg = canvas.finish(title, &format!("{}.", joined(series.iter().map(described), "; ")));
        Panel { title: title.to_owned(), x_unit, y_unit, series, svg, size: (width, height) }
    }
}

/// "native: 0.853, 0.861", or the range of many values.
fn described(series: &DrawnSeries) -> String {
    let values = series.points.iter().map(|point| point.y);
    let said = match ends(values.clone()).filter(|_| series.points.len() > MOST_DESCRIBED) {
        Some((least, most)) => format!("{} to {}", format::ratio(least), format::ratio(most)),
        None => joined(values.map(format::ratio), ", "),
    };
    format!("{}: {said}", series.name)
}
