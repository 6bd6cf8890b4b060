//! Published figures beside those of this run.

use super::heading;
use crate::document::Block;
use crate::format::Style;
use crate::measures::style;
use crate::table::{Table, TableCell, TableOf, id};
use analysis::beside::{Form, PublishedRow, PublishedTable};
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let Some(beside) = &analysis.beside else { return Vec::new() };
    let mut blocks = vec![heading("Beside the published figures")];
    blocks.push(Block::Paragraph(format!("Published: {}, {}", beside.title, beside.source)));
    blocks.extend(beside.tables.iter().filter_map(table).map(Block::Table));
    let rows = beside.tables.iter().flat_map(|own| &own.rows);
    let missing = rows.filter_map(|row| Some(format!("{}: {}.", row.label, row.why.as_ref()?)));
    let mut not_compared: Vec<String> = beside.not_compared.iter().cloned().chain(missing).collect();
    // A row of the same name may stand in two tables.
    not_compared.dedup();
    let list = Block::list(not_compared).map(|list| [Block::lower("What cannot be compared"), list]);
    blocks.into_iter().chain(list.into_iter().flatten()).collect()
}

fn table(own: &PublishedTable) -> Option<Table> {
    TableOf::new(&own.rows)
        .text("", |row| TableCell::text(&row.label))
        .number("published", |row| published(own, row))
        .number("measured here", |row| measured(own, row))
        .table(id("beside", &own.title), &own.title)
}

fn published(own: &PublishedTable, row: &PublishedRow) -> TableCell {
    match own.form {
        Form::Value => TableCell::number(row.published, Style::quantity(&own.unit)),
        Form::Ratio => TableCell::number(row.published, Style::EFFECT),
        Form::Change => TableCell::number(1.0 + row.published / 100.0, Style::EFFECT),
    }
}

fn measured(own: &PublishedTable, row: &PublishedRow) -> TableCell {
    let shown = match (own.form, &row.unit) {
        (Form::Value, Some(unit)) => style(unit),
        (Form::Value, None) => Style::quantity(""),
        (Form::Ratio | Form::Change, _) => Style::EFFECT,
    };
    TableCell::estimate(row.measured.as_ref(), shown, row.why.as_deref().unwrap_or("not measured"))
}
