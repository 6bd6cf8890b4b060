//! Measures in words, and as rows of tables: one function for all of them.

use crate::format::{Digits, Style};
use crate::missing;
use crate::table::{Cell, Column, Table, id};
use analysis::cells::CellResult;
use analysis::compare::Comparison;
use analysis::contrast::Contrast;
use analysis::measures::counted::{CPU_INSIDE, CPU_ON_HOST};
use analysis::measures::phases::{LENGTH, RATE};
use analysis::measures::variability::{CV, CYCLE, LONGEST_LOW, SLOW, SLOW_SHARE, ZERO_SECONDS};
use analysis::measures::{Measure, Scale, Unit};
use analysis::summary::Analysis;

/// The name of a measure in tables, with the unit in which it is shown.
pub fn named(measure: &Measure) -> Cell {
    Cell::text(label(measure)).detail(words(&measure.id).1).known_as(&measure.id)
}

/// The name with the unit in which it is shown, except for throughput, whose unit is its name.
pub fn label(measure: &Measure) -> String {
    let unit = match &measure.unit {
        Unit::Own(unit) if measure.id.starts_with(RATE) => format!(", {unit}"),
        Unit::Own(_) => String::new(),
        Unit::PerSecond => "/s".to_owned(),
        unit => match style(unit).unit {
            "" => String::new(),
            unit => format!(", {unit}"),
        },
    };
    format!("{}{unit}", words(&measure.id).0)
}

/// Names of measures. Those without a rule are shown by their id, such as a user's own measure.
pub fn words(id: &str) -> (String, &'static str) {
    let (family, own) = id.split_once('/').unwrap_or((id, ""));
    match family {
        "throughput" => ("throughput".to_owned(), ""),
        "machines.sum" => ("all machines together".to_owned(), ""),
        "machines.mean" => ("mean of the machines".to_owned(), ""),
        "machines.largest_over_smallest" => ("fastest machine over slowest".to_owned(), ""),
        "machines.fairness" => ("fairness".to_owned(), "Jain's index"),
        "work.statements" => ("statements".to_owned(), "for each transaction"),
        "work.round_trips" => ("round trips to the server".to_owned(), "for each transaction"),
        "work.rows_returned" => ("rows returned".to_owned(), "for each transaction"),
        "work.rows_changed" => ("rows changed".to_owned(), "for each transaction"),
        "storage.reads" => ("reads of the device".to_owned(), "for each transaction"),
        "storage.read_bytes" => ("read from the device".to_owned(), "for each transaction"),
        "storage.writes" => ("writes to the device".to_owned(), "for each transaction"),
        "storage.written_bytes" => ("written to the device".to_owned(), "for each transaction"),
        "storage.redo_bytes" => ("log written".to_owned(), "for each transaction"),
        "database.reads" => ("database: reads past the cache".to_owned(), ""),
        "database.hits" => ("database: share of reads in the cache".to_owned(), ""),
        "database.writes" => ("database: writes".to_owned(), ""),
        "database.redo" => ("database: log written".to_owned(), ""),
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
        RATE => (format!("{own} phase"), ""),
        LENGTH => (format!("{own} phase, length"), "until its last transaction ended"),
        other => match other.split_once('.') {
            Some(("phase", time)) => (format!("{own} in {}", time.trim_start_matches("time.")), "mean response time"),
            Some(("response", figure)) => (format!("{own} {figure}"), "response time"),
            Some(("service", figure)) => (format!("{own} {figure}"), "service time"),
            Some(("variability", band)) => (format!("{band} of seconds"), "of the median second"),
            _ => counted(id).unwrap_or((id.to_owned(), "")),
        },
    }
}

/// Names of what host and machine count.
fn counted(id: &str) -> Option<(String, &'static str)> {
    let (family, own) = id.split_once('/').unwrap_or((id, ""));
    let (name, detail) = match family {
        CPU_ON_HOST => ("CPU time on the host", "for each transaction"),
        CPU_INSIDE => ("CPU time inside", "for each transaction"),
        "work.interrupts" => ("interrupts", "for each transaction"),
        "work.context_switches" => ("context switches", "for each transaction"),
        "work.page_faults" => ("page faults", "for each transaction"),
        "work.packets" => ("packets", "for each transaction"),
        "work.exits" => ("exits to the hypervisor", "for each transaction"),
        "work.energy" => ("energy of the host's processors", "for each transaction"),
        "machine.transactions" => ("transactions of all kinds", ""),
        "machine.cpus_busy" => ("CPUs busy", ""),
        "machine.cpus_waiting" => ("CPUs idle, waiting for a disk", ""),
        "machine.cpus_stolen" => ("CPU time stolen", ""),
        "machine.waited_for_cpu" => ("waited for a CPU of the host", "of the time it wanted to run"),
        "machine.throttled" => ("throttled", "of the window"),
        "machine.interrupts" => ("interrupts", ""),
        "machine.context_switches" => ("context switches", ""),
        "machine.disk_operations" => ("disk operations", ""),
        "machine.disk_reads" => ("disk reads", ""),
        "machine.disk_writes" => ("disk writes", ""),
        "machine.disk_bytes" => ("disk throughput", ""),
        "machine.disk_read" => ("disk read", ""),
        "machine.disk_written" => ("disk written", ""),
        "machine.disk_read_time" => ("mean time of a disk read", ""),
        "machine.disk_write_time" => ("mean time of a disk write", ""),
        "machine.packets_received" => ("packets received", ""),
        "machine.packets_sent" => ("packets sent", ""),
        "machine.received" => ("network received", ""),
        "machine.sent" => ("network sent", ""),
        "memory.free" => ("free memory", ""),
        "memory.local_loads" => ("loads from the CPU's own memory node", "on the shape's CPUs of the host"),
        "memory.local_pages" => ("pages from the CPU's own memory node", "of the whole host"),
        "memory.moved_pages" => ("pages migrated to another memory node", "of the whole host"),
        "vcpus.migrations" => ("vCPU migrations", ""),
        "tlb.data" => ("TLB misses, data", of_place(own)),
        "tlb.instructions" => ("TLB misses, instructions", of_place(own)),
        _ => return None,
    };
    Some((name.to_owned(), detail))
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
pub fn contrast(measure: &Measure, found: Option<&Contrast>) -> Cell {
    let ratio = found.is_none_or(|found| found.scale == Scale::Ratio);
    let style = if ratio { Style::EFFECT } else { Style { signed: true, ..style(&measure.unit) } };
    compare(found, style)
}

/// A contrast over the blocks that both sides have.
pub fn compare(found: Option<&Contrast>, style: Style<'_>) -> Cell {
    let cell = Cell::estimate(found.map(|found| &found.estimate), style, "no block has it of both");
    match found.map_or(0, |found| found.blocks.len()) {
        // The trials of two runs are not paired.
        0 => cell,
        blocks => cell.of(blocks),
    }
}

/// The mean of a cell's trials; without one, how its trials ended.
pub fn level(analysis: &Analysis, cell: &CellResult, measure: &str, style: Style<'_>) -> Cell {
    if let Some(level) = cell.levels.iter().find(|level| level.measure == measure) {
        return Cell::estimate(Some(&level.estimate), style, "").of(level.trials);
    }
    let measured = analysis.observations.measure(measure);
    let why = measured.and_then(|measured| measured.of_cell(cell.cell).find_map(|one| one.why_none.as_ref()));
    Cell::missing(why.map_or_else(|| "no valid trial has it".to_owned(), missing::why))
}

/// One row for each measure that some cell has, a column for each contender, then one for each comparison with the baseline.
pub fn table(
    what: &str,
    analysis: &Analysis,
    cells: &[&CellResult],
    wanted: impl Fn(&Measure) -> bool,
) -> Option<Table> {
    let comparisons: Vec<&Comparison> = cells.iter().filter_map(|cell| compared(analysis, cell)).collect();
    let contenders = cells.iter().map(|cell| Column::number(&cell.contender));
    let against = |one: &&Comparison| Column::number(format!("{} against {}", one.contender, one.baseline));
    let columns = std::iter::once(Column::text("")).chain(contenders).chain(comparisons.iter().map(against));
    let measures = analysis.observations.measures().map(|measured| &measured.measure);
    let measures = measures.filter(|measure| wanted(measure));
    let measures = measures.filter(|measure| cells.iter().any(|cell| cell.level(&measure.id).is_some()));
    let row = |measure: &Measure| {
        let value = |cell: &&CellResult| level(analysis, cell, &measure.id, style(&measure.unit));
        let others = comparisons.iter().map(|one| contrast(measure, one.contrast(&measure.id)));
        std::iter::once(named(measure)).chain(cells.iter().map(value)).chain(others).collect()
    };
    Table::new(id(what, &cells[0].coordinates), "", columns, measures.map(row)).unless_empty()
}

/// The comparison of a cell with its baseline.
pub fn compared<'a>(analysis: &'a Analysis, cell: &CellResult) -> Option<&'a Comparison> {
    analysis.comparisons.iter().find(|found| found.contender_cell == cell.cell)
}
