//! Whether a completed trial's files are complete and agree with each other: the seconds of its log add up to the totals in
//! `trial.json`, its data was checked, and its throughput counts the same as that of other trials.
//!
//! Each of several machines has files of its own. They are examined one by one, since a lack in one could cancel an excess
//! in another. A record that disagrees with the plan is not covered here: reading it is an error ([`crate::run`]).

use crate::check::Moment;
use crate::intervals::{KindInterval, Measured, Span};
use crate::plan::Plan;
use crate::run::{Run, StoredTrial};
use crate::trial::{DriverFacts, Metric, Outcome};
use std::collections::{BTreeMap, BTreeSet};

/// At most this many missing checks are named.
const MOST_NAMED: usize = 3;

/// Notes for every completed trial what does not agree, in place of what was noted before.
pub fn settle(run: &mut Run) {
    for trial in &mut run.trials {
        trial.disagreements.clear();
        if trial.record.outcome == Outcome::Completed {
            trial.disagreements = of_trial(trial);
            trial.disagreements.extend_from_slice(&trial.damage);
        }
    }
    let unlike = [unlike_metrics(run), missing_checks(run)];
    for (place, text) in unlike.into_iter().flatten() {
        run.trials[place].disagreements.push(text);
    }
}

fn of_trial(trial: &StoredTrial) -> Vec<String> {
    if trial.machines.is_empty() {
        return of_machine(trial);
    }
    // An idle machine beside the others neither drives nor is checked.
    let measured: Vec<u32> = trial.measured_machines().map(|(number, _)| number).collect();
    let is_asked =
        |(number, machine): &(u32, &StoredTrial)| measured.contains(number) || machine.record.driver.is_some();
    let asked = (1..).zip(&trial.machines).filter(is_asked);
    let mut found: Vec<String> = asked
        .flat_map(|(number, machine)| {
            of_machine(machine).into_iter().map(move |text| format!("machine {number}: {text}"))
        })
        .collect();
    if found.is_empty() && trial.record.driver.is_none() {
        found.push("the trial is called completed, but the record of one of its machines is missing".to_owned());
    }
    found
}

/// The machines that had work to do, with their numbers. An idle machine beside the others has nothing to measure,
/// and nothing to check afterwards.
fn driven(trial: &StoredTrial) -> impl Iterator<Item = (u32, &StoredTrial)> {
    let is_idle = |number, machine: &StoredTrial| trial.bystander == Some(number) && machine.record.driver.is_none();
    (1..).zip(trial.each_machine()).filter(move |(number, machine)| !is_idle(*number, machine))
}

/// Whether one of its machines has data that was not checked after the load.
pub fn is_unchecked(trial: &StoredTrial) -> bool {
    let is_checked = |own: &StoredTrial| own.findings.iter().any(|finding| finding.moment == Moment::AfterTrial);
    driven(trial).any(|(_, machine)| !machine.each_database().iter().all(is_checked))
}

fn of_machine(machine: &StoredTrial) -> Vec<String> {
    if machine.instances.is_empty() {
        return of_database(machine);
    }
    let of_instance = |(number, own): (u32, &StoredTrial)| {
        of_database(own).into_iter().map(move |text| format!("instance {number}: {text}"))
    };
    let mut found: Vec<String> = (1..).zip(&machine.instances).flat_map(of_instance).collect();
    if found.is_empty() && machine.record.driver.is_none() {
        found.push("the trial is called completed, but the record of one of its databases is missing".to_owned());
    }
    found
}

fn of_database(trial: &StoredTrial) -> Vec<String> {
    if trial.record.outcome != Outcome::Completed {
        return vec!["the trial is called completed, but its own trial.json says otherwise".to_owned()];
    }
    let mut found = match (&trial.measured, &trial.record.driver) {
        (Some(measured), Some(driver)) => of_totals(measured, driver),
        (None, _) => vec!["the trial is called completed, but it has no intervals.hlog".to_owned()],
        (_, None) => vec!["the trial is called completed, but trial.json has no totals (driver)".to_owned()],
    };
    if is_unchecked(trial) {
        found.push("the trial is called completed, but it has no data checks (findings.json)".to_owned());
    }
    found
}

fn of_totals(measured: &Measured, driver: &DriverFacts) -> Vec<String> {
    let mut found = Vec::new();
    let length_ms: u64 =
        measured.intervals.iter().filter(|second| second.measured).map(|second| second.length_ms).sum();
    if length_ms != driver.measured_ms {
        found.push(format!("the log's measured seconds are {length_ms} ms, the window is {} ms", driver.measured_ms));
    }
    let logged = finished(measured);
    let mut known = BTreeSet::new();
    for totals in &driver.kinds {
        let (kind, finished) = (&totals.kind, totals.finished());
        if !known.insert(kind) {
            found.push(format!("the totals have {kind} twice"));
        }
        let Some(index) = measured.kinds.iter().position(|known| known == kind) else {
            found.push(format!("the log does not know {kind}"));
            continue;
        };
        for (span, name) in [(Span::Response, "response"), (Span::Service, "service")] {
            let logged = logged.get(&(index, span)).copied().unwrap_or(0);
            if logged != finished {
                found.push(format!("{kind}: the log has {logged} {name} times, the totals say {finished} finished"));
            }
        }
    }
    found
}

/// The number of response or service times in the measured seconds, by kind and span.
fn finished(measured: &Measured) -> BTreeMap<(usize, Span), u64> {
    let mut sums = BTreeMap::new();
    for part in measured.intervals.iter().filter(|second| second.measured).flat_map(|second| &second.kinds) {
        let sum: &mut u64 = sums.entry((usize::from(part.kind), part.span)).or_default();
        *sum = sum.saturating_add(KindInterval::count(part));
    }
    sums
}

/// Places of trials by what their throughput counts, and per how many milliseconds.
type ByMetric<'a> = BTreeMap<(u64, &'a [String]), BTreeSet<usize>>;

/// Places of completed trials whose throughput counts something else than that of most trials with the same workload.
fn unlike_metrics(run: &Run) -> Vec<(usize, String)> {
    let mut workloads: BTreeMap<String, ByMetric<'_>> = BTreeMap::new();
    for (place, trial) in completed(run) {
        for (_, machine) in trial.measured_machines() {
            let Some(Metric { per_ms, counted, .. }) = machine.record.driver.as_ref().map(|driver| &driver.metric)
            else {
                continue;
            };
            let counted =
                workloads.entry(workload(&run.plan, trial.record.cell)).or_default().entry((*per_ms, counted));
            counted.or_default().insert(place);
        }
    }
    let mut unlike = Vec::new();
    for metrics in workloads.into_values().filter(|metrics| metrics.len() > 1) {
        let most = metrics.values().map(BTreeSet::len).max().unwrap_or(0);
        // On a tie, nobody knows which are right, so all are named.
        let is_settled = metrics.values().filter(|places| places.len() == most).count() == 1;
        for ((per_ms, counted), places) in metrics.into_iter().filter(|(_, places)| !is_settled || places.len() < most)
        {
            let what = counted.join(", ");
            let text = format!("its throughput counts {what} per {per_ms} ms, unlike that of other trials");
            unlike.extend(places.into_iter().map(|place| (place, text.clone())));
        }
    }
    unlike
}

fn workload(plan: &Plan, cell: u32) -> String {
    let found = plan.cells.iter().find(|own| own.id == cell);
    found.and_then(|cell| cell.settings.workload()).unwrap_or_default().to_owned()
}

/// The number of a trial's checks by name: one for each machine.
type ChecksByName<'a> = BTreeMap<&'a str, usize>;

/// The place of a trial, with its checks.
type Checked<'a> = (usize, ChecksByName<'a>);

/// Places of completed trials without a check that another trial of the same cell, run by the same build, has.
fn missing_checks(run: &Run) -> Vec<(usize, String)> {
    let mut cells: BTreeMap<(u32, &Option<String>), Vec<Checked<'_>>> = BTreeMap::new();
    for (place, trial) in completed(run) {
        let mut named = ChecksByName::new();
        for finding in trial.findings.iter().filter(|finding| finding.moment == Moment::AfterTrial) {
            *named.entry(&finding.name).or_default() += 1;
        }
        cells.entry((trial.record.cell, &trial.record.made_by)).or_default().push((place, named));
    }
    let mut missing = Vec::new();
    for trials in cells.into_values() {
        let mut all = ChecksByName::new();
        for (name, count) in trials.iter().flat_map(|(_, named)| named) {
            let most = all.entry(name).or_default();
            *most = (*most).max(*count);
        }
        // A trial without any checks has been noted already.
        for (place, named) in trials.iter().filter(|(_, named)| !named.is_empty()) {
            let lacks = |name: &str, count: usize| named.get(name).copied().unwrap_or(0) < count;
            let names: Vec<&str> =
                all.iter().filter(|(name, count)| lacks(name, **count)).map(|(name, _)| *name).collect();
            if !names.is_empty() {
                let (count, first) = (names.len(), names[..count_named(&names)].join(", "));
                let text =
                    format!("findings.json lacks {count} data checks that other trials of its cell have: {first}");
                missing.push((*place, text));
            }
        }
    }
    missing
}

fn count_named(names: &[&str]) -> usize {
    names.len().min(MOST_NAMED)
}

fn completed(run: &Run) -> impl Iterator<Item = (usize, &StoredTrial)> {
    run.trials.iter().enumerate().filter(|(_, trial)| trial.record.outcome == Outcome::Completed)
}
