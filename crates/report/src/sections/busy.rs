//! What each size of a curve kept busy: CPUs, disk and load engine.

use crate::figures::scaling::plural;
use crate::format::{Digits, Style};
use crate::table::{Cell, Column, Table, columns, id};
use analysis::scaling::busy::Saturated;
use analysis::scaling::{Point, Scaling};
use analysis::summary::Analysis;

const CAPTION: &str = "What each size kept busy; the load engine's thread is a point value of the worst trial";

/// `None` if nothing was counted.
pub fn table(analysis: &Analysis, group: &[&Scaling]) -> Option<Table> {
    if analysis.busy.is_empty() {
        return None;
    }
    let unit = plural(&group[0].axis);
    let numbers = [unit, "CPUs busy, %", "ms of a disk read", "ms of a disk write", "load engine's busiest thread, %"];
    let columns: Vec<Column> =
        columns(&["contender"], &numbers).into_iter().chain(columns(&["saturated"], &[])).collect();
    let of_curve = |curve: &&Scaling| {
        let names = std::iter::once(curve.contender.clone()).chain(std::iter::repeat(String::new()));
        curve.points.iter().zip(names).map(|(point, name)| row(analysis, point, &name)).collect::<Vec<_>>()
    };
    let id = id("busy", &format!("{unit} {}", group[0].held));
    Some(Table::new(id, CAPTION, columns, group.iter().flat_map(of_curve)))
}

fn row(analysis: &Analysis, point: &Point, contender: &str) -> Vec<Cell> {
    let busy = analysis.busy.iter().find(|busy| busy.cell == point.cell);
    let counted = |figure| Cell::estimate(figure, Style::quantity(""), "not counted");
    let whole = Style { digits: Digits::Decimals(0), ..Style::PERCENT };
    let engine = busy.and_then(|busy| busy.load_engine);
    vec![
        Cell::text(contender),
        Cell::number(point.size, Style::new("", Digits::Plain)),
        counted(busy.and_then(|busy| busy.cpus.as_ref())),
        counted(busy.and_then(|busy| busy.ms_of_a_read.as_ref())),
        counted(busy.and_then(|busy| busy.ms_of_a_write.as_ref())),
        engine.map_or_else(|| Cell::missing("no valid trial has it"), |share| Cell::number(share, whole)),
        Cell::text(busy.map_or("not known", |busy| said(busy.saturated))),
    ]
}

fn said(saturated: Saturated) -> &'static str {
    match saturated {
        Saturated::LoadEngine => "the load engine",
        Saturated::Cpus => "the CPUs",
        Saturated::Neither => "neither CPUs nor load engine",
        Saturated::Unknown => "not known",
    }
}
