//! What each size of a curve kept busy: CPUs, disk and load engine.

use crate::figures::scaling::plural;
use crate::format::{Digits, Style};
use crate::measures::{label, level, style};
use crate::table::{Cell, Table, columns, id};
use analysis::cells::CellResult;
use analysis::measures::Measure;
use analysis::measures::counted::{CPUS_BUSY, DISK_READ_TIME, DISK_WRITE_TIME};
use analysis::scaling::busy::Saturated;
use analysis::scaling::{Point, Scaling};
use analysis::summary::Analysis;

const CAPTION: &str = "What each size kept busy; the load engine's thread is a point value of the worst trial";

const MEASURES: [&str; 3] = [CPUS_BUSY, DISK_READ_TIME, DISK_WRITE_TIME];

/// `None` if nothing was counted.
pub fn table(analysis: &Analysis, group: &[&Scaling]) -> Option<Table> {
    let found = MEASURES.iter().filter_map(|id| analysis.observations.measure(id));
    let measures: Vec<&Measure> = found.map(|measured| &measured.measure).collect();
    if measures.is_empty() {
        return None;
    }
    let unit = plural(&group[0].axis);
    let labels: Vec<String> = measures.iter().map(|measure| label(measure)).collect();
    let names = labels.iter().map(String::as_str);
    let numbers: Vec<&str> = std::iter::once(unit).chain(names).chain(["load engine's busiest thread, %"]).collect();
    let columns = columns(&["contender"], &numbers).into_iter().chain(columns(&["saturated"], &[]));
    let of_curve = |curve: &&Scaling| {
        let names = std::iter::once(curve.contender.clone()).chain(std::iter::repeat(String::new()));
        let points = curve.points.iter().zip(names);
        points.filter_map(|(point, name)| row(analysis, &measures, point, &name)).collect::<Vec<_>>()
    };
    let id = id("busy", &format!("{unit} {}", group[0].held));
    Some(Table::new(id, CAPTION, columns, group.iter().flat_map(of_curve)))
}

fn row(analysis: &Analysis, measures: &[&Measure], point: &Point, contender: &str) -> Option<Vec<Cell>> {
    let cell: &CellResult = analysis.cells.iter().find(|cell| cell.cell == point.cell)?;
    let whole = Style { digits: Digits::Decimals(0), ..Style::PERCENT };
    let engine = cell.driver.as_ref().map(|driver| Cell::number(driver.busiest_shard, whole));
    let levels = measures.iter().map(|measure| level(analysis, cell, &measure.id, style(&measure.unit)));
    let size = Cell::number(point.size, Style::new("", Digits::Plain));
    let ends =
        [engine.unwrap_or_else(|| Cell::missing("no valid trial has it")), Cell::text(said(Saturated::of(cell)))];
    Some([Cell::text(contender), size].into_iter().chain(levels).chain(ends).collect())
}

fn said(saturated: Saturated) -> &'static str {
    match saturated {
        Saturated::LoadEngine => "the load engine",
        Saturated::Cpus => "the CPUs",
        Saturated::Neither => "neither CPUs nor load engine",
        Saturated::Unknown => "not known",
    }
}
