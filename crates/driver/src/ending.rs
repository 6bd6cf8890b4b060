//! Decides when a phase ends. Transactions that still wait then are booked with the time they have waited.

use crate::clock::{Clock, Nanos};
use crate::report::GivenUp;
use crate::shard::{Shard, ShardTypes};
use record::script::PhaseEnd;
use workloads::workload::Workload;

impl<T: ShardTypes> Shard<'_, T> {
    /// Notices the end of the window or a signal, once.
    pub fn look_for_the_end(&self, now: Nanos) {
        if self.is_closing() {
            return;
        }
        let end = self.window.end();
        let streams_ended = self.have_streams_ended();
        if now >= end || streams_ended || self.signals.is_stopped() || self.signals.is_aborted() {
            let by_time = if self.window.is_open { PhaseEnd::Limit } else { PhaseEnd::Time };
            let ended = if now >= end { by_time } else { PhaseEnd::Stopped };
            self.ended.set(if streams_ended { PhaseEnd::Streams } else { ended });
            // A fresh reading: `now` may be from before the signal.
            let closing_since = self.clock.now().min(end);
            self.closing_since.set(Some(closing_since));
            self.book_waiting(closing_since);
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
        let mut ending = self.actor_states.iter().filter(|actor_state| actor_state.ends);
        if !self.is_at_end.get() && ending.all(|actor_state| actor_state.clients.borrow().have_ended()) {
            self.is_at_end.set(true);
            self.signals.streams_ended();
        }
        self.signals.have_streams_ended()
    }

    pub fn has_ended_well(&self) -> bool {
        self.is_closing() && self.ended.get() == PhaseEnd::Streams
    }

    /// Books what still waits for a session or for room: it will not be served any more, and has waited until `now`.
    pub fn book_waiting(&self, now: Nanos) {
        let mut recorder = self.recorder.borrow_mut();
        for actor_state in &self.actor_states {
            let mut clients = actor_state.clients.borrow_mut();
            self.waiting_at_end.set(self.waiting_at_end.get() + clients.counts().waiting);
            while let Some((due, _, state)) = clients.take() {
                if let Some(input) = self.workload.next(state) {
                    recorder.book_unended(self.workload.kind(&input), due, now);
                }
            }
            for job in actor_state.deferral.borrow_mut().admit_no_more() {
                recorder.book_unended(job.kind, job.due, now);
            }
        }
    }

    /// Books the transactions that are under way or still queued, because they will not end any more.
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
        for actor_state in &self.actor_states {
            for job in actor_state.deferral.borrow().left() {
                recorder.book_unended(job.kind, job.due, now);
            }
        }
        given_up
    }
}
