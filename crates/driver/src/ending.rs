//! Decides when a phase ends. Transactions that still wait then are booked with the time they have waited.

use crate::clock::{Clock, Nanos};
use crate::report::GivenUp;
use crate::shard::{Shard, ShardTypes};
use record::script::PhaseEnd;
use workloads::workload::Workload;

impl<T: ShardTypes> Shard<'_, T> {
    /// Notices the end of the window or a signal, once.
    pub fn look_for_the_end(&self, now: Nanos) {
        if self.ending.has_begun() {
            return;
        }
        let end = self.window.end();
        let streams_ended = self.have_streams_ended();
        if now >= end || streams_ended || self.signals.is_stopped() || self.signals.is_aborted() {
            let by_time = if self.window.is_open { PhaseEnd::Limit } else { PhaseEnd::Time };
            let reason = if now >= end { by_time } else { PhaseEnd::Stopped };
            // A fresh reading: `now` may be from before the signal.
            let since = self.clock.now().min(end);
            self.ending.begin(since, if streams_ended { PhaseEnd::Streams } else { reason });
            self.book_waiting(since);
            self.openings.close(&self.agenda);
            self.agenda.wake_all_parked();
        }
    }

    /// True if the phase ends with its streams and those of all shards have ended.
    fn have_streams_ended(&self) -> bool {
        if self.window.is_filler {
            return self.signals.is_filler_over();
        }
        if !self.window.is_open {
            return false;
        }
        let mut ending = self.queues.all().filter(|(_, actor_state)| actor_state.ends);
        let have_ended = ending.all(|(_, actor_state)| actor_state.clients.borrow().have_ended());
        if have_ended && self.ending.streams_have_ended() {
            self.signals.streams_ended();
        }
        self.signals.have_streams_ended()
    }

    /// Books what still waits for a session or for room: it will not be served any more, and has waited until `now`.
    pub fn book_waiting(&self, now: Nanos) {
        for (_, actor_state) in self.queues.all() {
            let mut clients = actor_state.clients.borrow_mut();
            self.ending.note_waiting(clients.counts().waiting);
            while let Some((due, _, state)) = clients.take() {
                if let Some(input) = self.workload.next(state) {
                    self.books.book_unended(self.workload.kind(&input), due, now);
                }
            }
            for job in actor_state.deferral.borrow_mut().admit_no_more() {
                self.books.book_unended(job.kind, job.due, now);
            }
        }
    }

    /// Books the transactions that are under way or still queued, because they will not end any more.
    pub fn give_up(&self, now: Nanos) -> GivenUp {
        let mut given_up = GivenUp::default();
        for under_way in self.under_way.borrow().iter().flatten() {
            self.books.book_unended(under_way.kind, under_way.due, now);
            let from = under_way.taken.max(self.window.measured_start());
            given_up.transactions += 1;
            given_up.oldest = given_up.oldest.max(now.since(under_way.due));
            given_up.in_window = given_up.in_window + now.min(self.window.measured_end()).since(from);
        }
        for (_, actor_state) in self.queues.all() {
            for job in actor_state.deferral.borrow().left() {
                self.books.book_unended(job.kind, job.due, now);
            }
        }
        given_up
    }
}
