//! Tables as published studies print them: load, operating system and I/O of two contenders, and a histogram of waits.

use crate::document::Block;
use crate::figures::course::place;
use crate::format::{self, Digits, Style};
use crate::table::{Cell, Column, Table, columns, id};
use analysis::cells::CellResult;
use analysis::estimate::Estimate;
use analysis::explanation::Explanation;
use analysis::explanation::profile::{ProfileRow, ProfileTable};
use analysis::latency::{BUCKETS_MS, Latency};
use record::intervals::Span;

pub fn blocks(explanation: &Explanation) -> Vec<Block> {
    let tables = explanation.profiles.iter().map(|profile| Block::Table(table(explanation, profile)));
    let mut blocks: Vec<Block> = tables.collect();
    if !blocks.is_empty() {
        let note = "Each machine's own counters over the measured window: geometric means over blocks, and ratios paired by block; plain \
            means where something is zero. Rates and sizes of several machines are added up. The counters of a machine on the host's kernel \
            (native, a container) may include the rest of the host.";
        blocks.push(Block::Note(note.to_owned()));
    }
    blocks
}

fn table(explanation: &Explanation, profile: &ProfileTable) -> Table {
    let baseline = format!("{} (baseline)", explanation.baseline);
    let row = |row: &ProfileRow| {
        let of = |found: Option<&Estimate>| Cell::estimate(found, Style::quantity(""), "not counted");
        let ratio = Cell::estimate(row.ratio.as_ref(), Style::EFFECT, "no ratio");
        vec![Cell::text(named(&row.name)), of(row.baseline.as_ref()), of(row.contender.as_ref()), ratio]
    };
    let columns = columns(&[""], &[&baseline, &explanation.contender, "ratio"]);
    let id = id(&id("profile", &profile.profile), &place(explanation));
    Table::new(id, title(&profile.profile), columns, profile.rows.iter().map(row))
}

/// The title of a profile.
fn title(profile: &str) -> &str {
    match profile {
        "load" => "Load profile",
        "system" => "Operating system",
        "storage" => "I/O profile",
        "memory" => "Memory and migrations",
        "tlb" => "TLB misses for each 1,000 instructions",
        other => other,
    }
}

/// Names of rows of all profiles; figures are per second, unless the name says otherwise.
fn named(row: &str) -> &str {
    match row {
        "transactions" => "transactions/s, of all kinds",
        "disk.operations" => "disk operations/s",
        "disk.reads" => "disk reads/s",
        "disk.writes" => "disk writes/s",
        "disk.megabytes" => "disk MB/s",
        "disk.megabytes_read" => "disk MB/s, read",
        "disk.megabytes_written" => "disk MB/s, written",
        "disk.ms_of_a_read" => "ms of a read",
        "disk.ms_of_a_write" => "ms of a write",
        "network.received_packets" => "packets/s received",
        "network.sent_packets" => "packets/s sent",
        "network.received_megabits" => "Mb/s received",
        "network.sent_megabits" => "Mb/s sent",
        "interrupts" => "interrupts/s",
        "switches.context" => "context switches/s",
        "cpu.busy" => "CPUs busy, %",
        "cpu.stolen" => "CPU time stolen, %",
        "memory.free_megabytes" => "free memory, MB",
        "vcpus.migrations" => "vCPU migrations/s",
        "memory.local_loads" => "loads from the CPU's own memory node, on the shape's CPUs of the host, %",
        "memory.local_pages" => "pages from the CPU's own memory node, of the whole host, %",
        "memory.moved_pages" => "pages/s migrated to another memory node, of the whole host",
        "tlb.data.inside" => "data, inside",
        "tlb.instructions.inside" => "instructions, inside",
        "tlb.data.host" => "data, on the shape's CPUs of the host",
        "tlb.instructions.host" => "instructions, on the shape's CPUs of the host",
        "tlb.data.vcpus" => "data, vCPUs running the guest",
        "tlb.instructions.vcpus" => "instructions, vCPUs running the guest",
        other => other,
    }
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
