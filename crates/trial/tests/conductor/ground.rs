//! A study of bare machines, and the results of its run.

use crate::bare::BARE;
use machines::interrupts::Interrupts;
use record::error::RecordError;
use record::event::Event;
use record::folder::RunFolder;
use record::host_state::HostReading;
use record::plan::Plan;
use record::trial::TrialRecord;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::yield_now;
use std::time::{Duration, Instant};
use study::TypedPlan;
use tempfile::TempDir;
use trial::conductor;
use trial::limits::Limits;
use trial::order::{RunOrder, Tallied};
use trial::site::{Site, read_host};

/// The folder of the run.
pub const RUN: &str = "run";

/// The records and events of a run; trials are in their order.
pub struct Ran {
    pub tallied: Tallied,
    pub trials: Vec<TrialRecord>,
    pub events: Vec<Event>,
    /// What remains in the scratch folder.
    pub left: Vec<PathBuf>,
    folder: TempDir,
}

impl Ran {
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// The machines of a study.
#[derive(Debug, Clone, Copy)]
struct Shape {
    machines: u32,
    /// Databases in each machine.
    instances: u16,
    /// True if agents are reached over TCP.
    tcp: bool,
    /// A number, or the word for the peak. `None` is a load that waits most of the time.
    clients: Option<&'static str>,
    /// How often a trial disturbed by others is run again; `None` if there is no limit on other load.
    max_repeats: Option<u32>,
}

const ONE: Shape = Shape { machines: 1, instances: 1, tcp: false, clients: None, max_repeats: None };

/// One trial for each script, in this order, each on this many machines.
pub fn run(scripts: &[&str], machines: u32) -> Ran {
    run_within(scripts, machines, Limits::default())
}

pub fn run_within(scripts: &[&str], machines: u32, limits: Limits) -> Ran {
    run_plan(&plan(scripts, Shape { machines, ..ONE }), limits)
}

/// One trial on machines whose agents are reached over TCP.
pub fn run_over_tcp(script: &str, machines: u32) -> Ran {
    run_plan(&plan(&[script], Shape { machines, tcp: true, ..ONE }), Limits::default())
}

/// One trial for each script, on machines with several databases. Each machine has `clients` clients, or climbs to the peak.
pub fn run_instances(scripts: &[&str], machines: u32, instances: u16, clients: &'static str) -> Ran {
    run_plan(&plan(scripts, Shape { machines, instances, clients: Some(clients), ..ONE }), Limits::default())
}

fn run_plan(plan: &Plan, limits: Limits) -> Ran {
    Ground::of(plan.clone(), limits, read_host).run()
}

/// Everything needed to start a run, and to resume it.
pub struct Ground {
    pub run: RunFolder,
    plan: Plan,
    site: Site,
    folder: TempDir,
}

impl Ground {
    fn of(plan: Plan, limits: Limits, read_host: fn() -> HostReading) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create(&folder.path().join(RUN), "", &plan).unwrap();
        Self { run, plan, site: site(folder.path(), limits, read_host), folder }
    }

    /// As many trials that nothing is wrong with, on this many machines each.
    pub fn sound(trials: usize, machines: u32, limits: Limits) -> Self {
        Self::of(plan(&vec![""; trials], Shape { machines, ..ONE }), limits, read_host)
    }

    /// Trials on this many machines each, where others may use 5 % of the CPU time that this host reports.
    pub fn limited(trials: usize, machines: u32, max_repeats: u32, read_host: fn() -> HostReading) -> Self {
        let shape = Shape { machines, max_repeats: Some(max_repeats), ..ONE };
        Self::of(plan(&vec![""; trials], shape), Limits::default(), read_host)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Carries out the rest of the plan; `hear` may interrupt it.
    pub fn go_on(&self, retries: bool, hear: &mut dyn FnMut(&Event, &Interrupts)) -> Tallied {
        carry_out(&self.run, &self.plan, &self.site, (retries, &[]), hear)
    }

    /// Carries out the rest of the plan with an audit of its first cell.
    pub fn audit(&self) -> Tallied {
        let plan = Plan { durability: Some(study::default_audit(1)), ..self.plan.clone() };
        carry_out(&self.run, &plan, &self.site, (false, &[plan.cells[0].id]), &mut |_, _| ())
    }

    /// Leaves the run to another process.
    pub fn leave(self) -> TempDir {
        self.folder
    }

    /// What is in the scratch folder.
    pub fn left(&self) -> Vec<PathBuf> {
        std::fs::read_dir(&self.site.scratch).unwrap().flatten().map(|entry| entry.path()).collect()
    }

    pub fn run(self) -> Ran {
        let mut events = Vec::new();
        let tallied = self.go_on(false, &mut |event, _| events.push(event.clone()));
        let trials = self.plan.trials.iter().map(|trial| self.run.trial(trial.id).record().unwrap()).collect();
        Ran { tallied, trials, events, left: self.left(), folder: self.folder }
    }
}

/// Carries out the rest of the run in such a folder.
pub fn go_on_in(folder: &Path, hear: &mut dyn FnMut(&Event, &Interrupts)) -> Tallied {
    let begun = Instant::now();
    // A child of a killed conductor holds the lock until it executes another program.
    let run = loop {
        match RunFolder::go_on(&folder.join(RUN)) {
            Err(RecordError::InUse { .. }) if begun.elapsed() < Duration::from_secs(20) => {
                yield_now();
            }
            locked => break locked.unwrap(),
        }
    };
    carry_out(&run, &run.plan().unwrap(), &site(folder, Limits::default(), read_host), (false, &[]), hear)
}

fn site(folder: &Path, limits: Limits, read_host: fn() -> HostReading) -> Site {
    let cache = folder.join("cache");
    let scratch = cache.join("scratch");
    std::fs::create_dir_all(&scratch).unwrap();
    Site {
        cache,
        scratch,
        agent: agent(),
        cpus: vec![0],
        memory_bytes: 1 << 30,
        made_by: "bakeoff test".to_owned(),
        read_host,
        limits,
        credentials: platforms::credentials::Credentials::default(),
        find_server: trial::site::no_server,
        lines: None,
    }
}

fn carry_out(
    folder: &RunFolder,
    plan: &Plan,
    site: &Site,
    (retries, audits): (bool, &[u32]),
    hear: &mut dyn FnMut(&Event, &Interrupts),
) -> Tallied {
    let bare = |kind: &str, table: &Map<String, Value>| (kind == BARE.kind).then(|| (BARE.read)(table));
    let plan = &TypedPlan::read(plan.clone(), bare).unwrap();
    let images = conductor::images(plan, site, &mut |_| ()).unwrap();
    assert!(images.is_empty(), "bare machines need none");
    let interrupts = Interrupts::default();
    let order = RunOrder {
        folder,
        plan,
        trials: &plan.trials,
        audits,
        missing: &BTreeMap::new(),
        site,
        images: &images,
        interrupts: &interrupts,
        resumed: false,
        notes: &[],
        retries,
        latest: None,
    };
    conductor::run(&order, &mut |_| Ok(None), &mut |event| hear(event, &interrupts)).unwrap()
}

/// This crate's example, which is built with its tests.
fn agent() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().with_file_name("examples").join("scripted_agent")
}

fn plan(scripts: &[&str], shape: Shape) -> Plan {
    let Shape { machines, instances, tcp, clients, max_repeats } = shape;
    let mut engine = decided("sqlite", engines::catalog::entry("sqlite").unwrap().keys, &json!({}));
    engine.insert("instances".to_owned(), instances.into());
    let mut load = match clients.map(|clients| (clients, clients.parse::<u32>())) {
        None => json!({ "arrivals": 25.0, "sessions": 1 }),
        // They take a moment; a busy machine takes longer.
        Some((_, Ok(number))) => json!({ "clients": number, "transactions": 100, "measure": 30_000 }),
        Some((word, Err(_))) => json!({ "clients": word, "peak": { "max_clients": 4 } }),
    };
    load["warmup"] = json!(0);
    load["telemetry"] = json!(false);
    if load.get("measure").is_none() {
        load["measure"] = json!(1_000);
    }
    if let Some(max_repeats) = max_repeats {
        // Without warm-up the host is first read after one second.
        load["measure"] = json!(2_000);
        load["max_other_cpu"] = json!("5%");
        load["max_repeats"] = json!(max_repeats);
    }
    let cells = (0..).zip(scripts).map(|(id, script)| {
        json!({
            "id": id, "contender": format!("contender {id}"), "baseline": id == 0, "sweep": {},
            "settings": {
                "machine": { "vcpus": 1, "memory": 64 << 20, "image": "", "disk": {}, "count": machines },
                "platform": { "kind": BARE.kind, "script": script, "tcp": tcp },
                "engine": engine,
                "workload": decided(
                    "sysbench-oltp",
                    workloads::catalog::entry("sysbench-oltp").unwrap().keys,
                    &json!({ "tables": 1, "table_size": 100 }),
                ),
                "load": load,
            },
        })
    });
    let cells: Vec<Value> = cells.collect();
    let trials = (1..).zip(&cells).map(|(id, cell)| json!({ "id": id, "block": 1, "cell": cell["id"], "seed": 7 }));
    let trials: Vec<Value> = trials.collect();
    serde_json::from_value(json!({
        "format": record::FORMAT, "question": "?", "study": "conducted", "seed": 1, "blocks": 1,
        "cells": cells, "trials": trials,
    }))
    .unwrap()
}

pub fn decided(kind: &str, keys: &[settings::Key], table: &Value) -> Map<String, Value> {
    let mut table = settings::check(table.as_object().unwrap(), keys).unwrap();
    table.insert("kind".to_owned(), kind.into());
    table
}

/// The phase and reason of each trial's failure.
pub fn failures(ran: &Ran) -> Vec<Option<(String, String)>> {
    let failure = |trial: &TrialRecord| match &trial.outcome {
        record::trial::Outcome::Failed { phase, why } => Some((phase.clone(), why.clone())),
        _ => None,
    };
    ran.trials.iter().map(failure).collect()
}

/// Short limits, so that a hanging machine is found soon; while load is driven there is a message each second.
pub fn short() -> Limits {
    let lifeless = Duration::from_secs(3);
    Limits { prompt: lifeless, lifeless, driving: lifeless, end: Duration::from_secs(1), ..Limits::default() }
}

/// How many trials began each phase.
pub fn phases(ran: &Ran) -> BTreeMap<String, usize> {
    let mut phases = BTreeMap::new();
    for event in &ran.events {
        if let Event::PhaseStarted { phase, .. } = event {
            *phases.entry(phase.clone()).or_default() += 1;
        }
    }
    phases
}
