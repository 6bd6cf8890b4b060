//! The hosts that load came from: what each did, and how well they were together.

use super::headed;
use crate::document::Block;
use crate::format::{Digits, Style};
use crate::table::{Cell, Table, columns};
use record::load_hosts::LoadHostFacts;
use record::run::{Run, StoredTrial};
use record::trial::RunDelay;

const MILLIS: Style<'static> = Style::new("ms", Digits::Decimals(3));

pub fn blocks(run: &Run) -> Vec<Block> {
    let all: Vec<&LoadHostFacts> = run.trials.iter().flat_map(StoredTrial::load_hosts).collect();
    let names = crate::format::distinct(all.iter().map(|facts| facts.host.as_str()));
    let statements: u64 = all.iter().map(|facts| facts.statements).sum();
    let rows = names.iter().map(|name| {
        let own = || all.iter().filter(|facts| facts.host == *name);
        let done: u64 = own().map(|facts| facts.statements).sum();
        let worst = |of: &dyn Fn(&LoadHostFacts) -> f64| own().map(|facts| of(facts)).fold(0.0, f64::max);
        let late_ms = |facts: &LoadHostFacts| facts.late_us.unwrap_or(0).abs() as f64 / 1e3;
        let uncertain_ms = |facts: &LoadHostFacts| {
            facts.clock.iter().map(|reading| reading.round_trip_ns).max().unwrap_or(0) as f64 / 2e6
        };
        vec![
            Cell::text(*name),
            Cell::count(own().map(|facts| facts.sessions).max().unwrap_or(0)),
            Cell::number(done as f64 / statements.max(1) as f64, Style::PERCENT),
            Cell::number(worst(&|facts| facts.testimony.busiest_shard), Style::PERCENT),
            Cell::number_or(waited(own().copied()), Style::PERCENT, "not recorded"),
            Cell::number(worst(&late_ms), MILLIS),
            Cell::number(worst(&uncertain_ms), MILLIS),
        ]
    });
    let titles = [
        "sessions",
        "statements, % of all",
        "busiest thread, %",
        "wait for a CPU, %",
        "latest start, ms",
        "clock known to, ± ms",
    ];
    let table = Table::new("load-hosts".to_owned(), "", columns(&["load host"], &titles), rows).unless_empty();
    let note = "All load hosts start at the same moment, converted to the clock of each. The latest start is how far from that moment \
        a host began, in the worst trial. The error of its clock comes on top.";
    headed("Load hosts", table.map(Block::Table).into_iter().collect(), Some(note.to_owned()))
}

/// The longest share of a window in which a thread waited.
fn waited<'a>(trials: impl Iterator<Item = &'a LoadHostFacts>) -> Option<f64> {
    RunDelay::longest(trials.map(|facts| facts.testimony.run_delay)).map(|delay| delay.share)
}
