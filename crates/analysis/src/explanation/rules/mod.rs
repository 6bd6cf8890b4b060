//! What may be said about two contenders, and under which conditions: a table of rules.
//!
//! A rule reads the evidence and gives a reason, says that it cannot know, or is silent because its condition does not hold.

mod cpu;
mod disk;
mod memory;
mod work;

use super::evidence::{BOTH, Evidence, FEWEST_SAMPLES, OfBoth};
use crate::counted::Unseen;
use crate::estimate::Estimate;
use crate::measures::Measure;
use crate::missing::Missing;
use crate::student::FEWEST_BLOCKS;
use record::telemetry::Side;
use serde::{Deserialize, Serialize};

/// A ratio whose interval comes nearer to 1 than this is no explanation.
const SMALLEST_RATIO: f64 = 1.05;

/// What a rule states, with its quantities; the report puts it into words. Where a reason is about one machine only,
/// `who` has its number beside the name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", content = "quantities", rename_all = "kebab-case")]
pub enum Reason {
    HeldBackDisk {
        who: String,
        busy: Estimate,
        per_second: Estimate,
        /// The coefficient of variation from second to second.
        varies: Estimate,
        /// Milliseconds per operation of the guest's device, and of the host's below it.
        guest: Estimate,
        host: Estimate,
        busy_below: Option<Estimate>,
    },
    SharedCpu {
        who: String,
        /// True if all vCPUs waited; the named one waited longest.
        all: bool,
        vcpu: String,
        of_wanted: Estimate,
        /// For all vCPUs if all waited, otherwise for the named one.
        of_window: Estimate,
        other: Option<OfOther>,
    },
    StolenTime {
        who: String,
        share: Estimate,
    },
    StolenDisagreement {
        who: String,
        by_host: Estimate,
        by_machine: Estimate,
    },
    CpuQuota {
        who: String,
        share: Estimate,
    },
    MigratingVcpus {
        who: String,
        per_second: Estimate,
    },
    /// In kHz.
    CpuFrequency {
        #[serde(flatten)]
        pair: OfBoth,
        ratio: Estimate,
    },
    /// In milliseconds; `longer` is by how much the guest saw it take longer.
    DiskTimeBetweenLayers {
        who: String,
        operation: Operation,
        longer: Estimate,
        guest: Estimate,
        host: Estimate,
    },
    DiskTimeOfContenders {
        operation: Operation,
        #[serde(flatten)]
        pair: OfBoth,
        ratio: Estimate,
    },
    WorkPerTransaction {
        measure: Measure,
        #[serde(flatten)]
        pair: OfBoth,
        ratio: Estimate,
    },
    ExitsPerTransaction {
        who: String,
        exits: Estimate,
    },
    Locks {
        who: String,
        waited_ms: Estimate,
        share: Estimate,
    },
    MemoryPressure {
        who: String,
        share: Estimate,
    },
    Swapping {
        who: String,
        per_second: Estimate,
    },
    StoragePressure {
        #[serde(flatten)]
        pair: OfBoth,
    },
}

/// What cannot be said, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "unknown", rename_all = "kebab-case")]
pub enum Unknown {
    TooFewBlocks {
        blocks: usize,
        needed: usize,
    },
    TooFewSamples {
        who: String,
        needed: usize,
    },
    VcpusNotSampled,
    /// Some kernels count throttled time as waiting for a CPU.
    SharingBehindQuota {
        who: String,
    },
    DisksNotCounted,
    DiskBelowNotCounted {
        who: String,
        busy: Estimate,
    },
    LocksNotAddedUp,
    /// A side, or one probe of it, saw nothing.
    NotCounted {
        contenders: Vec<String>,
        side: Side,
        probe: Option<String>,
        why: Missing,
    },
}

/// The share of the window that the vCPUs of the other contender waited.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfOther {
    pub who: String,
    pub share: Estimate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    Read,
    Write,
}

/// The outcome of a rule: a reason, or what cannot be said.
type Said = Result<Reason, Unknown>;

/// The conditions of rules are described in docs/findings.md.
struct Rule {
    of: Subject,
    says: fn(&Evidence<'_>) -> Vec<Said>,
}

const fn rule(of: Subject, says: fn(&Evidence<'_>) -> Vec<Said>) -> Rule {
    Rule { of, says }
}

/// What a reason is about, where machines ran side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    EachMachine,
    All,
}

const RULES: [Rule; 15] = [
    rule(Subject::EachMachine, disk::held_back),
    rule(Subject::EachMachine, cpu::shared),
    rule(Subject::EachMachine, cpu::stolen),
    rule(Subject::EachMachine, cpu::disagreement),
    rule(Subject::EachMachine, cpu::quota),
    rule(Subject::EachMachine, cpu::migrating),
    rule(Subject::All, cpu::frequency),
    rule(Subject::All, disk::between_layers),
    rule(Subject::All, disk::of_contenders),
    rule(Subject::All, work::each),
    rule(Subject::All, work::exits),
    rule(Subject::All, work::locks),
    rule(Subject::EachMachine, memory::pressure),
    rule(Subject::EachMachine, memory::swapping),
    rule(Subject::EachMachine, memory::storage_pressure),
];

/// The reasons found, and what could not be said.
pub fn apply(evidence: &Evidence<'_>) -> (Vec<Reason>, Vec<Unknown>) {
    let mut not_counted = not_counted(evidence);
    if let Some(why) = too_little(evidence) {
        not_counted.insert(0, why);
        return (Vec::new(), not_counted);
    }
    let (mut reasons, mut unknown) = (Vec::new(), Vec::new());
    for said in RULES.iter().flat_map(|rule| said_by(rule, evidence)) {
        match said {
            Ok(reason) => reasons.push(reason),
            // Several machines may lack the same.
            Err(what) if unknown.contains(&what) => {}
            Err(what) => unknown.push(what),
        }
    }
    unknown.extend(not_counted);
    (reasons, unknown)
}

fn said_by(rule: &Rule, evidence: &Evidence<'_>) -> Vec<Said> {
    let machines = evidence.machines();
    if machines.is_empty() || rule.of == Subject::All {
        return (rule.says)(evidence);
    }
    let of_machine = |machine| {
        let names = BOTH.map(|who| evidence.called(who, machine));
        (rule.says)(&evidence.of_machine(machine, &names))
    };
    machines.into_iter().flat_map(of_machine).collect()
}

/// Why nothing can be said at all.
fn too_little(evidence: &Evidence<'_>) -> Option<Unknown> {
    let blocks = evidence.blocks.len();
    if blocks < FEWEST_BLOCKS {
        return Some(Unknown::TooFewBlocks { blocks, needed: FEWEST_BLOCKS });
    }
    let seen = |who| {
        evidence.has_samples(who, |trial| {
            [Side::Host, Side::Machine].into_iter().filter_map(|side| Some(trial.side(side)?.samples)).max()
        })
    };
    let few = BOTH.into_iter().find(|who| !seen(*who))?;
    Some(Unknown::TooFewSamples { who: evidence.name(few).to_owned(), needed: FEWEST_SAMPLES })
}

/// Sides and probes that saw nothing: each reason once, with the contenders it applies to.
fn not_counted(evidence: &Evidence<'_>) -> Vec<Unknown> {
    let mut reasons: Vec<(Side, Unseen, Vec<String>)> = Vec::new();
    for who in BOTH {
        let mut add = |side: Side, unseen: &Unseen| {
            let name = evidence.name(who).to_owned();
            match reasons.iter_mut().find(|(of, known, _)| *of == side && known == unseen) {
                Some((.., names)) if names.contains(&name) => {}
                Some((.., names)) => names.push(name),
                None => reasons.push((side, unseen.clone(), vec![name])),
            }
        };
        for trial in evidence.trials(who) {
            for (side, counts) in [(Side::Machine, &trial.machine), (Side::Host, &trial.host)] {
                match counts {
                    Err(why) => add(side, &Unseen { probe: None, why: why.clone() }),
                    Ok(counts) => counts.unavailable.iter().for_each(|unseen| add(side, unseen)),
                }
            }
        }
    }
    // Sorted, so that the order in which trials are listed cannot matter.
    reasons.sort_by(|(one, unseen, _), (other, next, _)| (&unseen.probe, one).cmp(&(&next.probe, other)));
    let unknown = |(side, Unseen { probe, why }, contenders): (Side, Unseen, Vec<String>)| Unknown::NotCounted {
        contenders,
        side,
        probe,
        why,
    };
    reasons.into_iter().map(unknown).collect()
}
