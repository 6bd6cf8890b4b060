//! Made-up telemetry: columns that grow by their own rates, sampled once a second, a little late each time.

use super::Chance;
use crate::looks::Reading;
use crate::telemetry::{Behaviour, Column, Probe, Sample, Series, Side};

const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// The value of counters when sampling begins, since they count from boot.
const BEFORE: u64 = 1_000_000;
/// How much seconds differ from each other, and trials from each other.
const WOBBLE: f64 = 0.02;

/// A column with its increase per second, or its value at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct MadeUpColumn {
    pub name: String,
    pub unit: &'static str,
    pub behaviour: Behaviour,
    pub rate: f64,
    /// How much the rate varies; 0 for a limit.
    pub wobble: f64,
}

/// A column that counts.
pub fn counts(name: &str, unit: &'static str, rate: f64) -> MadeUpColumn {
    MadeUpColumn { name: name.to_owned(), unit, behaviour: Behaviour::Counts, rate, wobble: WOBBLE }
}

fn stands(name: &str, unit: &'static str, value: f64) -> MadeUpColumn {
    MadeUpColumn { behaviour: Behaviour::Stands, ..counts(name, unit, value) }
}

/// The columns of both sides at this many transactions a second.
pub(super) fn of_trial(native: bool, per_second: f64, seconds: u64, chance: &mut Chance) -> Vec<Series> {
    let (inside, host) = (inside(native, per_second), host(native, per_second));
    vec![series(Side::Machine, &inside, seconds, chance), series(Side::Host, &host, seconds, chance)]
}

/// A series of `seconds` + 1 samples.
pub(super) fn series(side: Side, sources: &[MadeUpColumn], seconds: u64, chance: &mut Chance) -> Series {
    let column = |source: &MadeUpColumn| Column {
        name: source.name.clone(),
        unit: source.unit.to_owned(),
        behaviour: source.behaviour,
    };
    let mut factors: Vec<f64> = Vec::new();
    for source in sources {
        factors.push(1.0 + source.wobble * chance.normal());
    }
    let mut sums = vec![0.0; sources.len()];
    let mut samples = Vec::new();
    for second in 0..=seconds {
        let late_ns = (chance.uniform() * 1e6).round();
        let values = sources.iter().zip(&factors).zip(&mut sums).map(|((source, factor), sum)| {
            let now = source.rate * factor * (1.0 + source.wobble * chance.normal());
            *sum += now;
            Some(rounded(if source.behaviour == Behaviour::Counts { BEFORE as f64 + *sum } else { now }))
        });
        let values = values.collect();
        samples.push(Sample { at_ns: second * NANOS_PER_SECOND + rounded(late_ns), took_ns: 400_000, values });
    }
    let columns: Vec<Column> = sources.iter().map(column).collect();
    Series { side, probes: probes(side, &columns), columns, cost_ns: Some(seconds * 500_000), samples }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // At least 0, and far below the limit.
fn rounded(value: f64) -> u64 {
    value.max(0.0).round() as u64
}

fn probes(side: Side, columns: &[Column]) -> Vec<Probe> {
    let mut probes: Vec<Probe> = Vec::new();
    for column in columns {
        let name = column.name.split('.').next().unwrap_or_default();
        match probes.iter_mut().find(|probe| probe.name == name) {
            Some(Probe { columns: Reading::Known(names), .. }) => names.push(column.name.clone()),
            _ => probes.push(probe(name, Reading::Known(vec![column.name.clone()]))),
        }
    }
    let missing = match side {
        Side::Host => ("energy", "/sys/class/powercap has no counters of energy"),
        Side::Machine => ("perf", "the processor shows no counters of events to this system"),
    };
    probes.push(probe(missing.0, Reading::Unavailable(missing.1.to_owned())));
    probes
}

fn probe(name: &str, columns: Reading<Vec<String>>) -> Probe {
    Probe { name: name.to_owned(), source: String::new(), columns }
}

/// A guest has about twice the interrupts, and its disk is slower.
fn inside(native: bool, each: f64) -> Vec<MadeUpColumn> {
    let (interrupts, switches, faults) = if native { (12.0, 21.0, 3.0) } else { (25.5, 26.0, 3.1) };
    let busy = if native { 0.38 } else { 0.52 };
    let mut sources = vec![
        counts("cpu.user", "ticks", 96.0),
        counts("cpu.nice", "ticks", 0.0),
        counts("cpu.system", "ticks", 41.0),
        counts("cpu.idle", "ticks", 52.0),
        counts("cpu.iowait", "ticks", 9.0),
        counts("cpu.irq", "ticks", 0.0),
        counts("cpu.softirq", "ticks", 2.0),
        counts("cpu.steal", "ticks", if native { 0.0 } else { 1.4 }),
        counts("interrupts.total", "", interrupts * each),
        counts("interrupts.timer", "", 0.6 * interrupts * each),
        counts("interrupts.device", "", 0.3 * interrupts * each),
        counts("switches.context", "", switches * each),
        counts("faults.all", "", faults * each),
        counts("run_queue.wait", "ns", 180_000.0 * each),
        counts("pressure.io.some", "us", if native { 210_000.0 } else { 330_000.0 }),
        counts("network.eth0.received_packets", "", 6.0),
        counts("network.eth0.received_bytes", "bytes", 700.0),
        counts("network.eth0.sent_packets", "", 4.0),
        counts("network.eth0.sent_bytes", "bytes", 500.0),
        stands("memory.available", "bytes", 1.3e9),
    ];
    sources.extend(disk("disk.data", "ms", each, if native { 0.14 } else { 0.30 }, Some(busy)));
    sources
}

fn host(native: bool, each: f64) -> Vec<MadeUpColumn> {
    let mut sources = vec![
        counts("cpu.user", "ticks", 99.0),
        counts("cpu.system", "ticks", if native { 43.0 } else { 61.0 }),
        counts("cpu.idle", "ticks", 40.0),
        counts("interrupts.total", "", 14.0 * each),
        counts("switches.context", "", if native { 23.0 } else { 41.0 } * each),
        stands("memory.available", "bytes", 1.9e10),
    ];
    sources.extend(disk("disk.data", "ms", each, 0.14, Some(0.37)));
    if !native {
        sources.extend(disk("qemu_disk.data", "ns", each, 0.21, None));
        for vcpu in 0..2 {
            sources.extend(self::vcpu(vcpu, 0.74, 0.012));
        }
        sources.push(counts("kvm.vcpu.exits", "", 44.0 * each));
    }
    sources
}

/// The thread of a vCPU that runs and waits for these shares of the time.
pub fn vcpu(number: u32, runs: f64, waits: f64) -> Vec<MadeUpColumn> {
    vec![
        counts(&format!("vcpu.{number}.run"), "ns", runs * 1e9),
        counts(&format!("vcpu.{number}.wait"), "ns", waits * 1e9),
        counts(&format!("vcpu.{number}.migrations"), "", 1.5),
    ]
}

/// A disk with two reads and four and a half writes for each transaction, all of which take equally long.
fn disk(prefix: &str, unit: &'static str, each: f64, operation_ms: f64, busy: Option<f64>) -> Vec<MadeUpColumn> {
    let scale = if unit == "ns" { 1e6 } else { 1.0 };
    let (reads, writes) = (2.0 * each, 4.5 * each);
    let named = |field: &str| format!("{prefix}.{field}");
    let mut sources = vec![
        counts(&named("reads"), "", reads),
        counts(&named("read_bytes"), "bytes", 8_192.0 * reads),
        counts(&named("read_time"), unit, operation_ms * scale * reads),
        counts(&named("writes"), "", writes),
        counts(&named("write_bytes"), "bytes", 12_000.0 * writes),
        counts(&named("write_time"), unit, operation_ms * scale * writes),
    ];
    sources.extend(busy.map(|share| counts(&named("busy"), "ms", 1_000.0 * share)));
    sources
}
