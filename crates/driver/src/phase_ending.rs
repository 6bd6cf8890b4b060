//! How the phase of one shard ends: since when, for what reason, and who waited then.

use crate::clock::Nanos;
use record::script::PhaseEnd;
use std::cell::Cell;

pub struct PhaseEnding {
    closing_since: Cell<Option<Nanos>>,
    reason: Cell<PhaseEnd>,
    /// Set once this shard has reported that its streams have ended.
    is_at_end: Cell<bool>,
    /// How many clients waited for a session when driving began to end.
    waiting: Cell<u64>,
}

impl PhaseEnding {
    pub fn not_yet() -> Self {
        let (closing_since, is_at_end, waiting) = Default::default();
        Self { closing_since, reason: Cell::new(PhaseEnd::Stopped), is_at_end, waiting }
    }

    pub fn begin(&self, since: Nanos, reason: PhaseEnd) {
        self.closing_since.set(Some(since));
        self.reason.set(reason);
    }

    pub fn note_waiting(&self, clients: u64) {
        self.waiting.set(self.waiting.get() + clients);
    }

    /// True at the first call.
    pub fn streams_have_ended(&self) -> bool {
        !self.is_at_end.replace(true)
    }

    pub fn has_begun(&self) -> bool {
        self.closing_since.get().is_some()
    }

    /// Whether it began at least so long ago.
    pub fn has_lasted(&self, time: Nanos, now: Nanos) -> bool {
        self.closing_since.get().is_some_and(|since| now >= since + time)
    }

    /// Whether a second that ended at this moment was driven to its end.
    pub fn leaves_whole(&self, second_end: Nanos) -> bool {
        self.is_by_streams() || self.closing_since.get().is_none_or(|since| since >= second_end)
    }

    /// Whether the streams ended by themselves.
    pub fn is_by_streams(&self) -> bool {
        self.has_begun() && self.reason.get() == PhaseEnd::Streams
    }

    pub fn reason(&self) -> PhaseEnd {
        self.reason.get()
    }

    pub fn waiting(&self) -> u64 {
        self.waiting.get()
    }
}
