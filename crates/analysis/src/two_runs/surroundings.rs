//! Further differences between two runs: hosts, kernels, versions, settings, seeds. None of them forbids a comparison,
//! since they may be its subject; but a reader of the ratio must know them.

use super::{Matched, name};
use crate::agreement;
use crate::consistency::{equal_work, host, littles_law};
use crate::findings::of_run::disagreements;
use crate::findings::{ChangedWork, ComparedPart, Finding, ValueChange, What, WhichRun, accept};
use crate::gathered::{by_first, differing, joined, text};
use crate::machines::known;
use crate::observations::Observations;
use crate::validity;
use record::facts::{Fact, Facts};
use record::run::{Run, StoredTrial};
use record::trial::ServerFacts;
use std::collections::BTreeMap;

/// Facts that differ from run to run on a host that is the same in everything that matters.
const PASSING: [&str; 6] = [
    "cgroup.path",
    "memory.available_bytes",
    "storage.mount_point",
    "storage.path",
    "system.boot_id",
    "system.uptime_s",
];

/// Facts inside a machine that must be equal in both runs. Other facts name devices, whose numbers vary.
const TELLING_INSIDE: [&str; 7] = [
    "cpu.model",
    "cpu.threads",
    "kernel.clocksource",
    "kernel.release",
    "storage.file_system",
    "storage.mount_options",
    "storage.scheduler",
];

/// Names and values that a trial has recorded.
type RecordedValues = fn(&StoredTrial) -> Vec<(String, String)>;

/// The worst first.
pub fn findings(
    (old, observed): (&Run, &Observations),
    (new, observed_now): (&Run, &Observations),
    matched: &[Matched<'_>],
) -> Vec<Finding> {
    let mut findings: Vec<Finding> = hosts(old, new).into_iter().collect();
    findings.extend(builds(old, new));
    findings.extend(seeds(old, new));
    // Everything the study decided except workload and load, which must not differ at all if both have the key.
    findings.extend(of_cells(matched, ComparedPart::Settings, |(before, after)| {
        before.settings.differing(&after.settings).into_iter().map(ValueChange::from).collect()
    }));
    let recorded: [(ComparedPart, RecordedValues); 3] =
        [(ComparedPart::Machines, machine), (ComparedPart::Servers, server), (ComparedPart::Loads, driven)];
    for (part, of_trial) in recorded {
        findings.extend(of_cells(matched, part, |(before, after)| {
            let seen = |run, cell| joined(validity::trials_of(run, cell).flat_map(of_trial), " | ");
            differing_texts(&seen(old, before.id), &seen(new, after.id))
        }));
    }
    let work = cells_that_differ(matched, |(before, after)| {
        let unequal = equal_work::differing((observed, before.id), (observed_now, after.id), |older, measured| {
            measured.unpaired(after.id, older, before.id)
        });
        let changed = |(rule, [old, new], _): (&equal_work::WorkRule, [f64; 2], f64)| ChangedWork {
            measure: rule.measure.to_owned(),
            old,
            new,
        };
        unequal.map(changed).collect()
    });
    findings.extend(work.into_iter().map(|(work, cells)| Finding::new(What::WorkChanged { cells, work })));
    for (run, which) in [(old, WhichRun::Old), (new, WhichRun::New)] {
        // Only what is about each run's own measuring. Differences between contenders may well exist in both runs.
        let mut own = host::findings(&host::of_run(run));
        own.extend(littles_law::findings(&littles_law::all(run)));
        own.extend(disagreements(&agreement::all(run)));
        for mut finding in own {
            finding.subject.run = Some(which);
            findings.push(finding);
        }
    }
    accept(&mut findings, &new.plan);
    findings
}

/// A host's facts without those that differ from run to run.
pub(crate) fn lasting(host: &Facts) -> Facts {
    let lasting = host.iter().filter(|(name, _)| !PASSING.contains(&name.as_str()));
    lasting.map(|(name, fact)| (name.clone(), fact.clone())).collect()
}

/// Facts that both hosts know and in which they differ. Facts that only one knows are ignored: another version of
/// bakeoff knows others, which says nothing about the host.
pub(crate) fn differing_facts(old: &Facts, new: &Facts) -> Vec<ValueChange> {
    let change = |(name, old, new): (&String, _, _)| {
        let [old, new] = [old?, new?].map(|fact: &Fact| Some(fact.to_string()));
        Some(ValueChange { name: name.clone(), old, new })
    };
    differing(old, new).filter_map(change).collect()
}

fn hosts(old: &Run, new: &Run) -> Option<Finding> {
    let changes = differing_facts(&lasting(&old.host), &lasting(&new.host));
    if !changes.is_empty() {
        return Some(Finding::new(What::HostsDiffer { changes }));
    }
    let [old, new] = [old, new].map(|run| run.host.get("system.boot_id").and_then(known));
    old.zip(new).filter(|(old, new)| old != new).map(|_| Finding::new(What::HostRestarted))
}

/// A new version of the measuring tool may itself be faster or slower.
fn builds(old: &Run, new: &Run) -> Option<Finding> {
    let [old, new] =
        [old, new].map(|run| text(run.trials.iter().filter_map(|trial| trial.record.made_by.as_deref()), ", "));
    // Old records do not have it.
    let differ = !old.is_empty() && !new.is_empty() && old != new;
    differ.then(|| Finding::new(What::BuildsDiffer { old, new }))
}

fn seeds(old: &Run, new: &Run) -> Option<Finding> {
    let (old, new) = (old.plan.seed, new.plan.seed);
    (old != new).then(|| Finding::new(What::SeedsDiffer { old, new }))
}

fn of_cells<'a>(
    matched: &[Matched<'a>],
    part: ComparedPart,
    differences: impl Fn(&Matched<'a>) -> Vec<ValueChange>,
) -> Vec<Finding> {
    let found = cells_that_differ(matched, differences).into_iter();
    found.map(|(changes, cells)| Finding::new(What::RunsDiffer { part, cells, changes })).collect()
}

/// Several cells with the same difference are reported once, together.
fn cells_that_differ<'a, T: PartialEq>(
    matched: &[Matched<'a>],
    differences: impl Fn(&Matched<'a>) -> Vec<T>,
) -> Vec<(Vec<T>, Vec<String>)> {
    let found = matched.iter().map(|pair| (differences(pair), name(pair.0)));
    by_first(found.filter(|(differences, _)| !differences.is_empty()))
}

fn machine(trial: &StoredTrial) -> Vec<(String, String)> {
    let Some(machine) = &trial.record.machine else { return Vec::new() };
    let decided = machine.decided.iter().map(|(name, fact)| (name.clone(), fact.kind()));
    let inside = machine.inside.iter().filter(|(name, _)| TELLING_INSIDE.contains(&name.as_str()));
    let inside = inside.map(|(name, fact)| (format!("inside/{name}"), fact.to_string()));
    decided.chain(inside).chain([("image".to_owned(), machine.image.clone())]).collect()
}

fn server(trial: &StoredTrial) -> Vec<(String, String)> {
    let Some(ServerFacts { engine, version, profile, effective }) = &trial.record.server else { return Vec::new() };
    let own = [("engine", engine), ("version", version), ("profile", profile)];
    let own = own.map(|(name, value)| (name.to_owned(), value.clone()));
    effective.clone().into_iter().chain(own).collect()
}

/// As recorded, for what the study leaves open.
fn driven(trial: &StoredTrial) -> Vec<(String, String)> {
    let Some(driver) = &trial.record.driver else { return Vec::new() };
    let numbers = [("clients", driver.clients), ("sessions", driver.sessions), ("shards", driver.shards)];
    let numbers = numbers.map(|(name, number)| (name.to_owned(), number.to_string()));
    numbers.into_iter().chain([("warmup_ms".to_owned(), driver.warmup_ms.to_string())]).collect()
}

/// What only one run has is reported, too, unless the other has nothing: it was not reached then, as is said elsewhere.
fn differing_texts(old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> Vec<ValueChange> {
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let change = |(name, old, new): (&String, Option<&String>, Option<&String>)| ValueChange {
        name: name.clone(),
        old: old.cloned(),
        new: new.cloned(),
    };
    differing(old, new).map(change).collect()
}
