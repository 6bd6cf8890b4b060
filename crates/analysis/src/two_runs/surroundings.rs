//! Further differences between two runs: hosts, kernels, versions, settings, seeds. None of them forbids a comparison,
//! since they may be its subject; but a reader of the ratio must know them.

use super::{Matched, name};
use crate::agreement;
use crate::consistency::{equal_work, host, littles_law};
use crate::findings::of_run::disagreements;
use crate::findings::{Change, ChangedWork, Finding, Part, What, Which, accept};
use crate::observations::Observations;
use crate::validity;
use record::facts::{Fact, Facts};
use record::plan::Cell;
use record::run::{Run, StoredTrial};
use record::trial::{MachineFacts, ServerFacts};
use std::collections::{BTreeMap, BTreeSet};

/// Facts that differ from run to run on a host that is the same in everything that matters.
pub(crate) const PASSING: [&str; 6] = [
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

/// The worst first.
pub fn findings(
    (old, observed): (&Run, &Observations),
    (new, observed_now): (&Run, &Observations),
    matched: &[Matched<'_>],
) -> Vec<Finding> {
    let mut findings = hosts(old, new);
    findings.extend(builds(old, new));
    findings.extend(seeds(old, new));
    findings.extend(of_cells(matched, Part::Settings, settings));
    findings.extend(of_cells(matched, Part::Machines, |(before, after)| {
        differing_facts(&machine(old, before), &machine(new, after))
    }));
    findings.extend(of_cells(matched, Part::Servers, |(before, after)| {
        differing_facts(&server(old, before), &server(new, after))
    }));
    findings.extend(of_cells(matched, Part::Loads, |(before, after)| {
        differing_facts(&driven(old, before), &driven(new, after))
    }));
    let work = cells_that_differ(matched, |(before, after)| {
        let unequal = equal_work::differing((observed, before.id), (observed_now, after.id), |older, measured| {
            measured.unpaired(after.id, older, before.id)
        });
        let changed = |(rule, [old, new], _): (&equal_work::Rule, [f64; 2], f64)| ChangedWork {
            measure: rule.measure.to_owned(),
            old,
            new,
        };
        unequal.map(changed).collect()
    });
    findings.extend(work.into_iter().map(|(work, cells)| Finding::new(What::WorkChanged { cells, work })));
    for (run, which) in [(old, Which::Old), (new, Which::New)] {
        // Only what is about each run's own measuring. Differences between contenders may well exist in both runs.
        let mut own = host::findings(&host::of_run(run));
        own.extend(littles_law::findings(&littles_law::all(run)));
        own.extend(disagreements(&agreement::all(run)));
        findings.extend(own.into_iter().map(|finding| finding.in_run(which)));
    }
    accept(&mut findings, &new.plan);
    findings
}

fn hosts(old: &Run, new: &Run) -> Vec<Finding> {
    let lasting = |facts: &Facts| {
        let lasting = facts.iter().filter(|(name, _)| !PASSING.contains(&name.as_str()));
        lasting.map(|(name, fact)| (name.clone(), fact.to_string())).collect::<BTreeMap<_, _>>()
    };
    let (mut before, mut after) = (lasting(&old.host), lasting(&new.host));
    // Another version of bakeoff knows other facts, which says nothing about the host.
    before.retain(|name, _| new.host.contains_key(name));
    after.retain(|name, _| old.host.contains_key(name));
    let changes = differing_facts(&before, &after);
    if !changes.is_empty() {
        return vec![Finding::new(What::HostsDiffer { changes })];
    }
    let boot = |run: &Run| run.host.get("system.boot_id").cloned();
    let restarted = matches!((boot(old), boot(new)), (Some(Fact::Known(old)), Some(Fact::Known(new))) if old != new);
    if restarted { vec![Finding::new(What::HostRestarted)] } else { Vec::new() }
}

/// A new version of the measuring tool may itself be faster or slower.
fn builds(old: &Run, new: &Run) -> Option<Finding> {
    let [old, new] = [old, new].map(|run| {
        let builds: BTreeSet<&str> = run.trials.iter().filter_map(|trial| trial.record.made_by.as_deref()).collect();
        builds.into_iter().collect::<Vec<_>>().join(", ")
    });
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
    part: Part,
    differences: impl Fn(&Matched<'a>) -> Vec<Change>,
) -> Vec<Finding> {
    let found = cells_that_differ(matched, differences).into_iter();
    found.map(|(changes, cells)| Finding::new(What::RunsDiffer { part, cells, changes })).collect()
}

/// Several cells with the same difference are reported once, together.
fn cells_that_differ<'a, T: PartialEq>(
    matched: &[Matched<'a>],
    differences: impl Fn(&Matched<'a>) -> Vec<T>,
) -> Vec<(Vec<T>, Vec<String>)> {
    let mut gathered: Vec<(Vec<T>, Vec<String>)> = Vec::new();
    for pair in matched {
        let found = differences(pair);
        if found.is_empty() {
            continue;
        }
        let cell = name(pair.0);
        match gathered.iter_mut().find(|(known, _)| *known == found) {
            Some((_, cells)) => cells.push(cell),
            None => gathered.push((found, vec![cell])),
        }
    }
    gathered
}

/// Everything the study decided except workload and load, which must not differ at all if both have the key.
fn settings((before, after): &Matched<'_>) -> Vec<Change> {
    before.settings.differing(&after.settings).into_iter().map(Change::from).collect()
}

/// Names with the values seen under each; several are joined if trials differ.
type Seen = BTreeMap<String, String>;

fn seen(run: &Run, cell: &Cell, of_trial: impl Fn(&StoredTrial) -> Vec<(String, String)>) -> Seen {
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, value) in validity::trials_of(run, cell.id).flat_map(of_trial) {
        values.entry(name).or_default().insert(value);
    }
    values.into_iter().map(|(name, values)| (name, values.into_iter().collect::<Vec<_>>().join(" | "))).collect()
}

fn machine(run: &Run, cell: &Cell) -> Seen {
    let of_machine = |machine: &MachineFacts| {
        let decided = machine.decided.iter().map(|(name, fact)| (name.clone(), fact.kind()));
        let inside = machine.inside.iter().filter(|(name, _)| TELLING_INSIDE.contains(&name.as_str()));
        let inside = inside.map(|(name, fact)| (format!("inside/{name}"), fact.to_string()));
        decided.chain(inside).chain([("image".to_owned(), machine.image.clone())]).collect::<Vec<_>>()
    };
    seen(run, cell, |trial| trial.record.machine.as_ref().map(of_machine).unwrap_or_default())
}

fn server(run: &Run, cell: &Cell) -> Seen {
    let of_server = |server: &ServerFacts| {
        let ServerFacts { engine, version, profile, effective } = server;
        let own = [("engine", engine), ("version", version), ("profile", profile)];
        let own = own.map(|(name, value)| (name.to_owned(), value.clone()));
        effective.iter().map(|(name, value)| (name.clone(), value.clone())).chain(own).collect::<Vec<_>>()
    };
    seen(run, cell, |trial| trial.record.server.as_ref().map(of_server).unwrap_or_default())
}

/// As recorded, for what the study leaves open.
fn driven(run: &Run, cell: &Cell) -> Seen {
    seen(run, cell, |trial| {
        let Some(driver) = trial.record.driver.as_ref() else { return Vec::new() };
        let numbers = [("clients", driver.clients), ("sessions", driver.sessions), ("shards", driver.shards)];
        let lengths = [("warmup_ms", driver.warmup_ms)].map(|(name, ms)| (name.to_owned(), ms.to_string()));
        numbers.map(|(name, number)| (name.to_owned(), number.to_string())).into_iter().chain(lengths).collect()
    })
}

/// What only one run has is reported, too, unless the other has nothing: it was not reached then, as is said elsewhere.
fn differing_facts(old: &Seen, new: &Seen) -> Vec<Change> {
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let of_name = |name: &String| {
        let (old, new) = (old.get(name).cloned(), new.get(name).cloned());
        (old != new).then(|| Change { name: name.clone(), old, new })
    };
    names.into_iter().filter_map(of_name).collect()
}
