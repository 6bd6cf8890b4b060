//! The comparison table: one column for each contender, the figures that answer the question.

use super::{heading, place};
use crate::document::Block;
use crate::format::{self, distinct};
use crate::measures::{compared, level, named, relative, style};
use crate::table::{Cell, Column, Table, Tone, id};
use analysis::cells::CellResult;
use analysis::compare;
use analysis::measures::throughput::THROUGHPUT;
use analysis::measures::{Better, Measure};
use analysis::summary::Analysis;
use record::facts::EMULATED;
use record::trial::Metric;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut blocks = vec![heading("Comparison")];
    let of_group = |cells: &[&CellResult]| {
        std::iter::once(Block::Table(table(analysis, cells))).chain(left_out(analysis, cells)).collect()
    };
    blocks.extend(each_group(analysis, of_group));
    blocks.push(Block::Note(format!(
        "Below each figure is its {:.0} % interval over blocks, by Student's t on logarithms. Throughput and latency are geometric \
         means over blocks, so that their ratios are those of what is shown, unless blocks are left out. Latency is from due to \
         done; each trial has its own percentiles.",
        analysis.method.confidence * 100.0
    )));
    if !analysis.consolidation.is_empty() {
        let note = "Where several machines run side by side, the throughput of a trial is the least of its machines, never their sum; \
                    seconds and steadiness are those of that machine. Latencies are of the transactions of all machines together.";
        blocks.push(Block::Note(note.to_owned()));
    }
    blocks
}

/// Cells that differ only in their contender, in the order of the plan.
pub fn groups(analysis: &Analysis) -> Vec<Vec<&CellResult>> {
    let mut groups: Vec<Vec<&CellResult>> = Vec::new();
    for cell in &analysis.cells {
        match groups.iter_mut().find(|group| group[0].coordinates == cell.coordinates) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    groups
}

/// What each group has, with its place above it; nothing of a group without.
pub fn each_group(analysis: &Analysis, blocks: impl Fn(&[&CellResult]) -> Vec<Block>) -> Vec<Block> {
    let of_group = |cells: Vec<&CellResult>| {
        let found = blocks(&cells);
        let place = place(&cells[0].coordinates).filter(|_| !found.is_empty());
        place.into_iter().chain(found).collect::<Vec<_>>()
    };
    groups(analysis).into_iter().flat_map(of_group).collect()
}

/// One group of cells as a table; the terminal prints the same one.
pub fn table(analysis: &Analysis, cells: &[&CellResult]) -> Table {
    let role = |cell: &CellResult| if cell.baseline { " (baseline)" } else { "" };
    let contenders = cells.iter().map(|cell| Column::number(format!("{}{}", cell.contender, role(cell))));
    let columns = std::iter::once(Column::text("")).chain(contenders);
    let metric = cells.iter().map(|cell| &cell.metric).find(|metric| !metric.name.is_empty());
    let mut rows = Vec::new();
    for measure in headline(analysis, cells) {
        let label = match metric {
            Some(metric) if measure.id == THROUGHPUT => throughput(metric, cells).known_as(&measure.id),
            _ => named(measure),
        };
        let value = |cell: &&CellResult| level(analysis, cell, &measure.id, style(&measure.unit));
        rows.push(row(label, cells.iter().map(value)));
        let better = if measure.better == Better::More { "above 1 is faster" } else { "above 1 is slower" };
        let figure = measure.id.split_once('.').map_or("throughput", |(_, figure)| figure);
        let label = Cell::text(format!("relative {}", figure.split('/').next().unwrap_or(figure))).detail(better);
        let label = label.known_as(format!("relative/{}", measure.id));
        let ratio =
            |cell: &&CellResult| relative(cell, compared(analysis, cell).and_then(|one| one.contrast(&measure.id)));
        rows.push(row(label, cells.iter().map(ratio)));
    }
    rows.push(row(Cell::text("processor"), cells.iter().map(|cell| processor(cell))));
    rows.push(row(Cell::text("trials that count"), cells.iter().map(|cell| completed(cell))));
    rows.push(row(Cell::text("data checks"), cells.iter().map(|cell| checks(analysis, &cell.contender))));
    Table::new(id("comparison", &cells[0].coordinates), "", columns, rows)
}

/// Cells of different numbers of machines have figures of different names; then all of them are told.
fn throughput(metric: &Metric, cells: &[&CellResult]) -> Cell {
    let others = cells.iter().map(|cell| cell.metric.name.as_str()).filter(|name| !name.is_empty());
    let names = distinct(std::iter::once(metric.name.as_str()).chain(others));
    Cell::text(names.join(" | ")).detail(if names.len() > 1 { "of each its own" } else { &metric.unit })
}

fn row(label: Cell, cells: impl Iterator<Item = Cell>) -> Vec<Cell> {
    std::iter::once(label).chain(cells).collect()
}

/// The measures that some cell has of those by which contenders are judged.
fn headline<'a>(analysis: &'a Analysis, cells: &[&CellResult]) -> Vec<&'a Measure> {
    let counted = cells.iter().map(|cell| &cell.metric.counted).find(|counted| !counted.is_empty());
    let names = compare::headline(counted.map_or(&[], Vec::as_slice));
    let measures = names.iter().filter_map(|name| Some(&analysis.observations.measure(name)?.measure));
    measures.filter(|measure| cells.iter().any(|cell| cell.level(&measure.id).is_some())).collect()
}

fn processor(cell: &CellResult) -> Cell {
    let Some(processor) = &cell.processor else { return Cell::missing("no machine was started") };
    let tone = if processor.contains(EMULATED) { Tone::Bad } else { Tone::Plain };
    Cell::text(processor).tone(tone)
}

fn completed(cell: &CellResult) -> Cell {
    let (done, planned) = (cell.outcomes.completed, cell.outcomes.planned);
    let tone = if done == planned { Tone::Good } else { Tone::Bad };
    let shown = Cell::part(done as usize, planned as usize, "").tone(tone);
    let others = [(cell.outcomes.wrong_data, "with wrong data"), (cell.outcomes.disagreeing, "not believed")];
    let others = others.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    shown.detail(others.collect::<Vec<_>>().join(", "))
}

fn checks(analysis: &Analysis, contender: &str) -> Cell {
    let own = analysis.checks.iter().filter(|check| check.contender == contender);
    let (held, violated, undecided) = own.fold((0, 0, 0), |sum, check| {
        (sum.0 + check.held as usize, sum.1 + check.violated.len(), sum.2 + check.undecided as usize)
    });
    let cell = match (held, violated) {
        (0, 0) => Cell::verdict("none ran", Tone::Bad),
        (_, 0) => Cell::verdict(format!("{held} hold"), Tone::Good),
        _ => Cell::verdict(format!("{violated} violated"), Tone::Bad).detail(format!("{held} hold")),
    };
    if undecided > 0 && violated == 0 { cell.detail(format!("{undecided} undecided")) } else { cell }
}

fn left_out(analysis: &Analysis, cells: &[&CellResult]) -> Option<Block> {
    let own = analysis.comparisons.iter().filter(|found| cells.iter().any(|cell| cell.cell == found.contender_cell));
    let reasons: Vec<String> = own
        .flat_map(|found| &found.left_out)
        .map(|left_out| {
            let why: Vec<String> = left_out.why.iter().map(format::unusable).collect();
            format!("Block {} is left out of the ratios: {}.", left_out.block, why.join("; "))
        })
        .collect();
    (!reasons.is_empty()).then_some(Block::List(reasons))
}
