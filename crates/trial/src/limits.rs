//! How long the conductor waits for what, before it gives a machine up.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A request that needs nothing but an answer, even on an emulated CPU.
    pub prompt: Duration,
    /// Between signs of life, which an agent gives every ten seconds while it works.
    pub lifeless: Duration,
    /// A server that was stopped in order starts within this, even on an emulated CPU.
    pub start: Duration,
    /// Checking and loading read or write every row; how long that takes depends on the data and the CPU.
    pub check: Duration,
    /// A server writes everything out and ends.
    pub stop: Duration,
    /// A machine ends whose agent said goodbye.
    pub end: Duration,
    /// Opening sessions takes some thousand times as many round trips as each prepares statements. Each session has a limit of
    /// its own; this is for an agent that says nothing but that it is alive.
    pub opening: Duration,
    /// Between two messages while load is driven: there is one each second.
    pub driving: Duration,
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
            sampling: Duration::from_mins(2),
        }
    }
}
