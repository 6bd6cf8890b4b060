//! Why there is no value, or no interval around one. `report` says it in words.

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

    // What is not in the record. Of some of it the record itself says why.
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
    /// Of what is counted of the CPUs of a machine alone.
    CpusOfOneMachine,
    CpusUnknown,
    CpusOverlap,

    // Values.
    NotANumber,
    NoneLonger,
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
    NotPositive,
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
        part: Part,
        seconds: usize,
    },
    TooFewTransactions {
        part: Part,
    },
    NothingDoneIn {
        part: Part,
    },

    // Runs in a trend.
    Rehearsed,
    NoSuchMeasure {
        measure: String,
    },
}

/// Of a trial beside a neighbour whose load comes or goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    Before,
    /// It works.
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
