//! What may be said about two contenders, and under which conditions: a table of rules.
//!
//! A rule reads the evidence and gives a reason, says that it cannot know, or is silent because its condition does not hold.

mod cpu;
mod disk;
mod work;

use super::evidence::{BOTH, Evidence, FEWEST_SAMPLES, MeasurePair, OfBoth, Who};
use crate::counted::{CountedTrial, SideCounts, Unseen};
use crate::estimate::Estimate;
use crate::gathered::{by_first, distinct};
use crate::missing::Missing;
use crate::student::FEWEST_BLOCKS;
use record::telemetry::Side;
use serde::{Deserialize, Serialize};

/// From these limits on, the whole interval above them, something is a reason: shares of the window, or so many a second.
const STOLEN: f64 = 0.02;
const THROTTLED: f64 = 0.01;
const WAITED_FOR_MEMORY: f64 = 0.01;
const MIGRATIONS: f64 = 10.0;
const SWAPPED_PAGES: f64 = 1.0;

/// What a rule states, with its quantities; the report puts it into words. Where a reason is about one machine only,
/// `who` has its number beside the name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", content = "quantities", rename_all = "kebab-case")]
pub enum Reason {
    HeldBackDisk(HeldBackDisk),
    SharedCpu(SharedCpu),
    StolenTime(ShareOf),
    StolenDisagreement {
        who: String,
        by_host: Estimate,
        by_machine: Estimate,
    },
    CpuQuota(ShareOf),
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
    WorkPerTransaction(MeasurePair),
    ExitsPerTransaction {
        who: String,
        exits: Estimate,
    },
    Locks {
        who: String,
        waited_ms: Estimate,
        share: Estimate,
    },
    MemoryPressure(ShareOf),
    Swapping {
        who: String,
        per_second: Estimate,
    },
    StoragePressure(OfBoth),
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldBackDisk {
    pub who: String,
    pub busy: Estimate,
    pub per_second: Estimate,
    /// The coefficient of variation from second to second.
    pub varies: Estimate,
    /// Milliseconds per operation of the guest's device, and of the host's below it.
    pub guest: Estimate,
    pub host: Estimate,
    pub busy_below: Option<Estimate>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SharedCpu {
    pub who: String,
    /// True if all vCPUs waited; the named one waited longest.
    pub all: bool,
    pub vcpu: String,
    pub of_wanted: Estimate,
    /// For all vCPUs if all waited, otherwise for the named one.
    pub of_window: Estimate,
    pub other: Option<ShareOf>,
}

/// A share of the window, or of the CPUs' time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShareOf {
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
type RuleOutcome = Result<Reason, Unknown>;

/// What a reason is about, where machines ran side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReasonSubject {
    EachMachine,
    All,
}

/// A rule. The conditions of all are described in docs/findings.md.
enum Rule {
    /// Says anything that follows from the evidence.
    Says(fn(&Evidence<'_>) -> Vec<RuleOutcome>),
    /// Says something about each contender.
    OfEach(fn(&Evidence<'_>, Who) -> Option<RuleOutcome>),
    /// Gives a reason for each contender of which a quantity is surely above a limit.
    Above(f64, fn(&CountedTrial) -> Option<f64>, fn(String, Estimate) -> Reason),
}

impl Rule {
    fn says(&self, evidence: &Evidence<'_>) -> Vec<RuleOutcome> {
        match self {
            Self::Says(says) => says(evidence),
            Self::OfEach(says) => BOTH.into_iter().filter_map(|who| says(evidence, who)).collect(),
            Self::Above(limit, quantity, reason) => {
                let of = |who| Some(Ok(reason(evidence.name(who), evidence.above(*limit, who, quantity)?)));
                BOTH.into_iter().filter_map(of).collect()
            }
        }
    }
}

const RULES: [(ReasonSubject, Rule); 15] = [
    (ReasonSubject::EachMachine, Rule::OfEach(disk::held_back)),
    (ReasonSubject::EachMachine, Rule::Says(cpu::shared)),
    (
        ReasonSubject::EachMachine,
        Rule::Above(STOLEN, CountedTrial::stolen_share, |who, share| Reason::StolenTime(ShareOf { who, share })),
    ),
    (ReasonSubject::EachMachine, Rule::OfEach(cpu::disagreement)),
    (
        ReasonSubject::EachMachine,
        Rule::Above(THROTTLED, CountedTrial::throttled_share, |who, share| Reason::CpuQuota(ShareOf { who, share })),
    ),
    (
        ReasonSubject::EachMachine,
        Rule::Above(MIGRATIONS, CountedTrial::migrations_per_second, |who, per_second| Reason::MigratingVcpus {
            who,
            per_second,
        }),
    ),
    (ReasonSubject::All, Rule::Says(cpu::frequency)),
    (ReasonSubject::All, Rule::Says(disk::between_layers)),
    (ReasonSubject::All, Rule::Says(disk::of_contenders)),
    (ReasonSubject::All, Rule::Says(work::each)),
    // Exits are a reason wherever they have an interval.
    (
        ReasonSubject::All,
        Rule::Above(f64::NEG_INFINITY, CountedTrial::exits_each, |who, exits| Reason::ExitsPerTransaction {
            who,
            exits,
        }),
    ),
    (ReasonSubject::All, Rule::Says(work::locks)),
    (
        ReasonSubject::EachMachine,
        Rule::Above(WAITED_FOR_MEMORY, work::memory_pressure, |who, share| {
            Reason::MemoryPressure(ShareOf { who, share })
        }),
    ),
    (
        ReasonSubject::EachMachine,
        Rule::Above(SWAPPED_PAGES, work::swapped, |who, per_second| Reason::Swapping { who, per_second }),
    ),
    (ReasonSubject::EachMachine, Rule::Says(disk::pressure)),
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
            Err(what) => unknown.push(what),
        }
    }
    // Several machines may lack the same.
    (reasons, distinct(unknown.into_iter().chain(not_counted)))
}

fn said_by((subject, rule): &(ReasonSubject, Rule), evidence: &Evidence<'_>) -> Vec<RuleOutcome> {
    let machines = evidence.machines();
    if machines.is_empty() || *subject == ReasonSubject::All {
        return rule.says(evidence);
    }
    let of_machine = |machine| {
        let names = BOTH.map(|who| evidence.called(who, machine));
        rule.says(&evidence.of_machine(machine, &names))
    };
    machines.into_iter().flat_map(of_machine).collect()
}

/// Why nothing can be said at all.
fn too_little(evidence: &Evidence<'_>) -> Option<Unknown> {
    let blocks = evidence.blocks.len();
    if blocks < FEWEST_BLOCKS {
        return Some(Unknown::TooFewBlocks { blocks, needed: FEWEST_BLOCKS });
    }
    let is_sampled = |trial: &CountedTrial| {
        let samples = sides(trial).into_iter().filter_map(|(_, counts)| Some(counts.as_ref().ok()?.samples));
        samples.max().is_some_and(|samples| samples >= FEWEST_SAMPLES)
    };
    let few = BOTH.into_iter().find(|who| !evidence.trials(*who).all(is_sampled))?;
    Some(Unknown::TooFewSamples { who: evidence.name(few), needed: FEWEST_SAMPLES })
}

/// Sides and probes that saw nothing: each reason once, with the contenders it applies to.
fn not_counted(evidence: &Evidence<'_>) -> Vec<Unknown> {
    let of_side = |(side, counts): (Side, &Result<SideCounts, Missing>)| {
        let unseen = match counts {
            Ok(counts) => counts.unavailable.clone(),
            Err(why) => vec![Unseen { probe: None, why: why.clone() }],
        };
        unseen.into_iter().map(move |unseen| (side, unseen))
    };
    let of =
        |who| evidence.trials(who).flat_map(sides).flat_map(of_side).map(move |unseen| (unseen, evidence.name(who)));
    let mut reasons = by_first(BOTH.into_iter().flat_map(of));
    // Sorted, so that the order in which trials are listed cannot matter.
    reasons.sort_by(|((one, unseen), _), ((other, next), _)| (&unseen.probe, one).cmp(&(&next.probe, other)));
    let unknown = |((side, Unseen { probe, why }), mut contenders): ((Side, Unseen), Vec<String>)| {
        contenders.dedup();
        Unknown::NotCounted { contenders, side, probe, why }
    };
    reasons.into_iter().map(unknown).collect()
}

fn sides(trial: &CountedTrial) -> [(Side, &Result<SideCounts, Missing>); 2] {
    [(Side::Machine, &trial.machine), (Side::Host, &trial.host)]
}
