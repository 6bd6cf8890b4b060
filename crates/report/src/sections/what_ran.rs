//! What ran: the study's decided keys, the order of trials and the seeds.

use super::side_by_side::SideBySide;
use super::{heading, odd_machine};
use crate::document::Block;
use crate::format::{self, filled, joined};
use crate::table::{Cell, Column, Table, id};
use analysis::summary::Analysis;
use record::plan::{Cell as PlanCell, Plan};
use record::run::Run;
use record::settings::key;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The most cells that fit side by side; more are named only by their coordinates.
const MOST_COLUMNS: usize = 6;

pub fn blocks(run: &Run, analysis: &Analysis) -> Vec<Block> {
    let plan = &run.plan;
    let cells = format::counted(plan.cells.len() as u64, "cell");
    let (blocks, trials) =
        (format::counted(plan.blocks.into(), "block"), format::counted(plan.trials.len() as u64, "trial"));
    let summary = format!(
        "Study “{}”: {cells}, {blocks}, {trials}, seed {}. A block holds each cell once, in random order. All \
            trials of a block get the same inputs.",
        plan.study, plan.seed
    );
    let mut found = vec![heading("What ran"), Block::Paragraph(summary)];
    found.extend(odd_machine::blocks(plan, analysis, title));
    found.extend(settings(plan).blocks("settings", "keys of the study"));
    found.push(Block::Note("Sizes without a unit are in bytes, times in milliseconds.".to_owned()));
    found.push(Block::Table(order(plan)));
    found
}

fn settings(plan: &Plan) -> SideBySide {
    let shown = &plan.cells[..plan.cells.len().min(MOST_COLUMNS)];
    let flat: Vec<BTreeMap<String, String>> = shown.iter().map(|cell| flattened(cell.settings.tables())).collect();
    let mut names: Vec<&String> = flat.iter().flat_map(BTreeMap::keys).collect();
    names.sort_unstable();
    names.dedup();
    let row = |name: &String| {
        (name.clone(), flat.iter().map(|cell| cell.get(name).map(|value| with_unit(name, value))).collect())
    };
    SideBySide { titles: shown.iter().map(title).collect(), rows: names.into_iter().map(row).collect() }
}

/// Units for the study's own sizes and times; keys of catalog entries have no known unit here.
fn with_unit(name: &str, value: &str) -> String {
    match (name, value.parse::<u64>()) {
        (key::MEMORY | key::DISK_SIZE, Ok(bytes)) => format::bytes(bytes),
        (key::WARMUP | key::MEASURE, Ok(length_ms)) => format::span(length_ms),
        _ => value.to_owned(),
    }
}

fn title(cell: &PlanCell) -> String {
    filled([&cell.contender, &cell.coordinates()], ", ")
}

/// Nested tables as dotted keys.
pub fn flattened(tables: &Map<String, Value>) -> BTreeMap<String, String> {
    let mut flat = BTreeMap::new();
    for (name, value) in tables {
        match value {
            Value::Object(table) => {
                let inner = flattened(table).into_iter();
                flat.extend(inner.map(|(key, value)| (format!("{name}.{key}"), value)));
            }
            Value::String(text) => drop(flat.insert(name.clone(), text.clone())),
            Value::Array(files) if !files.is_empty() && files.iter().all(|file| file["text"].is_string()) => {
                flat.extend(files.iter().filter_map(|file| row_of_file(name, file)));
            }
            other => drop(flat.insert(name.clone(), other.to_string())),
        }
    }
    flat
}

/// A file of the user's own transactions: its name, weight and text.
fn row_of_file(key: &str, file: &Value) -> Option<(String, String)> {
    let weight = file["weight"].as_u64().map(|weight| format!("@{weight}")).unwrap_or_default();
    Some((format!("{key}.{}{weight}", file["name"].as_str()?), file["text"].as_str()?.trim_end().to_owned()))
}

fn order(plan: &Plan) -> Table {
    let columns = [Column::number("block"), Column::text("order of trials"), Column::text("seed")];
    let row = |block: u32| {
        let trials: Vec<_> = plan.trials.iter().filter(|trial| trial.block == block).collect();
        let name = |cell: u32| plan.cells.iter().find(|found| found.id == cell).map_or_else(|| cell.to_string(), title);
        let mut seeds: Vec<u64> = trials.iter().map(|trial| trial.seed).collect();
        seeds.dedup();
        let names = joined(trials.iter().map(|trial| name(trial.cell)), " → ");
        vec![Cell::name(block), Cell::text(names), Cell::text(joined(seeds, ", "))]
    };
    Table::new(id("order", ""), "Order and seeds", columns, (1..=plan.blocks).map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_within_tables_become_dotted_keys() {
        let tables = serde_json::json!({ "machine": { "vcpus": 2, "disk": { "size": 7 } }, "name": "x", "scripts": [{ "name": "a.sql", "weight": 2, "text": "SELECT 1;\n" }] });
        let flat = flattened(tables.as_object().unwrap());
        let expected =
            [("machine.disk.size", "7"), ("machine.vcpus", "2"), ("name", "x"), ("scripts.a.sql@2", "SELECT 1;")];
        assert!(flat.iter().map(|(key, value)| (key.as_str(), value.as_str())).eq(expected));
    }
}
