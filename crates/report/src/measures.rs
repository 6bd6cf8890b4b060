//! Measures in words, and as rows of tables: one function for all of them.

use crate::format::{Digits, Style, within};
use crate::missing;
use crate::table::{Table, TableCell, TableOf, id};
use analysis::cells::CellResult;
use analysis::compare::Comparison;
use analysis::contrast::Contrast;
use analysis::measures::counted::{CPU_INSIDE, CPU_ON_HOST};
use analysis::measures::phases::{LENGTH, RATE};
use analysis::measures::variability::{CV, CYCLE, LONGEST_LOW, SLOW, SLOW_SHARE, ZERO_SECONDS};
use analysis::measures::{Measure, Scale, Unit};
use analysis::summary::Analysis;

/// The name of a measure in tables, with the unit in which it is shown.
pub fn named(measure: &Measure) -> TableCell {
    TableCell::text(label(measure)).detail(words(&measure.id).1).known_as(&measure.id)
}

/// The name with the unit in which it is shown, except for throughput, whose unit is its name.
pub fn label(measure: &Measure) -> String {
    let unit = match &measure.unit {
        Unit::Own(_) if !measure.id.starts_with(RATE) => String::new(),
        Unit::PerSecond => "/s".to_owned(),
        unit => within(", ", style(unit).unit, ""),
    };
    words(&measure.id).0 + &unit
}

/// Names of measures. Those without a rule are shown by their id, such as a user's own measure.
pub fn words(id: &str) -> (String, &'static str) {
    let (family, own) = id.split_once('/').unwrap_or((id, ""));
    if let Some((name, detail)) = given(family, own) {
        return (name.to_owned(), detail);
    }
    let (before, after) = family.split_once('.').unwrap_or(("", family));
    let read = after.replace('_', " ");
    match (family, before) {
        (RATE, _) => (format!("{own} phase"), ""),
        (LENGTH, _) => (format!("{own} phase, length"), "until its last transaction ended"),
        ("workload", _) => (format!("workload: {}", own.replace('_', " ")), ""),
        (_, "phase") => (format!("{own} in {}", after.trim_start_matches("time.")), "mean response time"),
        (_, "response") => (format!("{own} {after}"), "response time"),
        (_, "service") => (format!("{own} {after}"), "service time"),
        (_, "variability") => (format!("{after} of seconds"), "of the median second"),
        (_, "work") => (read, "for each transaction"),
        (_, "machine") => (read, ""),
        (_, "database" | "device" | "machines" | "memory") => (format!("{before}: {read}"), ""),
        _ => (id.to_owned(), ""),
    }
}

/// Names that do not follow from ids.
fn given(family: &str, own: &str) -> Option<(&'static str, &'static str)> {
    Some(match family {
        "machines.fairness" => ("fairness", "Jain's index"),
        "work.exits" => ("exits to the hypervisor", "for each transaction"),
        "work.energy" => ("energy of the host's processors", "for each transaction"),
        CPU_ON_HOST => ("CPU time on the host", "for each transaction"),
        CPU_INSIDE => ("CPU time inside", "for each transaction"),
        "storage.reads" => ("reads of the device", "for each transaction"),
        "storage.read_bytes" => ("read from the device", "for each transaction"),
        "storage.writes" => ("writes to the device", "for each transaction"),
        "storage.written_bytes" => ("written to the device", "for each transaction"),
        "storage.redo_bytes" => ("log written", "for each transaction"),
        "database.reads" => ("database: reads past the cache", ""),
        "database.hits" => ("database: share of reads in the cache", ""),
        "database.redo" => ("database: log written", ""),
        CV => ("variation", "standard deviation of seconds over their mean"),
        LONGEST_LOW => ("longest below half the median", "of each trial"),
        ZERO_SECONDS => ("seconds in which nothing was done", "of each trial"),
        SLOW => ("transactions over 1 s", "of each trial, of all kinds"),
        SLOW_SHARE => ("share of them", "of all transactions"),
        CYCLE => ("cycle", "period of what comes and goes"),
        "machine.transactions" => ("transactions of all kinds", ""),
        "machine.cpus_busy" => ("CPUs busy", ""),
        "machine.cpus_waiting" => ("CPUs idle, waiting for a disk", ""),
        "machine.cpus_stolen" => ("CPU time stolen", ""),
        "machine.waited_for_cpu" => ("waited for a CPU of the host", "of the time it wanted to run"),
        "machine.throttled" => ("throttled", "of the window"),
        "machine.disk_bytes" => ("disk throughput", ""),
        "machine.received" => ("network received", ""),
        "machine.sent" => ("network sent", ""),
        "memory.local_loads" => ("loads from the CPU's own memory node", "on the shape's CPUs of the host"),
        "memory.local_pages" => ("pages from the CPU's own memory node", "of the whole host"),
        "memory.moved_pages" => ("pages migrated to another memory node", "of the whole host"),
        "vcpus.migrations" => ("vCPU migrations", ""),
        "tlb.data" => ("TLB misses, data", of_place(own)),
        "tlb.instructions" => ("TLB misses, instructions", of_place(own)),
        _ => return None,
    })
}

/// Where the processor counted it.
fn of_place(own: &str) -> &'static str {
    match own {
        "host" => "on the shape's CPUs of the host",
        "vcpus" => "vCPUs running the guest",
        _ => "inside",
    }
}

/// The unit in which a measure is shown, and its digits.
pub fn style(unit: &Unit) -> Style<'_> {
    let bytes = |name, scale| Style { scale, ..Style::new(name, Digits::Decimals(2)) };
    match unit {
        Unit::Share => Style { digits: Digits::Decimals(2), ..Style::PERCENT },
        Unit::Count => Style::RATIO,
        Unit::Seconds => Style::new("s", Digits::Ratio),
        Unit::Milliseconds => Style::new("ms", Digits::Decimals(3)),
        Unit::Microseconds => Style::MILLISECONDS,
        Unit::PerSecond => Style::quantity("1/s"),
        Unit::Own(name) => Style::quantity(name),
        Unit::PerTransaction => Style::new("", Digits::Decimals(2)),
        Unit::MillisecondsPerTransaction => Style::new("ms", Digits::Milliseconds),
        Unit::JoulesPerTransaction => Style::quantity("J"),
        Unit::Bytes => Style { digits: Digits::Quantity, ..bytes("MB", |bytes| bytes / 1e6) },
        Unit::BytesPerSecond => Style { digits: Digits::Quantity, ..bytes("MB/s", |bytes| bytes / 1e6) },
        Unit::BytesPerTransaction => bytes("kB", |bytes| bytes / 1e3),
    }
}

/// A value in the unit of its label.
pub fn number(unit: &Unit, value: f64) -> String {
    style(unit).text(value)
}

/// A ratio as a change, a difference with its sign.
pub fn contrast(measure: &Measure, found: Option<&Contrast>) -> TableCell {
    let ratio = found.is_none_or(|found| found.scale == Scale::Ratio);
    let style = if ratio { Style::EFFECT } else { Style { signed: true, ..style(&measure.unit) } };
    compare(found, style)
}

/// A contrast over the blocks that both sides have.
pub fn compare(found: Option<&Contrast>, style: Style<'_>) -> TableCell {
    let cell = TableCell::estimate(found.map(|found| &found.estimate), style, "no block has it of both");
    match found.map_or(0, |found| found.blocks.len()) {
        // The trials of two runs are not paired.
        0 => cell,
        blocks => cell.of(blocks),
    }
}

/// The mean of a cell's trials; without one, how its trials ended.
pub fn level(analysis: &Analysis, cell: &CellResult, measure: &str, style: Style<'_>) -> TableCell {
    if let Some(level) = cell.levels.iter().find(|level| level.measure == measure) {
        return TableCell::estimate(Some(&level.estimate), style, "").of(level.trials);
    }
    let measured = analysis.observations.measure(measure);
    let why = measured.and_then(|measured| measured.of_cell(cell.cell).find_map(|one| one.why_none.as_ref()));
    TableCell::missing(why.map_or_else(|| "no valid trial has it".to_owned(), missing::why))
}

/// One row for each measure that some cell has, a column for each contender, then one for each comparison with the baseline.
pub fn table(
    what: &str,
    caption: &str,
    analysis: &Analysis,
    cells: &[&CellResult],
    wanted: impl Fn(&Measure) -> bool,
) -> Option<Table> {
    let measures = analysis.observations.measures().map(|measured| &measured.measure);
    let measures = measures.filter(|measure| wanted(measure));
    let measures: Vec<&Measure> =
        measures.filter(|measure| cells.iter().any(|cell| cell.level(&measure.id).is_some())).collect();
    TableOf::new(&measures)
        .text("", |measure| named(measure))
        .numbers(
            cells,
            |cell| cell.contender.clone(),
            |cell, measure| level(analysis, cell, &measure.id, style(&measure.unit)),
        )
        .numbers(
            cells.iter().filter_map(|cell| compared(analysis, cell.cell)),
            |one| format!("{} against {}", one.contender, one.baseline),
            |one, measure| contrast(measure, one.contrast(&measure.id)),
        )
        .table(id(what, &cells[0].coordinates), caption)
}

/// The comparison of a cell with its baseline.
pub fn compared(analysis: &Analysis, cell: u32) -> Option<&Comparison> {
    analysis.comparisons.iter().find(|found| found.contender_cell == cell)
}

pub fn of_cell(analysis: &Analysis, cell: u32) -> Option<&CellResult> {
    analysis.cells.iter().find(|found| found.cell == cell)
}
