//! Machines side by side: scores of each cell, each machine by itself, and what they say in sentences.

use super::attribution;
use super::heading;
use crate::consolidation;
use crate::document::{Block, Cell, Column, Table, Tone};
use crate::figures;
use crate::format;
use crate::measures::estimate;
use analysis::consolidation::Consolidation;
use analysis::consolidation::alone::Efficiency;
use analysis::consolidation::slots::{Slot, Standing};
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let found: Vec<&Consolidation> = analysis.consolidation.iter().filter(|one| has_scores(one)).collect();
    let Some(first) = found.first() else { return Vec::new() };
    let mut blocks = vec![heading("Consolidation")];
    blocks.extend(found.iter().map(|one| Block::Paragraph(consolidation::headline(one))));
    blocks.push(Block::Table(scores(&found, &first.metric.unit)));
    blocks.extend(figures::consolidation::figure(analysis).map(Block::Figure));
    blocks.push(Block::List(found.iter().copied().flat_map(consolidation::sentences).collect()));
    blocks.push(Block::Table(machines(&found)));
    blocks.extend(attribution::blocks(&found));
    blocks.push(Block::Note(note()));
    blocks
}

/// Of a single machine beside one that comes and goes, that section says it all.
pub fn has_scores(one: &Consolidation) -> bool {
    one.machines > 1 || crate::neighbour::headline(one).is_none()
}

fn scores(found: &[&Consolidation], unit: &str) -> Table {
    let columns = [
        Column::text("contender"),
        Column::text("machines"),
        Column::number("minimum"),
        Column::number("of one alone"),
        Column::number("sum"),
        Column::number("mean"),
        Column::number("max / min"),
        Column::number("fairness"),
        Column::number("efficiency"),
        Column::text("efficiency over"),
        Column::number("minimum by chance"),
    ];
    Table {
        caption: format!("Scores, in {unit}"),
        columns: columns.into(),
        rows: found.iter().copied().map(row).collect(),
    }
}

fn row(one: &Consolidation) -> Vec<Cell> {
    let scores = &one.scores;
    vec![
        name(one),
        Cell::new(one.machines.to_string()).detail(size(one)),
        estimate(scores.minimum.as_ref(), format::quantity),
        estimate(scores.minimum_of_alone.as_ref(), format::ratio),
        estimate(scores.sum.as_ref(), format::quantity),
        estimate(scores.mean.as_ref(), format::quantity),
        estimate(scores.largest_over_smallest.as_ref(), format::ratio),
        estimate(scores.fairness.as_ref(), |fairness| format::decimal(fairness, 3)),
        estimate(one.efficiency.as_ref().map(|efficiency| &efficiency.value), format::ratio),
        reference(one.efficiency.as_ref()),
        estimate(one.chance.as_ref().map(|chance| &chance.expected), format::quantity),
    ]
}

pub fn name(one: &Consolidation) -> Cell {
    let name = Cell::new(&one.contender);
    if one.coordinates.is_empty() { name } else { name.detail(&one.coordinates) }
}

/// "2 vCPUs, 2 GiB each".
fn size(one: &Consolidation) -> String {
    let vcpus = one.vcpus.map(|vcpus| format!("{vcpus} vCPU{}", if vcpus == 1 { "" } else { "s" }));
    let parts: Vec<String> = vcpus.into_iter().chain(one.memory_bytes.map(format::bytes)).collect();
    if parts.is_empty() { String::new() } else { format!("{} each", parts.join(", ")) }
}

fn reference(found: Option<&Efficiency>) -> Cell {
    let Some(found) = found else { return Cell::none() };
    let size = if found.same_total { "of the same size in total" } else { "of another size in total" };
    let place = crate::format::at(&found.reference.coordinates);
    Cell::new(format!("{}{place}", found.reference.contender)).detail(size)
}

fn machines(found: &[&Consolidation]) -> Table {
    let columns = [
        Column::text("contender"),
        Column::number("machine"),
        Column::number("throughput"),
        Column::number("share of the sum"),
        Column::number("of the mean of the others"),
        Column::number("of one alone"),
        Column::text("least in"),
    ];
    let rows = found.iter().copied().flat_map(|one| one.slots.iter().map(move |slot| machine(one, slot)));
    Table { caption: "Each machine by itself".to_owned(), columns: columns.into(), rows: rows.collect() }
}

fn machine(one: &Consolidation, slot: &Slot) -> Vec<Cell> {
    vec![
        name(one),
        Cell::new(slot.machine.to_string()),
        estimate(slot.throughput.as_ref(), format::quantity),
        estimate(slot.share.as_ref(), format::ratio),
        estimate(slot.of_others.as_ref(), format::ratio).tone(tone(slot.standing)),
        estimate(slot.of_alone.as_ref(), format::ratio),
        Cell::new(format!("{} of {} trials", slot.least_in, one.trials.len())),
    ]
}

pub fn tone(standing: Standing) -> Tone {
    match standing {
        Standing::HeldBack => Tone::Bad,
        Standing::Behind => Tone::Marked,
        Standing::Ahead | Standing::NotApart | Standing::NotTold => Tone::Plain,
    }
}

fn note() -> String {
    "The minimum of a trial is what its slowest machine did in the measured window; figures are over blocks, with 95 % intervals by \
     Student's t. Fairness is Jain's index: 1 if all machines did the same, one over their number if one did everything. “Of one alone” is \
     paired by block with the cell in which one such machine runs by itself. “Of the mean of the others” has intervals that hold for \
     all machines of a cell together; a machine is held back if the whole of it is below 0.95. “Minimum by chance” is what as many equal \
     machines would show that vary as these do, with the range in which it would lie in 95 of 100 runs."
        .to_owned()
}
