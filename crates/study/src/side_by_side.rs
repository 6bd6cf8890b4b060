//! Machines side by side: whether the host has room, where they are placed, and the exception.
//!
//! Each key was checked before; this checks combinations of keys. Paths start at the top of the study.

use crate::host::Host;
use crate::keys::{LEAST_MEMORY, MACHINE, PEAK_WORD};
use crate::room::{counted, in_gib};
use crate::shape::{MachineShape, Pinning, Storage};
use platforms::placement::{self, Place, Policy};
use record::settings::{ExceptionLoad, MachineException};
use serde_json::{Map, Value};
use settings::{Bytes, Problem, Rate, TimeSpan};
use std::collections::BTreeSet;

/// A burst lasts a third of the measured window. The report leaves out the seconds beside a change in each third, and a
/// single second shows nothing.
const SHORTEST_WITH_BURST: TimeSpan = TimeSpan(12_000);

/// Problems of `[machine]` on this host; without a host, of a machine that is on another one.
pub fn machine_problems(table: &Map<String, Value>, host: Option<&Host>) -> Vec<Problem> {
    let Ok(machine) = settings::read::<MachineShape>(table, MACHINE) else { return Vec::new() };
    let mut problems = host.map_or_else(|| elsewhere(&machine), |host| room(&machine, host));
    if machine.count > 1 && machine.disk.storage == Storage::Device {
        let found = format!("found \"device\" for {} machines", machine.count);
        problems.push(Problem::new(
            "machine.disk.storage",
            found,
            "\"file\", of which each machine gets a copy of its own",
        ));
    }
    if let Some(host) = host.filter(|_| problems.is_empty()) {
        problems.extend(pinning(&machine, host));
    }
    problems.extend(machine.exception.iter().flat_map(|exception| of_exception(exception, machine.count)));
    problems
}

/// Problems of `[machine]` and `[load]` together.
pub fn load_problems(machine: &Map<String, Value>, load: &Map<String, Value>) -> Vec<Problem> {
    let Ok(machine) = settings::read::<MachineShape>(machine, MACHINE) else { return Vec::new() };
    let clients = load.get("clients");
    let mut problems = Vec::new();
    if machine.count > 1 && clients.and_then(Value::as_str) == Some(PEAK_WORD) {
        let found = format!("found \"{PEAK_WORD}\" for {} machines", machine.count);
        let expected = "a number of clients for each machine; a peak is looked for with one machine only";
        problems.push(Problem::new("load.clients", found, expected));
    }
    problems.extend(ramp_problem(load));
    if machine.exception.is_some() && load.contains_key("transactions") {
        let expected = "no such key, because machine.exception needs a window of a known length";
        problems.push(Problem::new("load.transactions", "given", expected));
    }
    let has_burst = machine.exception.as_ref().is_some_and(|exception| exception.load == ExceptionLoad::Burst);
    let measured = load.get("measure").and_then(Value::as_u64).map(TimeSpan);
    if let Some(short) = measured.filter(|measured| has_burst && *measured < SHORTEST_WITH_BURST) {
        let expected = format!("at least {SHORTEST_WITH_BURST}, because of machine.exception.load = \"burst\"");
        problems.push(Problem::new("load.measure", format!("found {short}"), expected));
    }
    if machine.exception.is_some_and(|exception| exception.clients.is_some())
        && clients.is_none_or(|clients| !clients.is_u64())
    {
        problems.push(Problem::new(
            "machine.exception.clients",
            "given",
            "this key only beside a number of load.clients",
        ));
    }
    problems
}

/// What cannot be asked of a machine on another host.
fn elsewhere(machine: &MachineShape) -> Vec<Problem> {
    let mut problems = Vec::new();
    if machine.disk.storage == Storage::Device {
        let expected = "\"file\", because the data of a machine on another host are in a folder there";
        problems.push(Problem::new("machine.disk.storage", "found \"device\"", expected));
    }
    if !matches!(machine.pinning, Pinning::Auto | Pinning::None) || machine.cpus.is_some() {
        let expected = "\"auto\" or \"none\", because the CPUs of another host are not known here";
        problems.push(Problem::new("machine.pinning", "given", expected));
    }
    problems
}

/// All clients must be at work when the measured window begins.
fn ramp_problem(load: &Map<String, Value>) -> Option<Problem> {
    let rate = load.get("ramp_rate").and_then(Value::as_f64)?;
    let peak = || load.get("peak").and_then(|peak| peak.get("max_clients")).and_then(Value::as_u64);
    let Some(clients) = load.get("clients").and_then(|clients| clients.as_u64().or_else(peak)) else {
        let expected = "this key only beside load.clients".to_owned();
        return Some(Problem::new("load.ramp_rate", "given", expected));
    };
    let warmup_ms = load.get("warmup").and_then(Value::as_u64)?;
    let last_begins_ms = 1_000.0 * clients.saturating_sub(1) as f64 / rate;
    (last_begins_ms > warmup_ms as f64).then(|| {
        let found = format!(
            "found {}, so that the last of {clients} clients begins after {:.1} s",
            Rate(rate),
            last_begins_ms / 1_000.0
        );
        Problem::new(
            "load.ramp_rate",
            found,
            format!("a rate at which all begin within load.warmup, {}", TimeSpan(warmup_ms)),
        )
    })
}

/// Problems of several databases in each machine, which divide the machine's memory and load evenly.
pub fn instances_problems(
    instances: u64,
    is_one_server: bool,
    machine: &Map<String, Value>,
    load: &Map<String, Value>,
) -> Vec<Problem> {
    if instances == 1 {
        return Vec::new();
    }
    let mut problems = Vec::new();
    let memory = machine.get("memory").and_then(Value::as_u64).unwrap_or_default();
    if !is_one_server && memory / instances < LEAST_MEMORY {
        let found = format!("found {} for {instances} databases", Bytes(memory));
        let expected = format!("at least {}, {} for each", Bytes(LEAST_MEMORY * instances), Bytes(LEAST_MEMORY));
        problems.push(Problem::new("machine.memory", found, expected));
    }
    let exception_clients = machine.get("exception").and_then(|exception| exception.get("clients"));
    let in_load = ["clients", "terminals", "sessions"].map(|name| (format!("load.{name}"), load.get(name)));
    let counts = in_load.into_iter().chain([("machine.exception.clients".to_owned(), exception_clients)]);
    for (path, count) in counts {
        let Some(count) = count.and_then(Value::as_u64) else { continue };
        if count % instances > 0 {
            let (below, above) = (count / instances * instances, count.next_multiple_of(instances));
            let nearest = if below == 0 { above.to_string() } else { format!("{below} or {above}") };
            let expected = format!("{nearest}, as many for each of engine.instances = {instances}");
            problems.push(Problem::new(path, format!("found {count}"), expected));
        }
    }
    let max_clients = load.get("peak").and_then(|peak| peak.get("max_clients")).and_then(Value::as_u64);
    if let Some(most) = max_clients.filter(|most| *most < 2 * instances) {
        let expected = format!("at least {}, two for each of engine.instances = {instances}", 2 * instances);
        problems.push(Problem::new("load.peak.max_clients", format!("found {most}"), expected));
    }
    problems
}

/// Checks that all machines together fit; whether one fits was checked before.
fn room(machine: &MachineShape, host: &Host) -> Vec<Problem> {
    let (count, vcpus, memory) = (u64::from(machine.count), u64::from(machine.vcpus), machine.memory_bytes.0);
    let (cpus, host_memory) = (host.cpus() as u64, host.memory_bytes);
    let mut problems = Vec::new();
    if count * vcpus > cpus && vcpus <= cpus && !machine.oversubscribe {
        let found = format!("found {count} machines of {} each", counted(vcpus, "vCPU"));
        let expected =
            format!("at most {}, because this host has {cpus} CPUs, or machine.oversubscribe = true", cpus / vcpus);
        problems.push(Problem::new("machine.count", found, expected));
    }
    if count.saturating_mul(memory) > host_memory && memory <= host_memory {
        let found = format!("found {count} machines of {} each", Bytes(memory));
        let expected = format!("at most {}, because this host has {}", host_memory / memory, in_gib(host_memory));
        problems.push(Problem::new("machine.count", found, expected));
    }
    problems
}

/// Problems with the machines' places on the host's own CPUs.
fn pinning(machine: &MachineShape, host: &Host) -> Option<Problem> {
    const LISTS: &str = "a list of CPUs for each machine, such as \"0-3;4-7\"";
    let is_explicit = machine.pinning == Pinning::Explicit;
    let lists = machine.cpus.as_deref();
    match (is_explicit, lists) {
        (true, None) => {
            let expected = format!("{LISTS}, because of pinning = \"explicit\"");
            return Some(Problem::new("machine.cpus", "missing", expected));
        }
        (false, Some(_)) => {
            let expected = "this key only beside machine.pinning = \"explicit\"";
            return Some(Problem::new("machine.cpus", "given", expected));
        }
        _ => {}
    }
    let Ok(policy) = machine.policy() else {
        return Some(Problem::new("machine.cpus", format!("found {:?}", lists.unwrap_or_default()), LISTS));
    };
    if let Some(cpu) = named_twice(&policy).filter(|_| !machine.oversubscribe) {
        let expected = "each CPU for one vCPU only, or machine.oversubscribe = true";
        return Some(Problem::new("machine.cpus", format!("found CPU {cpu} twice"), expected));
    }
    let path = if is_explicit { "machine.cpus" } else { "machine.pinning" };
    match placement::place(&host.topology, &policy, machine.count, machine.vcpus, 0) {
        Ok(places) => full_node(machine, host, &places).map(|found| {
            Problem::new(
                path,
                found,
                "less memory, fewer machines, or pinning = \"auto\", which binds memory where it fits",
            )
        }),
        Err(misfit) => Some(Problem::new(path, misfit.why, misfit.instead)),
    }
}

/// A memory node to which more memory would be bound than it has.
fn full_node(machine: &MachineShape, host: &Host, places: &[Place]) -> Option<String> {
    let (node, bytes, there) = placement::full_node(&host.topology, machine.memory_bytes.0, places)?;
    Some(format!("{} would be bound to memory node {node}, which has {}", Bytes(bytes), in_gib(there)))
}

/// The places of machines from a checked table; empty if they cannot be placed.
pub fn places(table: &Map<String, Value>, host: &Host) -> Vec<Place> {
    let placed = settings::read::<MachineShape>(table, MACHINE).ok().and_then(|machine| {
        placement::place(&host.topology, &machine.policy().ok()?, machine.count, machine.vcpus, 0).ok()
    });
    placed.unwrap_or_default()
}

fn named_twice(policy: &Policy) -> Option<usize> {
    let Policy::Explicit(lists) = policy else { return None };
    let mut seen = BTreeSet::new();
    lists.iter().flatten().copied().find(|cpu| !seen.insert(*cpu))
}

fn of_exception(exception: &MachineException, count: u32) -> Vec<Problem> {
    if count < 2 {
        let expected = "this table only beside a machine.count of at least 2";
        return vec![Problem::new("machine.exception", "given", expected)];
    }
    let mut problems = Vec::new();
    if exception.number > count {
        let expected = format!("at most {count}, the number of machines");
        problems.push(Problem::new("machine.exception.number", format!("found {}", exception.number), expected));
    }
    let is_like_others = exception.cpu_quota.is_none() && exception.clients.is_none() && exception.workload.is_none();
    if is_like_others && exception.load == ExceptionLoad::Same {
        problems.push(Problem::new(
            "machine.exception",
            "found nothing that differs",
            "one of cpu_quota, load, clients and workload",
        ));
    }
    if exception.clients.is_some() && exception.load == ExceptionLoad::Idle {
        problems.push(Problem::new("machine.exception.clients", "given", "no clients, because of load = \"idle\""));
    }
    if exception.workload.is_some() && exception.load == ExceptionLoad::Idle {
        let expected = "no workload of its own, because of load = \"idle\"";
        problems.push(Problem::new("machine.exception.workload", "given", expected));
    }
    problems
}
