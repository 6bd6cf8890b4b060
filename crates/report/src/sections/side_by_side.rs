//! Tables of named values with one column for each contender; what differs from the first column is marked.

use crate::document::Block;
use crate::table::{Cell, Column, Table, Tone};
use record::facts::Facts;
use std::collections::BTreeSet;

/// Columns of named values; `None` where a column lacks a name.
pub struct SideBySide {
    pub titles: Vec<String>,
    pub rows: Vec<(String, Vec<Option<String>>)>,
}

/// The most rows on the page; with more, the equal ones are folded.
const MOST_ROWS_SHOWN: usize = 16;

impl SideBySide {
    /// Every fact that some column has, as `shown` writes it.
    pub fn of_facts(titles: Vec<String>, columns: &[&Facts], shown: fn(&str, String) -> String) -> Self {
        let names: BTreeSet<&String> = columns.iter().flat_map(|facts| facts.keys()).collect();
        let row = |name: &String| {
            let values = columns.iter().map(|facts| facts.get(name).map(|fact| shown(name, fact.to_string())));
            (name.clone(), values.collect())
        };
        Self { titles, rows: names.into_iter().map(row).collect() }
    }

    /// All rows if they are few; otherwise the differing ones, with the equal ones folded.
    pub fn blocks(self, id: &str, name: &str) -> Vec<Block> {
        let Self { titles, rows } = self;
        if rows.len() <= MOST_ROWS_SHOWN {
            return vec![Block::Table(table(id.to_owned(), &titles, &rows, ""))];
        }
        let (differing, equal): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, values)| differ(values));
        let mut blocks = Vec::new();
        if differing.is_empty() {
            blocks.push(Block::Paragraph(format!("All {} {name} are equal.", equal.len())));
        } else {
            blocks.push(Block::Table(table(id.to_owned(), &titles, &differing, &format!("Differing {name}"))));
        }
        let title = format!("{} {name} that are equal", equal.len());
        // Equal values need to be shown only once.
        let once: Vec<_> = equal.into_iter().map(|(key, values)| (key, values.into_iter().take(1).collect())).collect();
        if !once.is_empty() {
            let shared = table(format!("{id}/equal"), &["everywhere".to_owned()], &once, "");
            blocks.push(Block::Fold { title, blocks: vec![Block::Table(shared)] });
        }
        blocks
    }
}

fn differ(values: &[Option<String>]) -> bool {
    values.windows(2).any(|pair| pair[0] != pair[1])
}

fn table(id: String, titles: &[String], rows: &[(String, Vec<Option<String>>)], caption: &str) -> Table {
    let columns = std::iter::once(Column::text("")).chain(titles.iter().map(Column::text));
    let row = |(name, values): &(String, Vec<Option<String>>)| {
        let cell = |value: &Option<String>| {
            let tone = if Some(value) == values.first() { Tone::Plain } else { Tone::Marked };
            value.as_ref().map_or_else(|| Cell::missing("it has no such name"), |value| Cell::text(value).tone(tone))
        };
        std::iter::once(Cell::text(name)).chain(values.iter().map(cell)).collect()
    };
    Table::new(id, caption, columns, rows.iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, values: [&str; 2]) -> (String, Vec<Option<String>>) {
        (name.to_owned(), values.map(|value| Some(value.to_owned())).to_vec())
    }

    #[test]
    fn what_differs_from_the_first_column_is_marked() {
        let titles = ["native", "kvm"].map(str::to_owned).to_vec();
        let blocks =
            SideBySide { titles, rows: vec![row("a", ["1", "1"]), row("b", ["1", "2"])] }.blocks("id", "settings");
        let [Block::Table(table)] = &blocks[..] else { panic!("one table") };
        let tones: Vec<Tone> = table.rows.iter().flatten().map(|cell| cell.tone).collect();
        let plain = Tone::Plain;
        assert_eq!(tones, [plain, plain, plain, plain, plain, Tone::Marked]);
    }

    #[test]
    fn many_rows_show_what_differs_and_fold_the_rest() {
        let titles = ["native", "kvm"].map(str::to_owned).to_vec();
        let mut rows: Vec<_> = (0..40).map(|index| row(&format!("s{index}"), ["on", "on"])).collect();
        rows.push(row("fsync", ["on", "off"]));
        let blocks = SideBySide { titles, rows }.blocks("id", "settings");
        let [Block::Table(shown), Block::Fold { title, .. }] = &blocks[..] else { panic!("{blocks:?}") };
        assert_eq!(shown.rows.len(), 1);
        assert_eq!(title, "40 settings that are equal");
    }
}
