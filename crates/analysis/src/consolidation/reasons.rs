//! Why one of several machines gets less than the others, as far as what was counted of each tells.
//!
//! What is asked of a machine that is held back or behind is asked of the others of the same trials, too, and said only where
//! the whole interval of the difference leaves no doubt. It is a table of causes; where none of them is seen, it is said that
//! none was. What the study itself did to a machine is named beside what was seen of it.

use super::slots::{Slot, Standing};
use crate::counted::{self, CountedTrial};
use crate::estimate::Estimate;
use crate::explanation::evidence::nearest_end;
use crate::explanation::words::{number, percent, with_interval, with_unit};
use crate::student;
use crate::validity;
use record::plan::Cell;
use record::run::{Run, StoredTrial};
use record::settings::Odd;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a machine was throttled more than the others, as a share of the window.
const THROTTLED: f64 = 0.01;
/// What it waited longer for a CPU, as a share of the time in which it wanted to run.
const WAITED: f64 = 0.05;
const STOLEN: f64 = 0.02;
/// A ratio to the others whose interval comes nearer to 1 than this sets nobody apart.
const SMALLEST_RATIO: f64 = 1.05;

/// A sentence on one machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// Counted from 1.
    pub machine: u32,
    pub cause: Cause,
    pub text: String,
}

/// What sets the machine apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    CpuQuota,
    WaitingForCpu,
    StolenTime,
    DiskTime,
    Interrupts,
    /// What the study does to it, beyond what was seen.
    Study,
    NotKnown,
}

/// The counted machines of one trial, by their numbers.
struct Trial {
    block: u32,
    machines: BTreeMap<u32, CountedTrial>,
}

/// Of every machine that is held back or behind.
pub fn of_cell(run: &Run, cell: &Cell, slots: &[Slot]) -> Vec<Reason> {
    let worse = |slot: &&Slot| matches!(slot.standing, Standing::HeldBack | Standing::Behind);
    let worse: Vec<u32> = slots.iter().filter(worse).map(|slot| slot.machine).collect();
    if worse.is_empty() {
        return Vec::new();
    }
    let of_trial = |trial: &StoredTrial| {
        let counted = counted::of_trial(trial)?;
        Some(Trial { block: counted.block, machines: counted.machines.into_iter().collect() })
    };
    let trials: Vec<Trial> = validity::valid_trials(run, cell.id).filter_map(of_trial).collect();
    worse.into_iter().flat_map(|machine| of_machine(&trials, cell, machine)).collect()
}

fn of_machine(trials: &[Trial], cell: &Cell, machine: u32) -> Vec<Reason> {
    let asked: Vec<Asked> = QUESTIONS.iter().map(|question| ask(question, trials, cell, machine)).collect();
    let mut found: Vec<Reason> = Vec::new();
    for (question, asked) in QUESTIONS.iter().zip(&asked) {
        let Asked::Apart(text) = asked else { continue };
        // Some kernels count a throttled thread as one that waits for a CPU.
        let is_the_same =
            question.cause == Cause::WaitingForCpu && found.iter().any(|reason| reason.cause == Cause::CpuQuota);
        if !is_the_same {
            found.push(Reason { machine, cause: question.cause, text: text.clone() });
        }
    }
    if found.is_empty() {
        found.push(Reason { machine, cause: Cause::NotKnown, text: not_known(machine, &asked) });
    }
    let is_throttled = found.iter().any(|reason| reason.cause == Cause::CpuQuota);
    let of_study = by_study(cell, machine, is_throttled).into_iter();
    found.extend(of_study.map(|text| Reason { machine, cause: Cause::Study, text }));
    found
}

type Measure = fn(&CountedTrial) -> Option<f64>;

/// One thing that may set a machine apart.
struct Question {
    cause: Cause,
    /// As it follows "neither" and "not counted:".
    name: &'static str,
    of: Measure,
    of_others: Measure,
    told: fn(&Against, &Cell, u32) -> Option<String>,
}

const QUESTIONS: [Question; 5] = [
    Question {
        cause: Cause::CpuQuota,
        name: "a CPU quota",
        of: CountedTrial::throttled_share,
        // Around a machine without a limit there may be no group that counts this, and then nothing holds it back.
        of_others: |trial| trial.throttled_share().or_else(|| trial.host.is_ok().then_some(0.0)),
        told: throttled,
    },
    Question {
        cause: Cause::WaitingForCpu,
        name: "waiting for a CPU of the host",
        of: CountedTrial::waited_of_wanted,
        of_others: CountedTrial::waited_of_wanted,
        told: waited,
    },
    Question {
        cause: Cause::StolenTime,
        name: "stolen time",
        of: CountedTrial::stolen_share,
        of_others: CountedTrial::stolen_share,
        told: stolen,
    },
    Question {
        cause: Cause::DiskTime,
        name: "the time of its disk's operations",
        of: CountedTrial::ms_of_an_operation,
        of_others: CountedTrial::ms_of_an_operation,
        told: disk,
    },
    Question {
        cause: Cause::Interrupts,
        name: "interrupts",
        of: CountedTrial::interrupts_each,
        of_others: CountedTrial::interrupts_each,
        told: interrupts,
    },
];

enum Asked {
    Apart(String),
    Alike,
    NotCounted(&'static str),
}

impl Asked {
    fn not_counted(&self) -> Option<&'static str> {
        match self {
            Self::NotCounted(name) => Some(*name),
            Self::Apart(_) | Self::Alike => None,
        }
    }
}

fn ask(question: &Question, trials: &[Trial], cell: &Cell, machine: u32) -> Asked {
    match against(trials, machine, [question.of, question.of_others]) {
        None => Asked::NotCounted(question.name),
        Some(found) => (question.told)(&found, cell, machine).map_or(Asked::Alike, Asked::Apart),
    }
}

/// A machine against the mean of the others of its trials, over blocks.
struct Against {
    own: Estimate,
    others: Estimate,
    /// Its own less the others'.
    difference: Estimate,
    /// Its own over the others'; none where one is nothing.
    ratio: Option<Estimate>,
}

impl Against {
    fn is_more_by(&self, least: f64) -> bool {
        nearest_end(&self.difference, 0.0).is_some_and(|end| end > least)
    }

    fn times(&self) -> Option<&Estimate> {
        self.ratio.as_ref().filter(|ratio| nearest_end(ratio, 1.0).is_some_and(|end| end > SMALLEST_RATIO))
    }
}

/// `None` if no trial has it of all of its machines.
fn against(trials: &[Trial], machine: u32, [of, of_others]: [Measure; 2]) -> Option<Against> {
    let mut blocks: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    for trial in trials {
        let own = trial.machines.get(&machine).and_then(of);
        let others = trial.machines.iter().filter(|(number, _)| **number != machine).map(|(_, other)| of_others(other));
        let others = others.collect::<Option<Vec<f64>>>().filter(|others| !others.is_empty());
        if let Some((own, others)) = own.zip(others) {
            let mean = others.iter().sum::<f64>() / others.len() as f64;
            blocks.entry(trial.block).or_default().push((own, mean));
        }
    }
    let of_block = |pairs: &Vec<(f64, f64)>| {
        let many = pairs.len() as f64;
        (pairs.iter().map(|pair| pair.0).sum::<f64>() / many, pairs.iter().map(|pair| pair.1).sum::<f64>() / many)
    };
    let pairs: Vec<(f64, f64)> = blocks.values().map(of_block).collect();
    Some(Against {
        own: student::mean_amount(pairs.iter().map(|pair| pair.0).collect())?,
        others: student::mean_amount(pairs.iter().map(|pair| pair.1).collect())?,
        difference: student::mean(pairs.iter().map(|(own, others)| own - others).collect())?,
        ratio: student::geometric_mean(&pairs.iter().map(|(own, others)| own / others).collect::<Vec<_>>()),
    })
}

fn throttled(found: &Against, cell: &Cell, machine: u32) -> Option<String> {
    let others = if found.others.point > 0.0 {
        format!("the others for {}", with_unit(&found.others, percent, "%"))
    } else {
        "the others never were".to_owned()
    };
    // The kernel adds up what it held back on each CPU.
    let cpus = if cell.settings.machine().vcpus == Some(1) { "" } else { ", added up over its CPUs" };
    let study = quota(cell, machine).map_or_else(String::new, |quota| {
        format!(" The study holds it to {} % of the time of its vCPUs (machine.odd).", percent(quota))
    });
    found.is_more_by(THROTTLED).then(|| {
        format!(
            "Machine {machine} was held back by its CPU quota: it was throttled for {} of the window{cpus}; {others}.{study}",
            with_unit(&found.own, percent, "%")
        )
    })
}

fn waited(found: &Against, _: &Cell, machine: u32) -> Option<String> {
    found.is_more_by(WAITED).then(|| {
        format!(
            "Machine {machine} waited for a CPU of the host in {} of the time in which it wanted to run; the others in {}.",
            with_unit(&found.own, percent, "%"),
            with_unit(&found.others, percent, "%")
        )
    })
}

fn stolen(found: &Against, _: &Cell, machine: u32) -> Option<String> {
    found.is_more_by(STOLEN).then(|| {
        format!(
            "Machine {machine} saw {} of the time of its CPUs stolen; the others {}.",
            with_unit(&found.own, percent, "%"),
            with_unit(&found.others, percent, "%")
        )
    })
}

fn disk(found: &Against, _: &Cell, machine: u32) -> Option<String> {
    let ratio = found.times()?;
    Some(format!(
        "An operation of machine {machine}'s disk took {} as long as one of the others': {} against {}.",
        with_unit(ratio, number, "times"),
        with_unit(&found.own, number, "ms"),
        with_unit(&found.others, number, "ms")
    ))
}

fn interrupts(found: &Against, _: &Cell, machine: u32) -> Option<String> {
    let ratio = found.times()?;
    Some(format!(
        "Each transaction of machine {machine} came with {} as many interrupts as one of the others: {} against {}.",
        with_unit(ratio, number, "times"),
        with_interval(&found.own, number),
        with_interval(&found.others, number)
    ))
}

fn not_known(machine: u32, asked: &[Asked]) -> String {
    let opening = format!("Why machine {machine} gets less than the others is not known");
    let missing: Vec<&str> = asked.iter().filter_map(Asked::not_counted).collect();
    if missing.len() == asked.len() {
        return format!("{opening}: nothing was counted of all machines of a trial.");
    }
    let names = QUESTIONS.iter().map(|question| question.name);
    let alike: Vec<&str> = names.filter(|name| !missing.contains(name)).collect();
    let not_counted = if missing.is_empty() {
        String::new()
    } else {
        format!(" Not counted of all machines: {}.", missing.join(", "))
    };
    let alike = match alike.split_last() {
        Some((last, [])) => format!("{last} does not surely set it apart"),
        Some((last, rest)) => format!("neither {} nor {last} surely sets it apart", rest.join(", ")),
        None => String::new(),
    };
    format!("{opening}: {alike}.{not_counted}")
}

/// What `machine.odd` says of this machine.
fn odd(cell: &Cell, machine: u32) -> Option<&Odd> {
    cell.odd().filter(|odd| odd.number == machine)
}

fn quota(cell: &Cell, machine: u32) -> Option<f64> {
    odd(cell, machine)?.cpu_quota
}

/// What the study does to a machine that no counter has shown.
fn by_study(cell: &Cell, machine: u32, is_throttled: bool) -> Vec<String> {
    let quota = quota(cell, machine).filter(|_| !is_throttled).map(|quota| {
        format!(
            "The study holds machine {machine} to {} % of the time of its vCPUs (machine.odd), but it was not seen to be throttled more \
             than the others.",
            percent(quota)
        )
    });
    let clients = odd(cell, machine).and_then(|odd| odd.clients).map(|clients| {
        format!("The study gives machine {machine} a number of clients of its own, {clients} (machine.odd).")
    });
    quota.into_iter().chain(clients).collect()
}

#[cfg(test)]
mod tests;
