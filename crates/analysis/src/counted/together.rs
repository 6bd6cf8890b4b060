//! What was counted around several machines of one trial, as if they were one.
//!
//! What machines count of themselves is added up, times included, so figures per transaction are over the transactions
//! of all machines. Sizes of the moment (free memory) are added up, too, and other readings (frequency) are averaged.
//! What they share is taken once: the host as a whole, and a device or control group that several of them share. What is
//! shared follows from where a probe reads: on one kernel, the same file counts the same thing. Windows of machines
//! differ slightly, and each machine is counted over its own.

use super::unit::CountedUnit;
use super::{Counted, CountedRate, SideCounts, Unseen, of_side};
use crate::gathered::distinct;
use crate::missing::Missing;
use crate::topology;
use record::run::StoredTrial;
use record::telemetry::{Behaviour, Series, Side};
use record::trial::MachineFacts;
use std::collections::{BTreeMap, BTreeSet};

/// Stands between a probe's name and what it counts of the shape's CPUs alone.
const OF_SHAPE: &str = ".shape.";
/// Probes of the processor's events also count on the shape's CPUs, and read no file.
const PERF: &str = "perf";

/// One machine's part.
struct CountedMachine<'a> {
    number: u32,
    counts: SideCounts,
    series: &'a Series,
    /// True if other parts may have counted the same things.
    shares_kernel: bool,
    cpus: Option<BTreeSet<usize>>,
}

/// The counts of all measured machines of a trial together, or why there are none.
pub fn side_of_all(trial: &StoredTrial, side: Side) -> Result<SideCounts, Missing> {
    let parts = trial.measured_machines().map(|(number, machine)| CountedMachine::of(number, machine, side));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let first = parts.first().ok_or(Missing::NoMachine)?;
    let mut columns = BTreeMap::new();
    let mut unavailable: Vec<Unseen> = unavailable(&parts).collect();
    for name in parts.iter().flat_map(|part| part.counts.columns.keys()).collect::<BTreeSet<_>>() {
        match column(&parts, name) {
            Ok(counted) => columns.extend(counted.map(|counted| (name.clone(), counted))),
            Err(why) => unavailable.push(Unseen { probe: None, why }),
        }
    }
    let seconds = parts.iter().map(|part| part.counts.seconds).sum::<f64>() / parts.len() as f64;
    let samples = parts.iter().map(|part| part.counts.samples).min().unwrap_or(first.counts.samples);
    Ok(SideCounts { seconds, samples, columns, unavailable: distinct(unavailable) })
}

impl<'a> CountedMachine<'a> {
    fn of(number: u32, machine: &'a StoredTrial, side: Side) -> Result<Self, Missing> {
        let of_machine = |why: Missing| why.of_machine(number);
        let counts = of_side(machine, side).map_err(of_machine)?;
        let series = machine.telemetry.iter().find(|series| series.side == side);
        let series = series.ok_or_else(|| of_machine(Missing::NotSampled { side: None }))?;
        let facts = machine.record.machine.as_ref();
        let shares_kernel = side == Side::Host || facts.is_some_and(MachineFacts::is_on_the_hosts_kernel);
        Ok(Self { number, counts, series, shares_kernel, cpus: facts.and_then(topology::held_to) })
    }

    fn has_probe(&self, name: &str) -> bool {
        self.series.probes.iter().any(|probe| probe.name == name)
    }

    /// The probe of a column: its name, and where it reads.
    fn probe_of(&self, column: &str) -> Option<(&str, &str)> {
        let has = |names: &Vec<String>| names.iter().any(|name| name == column);
        let probe = self.series.probes.iter().find(|probe| probe.columns.known().is_some_and(has))?;
        Some((&probe.name, &probe.source))
    }

    /// What the column counts. If this is equal for two parts, both have counted the same thing.
    fn thing(&self, column: &str) -> Thing<'_> {
        let source = self.probe_of(column).map_or("", |(_, source)| source);
        let is_file = source.starts_with('/') && !is_of_a_process(source);
        match (self.shares_kernel, is_of_shape(column)) {
            (true, true) => self.cpus.as_ref().map_or(Thing::OfMachine(self.number), Thing::OfCpus),
            (true, false) if is_file => Thing::At(source),
            _ => Thing::OfMachine(self.number),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Thing<'a> {
    OfMachine(u32),
    OfCpus(&'a BTreeSet<usize>),
    At(&'a str),
}

/// Process numbers are those of the machine's own view, so two machines may use the same.
fn is_of_a_process(source: &str) -> bool {
    source.strip_prefix("/proc/").is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

fn is_of_shape(column: &str) -> bool {
    column.contains(OF_SHAPE) || column.split('.').next() == Some(PERF)
}

/// The column over all parts, without a worth if one has none. `Err` says why it cannot be summed, `None` that nobody has it.
fn column(parts: &[CountedMachine<'_>], name: &str) -> Result<Option<Counted>, Missing> {
    let probe = parts.iter().find_map(|part| part.probe_of(name)).map(|(probe, _)| probe);
    // What belongs to the host was sampled beside only one of them.
    let concerned: Vec<&CountedMachine<'_>> =
        parts.iter().filter(|part| probe.is_none_or(|probe| part.has_probe(probe))).collect();
    if is_of_shape(name) && concerned.len() < parts.len() {
        return Err(Missing::CpusOfOneMachine);
    }
    if is_of_shape(name) && concerned.iter().any(|part| part.shares_kernel && part.cpus.is_none()) {
        return Err(Missing::CpusUnknown);
    }
    let mut things: Vec<Thing<'_>> = Vec::new();
    let mut distinct: Vec<Option<&Counted>> = Vec::new();
    for part in concerned {
        let thing = part.thing(name);
        let overlaps = |known: &Thing<'_>| match (known, &thing) {
            (Thing::OfCpus(one), Thing::OfCpus(other)) => one != other && !one.is_disjoint(other),
            _ => false,
        };
        if things.iter().any(overlaps) {
            return Err(Missing::CpusOverlap);
        }
        if !things.contains(&thing) {
            things.push(thing);
            distinct.push(part.counts.columns.get(name));
        }
    }
    let Some(any) = distinct.iter().flatten().next() else { return Ok(None) };
    let (unit, behaviour) = (any.unit.clone(), any.behaviour);
    let all: Option<Vec<&Counted>> = distinct.into_iter().collect();
    let adds_up = behaviour == Behaviour::Counts || unit == CountedUnit::Bytes;
    let Some(all) = all else { return Ok(Some(Counted { unit, behaviour, worth: None, rates: Vec::new() })) };
    let sum = all.iter().map(|counted| counted.worth).sum::<Option<f64>>();
    let worth = if adds_up { sum } else { sum.map(|sum| sum / all.len() as f64) };
    let rates = summed(&all.iter().map(|counted| counted.rates.as_slice()).collect::<Vec<_>>());
    Ok(Some(Counted { unit, behaviour, worth, rates }))
}

/// Machines are sampled at different moments, so the others' rates are interpolated at the moments of the first.
fn summed(all: &[&[CountedRate]]) -> Vec<CountedRate> {
    let Some((first, others)) = all.split_first() else { return Vec::new() };
    let sum = |rate: &CountedRate| {
        let rest: Option<f64> = others.iter().map(|rates| at(rates, rate.at_s)).sum();
        Some(CountedRate { at_s: rate.at_s, per_second: rate.per_second + rest? })
    };
    first.iter().filter_map(sum).collect()
}

/// The rate at a moment, by linear interpolation; at most half a second beyond the ends.
fn at(rates: &[CountedRate], at_s: f64) -> Option<f64> {
    const BEYOND_S: f64 = 0.5;
    let after = rates.partition_point(|rate| rate.at_s < at_s);
    let near = |rate: &&CountedRate| (rate.at_s - at_s).abs() <= BEYOND_S;
    match (after.checked_sub(1).and_then(|before| rates.get(before)), rates.get(after)) {
        (Some(before), Some(after)) => {
            let share = (at_s - before.at_s) / (after.at_s - before.at_s);
            Some(before.per_second + (after.per_second - before.per_second) * share)
        }
        (one, other) => one.or(other).filter(near).map(|rate| rate.per_second),
    }
}

/// Probes that saw nothing. A machine is named if others saw something, or saw nothing for other reasons.
fn unavailable(parts: &[CountedMachine<'_>]) -> impl Iterator<Item = Unseen> {
    let all = parts.iter().flat_map(|part| part.counts.unavailable.iter().map(move |unseen| (part, unseen)));
    all.map(move |(part, unseen)| {
        let has_it = |other: &&CountedMachine<'_>| unseen.probe.as_ref().is_some_and(|probe| other.has_probe(probe));
        let is_alike = parts.iter().filter(has_it).all(|other| other.counts.unavailable.contains(unseen));
        let why = if is_alike { unseen.why.clone() } else { unseen.why.clone().of_machine(part.number) };
        Unseen { why, ..unseen.clone() }
    })
}

#[cfg(test)]
mod tests;
