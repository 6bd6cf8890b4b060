//! Combines the looks into several machines, or into several databases of one: counts are added.
//!
//! Each machine looks by its own clock, within milliseconds of the others. The time between the combined looks is the
//! mean of theirs, on the clock of the first.

use super::Parts;
use crate::looks::{DatabaseCounts, DeviceCounts, Look, Looks, Reading};
use crate::run::StoredTrial;
use crate::trial::MachineFacts;
use crate::waits::Waits;
use std::collections::{BTreeMap, BTreeSet};

/// `None` unless every part has looks: a sum with a part missing would pass for the whole.
pub fn added_up(what: Parts, parts: &[(u32, &StoredTrial)]) -> Option<Looks> {
    let looks: Vec<LookPart<'_>> =
        parts.iter().map(|(number, part)| LookPart::of(what, *number, part)).collect::<Option<_>>()?;
    let first = looks.first()?.looks;
    let many = u64::try_from(looks.len()).ok()?;
    let span_ns = looks.iter().map(|part| part.looks.span_ns()).fold(0, u64::saturating_add) / many;
    let at = |at_ns: u64, of: fn(&Looks) -> &Look| Look {
        at_ns,
        took_ns: looks.iter().map(|part| of(part.looks).took_ns).max().unwrap_or(0),
        database: databases(&looks, of).into(),
        device: devices(&looks, of).into(),
        cpu: match what {
            Parts::Machines => Reading::Unavailable("CPUs of several machines are not added up".to_owned()),
            Parts::DatabasesOfOne | Parts::DatabasesOfOneServer => of(first).cpu.clone(),
        },
        counters: counters(&looks, of),
        waits: waits(&looks, of),
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

struct LookPart<'a> {
    what: Parts,
    number: u32,
    looks: &'a Looks,
    /// Whether others may use the same devices: those of the host, or of the machine that they share.
    shares_devices: bool,
}

impl<'a> LookPart<'a> {
    fn of(what: Parts, number: u32, part: &'a StoredTrial) -> Option<Self> {
        let is_on_the_hosts_kernel = || part.record.machine.as_ref().is_some_and(MachineFacts::is_on_the_hosts_kernel);
        let shares_devices = what != Parts::Machines || is_on_the_hosts_kernel();
        Some(Self { what, number, looks: part.looks.as_ref()?, shares_devices })
    }
}

fn read<'a, T>(part: &LookPart<'a>, reading: &'a Reading<T>) -> Result<&'a T, String> {
    match reading {
        Reading::Known(known) => Ok(known),
        Reading::Unavailable(why) => Err(format!("{} {}: {why}", part.what.name(), part.number)),
    }
}

fn databases(parts: &[LookPart<'_>], of: fn(&Looks) -> &Look) -> Result<DatabaseCounts, String> {
    let all: Vec<&DatabaseCounts> =
        parts.iter().map(|part| read(part, &of(part.looks).database)).collect::<Result<_, _>>()?;
    let is_of_one_server = parts.first().is_some_and(|part| part.what == Parts::DatabasesOfOneServer);
    let sum = |count: fn(&DatabaseCounts) -> Option<u64>| -> Option<u64> {
        let mut counts = all.iter().map(|counts| count(counts));
        if is_of_one_server {
            let first = counts.next()??;
            return Some(counts.flatten().fold(first, u64::saturating_add));
        }
        counts.sum()
    };
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

/// A device that several parts use is counted once, since its counts cover all of them.
fn devices(parts: &[LookPart<'_>], of: fn(&Looks) -> &Look) -> Result<DeviceCounts, String> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut distinct: Vec<&DeviceCounts> = Vec::new();
    for part in parts {
        let counts = read(part, &of(part.looks).device)?;
        if !part.shares_devices || seen.insert(&counts.device) {
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

/// The samples of all, so that dividing by their number gives one database's mean. If one was not sampled, there is no sum.
fn waits(parts: &[LookPart<'_>], of: fn(&Looks) -> &Look) -> Option<Reading<Waits>> {
    let mut all = Waits::default();
    for part in parts {
        let waits = match read(part, of(part.looks).waits.as_ref()?) {
            Ok(waits) => waits,
            Err(why) => return Some(Reading::Unavailable(why)),
        };
        all.absorb(waits);
        let stopped = waits.stopped.as_ref().map(|why| format!("{} {}: {why}", part.what.name(), part.number));
        all.stopped = all.stopped.or(stopped);
        if all.source.is_empty() {
            all.source.clone_from(&waits.source);
        }
    }
    Some(Reading::Known(all))
}

/// The counters that every database has under the same name. Of databases of one server, also those that only the first has.
fn counters(parts: &[LookPart<'_>], of: fn(&Looks) -> &Look) -> BTreeMap<String, u64> {
    let Some((first, others)) = parts.split_first() else { return BTreeMap::new() };
    let sum = |(name, count): (&String, &u64)| {
        let missing = (first.what == Parts::DatabasesOfOneServer).then_some(0);
        let rest = others.iter().map(|part| of(part.looks).counters.get(name).copied().or(missing));
        Some((name.clone(), count.checked_add(rest.sum::<Option<u64>>()?)?))
    };
    of(first.looks).counters.iter().filter_map(sum).collect()
}
