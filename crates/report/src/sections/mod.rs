//! The parts of a report, one file each, in the order of [`all`].

pub mod ablation;
pub mod all_measures;
pub mod attribution;
pub mod audits;
pub mod beside;
pub mod card;
pub mod comparison;
pub mod consolidation;
pub mod durability;
pub mod equal;
mod hosts;
mod instances;
pub mod machines;
pub mod measured;
pub mod neighbour;
pub mod pressure;
pub mod scaling;
pub mod side_by_side;
pub mod terms;
pub mod trials;
pub mod trust;
pub mod waits;
pub mod what_ran;
pub mod why;

use crate::document::{Block, Document};
use crate::figures::{self, Figure};
use crate::table::TableCell;
use all_measures::{APPENDICES, PHASES};
use analysis::cells::CellResult;
use analysis::summary::Analysis;
use comparison::each_group;
use record::run::Run;

/// The whole report in reading order: one page with the answer, and appendices.
pub fn all(run: &Run, analysis: &Analysis) -> Document {
    let mut blocks = page(run, analysis);
    if run.has_only_audits() {
        let appendices = [what_ran::blocks(run, analysis), terms::blocks(run, analysis)];
        blocks.extend(appendices.into_iter().flat_map(folded));
        return document(run, analysis, blocks);
    }
    blocks.extend(why::reasons(analysis));
    blocks.extend(hosts::blocks(run, analysis));
    blocks.extend(consolidation::blocks(analysis));
    blocks.extend(neighbour::blocks(analysis));
    blocks.extend(scaling::blocks(analysis));
    blocks.extend(instances::blocks(analysis));
    let drawn =
        |figure: fn(&[&CellResult]) -> Option<Figure>| each_group(analysis, |cells| figure(cells).map(Block::Figure));
    blocks.extend(headed("Over time", drawn(figures::timeline::figure), ""));
    blocks.extend(headed("Response times", drawn(figures::curve::of_response_times), ""));
    let appendices = [
        trials::blocks(run, analysis),
        APPENDICES.iter().flat_map(|part| all_measures::blocks(analysis, part)).collect(),
        trials::steadiness(analysis),
        pressure::blocks(analysis),
        waits::blocks(analysis),
        why::details(analysis),
        audits::blocks(analysis),
        trust::details(analysis),
        what_ran::blocks(run, analysis),
        machines::blocks(run),
        hosts::of_load(run),
        what_ran::databases(analysis),
        terms::blocks(run, analysis),
    ];
    blocks.extend(appendices.into_iter().flat_map(folded));
    document(run, analysis, blocks)
}

/// A version for pasting elsewhere: the page without figures over time and without appendices.
pub fn summary(run: &Run, analysis: &Analysis) -> Document {
    document(run, analysis, page(run, analysis))
}

fn document(run: &Run, analysis: &Analysis, blocks: Vec<Block>) -> Document {
    Document { words: terms::words(analysis), ..Document::new(&run.plan.question, blocks) }
}

fn page(run: &Run, analysis: &Analysis) -> Vec<Block> {
    let mut blocks = card::blocks(run, analysis);
    if run.has_only_audits() {
        blocks.extend(durability::blocks(analysis));
        blocks.extend(trust::blocks(analysis));
        return blocks;
    }
    blocks.extend(beside::blocks(analysis));
    blocks.extend(card::design(analysis).into_iter().map(Block::Paragraph));
    blocks.extend(ablation::blocks(analysis));
    blocks.extend(comparison::blocks(analysis));
    blocks.extend(durability::blocks(analysis));
    blocks.extend(all_measures::blocks(analysis, &PHASES));
    blocks.extend(measured::blocks(run, analysis));
    blocks.extend(trust::blocks(analysis));
    blocks.extend(equal::blocks(run));
    blocks
}

/// Makes each part that begins with a heading of the second level an appendix of its own.
fn folded(part: Vec<Block>) -> Vec<Block> {
    let mut folds: Vec<Block> = Vec::new();
    for block in part {
        match (block, folds.last_mut()) {
            (Block::Heading { level: 2, text }, _) => folds.push(Block::Fold { title: text, blocks: Vec::new() }),
            (block, Some(Block::Fold { blocks, .. })) => blocks.push(block),
            (block, _) => folds.push(block),
        }
    }
    folds
}

fn heading(text: impl Into<String>) -> Block {
    Block::Heading { level: 2, text: text.into() }
}

/// Blocks below a heading, with a note at the end; empty if there are no blocks.
fn headed(title: &str, found: impl IntoIterator<Item = Block>, note: impl Into<String>) -> Vec<Block> {
    let found: Vec<Block> = found.into_iter().collect();
    if found.is_empty() {
        return found;
    }
    let note = Some(note.into()).filter(|note| !note.is_empty());
    std::iter::once(heading(title)).chain(found).chain(note.map(Block::Note)).collect()
}

/// A contender, with its point of the study.
fn contender(name: &str, coordinates: &str) -> TableCell {
    TableCell::text(name).detail(coordinates)
}

/// A lower heading for a point of the study; `None` if the study has only one.
fn place(coordinates: &str) -> Option<Block> {
    (!coordinates.is_empty()).then(|| Block::lower(coordinates))
}
