//! Machines side by side: scores of each cell, each machine by itself, and conclusions in sentences.

use super::attribution::tone;
use super::{attribution, contender, headed};
use crate::document::Block;
use crate::format::{self, Style};
use crate::measures::{level, style};
use crate::neighbour::has_scores;
use crate::table::{Cell, Column, Table, columns, id};
use crate::{consolidation, figures};
use analysis::consolidation::Consolidation;
use analysis::consolidation::alone::Efficiency;
use analysis::consolidation::slots::Slot;
use analysis::estimate::Estimate;
use analysis::measures::machines::{APART, FAIRNESS, MEAN, SUM};
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let found: Vec<&Consolidation> = analysis.consolidation.iter().filter(|one| has_scores(one)).collect();
    let Some(first) = found.first() else { return Vec::new() };
    let mut blocks: Vec<Block> = found.iter().map(|one| Block::Paragraph(consolidation::headline(one))).collect();
    blocks.push(Block::Table(scores(analysis, &found, &first.metric.unit)));
    blocks.extend(figures::consolidation::figure(analysis).map(Block::Figure));
    blocks.push(Block::List(found.iter().copied().flat_map(consolidation::sentences).collect()));
    blocks.push(Block::Table(machines(&found)));
    blocks.extend(attribution::blocks(&found));
    headed("Consolidation", blocks, Some(NOTE.to_owned()))
}

const MEASURES: [&str; 4] = [SUM, MEAN, APART, FAIRNESS];

fn scores(analysis: &Analysis, found: &[&Consolidation], unit: &str) -> Table {
    let first = ["minimum", "of one alone", "sum", "mean", "max / min", "fairness, %", "efficiency"];
    let mut columns = columns(&["contender", "machines"], &first);
    columns.extend([Column::text("efficiency over"), Column::number("minimum by chance")]);
    let rows = found.iter().copied().map(|one| row(analysis, one));
    Table::new(id("scores", ""), format!("Scores, in {unit}"), columns, rows)
}

/// The reason for figures that need one machine alone.
const NONE_ALONE: &str = "no cell has one such machine alone";
const NONE_OF_BASELINE: &str = "it is the baseline, or the study has no single machine of the baseline under this load";

fn row(analysis: &Analysis, one: &Consolidation) -> Vec<Cell> {
    let cell = analysis.cells.iter().find(|cell| cell.cell == one.cell);
    let measured = |id: &str| {
        let measure = analysis.observations.measure(id).map(|measured| &measured.measure);
        let level = cell.zip(measure).map(|(cell, measure)| level(analysis, cell, id, style(&measure.unit)));
        level.unwrap_or_else(|| Cell::missing("no trial has scores"))
    };
    let rate = Style::quantity(&one.metric.unit);
    let first = [
        contender(&one.contender, &one.coordinates),
        Cell::count(one.machines).detail(size(one)),
        Cell::estimate(one.minimum.as_ref(), rate, "no trial has scores"),
        Cell::estimate(one.minimum_of_alone.as_ref(), Style::EFFECT, NONE_ALONE),
    ];
    let last = [
        Cell::estimate(one.efficiency.as_ref().map(|efficiency| &efficiency.value), Style::RATIO, NONE_TO_COMPARE),
        reference(one.efficiency.as_ref()),
        Cell::estimate(one.chance.as_ref().map(|chance| &chance.expected), rate, "too few trials with scores"),
    ];
    first.into_iter().chain(MEASURES.map(measured)).chain(last).collect()
}

const NONE_TO_COMPARE: &str = "no cell has one machine to compare with";

/// "2 vCPUs, 2 GiB each".
fn size(one: &Consolidation) -> String {
    let vcpus = one.vcpus.map(|vcpus| format::counted(vcpus, "vCPU"));
    let parts: Vec<String> = vcpus.into_iter().chain(one.memory_bytes.map(format::bytes)).collect();
    if parts.is_empty() { String::new() } else { format!("{} each", parts.join(", ")) }
}

fn reference(found: Option<&Efficiency>) -> Cell {
    let Some(found) = found else { return Cell::missing(NONE_TO_COMPARE) };
    let size = if found.same_total { "of the same size in total" } else { "of another size in total" };
    let place = format::at(&found.reference.coordinates);
    Cell::text(format!("{}{place}", found.reference.contender)).detail(size)
}

fn machines(found: &[&Consolidation]) -> Table {
    let figures = [
        "machine",
        "throughput",
        "share of the sum",
        "of the mean of the others",
        "of one alone",
        "of one of the baseline",
    ];
    let mut columns = columns(&["contender"], &figures);
    columns.push(Column::text("least in"));
    let rows = found.iter().copied().flat_map(|one| one.slots.iter().map(move |slot| machine(one, slot)));
    Table::new(id("machines", ""), "Each machine by itself", columns, rows)
}

fn machine(one: &Consolidation, slot: &Slot) -> Vec<Cell> {
    let figure = |found: Option<&Estimate>, style| Cell::estimate(found, style, "no trial has scores");
    vec![
        contender(&one.contender, &one.coordinates),
        Cell::name(slot.machine),
        figure(slot.throughput.as_ref(), Style::quantity(&one.metric.unit)),
        figure(slot.share.as_ref(), Style::RATIO),
        figure(slot.of_others.as_ref(), Style::EFFECT).tone(tone(slot.of_others.as_ref())),
        Cell::estimate(slot.of_alone.as_ref(), Style::EFFECT, NONE_ALONE),
        Cell::estimate(slot.of_baseline.as_ref(), Style::EFFECT, NONE_OF_BASELINE),
        Cell::part(slot.least_in, one.trials.len(), "trials"),
    ]
}

const NOTE: &str = "The minimum of a trial is what its slowest machine did in the measured window; figures are over blocks, with 95 % confidence intervals by \
     Student's t. Fairness is Jain's index: 1 if all machines did the same, one over their number if one did everything. “Of one alone” is \
     paired by block with the cell in which one such machine runs by itself. “Of the mean of the others” has intervals that hold for \
     all machines of a cell together; a machine is held back if the whole of it is below 0.95. “Minimum by chance” is what as many equal \
     machines would show that vary as these do, with the range in which it would lie in 95 of 100 runs.";
