//! Every trial of the plan with its outcome; none is left out. Whether their measured windows were in a steady state.

use super::comparison::each_group;
use super::{contender, headed};
use crate::document::Block;
use crate::format::{self, Style, joined};
use crate::missing;
use crate::table::{Table, TableCell, TableOf, Tone, id, said};
use analysis::cells::CellResult;
use analysis::estimate::Estimate;
use analysis::steadiness::{CellSteadiness, Settled, Steadiness};
use analysis::summary::Analysis;
use analysis::throughput::TrialThroughput;
use analysis::validity::has_wrong_data;
use record::plan::PlannedTrial;
use record::run::{Run, StoredTrial};
use record::trial::{Outcome, TrialRecord};
use std::collections::BTreeSet;

pub fn blocks(run: &Run, analysis: &Analysis) -> Vec<Block> {
    let note = "The interval of a trial's throughput comes from batch means of its own seconds. It does not cover the \
            differences between trials, and no estimate uses it. A short window gives a point value only. Only valid \
            trials enter an estimate: completed, with a record that agrees with itself, and with correct data.";
    let again = Block::list(run.trials.iter().filter_map(|trial| why_again(&trial.record)));
    headed("Every trial", table(run, analysis).map(Block::Table).into_iter().chain(again), note)
}

fn table(run: &Run, analysis: &Analysis) -> Option<Table> {
    let stored = |planned: &PlannedTrial| run.trials.iter().find(|trial| trial.record.id == planned.id);
    let found = |planned: &PlannedTrial| {
        let mut trials = analysis.cells.iter().flat_map(|cell| cell.trials.iter().map(move |trial| (cell, trial)));
        trials.find(|(_, trial)| trial.trial == planned.id && trial.value.is_some())
    };
    let name = |planned: &PlannedTrial| {
        let cell = run.plan.cells.iter().find(|cell| cell.id == planned.cell);
        let name = cell.map(|cell| contender(&cell.contender, &cell.coordinates()));
        name.unwrap_or_else(|| TableCell::missing("the plan has no such cell"))
    };
    let not_completed = || TableCell::missing("it was not completed");
    let nothing = || TableCell::missing(NOTHING);
    let trials: Vec<_> = run.plan.trials.iter().map(|planned| (planned, stored(planned), found(planned))).collect();
    let table = TableOf::new(&trials)
        .number("trial", |(planned, ..)| TableCell::name(planned.id))
        .number("block", |(planned, ..)| TableCell::name(planned.block))
        .text("contender", |(planned, ..)| name(planned))
        .text("outcome", |(_, one, _)| one.map_or_else(|| TableCell::verdict("not completed", Tone::Bad), outcome))
        .number("throughput", |(.., found)| found.map_or_else(nothing, throughput))
        .text("steady state", |(.., found)| found.map_or_else(nothing, |(_, trial)| steady_state(trial)))
        .text("started (UTC)", |(_, one, _)| one.map_or_else(not_completed, started))
        .text("phases", |(_, one, _)| one.map_or_else(not_completed, phases))
        .text("seed", |(planned, ..)| TableCell::text(planned.seed.to_string()));
    let again = |trial: &StoredTrial| TableCell::count(trial.record.disturbed().len());
    // Old records have no limit for the load of others.
    let is_limited = run.trials.iter().any(|trial| trial.record.other_load.is_some());
    table
        .numbers(
            is_limited.then_some("run again"),
            |title| (*title).to_owned(),
            |_, (_, one, _)| one.map_or_else(not_completed, again),
        )
        .table("trials", "")
}

/// The attempts at a trial that were void because of other load on the host.
fn why_again(record: &TrialRecord) -> Option<String> {
    let (id, attempts) = (record.id, record.disturbed());
    let limit = attempts.first()?.by.allowed();
    let used = format::listed(attempts.iter().map(|attempt| attempt.by.used()));
    let times = if attempts.len() == 1 { "once".to_owned() } else { format!("{} times", attempts.len()) };
    Some(format!("Trial {id} was run {times} more, because others used {used} of the host's CPU time (limit {limit})."))
}

const NOTHING: &str = "nothing was measured";

fn throughput((cell, trial): (&CellResult, &TrialThroughput)) -> TableCell {
    let style = Style::quantity(&cell.metric.unit);
    let Some(value) = trial.value else { return TableCell::missing(NOTHING) };
    let shown = TableCell::bounded(value, Some(&trial.interval), style);
    if trial.interval.known().is_some() { shown } else { shown.detail("point value") }
}

fn steady_state(trial: &TrialThroughput) -> TableCell {
    // Why it is too short is in the table of cells.
    let shown = verdict(&trial.steadiness.verdict);
    let drift = trial.steadiness.drift.as_ref().filter(|drift| drift.bounds.known().is_some());
    let drift = drift.map(|drift| format!("drift {}", said(drift, Style::CHANGE)));
    let settled = match &trial.steadiness.settled {
        Settled::At { start_ms: 0, .. } => Some("settled from the start by MSER-5".to_owned()),
        Settled::At { start_ms, .. } => Some(format!("settled after {} by MSER-5", format::span(*start_ms))),
        Settled::NotInFirstHalf => Some("not settled in the first half by MSER-5".to_owned()),
        Settled::TooShortToTell { .. } => None,
    };
    shown.detail(joined([drift, settled].into_iter().flatten(), "; "))
}

fn outcome(trial: &StoredTrial) -> TableCell {
    let text = match &trial.record.outcome {
        Outcome::Completed if has_wrong_data(trial) => {
            let violated = trial.findings.iter().filter(|finding| finding.is_violated());
            // Several machines may have violated the same check.
            let names: BTreeSet<&String> = violated.map(|finding| &finding.name).collect();
            return TableCell::verdict("wrong data", Tone::Bad).detail(format!("violated: {}", format::listed(names)));
        }
        Outcome::Completed if !trial.disagreements.is_empty() => {
            return TableCell::verdict("not believed", Tone::Bad).detail(trial.disagreements.join("; "));
        }
        Outcome::Completed => return TableCell::verdict("completed", Tone::Good),
        Outcome::Invalid { .. } => "invalid",
        Outcome::Failed { .. } => "failed",
        Outcome::Skipped { .. } => "skipped",
        Outcome::Interrupted { .. } => "interrupted",
    };
    TableCell::verdict(text, Tone::Bad).detail(format::outcome(&trial.record.outcome))
}

/// "2026-11-21T12:00:00Z" is easier to read as "2026-11-21 12:00:00".
fn started(trial: &StoredTrial) -> TableCell {
    TableCell::text(trial.record.started.replacen('T', " ", 1).trim_end_matches('Z'))
}

fn phases(trial: &StoredTrial) -> TableCell {
    let phases = trial.record.phases.iter().map(|one| format!("{} {}", one.phase, format::span(one.length_ms)));
    TableCell::text(joined(phases, " · ")).tone(Tone::Muted)
}

pub fn steadiness(analysis: &Analysis) -> Vec<Block> {
    let note = "Drift is the change of throughput over the measured window, along a straight line. MSER-5 is a standard \
            rule for the end of warming up; by chance it may lie beyond the warm-up. The table of the trials has the end that it finds in each. \
            No estimate leaves anything out because of the rule.";
    headed("Steady state", each_group(analysis, |cells| of_cells(cells).map(Block::Table)), note)
}

fn of_cells(cells: &[&CellResult]) -> Option<Table> {
    TableOf::new(cells)
        .text("contender", |cell| TableCell::text(&cell.contender))
        .text("steady state", |cell| verdict(&cell.steadiness.verdict))
        .number("drift over the window, %", |cell| drift(cell.steadiness.drift.as_ref()))
        .text("whole checkpoint cycles in a window", |cell| cycles(&cell.steadiness))
        .table(id("steadiness", &cells[0].coordinates), "")
}

const TOO_SHORT: &str = "trials are too short to judge";

/// The verdict on a trial or a cell.
pub fn verdict(found: &Steadiness) -> TableCell {
    match found {
        Steadiness::Steady => TableCell::verdict("steady", Tone::Good),
        Steadiness::Drifting => TableCell::verdict("no steady state", Tone::Bad).detail("it drifts"),
        Steadiness::Unsettled => TableCell::verdict("no steady state", Tone::Bad).detail("it does not settle"),
        Steadiness::TooShortToTell { why } => {
            TableCell::verdict("too short to judge", Tone::Muted).detail(missing::why(why))
        }
    }
}

fn drift(drift: Option<&Estimate>) -> TableCell {
    let cell = TableCell::estimate(drift, Style::CHANGE, TOO_SHORT);
    let plain = drift.is_some_and(|drift| drift.bounds.known().is_none());
    if plain { cell.detail("point value") } else { cell }
}

fn cycles(found: &CellSteadiness) -> TableCell {
    match found.checkpoints_begun.map(|(fewest, most)| (fewest.saturating_sub(1), most.saturating_sub(1))) {
        None => TableCell::text("the engine does not report it").tone(Tone::Muted),
        Some((0, 0)) => TableCell::text("none").tone(Tone::Marked),
        Some((fewest, most)) if fewest == most => TableCell::count(most),
        Some((fewest, most)) => TableCell::text(format!("{fewest} to {most}")),
    }
}
