//! The looks into several machines as looks into all of them: counts are added.
//!
//! Each machine looks by its own clock, within milliseconds of the others. What lies between the looks is over their mean
//! length, on the clock of the first.

use crate::looks::{DatabaseCounts, DeviceCounts, Look, Looks, Reading};
use crate::run::StoredTrial;
use crate::trial::MachineFacts;
use std::collections::{BTreeMap, BTreeSet};

/// `None` unless every machine was looked into: a sum without one would be taken for the sum.
pub fn added_up(machines: &[(u32, &StoredTrial)]) -> Option<Looks> {
    let looks: Vec<Part<'_>> =
        machines.iter().map(|(number, machine)| Part::of(*number, machine)).collect::<Option<_>>()?;
    let first = looks.first()?.looks;
    let many = u64::try_from(looks.len()).ok()?;
    let span_ns = looks.iter().map(|part| part.looks.span_ns()).fold(0, u64::saturating_add) / many;
    let at = |at_ns: u64, of: fn(&Looks) -> &Look| Look {
        at_ns,
        took_ns: looks.iter().map(|part| of(part.looks).took_ns).max().unwrap_or(0),
        database: databases(&looks, of).into(),
        device: devices(&looks, of).into(),
        cpu: Reading::Unavailable("CPUs of several machines are not added up".to_owned()),
        counters: counters(&looks, of),
    };
    let start_ns = first.start.at_ns;
    Some(Looks { start: at(start_ns, start), end: at(start_ns + span_ns, end) })
}

fn start(looks: &Looks) -> &Look {
    &looks.start
}

fn end(looks: &Looks) -> &Look {
    &looks.end
}

struct Part<'a> {
    number: u32,
    looks: &'a Looks,
    /// Whether its devices are the host's, which others may use as well.
    is_on_the_hosts_kernel: bool,
}

impl<'a> Part<'a> {
    fn of(number: u32, machine: &'a StoredTrial) -> Option<Self> {
        let is_on_the_hosts_kernel = machine.record.machine.as_ref().is_some_and(MachineFacts::is_on_the_hosts_kernel);
        Some(Self { number, looks: machine.looks.as_ref()?, is_on_the_hosts_kernel })
    }
}

fn read<'a, T>(part: &Part<'a>, reading: &'a Reading<T>) -> Result<&'a T, String> {
    match reading {
        Reading::Known(known) => Ok(known),
        Reading::Unavailable(why) => Err(format!("machine {}: {why}", part.number)),
    }
}

fn databases(parts: &[Part<'_>], of: fn(&Looks) -> &Look) -> Result<DatabaseCounts, String> {
    let all: Vec<&DatabaseCounts> =
        parts.iter().map(|part| read(part, &of(part.looks).database)).collect::<Result<_, _>>()?;
    let sum = |count: fn(&DatabaseCounts) -> Option<u64>| all.iter().map(|counts| count(counts)).sum();
    Ok(DatabaseCounts {
        meaning: all.first().map(|counts| counts.meaning.clone()).unwrap_or_default(),
        reads: sum(|counts| counts.reads),
        hits: sum(|counts| counts.hits),
        writes: sum(|counts| counts.writes),
        log_bytes: sum(|counts| counts.log_bytes),
        checkpoints: sum(|counts| counts.checkpoints),
        data_bytes: sum(|counts| counts.data_bytes),
        cache_bytes: sum(|counts| counts.cache_bytes),
    })
}

/// A device of the host that several machines use is counted once: what it counts is of all of them.
fn devices(parts: &[Part<'_>], of: fn(&Looks) -> &Look) -> Result<DeviceCounts, String> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut distinct: Vec<&DeviceCounts> = Vec::new();
    for part in parts {
        let counts = read(part, &of(part.looks).device)?;
        if !part.is_on_the_hosts_kernel || seen.insert(&counts.device) {
            distinct.push(counts);
        }
    }
    let names: BTreeSet<&str> = distinct.iter().map(|counts| counts.device.as_str()).collect();
    let sum = |count: fn(&DeviceCounts) -> u64| distinct.iter().map(|counts| count(counts)).sum();
    Ok(DeviceCounts {
        device: names.into_iter().collect::<Vec<_>>().join(", "),
        reads: sum(|counts| counts.reads),
        read_bytes: sum(|counts| counts.read_bytes),
        read_ms: sum(|counts| counts.read_ms),
        writes: sum(|counts| counts.writes),
        write_bytes: sum(|counts| counts.write_bytes),
        write_ms: sum(|counts| counts.write_ms),
        busy_ms: sum(|counts| counts.busy_ms),
        flushes: distinct.iter().map(|counts| counts.flushes).sum(),
    })
}

/// What every database counts under the same name.
fn counters(parts: &[Part<'_>], of: fn(&Looks) -> &Look) -> BTreeMap<String, u64> {
    let Some((first, others)) = parts.split_first() else { return BTreeMap::new() };
    let sum = |(name, count): (&String, &u64)| {
        let rest: Option<u64> = others.iter().map(|part| of(part.looks).counters.get(name).copied()).sum();
        Some((name.clone(), count.checked_add(rest?)?))
    };
    of(first.looks).counters.iter().filter_map(sum).collect()
}
