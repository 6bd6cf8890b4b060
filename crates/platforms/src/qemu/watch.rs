//! What the host can watch of a running QEMU: its threads by their task, the data's disk, and QEMU's own counters.
//!
//! Threads are identified by number from QEMU's answers, never by name. All probes are read within a second, so QEMU
//! gets less than that for an answer; without one the values stay empty. If something cannot be watched, there is a
//! probe that says why.

use super::command::GuestDisk;
use super::isolation;
use super::monitor::Monitor;
use super::monitor::QmpError;
use machines::machine::WatchedMachine;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use telemetry::qmp::{Schemas, balloon_counter, block_counters, io_threads};
use telemetry::{
    Counter, DiskLocation, DiskTarget, FamilyTarget, Interfaces, ProcessTarget, QueryProbe, Targets, ThreadTarget,
};

/// QEMU answers these at once unless it hangs; then further samples are missing its values, too.
const ANSWER_LIMIT: Duration = Duration::from_millis(200);

pub type SharedConsole = Arc<Mutex<dyn Monitor>>;

/// Names of block nodes, and the names that their counters get instead.
pub type NodeNames = BTreeMap<String, String>;

/// All targets of the QEMU with id `process`, whose machine has this data disk and may use these CPUs.
pub fn of(
    process: u32,
    qmp: &SharedConsole,
    data: Option<&GuestDisk>,
    nodes: NodeNames,
    cpus: &[usize],
) -> WatchedMachine {
    let mut asked = vec![blocks(qmp, nodes), kvm(qmp), balloon(qmp)];
    let mut threads = Vec::new();
    let outside = isolation::threads(process).unwrap_or_default();
    let named = |label: String, thread: u32| {
        let thread = outside.get(&thread).copied().unwrap_or(thread);
        ThreadTarget { label, process, thread }
    };
    match lock(qmp).vcpu_threads() {
        Ok(vcpus) => threads.extend(vcpus.iter().map(|vcpu| named(format!("vcpu.{}", vcpu.vcpu), vcpu.thread))),
        Err(why) => asked.push(not_known("vcpu", &why)),
    }
    match ask(qmp, "query-iothreads", json!({})).map(|answer| io_threads(&answer)) {
        Ok(Some(found)) => threads.extend(found.into_iter().map(|(name, thread)| named(format!("io.{name}"), thread))),
        Ok(None) => asked.push(not_known("io", &"QEMU's I/O threads are not given in the documented form")),
        Err(why) => asked.push(not_known("io", &why)),
    }
    let without_threads: BTreeSet<u32> = threads.iter().map(|thread| thread.thread).collect();
    let emulator = FamilyTarget { label: "emulator".to_owned(), process, without_threads, with_switches: true };
    let whole = |label: &str| ProcessTarget { label: label.to_owned(), process };
    let targets = Targets {
        without_system: false,
        cpus: Some(cpus.iter().filter_map(|cpu| u32::try_from(*cpu).ok()).collect()),
        disks: data.map(disk).into_iter().collect(),
        interfaces: Interfaces::AllButLoopback,
        threads,
        families: vec![emulator],
        pages: vec![whole("machine")],
        groups: vec![whole("machine")],
    };
    WatchedMachine { targets, asked }
}

fn disk(data: &GuestDisk) -> DiskTarget {
    DiskTarget { label: "data".to_owned(), location: DiskLocation::of(&data.path, data.is_device) }
}

fn lock(qmp: &SharedConsole) -> std::sync::MutexGuard<'_, dyn Monitor + 'static> {
    qmp.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ask(qmp: &SharedConsole, command: &str, arguments: Value) -> Result<Value, QmpError> {
    lock(qmp).execute_within(ANSWER_LIMIT, command, arguments)
}

/// A probe that reads nothing and says why.
pub fn not_known(name: &str, why: &dyn std::fmt::Display) -> QueryProbe {
    let why = why.to_string();
    QueryProbe { name: name.to_owned(), source: "QEMU".to_owned(), ask: Box::new(move || Err(why.clone())) }
}

fn asking(name: &str, command: &str, ask: impl FnMut() -> Result<Vec<Counter>, String> + Send + 'static) -> QueryProbe {
    QueryProbe { name: name.to_owned(), source: format!("QEMU's {command}"), ask: Box::new(ask) }
}

fn blocks(qmp: &SharedConsole, nodes: NodeNames) -> QueryProbe {
    let (command, qmp) = ("query-blockstats", Arc::clone(qmp));
    asking("qemu_disk", command, move || {
        let mut answer = ask(&qmp, command, json!({})).map_err(|error| error.to_string())?;
        for device in answer.as_array_mut().into_iter().flatten() {
            if let Some(name) = device["node-name"].as_str().and_then(|node| nodes.get(node)) {
                device["node-name"] = name.as_str().into();
            }
        }
        block_counters(&answer)
    })
}

fn kvm(qmp: &SharedConsole) -> QueryProbe {
    let (command, qmp) = ("query-stats", Arc::clone(qmp));
    let schemas = ask(&qmp, "query-stats-schemas", json!({})).map_err(|error| error.to_string());
    let schemas = schemas.and_then(|answer| Schemas::parse(&answer).map_err(|error| error.to_string()));
    asking("kvm", command, move || {
        let schemas = schemas.as_ref().map_err(Clone::clone)?;
        let mut counters = Vec::new();
        for target in schemas.targets() {
            let answer = ask(&qmp, command, json!({ "target": target })).map_err(|error| error.to_string())?;
            counters.extend(schemas.counters(target, &answer).map_err(|error| error.to_string())?);
        }
        Ok(counters)
    })
}

fn balloon(qmp: &SharedConsole) -> QueryProbe {
    let (command, qmp) = ("query-balloon", Arc::clone(qmp));
    asking("balloon", command, move || {
        let answer = ask(&qmp, command, json!({})).map_err(|error| error.to_string())?;
        let counter = balloon_counter(&answer).ok_or_else(|| format!("QEMU answers {answer}"))?;
        Ok(vec![counter])
    })
}
