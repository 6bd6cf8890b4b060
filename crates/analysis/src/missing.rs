//! Why a value or its interval is missing. `report` puts it into words.

use record::telemetry::Side;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Missing {
    OfTrial {
        trial: u32,
        why: Box<Missing>,
    },
    OfMachine {
        machine: u32,
        why: Box<Missing>,
    },

    // Not in the record. For some of these, the record itself says why.
    NotDriven,
    NoRecord,
    NoMachine,
    OtherMachines,
    NothingDone,
    NotSampled {
        side: Option<Side>,
    },
    SamplingEnded {
        why: String,
    },
    NotLookedAt {
        several_machines: bool,
    },
    DatabaseNotAsked {
        why: String,
    },
    DeviceUnknown {
        why: String,
    },
    /// In the words of the record.
    Unavailable {
        why: String,
    },
    CheckpointsNotCounted,
    WindowStartUnknown,
    WindowEmpty,
    ClocksNotCompared,
    ClockOffsetImpossible,
    ClockRanWrong,
    /// About what is counted only of one machine's CPUs.
    CpusOfOneMachine,
    CpusUnknown,
    CpusOverlap,

    // Values.
    NotANumber,
    NoneLonger,
    /// A phase in which not everything was done that was to be done.
    PhaseIncomplete {
        phase: String,
    },
    EndsWithItsWork,
    NoCycle,
    TooFewSeconds,
    NothingMeasured,
    NoTrial,

    // Intervals.
    TooFewBlocks {
        blocks: usize,
        needed: usize,
    },
    TooFewRuns {
        runs: usize,
        needed: usize,
    },
    TooFewOfEach {
        old: usize,
        new: usize,
        needed: usize,
    },
    BlocksIncomplete {
        blocks: usize,
    },
    NeverSeen,
    WindowTooShort {
        seconds: usize,
        needed: usize,
    },
    DrivenTooShort {
        seconds: usize,
        needed: usize,
    },
    SecondsDepend {
        longer_than_s: usize,
    },
    DriftUndecided {
        low: f64,
        high: f64,
    },
    NeedsEveryBlock,

    // The peak of the scalability law.
    NoCoherency,
    PeakBeyond {
        times: f64,
        largest: f64,
    },
    PeakBelow {
        smallest: f64,
    },
    TooFewSizes {
        sizes: usize,
        needed: usize,
    },
    NoInterval {
        why: Box<Missing>,
    },
    CoherencyMayBeZero,
    NoUpperEnd,

    // Beside a neighbour whose load comes or goes.
    NoNeighbour,
    NobodyBeside,
    PartTooShort {
        part: NeighbourPart,
        seconds: usize,
    },
    TooFewTransactions {
        part: NeighbourPart,
    },
    NothingDoneIn {
        part: NeighbourPart,
    },

    // Runs in a trend.
    Rehearsed,
    NoSuchMeasure {
        measure: String,
    },
}

/// The part of a trial beside a neighbour whose load comes or goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NeighbourPart {
    Before,
    /// While it works.
    During,
    After,
}

impl Missing {
    #[must_use]
    pub fn of_machine(self, machine: u32) -> Self {
        Self::OfMachine { machine, why: Box::new(self) }
    }

    #[must_use]
    pub fn of_trial(self, trial: u32) -> Self {
        Self::OfTrial { trial, why: Box::new(self) }
    }
}
