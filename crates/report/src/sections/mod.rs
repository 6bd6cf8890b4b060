//! The parts of a report, one file each, in the order of [`crate::document::build`].

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

use crate::document::Block;

fn heading(text: impl Into<String>) -> Block {
    Block::Heading { level: 2, text: text.into() }
}

/// A heading below another, only where a study has several points.
fn place(coordinates: &str) -> Option<Block> {
    (!coordinates.is_empty()).then(|| Block::Heading { level: 3, text: coordinates.to_owned() })
}
