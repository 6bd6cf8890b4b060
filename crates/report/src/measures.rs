//! Measures in words, and as rows of tables: one function for all of them.

use crate::document::{Cell, Column, Table, Tone};
use crate::format;
use analysis::cells::CellResult;
use analysis::compare::Comparison;
use analysis::contrast::Contrast;
use analysis::estimate::{Bounds, Estimate};
use analysis::measures::variability::{CV, CYCLE, LONGEST_LOW, SLOW, SLOW_SHARE, ZERO_SECONDS};
use analysis::measures::{Measure, Scale, Unit};
use analysis::summary::Analysis;

const MEGABYTE: f64 = 1e6;
const KILOBYTE: f64 = 1e3;

/// A measure as tables name it.
pub struct Named {
    pub label: String,
    pub detail: &'static str,
}

/// With the unit in which it is shown.
pub fn named(measure: &Measure) -> Named {
    let (label, detail) = words(&measure.id);
    Named { label: format!("{label}{}", unit(&measure.unit)), detail }
}

/// Those that no rule names are shown by their id, as a measure of somebody's own is.
pub fn words(id: &str) -> (String, &'static str) {
    let (family, own) = id.split_once('/').unwrap_or((id, ""));
    match family {
        "throughput" => ("throughput".to_owned(), ""),
        "work.statements" => ("statements".to_owned(), "for each transaction"),
        "work.rows_returned" => ("rows returned".to_owned(), "for each transaction"),
        "work.rows_changed" => ("rows changed".to_owned(), "for each transaction"),
        "storage.reads" => ("reads of the device".to_owned(), "for each transaction"),
        "storage.read_bytes" => ("read from the device".to_owned(), "for each transaction"),
        "storage.writes" => ("writes to the device".to_owned(), "for each transaction"),
        "storage.written_bytes" => ("written to the device".to_owned(), "for each transaction"),
        "storage.redo_bytes" => ("redo".to_owned(), "for each transaction"),
        "database.reads" => ("database: reads past the cache".to_owned(), ""),
        "database.hits" => ("database: share of reads in the cache".to_owned(), ""),
        "database.writes" => ("database: writes".to_owned(), ""),
        "database.redo" => ("database: redo".to_owned(), ""),
        "device.reads" => ("device: reads".to_owned(), ""),
        "device.read" => ("device: read".to_owned(), ""),
        "device.read_time" => ("device: mean time of a read".to_owned(), ""),
        "device.writes" => ("device: writes".to_owned(), ""),
        "device.written" => ("device: written".to_owned(), ""),
        "device.write_time" => ("device: mean time of a write".to_owned(), ""),
        "device.flushes" => ("device: flushes".to_owned(), ""),
        "device.busy" => ("device: busy".to_owned(), ""),
        "workload" => (format!("workload: {}", own.replace('_', " ")), ""),
        CV => ("variation".to_owned(), "standard deviation of seconds over their mean"),
        LONGEST_LOW => ("longest below half the median".to_owned(), "of each trial"),
        ZERO_SECONDS => ("seconds in which nothing was done".to_owned(), "of each trial"),
        SLOW => ("transactions over 1 s".to_owned(), "of each trial, of all kinds"),
        SLOW_SHARE => ("share of them".to_owned(), "of all transactions"),
        CYCLE => ("cycle".to_owned(), "period of what comes and goes"),
        other => match other.split_once('.') {
            Some(("response", figure)) => (format!("{own} {figure}"), "response time"),
            Some(("service", figure)) => (format!("{own} {figure}"), "service time"),
            Some(("variability", band)) => (format!("{band} of seconds"), "of the median second"),
            _ => (id.to_owned(), ""),
        },
    }
}

fn unit(unit: &Unit) -> &'static str {
    match unit {
        Unit::Count | Unit::PerTransaction | Unit::Own(_) => "",
        Unit::Share => ", %",
        Unit::Seconds => ", s",
        Unit::Milliseconds | Unit::Microseconds => ", ms",
        Unit::PerSecond => "/s",
        Unit::BytesPerSecond => ", MB/s",
        Unit::BytesPerTransaction => ", kB",
    }
}

/// A value in the unit of its label.
pub fn number(unit: &Unit, value: f64) -> String {
    match unit {
        Unit::Share => format::decimal(value * 100.0, 2),
        Unit::Seconds | Unit::Count => format::ratio(value),
        Unit::Milliseconds => format::decimal(value, 3),
        Unit::Microseconds => format::milliseconds(value),
        Unit::PerSecond | Unit::Own(_) => format::quantity(value),
        Unit::BytesPerSecond => format::quantity(value / MEGABYTE),
        Unit::PerTransaction => format::decimal(value, 2),
        Unit::BytesPerTransaction => format::decimal(value / KILOBYTE, 2),
    }
}

/// A number with its interval below, or with why it has none.
pub fn estimate(estimate: Option<&Estimate>, number: impl Fn(f64) -> String) -> Cell {
    let Some(estimate) = estimate else { return Cell::none() };
    let detail = match &estimate.bounds {
        Bounds::Known { .. } => format::bounds(&estimate.bounds, &number),
        // Of too few trials the whole table is; other reasons are of this number alone.
        Bounds::Unknown { why } if why.starts_with("too few trials") => "no interval".to_owned(),
        Bounds::Unknown { why } => format!("no interval: {why}"),
    };
    Cell::new(number(estimate.point)).detail(detail)
}

/// A ratio as "× 1.2", a difference with its sign.
pub fn contrast(measure: &Measure, found: Option<&Contrast>) -> Cell {
    let Some(found) = found else { return Cell::none() };
    let text = |value: f64| match found.scale {
        Scale::Ratio => format!("× {}", format::ratio(value)),
        Scale::Difference | Scale::Proportion if value > 0.0 => format!("+{}", number(&measure.unit, value)),
        Scale::Difference | Scale::Proportion => number(&measure.unit, value),
    };
    estimate(Some(&found.estimate), text)
}

/// One row for each measure that some cell has, a column for each contender, then one for each against the baseline.
pub fn table(analysis: &Analysis, cells: &[&CellResult], wanted: impl Fn(&Measure) -> bool) -> Option<Table> {
    let comparisons: Vec<&Comparison> = cells.iter().filter_map(|cell| compared(analysis, cell)).collect();
    let mut columns = vec![Column::text("")];
    columns.extend(cells.iter().map(|cell| Column::number(&cell.contender)));
    let against = |one: &&Comparison| Column::number(format!("{} against {}", one.contender, one.baseline));
    columns.extend(comparisons.iter().map(against));
    let measures = analysis.observations.measures().map(|measured| &measured.measure);
    let measures = measures.filter(|measure| wanted(measure));
    let measures = measures.filter(|measure| cells.iter().any(|cell| cell.level(&measure.id).is_some()));
    let row = |measure: &Measure| {
        let Named { label, detail } = named(measure);
        let value = |cell: &&CellResult| estimate(cell.level(&measure.id), |value| number(&measure.unit, value));
        let others = comparisons.iter().map(|one| contrast(measure, one.contrast(&measure.id)));
        std::iter::once(Cell::new(label).detail(detail)).chain(cells.iter().map(value)).chain(others).collect()
    };
    let rows: Vec<Vec<Cell>> = measures.map(row).collect();
    (!rows.is_empty()).then_some(Table { caption: String::new(), columns, rows })
}

/// The comparison of a cell with its baseline.
pub fn compared<'a>(analysis: &'a Analysis, cell: &CellResult) -> Option<&'a Comparison> {
    analysis.comparisons.iter().find(|found| found.contender_cell == cell.cell)
}

/// A ratio to the baseline, which is 1 of the baseline itself.
pub fn relative(cell: &CellResult, ratio: Option<&Contrast>) -> Cell {
    if cell.baseline {
        return Cell::new("1").tone(Tone::Muted);
    }
    estimate(ratio.map(|ratio| &ratio.estimate), format::ratio)
}
