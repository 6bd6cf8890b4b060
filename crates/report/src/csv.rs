//! Tables for spreadsheets: `observations.csv`, every value of every measure of a run, and single tables and figures of a report.

use crate::figures::{Figure, Point};
use crate::measures::of_cell;
use crate::missing;
use crate::table::{Table, TableCell, Value};
use analysis::measures::Measure;
use analysis::summary::Analysis;
use record::run::Run;
use std::borrow::Cow;

const HEADINGS: [&str; 11] =
    ["run", "trial", "block", "contender", "coordinates", "machine", "measure", "value", "unit", "n", "why_none"];

/// A line for each value; an empty machine means all machines together.
pub fn write(run: &Run, analysis: &Analysis) -> csv::Result<Vec<u8>> {
    let mut out = CsvLines::default();
    out.add(HEADINGS)?;
    let name = run.dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    for measured in analysis.observations.measures() {
        let unit = unit(&measured.measure);
        for one in &measured.observations {
            let cell = of_cell(analysis, one.cell);
            let [contender, coordinates] =
                [cell.map(|cell| &cell.contender), cell.map(|cell| &cell.coordinates)].map(text);
            out.add([
                name.as_str(),
                &one.trial.to_string(),
                &one.block.to_string(),
                &contender,
                &coordinates,
                &text(one.machine),
                &measured.measure.id,
                &text(one.value),
                &unit,
                &text(one.n),
                &one.why_none.as_ref().map(missing::why).unwrap_or_default(),
            ])?;
        }
    }
    out.finish()
}

/// The unit of a measure as `report.json` has it.
pub(crate) fn unit(measure: &Measure) -> String {
    text(serde_json::to_value(&measure.unit).unwrap_or_default().as_str())
}

/// What a cell may have beside its value. Each part gets a column of its own if some cell of the column has it.
type CsvPart = (&'static str, fn(&TableCell) -> String);

const PARTS: [CsvPart; 7] = [
    ("", value),
    ("id", |cell| text(cell.id.as_ref())),
    ("low", |cell| text(cell.quantity().and_then(|quantity| quantity.low))),
    ("high", |cell| text(cell.quantity().and_then(|quantity| quantity.high))),
    ("unit", |cell| text(cell.quantity().map(|quantity| &quantity.unit))),
    ("n", |cell| text(cell.quantity().and_then(|quantity| quantity.n))),
    ("note", note),
];

/// All digits, with a column for each part of a cell: `native`, `native low`, `native high`.
pub fn of_table(table: &Table) -> csv::Result<Vec<u8>> {
    let mut out = CsvLines::default();
    let is_used = |index: usize, (name, of): &CsvPart| {
        name.is_empty() || table.rows.iter().filter_map(|row| row.get(index)).any(|cell| !of(cell).is_empty())
    };
    let columns = table.columns.iter().enumerate();
    let used: Vec<(usize, String, CsvPart)> = columns
        .flat_map(|(index, column)| {
            let parts = PARTS.into_iter().filter(move |part| is_used(index, part));
            let title = if column.title.is_empty() { "name" } else { &column.title };
            parts.map(move |part| (index, format!("{title} {}", part.0).trim().to_owned(), part))
        })
        .collect();
    out.add(used.iter().map(|(_, heading, _)| heading))?;
    for row in &table.rows {
        out.add(used.iter().map(|(index, _, (_, of))| row.get(*index).map(of).unwrap_or_default()))?;
    }
    out.finish()
}

fn value(cell: &TableCell) -> String {
    match &cell.value {
        Value::Quantity(quantity) => quantity.value.to_string(),
        Value::Text { text } | Value::Verdict { text } => text.clone(),
        Value::Missing { .. } => String::new(),
    }
}

/// The cell's detail, or why something is missing.
fn note(cell: &TableCell) -> String {
    let why = match &cell.value {
        Value::Missing { why } => Some(why),
        _ => cell.quantity().and_then(|quantity| quantity.why_no_interval.as_ref()),
    };
    text(cell.detail.as_ref().filter(|detail| !detail.is_empty()).or(why))
}

/// A line for each point in the drawing.
pub fn of_figure(figure: &Figure) -> csv::Result<Vec<u8>> {
    let mut out = CsvLines::default();
    out.add(["panel", "series", "x", "x_unit", "y", "y_unit", "low", "high"])?;
    for panel in &figure.panels {
        for series in &panel.series {
            for Point { x, y, low, high } in &series.points {
                let [x, low, high] = [x, low, high].map(|number| text(*number));
                let (x_unit, y_unit) = (&panel.x_unit, &panel.y_unit);
                out.add([&panel.title, &series.name, &x, x_unit, &y.to_string(), y_unit, &low, &high])?;
            }
        }
    }
    out.finish()
}

pub(crate) fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A spreadsheet takes a cell that begins with one of these characters for a formula.
const OF_A_FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// The text of a cell that no spreadsheet executes. Names come from studies and records, which anybody may have written.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let executed = text.starts_with(OF_A_FORMULA) && text.parse::<f64>().is_err();
    if executed { format!("'{text}").into() } else { text.into() }
}

/// The lines of a table, none of whose cells is executed.
pub(crate) struct CsvLines(csv::Writer<Vec<u8>>);

impl Default for CsvLines {
    fn default() -> Self {
        Self(csv::Writer::from_writer(Vec::new()))
    }
}

impl CsvLines {
    pub fn add(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) -> csv::Result<()> {
        for cell in cells {
            self.0.write_field(harmless(cell.as_ref()).as_bytes())?;
        }
        self.0.write_record(None::<&[u8]>)
    }

    pub fn finish(self) -> csv::Result<Vec<u8>> {
        self.0.into_inner().map_err(|error| error.into_error().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_executed_and_numbers_stay_numbers() {
        let mut lines = CsvLines::default();
        lines.add(["=cmd|' /C calc'!A0", "-native", "@x", "-12.5", "1e-9", "a, b", ""]).unwrap();
        let text = String::from_utf8(lines.finish().unwrap()).unwrap();
        assert_eq!(text, "'=cmd|' /C calc'!A0,'-native,'@x,-12.5,1e-9,\"a, b\",\n");
    }
}
