//! What becomes of those who wait when driving ends: they are booked with the time that they have waited.

use crate::clock::{Clock, Nanos};
use crate::reactor::Reactor;
use crate::shard::Shard;
use engines::session::Connect;
use workloads::workload::Workload;

/// Transactions that were under way when a shard returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GivenUp {
    pub transactions: u64,
    /// How long the one that was due first had waited.
    pub oldest: Nanos,
    /// Time of sessions in the measured window that went into them.
    pub in_window: Nanos,
}

impl<W, C, K, R> Shard<'_, W, C, K, R>
where
    W: Workload,
    C: Connect,
    K: Clock,
    R: Reactor<C::Session>,
{
    /// Who waits for a session or for room now will not be served any more, and has waited until now.
    pub fn send_home(&self, now: Nanos) {
        let (mut clients, mut recorder) = (self.clients.borrow_mut(), self.recorder.borrow_mut());
        self.waiting_at_end.set(clients.counts().waiting);
        while let Some((due, _, state)) = clients.take() {
            let kind = self.workload.kind(&self.workload.next(state));
            recorder.book_unended(kind, due, now);
        }
        for job in self.deferral.borrow_mut().admit_no_more() {
            recorder.book_unended(job.kind, job.due, now);
        }
    }

    /// What sessions are in, and what is still queued, will not end any more.
    pub fn give_up(&self, now: Nanos) -> GivenUp {
        let mut given_up = GivenUp::default();
        let mut recorder = self.recorder.borrow_mut();
        for under_way in self.under_way.borrow().iter().flatten() {
            recorder.book_unended(under_way.kind, under_way.due, now);
            let from = under_way.taken.max(self.window.measured_start());
            given_up.transactions += 1;
            given_up.oldest = given_up.oldest.max(now.since(under_way.due));
            given_up.in_window = given_up.in_window + now.min(self.window.measured_end()).since(from);
        }
        for job in self.deferral.borrow().left() {
            recorder.book_unended(job.kind, job.due, now);
        }
        given_up
    }
}
