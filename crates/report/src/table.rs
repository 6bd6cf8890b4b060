//! Tables with typed cells. A cell knows what it holds. This is the only place that writes it for people, and programs
//! get the same cells.

use crate::format::{self, Digits, Style, filled, within};
use crate::missing;
use analysis::estimate::{Bounds, Estimate};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// What it shows and, after a slash, for what: `comparison`, `response-times/clients-8`. The same in every report of a run.
    pub id: String,
    pub caption: String,
    pub columns: Vec<TableColumn>,
    pub rows: Vec<Vec<TableCell>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableColumn {
    pub title: String,
    /// Aligned to the right, with digits of equal width.
    #[serde(skip)]
    pub numeric: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableCell {
    #[serde(flatten)]
    pub value: Value,
    /// For the name of a row, the name that programs use: a measure's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Secondary text. For a quantity it replaces the interval.
    #[serde(skip_serializing_if = "is_empty")]
    pub detail: Option<String>,
    #[serde(skip_serializing_if = "Tone::is_plain")]
    pub tone: Tone,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Value {
    Quantity(Quantity),
    Text { text: String },
    Verdict { text: String },
    Missing { why: String },
}

/// A number in its unit, with how far it can be trusted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quantity {
    pub value: f64,
    /// Empty for counts and ratios.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub unit: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Also absent for point values, since they need no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_no_interval: Option<String>,
    /// The number of trials, blocks or other things behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    #[serde(skip)]
    pub digits: Digits,
    /// True if a positive number has a sign.
    #[serde(skip)]
    pub signed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    #[default]
    Plain,
    /// Marks a value that differs from its neighbours.
    Marked,
    Good,
    Bad,
    Muted,
}

impl Tone {
    #[allow(clippy::trivially_copy_pass_by_ref)] // The signature that serde requires.
    fn is_plain(&self) -> bool {
        *self == Self::Plain
    }
}

#[allow(clippy::ref_option)] // The signature that serde requires.
fn is_empty(detail: &Option<String>) -> bool {
    detail.as_ref().is_none_or(String::is_empty)
}

/// A cell as readers see it.
#[derive(Debug, PartialEq)]
pub struct ShownCell {
    pub text: String,
    /// Never empty.
    pub detail: Option<String>,
    pub tone: Tone,
}

/// What a table or figure shows and for what, as words for programs: `response-times/clients-8`.
pub fn id(what: &str, place: &str) -> String {
    let words = filled(place.split(|letter: char| !letter.is_alphanumeric()).map(str::to_lowercase), "-");
    filled([what, &words], "/")
}

/// A table in the making, with a row for each of some things. A column is declared once: its title, and its cell of each thing.
pub struct TableOf<'a, T> {
    things: &'a [T],
    columns: Vec<TableColumn>,
    rows: Vec<Vec<TableCell>>,
}

impl<'a, T> TableOf<'a, T> {
    pub fn new(things: &'a [T]) -> Self {
        Self { things, columns: Vec::new(), rows: things.iter().map(|_| Vec::new()).collect() }
    }

    #[must_use]
    fn column(mut self, title: String, numeric: bool, cell: impl Fn(&'a T) -> TableCell) -> Self {
        self.columns.push(TableColumn { title, numeric });
        for (row, thing) in self.rows.iter_mut().zip(self.things) {
            row.push(cell(thing));
        }
        self
    }

    #[must_use]
    pub fn text(self, title: impl Into<String>, cell: impl Fn(&'a T) -> TableCell) -> Self {
        self.column(title.into(), false, cell)
    }

    #[must_use]
    pub fn number(self, title: impl Into<String>, cell: impl Fn(&'a T) -> TableCell) -> Self {
        self.column(title.into(), true, cell)
    }

    /// A column for each of several things.
    #[must_use]
    pub fn numbers<C>(
        self,
        all: impl IntoIterator<Item = C>,
        title: impl Fn(&C) -> String,
        cell: impl Fn(&C, &'a T) -> TableCell,
    ) -> Self {
        all.into_iter().fold(self, |table, one| table.number(title(&one), |thing| cell(&one, thing)))
    }

    /// A further row, of another kind.
    #[must_use]
    pub fn row(mut self, cells: Vec<TableCell>) -> Self {
        self.rows.push(cells);
        self
    }

    /// `None` for a table without rows.
    pub fn table(self, id: impl Into<String>, caption: impl Into<String>) -> Option<Table> {
        let Self { columns, rows, .. } = self;
        (!rows.is_empty()).then(|| Table { id: id.into(), caption: caption.into(), columns, rows })
    }
}

impl From<Value> for TableCell {
    fn from(value: Value) -> Self {
        Self { value, id: None, detail: None, tone: Tone::Plain }
    }
}

impl TableCell {
    pub fn text(text: impl Into<String>) -> Self {
        Value::Text { text: text.into() }.into()
    }

    /// The result of a check.
    pub fn verdict(text: impl Into<String>, tone: Tone) -> Self {
        Self { tone, ..Value::Verdict { text: text.into() }.into() }
    }

    pub fn missing(why: impl Into<String>) -> Self {
        Value::Missing { why: why.into() }.into()
    }

    /// A point value.
    pub fn number(value: f64, style: Style<'_>) -> Self {
        Self::bounded(value, None, style)
    }

    pub fn number_or(value: Option<f64>, style: Style<'_>, why: &str) -> Self {
        value.map_or_else(|| Self::missing(why), |value| Self::number(value, style))
    }

    pub fn count(value: impl TryInto<u64>) -> Self {
        Self::number(value.try_into().map_or(f64::NAN, |value| value as f64), Style::COUNT)
    }

    /// A number that is a name: of a trial, a block, a machine.
    pub fn name(number: u32) -> Self {
        Self::number(number.into(), Style::new("", Digits::Plain))
    }

    /// "3 of 4".
    pub fn part(value: usize, of: usize, unit: &str) -> Self {
        Self::number(value as f64, Style::new(unit, Digits::Of)).of(of)
    }

    /// A number with its interval below, or the reason why it has none.
    pub fn estimate(found: Option<&Estimate>, style: Style<'_>, why_missing: &str) -> Self {
        found.map_or_else(|| Self::missing(why_missing), |found| Self::bounded(found.point, Some(&found.bounds), style))
    }

    pub fn bounded(value: f64, bounds: Option<&Bounds>, style: Style<'_>) -> Self {
        let value = (style.scale)(value);
        if !value.is_finite() {
            return Self::missing("not a number");
        }
        let (low, high) =
            bounds.and_then(Bounds::known).map(|(low, high)| ((style.scale)(low), (style.scale)(high))).unzip();
        let (unit, digits, signed) = (style.unit.to_owned(), style.digits, style.signed);
        let why_no_interval = bounds.and_then(missing::of_interval);
        Value::Quantity(Quantity { value, unit, low, high, why_no_interval, n: None, digits, signed }).into()
    }

    pub fn quantity(&self) -> Option<&Quantity> {
        if let Value::Quantity(quantity) = &self.value { Some(quantity) } else { None }
    }

    /// Sets the number of things behind a quantity.
    #[must_use]
    pub fn of(mut self, count: usize) -> Self {
        if let Value::Quantity(quantity) = &mut self.value {
            quantity.n = Some(count as u64);
        }
        self
    }

    #[must_use]
    pub fn known_as(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    #[must_use]
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    pub fn shown(&self) -> ShownCell {
        let (text, interval) = match &self.value {
            Value::Quantity(quantity) => (quantity.text(), quantity.interval()),
            Value::Text { text } | Value::Verdict { text } => (text.clone(), None),
            Value::Missing { .. } => ("–".to_owned(), None),
        };
        let tone = if matches!(self.value, Value::Missing { .. }) { Tone::Muted } else { self.tone };
        ShownCell { text, detail: self.detail.clone().or(interval).filter(|detail| !detail.is_empty()), tone }
    }
}

/// An estimate within a sentence: `2.10 ms (1.90 to 2.30)`, `−47.0 % (−50.0 to −44.0 %)`.
pub fn said(estimate: &Estimate, style: Style<'_>) -> String {
    let cell = TableCell::estimate(Some(estimate), style, "");
    let ShownCell { text, detail, .. } = cell.shown();
    filled([text.as_str(), style.unit, &within("(", &detail.unwrap_or_default(), ")")], " ")
}

impl Quantity {
    fn text(&self) -> String {
        let text = self.written(self.value);
        match (self.digits, self.n) {
            (Digits::Of, Some(n)) => format!("{text} of {n} {}", self.unit).trim_end().to_owned(),
            _ => text,
        }
    }

    fn written(&self, value: f64) -> String {
        Style { signed: self.signed, ..Style::new("", self.digits) }.text(value)
    }

    fn interval(&self) -> Option<String> {
        match (self.low, self.high, &self.why_no_interval) {
            (Some(low), Some(high), _) if self.digits == Digits::Effect => {
                Some(format::effect_bounds(self.value, low, high))
            }
            (Some(low), Some(high), _) => Some(format!("{} to {}", self.written(low), self.written(high))),
            // With too few trials, the whole table lacks intervals; other reasons concern only this number.
            (_, _, Some(why)) if why.starts_with("too few trials") => Some("no interval".to_owned()),
            (_, _, Some(why)) => Some(format!("no interval: {why}")),
            (_, _, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::missing::Missing;

    fn estimate(bounds: Bounds) -> Estimate {
        Estimate { point: 0.123_456, bounds, method: analysis::estimate::EstimateMethod::GeometricMeanOverBlocks }
    }

    fn shown(cell: &TableCell) -> (String, Option<String>) {
        let ShownCell { text, detail, .. } = cell.shown();
        (text, detail)
    }

    #[test]
    fn a_quantity_keeps_its_digits_for_programs_and_rounds_for_people() {
        let cell =
            TableCell::estimate(Some(&estimate(Bounds::Known { low: 0.1, high: 0.2 })), Style::PERCENT, "").of(5);
        assert_eq!(shown(&cell), ("12.3".to_owned(), Some("10.0 to 20.0".to_owned())));
        let json = serde_json::json!({ "kind": "quantity", "value": 12.345_6, "unit": "%", "low": 10.0, "high": 20.0, "n": 5 });
        assert_eq!(serde_json::to_value(&cell).unwrap(), json);
    }

    #[test]
    fn in_a_sentence_an_interval_follows_its_point_or_says_why_it_is_missing() {
        let known = estimate(Bounds::Known { low: 0.1, high: 0.2 });
        assert_eq!(said(&known, Style::PERCENT), "12.3 % (10.0 to 20.0)");
        assert_eq!(said(&known, Style::EFFECT), "1/8.10 (1/10.0 to 1/5.00)");
        let unknown = estimate(Bounds::Unknown { why: Missing::NeverSeen });
        assert_eq!(said(&unknown, Style::new("ms", Digits::Ratio)), "0.123 ms (no interval: seen in no block)");
    }

    #[test]
    fn what_is_not_known_says_why_to_programs() {
        let unknown = |why| TableCell::estimate(Some(&estimate(Bounds::Unknown { why })), Style::RATIO, "");
        assert_eq!(shown(&unknown(Missing::TooFewBlocks { blocks: 2, needed: 3 })).1.as_deref(), Some("no interval"));
        assert_eq!(shown(&unknown(Missing::NeverSeen)).1.as_deref(), Some("no interval: seen in no block"));
        let missing = TableCell::number_or(None, Style::RATIO, "not recorded");
        assert_eq!((shown(&missing), missing.shown().tone), (("–".to_owned(), None), Tone::Muted));
        assert_eq!(
            serde_json::to_value(&missing).unwrap(),
            serde_json::json!({ "kind": "missing", "why": "not recorded" })
        );
        assert_eq!(TableCell::number(f64::INFINITY, Style::RATIO), TableCell::missing("not a number"));
    }

    #[test]
    fn parts_name_the_whole_and_signs_are_of_differences() {
        assert_eq!(shown(&TableCell::part(3, 4, "trials")).0, "3 of 4 trials");
        assert_eq!(shown(&TableCell::part(0, 4, "")).0, "0 of 4");
        let differs = Style { signed: true, ..Style::RATIO };
        assert_eq!([0.5, -0.5].map(|value| shown(&TableCell::number(value, differs)).0), ["+0.500", "−0.500"]);
    }

    #[test]
    fn ids_are_words_that_need_no_quotes() {
        assert_eq!(id("growth", ""), "growth");
        assert_eq!(id("growth", "vCPUs = 2, \"it's\"/x"), "growth/vcpus-2-it-s-x");
    }
}
