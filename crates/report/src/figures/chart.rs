//! A panel with a frame and round numbers. It draws lines and keeps their points as the panel's data.

use super::scale::{Scale, logarithmic_ticks, tick_labels, ticks};
use super::svg::{Anchor, Canvas};
use super::{Panel, Point, Series, label, look, spread};
use crate::format;

pub use super::scale::Spacing;

const LABELS_APART: f64 = 14.0;
/// About the width of a letter of a row's label, and the room for labels beside rows.
const LETTER: f64 = 6.2;
const LABELS_LEAST: f64 = 92.0;
const LABELS_MOST: f64 = 200.0;

/// Half the length of the strokes that end an interval.
const WHISKER: f64 = 4.0;

/// Marked percentiles, spaced by how rare higher values are.
const MARKED: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

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
    pub fn from_zero(unit: &'a str, highest: f64) -> Self {
        Self { unit, range: (0.0, highest), spacing: Spacing::Linear }
    }

    fn scale(&self, ends: (f64, f64)) -> Scale {
        Scale::new(self.spacing, self.range, ends)
    }

    /// Round values, about `parts` of them, with their labels.
    fn marks(&self, parts: f64) -> Vec<(f64, String)> {
        if self.unit == CHANGE {
            return self.places(parts).into_iter().map(|tick| (tick, change(tick))).collect();
        }
        let (low, high) = self.range;
        let alone = |tick: f64| (tick, tick_labels(&[tick]).concat());
        match self.spacing {
            Spacing::Linear => {
                let marks = ticks(low, high, parts);
                let labels = tick_labels(&marks);
                marks.into_iter().zip(labels).collect()
            }
            Spacing::Logarithmic => logarithmic_ticks(low, high).into_iter().map(alone).collect(),
            Spacing::Rarity => MARKED.map(|quantile| (quantile, format::percentile(quantile))).into(),
        }
    }

    fn places(&self, parts: f64) -> Vec<f64> {
        let (low, high) = self.range;
        if self.spacing == Spacing::Logarithmic { logarithmic_ticks(low, high) } else { ticks(low, high, parts) }
    }
}

/// The unit of ratios whose marks are shown as changes.
pub const CHANGE: &str = "change";

/// "−15 %", "2 ×", "1/10", without trailing zeros.
fn change(ratio: f64) -> String {
    let text = format::effect(ratio);
    let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number} {unit}").trim_end().to_owned()
}

pub struct Chart {
    pub canvas: Canvas,
    pub across: Scale,
    pub up: Scale,
    paper: Paper,
    x_unit: String,
    y_unit: String,
    series: Vec<Series>,
}

impl Chart {
    /// A chart of one value, upwards, over another.
    pub fn new(paper: Paper, head: &str, x: &Axis<'_>, y: &Axis<'_>) -> Self {
        let Paper { width, height, left, right, top, bottom, two_lines } = paper;
        let (across, up) = (x.scale((left, right)), y.scale((bottom, top)));
        let mut canvas = Canvas::new(width, height);
        canvas.line("axis", (left, bottom), (right, bottom));
        for (value, text) in y.marks(4.0) {
            let height = up.at(value);
            if height < bottom {
                canvas.line("grid", (left, height), (right, height));
            }
            canvas.text("tick", (left - 6.0, height + 4.0), Anchor::End, &text);
        }
        for (value, text) in x.marks(5.0) {
            canvas.line("axis", (across.at(value), bottom), (across.at(value), bottom + 4.0));
            canvas.text("tick", (across.at(value), bottom + 17.0), Anchor::Middle, &text);
        }
        canvas.text("small", (right, bottom + 31.0), Anchor::End, x.unit);
        if !head.is_empty() {
            canvas.text("head", (left, 14.0), Anchor::Start, head);
        }
        let (place, anchor) = if two_lines { ((left, 28.0), Anchor::Start) } else { ((right, 14.0), Anchor::End) };
        canvas.text("small", place, anchor, y.unit);
        let (x_unit, y_unit) = (x.unit.to_owned(), y.unit.to_owned());
        Self { canvas, across, up, paper, x_unit, y_unit, series: Vec::new() }
    }

    /// Rows one below another on one axis, `height` high together, with room for labels of so many letters. The caller draws
    /// the rows and keeps their data.
    pub fn rows(head: &str, note: &str, axis: &Axis<'_>, x_unit: &str, height: f64, letters: usize) -> Self {
        let left = (letters as f64 * LETTER).clamp(LABELS_LEAST, LABELS_MOST);
        let mut paper = Paper { left, right: 384.0, ..Paper::LARGE };
        paper.bottom = paper.top + height;
        paper.height = paper.bottom + 34.0;
        let Paper { width, height, left, right, top, bottom, .. } = paper;
        let mut canvas = Canvas::new(width, height);
        let across = axis.scale((left, right));
        canvas.text("head", (0.0, 14.0), Anchor::Start, head);
        canvas.text("small", (right, 14.0), Anchor::End, note);
        for (value, text) in axis.marks(5.0) {
            let class = if value == 0.0 { "axis" } else { "grid" };
            canvas.line(class, (across.at(value), top), (across.at(value), bottom));
            canvas.text("tick", (across.at(value), bottom + 17.0), Anchor::Middle, &text);
        }
        let up = Scale::new(Spacing::Linear, (0.0, height), (0.0, height));
        let (x_unit, y_unit) = (x_unit.to_owned(), axis.unit.to_owned());
        Self { canvas, across, up, paper, x_unit, y_unit, series: Vec::new() }
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
        self.canvas.text("label", (0.0, height), Anchor::Start, name);
        if !detail.is_empty() {
            self.canvas.text("small", (0.0, middle + 12.0), Anchor::Start, detail);
        }
    }

    /// An interval along a row.
    pub fn level_bar(&mut self, look: &str, (low, high): (f64, f64), height: f64) {
        let ends = [self.across.at(low), self.across.at(high)];
        self.bar(look, ends.map(|end| (end, height)), (0.0, WHISKER));
    }

    /// A vertical interval.
    pub fn upright_bar(&mut self, look: &str, x: f64, (low, high): (f64, f64)) {
        self.bar(look, [self.place((x, low)), self.place((x, high))], (WHISKER, 0.0));
    }

    fn bar(&mut self, look: &str, [from, to]: [(f64, f64); 2], (wide, high): (f64, f64)) {
        let class = format!("bar {look}");
        self.canvas.line(&class, from, to);
        for (x, y) in [from, to] {
            self.canvas.line(&class, (x - wide, y - high), (x + wide, y + high));
        }
    }

    /// A shaded part from one moment to another, below everything else.
    pub fn shade(&mut self, from: f64, to: f64, said: &str) {
        let Paper { top, bottom, .. } = self.paper;
        let (from, to) = (self.across.at(from), self.across.at(to));
        self.canvas.rectangle_below("shade", (from, top), (to - from, bottom - top));
        self.canvas.text("small", (from + 4.0, top + 11.0), Anchor::Start, said);
    }

    pub fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.across.at(x), self.up.at(y))
    }

    /// Draws points as a line, and keeps them as data.
    pub fn line(&mut self, class: &str, name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) {
        let points: Vec<(f64, f64)> = points.into_iter().collect();
        let places: Vec<(f64, f64)> = points.iter().map(|point| self.place(*point)).collect();
        let name = name.into();
        self.canvas.path(class, &name, &places, &points);
        self.keep(name, points.into_iter().map(|(x, y)| Point::new(x, y)));
    }

    pub fn dot(&mut self, look: &str, name: impl Into<String>, point: (f64, f64), radius: f64) {
        self.canvas.circle(&format!("point {look}"), self.place(point), radius);
        self.keep(name, [Point::new(point.0, point.1)]);
    }

    /// Keeps the data of what the caller draws.
    pub fn keep(&mut self, name: impl Into<String>, points: impl IntoIterator<Item = Point>) {
        self.series.push(Series { name: name.into(), points: points.into_iter().collect() });
    }

    /// The names of lines at their right ends, moved apart where needed: each with the index of its look and its last value.
    pub fn names(&mut self, names: &[(usize, &str, Option<f64>)]) {
        let Paper { right, bottom, .. } = self.paper;
        let height = |last: Option<f64>| last.map_or(bottom, |last| self.up.at(last)) + 4.0;
        let heights: Vec<f64> = names.iter().map(|(_, _, last)| height(*last)).collect();
        for ((index, name, _), height) in names.iter().zip(spread(&heights, LABELS_APART, bottom)) {
            let class = format!("name {}", look(*index));
            self.canvas.text(&class, (right + 6.0, height), Anchor::Start, &label(name));
        }
    }

    /// Finishes the panel, with a description for those who cannot see it.
    pub fn finish(self, title: &str, description: &str) -> Panel {
        let Self { canvas, paper: Paper { width, height, .. }, x_unit, y_unit, series, .. } = self;
        let svg = canvas.finish(title, description);
        Panel { title: title.to_owned(), x_unit, y_unit, series, svg, size: (width, height) }
    }
}
