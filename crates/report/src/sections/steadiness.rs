//! Whether what was measured was a steady state.

use super::comparison::groups;
use super::{heading, place};
use crate::document::{Block, Cell, Column, Table, Tone};
use crate::format;
use analysis::cells::CellResult;
use analysis::estimate::Estimate;
use analysis::steadiness::{CellSteadiness, Steadiness};
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut blocks = vec![heading("Steady state")];
    for cells in groups(analysis) {
        blocks.extend(place(&cells[0].coordinates));
        blocks.push(Block::Table(table(&cells)));
    }
    blocks.push(Block::Note(
        "Drift is the change of throughput from the beginning of the measured window to its end, along a straight line; of a \
         cell, the mean over its trials. MSER-5 says where the mean of the rest of a trial would be known best; that it is \
         beyond the warm-up happens by chance, too. Nothing is left out because of this table."
            .to_owned(),
    ));
    blocks
}

fn table(cells: &[&CellResult]) -> Table {
    let columns = [
        Column::text("contender"),
        Column::text("steady state"),
        Column::number("drift over the window"),
        Column::number("trials that drift"),
        Column::number("that settle after the warm-up"),
        Column::number("that do not settle"),
        Column::text("whole checkpoint cycles in a window"),
    ];
    Table { caption: String::new(), columns: columns.into(), rows: cells.iter().map(|cell| row(cell)).collect() }
}

fn row(cell: &CellResult) -> Vec<Cell> {
    let found = &cell.steadiness;
    let late = part(found.settled_late, found.settling_told);
    let late = match found.change.filter(|_| found.settled_late > 0) {
        Some(change) => late.detail(format!("throughput would change by {}", percent(change))),
        None => late,
    };
    vec![
        Cell::new(&cell.contender),
        verdict(&found.verdict),
        drift(found.drift.as_ref()),
        part(found.drifting, found.drift_told),
        late,
        part(found.unsettled, found.settling_told),
        cycles(found),
    ]
}

/// Of those trials that are long enough to tell.
fn part(count: usize, told: usize) -> Cell {
    if told == 0 { Cell::none() } else { Cell::new(format!("{count} of {told}")) }
}

/// What is said of a trial or a cell.
pub fn verdict(found: &Steadiness) -> Cell {
    match found {
        Steadiness::Steady => Cell::new("steady").tone(Tone::Good),
        Steadiness::Drifting => Cell::new("no steady state").detail("it drifts").tone(Tone::Bad),
        Steadiness::Unsettled => Cell::new("no steady state").detail("it does not settle").tone(Tone::Bad),
        Steadiness::TooShortToTell { why } => Cell::new("too short to tell").detail(why).tone(Tone::Muted),
    }
}

fn drift(drift: Option<&Estimate>) -> Cell {
    drift.map_or_else(Cell::none, |drift| {
        let interval = match drift.bounds.known() {
            Some((low, high)) => format!("{} to {}", percent(low), percent(high)),
            None => "plain reading".to_owned(),
        };
        Cell::new(percent(drift.point)).detail(interval)
    })
}

/// A change in percent, with its sign.
pub fn percent(share: f64) -> String {
    let rounded = (share * 1000.0).round() / 10.0;
    let sign = if rounded > 0.0 { "+" } else { "" };
    // No "-0.0": what rounds to nothing has no direction.
    format!("{sign}{} %", format::decimal(if rounded == 0.0 { 0.0 } else { rounded }, 1))
}

fn cycles(found: &CellSteadiness) -> Cell {
    match found.whole_cycles {
        None => Cell::new("the engine does not tell").tone(Tone::Muted),
        Some((0, 0)) => Cell::new("none").tone(Tone::Marked),
        Some((fewest, most)) if fewest == most => Cell::new(most.to_string()),
        Some((fewest, most)) => Cell::new(format!("{fewest} to {most}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_a_sign_unless_they_round_to_nothing() {
        assert_eq!([0.081, -0.081, -0.000_4, 12.0].map(percent), ["+8.1 %", "-8.1 %", "0.0 %", "+1,200.0 %"]);
    }
}
