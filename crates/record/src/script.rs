//! What a trial drives: one load phase after another, each with streams of transactions.

use crate::pacing::Pacing;
use crate::totals::KindTotals;
use serde::{Deserialize, Serialize};

/// A part of the driving that begins on all machines at once, and has an end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadPhase {
    pub name: String,
    /// The time that is driven before anything is measured.
    pub warmup_ms: u64,
    pub until: PhaseLimit,
    pub streams: Vec<UserStream>,
}

/// When a phase ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "until", rename_all = "kebab-case")]
pub enum PhaseLimit {
    /// Once this much time was measured. Transactions under way may then end.
    Time { measure_ms: u64 },
    /// Once every stream with an end has reached it, or at the limit.
    StreamsEnd { limit_ms: u64 },
}

/// The users of one actor at work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UserStream {
    /// The index of the actor in the workload.
    pub actor: u16,
    pub pacing: Pacing,
    /// Its users end once they have begun this many together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<u32>,
    /// How many clients begin to work in each second; all at once if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp_per_s: Option<f64>,
}

impl LoadPhase {
    /// The usual load: the users of one actor, warmed up and then measured for a fixed time.
    pub fn timed(pacing: Pacing, warmup_ms: u64, measure_ms: u64) -> Self {
        Self {
            name: "load".to_owned(),
            warmup_ms,
            until: PhaseLimit::Time { measure_ms },
            streams: vec![UserStream::of(0, pacing)],
        }
    }

    /// The pacing of its first stream, whose actor is the workload's main one.
    pub fn pacing(&self) -> Option<Pacing> {
        self.streams.first().map(|stream| stream.pacing)
    }
}

impl UserStream {
    /// A stream that lasts as long as its phase, or as long as its actor has work.
    pub fn of(actor: u16, pacing: Pacing) -> Self {
        Self { actor, pacing, transactions: None, ramp_per_s: None }
    }
}

/// The outcome of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseDone {
    pub name: String,
    /// Time since the first phase began.
    pub start_ms: u64,
    pub warmup_ms: u64,
    /// Length of the measured part: until its last transaction ended, if the streams decided that.
    pub measured_ms: u64,
    pub ended: PhaseEnd,
    pub streams: Vec<UserStream>,
    /// Totals over the measured part.
    pub kinds: Vec<KindTotals>,
}

impl PhaseDone {
    /// True if only the workload's first actor was at work. Where work ends, that is the one who does all of it alone.
    pub fn is_of_one_alone(&self) -> bool {
        self.streams.iter().all(|stream| stream.actor == 0)
    }
}

/// Why a phase ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseEnd {
    /// Its time was over.
    Time,
    /// Its streams had ended.
    Streams,
    /// Its streams had not ended within its limit.
    Limit,
    /// Driving was stopped or broke off.
    Stopped,
}
