//! Tables with a row for each measure and a column for each contender: one list of all parts of the page that are such tables.
use super::comparison::each_group;
use super::headed;
use crate::document::Block;
use crate::format::{self, Digits, Style, grouped_by};
use crate::table::{Table, TableCell, TableOf, id};
use crate::{measures, missing};
use analysis::activity::{Activity, Sizes};
use analysis::cells::CellResult;
use analysis::latency::BUCKETS_MS;
use analysis::measures::counted::{
    CONTEXT_SWITCHES, COUNTED_COSTS, DISK_BYTES, DISK_OPERATIONS, INTERRUPTS, TRANSACTIONS,
};
use analysis::measures::phases::{LENGTH, RATE, TIME};
use analysis::measures::work::{ROUND_TRIPS, ROWS_CHANGED, ROWS_RETURNED, STATEMENTS};
use analysis::summary::Analysis;
use record::intervals::Span;
use record::trial::KindTotals;

pub struct MeasuresPart {
    title: &'static str,
    /// Each table: its id, its caption, and what the names of the measures in it begin with.
    tables: &'static [(&'static str, &'static str, &'static [&'static str])],
    /// Blocks below the tables of a group.
    below: fn(&Analysis, &[&CellResult]) -> Vec<Block>,
    note: &'static str,
}

/// For loads that end with their work.
pub const PHASES: MeasuresPart = MeasuresPart {
    title: "Phases",
    tables: &[("phases", "", &[RATE, LENGTH])],
    below: |_, _| Vec::new(),
    note: "A stream alone counts by the geometric mean of the times of its transactions, several streams by the time that \
        all of them need. Throughput is the geometric mean of the phases.",
};

/// The appendices, in their order.
pub const APPENDICES: [MeasuresPart; 6] = [
    MeasuresPart {
        title: "Latency",
        tables: &[
            ("response-times", "Response time, from due to done", &["response."]),
            ("service-times", "Service time, from sent to done: without waiting", &["service."]),
            ("phase-times", "Each kind of transaction in each phase", &[TIME]),
        ],
        below: |_, cells| [endings(cells), waits(cells)].into_iter().flatten().map(Block::Table).collect(),
        note: "Means and percentiles are geometric means over trials, with 95 % confidence intervals over blocks. A percentile is \
            shown if each trial has a transaction above it.",
    },
    MeasuresPart {
        title: "Throughput from second to second",
        tables: &[("evenness", "", &["variability."])],
        below: |_, _| Vec::new(),
        note: "Figures are over the seconds of the measured window. Bands (p1 to p99) are percentiles of a trial's seconds over its \
            median second, as means over trials. A cycle is reported if every trial shows it and chance would not.",
    },
    MeasuresPart {
        title: "Reads, writes and log",
        tables: &[("activity", "", &["database.", "device.", "workload/"])],
        below: data_and_caches,
        note: "",
    },
    MeasuresPart {
        title: "Work per transaction",
        tables: &[("work", "", &[STATEMENTS, ROUND_TRIPS, ROWS_RETURNED, ROWS_CHANGED, "storage."])],
        below: |_, _| Vec::new(),
        note: "The load engine counts statements and rows. Device and log are counted between two readings within the window.",
    },
    MeasuresPart {
        title: "Profiles",
        tables: &[
            ("profile/costs", "Costs of a transaction, as machine and host count them", &COUNTED_COSTS),
            (
                "profile/load",
                "Load profile",
                &[TRANSACTIONS, DISK_OPERATIONS, DISK_BYTES, "machine.packets", "machine.received", "machine.sent"],
            ),
            (
                "profile/system",
                "Operating system",
                &[INTERRUPTS, CONTEXT_SWITCHES, DISK_OPERATIONS, "machine.cpus", "machine.waited", "machine.throttled"],
            ),
            ("profile/storage", "I/O profile", &["machine.disk"]),
            ("profile/memory", "Memory and migrations", &["memory.", "vcpus."]),
            ("profile/tlb", "TLB misses for each 1,000 instructions", &["tlb."]),
        ],
        below: |_, _| Vec::new(),
        note: "Each machine's own counters over the measured window, per second unless the table says otherwise. Rates and sizes of \
            several machines are added up. The counters of a machine on the host's kernel (native, a container) may include the rest \
            of the host.",
    },
    MeasuresPart {
        title: "All other measures",
        tables: &[("measures", "", &[])],
        below: |_, _| Vec::new(),
        note: "The values of single trials are in observations.csv.",
    },
];

pub fn blocks(analysis: &Analysis, part: &MeasuresPart) -> Vec<Block> {
    let is_in = |id: &str, names: &[&str]| names.iter().any(|name| id.starts_with(name));
    let all = || APPENDICES.iter().chain([&PHASES]).flat_map(|part| part.tables);
    let is_other = |id: &str| !all().any(|(.., names)| is_in(id, names));
    let found = each_group(analysis, |cells| {
        let tables = part.tables.iter().filter_map(|(what, caption, names)| {
            let is_wanted = |id: &str| if names.is_empty() { is_other(id) } else { is_in(id, names) };
            measures::table(what, caption, analysis, cells, |measure| is_wanted(&measure.id)).map(Block::Table)
        });
        let tables: Vec<Block> = tables.collect();
        let below = if tables.is_empty() { Vec::new() } else { (part.below)(analysis, cells) };
        [tables, below].concat()
    });
    headed(part.title, found, part.note)
}

const SHARE: Style<'static> = Style { digits: Digits::Decimals(2), ..Style::PERCENT };

/// The ends of the transactions of each kind. Those that the workload rolls back are part of it.
fn endings(cells: &[&CellResult]) -> Option<Table> {
    let all = cells.iter().flat_map(|cell| cell.totals.iter().map(|totals| (*cell, totals)));
    let all = all.filter(|(_, totals)| !totals.step && totals.finished() + totals.failed > 0);
    let of = |totals: &KindTotals, count: u64| {
        TableCell::number(count as f64 / (totals.finished() + totals.failed) as f64, SHARE)
    };
    let longest = |cell: &CellResult, kind: &str| {
        let found = cell.latency.iter().find(|one| one.span == Span::Response && one.kind == kind);
        TableCell::number_or(found.map(|one| one.max_us as f64), Style::MILLISECONDS, "none was measured")
    };
    let caption = "What became of the transactions; point values over all valid trials";
    let kinds = grouped_by(all, |(_, totals)| &totals.kind).into_iter();
    // Contenders keep their order below the name of each kind.
    let rows = kinds.flat_map(|group| (0..).zip(group)).map(|(place, (cell, totals))| (place == 0, cell, totals));
    TableOf::new(&rows.collect::<Vec<_>>())
        .text("kind", |(is_first, _, totals)| TableCell::text(if *is_first { &totals.kind } else { "" }))
        .text("contender", |(_, cell, _)| TableCell::text(&cell.contender))
        .number("committed", |(.., totals)| TableCell::count(totals.committed))
        .number("rolled back, %", |(.., totals)| of(totals, totals.rolled_back))
        .number("tried again, %", |(.., totals)| of(totals, totals.retries))
        .number("given up, %", |(.., totals)| of(totals, totals.failed))
        .number("longest response, ms", |(_, cell, totals)| longest(cell, &totals.kind))
        .table(id("endings", &cells[0].coordinates), caption)
}

/// How long transactions of all kinds waited for their answers, as shares in the classic buckets.
fn waits(cells: &[&CellResult]) -> Option<Table> {
    let shares = |cell: &CellResult| {
        let is_step = |kind: &str| cell.totals.iter().any(|totals| totals.step && totals.kind == kind);
        let waited = cell.latency.iter().filter(|one| one.span == Span::Response && !is_step(&one.kind));
        let counts: Vec<u64> =
            (0..=BUCKETS_MS.len()).map(|bucket| waited.clone().map(|one| one.buckets[bucket]).sum()).collect();
        let all: u64 = counts.iter().sum();
        let share = |count| (count > 0).then(|| count as f64 / all as f64);
        (all > 0).then(|| counts.into_iter().map(share).collect::<Vec<_>>())
    };
    let rows: Vec<_> = cells.iter().filter_map(|cell| Some((*cell, shares(cell)?))).collect();
    let ends = BUCKETS_MS.map(|end_ms| format!("<{}", format::count(end_ms)));
    TableOf::new(&rows)
        .text("contender", |(cell, _)| TableCell::text(&cell.contender))
        .numbers(
            ends.into_iter().chain(["longer".to_owned()]).enumerate(),
            |(_, name)| name.clone(),
            |(bucket, _), (_, shares)| TableCell::number_or(shares[*bucket], SHARE, "no transaction"),
        )
        .table(
            id("response-time-shares", &cells[0].coordinates),
            "Shares of all transactions by response time in ms, %; point values",
        )
}

fn data_and_caches(analysis: &Analysis, cells: &[&CellResult]) -> Vec<Block> {
    let group: Vec<&Activity> =
        analysis.activity.iter().filter(|one| cells.iter().any(|cell| cell.cell == one.cell)).collect();
    let fits = Block::list(group.iter().map(|activity| fit(activity)));
    fits.map_or_else(Vec::new, |fits| vec![fits, Block::Note(note(&group))])
}

/// Whether the data fit the cache and the memory of a contender.
fn fit(activity: &Activity) -> String {
    let Sizes { data_bytes, cache_bytes, memory_bytes } = activity.sizes;
    let Some(data) = data_bytes else {
        return format!("{}: how large the data are is not known.", activity.contender);
    };
    let size = |what: &str, size: Option<u64>| match size.filter(|size| *size > 0) {
        Some(size) => format!("the {what} has {}", format::bytes(size)),
        None => format!("the size of the {what} is not known"),
    };
    let (cache, memory) = (size("database's cache", cache_bytes), size("machine's memory", memory_bytes));
    format!("{}: the data take {}, {cache}, and {memory}.", activity.contender, format::bytes(data))
}

fn note(group: &[&Activity]) -> String {
    let read = "Database and device counters were read twice within the measured window; their figures cover the time \
            between. The workload's figures cover the whole window.";
    let of_one = |activity: &&Activity| {
        let name = &activity.contender;
        let device = activity.device.iter();
        let device =
            device.map(|device| format!("The device of {name} is {device}, with everything else that uses it."));
        let missing = activity.missing.iter().map(|why| format!("Of {name}, {}.", missing::why(why)));
        activity.meaning.iter().cloned().chain(device).chain(missing).collect::<Vec<_>>()
    };
    let said: Vec<String> = group.iter().flat_map(of_one).collect();
    format::distinct(std::iter::once(read).chain(said.iter().map(String::as_str))).join(" ")
}
