//! Everything about a code, in one place: what its findings mean, their limits, what to do, and the quantities of each kind.
//! `bakeoff explain`, the page, the schema and the table of docs/findings.md come from here.

use super::{
    ChangedWork, ComparedPart, ContenderValue, EngineWait, FactDiffers, HostFact, HostRatio, InTrials, Property,
    Severity, SharedValue, Stamp, TableSums, UnequalWork, ValueChange,
};
use crate::estimate::Estimate;
use crate::missing::Missing;
use record::facts::Fact;
use record::trial::Outcome;
use serde::{Deserialize, Serialize};

/// A code is stable: studies accept findings by it, and programs look for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    pub name: &'static str,
    /// Whether a study may accept its findings.
    pub acceptable: bool,
    /// The part of a report with the figures behind it; empty for two runs.
    pub evidence: &'static str,
    pub meaning: &'static str,
    pub limit: &'static str,
    pub kinds: &'static [FindingKind],
}

/// One of the findings that share a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FindingKind {
    pub name: &'static str,
    pub severity: Severity,
    /// The stamp of an answer, unless the study accepts the finding or its size is known.
    pub stamp: Stamp,
    /// At most ten words.
    pub remedy: &'static str,
}

/// Each code: whether a study may accept it, its evidence, meaning, limit, and its kinds. Each kind: severity, stamp, remedy, and the
/// variant with its quantities.
macro_rules! catalog {
    ($($code:literal $acceptable:ident $evidence:literal $meaning:literal $limit:literal {
        $($(#[doc = $doc:literal])* $kind:literal $severity:ident $stamp:ident $remedy:literal
            $name:ident $({ $($(#[$about:meta])* $field:ident: $type:ty),* $(,)? })?;)*
    })*) => {
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind", content = "quantities")]
        pub enum What {
            $($($(#[doc = $doc])* #[serde(rename = $kind)] $name $({ $($(#[$about])* $field: $type),* })?,)*)*
        }

        pub const CODES: &[Code] = &[
            $(Code {
                name: $code, acceptable: catalog!(@$acceptable), evidence: $evidence, meaning: $meaning, limit: $limit,
                kinds: &[$(FindingKind {
                    name: $kind, severity: Severity::$severity, stamp: Stamp::$stamp, remedy: $remedy,
                },)*],
            },)*
        ];

        impl What {
            /// The names of its code and of its kind.
            fn names(&self) -> [&'static str; 2] {
                match self { $($(Self::$name { .. } => [$code, $kind],)*)* }
            }
        }
    };
    (@acceptable) => { true };
    (@never) => { false };
}

catalog! {
    "rehearsed" never "Every trial"
    "The study was played with --rehearse. No machine was started and no database was driven."
    "any rehearsal" {
        "rehearsed" Serious NotUsable "Run the study without --rehearse." Rehearsed;
    }
    "trials-missing" never "Every trial"
    "A trial failed, was skipped, was interrupted or is invalid, or the run ended before it. Its figures are in no result."
    "one trial; see [valid trials](#valid-trials)" {
        "trial-not-completed" Serious WithCare "Read the reason, then go on: `bakeoff run --resume`." TrialNotCompleted { outcome: Outcome };
        /// The trials are those missing.
        "trials-missing" Serious WithCare "Run the rest: `bakeoff run --resume`." TrialsMissing { planned: usize };
    }
    "check-violated" never "Data checks"
    "A check found wrong data after a trial. A database that loses or garbles data gets no verdict, however fast it is."
    "one check" {
        "check-violated" Serious NotUsable "Read what was seen in findings.json; test the storage."
            CheckViolated { check: String, rule: String, seen: Option<String> };
    }
    "record-disagrees" never "Every trial"
    "The files of a trial do not add up, or some are missing. The trial is in no result."
    "any disagreement" {
        "record-disagrees" Serious WithCare "Restore the run folder, or repeat the trial." RecordDisagrees { how: String };
    }
    "vm-emulated" acceptable "Machines"
    "The guest's processor was emulated in software (QEMU's TCG) and not virtualized. It is 10 to 50 times slower than a real guest."
    "one trial" {
        "vm-emulated" Serious NotUsable "Use a host on which /dev/kvm works: `bakeoff doctor`." VmEmulated {
            /// The platform's own reason.
            how: String,
        };
    }
    "settings-differ" acceptable "Database settings"
    "The servers of the contenders ran with different settings, as read back from them."
    "any difference that no key of the study explains" {
        "settings-differ" Serious NotUsable "Set the keys named under [engine] for all contenders."
            SettingsDiffer { settings: Vec<FactDiffers> };
    }
    "servers-differ" acceptable "Database settings"
    "The contenders ran different database servers or versions."
    "any difference that no key of the study explains" {
        "servers-differ" Serious NotUsable "Install the same version everywhere." ServersDiffer { servers: Vec<ContenderValue> };
    }
    "loaded-data-differ" never "Data checks"
    "The checksums of the loaded tables are not the same on all contenders."
    "any difference" {
        "loaded-data-differ" Serious NotUsable "Delete the study's cached data and run it again." LoadedDataDiffer { tables: Vec<TableSums> };
    }
    "work-differs" acceptable "Work per transaction"
    "A transaction did not cost the same work on both sides. Other statements or rows make the ratio of throughputs void. Other work of the \
     disk is part of the answer: one side's cache was smaller, still cold, or behind an additional cache."
    "statements and rows: 2 % and two standard errors; disks: the whole interval over the blocks beyond 25 % of a device's work, 10 % of redo" {
        "work-unequal" Serious NotUsable "Compare the mixes of transactions and the failures; measure longer."
            WorkUnequal { work: Vec<UnequalWork> };
        "disk-work-unequal" Caution Usable "Warm up longer; give both sides the same memory." DiskWorkUnequal { work: Vec<UnequalWork> };
    }
    "storage-differs" acceptable "Equal on both sides"
    "The contenders kept their data on different kinds of storage, or behind a different number of caches."
    "any difference that no key of the study explains" {
        "storage-differs" Serious NotUsable "Give all contenders the same machine.disk." StorageDiffers { fact: String, values: Vec<SharedValue> };
    }
    "machines-differ" acceptable "Equal on both sides"
    "The contenders' machines had different CPUs, memory, memory nodes, limits or kernels."
    "any difference that neither a key of the study nor the kind of platform explains" {
        "machines-differ" Serious NotUsable "Give all contenders the same [machine]." MachinesDiffer { fact: String, values: Vec<SharedValue> };
    }
    "durability" acceptable "Durability"
    "Audits found that a contender acknowledges transactions which a fault can take, and no setting of the engine in force says so; or \
     contenders that are compared got different verdicts. A commit is then not the same work on them."
    "any loss that two rebuilds show" {
        "not-durable" Serious NotUsable "Find what drops flushes: cache mode, mount options, disk." NotDurable { verdict: String };
        "durability-differs" Serious NotUsable "Give all contenders settings with the same verdict." DurabilityDiffers { values: Vec<SharedValue> };
    }
    "timing" acceptable "The load engine"
    "A guest's clock ran faster or slower than the host's, or response times and pauses do not add up to the number of clients (Little's \
     law)."
    "clock: round trips, and 0.1 % of the trial; clients: 5 %, two standard errors, and the age of what is under way" {
        "clock-wrong" Serious NotUsable "Check the clock source, or drive from outside (load.placement)." ClockWrong {
            /// The least share by which it ran too fast or too slow.
            share: f64,
        };
        "littles-law" Caution WithCare "Do not use the response times of this trial." LittlesLaw {
            trial: u32, machine: Option<u32>, accounted: f64, at_least: Option<f64>, at_most: f64, tolerance: f64,
        };
    }
    "noted-by-trial" acceptable "Every trial"
    "Something happened during a trial that may have changed its figures."
    "any note" {
        "noted-by-trial" Serious WithCare "Read the note; repeat the trial if it was disturbed." NotedByTrial { note: String };
    }
    "no-baseline" acceptable "What ran"
    "No contender is marked as the baseline, so there is nothing to compare with."
    "–" {
        "no-baseline" Serious NotUsable "Add `baseline = true` to one contender of the study." NoBaseline;
    }
    "host-unsteady" acceptable "Machines"
    "A setting or the frequency of the host's processors changed while the study ran, or a contender ran on another processor or kernel in \
     some of its trials."
    "governor, turbo, mitigations, processor or kernel: any change; frequency: 10 %" {
        "host-changed" Serious NotUsable "Fix governor and turbo, and run the study again." HostChanged { fact: HostFact, values: Vec<InTrials> };
        "machine-changed" Serious NotUsable "Run the study again, with one kernel on one host." MachineChanged { fact: String, values: Vec<InTrials> };
        "host-frequency" Caution WithCare "Set governor `performance`, switch turbo off, watch the temperature."
            HostFrequency { slow_trial: u32, low_mhz: f64, fast_trial: u32, high_mhz: f64 };
    }
    "other-load" acceptable "The host during each trial"
    "Other processes used the host's CPUs or disks while a trial was measured, or the hypervisor below this host gave CPU time to others."
    "5 % of the host's CPU time, 1 % stolen; beside one contender: 5 points of CPU time or 1 MB/s, and twice the other" {
        "host-busy" Caution WithCare "Stop other processes, or set `load.max_other_cpu`." HostBusy { share: f64 };
        "host-busy-beside-one" Serious NotUsable "Stop other processes, or set `load.max_other_cpu`." HostBusyBesideOne {
            /// Shares of the host's CPU time that other processes took.
            loud: String, most: f64, quiet: String, least: f64,
        };
        "host-disk-busy-beside-one" Caution WithCare "Stop other processes, or move them to another disk." HostDiskBusyBesideOne {
            /// Bytes that other processes read and wrote in a second.
            loud: String, most: f64, quiet: String, least: f64,
        };
        "host-cpu-stolen" Caution WithCare "Use bare metal, or an instance with dedicated CPUs." HostCpuStolen { share: f64 };
    }
    "memory-short" acceptable "The host during each trial"
    "Processes waited for memory while a trial was measured and the host had little available, or the host moved memory to or from swap."
    "stalls in 1 % of the window with less than a tenth available; 1,024 pages" {
        "host-memory-short" Caution WithCare "Give machines less memory than the host has free." HostMemoryShort {
            /// Of a window in which something waited for memory.
            share: f64,
        };
        "host-swapping" Caution WithCare "Give machines less memory, or switch swap off." HostSwapping { pages: f64 };
    }
    "host-is-guest" acceptable "Machines"
    "This host is itself a virtual machine. “Native” is then not bare metal, and guests are nested."
    "–" {
        "host-is-guest" Caution Usable "Measure on bare metal to learn the price of virtualization." HostIsGuest { of: Option<String> };
    }
    "several-hosts" acceptable "Hosts"
    "The contenders ran on different hosts, so no block is within one host and all blocks on one pair of hosts count once; or a contender's \
     change against the baseline is not the same on all hosts, by an analysis of variance."
    "different hosts; p below 5 %, by Holm's method" {
        /// The contender ran on other hosts than its baseline.
        "hosts-apart" Caution WithCare "Give both contenders the same `platform.hosts`." HostsApart {
            baseline: String, baseline_hosts: Vec<String>, hosts: Vec<String>,
        };
        "hosts-disagree" Caution WithCare "Look for what differs between the hosts." HostsDisagree { ratios: Vec<HostRatio> };
    }
    "machines-apart" acceptable "Consolidation"
    "Machines side by side were to be equal and are not, did not measure the same seconds, or have valid trials that their scores cannot use."
    "any difference; of memory, a thousandth; of windows, 50 ms" {
        "machines-unlike" Serious NotUsable "Look at the properties named, and repeat the trial." MachinesUnlike { properties: Vec<Property> };
        "trials-left-out" Serious WithCare "Read the reasons; run again if few trials are left." TrialsLeftOut {
            /// Beside a machine whose load comes or goes.
            beside: Option<u32>,
            why: Vec<Missing>,
        };
        "windows-apart" Caution WithCare "Run again on a less loaded host." WindowsApart { worst_ms: f64 };
    }
    "two-runs" acceptable ""
    "The hosts, settings, machines, servers, loads, seeds or builds of two runs are not the same, or a transaction costs another amount of work."
    "any difference; of work, as `work-unequal`" {
        "hosts-differ" Serious WithCare "Repeat both runs on one host." HostsDiffer { changes: Vec<ValueChange> };
        "seeds-differ" Serious WithCare "Use the same seed in both studies." SeedsDiffer { old: u64, new: u64 };
        "runs-differ" Serious WithCare "Set it back and run again, unless you compare it." RunsDiffer { part: ComparedPart, cells: Vec<String>, changes: Vec<ValueChange> };
        "work-changed" Serious WithCare "Look for changes of schema, query plans and cache." WorkChanged { cells: Vec<String>, work: Vec<ChangedWork> };
        "host-restarted" Caution Usable "Repeat the old run if a small difference matters." HostRestarted;
        "builds-differ" Caution Usable "Repeat the old run with the new build." BuildsDiffer { old: String, new: String };
    }
    "data-unchecked" acceptable "Data checks"
    "The workload has no check of its data, so lost or wrong data would not be noticed."
    "any contender" {
        "data-unchecked" Caution WithCare "Name a file of checks: `checks` or `--check-file`." DataUnchecked;
    }
    "systems-differ" acceptable "Machines"
    "Operating systems of the contenders differ in things that no platform has to change, such as mitigations or transparent huge \
     pages. The effect is part of the answer."
    "any difference" {
        "systems-differ" Caution Usable "Set them alike on both sides to exclude their effect." SystemsDiffer { facts: Vec<FactDiffers> };
    }
    "load-engine" acceptable "Every trial"
    "Threads of the load engine were ready to run and had no CPU, or it used io_uring on some contenders only. Response times contain that wait. \
     Where the database has the same CPUs, it is a part of the load. With epoll each message needs more CPU time."
    "waits: more than 5 µs at a time; io_uring: any difference" {
        "sending-differs" Caution WithCare "Allow io_uring everywhere, or set `load.placement = \"outside\"`." SendingDiffers { values: Vec<SharedValue> };
        "engine-waited" Caution Usable "Give the machine more vCPUs, or drive from another host." EngineWaited { waits: Vec<EngineWait> };
    }
    "not-honoured" acceptable "Every trial"
    "A platform could not do what the study asked of it. If the other side's platform did, the answer is not usable, except for a memory limit \
     that moves it little."
    "one wish" {
        "not-honoured" Caution WithCare "Look for missing rights and tools: `bakeoff doctor`." NotHonoured { wish: String, fact: Fact };
    }
    "unsteady" acceptable "Steady state"
    "Throughput was not the same throughout: between the trials of a contender, over a window, after the warm-up, or because a window covers \
     no whole cycle of checkpoints and contains too much or too little of their cost."
    "trials: a standard deviation of 15 %, by a χ² test at 5 %; drift: 2 %, interval without 0; halves: 1.25 times, in windows too short for \
     drift; warm-up: most of three trials, and a change of 2 %; without an end: two thirds of the trials, and three; no whole checkpoint cycle" {
        /// The interval of an answer has this spread.
        "trials-apart" Caution Usable "Measure on a quiet host, warm up longer, add blocks." TrialsApart {
            /// The fastest trial over the slowest.
            times: f64,
            /// The standard deviation of their logarithms; 0 in old files.
            #[serde(default)]
            spread: f64,
        };
        "not-steady" Caution WithCare "Warm up longer or measure longer." NotSteady { drift: Estimate, drifting: usize, of: usize };
        "not-settled" Caution WithCare "Warm up longer or measure longer." NotSettled { unsettled: usize, of: usize };
        "halves-unlike" Caution WithCare "Measure longer; look for a checkpoint or other load." HalvesUnlike {
            /// The second half's throughput over the first's.
            second_half: f64,
        };
        "warm-up-too-short" Caution WithCare "Make load.warmup longer." WarmUpTooShort { late: usize, of: usize, change: f64 };
        /// No whole cycle from one checkpoint to the next.
        "window-too-short" Caution WithCare "Measure two checkpoint intervals, or shorten the interval." WindowTooShort;
    }
    "transactions-failed" acceptable "Every trial"
    "Some transactions failed and were not repeated. They count in no throughput."
    "one transaction" {
        "transactions-failed" Caution WithCare "Look at the errors by code in the trial's record." TransactionsFailed { failed: u64, of: u64 };
    }
    "too-few-blocks" acceptable "Every trial"
    "An interval needs three blocks. Without one there is no verdict."
    "3 blocks" {
        "too-few-blocks" Caution NotUsable "Set blocks = 5 or more." TooFewBlocks { blocks: u32, needed: usize };
    }
}

/// The code of this name, or that of the kind of this name.
pub fn code(name: &str) -> Option<&'static Code> {
    let of_kind = || CODES.iter().find(|code| code.kinds.iter().any(|kind| kind.name == name));
    CODES.iter().find(|code| code.name == name).or_else(of_kind)
}

/// The names by which a study accepts findings, and whether it may: each code, which stands for all its kinds, and each kind.
pub fn names() -> impl Iterator<Item = (&'static str, bool)> {
    let of = |code: &'static Code| {
        let kinds = code.kinds.iter().map(|kind| kind.name).filter(|name| *name != code.name);
        std::iter::once(code.name).chain(kinds).map(|name| (name, code.acceptable))
    };
    CODES.iter().flat_map(of)
}

impl What {
    pub fn code(&self) -> &'static str {
        self.names()[0]
    }

    /// Every variant is of a kind in the list.
    pub fn kind(&self) -> &'static FindingKind {
        let [code, name] = self.names();
        let kinds = CODES.iter().filter(|known| known.name == code).flat_map(|code| code.kinds);
        kinds.into_iter().find(|kind| kind.name == name).unwrap_or(&CODES[0].kinds[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A name that were both would accept more than it says.
    #[test]
    fn a_code_with_several_kinds_that_may_be_accepted_has_a_name_of_its_own() {
        let several = CODES.iter().filter(|code| code.kinds.len() > 1 && code.acceptable);
        for code in several {
            assert!(code.kinds.iter().all(|kind| kind.name != code.name), "{}", code.name);
        }
    }

    #[test]
    fn a_remedy_has_at_most_ten_words_and_every_name_is_used_once() {
        let kinds: Vec<&FindingKind> = CODES.iter().flat_map(|code| code.kinds).collect();
        for kind in &kinds {
            assert!(kind.remedy.split_whitespace().count() <= 10, "{}: {}", kind.name, kind.remedy);
            assert!(kind.remedy.ends_with('.'), "{}", kind.name);
        }
        assert_eq!(kinds.iter().map(|kind| kind.name).collect::<BTreeSet<_>>().len(), kinds.len());
        assert_eq!(names().map(|(name, _)| name).collect::<BTreeSet<_>>().len(), names().count());
    }
}
