//! The calling thread's part: a tick at the end of each second, seconds as they become complete, whether there is any hope,
//! and one result in the end.

use crate::clock::{Clock, MonotonicClock};
use crate::errors::ErrorBook;
use crate::merge::Gathering;
use crate::plan::{DriveError, DrivePlan, Driven, Seen, Tick};
use crate::recorder::Second;
use crate::shard::ShardReport;
use crate::signals::{Note, Progress, Published, Signals};
use crate::window::Window;
use record::trial::Stalls;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

/// If there are errors for so many seconds in a row, and nothing has ever succeeded, nothing will.
const ALL_FAIL_AFTER_S: u64 = 5;

pub type ShardResult = Result<ShardReport, DriveError>;

/// The calling thread's part while shards drive.
pub struct Watch<'a> {
    window: Window,
    published: &'a [Published],
    signals: &'a Signals<'a>,
    second: u64,
    last: Progress,
    failing: FailureWatch,
    all_failed: bool,
    gathering: Gathering,
}

impl<'a> Watch<'a> {
    pub fn new(window: Window, published: &'a [Published], signals: &'a Signals<'a>, gathering: Gathering) -> Self {
        let (failing, last) = (FailureWatch::default(), Progress::default());
        Self { window, published, signals, second: 0, last, failing, all_failed: false, gathering }
    }

    /// Ticks once a second until all shards are over. Each of them ends by itself, within the drain limit.
    pub fn until_over(&mut self, inbox: &Receiver<Note>, shards: u32, see: &mut dyn FnMut(Seen)) {
        let mut over = 0;
        while over < shards {
            let next = self.window.second_start(self.second + 1);
            match inbox.recv_timeout(next.since(MonotonicClock.now()).as_duration()) {
                Ok(Note::Over) => over += 1,
                Ok(Note::Ready) => {}
                Ok(Note::Closed { shard, second }) => self.take(shard, *second, see),
                Err(RecvTimeoutError::Timeout) => self.tick(see),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        // The last second ends when the shards do, so its tick is usually still owed.
        while self.second < self.window.seconds() && MonotonicClock.now() >= self.window.second_start(self.second + 1) {
            self.tick(see);
        }
    }

    /// Takes a second of one shard in, and tells what is complete with it.
    pub fn take(&mut self, shard: u32, second: Second, see: &mut dyn FnMut(Seen)) {
        if let Some(seen) = self.gathering.take(shard, second) {
            see(Seen::Second(seen));
        }
    }

    /// One more second is over.
    pub fn tick(&mut self, see: &mut dyn FnMut(Seen)) {
        let now = Published::sum(self.published);
        let tick = Tick {
            elapsed_ms: (self.second + 1) * 1_000,
            measured: self.window.is_measured(self.second),
            counted: now.counted - self.last.counted,
            committed: now.committed - self.last.committed,
            errors: now.errors - self.last.errors,
        };
        self.second += 1;
        self.last = now;
        if self.failing.all_fail(&tick) {
            self.all_failed = true;
            self.signals.abort();
        }
        see(Seen::Tick(tick));
    }
}

/// Notices when errors are all there is.
#[derive(Debug, Default)]
struct FailureWatch {
    seconds_of_errors: u64,
    something_succeeded: bool,
}

impl FailureWatch {
    fn all_fail(&mut self, tick: &Tick) -> bool {
        self.something_succeeded |= tick.committed > 0;
        self.seconds_of_errors = if tick.errors > 0 { self.seconds_of_errors + 1 } else { 0 };
        !self.something_succeeded && self.seconds_of_errors >= ALL_FAIL_AFTER_S
    }
}

/// One result out of many: the first real failure if there is one, else everything merged. A database that went away
/// after it had worked takes nothing of that with it.
pub fn conclude(
    plan: &DrivePlan,
    watched: Option<(Watch<'_>, Stalls)>,
    results: Vec<ShardResult>,
) -> Result<Driven, DriveError> {
    let mut reports = Vec::with_capacity(results.len());
    let mut failures = Vec::new();
    for result in results {
        match result {
            Ok(mut report) => {
                failures.extend(report.failure.take());
                reports.push(report);
            }
            Err(error) => failures.push(error),
        }
    }
    // A shard that was not started is a consequence of another's failure.
    failures.sort_by_key(|failure| matches!(failure, DriveError::NotStarted));
    let mut broke_off = None;
    match failures.into_iter().next() {
        Some(gone @ DriveError::Gone { .. }) => broke_off = Some(gone),
        Some(failure) => return Err(failure),
        None => {}
    }
    let Some((Watch { gathering, all_failed, .. }, stalls)) = watched else { return Err(DriveError::NotStarted) };
    let most_frequent = most_frequent_error(&reports);
    let driven = gathering.conclude(plan, reports, stalls);
    let nothing_ended_well = driven.facts.whole_run.iter().all(|totals| totals.finished() == 0);
    if let Some(gone) = broke_off {
        return if nothing_ended_well { Err(gone) } else { Ok(Driven { broke_off: Some(gone.to_string()), ..driven }) };
    }
    match most_frequent.filter(|_| all_failed || nothing_ended_well) {
        Some(message) => Err(DriveError::AllFail { message }),
        None => Ok(driven),
    }
}

fn most_frequent_error(reports: &[ShardReport]) -> Option<String> {
    let mut errors = ErrorBook::default();
    for report in reports {
        errors.absorb(report.errors.clone());
    }
    errors.most_frequent().map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(committed: u64, errors: u64) -> Tick {
        Tick { elapsed_ms: 0, measured: true, counted: 0, committed, errors }
    }

    #[test]
    fn only_repeated_errors_without_any_success_are_hopeless() {
        let mut watch = FailureWatch::default();
        assert!((0..100).all(|_| !watch.all_fail(&tick(0, 0))), "slow is not failed");
        assert!((0..100).all(|_| !watch.all_fail(&tick(1, 900))), "neither is one success a second");
        assert!((0..100).all(|_| !watch.all_fail(&tick(0, 3))), "what worked once may work again");
        let mut watch = FailureWatch::default();
        assert!((0..4).all(|_| !watch.all_fail(&tick(0, 3))) && !watch.all_fail(&tick(0, 0)), "others may be at work");
        let until = (1..100).find(|_| watch.all_fail(&tick(0, 3)));
        assert_eq!(until, Some(ALL_FAIL_AFTER_S));
    }
}
