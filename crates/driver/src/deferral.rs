//! The bounded queue between clients and the background session that executes what they deferred.
//!
//! A client's part of a deferred transaction ends when it is queued; that moment is when the transaction is due.
//! When the queue is full the client waits until there is room, and that is counted.

use crate::clock::Nanos;
use crate::pacing::ClientIndex;
use std::collections::VecDeque;
use std::fmt::Write;

/// Queued transactions of one shard. Far more than a background session that keeps up ever has before it, and few
/// enough to be drained in seconds when the driving ends.
pub const QUEUE_CAPACITY: usize = 256;

/// Result lines kept, all shards together; enough for hours at small rates and some megabytes at most.
pub const LOG_LINES_MAX: usize = 20_000;

/// A transaction that somebody has to execute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job<I> {
    pub input: I,
    pub kind: u16,
    pub due: Nanos,
    /// The client that waits for it; `None` for deferred ones.
    pub client: Option<ClientIndex>,
    /// How long that client pauses when it is done.
    pub thinking: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeferredTotals {
    pub queued: u64,
    pub done: u64,
    pub failed: u64,
    /// Still in the queue when driving ended for good.
    pub abandoned: u64,
    /// How often a client had to wait because the queue was full.
    pub waits_for_room: u64,
    /// Arrivals that found the queue full: whoever sends them does not wait.
    pub turned_away: u64,
    pub longest_queue: u64,
}

impl DeferredTotals {
    pub fn absorb(&mut self, other: &Self) {
        self.queued += other.queued;
        self.done += other.done;
        self.failed += other.failed;
        self.abandoned += other.abandoned;
        self.waits_for_room += other.waits_for_room;
        self.turned_away += other.turned_away;
        self.longest_queue = self.longest_queue.max(other.longest_queue);
    }
}

/// What is to be executed now, and the client whose transaction took its place in the queue, with its think time.
type Taken<I> = (Job<I>, Option<(ClientIndex, Nanos)>);

/// A client that cannot go on before what it defers is queued.
struct Waiting<I> {
    client: ClientIndex,
    kind: u16,
    input: I,
    thinking: Nanos,
}

pub struct Deferral<I> {
    queue: VecDeque<Job<I>>,
    waiting: VecDeque<Waiting<I>>,
    capacity: usize,
    totals: DeferredTotals,
}

impl<I> Deferral<I> {
    /// At most `clients` clients can wait at a time, because a waiting client does nothing else.
    pub fn new(capacity: usize, clients: usize) -> Self {
        Self {
            queue: VecDeque::with_capacity(capacity),
            waiting: VecDeque::with_capacity(clients),
            capacity,
            totals: DeferredTotals::default(),
        }
    }

    /// Queues the transaction and returns true, or lets its client wait for room and returns false.
    pub fn offer(&mut self, client: ClientIndex, job: Job<I>, now: Nanos) -> bool {
        let Job { kind, input, thinking, .. } = job;
        if self.queue.len() >= self.capacity {
            self.totals.waits_for_room += 1;
            self.waiting.push_back(Waiting { client, kind, input, thinking });
            return false;
        }
        self.enqueue(kind, input, now);
        true
    }

    /// Queues the transaction of somebody who does not wait, or turns it away.
    pub fn offer_or_leave(&mut self, job: Job<I>, now: Nanos) {
        if self.queue.len() >= self.capacity {
            self.totals.turned_away += 1;
        } else {
            self.enqueue(job.kind, job.input, now);
        }
    }

    pub fn next_due(&self) -> Option<Nanos> {
        self.queue.front().map(|job| job.due)
    }

    /// Takes the oldest transaction, and lets the client go on for whose transaction this made room.
    pub fn take(&mut self, now: Nanos) -> Option<Taken<I>> {
        let job = self.queue.pop_front()?;
        let admitted = self.waiting.pop_front().map(|Waiting { client, kind, input, thinking }| {
            self.enqueue(kind, input, now);
            (client, thinking)
        });
        Some((job, admitted))
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Driving begins to end: who still waits for room has queued nothing.
    pub fn admit_no_more(&mut self) {
        self.waiting.clear();
    }

    pub fn ended(&mut self, well: bool) {
        if well { self.totals.done += 1 } else { self.totals.failed += 1 }
    }

    /// Totals at the end; what is still queued counts as abandoned.
    pub fn totals(&self) -> DeferredTotals {
        DeferredTotals { abandoned: self.queue.len() as u64, ..self.totals }
    }

    fn enqueue(&mut self, kind: u16, input: I, now: Nanos) {
        self.queue.push_back(Job { input, kind, due: now, client: None, thinking: Nanos::ZERO });
        self.totals.queued += 1;
        self.totals.longest_queue = self.totals.longest_queue.max(self.queue.len() as u64);
    }
}

/// How one deferred transaction went; times since the start of driving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultLine {
    pub kind: u16,
    pub queued: Nanos,
    pub done: Nanos,
    pub well: bool,
}

/// Result lines up to a bound, and how many there would have been.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResultLines {
    pub kept: Vec<ResultLine>,
    pub dropped: u64,
    capacity: usize,
}

impl ResultLines {
    pub fn new(capacity: usize) -> Self {
        Self { kept: Vec::with_capacity(capacity), dropped: 0, capacity }
    }

    pub fn push(&mut self, line: ResultLine) {
        if self.kept.len() < self.capacity { self.kept.push(line) } else { self.dropped += 1 }
    }
}

/// All result lines in the order in which the transactions were done, one a line, tab-separated, with a heading.
/// Empty if there was none.
pub fn render(kinds: &[&str], shards: &[ResultLines]) -> String {
    let mut lines: Vec<ResultLine> = shards.iter().flat_map(|lines| &lines.kept).copied().collect();
    let dropped: u64 = shards.iter().map(|lines| lines.dropped).sum();
    if lines.is_empty() && dropped == 0 {
        return String::new();
    }
    lines.sort_by_key(|line| (line.done, line.queued));
    let mut text = String::from("kind\tqueued_us\tdone_us\toutcome\n");
    for line in lines {
        let kind = kinds.get(usize::from(line.kind)).copied().unwrap_or("?");
        let outcome = if line.well { "done" } else { "failed" };
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{kind}\t{}\t{}\t{outcome}", line.queued.as_micros(), line.done.as_micros());
    }
    if dropped > 0 {
        let _ = writeln!(text, "# and {dropped} more, not kept");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job<I>(kind: u16, input: I, thinking: u64) -> Job<I> {
        Job { input, kind, due: Nanos(0), client: None, thinking: Nanos(thinking) }
    }

    #[test]
    fn who_does_not_wait_is_turned_away_from_a_full_queue() {
        let mut deferral = Deferral::new(1, 4);
        deferral.offer_or_leave(job(0, "a", 0), Nanos(1));
        deferral.offer_or_leave(job(0, "b", 0), Nanos(2));
        assert_eq!((deferral.totals().queued, deferral.totals().turned_away), (1, 1));
    }

    #[test]
    fn a_full_queue_makes_the_client_wait_and_counts_it() {
        let mut deferral = Deferral::new(2, 4);
        assert!(deferral.offer(0, job(3, "a", 0), Nanos(1)));
        assert!(deferral.offer(1, job(3, "b", 0), Nanos(2)));
        assert!(!deferral.offer(2, job(3, "c", 70), Nanos(3)));
        let (job, admitted) = deferral.take(Nanos(9)).unwrap();
        assert_eq!((job.input, job.due, admitted), ("a", Nanos(1), Some((2, Nanos(70)))));
        assert_eq!(deferral.take(Nanos(10)).unwrap().0.input, "b");
        let (late, admitted) = deferral.take(Nanos(11)).unwrap();
        assert_eq!((late.input, late.due, admitted), ("c", Nanos(9), None), "due when it was queued");
        let totals = deferral.totals();
        assert_eq!((totals.queued, totals.waits_for_room, totals.longest_queue, totals.abandoned), (3, 1, 2, 0));
    }

    #[test]
    fn what_is_left_is_abandoned() {
        let mut deferral = Deferral::new(1, 4);
        deferral.offer(0, job(0, 'x', 0), Nanos(0));
        deferral.offer(1, job(0, 'y', 0), Nanos(0));
        deferral.admit_no_more();
        assert_eq!(deferral.totals().abandoned, 1, "a client that waits for room has queued nothing");
        assert_eq!(deferral.take(Nanos(5)).unwrap().1, None);
    }

    #[test]
    fn the_log_is_bounded_and_says_what_is_missing() {
        let mut one = ResultLines::new(1);
        let mut two = ResultLines::new(1);
        two.push(ResultLine { kind: 1, queued: Nanos(0), done: Nanos::from_micros(5), well: true });
        two.push(ResultLine { kind: 1, queued: Nanos(0), done: Nanos::from_micros(6), well: true });
        one.push(ResultLine { kind: 1, queued: Nanos::from_micros(2), done: Nanos::from_micros(9), well: false });
        let text = render(&["a", "delivery"], &[one, two]);
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines, ["delivery\t0\t5\tdone", "delivery\t2\t9\tfailed", "# and 1 more, not kept"]);
        assert_eq!(render(&["a"], &[ResultLines::new(5)]), "");
    }
}
