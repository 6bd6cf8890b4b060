//! Tables of named values with one column for each contender; what differs from the first column is marked.

use crate::document::Block;
use crate::table::{Table, TableCell, TableOf, Tone};
use std::collections::{BTreeMap, BTreeSet};

/// Columns of named values; `None` where a column lacks a name.
pub struct ColumnsSideBySide {
    pub titles: Vec<String>,
    pub rows: Vec<(String, Vec<Option<String>>)>,
}

/// The most rows on the page; with more, the equal ones are folded.
const MOST_ROWS_SHOWN: usize = 16;

impl ColumnsSideBySide {
    /// Every name that some column has.
    pub fn of(titles: Vec<String>, columns: &[BTreeMap<String, String>]) -> Self {
        let names: BTreeSet<&String> = columns.iter().flat_map(BTreeMap::keys).collect();
        let row = |name: &String| (name.clone(), columns.iter().map(|values| values.get(name).cloned()).collect());
        Self { titles, rows: names.into_iter().map(row).collect() }
    }

    /// All rows if they are few; otherwise the differing ones, with the equal ones folded.
    pub fn blocks(self, id: &str, name: &str) -> Vec<Block> {
        let Self { titles, rows } = self;
        if rows.len() <= MOST_ROWS_SHOWN {
            return table(id, &titles, &rows, "").map(Block::Table).into_iter().collect();
        }
        let (differing, equal): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, values)| differ(values));
        let apart = table(id, &titles, &differing, &format!("Differing {name}")).map(Block::Table);
        let apart = apart.unwrap_or_else(|| Block::Paragraph(format!("All {} {name} are equal.", equal.len())));
        let title = format!("{} {name} that are equal", equal.len());
        // Equal values need to be shown only once.
        let once: Vec<_> = equal.into_iter().map(|(key, values)| (key, values.into_iter().take(1).collect())).collect();
        let shared = table(&format!("{id}/equal"), &["everywhere".to_owned()], &once, "").map(Block::Table);
        std::iter::once(apart).chain(Block::fold(title, shared)).collect()
    }
}

fn differ(values: &[Option<String>]) -> bool {
    values.windows(2).any(|pair| pair[0] != pair[1])
}

fn table(id: &str, titles: &[String], rows: &[(String, Vec<Option<String>>)], caption: &str) -> Option<Table> {
    let cell = |values: &[Option<String>], place: usize| {
        let value = values.get(place);
        let tone = if value == values.first() { Tone::Plain } else { Tone::Marked };
        let text = value.and_then(Option::as_ref).map(|value| TableCell::text(value).tone(tone));
        text.unwrap_or_else(|| TableCell::missing("it has no such name"))
    };
    let table = TableOf::new(rows).text("", |(name, _)| TableCell::text(name));
    let titles = titles.iter().enumerate();
    let table = titles.fold(table, |table, (place, title)| table.text(title, |(_, values)| cell(values, place)));
    table.table(id, caption)
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
        let blocks = ColumnsSideBySide { titles, rows: vec![row("a", ["1", "1"]), row("b", ["1", "2"])] }
            .blocks("id", "settings");
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
        let blocks = ColumnsSideBySide { titles, rows }.blocks("id", "settings");
        let [Block::Table(shown), Block::Fold { title, .. }] = &blocks[..] else { panic!("{blocks:?}") };
        assert_eq!(shown.rows.len(), 1);
        assert_eq!(title, "40 settings that are equal");
    }
}
