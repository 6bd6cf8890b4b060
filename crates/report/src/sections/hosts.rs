//! Several hosts of one contender: what each is, what each did, and whether they agree.

use super::{contender, headed};
use crate::document::Block;
use crate::format::{self, Style};
use crate::table::{Cell, Column, Table, Tone, columns};
use analysis::contrast::is_significant;
use analysis::hosts::blocks::of_trial;
use analysis::hosts::{Hosts, OfComparison, OnHost};
use analysis::summary::Analysis;
use record::facts::{Fact, Facts};
use record::run::Run;

/// What a reader wants to know of a host first, with the name in the table.
const TELLING: [(&str, &str); 4] = [
    ("cpu.model", "processor"),
    ("cpu.online", "CPUs"),
    ("memory.total_bytes", "memory"),
    ("kernel.release", "kernel"),
];

pub fn blocks(run: &Run, analysis: &Analysis) -> Vec<Block> {
    let Some(hosts) = &analysis.hosts else { return Vec::new() };
    let tables = [described(run, hosts), throughput(analysis, hosts), ratios(analysis, hosts)];
    let found = tables.into_iter().flatten().map(Block::Table).collect();
    let note = "Each block of a contender ran on its next host, and blocks of different hosts at the same time. A comparison of \
        contenders on the same hosts is within a host in each block. Over hosts, each host counts once: that interval is for more \
        hosts like these. Hosts are said to differ if an analysis of variance shows it.";
    headed("Hosts", found, Some(note.to_owned()))
}

/// A row for each host, from its first trial that looked inside.
fn described(run: &Run, hosts: &Hosts) -> Option<Table> {
    let names = format::distinct(hosts.cells.iter().flat_map(|of| &of.hosts).map(|on| on.host.as_str()));
    let facts = |name: &str| {
        let own = run.trials.iter().filter(|trial| of_trial(&run.plan, trial.record.id) == Some(name));
        let mut inside = own.filter_map(|trial| Some(&trial.record.machine.as_ref()?.inside));
        inside.find(|facts| !facts.is_empty())
    };
    let row = |name: &&str| {
        let facts = facts(name);
        let of = TELLING.map(|(fact, _)| Cell::text(known(facts, fact)));
        std::iter::once(Cell::text(*name)).chain(of).collect()
    };
    let head: Vec<Column> = std::iter::once("host").chain(TELLING.map(|(_, title)| title)).map(Column::text).collect();
    Table::new("hosts".to_owned(), "", head, names.iter().map(row)).unless_empty()
}

fn known(facts: Option<&Facts>, name: &str) -> String {
    let Some(Fact::Known(text)) = facts.and_then(|facts| facts.get(name)) else { return "–".to_owned() };
    text.parse().ok().filter(|_| name.ends_with("_bytes")).map_or(text.clone(), format::bytes)
}

fn on_host(who: Cell, on: &OnHost, style: Style<'_>) -> Vec<Cell> {
    vec![who, Cell::text(&on.host), Cell::count(on.blocks), Cell::estimate(Some(&on.estimate), style, "")]
}

fn throughput(analysis: &Analysis, hosts: &Hosts) -> Option<Table> {
    let cells =
        hosts.cells.iter().filter_map(|of| Some((of, analysis.cells.iter().find(|cell| cell.cell == of.cell)?)));
    let rows = cells.flat_map(|(of, cell)| {
        let who = || contender(&cell.contender, &cell.coordinates);
        of.hosts.iter().map(move |on| on_host(who(), on, Style::quantity(&cell.metric.unit)))
    });
    let unit = analysis.cells.iter().map(|cell| cell.metric.name.as_str()).find(|name| !name.is_empty());
    let head = columns(&["contender", "host"], &["blocks", unit.unwrap_or("throughput")]);
    Table::new("throughput-of-hosts".to_owned(), "What each host did", head, rows).unless_empty()
}

fn ratios(analysis: &Analysis, hosts: &Hosts) -> Option<Table> {
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for of in &hosts.ratios {
        let Some(own) = analysis.comparisons.iter().find(|one| one.contender_cell == of.contender_cell) else {
            continue;
        };
        let who = || contender(&format!("{} against {}", own.contender, own.baseline), &own.coordinates);
        let each = |on| [on_host(who(), on, Style::EFFECT), vec![Cell::text("")]].concat();
        rows.extend(of.hosts.iter().map(each));
        let over = Cell::estimate(of.over_hosts.as_ref(), Style::EFFECT, "it needs two hosts");
        rows.push(vec![who(), Cell::text("over hosts"), Cell::count(of.hosts.len()), over, alike(of)]);
    }
    let head = columns(&["change of", "host"], &["blocks", "throughput"]);
    let head: Vec<Column> = head.into_iter().chain(columns(&["hosts differ"], &[])).collect();
    Table::new("ratios-of-hosts".to_owned(), "The change on each host", head, rows).unless_empty()
}

fn alike(of: &OfComparison) -> Cell {
    match of.p_alike {
        None => Cell::text("needs several blocks of a host"),
        Some(_) if is_significant(of.p_alike) => Cell::verdict("yes", Tone::Marked),
        Some(_) => Cell::verdict("not shown", Tone::Muted),
    }
}
