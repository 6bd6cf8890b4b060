//! Several hosts of one contender: what each is, what each did, and whether they agree. Hosts that load came from.

use super::comparison::metric_of;
use super::machines::readable;
use super::side_by_side::ColumnsSideBySide;
use super::{contender, headed};
use crate::document::Block;
use crate::format::{self, Digits, Style, grouped_by};
use crate::measures::{compared, of_cell};
use crate::table::{Table, TableCell, TableOf, Tone};
use analysis::cells::CellResult;
use analysis::contrast::is_significant;
use analysis::estimate::Estimate;
use analysis::hosts::blocks::of_trial;
use analysis::hosts::{Hosts, OfComparison, OnHost};
use analysis::summary::Analysis;
use record::load_hosts::LoadHostFacts;
use record::run::{Run, StoredTrial};
use record::trial::RunDelay;

/// The facts of a host that readers look for first.
const TELLING: [&str; 4] = ["cpu.model", "cpu.online", "kernel.release", "memory.total_bytes"];

pub fn blocks(run: &Run, analysis: &Analysis) -> Vec<Block> {
    let Some(hosts) = &analysis.hosts else { return Vec::new() };
    let tables = [throughput(analysis, hosts), ratios(analysis, hosts)].into_iter().flatten().map(Block::Table);
    let found = described(run, hosts).into_iter().chain(tables);
    let note = "Each block of a contender ran on its next host, and blocks of different hosts at the same time. A comparison of \
        contenders on the same hosts is within a host in each block. Over hosts, each host counts once: that interval is for more \
        hosts like these. Hosts are said to differ if an analysis of variance shows it.";
    headed("Hosts", found, note)
}

/// A column for each host, from its first trial that looked inside.
fn described(run: &Run, hosts: &Hosts) -> Vec<Block> {
    let names = format::distinct(hosts.cells.iter().flat_map(|of| &of.hosts).map(|on| on.host.as_str()));
    let facts = |name: &&str| {
        let own = run.trials.iter().filter(|trial| of_trial(&run.plan, trial.record.id) == Some(*name));
        let mut inside = own.filter_map(|trial| Some(&trial.record.machine.as_ref()?.inside));
        let mut facts = inside.find(|facts| !facts.is_empty()).map(readable).unwrap_or_default();
        facts.retain(|fact, _| TELLING.contains(&fact.as_str()));
        facts
    };
    let columns: Vec<_> = names.iter().map(facts).collect();
    ColumnsSideBySide::of(names.into_iter().map(str::to_owned).collect(), &columns).blocks("hosts", "facts")
}

fn throughput(analysis: &Analysis, hosts: &Hosts) -> Option<Table> {
    let cells = hosts.cells.iter().filter_map(|of| Some((&of.hosts, of_cell(analysis, of.cell)?)));
    let rows: Vec<(&CellResult, &OnHost)> =
        cells.flat_map(|(hosts, cell)| hosts.iter().map(move |on| (cell, on))).collect();
    let unit = metric_of(&analysis.cells.iter().collect::<Vec<_>>());
    TableOf::new(&rows)
        .text("contender", |(cell, _)| contender(&cell.contender, &cell.coordinates))
        .text("host", |(_, on)| TableCell::text(&on.host))
        .number("blocks", |(_, on)| TableCell::count(on.blocks))
        .number(unit.unwrap_or("throughput"), |(cell, on)| {
            TableCell::estimate(Some(&on.estimate), Style::quantity(&cell.metric.unit), "")
        })
        .table("throughput-of-hosts", "What each host did")
}

fn ratios(analysis: &Analysis, hosts: &Hosts) -> Option<Table> {
    let mut rows: Vec<(TableCell, &str, usize, Option<&Estimate>, TableCell)> = Vec::new();
    for of in &hosts.ratios {
        let Some(own) = compared(analysis, of.contender_cell) else { continue };
        let who = contender(&format!("{} against {}", own.contender, own.baseline), &own.coordinates);
        rows.extend(
            of.hosts
                .iter()
                .map(|on| (who.clone(), on.host.as_str(), on.blocks, Some(&on.estimate), TableCell::text(""))),
        );
        rows.push((who, "over hosts", of.hosts.len(), of.over_hosts.as_ref(), alike(of)));
    }
    TableOf::new(&rows)
        .text("change of", |(who, ..)| who.clone())
        .text("host", |(_, host, ..)| TableCell::text(*host))
        .number("blocks", |(_, _, blocks, ..)| TableCell::count(*blocks))
        .number("throughput", |(.., change, _)| TableCell::estimate(*change, Style::EFFECT, "it needs two hosts"))
        .text("hosts differ", |(.., alike)| alike.clone())
        .table("ratios-of-hosts", "The change on each host")
}

fn alike(of: &OfComparison) -> TableCell {
    match of.p_alike {
        None => TableCell::text("needs several blocks of a host"),
        Some(_) if is_significant(of.p_alike) => TableCell::verdict("yes", Tone::Marked),
        Some(_) => TableCell::verdict("not shown", Tone::Muted),
    }
}

const MILLIS: Style<'static> = Style::new("ms", Digits::Decimals(3));

pub fn of_load(run: &Run) -> Vec<Block> {
    let all: Vec<&LoadHostFacts> = run.trials.iter().flat_map(StoredTrial::load_hosts).collect();
    let statements = |of: &[&LoadHostFacts]| of.iter().map(|facts| facts.statements).sum::<u64>();
    let total = statements(&all).max(1) as f64;
    let worst =
        |own: &[&LoadHostFacts], of: fn(&LoadHostFacts) -> f64| own.iter().map(|facts| of(facts)).fold(0.0, f64::max);
    // The longest share of a window in which a thread waited.
    let waited = |own: &[&LoadHostFacts]| {
        RunDelay::longest(own.iter().map(|facts| facts.testimony.run_delay)).map(|delay| delay.share)
    };
    let late_ms = |facts: &LoadHostFacts| facts.late_us.unwrap_or(0).abs() as f64 / 1e3;
    let uncertain_ms =
        |facts: &LoadHostFacts| facts.clock.iter().map(|reading| reading.round_trip_ns).max().unwrap_or(0) as f64 / 2e6;
    let table = TableOf::new(&grouped_by(all, |facts| &facts.host))
        .text("load host", |own| TableCell::text(&own[0].host))
        .number("sessions", |own| TableCell::count(own.iter().map(|facts| facts.sessions).max().unwrap_or(0)))
        .number("statements, % of all", |own| TableCell::number(statements(own) as f64 / total, Style::PERCENT))
        .number("busiest thread, %", |own| {
            TableCell::number(worst(own, |one| one.testimony.busiest_shard), Style::PERCENT)
        })
        .number("wait for a CPU, %", |own| TableCell::number_or(waited(own), Style::PERCENT, "not recorded"))
        .number("latest start, ms", |own| TableCell::number(worst(own, late_ms), MILLIS))
        .number("clock known to, ± ms", |own| TableCell::number(worst(own, uncertain_ms), MILLIS))
        .table("load-hosts", "");
    let note = "All load hosts start at the same moment, converted to the clock of each. The latest start is how far from that moment \
        a host began, in the worst trial. The error of its clock comes on top.";
    headed("Load hosts", table.map(Block::Table), note)
}
