//! The properties that the machines of contenders had in common, and the reason of each that was not equal.

use super::headed;
use crate::document::Block;
use crate::format::{self, joined};
use crate::table::{TableCell, TableOf, Tone};
use analysis::equal::{self, EqualRow, Sameness};
use analysis::findings::SharedValue;
use record::run::Run;

pub fn blocks(run: &Run) -> Vec<Block> {
    let tone = |row: &EqualRow| if row.sameness == Sameness::Differs { Tone::Bad } else { Tone::Plain };
    let rows: Vec<([String; 3], Tone)> = equal::of_run(run).iter().map(|row| (words(row), tone(row))).collect();
    let table = TableOf::new(&rows)
        .text("property", |([property, ..], _)| TableCell::text(property))
        .text("value", |([_, value, _], _)| TableCell::text(value))
        .text("", |([.., sameness], tone)| TableCell::verdict(sameness, *tone))
        .table("equal", "Properties of the machines, in each contender's first trial");
    headed("Equal on both sides", table.map(Block::Table), "")
}

/// The property, its value or the values of contenders, and whether it is equal, with the points of the study if that is not so at all, and what would make it
/// equal.
pub fn words(row: &EqualRow) -> [String; 3] {
    let of_contenders =
        |shared: &SharedValue| format!("{} ({})", readable(&shared.value), shared.contenders.join(", "));
    let value = match &row.values[..] {
        [shared] => readable(&shared.value),
        several => joined(several.iter().map(of_contenders), "; "),
    };
    let remedy = row.remedy.map(|remedy| format!("; {remedy}")).unwrap_or_default();
    [row.property.to_owned(), value, format!("{}{}{remedy}", row.sameness.words(), format::at(&row.at.join("; ")))]
}

fn readable(value: &str) -> String {
    let bytes = value.strip_suffix(" bytes").and_then(|bytes| bytes.parse().ok());
    bytes.map_or_else(|| value.to_owned(), format::bytes)
}
