//! Every measure of every contender, folded: what no other section shows stands here as well.

use super::comparison::groups;
use super::{heading, place};
use crate::document::Block;
use crate::measures;
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut tables = Vec::new();
    for cells in groups(analysis) {
        let Some(table) = measures::table("measures", analysis, &cells, |_| true) else { continue };
        tables.extend(place(&cells[0].coordinates));
        tables.push(Block::Table(table));
    }
    if tables.is_empty() {
        return tables;
    }
    tables.push(Block::Note("The values of single trials are in observations.csv.".to_owned()));
    vec![
        heading("All measures"),
        Block::Fold { title: "Every measure, over the valid trials".to_owned(), blocks: tables },
    ]
}
