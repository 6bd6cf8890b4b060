//! Why one of several machines gets less than the others, as far as the counters of each tell.
//!
//! Each measure of a machine that is held back or behind is compared with that of the others of the same trials. A
//! cause is named only where the whole interval of the difference leaves no doubt. The causes are a table; if none is
//! seen, the report says so. What the study itself did to a machine is named beside what was seen.

use super::slots::Slot;
use crate::contrast::Position;
use crate::counted::{self, CountedTrial};
use crate::estimate::Estimate;
use crate::explanation::evidence::nearest_end;
use crate::student;
use crate::validity;
use record::plan::Cell;
use record::run::{Run, StoredTrial};
use record::settings::Odd;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// By how much more it was throttled than the others, as a share of the window.
const THROTTLED: f64 = 0.01;
/// By how much longer it waited for a CPU, as a share of the time in which it wanted to run.
const WAITED: f64 = 0.05;
const STOLEN: f64 = 0.02;
/// A ratio to the others whose interval comes nearer to 1 than this distinguishes no machine.
const SMALLEST_RATIO: f64 = 1.05;

/// A reason why one machine gets less.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// Counted from 1.
    pub machine: u32,
    #[serde(flatten)]
    pub cause: Cause,
}

/// What distinguishes the machine from the others, with its own quantity and the mean of the others'.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "cause", content = "quantities", rename_all = "kebab-case")]
pub enum Cause {
    /// Shares of the window. With several CPUs, the kernel adds up the time that each was held back.
    CpuQuota {
        own: Estimate,
        others: Estimate,
        several_cpus: bool,
        quota_of_study: Option<f64>,
    },
    /// Shares of the time in which it wanted to run.
    WaitingForCpu {
        own: Estimate,
        others: Estimate,
    },
    StolenTime {
        own: Estimate,
        others: Estimate,
    },
    /// Milliseconds per operation.
    DiskTime {
        own: Estimate,
        others: Estimate,
        times: Estimate,
    },
    /// Interrupts per transaction.
    Interrupts {
        own: Estimate,
        others: Estimate,
        times: Estimate,
    },
    /// The study limits it to this share, but it was not throttled more than the others.
    QuotaNotSeen {
        quota_of_study: f64,
    },
    /// The study gives it its own number of clients.
    OwnClients {
        clients: u64,
    },
    NotKnown {
        alike: Vec<Suspect>,
        not_counted: Vec<Suspect>,
    },
}

/// The causes that are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suspect {
    CpuQuota,
    WaitingForCpu,
    StolenTime,
    DiskTime,
    Interrupts,
}

/// The counted machines of one trial, by number.
struct Trial {
    block: u32,
    machines: BTreeMap<u32, CountedTrial>,
}

/// The reasons for every machine that is held back or behind.
pub fn of_cell(run: &Run, cell: &Cell, slots: &[Slot]) -> Vec<Reason> {
    let worse = |slot: &&Slot| slot.position == Position::Below;
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
    let (mut found, mut alike, mut not_counted): (Vec<Cause>, Vec<Suspect>, Vec<Suspect>) = Default::default();
    for question in &QUESTIONS {
        let Some(against) = against(trials, machine, [question.of, question.of_others]) else {
            not_counted.push(question.suspect);
            continue;
        };
        // Some kernels count a throttled thread as one that waits for a CPU.
        let is_throttled = found.iter().any(|cause| matches!(cause, Cause::CpuQuota { .. }));
        match (question.told)(&against, cell, machine) {
            None => alike.push(question.suspect),
            Some(Cause::WaitingForCpu { .. }) if is_throttled => {}
            Some(cause) => found.push(cause),
        }
    }
    let is_throttled = found.iter().any(|cause| matches!(cause, Cause::CpuQuota { .. }));
    if found.is_empty() {
        found.push(Cause::NotKnown { alike, not_counted });
    }
    found.extend(by_study(cell, machine, is_throttled));
    found.into_iter().map(|cause| Reason { machine, cause }).collect()
}

type Measure = fn(&CountedTrial) -> Option<f64>;

/// One possible cause, and how to read it.
struct Question {
    suspect: Suspect,
    of: Measure,
    of_others: Measure,
    told: fn(&Against, &Cell, u32) -> Option<Cause>,
}

const QUESTIONS: [Question; 5] = [
    Question {
        suspect: Suspect::CpuQuota,
        of: CountedTrial::throttled_share,
        // A machine without a limit may have no group that counts this; then it was never throttled.
        of_others: |trial| trial.throttled_share().or_else(|| trial.host.is_ok().then_some(0.0)),
        told: throttled,
    },
    Question {
        suspect: Suspect::WaitingForCpu,
        of: CountedTrial::waited_of_wanted,
        of_others: CountedTrial::waited_of_wanted,
        told: |found, _, _| {
            let (own, others) = found.both();
            found.is_more_by(WAITED).then_some(Cause::WaitingForCpu { own, others })
        },
    },
    Question {
        suspect: Suspect::StolenTime,
        of: CountedTrial::stolen_share,
        of_others: CountedTrial::stolen_share,
        told: |found, _, _| {
            let (own, others) = found.both();
            found.is_more_by(STOLEN).then_some(Cause::StolenTime { own, others })
        },
    },
    Question {
        suspect: Suspect::DiskTime,
        of: CountedTrial::ms_of_an_operation,
        of_others: CountedTrial::ms_of_an_operation,
        told: |found, _, _| {
            let ((own, others), times) = (found.both(), found.times()?.clone());
            Some(Cause::DiskTime { own, others, times })
        },
    },
    Question {
        suspect: Suspect::Interrupts,
        of: CountedTrial::interrupts_each,
        of_others: CountedTrial::interrupts_each,
        told: |found, _, _| {
            let ((own, others), times) = (found.both(), found.times()?.clone());
            Some(Cause::Interrupts { own, others, times })
        },
    },
];

/// A machine against the mean of the others of its trials, over blocks.
struct Against {
    own: Estimate,
    others: Estimate,
    /// Its own value minus the others'.
    difference: Estimate,
    /// Its own value over the others'; `None` if either is zero.
    ratio: Option<Estimate>,
}

impl Against {
    fn both(&self) -> (Estimate, Estimate) {
        (self.own.clone(), self.others.clone())
    }

    fn is_more_by(&self, least: f64) -> bool {
        nearest_end(&self.difference, 0.0).is_some_and(|end| end > least)
    }

    fn times(&self) -> Option<&Estimate> {
        self.ratio.as_ref().filter(|ratio| nearest_end(ratio, 1.0).is_some_and(|end| end > SMALLEST_RATIO))
    }
}

/// `None` if no trial has the measure for all of its machines.
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

fn throttled(found: &Against, cell: &Cell, machine: u32) -> Option<Cause> {
    let (own, others) = found.both();
    let several_cpus = cell.settings.machine().vcpus != Some(1);
    let quota_of_study = quota(cell, machine);
    found.is_more_by(THROTTLED).then_some(Cause::CpuQuota { own, others, several_cpus, quota_of_study })
}

/// The `machine.odd` table if it is about this machine.
fn odd(cell: &Cell, machine: u32) -> Option<&Odd> {
    cell.odd().filter(|odd| odd.number == machine)
}

fn quota(cell: &Cell, machine: u32) -> Option<f64> {
    odd(cell, machine)?.cpu_quota
}

/// What the study does to a machine and no counter has shown.
fn by_study(cell: &Cell, machine: u32, is_throttled: bool) -> impl Iterator<Item = Cause> {
    let quota = quota(cell, machine).filter(|_| !is_throttled);
    let quota = quota.map(|quota_of_study| Cause::QuotaNotSeen { quota_of_study });
    let clients =
        odd(cell, machine).and_then(|odd| odd.clients).map(|clients| Cause::OwnClients { clients: clients.into() });
    quota.into_iter().chain(clients)
}

#[cfg(test)]
mod tests;
