//! `bakeoff plan`: what would run, how long it takes, and every problem. Starts nothing.

use crate::arguments::PlanOptions;
use crate::commands::study_file::{Planned, planned};
use crate::display::{print, span};
use crate::exit::Exit;
use anyhow::Result;
use std::fmt::Write as _;
use std::time::Duration;

pub fn plan(options: &PlanOptions) -> Result<Exit> {
    let study = planned(&options.study, &options.only)?;
    if options.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&study.chosen)?));
    } else {
        print(&text(&study)?);
    }
    Ok(Exit::Done)
}

fn text(study: &Planned) -> Result<String> {
    let plan = &study.plan;
    let mut text = String::new();
    writeln!(text, "{}\n", plan.question)?;
    for cell in &plan.cells {
        let baseline = if cell.baseline { " (baseline)" } else { "" };
        let coordinates = cell.coordinates();
        let coordinates = if coordinates.is_empty() { coordinates } else { format!(", {coordinates}") };
        writeln!(text, "cell {}: {}{baseline}{coordinates}", cell.id, cell.contender)?;
        for (table, value) in &cell.settings {
            writeln!(text, "    {table:<9} {}", one_line(value))?;
        }
    }
    writeln!(text, "\ntrials, in the order in which they run (seed {}):", plan.seed)?;
    for trial in &study.chosen.trials {
        let cell = plan.cells.iter().find(|cell| cell.id == trial.cell);
        let contender = cell.map_or("?", |cell| cell.contender.as_str());
        writeln!(text, "  {:>4}  block {:<3} cell {:<3} {contender}", trial.id, trial.block, trial.cell)?;
    }
    let estimate = study::estimate(&study.chosen);
    let (total, driving) = (Duration::from_millis(estimate.total_ms), Duration::from_millis(estimate.driving_ms));
    writeln!(text, "\nabout {} in all, {} of it under load", span(total), span(driving))?;
    Ok(text)
}

/// A table as `key = value` pairs.
fn one_line(value: &serde_json::Value) -> String {
    let Some(table) = value.as_object() else { return value.to_string() };
    let pairs = table.iter().map(|(key, value)| match value {
        serde_json::Value::Object(_) => format!("{key} = {{ {} }}", one_line(value)),
        value => format!("{key} = {value}"),
    });
    pairs.collect::<Vec<_>>().join(", ")
}
