//! What is measured of a trial: an explicit list.
//!
//! A measure is one number of a trial, or of one of its machines, with a stable name, a unit, and a direction.
//! Everything made from measures (means over trials, ratios to the baseline, tables, CSV, comparisons of runs) needs
//! nothing else. So a new measure is an entry in [`CATALOG`] and appears in all of them.

pub mod activity;
pub mod counted;
pub mod latency;
pub mod machines;
pub mod phases;
pub mod throughput;
pub mod variability;
pub mod work;

use crate::missing::Missing;
use record::run::StoredTrial;
use serde::{Deserialize, Serialize};

/// What a number means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measure {
    /// The part after a slash is a name from the workload, as in `response.p99/new-order`.
    pub id: String,
    pub unit: Unit,
    pub better: Better,
    pub scale: Scale,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    Count,
    Share,
    Seconds,
    Milliseconds,
    Microseconds,
    PerSecond,
    Bytes,
    BytesPerSecond,
    PerTransaction,
    BytesPerTransaction,
    MillisecondsPerTransaction,
    JoulesPerTransaction,
    /// The workload's own, for example "new orders per minute".
    #[serde(untagged)]
    Own(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    More,
    Less,
    /// It says what was done, not how well.
    Neither,
}

/// How two values of a measure are compared, and therefore how several are averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// By their ratio; averages are geometric means. If a value of the run is not above 0, differences are used instead.
    Ratio,
    /// By their difference; averages are arithmetic means.
    Difference,
    /// By their difference; no value is above 1.
    Proportion,
}

/// One value of one trial, or the reason why there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureReading {
    pub measure: Measure,
    pub value: Result<f64, Missing>,
    /// The number of transactions, seconds or samples behind the value, if it is made from any.
    pub n: Option<u64>,
}

impl MeasureReading {
    pub fn new(id: impl Into<String>, unit: Unit, better: Better, scale: Scale, value: f64) -> Self {
        Self { measure: Measure { id: id.into(), unit, better, scale }, value: Ok(value), n: None }
    }

    #[must_use]
    pub fn of(mut self, n: u64) -> Self {
        self.n = Some(n);
        self
    }
}

/// An entry of the list: what it reads of a trial. Names or units may come from the record: one measure for each kind of transaction or
/// each counter.
pub type MeasureEntry = fn(&StoredTrial) -> Vec<MeasureReading>;

/// All measures, in the order in which tables list them.
pub const CATALOG: &[MeasureEntry] = &[
    throughput::readings,
    machines::readings,
    phases::readings,
    latency::readings,
    variability::readings,
    work::readings,
    counted::readings,
    activity::database,
    activity::device,
    activity::workload,
];

/// For callers that need only throughput, so that nothing else is read.
pub const THROUGHPUT_ONLY: &[MeasureEntry] = &[throughput::readings];
