//! What a transaction leaves behind besides its effect on the data.

use engines::batch::Batch;
use std::cell::Cell;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

/// Counters that a workload keeps about what it really executed, indexed as in
/// [`Workload::COUNTERS`](crate::workload::Workload::COUNTERS). The driver adds those of a transaction to the totals
/// only if it ended well.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally(pub Vec<u64>);

impl Tally {
    pub fn new(counters: usize) -> Self {
        Self(vec![0; counters])
    }

    pub fn add(&mut self, counter: usize, amount: u64) {
        self.0[counter] += amount;
    }

    pub fn clear(&mut self) {
        self.0.fill(0);
    }

    pub fn absorb(&mut self, other: &Self) {
        for (total, part) in self.0.iter_mut().zip(&other.0) {
            *total += part;
        }
    }
}

/// Work that a transaction causes for another actor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowUp<I> {
    /// The transaction; [`performer`](crate::workload::Workload::performer) says which actor executes it.
    pub input: I,
    /// It is due this long after the end of the transaction that causes it.
    pub after: Duration,
    /// The other actor's user whose transaction it is, and who learns from its answers. `None` if it belongs to nobody.
    pub user: Option<u32>,
}

/// A timed part of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedStep {
    /// Index into [`Workload::kinds`](crate::workload::Workload::kinds).
    pub kind: u16,
    pub began_ns: u64,
    pub ended_ns: u64,
}

/// What one attempt at a transaction leaves behind. A session reuses one of these for all its transactions, so that
/// none of them allocates.
pub struct Effects<'a, I> {
    pub tally: Tally,
    /// Room for the transaction's requests.
    pub batch: Batch,
    receipt: Vec<i64>,
    written: Vec<i64>,
    follow_ups: Vec<FollowUp<I>>,
    steps: Vec<TimedStep>,
    /// Nanoseconds by the driver's clock.
    clock: &'a dyn Fn() -> u64,
    /// Asks the driver to poll the transaction again at this moment.
    alarm: &'a dyn Fn(u64),
    due_ns: u64,
    kept: KeptParts,
    /// Whether the step that is open was begun by an earlier attempt.
    goes_on: bool,
}

/// How far an attempt came that another one goes on from.
#[derive(Debug)]
struct KeptParts {
    parts: usize,
    tally: Tally,
    receipt: usize,
    follow_ups: usize,
    steps: usize,
}

impl<'a, I> Effects<'a, I> {
    pub fn new(counters: usize, clock: &'a dyn Fn() -> u64, alarm: &'a dyn Fn(u64)) -> Self {
        Self {
            tally: Tally::new(counters),
            batch: Batch::default(),
            receipt: Vec::new(),
            written: Vec::new(),
            follow_ups: Vec::new(),
            steps: Vec::new(),
            clock,
            alarm,
            due_ns: 0,
            kept: KeptParts { parts: 0, tally: Tally::new(counters), receipt: 0, follow_ups: 0, steps: 0 },
            goes_on: false,
        }
    }

    /// This moment by the driver's clock, which also gives the times of what is caused.
    pub fn now_ns(&self) -> u64 {
        (self.clock)()
    }

    /// When the transaction was due, by the same clock. Its response counts from then.
    pub fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// The driver says this of each transaction before its first attempt.
    pub fn set_due(&mut self, due_ns: u64) {
        self.due_ns = due_ns;
    }

    /// Waits within the transaction, which keeps its session and its locks.
    pub async fn sleep(&self, span: Duration) {
        let until = (self.clock)().saturating_add(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX));
        let is_set = Cell::new(false);
        poll_fn(|_| {
            if (self.clock)() >= until {
                return Poll::Ready(());
            }
            if !is_set.replace(true) {
                (self.alarm)(until);
            }
            Poll::Pending
        })
        .await;
    }

    /// Forgets everything before another transaction.
    pub fn clear(&mut self) {
        if self.kept.parts > 0 {
            self.kept.tally.clear();
            self.kept = KeptParts {
                parts: 0,
                receipt: 0,
                follow_ups: 0,
                steps: 0,
                tally: std::mem::take(&mut self.kept.tally),
            };
        }
        self.steps.clear();
        self.written.clear();
        self.rewind();
    }

    /// Forgets what was not kept, before another attempt at the same transaction. The time of a step that is open goes on.
    pub fn rewind(&mut self) {
        self.tally.0.copy_from_slice(&self.kept.tally.0);
        self.receipt.truncate(self.kept.receipt);
        self.follow_ups.truncate(self.kept.follow_ups);
        let open = self.steps.pop().filter(|step| step.ended_ns == 0);
        self.steps.truncate(self.kept.steps);
        self.goes_on = open.is_some();
        self.steps.extend(open);
    }

    /// What the transaction has done so far is committed, so another attempt must not do it again. Ends the step.
    pub fn keep(&mut self) {
        self.end_step();
        self.kept.parts += 1;
        self.kept.tally.0.copy_from_slice(&self.tally.0);
        (self.kept.receipt, self.kept.follow_ups) = (self.receipt.len(), self.follow_ups.len());
        self.kept.steps = self.steps.len();
    }

    /// How often the transaction has called [`keep`](Self::keep). Its next attempt goes on after them.
    pub fn kept(&self) -> usize {
        self.kept.parts
    }

    /// Gives the user these numbers, in an order that the workload fixes for each kind. The user gets them only after
    /// the database has acknowledged the transaction, so the data can be checked against a receipt.
    pub fn tell(&mut self, numbers: &[i64]) {
        self.receipt.extend_from_slice(numbers);
    }

    pub fn receipt(&self) -> &[i64] {
        &self.receipt
    }

    /// Adds the numbers of receipts whose commits were acknowledged. They stay, even if the attempt fails after that.
    pub(crate) fn wrote(&mut self, numbers: &[i64]) {
        self.written.extend_from_slice(numbers);
    }

    /// The receipts that all attempts at the transaction have left in the database.
    pub fn written(&self) -> &[i64] {
        &self.written
    }

    /// Gives another actor work once this transaction has ended.
    pub fn cause(&mut self, follow_up: FollowUp<I>) {
        self.follow_ups.push(follow_up);
    }

    pub fn take_follow_ups(&mut self) -> impl Iterator<Item = FollowUp<I>> + '_ {
        self.follow_ups.drain(..)
    }

    /// Begins a step of this kind; it ends with the next one, or with the transaction.
    pub fn begin_step(&mut self, kind: u16) {
        if std::mem::take(&mut self.goes_on) && self.steps.last().is_some_and(|step| step.kind == kind) {
            return;
        }
        let now = (self.clock)();
        self.end_step_at(now);
        self.steps.push(TimedStep { kind, began_ns: now, ended_ns: 0 });
    }

    /// Ends the step that was begun last, if it is still open.
    pub fn end_step(&mut self) {
        if !self.steps.is_empty() {
            self.end_step_at((self.clock)());
        }
    }

    /// The steps that have ended, in order.
    pub fn steps(&self) -> impl Iterator<Item = &TimedStep> {
        self.steps.iter().filter(|step| step.ended_ns > 0)
    }

    fn end_step_at(&mut self, now: u64) {
        if let Some(step) = self.steps.last_mut().filter(|step| step.ended_ns == 0) {
            step.ended_ns = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_step_ends_where_the_next_begins() {
        let now = Cell::new(100);
        let clock = || now.get();
        let mut effects = Effects::<()>::new(0, &clock, &|_| ());
        effects.begin_step(3);
        now.set(150);
        effects.begin_step(4);
        now.set(170);
        effects.end_step();
        now.set(200);
        effects.end_step();
        let steps: Vec<_> = effects.steps().map(|step| (step.kind, step.began_ns, step.ended_ns)).collect();
        assert_eq!(steps, [(3, 100, 150), (4, 150, 170)]);
    }

    #[test]
    fn another_attempt_goes_on_after_what_was_kept() {
        let now = Cell::new(100);
        let clock = || now.get();
        let mut effects = Effects::<char>::new(1, &clock, &|_| ());
        let shown = |effects: &Effects<'_, char>| {
            let steps: Vec<_> = effects.steps().map(|step| (step.kind, step.began_ns, step.ended_ns)).collect();
            (effects.kept(), effects.tally.0[0], effects.receipt().to_vec(), steps)
        };
        effects.begin_step(1);
        effects.tally.add(0, 5);
        effects.tell(&[7]);
        now.set(110);
        effects.keep();
        effects.begin_step(2);
        effects.tally.add(0, 1);
        effects.tell(&[8]);
        effects.cause(FollowUp { input: 'x', after: Duration::ZERO, user: None });
        now.set(120);
        effects.rewind();
        assert_eq!(shown(&effects), (1, 5, vec![7], vec![(1, 100, 110)]));
        assert_eq!(effects.take_follow_ups().count(), 0);
        now.set(150);
        effects.begin_step(2);
        now.set(160);
        effects.keep();
        effects.begin_step(2);
        now.set(170);
        effects.end_step();
        let steps = vec![(1, 100, 110), (2, 110, 160), (2, 160, 170)];
        assert_eq!(shown(&effects), (2, 5, vec![7], steps), "a step's time goes on over its attempts");
        effects.clear();
        assert_eq!(shown(&effects), (0, 0, vec![], vec![]));
    }

    #[test]
    fn another_attempt_begins_with_nothing() {
        let mut effects = Effects::new(1, &|| 1, &|_| ());
        effects.tally.add(0, 5);
        effects.tell(&[7, 8]);
        effects.cause(FollowUp { input: 'x', after: Duration::ZERO, user: None });
        effects.begin_step(0);
        effects.clear();
        assert_eq!((effects.tally.0[0], effects.receipt().len(), effects.steps().count()), (0, 0, 0));
        assert_eq!(effects.take_follow_ups().count(), 0);
    }
}
