//! What one trial did and found (`trial.json`). It is written last: a trial folder is complete when this file is there.

mod repeats;

pub use crate::pacing::{ArrivalProcess, Pacing};
pub use crate::testimony::{RunDelay, Spread, Stalls, Testimony};
pub use crate::totals::KindTotals;

use crate::clock::ClockReading;
use crate::facts::{CPU_QUOTA, Fact, Facts, HOSTS_KERNEL, HOSTS_OWN, PROCESSOR, SYSTEM_CALLS};
use crate::host_state::HostState;
use crate::ladder::Ladder;
use crate::load_hosts::LoadHostFacts;
use crate::other_load::OtherLoad;
use crate::plan::PlannedTrial;
use crate::script::{PhaseDone, PhaseEnd};
use crate::seals::Seals;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    pub format: u32,
    pub id: u32,
    pub block: u32,
    pub cell: u32,
    pub contender: String,
    pub seed: u64,
    pub outcome: Outcome,
    /// RFC 3339, UTC.
    pub started: String,
    /// The build of bakeoff that ran it: name, version and, if known, revision. Absent from old records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// Wall-clock length of each phase in milliseconds, in order.
    pub phases: Vec<PhaseSpan>,
    /// The table of the workload whose data the machine holds and whose transactions its clients run, with its kind.
    /// With several machines, it is that of the measured ones. Absent from old records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineFacts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerFacts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<DriverFacts>,
    /// The hosts that the load came from, if that was not this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load_hosts: Vec<LoadHostFacts>,
    /// The host's state at both ends of the measured window. Absent from records of old versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_state: Option<HostState>,
    /// Present only if the study limits the host's CPU time that others may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_load: Option<OtherLoad>,
    /// Things a reader must know before believing the numbers; each one a sentence.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Absent from old records.
    #[serde(default, skip_serializing_if = "Seals::is_empty")]
    pub files: Seals,
}

impl TrialRecord {
    /// The record of a trial that has just begun; so far only its build is known.
    pub fn begun(planned: &PlannedTrial, contender: &str, started: String, made_by: String) -> Self {
        Self {
            format: crate::FORMAT,
            id: planned.id,
            block: planned.block,
            cell: planned.cell,
            contender: contender.to_owned(),
            seed: planned.seed,
            outcome: Outcome::Completed,
            started,
            made_by: Some(made_by),
            phases: Vec::new(),
            workload: None,
            machine: None,
            server: None,
            driver: None,
            load_hosts: Vec::new(),
            host_state: None,
            other_load: None,
            warnings: Vec::new(),
            files: Seals::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    Completed,
    /// Measured, but the measurement cannot be trusted for the stated reason.
    Invalid {
        why: String,
    },
    Failed {
        phase: String,
        why: String,
    },
    Skipped {
        why: String,
    },
    /// Stopped by the user while it ran; what was measured until then is kept but not analysed.
    Interrupted {
        phase: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseSpan {
    pub phase: String,
    pub length_ms: u64,
}

/// The machine as it really ran.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MachineFacts {
    pub platform: String,
    /// The exact command line that started it.
    pub command_line: Vec<String>,
    pub image: String,
    /// What the platform decided or could not provide ("accelerator": "tcg", "memory limit": "unavailable, because …").
    pub decided: Facts,
    /// The machine's own view of itself, from its agent.
    pub inside: Facts,
    /// Offset of the machine's clock from the host's, before and after each phase.
    #[serde(default)]
    pub clock: Vec<ClockReading>,
}

impl MachineFacts {
    /// Whether it has no kernel of its own, so that counts of its kernel include others.
    pub fn is_on_the_hosts_kernel(&self) -> bool {
        let is_no_guest = self.decided.get(PROCESSOR).is_some_and(|processor| processor.kind() == HOSTS_OWN);
        is_no_guest && !self.has_a_kernel_between()
    }

    /// Whether a hypervisor or an emulator gives it its processors.
    pub fn is_a_guest(&self) -> bool {
        self.decided.get(PROCESSOR).is_some_and(|processor| processor.kind() != HOSTS_OWN)
    }

    /// Whether bakeoff limits its CPU time.
    pub fn has_a_cpu_quota(&self) -> bool {
        self.decided.get(CPU_QUOTA).is_some_and(|quota| matches!(quota, Fact::Known(_)))
    }

    /// Whether something between its programs and the host's kernel answers their system calls, as gVisor does. What such
    /// a machine counts and sees of files is not the host's.
    pub fn has_a_kernel_between(&self) -> bool {
        self.decided.get(SYSTEM_CALLS).is_some_and(|answered| answered.kind() != HOSTS_KERNEL)
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ServerFacts {
    pub engine: String,
    pub version: String,
    pub profile: String,
    /// Settings read back from the running server, not the ones asked for.
    pub effective: BTreeMap<String, String>,
}

/// The driver's account of its work and of itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DriverFacts {
    /// "inside" or "outside".
    pub placement: String,
    pub warmup_ms: u64,
    /// When the measured window began, by the driver's clock: the machine's if it ran inside, else the host's. Absent
    /// from records of old versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_start_ns: Option<u64>,
    /// The actual length of the measured window.
    pub measured_ms: u64,
    /// Emulated clients or terminals, without users that the workload paces itself; 0 if work arrived at a rate.
    pub clients: u32,
    /// What made work due. Absent from records of old versions, whose clients all worked back to back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing: Option<Pacing>,
    /// All sessions, including those for deferred transactions.
    pub sessions: u32,
    pub shards: u32,
    /// What the throughput figure counts, and its name.
    #[serde(default)]
    pub metric: Metric,
    /// Totals over the measured window, one for each kind, in the workload's order.
    pub kinds: Vec<KindTotals>,
    /// Totals over the whole driving, with warm-up and drain, to reconcile with the data in the database.
    #[serde(default)]
    pub whole_run: Vec<KindTotals>,
    /// The workload's own counters over the measured window (order lines, remote lines, …).
    pub tally: BTreeMap<String, u64>,
    /// Work done through sessions in the measured window; must agree between contenders per transaction.
    pub work: Work,
    pub testimony: Testimony,
    /// The time that clients spent between their transactions (typing, thinking, handing over deferred ones), added
    /// up over the pauses that began in the measured window. Absent from records of old versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_ms: Option<u64>,
    /// Present only if sessions are shared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueuedWork>,
    /// The load phases, in order; all other fields are sums over them. Absent from records of old versions, which had
    /// one phase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseDone>,
    /// How the number of clients was found, if the study did not give it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ladder: Option<Ladder>,
    /// Present only if the workload defers some of its transactions. Records of old versions have it in `extra`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred: Option<Deferred>,
    /// Sessions that broke while in use. Records of old versions have them in `extra`.
    #[serde(default)]
    pub losses: Losses,
    /// Transactions that had begun but not ended when driving was over. Old records only have a count, in `extra`.
    #[serde(default)]
    pub unended: Unended,
    /// Whether the database ran inside the load engine.
    #[serde(default)]
    pub in_process: bool,
    /// Whether each thread of the load engine was pinned to its own CPU.
    #[serde(default)]
    pub on_one_cpu_each: bool,
    /// Whether each thread of the load engine sent and received through `io_uring`.
    #[serde(default)]
    pub through_io_uring: bool,
    /// Messages by error code, one for each, with how often the code occurred; bounded.
    #[serde(default)]
    pub errors: BTreeMap<String, u64>,
    /// Untyped content that old versions wrote here.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// Transactions that clients queued and background sessions executed. Counts are of the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Deferred {
    pub queued: u64,
    pub done: u64,
    pub failed: u64,
    /// Still in the queue when driving ended for good.
    pub abandoned: u64,
    /// Caused, but due only after driving had ended.
    #[serde(default)]
    pub not_due: u64,
    /// How often a client had to wait because the queue was full.
    pub held_up: u64,
    /// Arrivals that found the queue full; arrivals do not wait.
    pub turned_away: u64,
    /// The longest queue that any shard had.
    pub longest_queue: u64,
    /// Transactions queued and not yet executed, at both ends of the measured window.
    pub waiting_at_start: u64,
    pub waiting_at_end: u64,
    /// Queued within the measured window.
    pub queued_in_window: u64,
    /// Background sessions when driving began and when it ended; more are opened while work is overdue.
    pub sessions_at_start: u32,
    pub sessions_at_end: u32,
}

impl Deferred {
    /// Adds another shard or machine; each has a queue of its own.
    pub fn add(&mut self, other: &Self) {
        self.queued += other.queued;
        self.done += other.done;
        self.failed += other.failed;
        self.abandoned += other.abandoned;
        self.not_due += other.not_due;
        self.held_up += other.held_up;
        self.turned_away += other.turned_away;
        self.longest_queue = self.longest_queue.max(other.longest_queue);
        self.waiting_at_start += other.waiting_at_start;
        self.waiting_at_end += other.waiting_at_end;
        self.queued_in_window += other.queued_in_window;
        self.sessions_at_start += other.sessions_at_start;
        self.sessions_at_end += other.sessions_at_end;
    }
}

/// Sessions that broke and were opened again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Losses {
    pub lost: u64,
    pub reopened: u64,
    /// The longest time from the loss of a session until it was reopened, or until driving ended.
    pub longest_ms: u64,
}

/// Transactions that were under way when driving was given up.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Unended {
    pub transactions: u64,
    /// How long the one that was due first had waited by then.
    pub oldest_ms: u64,
    /// Share of the clients' time in the measured window that they took.
    pub window_share: f64,
}

impl DriverFacts {
    /// Whether a phase was over when its streams had done their work, and not when its time was over.
    pub fn ends_with_its_work(&self) -> bool {
        self.phases.iter().any(|phase| matches!(phase.ended, PhaseEnd::Streams | PhaseEnd::Limit))
    }

    /// Kinds of transaction, without steps.
    pub fn transactions(&self) -> impl Iterator<Item = &KindTotals> {
        self.kinds.iter().filter(|kind| !kind.step)
    }

    /// The most deferred transactions that can have been queued at once: each shard has a queue of its own.
    pub fn waiting_max(&self) -> u64 {
        let longest = match &self.deferred {
            Some(deferred) => deferred.longest_queue,
            None => self.of_old_deferred("longest_queue"),
        };
        longest.saturating_mul(u64::from(self.shards))
    }

    /// How often a client waited to hand over a deferred transaction.
    pub fn held_up(&self) -> u64 {
        self.deferred.map_or_else(|| self.of_old_deferred("waits_for_room"), |deferred| deferred.held_up)
    }

    /// A count where records of old versions have it.
    fn of_old_deferred(&self, name: &str) -> u64 {
        let count = self.extra.get("deferred").and_then(|deferred| deferred.get(name)?.as_u64());
        count.unwrap_or_default()
    }
}

/// How a workload's throughput is counted and named, so that analysis and report need not know the workload.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Metric {
    /// Short name, for example "NOPM".
    pub name: String,
    /// Its unit, for example "new orders per minute".
    pub unit: String,
    /// The figure is for this many milliseconds: 60,000 for a rate per minute.
    pub per_ms: u64,
    /// The kinds of transaction that count, by name. A transaction counts if it ended as the workload demands:
    /// committed, or rolled back on purpose.
    pub counted: Vec<String>,
}

impl Metric {
    pub fn counts(&self, kind: &str) -> bool {
        self.counted.iter().any(|counted| counted == kind)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Work {
    pub transactions: u64,
    pub statements: u64,
    /// Times that requests went to the server and their answers were awaited. 0 means not counted, or a database in the
    /// load engine's own process.
    #[serde(default)]
    pub round_trips: u64,
    pub rows_returned: u64,
    pub rows_changed: u64,
}

/// Work that was due and waited for a session, if sessions are shared. A queue grows if the database does less than it is asked
/// for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct QueuedWork {
    /// Work that became due in the measured window.
    pub came: u64,
    /// Work that found the queue full in the measured window, and was never executed.
    pub turned_away: u64,
    /// Work that still waited when driving ended, and was not executed.
    pub waiting_at_end: u64,
    /// The longest queue of the whole run.
    pub longest: u64,
    pub limit: u64,
    /// The queue's length at the end of each second, warm-up included.
    pub each_second: Vec<u64>,
}
