//! What each size of a curve kept busy: CPUs, disk and load engine. A curve that bends because the load engine or the disk is at
//! its limit says nothing about the platform's CPUs.

use crate::figures::scaling::plural;
use crate::format::{Digits, Style};
use crate::table::{Cell, Table, columns, id};
use analysis::cells::CellResult;
use analysis::estimate::Estimate;
use analysis::scaling::Scaling;
use analysis::summary::Analysis;

/// CPUs that are busy for so many per cent of the time, or more, are saturated.
const CPUS_SATURATED: f64 = 95.0;
/// A thread of the load engine that works for such a share of the time is.
const ENGINE_SATURATED: f64 = 0.9;

/// `None` if nothing was counted.
pub fn table(analysis: &Analysis, group: &[&Scaling]) -> Option<Table> {
    let rows: Vec<Vec<Cell>> =
        group.iter().flat_map(|curve| (0..curve.points.len()).map(|place| row(analysis, curve, place))).collect();
    let is_known = analysis.explanations.iter().any(|one| !one.profiles.is_empty());
    let numbers = [
        plural(&group[0].axis),
        "CPUs busy, %",
        "ms of a disk read",
        "ms of a disk write",
        "load engine's busiest thread, %",
    ];
    let mut columns = columns(&["contender"], &numbers);
    columns.extend(crate::table::columns(&["saturated"], &[]));
    let id = id("busy", &format!("{} {}", plural(&group[0].axis), group[0].held));
    is_known.then(|| {
        Table::new(
            id,
            "What each size kept busy; the load engine's thread is a point value of the worst trial",
            columns,
            rows,
        )
    })
}

fn row(analysis: &Analysis, curve: &Scaling, place: usize) -> Vec<Cell> {
    let point = &curve.points[place];
    let cell = analysis.cells.iter().find(|cell| cell.cell == point.cell);
    let busy = counted(analysis, curve, cell, "system", "cpu.busy");
    let engine = cell.and_then(|cell| cell.driver.as_ref()).map(|driver| driver.busiest_shard);
    let plain = Style::quantity("");
    let of_disk = |name| Cell::estimate(counted(analysis, curve, cell, "storage", name), plain, "not counted");
    let whole = Style { digits: Digits::Decimals(0), ..Style::PERCENT };
    vec![
        Cell::text(if place == 0 { &curve.contender } else { "" }),
        Cell::number(point.size, Style::new("", Digits::Plain)),
        Cell::estimate(busy, plain, "not counted"),
        of_disk("disk.ms_of_a_read"),
        of_disk("disk.ms_of_a_write"),
        engine.map_or_else(|| Cell::missing("no valid trial has it"), |share| Cell::number(share, whole)),
        Cell::text(saturated(busy, engine)),
    ]
}

fn saturated(busy: Option<&Estimate>, engine: Option<f64>) -> &'static str {
    let cpus = busy.is_some_and(|busy| busy.point >= CPUS_SATURATED);
    match (cpus, engine.is_some_and(|share| share >= ENGINE_SATURATED)) {
        (_, true) => "the load engine",
        (true, false) => "the CPUs",
        (false, false) if busy.is_none() => "not known",
        (false, false) => "neither CPUs nor load engine",
    }
}

/// A figure of the machine's own counters, from the comparison that has it.
fn counted<'a>(
    analysis: &'a Analysis,
    curve: &Scaling,
    cell: Option<&CellResult>,
    profile: &str,
    name: &str,
) -> Option<&'a Estimate> {
    let coordinates = &cell?.coordinates;
    let mut of = analysis.explanations.iter().filter(|one| one.coordinates == *coordinates);
    of.find_map(|one| {
        let mut rows = one.profiles.iter().filter(|table| table.profile == profile).flat_map(|table| &table.rows);
        let row = rows.find(|row| row.name == name)?;
        if curve.contender == one.contender {
            row.contender.as_ref()
        } else {
            row.baseline.as_ref().filter(|_| curve.contender == one.baseline)
        }
    })
}
