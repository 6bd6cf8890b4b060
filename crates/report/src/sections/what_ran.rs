//! The section “What ran”: the study's decided keys, an exception among machines, and the settings that servers had. The order of trials is in
//! their table.

use super::side_by_side::ColumnsSideBySide;
use super::{headed, place};
use crate::document::Block;
use crate::format::{self, Style, filled};
use crate::table::{id, said};
use analysis::summary::Analysis;
use record::plan::{Cell as PlanCell, Plan};
use record::run::Run;
use record::settings::{ExceptionLoad, key};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The most cells that fit side by side; more are named only by their coordinates.
const MOST_COLUMNS: usize = 6;

pub fn blocks(run: &Run, analysis: &Analysis) -> Vec<Block> {
    let plan = &run.plan;
    let cells = format::counted(plan.cells.len() as u64, "cell");
    let blocks = format::counted(plan.blocks.into(), "block");
    let trials = format::counted(plan.trials.len() as u64, "trial");
    let summary = format!(
        "Study “{}”: {cells}, {blocks}, {trials}, seed {}. A block holds each cell once, in random order. All \
            trials of a block get the same inputs.",
        plan.study, plan.seed
    );
    let first = [Some(Block::Paragraph(summary)), exceptions(plan, analysis)].into_iter().flatten();
    let found = first.chain(settings(plan).blocks("settings", "keys of the study"));
    headed("What ran", found, "Sizes without a unit are in bytes, times in milliseconds.")
}

fn settings(plan: &Plan) -> ColumnsSideBySide {
    let shown = &plan.cells[..plan.cells.len().min(MOST_COLUMNS)];
    let keys = |cell: &PlanCell| {
        let mut keys = flattened(cell.settings.tables());
        for (name, value) in &mut keys {
            *value = with_unit(name, value);
        }
        keys
    };
    ColumnsSideBySide::of(shown.iter().map(title).collect(), &shown.iter().map(keys).collect::<Vec<_>>())
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

/// A sentence for each cell with an exception; `None` if no cell has one.
fn exceptions(plan: &Plan, analysis: &Analysis) -> Option<Block> {
    let of_cell = |cell| Some(format!("{}: {}{}", title(cell), differs(cell)?, did(analysis, cell.id)));
    Block::list(plan.cells.iter().filter_map(of_cell))
}

fn differs(cell: &PlanCell) -> Option<String> {
    let exception = cell.exception()?;
    let number = exception.number;
    let parts = [
        exception
            .workload_kind()
            .map(|kind| format!("held other data than the others, and its clients did other work: {kind}")),
        exception.clients.map(|clients| format!("had a number of clients of its own: {clients}")),
        exception.cpu_quota.map(|share| format!("got at most {} of its vCPUs' time", format::share(share, 0))),
        load(exception.load).map(str::to_owned),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let measured = match cell.bystander() {
        Some(_) => {
            "The work of the machines beside it is measured: it is in no total and no score, and its data are checked as theirs are."
        }
        None => "It is measured as the others are.",
    };
    Some(format!("machine {number} {}. {measured}", parts.join("; it ")))
}

/// Its work while it had any; empty for a machine that is measured or did nothing.
fn did(analysis: &Analysis, cell: u32) -> String {
    let found = analysis.consolidation.iter().find(|one| one.cell == cell).and_then(|one| one.bystander.as_ref());
    let figure = found.and_then(|bystander| Some((bystander.throughput.as_ref()?, &bystander.metric.name)));
    figure.map_or_else(String::new, |(throughput, name)| {
        format!(" While it worked it did {}.", said(throughput, Style::quantity(name)))
    })
}

/// When it was under load, if not always.
fn load(load: ExceptionLoad) -> Option<&'static str> {
    Some(match load {
        ExceptionLoad::Same => return None,
        ExceptionLoad::Idle => "was not worked on",
        ExceptionLoad::Stops => "was worked on until the middle of the measured window",
        ExceptionLoad::Starts => "was worked on from the middle of the measured window on",
        ExceptionLoad::Burst => "was worked on in the middle third of the measured window",
    })
}

/// Effective database settings side by side, as read back from the running servers.
pub fn databases(analysis: &Analysis) -> Vec<Block> {
    let mut found = Vec::new();
    if analysis.settings.is_empty() {
        found.push(Block::Paragraph("No server was started.".to_owned()));
    }
    for comparison in &analysis.settings {
        found.extend(place(&comparison.coordinates));
        let id = id("database-settings", &comparison.coordinates);
        let server = ("server".to_owned(), comparison.servers.iter().cloned().map(Some).collect());
        let settings = comparison.settings.iter().map(|row| (row.name.clone(), row.values.clone()));
        let rows = std::iter::once(server).chain(settings).collect();
        found.extend(
            ColumnsSideBySide { titles: comparison.contenders.clone(), rows }.blocks(&id, "effective settings"),
        );
    }
    headed("Database settings", found, "Read back from the running servers.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::summary::analyse;
    use record::synthetic::{self, consolidated};
    use serde_json::json;

    #[test]
    fn tables_within_tables_become_dotted_keys() {
        let tables = serde_json::json!({ "machine": { "vcpus": 2, "disk": { "size": 7 } }, "name": "x", "scripts": [{ "name": "a.sql", "weight": 2, "text": "SELECT 1;\n" }] });
        let flat = flattened(tables.as_object().unwrap());
        let expected =
            [("machine.disk.size", "7"), ("machine.vcpus", "2"), ("name", "x"), ("scripts.a.sql@2", "SELECT 1;")];
        assert!(flat.iter().map(|(key, value)| (key.as_str(), value.as_str())).eq(expected));
    }

    fn told(run: &Run) -> Vec<String> {
        match exceptions(&run.plan, &analyse(run)) {
            Some(Block::List(said)) => said,
            other => panic!("{other:?}"),
        }
    }

    fn told_of(exception: &Value) -> Vec<String> {
        let mut run = synthetic::run(1);
        let settings = &mut run.plan.cells[1].settings;
        settings.set(key::COUNT, json!(3)).unwrap();
        settings.set(key::EXCEPTION, exception.clone()).unwrap();
        told(&run)
    }

    #[test]
    fn everything_in_which_it_differs_is_said() {
        let workload = json!({ "kind": "sysbench-oltp", "tables": 1 });
        let all = json!({ "number": 2, "load": "starts", "clients": 9, "cpu_quota": 0.5, "workload": workload });
        let expected = "kvm: machine 2 held other data than the others, and its clients did other work: sysbench-oltp; it had a number \
                        of clients of its own: 9; it got at most 50 % of its vCPUs' time; it was worked on from the middle of the \
                        measured window on. The work of the machines beside it is measured: it is in no total and no score, and its data are \
                        checked as theirs are.";
        assert_eq!(told_of(&all), [expected]);
        let held_back = json!({ "number": 3, "load": "same", "cpu_quota": 0.25 });
        let expected = "kvm: machine 3 got at most 25 % of its vCPUs' time. It is measured as the others are.";
        assert_eq!(told_of(&held_back), [expected]);
    }

    #[test]
    fn what_it_did_is_said_in_its_own_unit() {
        let mut run = consolidated::run(3, None);
        let cell = run.plan.cells.iter_mut().find(|cell| cell.machines() == 2).unwrap();
        cell.settings
            .set("machine.exception", json!({ "number": 1, "load": "same", "workload": { "kind": "slob" } }))
            .unwrap();
        let cell = cell.id;
        for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == cell) {
            trial.bystander = Some(1);
            let driver = trial.machines[0].record.driver.as_mut().unwrap();
            driver.metric.name = "blocks read".to_owned();
            (driver.metric.per_ms, driver.measured_ms) = (1_000, 10_000);
            driver.kinds.iter_mut().for_each(|kind| (kind.committed, kind.rolled_back) = (400, 0));
        }
        let said = told(&run).remove(0);
        assert!(said.ends_with(" While it worked it did 40.00 blocks read (40.00 to 40.00)."), "{said}");
    }

    #[test]
    fn machines_that_are_all_alike_need_no_word() {
        let run = consolidated::run(1, None);
        assert_eq!(exceptions(&run.plan, &analyse(&run)), None);
    }
}
