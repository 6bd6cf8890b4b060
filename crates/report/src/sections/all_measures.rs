//! Every measure of every contender, folded, including those that no other section shows.

use super::comparison::each_group;
use super::heading;
use crate::document::Block;
use crate::measures;
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut tables = each_group(analysis, |cells| {
        measures::table("measures", analysis, cells, |_| true).map(Block::Table).into_iter().collect()
    });
    if tables.is_empty() {
        return tables;
    }
    tables.push(Block::Note("The values of single trials are in observations.csv.".to_owned()));
    let title = "Every measure, over the valid trials".to_owned();
    vec![heading("All measures"), Block::Fold { title, blocks: tables }]
}
