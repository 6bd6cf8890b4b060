//! Whether acknowledged transactions survive when servers, guests and the host's power are lost, and what a commit costs.

use super::{contender, headed};
use crate::document::Block;
use crate::format::{self, Digits, Style};
use crate::table::{Cell, Column, Table, Tone, columns};
use analysis::durability::{Audited, Verdict};
use analysis::summary::Analysis;
use record::durability::{Cost, Fault};

const NOT_MEASURED: &str = "not measured";
const NOTE: &str = "A commit waits for as many flushes, one after the other, as it takes milliseconds longer for each millisecond that a \
    flush takes longer; 0 means that it waits for none. Commits a second were measured while each flush took as long as \
    audit.durability.flush_delay says. What the host's own disk does with a flush when its power fails is not known here: an audit \
    looks at everything above it.";

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let all = &analysis.durability;
    let tables = [overview(all), faults(all), early(all)].into_iter().flatten().map(Block::Table);
    headed("Durability", tables.collect(), Some(NOTE.to_owned()))
}

fn tone(verdict: &Verdict) -> Tone {
    match verdict {
        Verdict::Kept { .. } => Tone::Good,
        Verdict::Undecided { .. } | Verdict::NotAudited { .. } => Tone::Muted,
        other if other.is_a_lie() => Tone::Bad,
        _ => Tone::Marked,
    }
}

/// A fast liar and a slow honest contender side by side.
pub fn overview(all: &[Audited]) -> Option<Table> {
    let rates: Vec<u32> =
        all.iter().filter_map(|one| one.cost.as_ref()).map(tried).max_by_key(Vec::len).unwrap_or_default();
    let mut columns = columns(&["contender", "verdict"], &["flushes", "KiB", "waited for"]);
    // The first says what the numbers count.
    let clients = |(index, count): (usize, &u32)| {
        Column::number(if index == 0 { format::counted((*count).into(), "client") } else { count.to_string() })
    };
    columns.extend(rates.iter().enumerate().map(clients));
    let rows = all.iter().map(|one| {
        let cost = one.cost.as_ref();
        let number = |value: Option<f64>, digits| Cell::number_or(value, Style::new("", digits), NOT_MEASURED);
        let mut row = vec![
            contender(&one.contender, &one.coordinates),
            Cell::verdict(one.verdict.word(), tone(&one.verdict)),
            number(cost.map(|cost| cost.flushes), Digits::Decimals(2)),
            number(cost.map(|cost| cost.bytes / 1024.0), Digits::Decimals(1)),
            number(cost.and_then(|cost| cost.slope), Digits::Decimals(2)),
        ];
        row.extend(rates.iter().map(|clients| {
            let rate = cost.and_then(|cost| cost.rates.iter().find(|rate| rate.clients == *clients));
            number(rate.map(|rate| rate.per_second), Digits::Quantity)
        }));
        row
    });
    let caption =
        "What a commit costs: flushes and KiB at the disk, flushes that it waited for, and commits/s by clients";
    Table::new("durability".to_owned(), caption, columns, rows).unless_empty()
}

fn tried(cost: &Cost) -> Vec<u32> {
    cost.rates.iter().map(|rate| rate.clients).collect()
}

fn fault(fault: Fault) -> &'static str {
    match fault {
        Fault::ServerKilled => "the server is killed",
        Fault::GuestLost => "the guest is lost",
        Fault::HostLost => "the host loses power",
    }
}

fn faults(all: &[Audited]) -> Option<Table> {
    let numbers = ["times", "something acknowledged was lost", "most lost", "data not whole"];
    let rows = all.iter().flat_map(|one| {
        one.faults.iter().map(|by| {
            vec![
                contender(&one.contender, &one.coordinates),
                Cell::text(fault(by.fault)),
                Cell::count(by.times as u64),
                marked(by.losing as u64),
                marked(by.most),
                marked(by.breaking as u64),
            ]
        })
    });
    let caption = "What was lost, and what was missing afterwards; a loss is counted if a second rebuild shows it, too";
    Table::new("durability-faults".to_owned(), caption, columns(&["contender", "fault"], &numbers), rows).unless_empty()
}

fn marked(count: u64) -> Cell {
    Cell::count(count).tone(if count > 0 { Tone::Marked } else { Tone::Plain })
}

/// What was acknowledged before it was safe, whether or not a cut lost it.
fn early(all: &[Audited]) -> Option<Table> {
    let numbers =
        ["acknowledged", "holds", "begun and acknowledged in a hold", "flushed", "only written", "not written"];
    let rows = all.iter().filter(|one| !matches!(one.verdict, Verdict::NotAudited { .. })).map(|one| {
        let scan = one.scan.unwrap_or_default();
        vec![
            contender(&one.contender, &one.coordinates),
            Cell::count(one.acknowledged),
            Cell::count(one.holds as u64),
            marked(one.acknowledged_in_holds),
            Cell::count(scan.flushed),
            marked(scan.unflushed),
            marked(scan.unwritten),
        ]
    });
    let caption = "Where each transaction was when it was acknowledged, by the log of the disk";
    Table::new("durability-early".to_owned(), caption, columns(&["contender"], &numbers), rows).unless_empty()
}
