//! How long the conductor waits for each kind of answer before it gives up a machine.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A request that needs no work, only an answer, even on an emulated CPU.
    pub prompt: Duration,
    /// Between signs of life, which an agent gives every ten seconds while it works.
    pub lifeless: Duration,
    /// A server that was shut down properly starts within this, even on an emulated CPU.
    pub start: Duration,
    /// Checking and loading, which read or write every row: the time depends on the data and the CPU.
    pub check: Duration,
    /// A server writes all its data and ends.
    pub stop: Duration,
    /// A machine ends after its agent said goodbye.
    pub end: Duration,
    /// Opening up to some thousand sessions, each with as many round trips as it prepares statements. Each session has
    /// its own limit; this one is for an agent that sends only signs of life.
    pub opening: Duration,
    /// Between two messages while load is driven: there is one each second.
    pub driving: Duration,
    /// How long load generators try to reopen a lost session. A server that repairs itself after a crash is back by then; nothing
    /// restarts a server that has ended.
    pub away: Duration,
    /// Opening every probe on an emulated CPU, and handing over the samples of an hour.
    pub sampling: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            prompt: Duration::from_secs(30),
            lifeless: Duration::from_mins(1),
            start: Duration::from_mins(5),
            check: Duration::from_hours(1),
            stop: Duration::from_mins(5),
            end: Duration::from_mins(1),
            opening: Duration::from_hours(1),
            driving: Duration::from_mins(2),
            away: Duration::from_secs(10),
            sampling: Duration::from_mins(2),
        }
    }
}
