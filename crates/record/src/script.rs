//! What is driven in a trial: one phase after another, each with streams of transactions.

use crate::trial::{KindTotals, Pacing};
use serde::{Deserialize, Serialize};

/// A part of the driving with a beginning that all machines share, and an end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    pub name: String,
    /// Driven before anything is measured.
    pub warmup_ms: u64,
    pub until: Until,
    pub streams: Vec<Stream>,
}

/// When a phase ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "until", rename_all = "kebab-case")]
pub enum Until {
    /// So much time was measured. What is under way then may end.
    Time { measure_ms: u64 },
    /// Every stream that has an end is at its end. Longer than the limit it does not last.
    StreamsEnd { limit_ms: u64 },
}

/// The users of one actor at work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// Which of the workload's actors.
    pub actor: u16,
    pub pacing: Pacing,
    /// Each user stops after so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<u32>,
}

impl Phase {
    /// The usual load: one actor's users, warmed up and then measured for some time.
    pub fn timed(pacing: Pacing, warmup_ms: u64, measure_ms: u64) -> Self {
        Self {
            name: "load".to_owned(),
            warmup_ms,
            until: Until::Time { measure_ms },
            streams: vec![Stream::of(0, pacing)],
        }
    }

    /// The pacing of its first stream, whose actor is the one that the workload is about.
    pub fn pacing(&self) -> Option<Pacing> {
        self.streams.first().map(|stream| stream.pacing)
    }
}

impl Stream {
    /// One that goes on for as long as its phase, or as its actor has work.
    pub fn of(actor: u16, pacing: Pacing) -> Self {
        Self { actor, pacing, transactions: None }
    }
}

/// What became of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseDone {
    pub name: String,
    /// Since the first phase began.
    pub start_ms: u64,
    pub warmup_ms: u64,
    /// Length of what was measured: until its last transaction ended, if the streams decided that.
    pub measured_ms: u64,
    pub ended: PhaseEnd,
    pub streams: Vec<Stream>,
    /// Totals over what was measured.
    pub kinds: Vec<KindTotals>,
}

/// Why a phase ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseEnd {
    /// Its time was over.
    Time,
    /// Its streams were at their end.
    Streams,
    /// Its streams were not at their end within its limit.
    Limit,
    /// Driving was stopped, or broke off.
    Stopped,
}
