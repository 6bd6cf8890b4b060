//! Several databases of one machine: what each of them did.

use super::{headed, place};
use crate::document::Block;
use crate::format::{Digits, Style, distinct};
use crate::table::{Cell, Table, columns, id};
use analysis::databases::DatabaseOfMany;
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut found = Vec::new();
    for coordinates in distinct(analysis.databases.iter().map(|one| one.coordinates.as_str())) {
        found.extend(place(coordinates));
        let of: Vec<&DatabaseOfMany> = analysis.databases.iter().filter(|one| one.coordinates == coordinates).collect();
        found.push(Block::Table(table(coordinates, &of)));
    }
    let note = "All databases of a machine are driven at once, by an equal part of the clients each. The machine's throughput is \
        their sum. Each has data checks of its own.";
    headed("Databases of each machine", found, Some(note.to_owned()))
}

fn table(coordinates: &str, databases: &[&DatabaseOfMany]) -> Table {
    let unit = databases[0].metric.unit.as_str();
    let share = Style { digits: Digits::Decimals(1), ..Style::PERCENT };
    let rows = databases.iter().map(|one| {
        vec![
            Cell::text(if one.instance == 1 { &one.contender } else { "" }),
            Cell::count(one.instance as usize),
            Cell::estimate(one.throughput.as_ref(), Style::quantity(unit), "no valid trial has it"),
            Cell::estimate(one.share.as_ref(), share, "no valid trial has it"),
        ]
    });
    Table::new(
        id("databases", coordinates),
        unit,
        columns(&["contender"], &["database", "throughput", "share, %"]),
        rows,
    )
}
