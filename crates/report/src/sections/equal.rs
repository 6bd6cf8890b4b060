//! The properties that the machines of contenders had in common, and the reason of each that was not equal.

use super::heading;
use crate::document::Block;
use crate::format::{self, joined};
use crate::table::{Cell, Table, Tone, columns};
use analysis::equal::{self, EqualRow, Sameness};
use analysis::findings::SharedValue;
use record::run::Run;

pub fn blocks(run: &Run) -> Vec<Block> {
    let rows = equal::of_run(run);
    if rows.is_empty() {
        return Vec::new();
    }
    let cells = |row: &EqualRow| {
        let tone = if row.sameness == Sameness::Differs { Tone::Bad } else { Tone::Plain };
        let [property, value, sameness] = words(row);
        vec![Cell::text(property), Cell::text(value), Cell::verdict(sameness, tone)]
    };
    let (columns, caption) =
        (columns(&["property", "value", ""], &[]), "Properties of the machines, in each contender's first trial");
    let table = Table::new("equal".to_owned(), caption, columns, rows.iter().map(cells));
    vec![heading("Equal on both sides"), Block::Table(table)]
}

/// The property, its value or the values of contenders, and whether it is equal, with the points of the study if that is not so at all.
pub fn words(row: &EqualRow) -> [String; 3] {
    let of_contenders =
        |shared: &SharedValue| format!("{} ({})", readable(&shared.value), shared.contenders.join(", "));
    let value = match &row.values[..] {
        [shared] => readable(&shared.value),
        several => joined(several.iter().map(of_contenders), "; "),
    };
    [row.property.to_owned(), value, format!("{}{}", row.sameness.words(), format::at(&row.at.join("; ")))]
}

fn readable(value: &str) -> String {
    let bytes = value.strip_suffix(" bytes").and_then(|bytes| bytes.parse().ok());
    bytes.map_or_else(|| value.to_owned(), format::bytes)
}
