//! Data checks, the record's agreement with itself, work per transaction, and the driver's testimony.

use super::comparison::groups;
use super::heading;
use crate::document::Block;
use crate::format::{self, Digits, Style, distinct, filled, grouped_by};
use crate::measures;
use crate::table::{Cell, Column, Table, TableOf, Tone, id};
use analysis::cells::{CellResult, DriverReading};
use analysis::checks::CheckSummary;
use analysis::consistency::equal_work::RULES;
use analysis::measures::Measure;
use analysis::summary::Analysis;
use record::check::Moment;
use record::trial::{ArrivalProcess, Pacing};

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut blocks = vec![heading("Data checks and audits"), Block::Paragraph(checks_in_words(analysis))];
    blocks.extend(checks(analysis));
    blocks.push(Block::Paragraph(agreement(analysis)));
    blocks.push(heading("Work per transaction"));
    blocks.extend(work(analysis));
    let drivers: Vec<&CellResult> = analysis.cells.iter().filter(|cell| cell.driver.is_some()).collect();
    if !drivers.is_empty() {
        blocks.push(heading("The load engine"));
        blocks.push(Block::Table(driver(&drivers)));
    }
    blocks
}

fn checks_in_words(analysis: &Analysis) -> String {
    let counts = analysis.check_counts;
    if counts.held + counts.violated + counts.undecided == 0 {
        return "No data check ran.".to_owned();
    }
    let held = format::counted(counts.held.into(), "check");
    let [violated, undecided] = [counts.violated, counts.undecided].map(|many| format::count(many.into()));
    let unchecked = match counts.unchecked_trials {
        0 => String::new(),
        1 => " One completed trial has no data checks and is in no number.".to_owned(),
        many => format!(" {many} completed trials have no data checks and are in no number."),
    };
    format!("Over all trials: {held} passed, {violated} failed, {undecided} could not be judged.{unchecked}")
}

/// Checks that were violated or undecided somewhere are shown openly; checks that always hold are folded.
fn checks(analysis: &Analysis) -> Vec<Block> {
    let held_everywhere =
        |same: &Vec<&CheckSummary>| same.iter().all(|check| check.violated.is_empty() && check.undecided == 0);
    let groups = grouped_by(&analysis.checks, |check| (&check.name, check.moment));
    let (held, open): (Vec<_>, Vec<_>) = groups.into_iter().partition(held_everywhere);
    let mut blocks = Vec::new();
    if !open.is_empty() {
        blocks.push(Block::Table(check_table("checks", analysis, &open)));
    }
    if !held.is_empty() {
        let title = format!("{} that passed in every trial", format::counted(held.len() as u64, "check"));
        blocks.push(Block::Fold { title, blocks: vec![Block::Table(check_table("checks-held", analysis, &held))] });
    }
    blocks
}

/// One row for each check, one column for each contender, in the order of the plan.
fn check_table(what: &str, analysis: &Analysis, groups: &[Vec<&CheckSummary>]) -> Table {
    let contenders = distinct(analysis.cells.iter().map(|cell| cell.contender.as_str()));
    let table = TableOf::new(groups).text("check", |same| {
        let CheckSummary { name, moment, rule, .. } = same[0];
        let when = match moment {
            Moment::AfterLoad => "After load",
            Moment::AfterTrial => "After the trial",
        };
        Cell::text(name).detail(format!("{when}: {}", rule.trim_end_matches('.')))
    });
    let table = contenders.into_iter().fold(table, |table, contender| {
        table.text(contender, |same| {
            let own = same.iter().find(|check| check.contender == contender);
            own.map_or_else(|| Cell::missing("it was not asked"), |check| verdict(check))
        })
    });
    table.table(what, "")
}

fn verdict(check: &CheckSummary) -> Cell {
    let (held, violated, undecided) = (check.held, check.violated.len(), check.undecided);
    let cell = match (violated, held) {
        (0, 0) => Cell::verdict(format!("undecided {undecided}×"), Tone::Muted),
        (0, _) if undecided > 0 => Cell::verdict(format!("holds {held}×, undecided {undecided}×"), Tone::Good),
        (0, _) => Cell::verdict(format!("holds {held}×"), Tone::Good),
        _ => Cell::verdict(format!("violated {violated}×, holds {held}×"), Tone::Bad),
    };
    cell.detail(check.seen.as_deref().unwrap_or_default())
}

fn agreement(analysis: &Analysis) -> String {
    let broken = analysis.agreement.iter().filter(|checked| !checked.disagreements.is_empty()).count();
    let all = analysis.agreement.len();
    match (broken, all) {
        (_, 0) => "No trial was completed, so there was nothing to reconcile.".to_owned(),
        (0, _) => format!("In all {all} completed trials the seconds of the log add up to the totals of the trial."),
        _ => format!("In {broken} of {all} completed trials the seconds of the log do not add up to the totals."),
    }
}

/// Statements and rows, and what reached the device and the log.
fn work(analysis: &Analysis) -> Vec<Block> {
    let mut blocks = Vec::new();
    for cells in groups(analysis) {
        let is_wanted = |one: &Measure| RULES.iter().any(|rule| rule.measure == one.id);
        let table = measures::table("work", analysis, &cells, is_wanted);
        let caption = cells[0].coordinates.clone();
        blocks.extend(table.map(|table| Block::Table(Table { caption, ..table })));
    }
    if blocks.is_empty() {
        return vec![Block::Note("No trial was completed, so there is no work to compare.".to_owned())];
    }
    let tolerated = RULES.map(|rule| format!("{} {:.0} %", measures::words(rule.measure).0, rule.tolerance * 100.0));
    let found = match analysis.consistency.unequal_work.len() {
        0 => "No figure differs".to_owned(),
        1 => "1 figure differs".to_owned(),
        many => format!("{many} figures differ"),
    };
    let note = format!(
        "The load engine counts statements and rows. Device and WAL are counted between two readings within the \
            window. {found} by more than is tolerated. Tolerated, beyond chance: {}.",
        format::listed(tolerated)
    );
    blocks.push(Block::Note(note));
    blocks
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

fn driver(cells: &[&CellResult]) -> Table {
    let title = |cell: &&CellResult| Column::number(filled([&cell.contender, &cell.coordinates], ", "));
    let columns = std::iter::once(Column::text("point values")).chain(cells.iter().map(title));
    let row = |label: &str, detail: &str, of: &dyn Fn(&DriverReading) -> Cell| -> Vec<Cell> {
        let readings = cells.iter().filter_map(|cell| cell.driver.as_ref()).map(of);
        std::iter::once(Cell::text(label).detail(detail)).chain(readings).collect()
    };
    let us = Style { unit: "µs", ..Style::COUNT };
    let tenths = |unit| Style::new(unit, Digits::Decimals(1));
    let busy = Style { digits: Digits::Percent, ..Style::PERCENT };
    let unknown = "not recorded";
    let rows = [
        row("load runs", "beside the database, or over the network", &|one| Cell::text(&one.placement)),
        row("work comes from", "", &|one| Cell::text(source(one))),
        row("sessions / threads", "", &|one| Cell::text(format!("{} / {}", one.sessions, one.shards))),
        row("transactions under way", "by Little's law, from rate and response time", &|one| {
            Cell::number_or(one.under_way, tenths(""), unknown)
        }),
        row("driver CPU per statement, µs", "with the engine's, where that runs in the same process", &|one| {
            Cell::number_or(one.cpu_us_per_statement, tenths("µs"), unknown)
        }),
        row("wait for a session p99, µs", "of the worst trial", &|one| {
            Cell::number(one.session_wait_p99_us as f64, us)
        }),
        row("lateness p99, µs", "of the worst trial", &|one| Cell::number(one.lateness_p99_us as f64, us)),
        row("busiest thread", "share of the window it worked, worst trial", &|one| {
            Cell::number(one.busiest_shard, busy)
        }),
        row("wait for a CPU", "share of the window, longest of all threads and trials", &|one| {
            Cell::number_or(one.run_delay.map(|delay| delay.share), busy, unknown)
        }),
        row(
            "throttled by a CPU limit",
            "of the window, added up over CPUs, worst trial; limits of the study do not count",
            &|one| Cell::number_or(one.throttled, busy, unknown),
        ),
    ];
    Table::new(id("driver", ""), "", columns, rows)
}
