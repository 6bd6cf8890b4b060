//! A table of the runs in a folder, and the brief of one of them.

use crate::document::Mark;
use crate::format::{self, joined};
use crate::measures::{self, label, style};
use crate::table::{Cell, Column, Table, columns};
use crate::terminal;
use analysis::findings::Stamp;
use analysis::many_runs::{Brief, BriefCell, BriefLevel, HostBrief, State};
use analysis::measures::Unit;
use analysis::measures::throughput::THROUGHPUT;
use record::text::visible;
use serde::Serialize;
use std::fmt::Write as _;

/// A folder of a run, as far as it could be read.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    Read(Brief),
    Damaged { run: String, why: String },
}

impl Entry {
    pub fn brief(&self) -> Option<&Brief> {
        match self {
            Self::Read(brief) => Some(brief),
            Self::Damaged { .. } => None,
        }
    }
}

/// A line of the list, for programs.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Listed<'a> {
    run: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    study: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    study_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    state: &'static str,
    planned: u32,
    valid: u32,
    answer: String,
    /// The worst of its answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    stamp: Option<Stamp>,
}

pub fn listed(entry: &Entry) -> Listed<'_> {
    match entry {
        Entry::Read(brief) => Listed {
            run: &brief.run,
            started: brief.started.as_deref(),
            study: Some(&brief.study),
            study_id: Some(&brief.study_id),
            host: Some(host(&HostBrief::of(&brief.host))),
            state: state(brief.state),
            planned: brief.planned,
            valid: brief.valid,
            answer: answer(brief),
            stamp: brief.cells.iter().filter_map(|cell| cell.stamp).max(),
        },
        Entry::Damaged { run, why } => Listed { run, state: "damaged", answer: why.clone(), ..Listed::default() },
    }
}

/// Plain text; it ends with a line break.
pub fn list(entries: &[Entry]) -> String {
    let columns = columns(&["run", "started, UTC", "study", "host", "state", "trials", "answer"], &[]);
    let row = |entry: &Entry| {
        let line = listed(entry);
        let [study, host] = [line.study.map(str::to_owned), line.host].map(Option::unwrap_or_default);
        let trials = if line.planned == 0 { String::new() } else { format!("{} of {}", line.valid, line.planned) };
        let texts =
            [line.run.to_owned(), moment(line.started), study, host, line.state.to_owned(), trials, line.answer];
        texts.map(Cell::text).into()
    };
    terminal::table(&Table::new("runs".to_owned(), "", columns, entries.iter().map(row)))
}

pub fn state(state: State) -> &'static str {
    match state {
        State::Complete => "complete",
        State::Unfinished => "unfinished",
        State::Rehearsed => "rehearsed",
    }
}

/// A host in a few words; other hosts may have the same.
pub fn host(host: &HostBrief) -> String {
    let cpus = host.cpus.map(|cpus| format::counted(cpus, "CPU"));
    let memory = host.memory_bytes.map(|bytes| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)));
    let parts = joined([host.processor.clone(), cpus, memory].into_iter().flatten(), ", ");
    if parts.is_empty() { "not recorded".to_owned() } else { parts }
}

/// "2026-11-21 12:00", or whatever text the record has instead.
pub fn moment(started: Option<&str>) -> String {
    /// "2026-11-21T12:00"
    const MINUTES: usize = 16;
    let Some(started) = started else { return "–".to_owned() };
    let shown: String = started.chars().take(MINUTES).map(|letter| if letter == 'T' { ' ' } else { letter }).collect();
    visible(&shown).into_owned()
}

/// The first throughput ratio to a baseline, or the first cell's level; and how many more there are.
pub fn answer(brief: &Brief) -> String {
    if brief.state == State::Rehearsed {
        return "its figures are made up".to_owned();
    }
    let against = brief.cells.iter().filter_map(|cell| against_baseline(brief, cell));
    let done = brief.cells.iter().filter_map(|cell| Some(with_unit(cell, cell.level(THROUGHPUT)?)));
    let ratios: Vec<String> = against.collect();
    let told = if ratios.is_empty() { done.collect() } else { ratios };
    match told.split_first() {
        None => "nothing counts".to_owned(),
        Some((first, [])) => first.clone(),
        Some((first, others)) => format!("{first}; and {} more", others.len()),
    }
}

fn named_cell(cell: &BriefCell) -> String {
    let wrong = if cell.wrong_data { ", WRONG DATA" } else { "" };
    format!("{}{}{wrong}", cell.contender, format::at(&cell.coordinates))
}

/// `None` without a contrast. Wrong data on either side is named, since its speed says nothing.
fn against_baseline(brief: &Brief, cell: &BriefCell) -> Option<String> {
    let (baseline, found) = (cell.baseline.as_deref()?, cell.contrast(THROUGHPUT)?);
    let base = brief.cells.iter().find(|one| one.contender == baseline && one.coordinates == cell.coordinates)?;
    let change = format::effect_of(&found.estimate);
    Some(format!(
        "{}{}: {change} against {}",
        marked(cell),
        named_cell(cell),
        if base.wrong_data { named_cell(base) } else { baseline.to_owned() }
    ))
}

fn with_unit(cell: &BriefCell, level: &BriefLevel) -> String {
    let number = format::estimate(&level.estimate, |value| measures::number(&level.measure.unit, value));
    let unit = if let Unit::Own(unit) = &level.measure.unit { format!(" {unit}") } else { String::new() };
    format!("{}{}: {number}{unit}", marked(cell), named_cell(cell))
}

/// The sign of the answer's stamp: "✗ ".
fn marked(cell: &BriefCell) -> String {
    cell.stamp.map(|stamp| format!("{} ", Mark::from(stamp).sign())).unwrap_or_default()
}

/// Everything kept of a run, or only these measures.
pub fn show(brief: &Brief, wanted: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    let started = brief.started.as_deref().unwrap_or("no trial has begun");
    let own = [
        ("run", brief.run.clone()),
        ("started", started.to_owned()),
        ("study", format!("{} ({})", brief.study, brief.study_id)),
        ("state", state(brief.state).to_owned()),
        ("trials", format!("{} of {} count", brief.valid, brief.planned)),
        ("host", host(&HostBrief::of(&brief.host))),
    ];
    let versions = brief.versions.iter().map(|(what, seen)| (what.as_str(), seen.join(" | ")));
    for (what, said) in own.into_iter().chain(versions) {
        let _ = writeln!(text, "{:<9} {}", visible(what), visible(&said));
    }
    for cell in &brief.cells {
        let named = format!("{} {}", visible(&named_cell(cell)), marked(cell));
        let _ = writeln!(text, "\ncell {}: {}", cell.cell, named.trim_end());
        text.push_str(&terminal::table(&of_cell(cell, &wanted)));
    }
    text
}

fn of_cell(cell: &BriefCell, wanted: impl Fn(&str) -> bool) -> Table {
    let mut columns = columns(&["measure"], &["level", "trials"]);
    columns.extend(cell.baseline.as_ref().map(|baseline| Column::number(format!("against {baseline}"))));
    let row = |level: &BriefLevel| {
        let measure = &level.measure;
        let label = label(measure);
        // The label is for readers, and the id is what other commands take.
        let name = if label == measure.id { label } else { format!("{}: {label}", measure.id) };
        let number = Cell::estimate(Some(&level.estimate), style(&measure.unit), "");
        let mut cells = vec![Cell::text(name).known_as(&measure.id), number, Cell::count(level.trials)];
        cells.extend(cell.baseline.as_ref().map(|_| measures::contrast(measure, cell.contrast(&measure.id))));
        cells
    };
    let rows = cell.levels.iter().filter(|level| wanted(&level.measure.id)).map(row);
    Table::new("measures".to_owned(), "", columns, rows)
}
