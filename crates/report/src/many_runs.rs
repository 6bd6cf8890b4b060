//! A table of the runs in a folder, and the brief of one of them.

use crate::document::{Block, Mark};
use crate::format::{self, Style, joined};
use crate::measures::{self, label, style};
use crate::table::{Table, TableCell, TableOf, said};
use crate::terminal::{self, page};
use analysis::findings::Stamp;
use analysis::many_runs::{Brief, BriefCell, BriefLevel, HostBrief, RunState};
use analysis::measures::Measure;
use analysis::measures::throughput::THROUGHPUT;
use record::text::visible;
use serde::Serialize;

/// A folder of a run, as far as it could be read.
#[derive(Debug, Clone, PartialEq)]
pub enum FolderRead {
    Read(Brief),
    Damaged { run: String, why: String },
}

impl FolderRead {
    pub fn brief(&self) -> Option<&Brief> {
        match self {
            Self::Read(brief) => Some(brief),
            Self::Damaged { .. } => None,
        }
    }
}

/// A line of the list, for programs.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ListedRun<'a> {
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

pub fn listed(entry: &FolderRead) -> ListedRun<'_> {
    match entry {
        FolderRead::Read(brief) => ListedRun {
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
        FolderRead::Damaged { run, why } => {
            ListedRun { run, state: "damaged", answer: why.clone(), ..ListedRun::default() }
        }
    }
}

/// Plain text; it ends with a line break.
pub fn list(entries: &[FolderRead]) -> String {
    let lines: Vec<ListedRun<'_>> = entries.iter().map(listed).collect();
    let trials = |line: &ListedRun<'_>| {
        if line.planned == 0 { String::new() } else { format!("{} of {}", line.valid, line.planned) }
    };
    let table = TableOf::new(&lines)
        .text("run", |line| TableCell::text(line.run))
        .text("started, UTC", |line| TableCell::text(moment(line.started)))
        .text("study", |line| TableCell::text(line.study.unwrap_or_default()))
        .text("host", |line| TableCell::text(line.host.as_deref().unwrap_or_default()))
        .text("state", |line| TableCell::text(line.state))
        .text("trials", |line| TableCell::text(trials(line)))
        .text("answer", |line| TableCell::text(&line.answer));
    table.table("runs", "").as_ref().map(terminal::table).unwrap_or_default()
}

pub fn state(state: RunState) -> &'static str {
    match state {
        RunState::Complete => "complete",
        RunState::Unfinished => "unfinished",
        RunState::Rehearsed => "rehearsed",
    }
}

/// A host in a few words; other hosts may have the same.
pub fn host(host: &HostBrief) -> String {
    let cpus = host.cpus.map(|cpus| format::counted(cpus, "CPU"));
    let memory = host.memory_bytes.map(format::bytes);
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
    if brief.state == RunState::Rehearsed {
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
    format::who(&cell.contender, &cell.coordinates) + wrong
}

/// `None` without a contrast. Wrong data on either side is named, since its speed says nothing.
fn against_baseline(brief: &Brief, cell: &BriefCell) -> Option<String> {
    let (baseline, found) = (cell.baseline.as_deref()?, cell.contrast(THROUGHPUT)?);
    let base = brief.cells.iter().find(|one| one.contender == baseline && one.coordinates == cell.coordinates)?;
    let change = said(&found.estimate, Style::EFFECT);
    Some(format!(
        "{}{}: {change} against {}",
        marked(cell),
        named_cell(cell),
        if base.wrong_data { named_cell(base) } else { baseline.to_owned() }
    ))
}

fn with_unit(cell: &BriefCell, level: &BriefLevel) -> String {
    format!("{}{}: {}", marked(cell), named_cell(cell), said(&level.estimate, style(&level.measure.unit)))
}

/// The sign of the answer's stamp: "✗ ".
fn marked(cell: &BriefCell) -> String {
    cell.stamp.map(|stamp| format!("{} ", Mark::from(stamp).sign())).unwrap_or_default()
}

/// Everything kept of a run, or only these measures.
pub fn show(brief: &Brief, wanted: impl Fn(&str) -> bool) -> String {
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
    let facts = own.into_iter().chain(versions).map(|(name, said)| (name.to_owned(), said));
    let mut blocks = vec![Block::Facts(facts.collect())];
    for cell in &brief.cells {
        let named = format!("cell {}: {} {}", cell.cell, named_cell(cell), marked(cell));
        blocks.push(Block::Heading { level: 2, text: named.trim_end().to_owned() });
        blocks.extend(of_cell(cell, &wanted).map(Block::Table));
    }
    page(&blocks)
}

fn of_cell(cell: &BriefCell, wanted: impl Fn(&str) -> bool) -> Option<Table> {
    let levels: Vec<&BriefLevel> = cell.levels.iter().filter(|level| wanted(&level.measure.id)).collect();
    let name = |measure: &Measure| {
        let label = label(measure);
        // The label is for readers, and the id is what other commands take.
        let name = if label == measure.id { label } else { format!("{}: {label}", measure.id) };
        TableCell::text(name).known_as(&measure.id)
    };
    TableOf::new(&levels)
        .text("measure", |level| name(&level.measure))
        .number("level", |level| TableCell::estimate(Some(&level.estimate), style(&level.measure.unit), ""))
        .number("trials", |level| TableCell::count(level.trials))
        .numbers(
            &cell.baseline,
            |baseline| format!("against {baseline}"),
            |_, level| measures::contrast(&level.measure, cell.contrast(&level.measure.id)),
        )
        .table("measures", "")
}
