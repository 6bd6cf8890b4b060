//! Tables as published studies print them: load, operating system, I/O and memory of all contenders, and a histogram of waits.

use super::comparison::each_group;
use super::headed;
use crate::document::Block;
use crate::format::{self, Digits, Style};
use crate::measures;
use crate::table::{Cell, Column, Table, columns, id};
use analysis::cells::CellResult;
use analysis::latency::{BUCKETS_MS, Latency};
use analysis::measures::counted::{
    CONTEXT_SWITCHES, COUNTED_COSTS, DISK_BYTES, DISK_OPERATIONS, INTERRUPTS, TRANSACTIONS,
};
use analysis::summary::Analysis;
use record::intervals::Span;

/// Each table: its id, its title, and the measures in it, or what their names begin with.
const PROFILES: [(&str, &str, &[&str]); 6] = [
    ("profile/costs", "Costs of a transaction, as machine and host count them", &COUNTED_COSTS),
    (
        "profile/load",
        "Load profile",
        &[TRANSACTIONS, DISK_OPERATIONS, DISK_BYTES, "machine.packets", "machine.received", "machine.sent"],
    ),
    ("profile/system", "Operating system", &[INTERRUPTS, CONTEXT_SWITCHES, DISK_OPERATIONS, "machine.cpus"]),
    ("profile/storage", "I/O profile", &["machine.disk"]),
    ("profile/memory", "Memory and migrations", &["memory.", "vcpus."]),
    ("profile/tlb", "TLB misses for each 1,000 instructions", &["tlb."]),
];

const NOTE: &str = "Each machine's own counters over the measured window, per second unless the table says otherwise. Rates and sizes \
    of several machines are added up. The counters of a machine on the host's kernel (native, a container) may include the rest of the \
    host.";

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let table = |cells: &[&CellResult], (what, title, names): (&str, &str, &[&str])| {
        let is_in = |id: &str| names.iter().any(|name| id.starts_with(name));
        let found = measures::table(what, analysis, cells, |measure| is_in(&measure.id))?;
        Some(Block::Table(Table { caption: title.to_owned(), ..found }))
    };
    let tables = each_group(analysis, |cells| PROFILES.into_iter().filter_map(|one| table(cells, one)).collect());
    headed("Profiles", tables, Some(NOTE.to_owned()))
}

/// These columns, followed by those of the classic buckets.
pub fn buckets(texts: &[&str]) -> Vec<Column> {
    let ends = BUCKETS_MS.map(|end_ms| Column::number(format!("<{}", format::count(end_ms))));
    columns(texts, &[]).into_iter().chain(ends).chain([Column::number("longer")]).collect()
}

/// How long transactions of all kinds waited for their answers, as shares in the classic buckets.
pub fn waits(cells: &[&CellResult]) -> Table {
    let id = id("response-time-shares", &cells[0].coordinates);
    let caption = "Shares of all transactions by response time in ms, %; point values";
    Table::new(id, caption, buckets(&["contender"]), cells.iter().filter_map(|cell| wait_row(cell)))
}

fn wait_row(cell: &CellResult) -> Option<Vec<Cell>> {
    let mut counts = vec![0_u64; BUCKETS_MS.len() + 1];
    let is_step = |kind: &str| cell.totals.iter().any(|totals| totals.step && totals.kind == kind);
    let waited = |latency: &&Latency| latency.span == Span::Response && !is_step(&latency.kind);
    for latency in cell.latency.iter().filter(waited) {
        for (sum, count) in counts.iter_mut().zip(&latency.buckets) {
            *sum += count;
        }
    }
    let all: u64 = counts.iter().sum();
    let style = Style { digits: Digits::Decimals(2), ..Style::PERCENT };
    let share = |count: u64| some(count, Cell::number(count as f64 / all as f64, style));
    let name = Cell::text(&cell.contender);
    (all > 0).then(|| std::iter::once(name).chain(counts.into_iter().map(share)).collect())
}

/// An empty bucket is easier to recognise without a number.
pub fn some(count: u64, cell: Cell) -> Cell {
    if count == 0 { Cell::missing("no transaction") } else { cell }
}
