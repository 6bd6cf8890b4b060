//! What was measured, in a few lines; the details are in the appendices.

use super::{heading, what_ran};
use crate::document::Block;
use crate::format::{self, counted, distinct, filled, within};
use crate::measures;
use analysis::cells::DriverReading;
use analysis::groups;
use analysis::summary::Analysis;
use record::plan::{Cell, Plan};
use record::run::{Run, StoredTrial};
use record::settings::key;
use record::trial::Pacing;
use std::collections::{BTreeMap, BTreeSet};

pub fn blocks(run: &Run, analysis: &Analysis) -> Vec<Block> {
    vec![heading("What was measured"), Block::Facts(facts(run, analysis))]
}

pub fn facts(run: &Run, analysis: &Analysis) -> Vec<(String, String)> {
    let plan = &run.plan;
    let all = DecidedKeys(plan.cells.iter().map(|cell| what_ran::flattened(cell.settings.tables())).collect());
    let facts = [
        ("Database", database(analysis, &all)),
        ("Workload", workload(plan, &all)),
        ("Load", load(run, &all, analysis)),
        ("Machine", machine(plan, &all)),
        ("Platforms", platforms(plan, analysis)),
        ("Changed", changed(run, analysis)),
        ("Design", design(plan, &all)),
    ];
    facts.into_iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| (name.to_owned(), value)).collect()
}

const ONE_SERVER: &str = "on one server";
const OWN_SERVERS: &str = "with a server each";

/// The decided keys of all cells.
struct DecidedKeys(Vec<BTreeMap<String, String>>);

impl DecidedKeys {
    /// One value, or all distinct ones.
    fn value(&self, key: &str, shown: impl Fn(&str) -> String) -> Option<String> {
        let values = distinct(self.0.iter().filter_map(|cell| cell.get(key)).map(|value| shown(value)));
        (!values.is_empty()).then(|| values.join(" or "))
    }

    fn number(&self, key: &str, shown: impl Fn(u64) -> String) -> Option<String> {
        self.value(key, |value| value.parse().map_or_else(|_| value.to_owned(), &shown))
    }
}

fn joined(parts: impl IntoIterator<Item = Option<String>>) -> String {
    filled(parts.into_iter().flatten(), ", ")
}

fn database(analysis: &Analysis, all: &DecidedKeys) -> String {
    let servers = analysis.settings.iter().flat_map(|one| &one.servers).map(|server| product(server));
    let servers = distinct(servers).join(" or ");
    let instances = all.value(key::INSTANCES, str::to_owned).filter(|count| count != "1");
    let server =
        all.value(key::SHARED_SERVER, |value| if value == "true" { ONE_SERVER } else { OWN_SERVERS }.to_owned());
    let server = server.as_deref().unwrap_or(OWN_SERVERS);
    let instances = instances.map(|count| format!("{count} databases in each machine {server}"));
    let profile = all.value(key::PROFILE, |name| format!("settings “{name}”"));
    joined([Some(servers), profile, all.value("engine.isolation", str::to_owned), instances])
}

/// The version without build details, and without the engine's name if the version contains it.
fn product(server: &str) -> &str {
    let version = [" on ", " (", ", profile"].iter().fold(server, |text, end| text.split(end).next().unwrap_or(text));
    let named = version.split_once(' ').filter(|(engine, rest)| rest.to_lowercase().starts_with(*engine));
    named.map_or(version, |(_, rest)| rest)
}

fn workload(plan: &Plan, all: &DecidedKeys) -> String {
    let names: Vec<&str> = plan.workloads.iter().map(|note| note.kind.as_str()).collect();
    let tables = plan.cells.iter().filter_map(|cell| cell.settings.tables().get("workload")?.as_object());
    let keys: Vec<&str> = tables.flat_map(|table| table.keys()).map(String::as_str).collect();
    let keys = distinct(keys.into_iter().filter(|name| ![key::KIND, "data_seed"].contains(name)));
    let settings = keys.into_iter().filter_map(|name| {
        let value = all.value(&format!("workload.{name}"), str::to_owned).filter(|value| value.len() < 40)?;
        Some(format!("{} {value}", name.replace('_', " ")))
    });
    joined(std::iter::once(Some(names.join(" or "))).chain(settings.take(MOST_KEYS).map(Some)))
}

/// The most keys of a workload that are shown; the rest is in the appendix.
const MOST_KEYS: usize = 5;

/// The value of `load.clients` that asks for the peak.
const PEAK: &str = "peak";

fn load(run: &Run, all: &DecidedKeys, analysis: &Analysis) -> String {
    let drivers: Vec<_> = analysis.cells.iter().filter_map(|cell| cell.driver.as_ref()).collect();
    let sources = || distinct(drivers.iter().map(|driver| super::audits::source(driver))).join(" or ");
    let known = || clients(&drivers).unwrap_or_else(sources);
    // Each trial has its own number.
    let peak = all.value(key::CLIENTS, str::to_owned).filter(|value| value == PEAK);
    let source = peak.map_or_else(known, |_| "as many clients as get most done, looked for in each trial".to_owned());
    let places = distinct(drivers.iter().map(|driver| driver.placement.as_str())).join(" or ");
    let hosts = run.trials.iter().flat_map(StoredTrial::load_hosts).map(|facts| facts.host.as_str());
    let from = within("by ", &format::listed(distinct(hosts)), "");
    let is_machine_known = !run.plan.cells.iter().any(|cell| cell.settings.is_of_existing_server());
    let driven = is_machine_known.then(|| within("driven from ", &places, " the machine"));
    joined([Some(source), driven, Some(from)])
}

/// The range of the clients, if every load is of clients and they were more than two numbers.
fn clients(drivers: &[&DriverReading]) -> Option<String> {
    let counts: BTreeSet<u32> = drivers.iter().map(|driver| driver.clients).collect();
    let (least, most) = (counts.first()?, counts.last()?);
    let are_clients = drivers.iter().all(|driver| matches!(driver.pacing, None | Some(Pacing::Clients { .. })));
    (are_clients && counts.len() > 2).then(|| format!("{least} to {most} clients"))
}

fn machine(plan: &Plan, all: &DecidedKeys) -> String {
    if plan.cells.iter().any(|cell| cell.settings.is_of_existing_server()) {
        return "the server was there already; its machine is not known".to_owned();
    }
    let machines = |cell: &Cell| cell.machines();
    let most = plan.cells.iter().map(machines).max().unwrap_or(1);
    let least = plan.cells.iter().map(machines).min().unwrap_or(1);
    let side_by_side = match (least, most) {
        (_, 1) => None,
        (least, most) if least == most => Some(format!("{most} machines side by side")),
        (least, most) => Some(format!("{least} to {most} machines side by side")),
    };
    joined([
        all.value(key::VCPUS, |count| format!("{count} vCPU{}", if count == "1" { "" } else { "s" })),
        all.number(key::MEMORY, |bytes| format!("{} memory", format::bytes(bytes))),
        all.number(key::DISK_SIZE, |bytes| format!("{} disk", format::bytes(bytes))),
        side_by_side,
    ])
}

fn platforms(plan: &Plan, analysis: &Analysis) -> String {
    let cells = plan.cells.iter().filter(|cell| !cell.settings.is_of_existing_server());
    let found = cells.map(|cell| {
        let kind = cell.settings.platform().unwrap_or_default().to_owned();
        let result = measures::of_cell(analysis, cell.id);
        let kind = kind + &within(" by ", result.and_then(|one| one.runtime.as_deref()).unwrap_or_default(), "");
        let processor = result.and_then(|one| one.processor.as_deref()).map_or("", format::first_line);
        let processor = processor.split(", because").next().unwrap_or_default();
        format!("{} ({})", cell.contender, filled([kind.as_str(), processor], "; processor: "))
    });
    distinct(found).join(", ")
}

/// "other: engine.profile durable → relaxed, by which synchronous 2 → 1". An ablation has a table of its changes.
fn changed(run: &Run, analysis: &Analysis) -> String {
    let mut found: Vec<String> = Vec::new();
    let groups = groups::of_plan(&run.plan);
    for group in groups.iter().filter(|_| analysis.ablation.is_none()) {
        let Some(base) = group.cells.iter().find(|cell| cell.baseline) else { continue };
        for cell in group.cells.iter().filter(|cell| !cell.baseline) {
            let keys = joined(changed_keys(base, cell).map(Some));
            found.push(within(&format!("{}: ", cell.contender), &keys, &read_back(analysis, base, cell)));
        }
    }
    filled(distinct(found), "; ")
}

fn changed_keys(base: &Cell, cell: &Cell) -> impl Iterator<Item = String> {
    let [old, new] = [base, cell].map(|cell| what_ran::flattened(cell.settings.tables()));
    let names: BTreeSet<String> = old.keys().chain(new.keys()).cloned().collect();
    names.into_iter().filter_map(move |name| {
        let of = |name: &str| [old.get(name), new.get(name)];
        let differs = |name: &str| of(name)[0] != of(name)[1];
        // Platforms of two kinds have other keys.
        let is_asked = name != PLATFORM_KIND && !(differs(PLATFORM_KIND) && name.starts_with("platform."));
        let [old, new] = of(&name).map(|value| value.map_or("–", |value| format::first_line(value)));
        (is_asked && differs(&name)).then(|| format!("{name} {old} → {new}"))
    })
}

const PLATFORM_KIND: &str = "platform.kind";

/// The settings of the servers that then differ.
fn read_back(analysis: &Analysis, base: &Cell, cell: &Cell) -> String {
    let Some(compared) = analysis.settings.iter().find(|one| one.coordinates == cell.coordinates()) else {
        return String::new();
    };
    let place = |cell: &Cell| compared.contenders.iter().position(|name| *name == cell.contender);
    let Some((old, new)) = place(base).zip(place(cell)) else { return String::new() };
    let differing = compared.settings.iter().filter(|row| row.differs && row.values[old] != row.values[new]);
    let rows = differing.map(|row| {
        let [old, new] = [old, new].map(|place| row.values[place].as_deref().unwrap_or("–"));
        format!("{} {old} → {new}", row.name)
    });
    within(", by which ", &joined(rows.map(Some)), "")
}

fn design(plan: &Plan, all: &DecidedKeys) -> String {
    let (blocks, trials) = (counted(plan.blocks.into(), "block"), counted(plan.cells.len() as u64, "trial"));
    let blocks = format!("{blocks} of {trials} in random order");
    if let Some(count) = all.number(key::TRANSACTIONS, format::count) {
        return joined([Some(blocks), Some(format!("each until {count} transactions were done on a machine"))]);
    }
    let warmup = all.number(key::WARMUP, |length_ms| format!("{} of warm-up", format::span(length_ms)));
    let measure = all.number(key::MEASURE, |length_ms| format!("{} measured", format::span(length_ms)));
    joined([Some(blocks), warmup, measure])
}
