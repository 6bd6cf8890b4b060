//! The readings behind findings: data checks, the driver's testimony, and the host during each trial.

use super::headed;
use crate::document::Block;
use crate::format::{self, Digits, Style, distinct, filled, grouped_by, joined};
use crate::missing;
use crate::table::{Table, TableCell, TableOf, Tone};
use analysis::cells::{CellResult, DriverReading};
use analysis::checks::CheckSummary;
use analysis::consistency::host::{HostDuringRun, HostDuringTrial, UnavailableFact};
use analysis::summary::Analysis;
use record::check::Moment;
use record::trial::{ArrivalProcess, Pacing};

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let drivers: Vec<&CellResult> = analysis.cells.iter().filter(|cell| cell.driver.is_some()).collect();
    let driver = driver(&drivers).filter(|_| !drivers.is_empty()).map(Block::Table);
    [
        headed("Data checks", checks(analysis), ""),
        headed("The load engine", driver, ""),
        host(&analysis.consistency.host),
    ]
    .concat()
}

/// Checks that were violated or undecided somewhere are shown openly; checks that always hold are folded.
fn checks(analysis: &Analysis) -> Vec<Block> {
    let held_everywhere =
        |same: &Vec<&CheckSummary>| same.iter().all(|check| check.violated.is_empty() && check.undecided == 0);
    let groups = grouped_by(&analysis.checks, |check| (&check.name, check.moment));
    let (held, open): (Vec<_>, Vec<_>) = groups.into_iter().partition(held_everywhere);
    let [open, always] = [("checks", &open), ("checks-held", &held)]
        .map(|(what, groups)| check_table(what, analysis, groups).map(Block::Table));
    let title = format!("{} that passed in every trial", format::counted(held.len() as u64, "check"));
    open.into_iter().chain(Block::fold(title, always)).collect()
}

/// One row for each check, one column for each contender, in the order of the plan.
fn check_table(what: &str, analysis: &Analysis, groups: &[Vec<&CheckSummary>]) -> Option<Table> {
    let contenders = distinct(analysis.cells.iter().map(|cell| cell.contender.as_str()));
    let table = TableOf::new(groups).text("check", |same| {
        let CheckSummary { name, moment, rule, .. } = same[0];
        let when = match moment {
            Moment::AfterLoad => "After load",
            Moment::AfterTrial => "After the trial",
        };
        TableCell::text(name).detail(format!("{when}: {}", rule.trim_end_matches('.')))
    });
    let of = |contender: &str, same: &[&CheckSummary]| {
        let own = same.iter().find(|check| check.contender == contender);
        own.map_or_else(|| TableCell::missing("it was not asked"), |check| verdict(check))
    };
    let table = contenders.into_iter().fold(table, |table, name| table.text(name, |same| of(name, same)));
    table.table(what, "")
}

fn verdict(check: &CheckSummary) -> TableCell {
    let (held, violated, undecided) = (check.held, check.violated.len(), check.undecided);
    let cell = match (violated, held) {
        (0, 0) => TableCell::verdict(format!("undecided {undecided}×"), Tone::Muted),
        (0, _) if undecided > 0 => TableCell::verdict(format!("holds {held}×, undecided {undecided}×"), Tone::Good),
        (0, _) => TableCell::verdict(format!("holds {held}×"), Tone::Good),
        _ => TableCell::verdict(format!("violated {violated}×, holds {held}×"), Tone::Bad),
    };
    cell.detail(check.seen.as_deref().unwrap_or_default())
}

pub fn source(driver: &DriverReading) -> String {
    match driver.pacing {
        None | Some(Pacing::Clients { .. }) => format::counted(driver.clients.into(), "client"),
        Some(Pacing::Terminals { terminals, .. }) => format::counted(terminals.into(), "terminal"),
        Some(Pacing::Arrivals { per_second, process, .. }) => {
            let spread = match process {
                ArrivalProcess::Poisson => "Poisson",
                ArrivalProcess::Uniform => "uniform",
            };
            format!("{per_second} arrivals/s, {spread}")
        }
    }
}

fn driver(cells: &[&CellResult]) -> Option<Table> {
    /// A row: its name, how to read it, and its cell of each contender.
    type Row = (&'static str, &'static str, fn(&DriverReading) -> TableCell);
    const WHOLE: Style<'static> = Style { digits: Digits::Decimals(0), ..Style::PERCENT };
    const MICROSECONDS: Style<'static> = Style { unit: "µs", ..Style::COUNT };
    const TENTHS: Style<'static> = Style::new("", Digits::Decimals(1));
    const UNKNOWN: &str = "not recorded";
    const ROWS: [Row; 10] = [
        ("load runs", "beside the database, or over the network", |one| TableCell::text(&one.placement)),
        ("work comes from", "", |one| TableCell::text(source(one))),
        ("sessions / threads", "", |one| TableCell::text(format!("{} / {}", one.sessions, one.shards))),
        ("transactions under way", "by Little's law, from rate and response time", |one| {
            TableCell::number_or(one.under_way, TENTHS, UNKNOWN)
        }),
        ("driver CPU per statement, µs", "with the engine's, where that runs in the same process", |one| {
            TableCell::number_or(one.cpu_us_per_statement, Style { unit: "µs", ..TENTHS }, UNKNOWN)
        }),
        ("wait for a session p99, µs", "of the worst trial", |one| {
            TableCell::number(one.session_wait_p99_us as f64, MICROSECONDS)
        }),
        ("lateness p99, µs", "of the worst trial", |one| TableCell::number(one.lateness_p99_us as f64, MICROSECONDS)),
        ("busiest thread, %", "share of the window it worked, worst trial", |one| {
            TableCell::number(one.busiest_shard, WHOLE)
        }),
        ("wait for a CPU, %", "share of the window, longest of all threads and trials", |one| {
            TableCell::number_or(one.run_delay.map(|delay| delay.share), WHOLE, UNKNOWN)
        }),
        (
            "throttled by a CPU limit, %",
            "of the window, added up over CPUs, worst trial; limits of the study do not count",
            |one| TableCell::number_or(one.throttled, WHOLE, UNKNOWN),
        ),
    ];
    let read = cells.iter().filter_map(|cell| Some((cell, cell.driver.as_ref()?)));
    TableOf::new(&ROWS)
        .text("point values", |(name, detail, _)| TableCell::text(*name).detail(*detail))
        .numbers(
            read,
            |(cell, _)| filled([&cell.contender, &cell.coordinates], ", "),
            |(_, driver), (.., of)| of(driver),
        )
        .table("driver", "")
}

fn host(host: &HostDuringRun) -> Vec<Block> {
    let unavailable = host.unavailable.iter().map(|UnavailableFact { fact, why }| {
        format!(" Of the host, {} is unavailable, because {why}.", missing::host_fact(*fact))
    });
    let note = format!(
        "Point values, from readings at both ends of each measured window. Busy, stolen (by a hypervisor below) and others (processes \
         of others) are shares of the time of all CPUs.{}",
        joined(unavailable, "")
    );
    headed("The host during each trial", host_table(&host.trials).map(Block::Table), note)
}

fn host_table(trials: &[HostDuringTrial]) -> Option<Table> {
    let number = |value: Option<f64>, style| TableCell::number_or(value, style, "the host does not report it");
    let percent = |share| number(share, Style::PERCENT);
    let megabytes = |bytes| number(bytes, Style { unit: "MB", scale: |bytes| bytes / 1e6, ..Style::RATIO });
    TableOf::new(trials)
        .number("trial", |one| TableCell::name(one.trial))
        .text("contender", |one| TableCell::text(&one.contender))
        .number("MHz", |one| number(one.frequency_mhz, Style { unit: "MHz", ..Style::COUNT }))
        .number("busy, %", |one| percent(one.busy))
        .number("stolen, %", |one| percent(one.stolen))
        .number("others, %", |one| percent(one.others))
        .number("others' disk use, MB/s", |one| megabytes(one.others_disk))
        .number("waiting for memory, %", |one| percent(one.memory_stalled))
        .number("pages swapped", |one| number(one.swapped_pages.map(|pages| pages as f64), Style::COUNT))
        .number("memory available, MB", |one| megabytes(one.available_bytes.map(|bytes| bytes as f64)))
        .table("host", "")
}
