//! Records what one shard does, second by second.
//!
//! A transaction is booked in the second in which it is done, and every total is later a sum over seconds. So intervals
//! and totals cannot disagree. Histograms become sparse counts at the end of each second, and a finished second is
//! handed on: nothing here grows with the duration of driving.
//!
//! Transactions that were due in the measured window and had not ended with it are kept apart. Percentiles of only
//! those that ended in time would hide a database that hangs.

use crate::clock::{Nanos, Turns};
use crate::counts::{Latencies, SparseCounts};
use crate::pacing::QueueCounts;
use crate::plan::Receipt;
use crate::window::Window;
use engines::session::SessionWork;
use record::trial::Work;
use workloads::effects::{Effects, Tally, TimedStep};
use workloads::workload::Ending;

/// What was done in one second for one kind of transaction. The histograms hold only transactions that ended well.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KindSecond {
    pub committed: u64,
    pub rolled_back: u64,
    pub retries: u64,
    pub failed: u64,
    pub response: SparseCounts,
    pub service: SparseCounts,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Second {
    /// Counted from the start, warm-up included.
    pub index: u64,
    /// Whether the shard drove through all of it, or until its streams ended.
    pub whole: bool,
    /// The shard's last second: nothing follows it.
    pub is_last: bool,
    pub kinds: Vec<KindSecond>,
    pub tally: Tally,
    pub work: Work,
    /// When the last transaction booked in it ended; zero if there was none.
    pub last_done: Nanos,
    /// Answers that users got, if the plan asks for receipts.
    pub receipts: Vec<Receipt>,
    /// How long due transactions waited for a session.
    pub session_wait: SparseCounts,
    /// How long due transactions that had a session waited for the driver.
    pub lateness: SparseCounts,
    /// CPU time of the shard's thread.
    pub cpu: Nanos,
    /// The thread's waits for a CPU; `None` if they are not counted.
    pub turns: Option<Turns>,
    /// Time in which the shard waited for the database or for work to become due.
    pub idle: Nanos,
    /// Pauses between transactions that clients began in this second, whenever they end.
    pub paused: Nanos,
    /// The queue for sessions: how many came or were turned away in this second, how many waited at its end, and the
    /// longest queue so far.
    pub queue: QueueCounts,
    /// How many deferred transactions waited at its end, and how many were queued in it.
    pub deferred: Backlog,
}

/// Deferred transactions that wait for a background session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    pub waiting: u64,
    pub queued: u64,
}

impl Second {
    pub fn empty(index: u64, kinds: usize, counters: usize) -> Self {
        Self {
            index,
            whole: true,
            is_last: false,
            kinds: vec![KindSecond::default(); kinds],
            tally: Tally::new(counters),
            work: Work::default(),
            last_done: Nanos::ZERO,
            receipts: Vec::new(),
            session_wait: SparseCounts::new(),
            lateness: SparseCounts::new(),
            cpu: Nanos::ZERO,
            turns: None,
            idle: Nanos::ZERO,
            paused: Nanos::ZERO,
            queue: QueueCounts::default(),
            deferred: Backlog::default(),
        }
    }
}

/// The life of one transaction, as its session task saw it.
#[derive(Debug, Clone, Copy)]
pub struct Executed {
    pub kind: u16,
    pub due: Nanos,
    /// When a session became free for it.
    pub free: Nanos,
    /// When its first attempt began.
    pub sent: Nanos,
    pub done: Nanos,
    pub retries: u32,
    /// `None` if it failed for good.
    pub ending: Option<Ending>,
    pub work: SessionWork,
    /// Executed in the background, so nobody waited for a session.
    pub deferred: bool,
}

/// Readings taken when a second ends.
#[derive(Debug, Clone, Copy, Default)]
pub struct Meters {
    pub cpu: Nanos,
    pub turns: Option<Turns>,
    pub idle: Nanos,
    pub queue: QueueCounts,
    /// Here `queued` counts since the phase began.
    pub deferred: Backlog,
}

/// Some transactions are under way at any moment. One that had not ended with the window is unended only if it had
/// waited this long.
const UNENDED_AFTER: Nanos = Nanos::from_seconds(1);

pub struct Recorder {
    window: Window,
    second_end: Nanos,
    current: Second,
    response: Vec<Latencies>,
    service: Vec<Latencies>,
    session_wait: Latencies,
    lateness: Latencies,
    meters: Meters,
    keeps_receipts: bool,
    /// By kind; made when the first one is booked, which is after the window.
    unended: Vec<Option<Latencies>>,
}

impl Recorder {
    pub fn new(window: Window, kinds: usize, counters: usize, keeps_receipts: bool, meters: Meters) -> Self {
        let latencies = || (0..kinds).map(|_| Latencies::new()).collect();
        Self {
            second_end: window.second_start(1),
            window,
            current: Second::empty(0, kinds, counters),
            response: latencies(),
            service: latencies(),
            session_wait: Latencies::new(),
            lateness: Latencies::new(),
            meters,
            keeps_receipts,
            unended: (0..kinds).map(|_| None).collect(),
        }
    }

    /// When the current second is over.
    #[inline]
    pub fn second_end(&self) -> Nanos {
        self.second_end
    }

    /// Closes the current second if it is over by now. The next second is the one that contains `now`.
    #[inline]
    pub fn close_second(&mut self, now: Nanos, meters: Meters) -> Option<Second> {
        if now < self.second_end {
            return None;
        }
        let next = self.window.second_of(now);
        Some(self.close_current(meters, next))
    }

    /// Books a finished transaction; the caller has closed the seconds before it.
    pub fn book<I>(&mut self, life: &Executed, effects: &Effects<'_, I>) {
        self.current.last_done = self.current.last_done.max(life.done);
        let Some(kind) = self.current.kinds.get_mut(usize::from(life.kind)) else { return };
        kind.retries += u64::from(life.retries);
        self.current.work.statements += life.work.statements;
        self.current.work.round_trips += life.work.round_trips;
        self.current.work.rows_returned += life.work.rows_returned;
        self.current.work.rows_changed += life.work.rows_changed;
        if !life.deferred {
            self.session_wait.record(life.free.since(life.due));
        }
        self.lateness.record(life.sent.since(life.due.max(life.free)));
        if self.keeps_receipts {
            // Also of a transaction that failed after a part of it was committed.
            let numbers = if life.ending.is_some() { effects.receipt().to_vec() } else { Vec::new() };
            let (sent_ns, done_ns, written) = (life.sent.0, life.done.0, effects.written().to_vec());
            if !numbers.is_empty() || !written.is_empty() {
                self.current.receipts.push(Receipt { kind: life.kind, sent_ns, done_ns, numbers, written });
            }
        }
        match life.ending {
            Some(Ending::Committed) => kind.committed += 1,
            Some(Ending::RolledBack) => kind.rolled_back += 1,
            None => {
                kind.failed += 1;
                return;
            }
        }
        self.current.work.transactions += 1;
        self.current.tally.absorb(&effects.tally);
        for step in effects.steps() {
            self.book_step(step);
        }
        self.response[usize::from(life.kind)].record(life.done.since(life.due));
        self.service[usize::from(life.kind)].record(life.done.since(life.sent));
        if life.done >= self.window.measured_end() {
            self.book_unended(life.kind, life.due, life.done);
        }
    }

    /// Books a step as done together with its transaction. Nobody waited for it before it began.
    #[cold]
    fn book_step(&mut self, step: &TimedStep) {
        let index = usize::from(step.kind);
        let Some(kind) = self.current.kinds.get_mut(index) else { return };
        kind.committed += 1;
        let took = Nanos(step.ended_ns).since(Nanos(step.began_ns));
        self.response[index].record(took);
        self.service[index].record(took);
    }

    /// Books a transaction that was due in the measured window and had not ended with it, with its time until `now`.
    /// That is when it ended after all, or when driving was given up.
    pub fn book_unended(&mut self, kind: u16, due: Nanos, now: Nanos) {
        let waited = now.since(due);
        let was_due = (self.window.measured_start()..self.window.measured_end()).contains(&due);
        if !was_due || waited < UNENDED_AFTER {
            return;
        }
        let Some(place) = self.unended.get_mut(usize::from(kind)) else { return };
        place.get_or_insert_with(Latencies::new).record(waited);
    }

    /// Books a client's pause between two transactions; the caller has closed the seconds before it.
    #[inline]
    pub fn pause(&mut self, pause: Nanos) {
        self.current.paused = self.current.paused + pause;
    }

    /// Returns the last, partial second and, by kind, what had not ended with the window.
    pub fn finish(mut self, meters: Meters) -> (Second, Vec<SparseCounts>) {
        let after = self.current.index + 1;
        let last = Second { is_last: true, ..self.close_current(meters, after) };
        let unended = self.unended.into_iter().map(|kind| kind.map(|mut kind| kind.take()).unwrap_or_default());
        (last, unended.collect())
    }

    fn close_current(&mut self, meters: Meters, next: u64) -> Second {
        let (kinds, counters) = (self.current.kinds.len(), self.current.tally.0.len());
        let mut second = std::mem::replace(&mut self.current, Second::empty(next, kinds, counters));
        let histograms = self.response.iter_mut().zip(&mut self.service);
        for (kind, (response, service)) in second.kinds.iter_mut().zip(histograms) {
            kind.response = response.take();
            kind.service = service.take();
        }
        second.session_wait = self.session_wait.take();
        second.lateness = self.lateness.take();
        second.cpu = meters.cpu.since(self.meters.cpu);
        second.turns = meters.turns.zip(self.meters.turns).map(|(now, before)| now.since(before));
        second.idle = meters.idle.since(self.meters.idle);
        second.queue = QueueCounts {
            came: meters.queue.came - self.meters.queue.came,
            turned_away: meters.queue.turned_away - self.meters.queue.turned_away,
            ..meters.queue
        };
        let queued = meters.deferred.queued - self.meters.deferred.queued;
        second.deferred = Backlog { queued, ..meters.deferred };
        self.meters = meters;
        self.second_end = self.window.second_start(next + 1);
        second
    }
}

/// The work of a session between two readings.
#[inline]
pub fn work_between(before: SessionWork, after: SessionWork) -> SessionWork {
    SessionWork {
        statements: after.statements.saturating_sub(before.statements),
        round_trips: after.round_trips.saturating_sub(before.round_trips),
        rows_returned: after.rows_returned.saturating_sub(before.rows_returned),
        rows_changed: after.rows_changed.saturating_sub(before.rows_changed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::total;

    const WINDOW: Window = Window { start: Nanos(0), warmup_s: 1, measure_s: 2, ..Window::AT_ZERO };

    fn life(kind: u16, done_ms: u64, ending: Option<Ending>) -> Executed {
        Executed {
            kind,
            due: Nanos::from_millis(done_ms - 30),
            free: Nanos::from_millis(done_ms - 25),
            sent: Nanos::from_millis(done_ms - 20),
            done: Nanos::from_millis(done_ms),
            retries: 2,
            ending,
            work: SessionWork { statements: 3, round_trips: 4, rows_returned: 5, rows_changed: 7 },
            deferred: kind == 1,
        }
    }

    fn meters(cpu: u64, idle: u64, came: u64) -> Meters {
        let queue = QueueCounts { came, ..QueueCounts::default() };
        Meters { cpu: Nanos(cpu), idle: Nanos(idle), queue, ..Meters::default() }
    }

    fn recorder() -> Recorder {
        Recorder::new(WINDOW, 2, 1, false, Meters::default())
    }

    /// Returns the seconds that closed on the way.
    fn booked(recorder: &mut Recorder, lives: &[Executed]) -> Vec<Second> {
        let mut closed = Vec::new();
        for life in lives {
            closed.extend(recorder.close_second(life.done, Meters::default()));
            let mut effects = Effects::<()>::new(1, &|| 0, &|_| ());
            effects.tally.add(0, 10);
            recorder.book(life, &effects);
        }
        closed
    }

    fn only_second(lives: &[Executed]) -> Second {
        let mut recorder = recorder();
        assert_eq!(booked(&mut recorder, lives), []);
        recorder.finish(Meters::default()).0
    }

    #[test]
    fn a_transaction_belongs_to_the_second_in_which_it_is_done() {
        let mut recorder = recorder();
        let committed = Some(Ending::Committed);
        let lives = [life(0, 999, committed), life(0, 1_000, committed), life(1, 2_500, Some(Ending::RolledBack))];
        let mut seconds = booked(&mut recorder, &lives);
        seconds.push(recorder.finish(Meters::default()).0);
        let by_second: Vec<_> = seconds
            .iter()
            .map(|second| (second.index, second.kinds[0].committed, second.kinds[1].rolled_back))
            .collect();
        assert_eq!(by_second, [(0, 1, 0), (1, 1, 0), (2, 0, 1)]);
    }

    #[test]
    fn three_times_become_two_spans_a_wait_and_a_lateness() {
        let second = only_second(&[life(0, 500, Some(Ending::Committed))]);
        let near =
            |counts: &SparseCounts, millis: u64| total(counts) == 1 && counts[0].0.abs_diff(millis * 1_000) <= millis;
        assert!(near(&second.kinds[0].response, 30));
        assert!(near(&second.kinds[0].service, 20));
        assert!(near(&second.session_wait, 5), "until a session was free");
        assert!(near(&second.lateness, 5), "late only since a session was free");
    }

    #[test]
    fn what_is_deferred_keeps_nobody_waiting_for_a_session() {
        let second = only_second(&[life(1, 500, Some(Ending::Committed))]);
        assert_eq!((total(&second.session_wait), total(&second.lateness)), (0, 1));
    }

    #[test]
    fn a_failed_transaction_is_work_but_no_latency_and_no_tally() {
        let second = only_second(&[life(0, 500, None)]);
        assert_eq!((second.kinds[0].failed, second.kinds[0].committed, second.kinds[0].retries), (1, 0, 2));
        assert_eq!((second.work.transactions, second.work.statements), (0, 3));
        assert_eq!(second.tally, Tally(vec![0]));
        assert_eq!(second.kinds[0].response, []);
    }

    #[test]
    fn a_second_has_what_the_meters_gained_in_it() {
        let mut recorder = recorder();
        booked(&mut recorder, &[life(0, 500, Some(Ending::Committed))]);
        let first = recorder.close_second(Nanos::from_millis(1_100), meters(40, 60, 9)).unwrap();
        let (second, _) = recorder.finish(meters(41, 62, 11));
        let shape = [first, second].map(|second| (second.index, second.cpu.0, second.idle.0, second.queue.came));
        assert_eq!(shape, [(0, 40, 60, 9), (1, 1, 2, 2)]);
    }

    /// The window is from 1 s to 3 s.
    #[test]
    fn what_outlasts_the_window_by_far_is_booked_with_its_whole_time() {
        let mut recorder = recorder();
        let ended = |due_ms: u64, done_ms: u64| Executed {
            due: Nanos::from_millis(due_ms),
            ..life(0, done_ms, Some(Ending::Committed))
        };
        booked(&mut recorder, &[ended(900, 3_100), ended(1_500, 2_900), ended(2_500, 3_400), ended(2_500, 4_600)]);
        recorder.book_unended(1, Nanos::from_millis(2_000), Nanos::from_millis(9_000));
        let (_, unended) = recorder.finish(Meters::default());
        let times = |kind: usize| unended[kind].iter().map(|(micros, _)| micros / 10_000).collect::<Vec<_>>();
        assert_eq!((times(0), times(1)), (vec![210], vec![700]));
    }
}
