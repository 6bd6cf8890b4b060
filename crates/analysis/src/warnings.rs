//! Reasons to doubt the numbers, found by looking, not by asking: told before any number is.

use crate::agreement::Agreement;
use crate::cells::CellResult;
use crate::checks::CheckSummary;
use crate::consistency::{self, Consistency};
use crate::consolidation::{self, Consolidation};
use crate::settings::SettingsComparison;
use crate::student::FEWEST_BLOCKS;
use crate::{alike, cells, compare, machines, steadiness, throughput};
use record::facts::Fact;
use record::plan::Cell;
use record::run::{Run, StoredTrial};
use record::trial::{ClockReading, Outcome, TrialRecord};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A machine's clock that runs faster or slower than the host's by more than this share falsifies what is timed by it.
const CLOCK_RATE_TOLERANCE: f64 = 0.001;

/// Trials of one cell differ by less than this factor where nothing disturbs them.
const STEADY: f64 = 1.25;

/// More trials than this are counted instead of listed.
const MOST_LISTED: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Warning {
    pub severity: Severity,
    /// A sentence or two.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The comparison may be wrong, or a part of it is missing.
    Serious,
    /// Worth knowing before believing small differences.
    Caution,
}

/// What other parts of the analysis found.
pub struct Findings<'a> {
    pub agreement: &'a [Agreement],
    pub settings: &'a [SettingsComparison],
    pub checks: &'a [CheckSummary],
    pub consistency: &'a Consistency,
    pub consolidation: &'a [Consolidation],
    pub cells: &'a [CellResult],
}

fn rehearsed(run: &Run) -> Option<Warning> {
    let text = "This run was rehearsed. No machine was started and no server was driven: every transaction took a time that \
                was made up. No figure here means anything.";
    run.plan.rehearsed.then(|| Warning { severity: Severity::Serious, text: text.to_owned() })
}

/// All warnings, the worst first.
pub fn all(run: &Run, findings: &Findings<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    warnings.extend(rehearsed(run));
    warnings.extend(outcomes(run));
    warnings.extend(violated(findings.checks));
    warnings.extend(emulated(run));
    warnings.extend(unequal_settings(findings.settings));
    warnings.extend(consistency::warnings(findings.consistency));
    warnings.extend(consolidation::warnings(findings.consolidation));
    warnings.extend(storage(run));
    warnings.extend(disagreements(findings.agreement));
    warnings.extend(clocks(run));
    warnings.extend(not_honoured(run));
    warnings.extend(alike::nested(run).into_iter().chain(alike::differences(run)).map(caution));
    warnings.extend(told_by_trials(run));
    warnings.extend(unsteady(run));
    // Where a neighbour comes or goes, throughput changes because it is meant to.
    let is_disturbed = |cell: &&CellResult| findings.consolidation.iter().any(|one| one.is_disturbed(cell.cell));
    warnings.extend(steadiness::cautions::all(findings.cells.iter().filter(|cell| !is_disturbed(cell))));
    warnings.extend(given_up(run));
    warnings.extend(design(run));
    warnings.sort_by_key(|warning| warning.severity);
    warnings
}

pub fn serious(text: String) -> Warning {
    Warning { severity: Severity::Serious, text }
}

pub fn caution(text: String) -> Warning {
    Warning { severity: Severity::Caution, text }
}

/// The same thing said of several trials is said once, with the trials.
#[derive(Default)]
pub(crate) struct Gathered(BTreeMap<String, Vec<u32>>);

impl Gathered {
    /// Several machines of a trial may say the same.
    pub(crate) fn add(&mut self, text: String, trial: u32) {
        let trials = self.0.entry(text).or_default();
        if trials.last() != Some(&trial) {
            trials.push(trial);
        }
    }

    /// In the order of the first trial each was said of.
    pub(crate) fn sentences(self) -> Vec<String> {
        let mut gathered: Vec<_> = self.0.into_iter().collect();
        gathered.sort_by_key(|(_, trials)| trials.first().copied());
        gathered.into_iter().map(|(text, trials)| format!("{text} ({})", list(&trials))).collect()
    }
}

pub fn list(trials: &[u32]) -> String {
    match trials {
        [one] => format!("trial {one}"),
        many if many.len() > MOST_LISTED => format!("{} trials", many.len()),
        few => format!("trials {}", few.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
    }
}

fn outcomes(run: &Run) -> Vec<Warning> {
    let mut gathered = Gathered::default();
    for trial in run.trials.iter().filter(|trial| trial.record.outcome != Outcome::Completed) {
        let ended = compare::in_one_line(&trial.record.outcome);
        gathered.add(format!("{} {ended}", trial.record.contender), trial.record.id);
    }
    let mut warnings: Vec<Warning> = gathered.sentences().into_iter().map(serious).collect();
    let reached = |id: u32| run.trials.iter().any(|trial| trial.record.id == id);
    let missing: Vec<u32> = run.plan.trials.iter().map(|trial| trial.id).filter(|id| !reached(*id)).collect();
    if !missing.is_empty() {
        let count = missing.len();
        let planned = run.plan.trials.len();
        warnings.push(serious(format!("{count} of {planned} planned trials were not run ({})", list(&missing))));
    }
    warnings
}

fn violated(checks: &[CheckSummary]) -> Vec<Warning> {
    let violated = checks.iter().filter(|check| !check.violated.is_empty());
    let sentence = |check: &CheckSummary| {
        let (name, contender, rule, trials) = (&check.name, &check.contender, &check.rule, list(&check.violated));
        let seen = check.seen.as_deref().unwrap_or("nothing noted");
        let rule = rule.trim_end_matches('.');
        serious(format!("data check {name} is violated on {contender} ({trials}). Rule: {rule}. Seen: {seen}"))
    };
    violated.map(sentence).collect()
}

fn unequal_settings(settings: &[SettingsComparison]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for comparison in settings {
        let place = at(&comparison.coordinates);
        let differing = comparison.settings.iter().filter(|row| row.differs);
        let names: Vec<&str> = differing.map(|row| row.name.as_str()).collect();
        if !names.is_empty() {
            let names = names.join(", ");
            warnings.push(serious(format!("effective database settings differ between contenders{place}: {names}")));
        }
        if comparison.servers.windows(2).any(|pair| pair[0] != pair[1]) {
            let servers = comparison.contenders.iter().zip(&comparison.servers);
            let servers: Vec<String> =
                servers.map(|(contender, server)| format!("{contender} runs {server}")).collect();
            warnings.push(serious(format!("the database servers differ{place}: {}", servers.join("; "))));
        }
    }
    warnings
}

/// " at 1x2", or nothing where a study has only one point.
pub fn at(coordinates: &str) -> String {
    if coordinates.is_empty() { String::new() } else { format!(" at {coordinates}") }
}

/// Of each machine of each trial.
fn each_record(run: &Run) -> impl Iterator<Item = &TrialRecord> {
    run.trials.iter().flat_map(StoredTrial::each_machine).map(|machine| &machine.record)
}

/// Data of all contenders must lie on the same kind of storage, cached by as many caches.
fn storage(run: &Run) -> Vec<Warning> {
    let groups = cells::groups(&run.plan);
    groups.iter().flat_map(|group| machines::storage_differences(run, group)).map(serious).collect()
}

/// Whoever reads a ratio takes it for the price of a hypervisor.
fn emulated(run: &Run) -> Vec<Warning> {
    let mut gathered = Gathered::default();
    for record in each_record(run) {
        if let Some(how) = record.machine.as_ref().and_then(machines::how_emulated) {
            gathered.add(format!("{} ran {how}", record.contender), record.id);
        }
    }
    let sentences = gathered.sentences().into_iter();
    sentences
        .map(|sentence| {
            serious(format!(
                "{sentence}. Its figures are those of an emulator, not of a hypervisor with hardware virtualization"
            ))
        })
        .collect()
}

pub(crate) fn disagreements(agreement: &[Agreement]) -> Vec<Warning> {
    let mut gathered = Gathered::default();
    for checked in agreement {
        for text in &checked.disagreements {
            gathered.add(format!("the record disagrees with itself: {text}"), checked.trial);
        }
    }
    gathered.sentences().into_iter().map(serious).collect()
}

fn clocks(run: &Run) -> Vec<Warning> {
    let mut drifting: BTreeMap<&str, (f64, Vec<u32>)> = BTreeMap::new();
    for trial in &run.trials {
        let length_ms: u64 = trial.record.phases.iter().map(|phase| phase.length_ms).sum();
        let machines = trial.each_machine().iter().filter_map(|machine| machine.record.machine.as_ref());
        let worst = machines.filter_map(|machine| clock_rate_error(&machine.clock, length_ms)).reduce(f64::max);
        if let Some(rate) = worst.filter(|rate| *rate > CLOCK_RATE_TOLERANCE) {
            let (worst, trials) = drifting.entry(&trial.record.contender).or_default();
            *worst = worst.max(rate);
            trials.push(trial.record.id);
        }
    }
    let sentence = |(contender, (worst, trials)): (&str, (f64, Vec<u32>))| {
        let (percent, trials) = (worst * 100.0, list(&trials));
        serious(format!(
            "the clock inside {contender} ran up to {percent:.2} % or more faster or slower than the host's ({trials}); what \
             was timed inside is wrong by as much"
        ))
    };
    drifting.into_iter().map(sentence).collect()
}

/// The least share by which a machine's clock ran wrong, given that each reading is uncertain by half its round trip.
fn clock_rate_error(readings: &[ClockReading], length_ms: u64) -> Option<f64> {
    let lowest = readings.iter().min_by_key(|reading| reading.offset_ns)?;
    let highest = readings.iter().max_by_key(|reading| reading.offset_ns)?;
    let apart_ns = highest.offset_ns.abs_diff(lowest.offset_ns);
    let uncertain_ns = lowest.round_trip_ns.midpoint(highest.round_trip_ns);
    let certain_ns = apart_ns.saturating_sub(uncertain_ns);
    (length_ms > 0).then(|| certain_ns as f64 / (length_ms as f64 * 1e6))
}

fn not_honoured(run: &Run) -> Vec<Warning> {
    let mut gathered = Gathered::default();
    for record in each_record(run) {
        let decided = record.machine.iter().flat_map(|machine| &machine.decided);
        for (name, fact) in decided.filter(|(_, fact)| matches!(fact, Fact::Unavailable(_))) {
            gathered.add(format!("{}: {name} is {fact}", record.contender), record.id);
        }
    }
    gathered.sentences().into_iter().map(caution).collect()
}

fn told_by_trials(run: &Run) -> Vec<Warning> {
    let mut gathered = Gathered::default();
    for trial in &run.trials {
        // Those of several machines are among the trial's own.
        for text in &trial.record.warnings {
            gathered.add(format!("{}: {text}", trial.record.contender), trial.record.id);
        }
    }
    gathered.sentences().into_iter().map(serious).collect()
}

/// Pairing by block cures drift, but not what comes and goes within seconds.
fn unsteady(run: &Run) -> Vec<Warning> {
    let warning = |cell: &Cell| {
        let values: Vec<f64> = cells::sound(run, cell.id).filter_map(throughput::figure).collect();
        let highest = values.iter().copied().fold(0.0, f64::max);
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let (contender, place, times) = (&cell.contender, at(&cell.coordinates()), highest / lowest);
        (lowest > 0.0 && times > STEADY).then(|| {
            caution(format!(
                "{contender} was {times:.1} times as fast in its fastest trial as in its slowest{place}: something else used this \
                 host, or the database was not in a steady state. Measure again while the host is quiet"
            ))
        })
    };
    run.plan.cells.iter().filter_map(warning).collect()
}

fn given_up(run: &Run) -> Vec<Warning> {
    let mut failed: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for trial in run.trials.iter().filter(|trial| trial.record.outcome == Outcome::Completed) {
        for totals in trial.record.driver.iter().flat_map(|driver| &driver.kinds).filter(|kind| !kind.step) {
            let (given_up, all) = failed.entry(&trial.record.contender).or_default();
            *given_up += totals.failed;
            *all += totals.failed + totals.finished();
        }
    }
    let failed = failed.into_iter().filter(|(_, (given_up, _))| *given_up > 0);
    failed
        .map(|(contender, (given_up, all))| caution(format!("{contender}: {given_up} of {all} transactions failed")))
        .collect()
}

fn design(run: &Run) -> Vec<Warning> {
    let mut warnings = Vec::new();
    // A cell that is alone may be all there is, but not beside others that are compared.
    let is_compared = run.plan.cells.iter().any(|cell| cell.baseline);
    for group in cells::groups(&run.plan).iter().filter(|group| is_compared || group.cells.len() > 1) {
        if !group.cells.iter().any(|cell| cell.baseline) {
            warnings
                .push(serious(format!("no contender is the baseline{}: nothing is compared", at(&group.coordinates))));
        }
    }
    let blocks = run.plan.blocks;
    if (blocks as usize) < FEWEST_BLOCKS {
        warnings.push(caution(format!(
            "the study has {blocks} of the at least {FEWEST_BLOCKS} blocks that an interval needs: ratios are plain \
             readings, and chance alone may explain them"
        )));
    }
    warnings
}

#[cfg(test)]
mod tests;
