//! The calling thread's part. It reports a tick each second, and seconds as they become complete. It notices when
//! nothing succeeds, and makes one result in the end.

use crate::clock::{Clock, MonotonicClock};
use crate::error::DriveError;
use crate::errors::ErrorBook;
use crate::merge::Gathering;
use crate::plan::{DrivePlan, Driven, LoadPhase, SeenProgress, Tick};
use crate::recorder::Second;
use crate::report::ShardReport;
use crate::signals::{Note, Progress, RunningTotals, Signals};
use crate::window::Window;
use record::script::PhaseEnd;
use record::trial::Stalls;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError};

/// After this many seconds in a row with errors, and no success since the start, driving is given up.
const ALL_FAIL_AFTER_S: u64 = 5;

/// The calling thread's part while shards drive.
pub struct Watch<'a> {
    window: Window,
    published: &'a [RunningTotals],
    signals: &'a Signals<'a>,
    second: u64,
    last: Progress,
    failing: FailureWatch,
    all_failed: bool,
    gathering: Gathering,
}

impl<'a> Watch<'a> {
    pub fn new(window: Window, published: &'a [RunningTotals], signals: &'a Signals<'a>, gathering: Gathering) -> Self {
        let (failing, last) = (FailureWatch::default(), RunningTotals::sum(published));
        Self { window, published, signals, second: 0, last, failing, all_failed: false, gathering }
    }

    /// Ticks once a second until all shards have finished the phase. Each ends by itself, within the drain limit.
    /// Returns their reports; a thread that has returned sends none.
    pub fn until_over(
        &mut self,
        inbox: &Receiver<Note>,
        shards: usize,
        see: &mut dyn FnMut(SeenProgress),
    ) -> Vec<ShardReport> {
        let (mut over, mut reports) = (BTreeSet::new(), BTreeMap::new());
        while over.len() < shards {
            let next = self.window.second_start(self.second + 1);
            match inbox.recv_timeout(next.since(MonotonicClock.now()).as_duration()) {
                Ok(Note::Phase { shard, report }) => {
                    over.insert(shard);
                    reports.insert(shard, *report);
                }
                Ok(Note::Over { shard }) => {
                    over.insert(shard);
                }
                Ok(Note::Ready) => {}
                Ok(Note::Closed { shard, second }) => self.take(shard, *second, see),
                Err(RecvTimeoutError::Timeout) => self.tick(see),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        // The last second ends when the shards do, so its tick is usually still missing.
        while self.second < self.window.seconds() && MonotonicClock.now() >= self.window.second_start(self.second + 1) {
            self.tick(see);
        }
        let reports: Vec<ShardReport> = reports.into_values().collect();
        self.end(&reports, see);
        reports
    }

    /// Called once all shards are over.
    pub fn end(&mut self, reports: &[ShardReport], see: &mut dyn FnMut(SeenProgress)) {
        if !reports.is_empty() && reports.iter().all(|report| report.ended == PhaseEnd::Streams) {
            self.gathering.end_with_streams().into_iter().for_each(|second| see(SeenProgress::Second(second)));
        }
    }

    /// Takes in a second of one shard, and reports the second that this completes.
    pub fn take(&mut self, shard: u32, mut second: Second, see: &mut dyn FnMut(SeenProgress)) {
        let receipts = std::mem::take(&mut second.receipts);
        if !receipts.is_empty() {
            see(SeenProgress::Receipts(receipts));
        }
        if let Some(seen) = self.gathering.take(shard, second) {
            see(SeenProgress::Second(seen));
        }
    }

    /// Reports one more second that is over.
    pub fn tick(&mut self, see: &mut dyn FnMut(SeenProgress)) {
        let now = RunningTotals::sum(self.published);
        let tick = Tick {
            elapsed_ms: self.window.offset_ms() + (self.second + 1) * 1_000,
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
        see(SeenProgress::Tick(tick));
    }
}

/// Notices when there are only errors.
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

/// Makes one result of what all shards reported of a phase. Fails if a shard failed or every transaction did.
pub fn conclude(
    plan: &DrivePlan,
    phase: &LoadPhase,
    watch: Watch<'_>,
    mut reports: Vec<ShardReport>,
    stalls: Stalls,
) -> Result<Driven, DriveError> {
    let mut failures: Vec<DriveError> = reports.iter_mut().filter_map(|report| report.failure.take()).collect();
    let Watch { gathering, all_failed, .. } = watch;
    let most_frequent = most_frequent_error(&reports);
    let driven = gathering.conclude(plan.generator, phase, reports, stalls);
    let nothing_ended_well = driven.facts.whole_run.iter().all(|totals| totals.finished() == 0);
    if !failures.is_empty() {
        // If the database went away after it had worked, what was driven until then is kept.
        return match failures.swap_remove(0) {
            gone @ DriveError::Gone { .. } if !nothing_ended_well => {
                Ok(Driven { broke_off: Some(gone.to_string()), ..driven })
            }
            failure => Err(failure),
        };
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
