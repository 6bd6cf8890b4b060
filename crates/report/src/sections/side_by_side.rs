//! Tables of named values with one column for each contender, differences marked.

use crate::document::{Block, Cell, Column, Table, Tone};

/// Columns of values under names; `None` where a column has no such name.
pub struct SideBySide {
    pub titles: Vec<String>,
    pub rows: Vec<(String, Vec<Option<String>>)>,
}

/// Rows that fit on the page before the equal ones are folded away.
const MOST_ROWS_SHOWN: usize = 16;

impl SideBySide {
    /// All rows if they are few; else the differing ones, and the equal ones folded.
    pub fn blocks(self, name: &str) -> Vec<Block> {
        let Self { titles, rows } = self;
        if rows.len() <= MOST_ROWS_SHOWN {
            return vec![Block::Table(table(&titles, &rows, String::new()))];
        }
        let (differing, equal): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, values)| differ(values));
        let mut blocks = Vec::new();
        if differing.is_empty() {
            blocks.push(Block::Paragraph(format!("All {} {name} are equal.", equal.len())));
        } else {
            blocks.push(Block::Table(table(&titles, &differing, format!("Differing {name}"))));
        }
        let title = format!("{} {name} that are equal", equal.len());
        // Equal values need to be shown only once.
        let once: Vec<_> = equal.into_iter().map(|(key, values)| (key, values.into_iter().take(1).collect())).collect();
        if !once.is_empty() {
            let shared = table(&["everywhere".to_owned()], &once, String::new());
            blocks.push(Block::Fold { title, blocks: vec![Block::Table(shared)] });
        }
        blocks
    }
}

fn differ(values: &[Option<String>]) -> bool {
    values.windows(2).any(|pair| pair[0] != pair[1])
}

fn table(titles: &[String], rows: &[(String, Vec<Option<String>>)], caption: String) -> Table {
    let mut columns = vec![Column::text("")];
    columns.extend(titles.iter().map(Column::text));
    let row = |(name, values): &(String, Vec<Option<String>>)| {
        let tone = if differ(values) { Tone::Marked } else { Tone::Plain };
        let cell = |value: &Option<String>| value.as_ref().map_or_else(Cell::none, |value| Cell::new(value).tone(tone));
        std::iter::once(Cell::new(name)).chain(values.iter().map(cell)).collect()
    };
    Table { caption, columns, rows: rows.iter().map(row).collect() }
}
