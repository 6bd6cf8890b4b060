//! Every trial of the plan with its outcome; none is left out.

use super::heading;
use crate::document::{Block, Cell, Column, Table, Tone};
use crate::format;
use analysis::cells::has_wrong_data;
use analysis::compare::describe;
use analysis::summary::Analysis;
use record::plan::PlannedTrial;
use record::run::{Run, StoredTrial};
use record::trial::Outcome;

pub fn blocks(run: &Run, analysis: &Analysis) -> Vec<Block> {
    let columns = vec![
        Column::number("trial"),
        Column::number("block"),
        Column::text("contender"),
        Column::text("outcome"),
        Column::number("throughput"),
        Column::text("started (UTC)"),
        Column::text("phases"),
    ];
    let rows = run.plan.trials.iter().map(|planned| row(run, analysis, planned)).collect();
    let note = "The throughput of a single trial is a plain reading; only completed trials without a violated data check enter any estimate.";
    vec![
        heading("Every trial"),
        Block::Table(Table { caption: String::new(), columns, rows }),
        Block::Note(note.to_owned()),
    ]
}

fn row(run: &Run, analysis: &Analysis, planned: &PlannedTrial) -> Vec<Cell> {
    let cell = run.plan.cells.iter().find(|cell| cell.id == planned.cell);
    let name = cell.map_or_else(Cell::none, |cell| {
        let coordinates = cell.coordinates();
        let name = Cell::new(&cell.contender);
        if coordinates.is_empty() { name } else { name.detail(coordinates) }
    });
    let stored = run.trials.iter().find(|trial| trial.record.id == planned.id);
    let trials = analysis.cells.iter().flat_map(|cell| &cell.trials);
    let value = trials.filter(|trial| trial.trial == planned.id).find_map(|trial| trial.value);
    vec![
        Cell::new(planned.id.to_string()),
        Cell::new(planned.block.to_string()),
        name,
        stored.map_or_else(|| Cell::new("not run").tone(Tone::Bad), outcome),
        value.map_or_else(Cell::none, |value| Cell::new(format::quantity(value))),
        stored.map_or_else(Cell::none, |trial| Cell::new(started(&trial.record.started))),
        stored.map_or_else(Cell::none, phases),
    ]
}

fn outcome(trial: &StoredTrial) -> Cell {
    let (text, tone) = match &trial.record.outcome {
        Outcome::Completed if has_wrong_data(trial) => {
            let violated = trial.findings.iter().filter(|finding| finding.is_violated());
            let names: Vec<String> = violated.map(|finding| finding.name.clone()).collect();
            return Cell::new("wrong data").tone(Tone::Bad).detail(format!("violated: {}", format::listed(&names)));
        }
        Outcome::Completed => return Cell::new("completed").tone(Tone::Good),
        Outcome::Invalid { .. } => ("invalid", Tone::Bad),
        Outcome::Failed { .. } => ("failed", Tone::Bad),
        Outcome::Skipped { .. } => ("skipped", Tone::Bad),
        Outcome::Interrupted { .. } => ("interrupted", Tone::Bad),
    };
    Cell::new(text).tone(tone).detail(describe(&trial.record.outcome))
}

/// "2026-11-21T12:00:00Z" is easier to read as "2026-11-21 12:00:00".
fn started(rfc3339: &str) -> String {
    rfc3339.replacen('T', " ", 1).trim_end_matches('Z').to_owned()
}

fn phases(trial: &StoredTrial) -> Cell {
    let phases = trial.record.phases.iter();
    let phases: Vec<String> =
        phases.map(|phase| format!("{} {}", phase.phase, format::span(phase.length_ms))).collect();
    Cell::new(phases.join(" · ")).tone(Tone::Muted)
}
