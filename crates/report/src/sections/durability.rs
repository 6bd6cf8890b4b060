//! Whether acknowledged transactions survive when servers, guests and the host's power are lost, and what a commit costs.

use super::{contender, headed};
use crate::document::Block;
use crate::format::{self, Digits, Style};
use crate::table::{Cell, Table, TableOf, Tone};
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
    let number = |one: &Audited, of: &dyn Fn(&Cost) -> Option<f64>, digits| {
        Cell::number_or(one.cost.as_ref().and_then(of), Style::new("", digits), NOT_MEASURED)
    };
    let table = TableOf::new(all)
        .text("contender", |one| contender(&one.contender, &one.coordinates))
        .text("verdict", |one| Cell::verdict(one.verdict.word(), tone(&one.verdict)))
        .number("flushes", |one| number(one, &|cost| Some(cost.flushes), Digits::Decimals(2)))
        .number("KiB", |one| number(one, &|cost| Some(cost.bytes / 1024.0), Digits::Decimals(1)))
        .number("waited for", |one| number(one, &|cost| cost.slope, Digits::Decimals(2)));
    let table = rates.iter().enumerate().fold(table, |table, (index, clients)| {
        let rate = |cost: &Cost| Some(cost.rates.iter().find(|rate| rate.clients == *clients)?.per_second);
        // The first says what the numbers count.
        let title = if index == 0 { format::counted((*clients).into(), "client") } else { clients.to_string() };
        table.number(title, |one| number(one, &rate, Digits::Quantity))
    });
    let caption =
        "What a commit costs: flushes and KiB at the disk, flushes that it waited for, and commits/s by clients";
    table.table("durability", caption).unless_empty()
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
    let faults: Vec<_> = all.iter().flat_map(|one| one.faults.iter().map(move |by| (one, by))).collect();
    let caption = "What was lost, and what was missing afterwards; a loss is counted if a second rebuild shows it, too";
    TableOf::new(&faults)
        .text("contender", |(one, _)| contender(&one.contender, &one.coordinates))
        .text("fault", |(_, by)| Cell::text(fault(by.fault)))
        .number("times", |(_, by)| Cell::count(by.times as u64))
        .number("something acknowledged was lost", |(_, by)| marked(by.losing as u64))
        .number("most lost", |(_, by)| marked(by.most))
        .number("data not whole", |(_, by)| marked(by.breaking as u64))
        .table("durability-faults", caption)
        .unless_empty()
}

fn marked(count: u64) -> Cell {
    Cell::count(count).tone(if count > 0 { Tone::Marked } else { Tone::Plain })
}

/// What was acknowledged before it was safe, whether or not a cut lost it.
fn early(all: &[Audited]) -> Option<Table> {
    let audited = all.iter().filter(|one| !matches!(one.verdict, Verdict::NotAudited { .. }));
    let scanned: Vec<_> = audited.map(|one| (one, one.scan.unwrap_or_default())).collect();
    TableOf::new(&scanned)
        .text("contender", |(one, _)| contender(&one.contender, &one.coordinates))
        .number("acknowledged", |(one, _)| Cell::count(one.acknowledged))
        .number("holds", |(one, _)| Cell::count(one.holds as u64))
        .number("begun and acknowledged in a hold", |(one, _)| marked(one.acknowledged_in_holds))
        .number("flushed", |(_, scan)| Cell::count(scan.flushed))
        .number("only written", |(_, scan)| marked(scan.unflushed))
        .number("not written", |(_, scan)| marked(scan.unwritten))
        .table("durability-early", "Where each transaction was when it was acknowledged, by the log of the disk")
        .unless_empty()
}
