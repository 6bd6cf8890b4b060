//! Whether the measured windows were in a steady state.

use super::comparison::each_group;
use super::heading;
use crate::document::Block;
use crate::format::{Style, within};
use crate::missing;
use crate::table::{Cell, Table, TableOf, Tone, id};
use analysis::cells::CellResult;
use analysis::estimate::Estimate;
use analysis::steadiness::{CellSteadiness, Steadiness};
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut blocks = vec![heading("Steady state")];
    blocks.extend(each_group(analysis, |cells| vec![Block::Table(table(cells))]));
    blocks.push(Block::Note(
        "Drift is the change of throughput over the measured window, along a straight line. MSER-5 is a standard \
            rule for the end of warming up; by chance it may lie beyond the warm-up. This table leaves nothing out of \
            any estimate."
            .to_owned(),
    ));
    blocks
}

fn table(cells: &[&CellResult]) -> Table {
    let found: Vec<(&str, &CellSteadiness)> =
        cells.iter().map(|cell| (cell.contender.as_str(), &cell.steadiness)).collect();
    let change = |found: &CellSteadiness| {
        let change = found.change.filter(|_| found.settled_late > 0).map(|change| Style::CHANGE.text(change));
        within("throughput would change by ", &change.unwrap_or_default(), "")
    };
    let late = |found: &CellSteadiness| part(found.settled_late, found.settling_told).detail(change(found));
    TableOf::new(&found)
        .text("contender", |(contender, _)| Cell::text(*contender))
        .text("steady state", |(_, found)| verdict(&found.verdict))
        .number("drift over the window", |(_, found)| drift(found.drift.as_ref()))
        .number("trials that drift", |(_, found)| part(found.drifting, found.drift_told))
        .number("that settle after the warm-up", |(_, found)| late(found))
        .number("that do not settle", |(_, found)| part(found.unsettled, found.settling_told))
        .text("whole checkpoint cycles in a window", |(_, found)| cycles(found))
        .table(id("steadiness", &cells[0].coordinates), "")
}

const TOO_SHORT: &str = "trials are too short to tell";

/// Counted among the trials that are long enough to tell.
fn part(count: usize, told: usize) -> Cell {
    if told == 0 { Cell::missing(TOO_SHORT) } else { Cell::part(count, told, "") }
}

/// The verdict on a trial or a cell.
pub fn verdict(found: &Steadiness) -> Cell {
    match found {
        Steadiness::Steady => Cell::verdict("steady", Tone::Good),
        Steadiness::Drifting => Cell::verdict("no steady state", Tone::Bad).detail("it drifts"),
        Steadiness::Unsettled => Cell::verdict("no steady state", Tone::Bad).detail("it does not settle"),
        Steadiness::TooShortToTell { why } => Cell::verdict("too short to tell", Tone::Muted).detail(missing::why(why)),
    }
}

fn drift(drift: Option<&Estimate>) -> Cell {
    let cell = Cell::estimate(drift, Style::CHANGE, TOO_SHORT);
    let plain = drift.is_some_and(|drift| drift.bounds.known().is_none());
    if plain { cell.detail("point value") } else { cell }
}

fn cycles(found: &CellSteadiness) -> Cell {
    match found.whole_cycles {
        None => Cell::text("the engine does not tell").tone(Tone::Muted),
        Some((0, 0)) => Cell::text("none").tone(Tone::Marked),
        Some((fewest, most)) if fewest == most => Cell::count(most),
        Some((fewest, most)) => Cell::text(format!("{fewest} to {most}")),
    }
}
