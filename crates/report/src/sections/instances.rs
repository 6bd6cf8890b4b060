//! Several databases of one machine: what each of them did.

use super::{headed, place};
use crate::document::Block;
use crate::format::{Style, grouped_by};
use crate::table::{TableCell, TableOf, id};
use analysis::summary::Analysis;

const NONE: &str = "no valid trial has it";

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut found = Vec::new();
    for group in grouped_by(&analysis.databases, |one| &one.coordinates) {
        let (coordinates, unit) = (&group[0].coordinates, group[0].metric.unit.as_str());
        let table = TableOf::new(&group)
            .text("contender", |one| TableCell::text(if one.instance == 1 { &one.contender } else { "" }))
            .number("database", |one| TableCell::count(one.instance))
            .number("throughput", |one| TableCell::estimate(one.throughput.as_ref(), Style::quantity(unit), NONE))
            .number("share, %", |one| TableCell::estimate(one.share.as_ref(), Style::PERCENT, NONE));
        found.extend(place(coordinates));
        found.extend(table.table(id("databases", coordinates), unit).map(Block::Table));
    }
    let note = "All databases of a machine are driven at once, by an equal part of the clients each. The machine's throughput is \
        their sum. Each has data checks of its own.";
    headed("Databases of each machine", found, note)
}
