//! Events: the only interface between running and displaying. They are appended to `events.jsonl` and shown live.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StampedEvent {
    /// Milliseconds since the Unix epoch, by the host's clock.
    pub at_ms: u64,
    #[serde(flatten)]
    pub event: Event,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    RunStarted {
        study: String,
        trials: u32,
        expected_ms: u64,
        resumed: bool,
    },
    /// Work shared by trials: images, probes, loading.
    Preparing {
        what: String,
        expected_ms: u64,
    },
    /// A trial by its number in the plan, of the number of planned trials.
    TrialStarted {
        trial: u32,
        of: u32,
        block: u32,
        contender: String,
        coordinates: String,
        /// The one of its contender's several hosts that it runs on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
    },
    /// The requested precision is not reached yet, so the plan has grown. `why` is a phrase.
    BlockAdded {
        block: u32,
        trials: u32,
        expected_ms: u64,
        why: String,
    },
    /// No more blocks are added; `why` is a phrase.
    PrecisionEnded {
        blocks: u32,
        why: String,
    },
    PhaseStarted {
        trial: u32,
        phase: String,
        expected_ms: u64,
    },
    /// One second of driving. `counted` is the number that the throughput figure counts (see [`crate::trial::Metric`]):
    /// transactions of the counted kinds that committed or were rolled back on purpose. `committed` covers all kinds.
    Throughput {
        trial: u32,
        measured: bool,
        elapsed_ms: u64,
        counted: u64,
        committed: u64,
        errors: u64,
    },
    /// A step inside a long phase (`order_line`, 3 of 10).
    Progress {
        what: String,
        done: u64,
        of: u64,
    },
    Warning {
        text: String,
    },
    TrialEnded {
        trial: u32,
        outcome: crate::trial::Outcome,
        elapsed_ms: u64,
    },
    /// The durability of a cell was audited, or could not be.
    Audited {
        cell: u32,
        contender: String,
        coordinates: String,
        elapsed_ms: u64,
    },
    RunEnded {
        completed: u32,
        invalid: u32,
        failed: u32,
        skipped: u32,
    },
}
