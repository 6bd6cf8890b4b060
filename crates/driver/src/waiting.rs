//! What a shard waits for: work that becomes due, work that other shards cause, and sessions without work.

use crate::clock::{Clock, Nanos};
use crate::recorder::Meters;
use crate::shard::{Shard, ShardTypes};

/// How often a waiting shard checks the flags.
pub const LONGEST_WAIT: Nanos = Nanos::from_millis(100);

/// How often a shard checks for a session that is being opened meanwhile.
const OPENING_WAIT: Nanos = Nanos::from_millis(5);

impl<T: ShardTypes> Shard<'_, T> {
    /// Takes in what other shards have caused. After this they wake the shard; returns whether it may sleep.
    pub fn receive_caused(&self, now: Nanos) -> bool {
        self.queues.fall_asleep();
        let mut nothing_came = true;
        while let Some(job) = self.queues.receive() {
            self.take_caused(job, now);
            nothing_came = false;
        }
        nothing_came
    }

    /// Queues what is due and wakes sessions for it. Work that comes after the end is left out.
    #[inline]
    pub fn admit(&self, now: Nanos) {
        if !self.ending.has_begun() {
            self.queues.admit(now.min(Nanos(self.window.end().0 - 1)), &self.agenda);
        }
    }

    pub fn meters(&self) -> Meters {
        let (queue, deferred) = self.queues.counts();
        Meters {
            cpu: self.clock.thread_cpu(),
            turns: self.clock.thread_turns(),
            idle: self.books.idle(),
            queue,
            deferred,
        }
    }

    pub fn until_something_is_due(&self, now: Nanos) -> Nanos {
        let mut moment = self.books.second_end();
        moment = self.agenda.next_timer().map_or(moment, |timer| timer.min(moment));
        if !self.ending.has_begun() {
            moment = self.queues.next_coming(moment);
        }
        moment.since(now).min(if self.openings.is_under_way() { OPENING_WAIT } else { LONGEST_WAIT })
    }
}
