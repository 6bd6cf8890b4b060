//! What else is not the same in two runs: hosts, kernels, versions, settings, seeds. None of it forbids a comparison, since
//! it may be what the comparison is about; but whoever reads the ratio must know.

use super::keys;
use super::{Matched, name};
use crate::agreement;
use crate::cells;
use crate::consistency::{equal_work, host, littles_law};
use crate::observations::Observations;
use crate::warnings::{Warning, caution, disagreements, serious};
use record::facts::{Fact, Facts};
use record::plan::Cell;
use record::run::{Run, StoredTrial};
use record::trial::{MachineFacts, ServerFacts};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Facts that differ from run to run on a host that is the same in all that matters.
const PASSING: [&str; 6] = [
    "cgroup.path",
    "memory.available_bytes",
    "storage.mount_point",
    "storage.path",
    "system.boot_id",
    "system.uptime_s",
];

/// What a machine sees of itself and must see again. Other facts name devices, which are numbered as they come.
const TELLING_INSIDE: [&str; 7] = [
    "cpu.model",
    "cpu.threads",
    "kernel.clocksource",
    "kernel.release",
    "storage.file_system",
    "storage.mount_options",
    "storage.scheduler",
];

/// More differences than this are counted instead of listed.
const MOST_LISTED: usize = 8;

/// All warnings, the worst first.
pub fn warnings(
    (old, observed): (&Run, &Observations),
    (new, observed_now): (&Run, &Observations),
    matched: &[Matched<'_>],
) -> Vec<Warning> {
    let mut warnings = hosts(old, new);
    warnings.extend(builds(old, new));
    warnings.extend(seeds(old, new));
    warnings.extend(of_cells(matched, "the study's settings", settings));
    warnings.extend(of_cells(matched, "the machines", |(before, after)| {
        differing_facts(&machine(old, before), &machine(new, after))
    }));
    warnings.extend(of_cells(matched, "the database servers", |(before, after)| {
        differing_facts(&server(old, before), &server(new, after))
    }));
    warnings.extend(of_cells(matched, "the loads that were driven", |(before, after)| {
        differing_facts(&driven(old, before), &driven(new, after))
    }));
    warnings.extend(of_cells(matched, "the figures of work", |(before, after)| {
        let unequal = equal_work::differing((observed, before.id), (observed_now, after.id));
        let in_words = |(rule, [old, new], _): (&equal_work::Rule, [f64; 2], f64)| {
            let (what, digits) = equal_work::in_words(rule.measure);
            format!("{what} per transaction were {old:.digits$} and are {new:.digits$}")
        };
        unequal.map(in_words).collect()
    }));
    for (run, which) in [(old, "old"), (new, "new")] {
        // Of each run only what is about its own measuring; what contenders differ in, they may differ in twice.
        let mut own = host::warnings(&host::of_run(run));
        own.extend(littles_law::warnings(&littles_law::all(run)));
        own.extend(disagreements(&agreement::all(run)));
        warnings.extend(
            own.into_iter().map(|warning| Warning { text: format!("in the {which} run, {}", warning.text), ..warning }),
        );
    }
    warnings.sort_by_key(|warning| warning.severity);
    warnings
}

fn hosts(old: &Run, new: &Run) -> Vec<Warning> {
    let lasting = |facts: &Facts| {
        let lasting = facts.iter().filter(|(name, _)| !PASSING.contains(&name.as_str()));
        lasting.map(|(name, fact)| (name.clone(), fact.to_string())).collect::<BTreeMap<_, _>>()
    };
    let (mut before, mut after) = (lasting(&old.host), lasting(&new.host));
    // Another version of bakeoff knows other facts, which says nothing of the host.
    before.retain(|name, _| new.host.contains_key(name));
    after.retain(|name, _| old.host.contains_key(name));
    let differing = differing_facts(&before, &after);
    if !differing.is_empty() {
        return vec![serious(format!("the hosts differ: {}", listed(&differing)))];
    }
    let boot = |run: &Run| run.host.get("system.boot_id").cloned();
    let rebooted = matches!((boot(old), boot(new)), (Some(Fact::Known(old)), Some(Fact::Known(new))) if old != new);
    let told = "the host was started anew between the runs: what is fixed at boot, as the place of the kernel in memory, may differ";
    if rebooted { vec![caution(told.to_owned())] } else { Vec::new() }
}

/// A new version of the measuring tool may itself be faster or slower.
fn builds(old: &Run, new: &Run) -> Option<Warning> {
    let [old, new] = [old, new].map(|run| {
        let builds: BTreeSet<&str> = run.trials.iter().filter_map(|trial| trial.record.made_by.as_deref()).collect();
        builds.into_iter().collect::<Vec<_>>().join(" and ")
    });
    // Old records do not tell.
    let differ = !old.is_empty() && !new.is_empty() && old != new;
    differ.then(|| caution(format!("the runs were measured by different builds: it was {old} and is {new}")))
}

fn seeds(old: &Run, new: &Run) -> Option<Warning> {
    let (old, new) = (old.plan.seed, new.plan.seed);
    (old != new)
        .then(|| serious(format!("the seeds differ: it was {old} and is {new}, so clients did not ask for the same")))
}

/// The same difference of several cells is told once, with the cells.
fn of_cells<'a>(
    matched: &[Matched<'a>],
    what: &str,
    differences: impl Fn(&Matched<'a>) -> Vec<String>,
) -> Vec<Warning> {
    let mut gathered: Vec<(String, Vec<String>)> = Vec::new();
    for pair in matched {
        let found = differences(pair);
        if found.is_empty() {
            continue;
        }
        let (text, cell) = (listed(&found), name(pair.0));
        match gathered.iter_mut().find(|(known, _)| *known == text) {
            Some((_, cells)) => cells.push(cell),
            None => gathered.push((text, vec![cell])),
        }
    }
    gathered
        .into_iter()
        .map(|(text, cells)| serious(format!("{what} of {} differ: {text}", cells.join(", "))))
        .collect()
}

/// Everything that the study decided, but for the workload and the load, which must not differ at all where both have them.
fn settings((before, after): &Matched<'_>) -> Vec<String> {
    let empty = Map::new();
    let keys_of = |table: &String| {
        let of = |cell: &Cell| cell.settings.get(table).and_then(Value::as_object).cloned().unwrap_or(empty.clone());
        keys::differing(table, &of(before), &of(after))
    };
    let tables: BTreeSet<&String> = before.settings.keys().chain(after.settings.keys()).collect();
    tables.into_iter().flat_map(keys_of).map(|key| key.in_words()).collect()
}

/// Names with what was seen under each; several values joined if trials differ.
type Seen = BTreeMap<String, String>;

fn seen(run: &Run, cell: &Cell, of_trial: impl Fn(&StoredTrial) -> Vec<(String, String)>) -> Seen {
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, value) in cells::trials_of(run, cell.id).flat_map(of_trial) {
        values.entry(name).or_default().insert(value);
    }
    values.into_iter().map(|(name, values)| (name, values.into_iter().collect::<Vec<_>>().join(" | "))).collect()
}

fn machine(run: &Run, cell: &Cell) -> Seen {
    let of_machine = |machine: &MachineFacts| {
        let decided = machine.decided.iter().map(|(name, fact)| (name.clone(), fact.kind()));
        let inside = machine.inside.iter().filter(|(name, _)| TELLING_INSIDE.contains(&name.as_str()));
        let inside = inside.map(|(name, fact)| (format!("{name} inside"), fact.to_string()));
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

/// As it was found, where the study leaves it open.
fn driven(run: &Run, cell: &Cell) -> Seen {
    seen(run, cell, |trial| {
        let Some(driver) = trial.record.driver.as_ref() else { return Vec::new() };
        let numbers =
            [("clients", driver.clients), ("sessions", driver.sessions), ("threads of the load engine", driver.shards)];
        let lengths = [("warm-up, ms", driver.warmup_ms)].map(|(name, ms)| (name.to_owned(), ms.to_string()));
        numbers.map(|(name, number)| (name.to_owned(), number.to_string())).into_iter().chain(lengths).collect()
    })
}

/// What differs, each "name was … and is …". What only one run has is told too, unless the other has nothing at all: then
/// it was not reached, which is told elsewhere.
fn differing_facts(old: &Seen, new: &Seen) -> Vec<String> {
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let absent = "not there".to_owned();
    let of_name = |name: &String| {
        let (old, new) = (old.get(name), new.get(name));
        let (before, after) = (old.unwrap_or(&absent), new.unwrap_or(&absent));
        (old != new).then(|| format!("{name} was {before} and is {after}"))
    };
    names.into_iter().filter_map(of_name).collect()
}

fn listed(differences: &[String]) -> String {
    let more = differences.len().saturating_sub(MOST_LISTED);
    let shown = differences[..differences.len() - more].join("; ");
    if more > 0 { format!("{shown}; and {more} more") } else { shown }
}
