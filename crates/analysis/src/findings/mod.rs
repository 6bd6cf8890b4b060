//! What the analysis reports beside the figures: reasons to doubt them, each with a code, a severity, a subject, and
//! quantities. The report puts them into words.
//!
//! A code is stable: studies accept findings by it, and programs look for it. [`of_run`] collects the findings of one
//! run; those of two runs are in [`crate::two_runs`].

mod concerns;
mod gathered;
mod host_fact;
pub mod of_run;

pub(crate) use gathered::Gathered;

pub use self::host_fact::HostFact;
use crate::estimate::Estimate;
use crate::missing::Missing;
use record::facts::Fact;
use record::plan::Plan;
use record::settings::Differing;
use record::trial::Outcome;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub severity: Severity,
    #[serde(flatten)]
    pub what: What,
    #[serde(flatten)]
    pub subject: Subject,
    /// Why the study accepts it, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The comparison may be wrong, or a part of it is missing.
    Serious,
    /// Worth knowing before believing small differences.
    Caution,
}

/// Whether the answer of a run may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stamp {
    #[default]
    Usable,
    /// Small differences may have other causes.
    WithCare,
    /// The figures do not answer the question.
    NotUsable,
}

/// What a finding is about. If everything is empty, it is about the whole run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Subject {
    /// Which of two runs it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Which>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contender: Option<String>,
    /// Scenario and swept values.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub coordinates: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Which {
    Old,
    New,
}

/// A code, the severity of its findings, and whether a study may accept them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    pub name: &'static str,
    pub severity: Severity,
    pub acceptable: bool,
    /// What it does to the answer.
    pub stamp: Stamp,
}

/// Each line: code, severity, whether a study may accept it, its stamp on the answer, and the variant with its quantities.
macro_rules! catalog {
    ($($(#[doc = $doc:literal])* $code:literal $severity:ident $acceptable:ident $stamp:ident
        $name:ident $({ $($(#[$about:meta])* $field:ident: $kind:ty),* $(,)? })?;)*) => {
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "code", content = "quantities")]
        pub enum What {
            $($(#[doc = $doc])* #[serde(rename = $code)] $name $({ $($(#[$about])* $field: $kind),* })?,)*
        }

        pub const CODES: &[Code] = &[
            $(Code {
                name: $code, severity: Severity::$severity, acceptable: catalog!(@$acceptable), stamp: Stamp::$stamp,
            },)*
        ];

        impl What {
            pub fn code(&self) -> &'static str {
                match self { $(Self::$name { .. } => $code,)* }
            }

            fn severity(&self) -> Severity {
                match self { $(Self::$name { .. } => Severity::$severity,)* }
            }

            /// What becomes of the answer, unless the study accepts it.
            pub fn stamp(&self) -> Stamp {
                match self { $(Self::$name { .. } => Stamp::$stamp,)* }
            }
        }
    };
    (@acceptable) => { true };
    (@never) => { false };
}

catalog! {
    "rehearsed" Serious never NotUsable Rehearsed;
    "trial-not-completed" Serious never WithCare TrialNotCompleted { outcome: Outcome };
    /// The trials are those missing.
    "trials-missing" Serious never WithCare TrialsMissing { planned: usize };
    "check-violated" Serious never NotUsable CheckViolated { check: String, rule: String, seen: Option<String> };
    "record-disagrees" Serious never WithCare RecordDisagrees { how: String };
    "vm-emulated" Serious acceptable NotUsable VmEmulated {
        /// What decided it, as the platform said it.
        how: String,
    };
    "settings-differ" Serious acceptable NotUsable SettingsDiffer { settings: Vec<FactDiffers> };
    "servers-differ" Serious acceptable NotUsable ServersDiffer { servers: Vec<Told> };
    "loaded-data-differ" Serious never NotUsable LoadedDataDiffer { tables: Vec<TableSums> };
    "work-unequal" Serious acceptable NotUsable WorkUnequal { work: Vec<UnequalWork> };
    "disk-work-unequal" Caution acceptable Usable DiskWorkUnequal { work: Vec<UnequalWork> };
    "storage-differs" Serious acceptable NotUsable StorageDiffers { fact: String, values: Vec<Shared> };
    "not-durable" Serious acceptable NotUsable NotDurable { verdict: String };
    "durability-differs" Serious acceptable NotUsable DurabilityDiffers { values: Vec<Shared> };
    "clock-wrong" Serious acceptable NotUsable ClockWrong {
        /// The least share by which it ran too fast or too slow.
        share: f64,
    };
    "noted-by-trial" Serious acceptable WithCare NotedByTrial { note: String };
    "no-baseline" Serious acceptable NotUsable NoBaseline;
    "host-changed" Serious acceptable NotUsable HostChanged { fact: HostFact, values: Vec<InTrials> };
    "machine-changed" Serious acceptable NotUsable MachineChanged { fact: String, values: Vec<InTrials> };
    "host-busy-beside-one" Serious acceptable NotUsable HostBusyBesideOne {
        /// Shares of the host's CPU time that other processes took.
        loud: String, most: f64, quiet: String, least: f64,
    };
    "host-disk-busy-beside-one" Caution acceptable WithCare HostDiskBusyBesideOne {
        /// Bytes that other processes read and wrote in a second.
        loud: String, most: f64, quiet: String, least: f64,
    };
    "machines-unlike" Serious acceptable NotUsable MachinesUnlike { properties: Vec<Property> };
    "trials-left-out" Serious acceptable WithCare TrialsLeftOut {
        /// Beside a machine whose load comes or goes.
        beside: Option<u32>,
        why: Vec<Missing>,
    };
    "hosts-differ" Serious acceptable WithCare HostsDiffer { changes: Vec<Change> };
    "seeds-differ" Serious acceptable WithCare SeedsDiffer { old: u64, new: u64 };
    "runs-differ" Serious acceptable WithCare RunsDiffer { part: Part, cells: Vec<String>, changes: Vec<Change> };
    "work-changed" Serious acceptable WithCare WorkChanged { cells: Vec<String>, work: Vec<ChangedWork> };
    "data-unchecked" Caution acceptable WithCare DataUnchecked;
    "host-busy" Caution acceptable WithCare HostBusy { share: f64 };
    "host-cpu-stolen" Caution acceptable WithCare HostCpuStolen { share: f64 };
    "host-memory-short" Caution acceptable WithCare HostMemoryShort {
        /// Of a window in which something waited for memory.
        share: f64,
    };
    "host-swapping" Caution acceptable WithCare HostSwapping { pages: f64 };
    "host-frequency" Caution acceptable WithCare HostFrequency { slow_trial: u32, low_mhz: f64, fast_trial: u32, high_mhz: f64 };
    "littles-law" Caution acceptable WithCare LittlesLaw {
        trial: u32, machine: Option<u32>, accounted: f64, at_least: Option<f64>, at_most: f64, tolerance: f64,
    };
    "host-is-guest" Caution acceptable Usable HostIsGuest { of: Option<String> };
    /// The contender ran on other hosts than its baseline.
    "hosts-apart" Caution acceptable WithCare HostsApart {
        baseline: String, baseline_hosts: Vec<String>, hosts: Vec<String>,
    };
    "hosts-disagree" Caution acceptable WithCare HostsDisagree { ratios: Vec<HostRatio> };
    "systems-differ" Caution acceptable Usable SystemsDiffer { facts: Vec<FactDiffers> };
    "sending-differs" Caution acceptable WithCare SendingDiffers { values: Vec<Shared> };
    "engine-waited" Caution acceptable Usable EngineWaited { waits: Vec<EngineWait> };
    "not-honoured" Caution acceptable WithCare NotHonoured { wish: String, fact: Fact };
    "trials-apart" Caution acceptable WithCare TrialsApart {
        /// The fastest trial over the slowest.
        times: f64,
        /// The standard deviation of their logarithms; 0 in old files.
        #[serde(default)]
        spread: f64,
    };
    "not-steady" Caution acceptable WithCare NotSteady { drift: Estimate, drifting: usize, of: usize };
    "not-settled" Caution acceptable WithCare NotSettled { unsettled: usize, of: usize };
    "halves-unlike" Caution acceptable WithCare HalvesUnlike {
        /// The second half's throughput over the first's.
        second_half: f64,
    };
    "warm-up-too-short" Caution acceptable WithCare WarmUpTooShort { late: usize, of: usize, change: f64 };
    /// No whole cycle from one checkpoint to the next.
    "window-too-short" Caution acceptable WithCare WindowTooShort;
    "transactions-failed" Caution acceptable WithCare TransactionsFailed { failed: u64, of: u64 };
    "too-few-blocks" Caution acceptable NotUsable TooFewBlocks { blocks: u32, needed: usize };
    "windows-apart" Caution acceptable WithCare WindowsApart { worst_ms: f64 };
    "host-restarted" Caution acceptable Usable HostRestarted;
    "builds-differ" Caution acceptable Usable BuildsDiffer { old: String, new: String };
}

/// How long a contender's load engine waited for CPUs, in its worst trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EngineWait {
    pub contender: String,
    /// Of the measured window.
    pub share: f64,
    pub us_per_turn: f64,
}

/// One contender's value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    pub contender: String,
    pub value: String,
}

/// Contender over baseline on one of several hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostRatio {
    pub host: String,
    pub ratio: Estimate,
}

/// A value and the contenders that have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shared {
    pub value: String,
    pub contenders: Vec<String>,
}

/// A value and the trials in which it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InTrials {
    pub value: String,
    pub trials: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactDiffers {
    pub fact: String,
    pub values: Vec<Shared>,
}

/// Rows and checksum of a loaded table, by contender; a contender without it is not listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSums {
    pub table: String,
    pub sums: Vec<Told>,
    pub without: Vec<String>,
}

/// A measure that differs from the baseline's by more than is tolerated, per transaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnequalWork {
    pub measure: String,
    pub baseline: String,
    pub contender: String,
    pub of_baseline: f64,
    pub of_contender: f64,
    /// The share by which they were allowed to differ.
    pub tolerance: f64,
}

/// A measure of work per transaction, in the old run and in the new one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangedWork {
    pub measure: String,
    pub old: f64,
    pub new: f64,
}

/// A property in which machines of a trial differ, with the machines that have each value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Property {
    pub name: String,
    pub values: Vec<OfMachines>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OfMachines {
    pub value: String,
    /// Their numbers, counted from 1.
    pub machines: Vec<u32>,
}

/// A value in the old run and the different one in the new run; `None` where it is absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub name: String,
    pub old: Option<String>,
    pub new: Option<String>,
}

impl From<Differing> for Change {
    fn from(Differing { key, old, new }: Differing) -> Self {
        let [old, new] = [old, new].map(|value| value.map(|value| value.to_string()));
        Self { name: key, old, new }
    }
}

/// The part of two runs that was compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    Settings,
    Machines,
    Servers,
    Loads,
}

impl Finding {
    /// About the whole run.
    pub fn new(what: What) -> Self {
        Self { severity: what.severity(), what, subject: Subject::default(), accepted: None }
    }

    #[must_use]
    pub fn of(mut self, contender: &str) -> Self {
        self.subject.contender = Some(contender.to_owned());
        self
    }

    #[must_use]
    pub fn at(mut self, coordinates: &str) -> Self {
        coordinates.clone_into(&mut self.subject.coordinates);
        self
    }

    #[must_use]
    pub fn in_trials(mut self, trials: impl IntoIterator<Item = u32>) -> Self {
        self.subject.trials = trials.into_iter().collect();
        self
    }

    #[must_use]
    pub fn in_run(mut self, run: Which) -> Self {
        self.subject.run = Some(run);
        self
    }

    fn rank(&self) -> (bool, Reverse<Stamp>, Severity) {
        (self.accepted.is_some(), Reverse(self.what.stamp()), self.severity)
    }
}

/// Marks what a plan accepts. Puts the worst first and accepted findings last; otherwise the order stays.
pub(crate) fn accept(findings: &mut [Finding], plan: &Plan) {
    for finding in &mut *findings {
        let code = finding.what.code();
        let may = CODES.iter().any(|known| known.name == code && known.acceptable);
        finding.accepted = plan.accept.get(code).filter(|_| may).cloned();
    }
    findings.sort_by_key(Finding::rank);
}
