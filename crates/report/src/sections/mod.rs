//! The parts of a report, one file each, in the order of [`all`].

pub mod activity;
pub mod all_measures;
mod attribution;
pub mod audits;
pub mod comparison;
pub mod consistency;
pub mod consolidation;
pub mod counters;
pub mod databases;
pub mod design;
pub mod evenness;
pub mod latencies;
pub mod machines;
pub mod machines_apart;
pub mod neighbour;
pub mod odd_machine;
pub mod opening;
pub mod pictures;
pub mod pressure;
pub mod profiles;
pub mod scaling;
pub mod side_by_side;
pub mod steadiness;
pub mod terms;
pub mod trials;
pub mod waits;
pub mod what_ran;
pub mod why;

use crate::document::{Block, Document};
use crate::table::Cell;
use analysis::summary::Analysis;
use record::run::Run;

/// The whole report, in the order in which it is to be read.
pub fn all(run: &Run, analysis: &Analysis) -> Document {
    let mut blocks = Vec::new();
    blocks.extend(opening::blocks(analysis));
    blocks.extend(design::blocks(analysis));
    blocks.extend(consolidation::blocks(analysis));
    blocks.extend(neighbour::blocks(analysis));
    blocks.extend(comparison::blocks(analysis));
    blocks.extend(pictures::blocks(analysis));
    blocks.extend(steadiness::blocks(analysis));
    blocks.extend(evenness::blocks(analysis));
    blocks.extend(scaling::blocks(analysis));
    blocks.extend(pressure::blocks(analysis));
    blocks.extend(latencies::blocks(analysis));
    blocks.extend(activity::blocks(analysis));
    blocks.extend(waits::blocks(analysis));
    blocks.extend(why::blocks(analysis));
    blocks.extend(audits::blocks(analysis));
    blocks.extend(consistency::blocks(analysis));
    blocks.extend(what_ran::blocks(run, analysis));
    blocks.extend(machines::blocks(run));
    blocks.extend(databases::blocks(analysis));
    blocks.extend(all_measures::blocks(analysis));
    blocks.extend(trials::blocks(run, analysis));
    blocks.extend(terms::blocks(run, analysis));
    Document::new(&run.plan.question, blocks)
}

fn heading(text: impl Into<String>) -> Block {
    Block::Heading { level: 2, text: text.into() }
}

/// What there is below its heading, with a note in the end; nothing of nothing.
fn headed(title: &str, found: Vec<Block>, note: Option<String>) -> Vec<Block> {
    if found.is_empty() {
        return found;
    }
    std::iter::once(heading(title)).chain(found).chain(note.map(Block::Note)).collect()
}

/// A contender, and at which point of the study.
fn contender(name: &str, coordinates: &str) -> Cell {
    Cell::text(name).detail(coordinates)
}

/// A heading below another, only where a study has several points.
fn place(coordinates: &str) -> Option<Block> {
    (!coordinates.is_empty()).then(|| Block::Heading { level: 3, text: coordinates.to_owned() })
}
