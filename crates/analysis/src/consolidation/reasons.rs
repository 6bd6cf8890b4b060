//! Why one of several machines gets less than the others, as far as the counters of each show.
//!
//! Each measure of a machine that is held back or behind is compared with that of the others of the same trials. A
//! cause is named only where the whole interval of the difference leaves no doubt. The causes are a table; if none is
//! seen, the report says so. What the study itself did to a machine is named beside what was seen.

use super::slots::StartSlot;
use crate::contrast::Position;
use crate::counted::{self, CountedTrial};
use crate::estimate::Estimate;
use crate::explanation::evidence::{SMALLEST_RATIO, nearest_end};
use crate::gathered::by_key;
use crate::student;
use crate::validity;
use record::plan::Cell;
use record::run::Run;
use record::settings::MachineException;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A reason why one machine gets less.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineReason {
    /// Counted from 1.
    pub machine: u32,
    #[serde(flatten)]
    pub cause: Cause,
}

/// A difference of the machine from the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "cause", content = "quantities", rename_all = "kebab-case")]
pub enum Cause {
    /// Shares of the window. With several CPUs, the kernel adds up the time that each was held back.
    CpuQuota {
        #[serde(flatten)]
        found: OwnAndOthers,
        several_cpus: bool,
        quota_of_study: Option<f64>,
    },
    /// Shares of the time in which it wanted to run.
    WaitingForCpu(OwnAndOthers),
    StolenTime(OwnAndOthers),
    /// Milliseconds per operation.
    DiskTime(OwnAndOthers),
    /// Interrupts per transaction.
    Interrupts(OwnAndOthers),
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

/// A quantity of the machine, and the mean of the others'.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OwnAndOthers {
    pub own: Estimate,
    pub others: Estimate,
    /// The one over the other, for causes that are known by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Estimate>,
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

impl Suspect {
    fn cause(self, found: OwnAndOthers, cell: &Cell, machine: u32) -> Cause {
        match self {
            Self::CpuQuota => Cause::CpuQuota {
                found,
                several_cpus: cell.settings.machine().vcpus != Some(1),
                quota_of_study: exception(cell, machine).and_then(|exception| exception.cpu_quota),
            },
            Self::WaitingForCpu => Cause::WaitingForCpu(found),
            Self::StolenTime => Cause::StolenTime(found),
            Self::DiskTime => Cause::DiskTime(found),
            Self::Interrupts => Cause::Interrupts(found),
        }
    }
}

/// The reasons for every machine that is held back or behind.
pub fn of_cell(run: &Run, cell: &Cell, slots: &[StartSlot]) -> Vec<MachineReason> {
    let worse = |slot: &&StartSlot| slot.position == Position::Below;
    let worse: Vec<u32> = slots.iter().filter(worse).map(|slot| slot.machine).collect();
    if worse.is_empty() {
        return Vec::new();
    }
    let trials: Vec<CountedTrial> = validity::valid_trials(run, cell.id).filter_map(counted::of_trial).collect();
    worse.into_iter().flat_map(|machine| of_machine(&trials, cell, machine)).collect()
}

fn of_machine(trials: &[CountedTrial], cell: &Cell, machine: u32) -> Vec<MachineReason> {
    let (mut found, mut alike, mut not_counted): (Vec<Cause>, Vec<Suspect>, Vec<Suspect>) = Default::default();
    let mut is_throttled = false;
    for (suspect, measures, least) in QUESTIONS {
        match against(trials, machine, measures).map(|against| against.surely(least)) {
            None => not_counted.push(suspect),
            Some(None) => alike.push(suspect),
            // Some kernels count a throttled thread as one that waits for a CPU.
            Some(Some(_)) if suspect == Suspect::WaitingForCpu && is_throttled => {}
            Some(Some(against)) => {
                is_throttled |= suspect == Suspect::CpuQuota;
                found.push(suspect.cause(against, cell, machine));
            }
        }
    }
    if found.is_empty() {
        found.push(Cause::NotKnown { alike, not_counted });
    }
    // The study itself may have slowed the machine down, without a counter that shows it.
    if let Some(exception) = exception(cell, machine) {
        let quota = exception.cpu_quota.filter(|_| !is_throttled);
        found.extend(quota.map(|quota_of_study| Cause::QuotaNotSeen { quota_of_study }));
        found.extend(exception.clients.map(|clients| Cause::OwnClients { clients: clients.into() }));
    }
    found.into_iter().map(|cause| MachineReason { machine, cause }).collect()
}

type ReasonMeasure = fn(&CountedTrial) -> Option<f64>;

/// How far a machine must surely be above the others.
#[derive(Clone, Copy)]
enum Least {
    By(f64),
    Times(f64),
}

/// The possible causes, how to read them of the machine and of the others, and from where on they are one. They are shares of the
/// window, or of the time in which it wanted to run, or ratios to the others.
const QUESTIONS: [(Suspect, [ReasonMeasure; 2], Least); 5] = [
    (Suspect::CpuQuota, [CountedTrial::throttled_share, throttled_if_limited], Least::By(0.01)),
    (Suspect::WaitingForCpu, [CountedTrial::waited_of_wanted; 2], Least::By(0.05)),
    (Suspect::StolenTime, [CountedTrial::stolen_share; 2], Least::By(0.02)),
    (Suspect::DiskTime, [CountedTrial::ms_of_an_operation; 2], Least::Times(SMALLEST_RATIO)),
    (Suspect::Interrupts, [CountedTrial::interrupts_each; 2], Least::Times(SMALLEST_RATIO)),
];

/// A machine without a limit may have no group that counts this; then it was never throttled.
fn throttled_if_limited(trial: &CountedTrial) -> Option<f64> {
    trial.throttled_share().or_else(|| trial.host.is_ok().then_some(0.0))
}

/// A machine against the mean of the others of its trials, over blocks.
struct AgainstMean {
    own: Estimate,
    others: Estimate,
    /// Its own value minus the others'.
    difference: Estimate,
    /// Its own value over the others'; `None` if either is zero.
    ratio: Option<Estimate>,
}

impl AgainstMean {
    /// Both values, if the machine's is surely above the others' by this.
    fn surely(self, least: Least) -> Option<OwnAndOthers> {
        let (found, neutral, least, times) = match least {
            Least::By(least) => (self.difference, 0.0, least, None),
            Least::Times(least) => (self.ratio.clone()?, 1.0, least, self.ratio),
        };
        let is_above = nearest_end(&found, neutral).is_some_and(|end| end > least);
        is_above.then_some(OwnAndOthers { own: self.own, others: self.others, times })
    }
}

/// `None` if no trial has the measure for all of its machines.
fn against(trials: &[CountedTrial], machine: u32, [of, of_others]: [ReasonMeasure; 2]) -> Option<AgainstMean> {
    let of_trial = |trial: &CountedTrial| {
        let (own, others): (Vec<_>, Vec<_>) = trial.machines.iter().partition(|(number, _)| *number == machine);
        let others = others.into_iter().map(|(_, other)| of_others(other));
        let others = others.collect::<Option<Vec<f64>>>().filter(|others| !others.is_empty())?;
        Some((trial.block, [of(&own.first()?.1)?, student::mean_of(&others)]))
    };
    let blocks: BTreeMap<u32, Vec<[f64; 2]>> = by_key(trials.iter().filter_map(of_trial));
    let mean = |pairs: &[[f64; 2]], side: usize| pairs.iter().map(|pair| pair[side]).sum::<f64>() / pairs.len() as f64;
    let pairs: Vec<[f64; 2]> = blocks.values().map(|pairs| [0, 1].map(|side| mean(pairs, side))).collect();
    let of_both = |of: fn(&[f64; 2]) -> f64| -> Vec<f64> { pairs.iter().map(of).collect() };
    Some(AgainstMean {
        own: student::mean_amount(of_both(|[own, _]| *own))?,
        others: student::mean_amount(of_both(|[_, others]| *others))?,
        difference: student::mean(of_both(|[own, others]| own - others))?,
        ratio: student::geometric_mean(&of_both(|[own, others]| own / others)),
    })
}

/// The `machine.exception` table if it is about this machine.
fn exception(cell: &Cell, machine: u32) -> Option<&MachineException> {
    cell.exception().filter(|exception| exception.number == machine)
}

#[cfg(test)]
mod tests;
