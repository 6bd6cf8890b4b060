//! The bounded queue of work that users of one actor hand over to another, or that their transactions cause for it.
//!
//! A user has done its part once the work it hands over is queued. Such work is due when the user wanted it: if the
//! queue is full, waiting for room is part of its response time, and is counted. Caused work is due some time after its
//! cause has ended, and nobody waits for it. A pool of sessions executes all of it. The pool begins in proportion to
//! the clients, and grows while work is overdue.

use crate::clock::Nanos;
use crate::recorder::Backlog;
use crate::slice::ClientIndex;
use record::trial::Deferred;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;

/// Transactions that may be queued, in all shards together. That is far more than are ever queued while background
/// sessions keep up, and takes little memory.
pub const QUEUE_CAPACITY: usize = 2_048;

/// Transactions that may be due later, in all shards together. A market that answers within minutes has some ten thousand.
pub const LATER_CAPACITY: usize = 100_000;

/// There is one background session for this many sessions of clients, and at least one for each shard with clients.
pub const CLIENTS_FOR_ONE: u32 = 8;

/// The pool grows when the oldest transaction has waited this long. That is a multiple of what a transaction takes if
/// nothing holds it up, and too short for clients to notice.
pub const OVERDUE_AFTER: Nanos = Nanos::from_millis(100);

/// Result lines that all shards together keep. They last for hours at small rates and take some megabytes at most.
pub const LOG_LINES_MAX: usize = 20_000;

/// A transaction that is to be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job<I> {
    pub input: I,
    /// The actor that executes it.
    pub actor: u16,
    pub kind: u16,
    pub due: Nanos,
    /// The client that waits for it; `None` for deferred ones.
    pub client: Option<ClientIndex>,
    /// The user of its actor that learns from the answers, if any.
    pub user: Option<ClientIndex>,
    /// How long that client pauses once it is done.
    pub thinking: Nanos,
}

/// The transaction to execute now. With it comes the client (actor, index and think time) whose transaction took its
/// place in the queue.
type Taken<I> = (Job<I>, Option<(u16, ClientIndex, Nanos)>);

/// A client that waits until the transaction it defers is queued.
struct Waiting<I> {
    actor: u16,
    client: ClientIndex,
    job: Job<I>,
}

pub struct Deferral<I> {
    queue: VecDeque<Job<I>>,
    /// By when they are due; of two that are due at the same moment, the one that was caused first comes first.
    later: BTreeMap<(Nanos, u64), Job<I>>,
    later_capacity: usize,
    caused: u64,
    waiting: VecDeque<Waiting<I>>,
    capacity: usize,
    totals: Deferred,
}

impl<I> Deferral<I> {
    /// At most `clients` clients can wait at a time, because a waiting client does nothing else.
    pub fn new(capacity: usize, later_capacity: usize, clients: usize) -> Self {
        Self {
            queue: VecDeque::with_capacity(capacity),
            later: BTreeMap::new(),
            later_capacity,
            caused: 0,
            waiting: VecDeque::with_capacity(clients),
            capacity,
            totals: Deferred::default(),
        }
    }

    /// Queues the transaction and returns true, or lets its client wait for room and returns false.
    pub fn offer(&mut self, actor: u16, client: ClientIndex, job: Job<I>) -> bool {
        if self.queue.len() >= self.capacity {
            self.totals.held_up += 1;
            self.waiting.push_back(Waiting { actor, client, job });
            return false;
        }
        self.enqueue(job);
        true
    }

    /// Queues a transaction that no client waits for, or turns it away.
    pub fn offer_or_leave(&mut self, job: Job<I>) {
        if self.queue.len() >= self.capacity {
            self.turn_away();
        } else {
            self.enqueue(job);
        }
    }

    /// Takes in what a transaction has caused, or turns it away if there is no room.
    pub fn cause(&mut self, job: Job<I>, now: Nanos) {
        if job.due <= now {
            self.offer_or_leave(job);
        } else if self.later.len() >= self.later_capacity {
            self.turn_away();
        } else {
            self.caused += 1;
            self.later.insert((job.due, self.caused), job);
        }
    }

    /// Counts a transaction for which there is no room.
    pub fn turn_away(&mut self) {
        self.totals.turned_away += 1;
    }

    /// Queues what has become due; returns how many. The queue's bound does not apply here, because what is due later
    /// has a bound of its own.
    pub fn admit(&mut self, now: Nanos) -> usize {
        let before = self.queue.len();
        while let Some(next) = self.later.first_entry().filter(|next| next.key().0 <= now) {
            let job = next.remove();
            self.enqueue(job);
        }
        self.queue.len() - before
    }

    /// When the next of the later transactions becomes due.
    pub fn next_later(&self) -> Option<Nanos> {
        self.later.first_key_value().map(|((due, _), _)| *due)
    }

    pub fn next_due(&self) -> Option<Nanos> {
        self.queue.front().map(|job| job.due)
    }

    /// Takes the oldest transaction. The client that has waited longest for room then goes on.
    pub fn take(&mut self) -> Option<Taken<I>> {
        let job = self.queue.pop_front()?;
        let admitted = self.waiting.pop_front().map(|Waiting { actor, client, job }| {
            let thinking = job.thinking;
            self.enqueue(job);
            (actor, client, thinking)
        });
        Some((job, admitted))
    }

    pub fn backlog(&self) -> Backlog {
        Backlog { waiting: (self.queue.len() + self.waiting.len()) as u64, queued: self.totals.queued }
    }

    /// Clients stop waiting for room, because driving begins to end. Returns the transactions they had to hand over,
    /// which have waited until now.
    pub fn admit_no_more(&mut self) -> impl Iterator<Item = Job<I>> + '_ {
        self.waiting.drain(..).map(|waiting| waiting.job)
    }

    /// Queued transactions that will not be executed any more.
    pub fn left(&self) -> impl Iterator<Item = &Job<I>> {
        self.queue.iter()
    }

    pub fn ended(&mut self, well: bool) {
        if well { self.totals.done += 1 } else { self.totals.failed += 1 }
    }

    /// Totals at the end; what is still queued counts as abandoned.
    pub fn totals(&self) -> Deferred {
        Deferred { abandoned: self.queue.len() as u64, not_due: self.later.len() as u64, ..self.totals }
    }

    fn enqueue(&mut self, job: Job<I>) {
        self.queue.push_back(Job {
            client: None,
            user: job.user.filter(|_| job.client.is_none()),
            thinking: Nanos::ZERO,
            ..job
        });
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

/// Result lines up to a bound, and how many more were dropped.
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

/// All result lines under a heading, tab-separated, in the order in which the transactions were done. Empty if there
/// were none.
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

    fn job<I>(input: I, due: u64, thinking: u64) -> Job<I> {
        Job { input, actor: 1, kind: 3, due: Nanos(due), client: Some(9), user: None, thinking: Nanos(thinking) }
    }

    #[test]
    fn what_is_caused_comes_when_it_is_due_and_in_that_order() {
        let mut deferral = Deferral::new(1, 3, 0);
        for (input, due) in [("c", 30), ("a", 10), ("b", 10), ("too many", 40)] {
            deferral.cause(job(input, due, 0), Nanos(5));
        }
        assert_eq!((deferral.next_due(), deferral.next_later()), (None, Some(Nanos(10))));
        assert_eq!((deferral.admit(Nanos(9)), deferral.admit(Nanos(20))), (0, 2), "more than clients could queue");
        deferral.cause(job("full", 20, 0), Nanos(20));
        let taken: Vec<_> = std::iter::from_fn(|| deferral.take()).map(|(job, _)| (job.input, job.due.0)).collect();
        assert_eq!(taken, [("a", 10), ("b", 10)]);
        let totals = deferral.totals();
        assert_eq!((totals.queued, totals.turned_away, totals.not_due, totals.abandoned), (2, 2, 1, 0));
    }

    #[test]
    fn who_does_not_wait_is_turned_away_from_a_full_queue() {
        let mut deferral = Deferral::new(1, 0, 4);
        deferral.offer_or_leave(job("a", 1, 0));
        deferral.offer_or_leave(job("b", 2, 0));
        assert_eq!((deferral.totals().queued, deferral.totals().turned_away), (1, 1));
    }

    #[test]
    fn who_waits_for_room_does_so_in_the_response_of_what_it_defers() {
        let mut deferral = Deferral::new(2, 0, 4);
        assert!(deferral.offer(0, 0, job("a", 1, 0)));
        assert!(deferral.offer(0, 1, job("b", 2, 0)));
        assert!(!deferral.offer(0, 2, job("c", 3, 70)));
        assert_eq!(deferral.backlog(), Backlog { waiting: 3, queued: 2 });
        let (job, admitted) = deferral.take().unwrap();
        assert_eq!((job.input, job.due, admitted), ("a", Nanos(1), Some((0, 2, Nanos(70)))));
        assert_eq!(deferral.take().unwrap().0.input, "b");
        let (late, admitted) = deferral.take().unwrap();
        assert_eq!(
            (late.input, late.due, late.client, admitted),
            ("c", Nanos(3), None, None),
            "due when it was wanted"
        );
        let totals = deferral.totals();
        assert_eq!((totals.queued, totals.held_up, totals.longest_queue, totals.abandoned), (3, 1, 2, 0));
    }

    #[test]
    fn what_is_left_is_abandoned() {
        let mut deferral = Deferral::new(1, 0, 4);
        deferral.offer(0, 0, job('x', 0, 0));
        deferral.offer(0, 1, job('y', 5, 0));
        assert_eq!(deferral.admit_no_more().map(|job| job.due).collect::<Vec<_>>(), [Nanos(5)]);
        assert_eq!(deferral.totals().abandoned, 1, "a client that waits for room has queued nothing");
        assert_eq!(deferral.left().count(), 1);
        assert_eq!(deferral.take().unwrap().1, None);
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
