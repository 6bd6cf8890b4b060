//! What a shard waits for: work that becomes due, work that other shards cause, and sessions without work.

use crate::agenda::Role;
use crate::clock::{Clock, Nanos};
use crate::pacing::{QueueCounts, Vacancy};
use crate::recorder::{Backlog, Meters};
use crate::shard::{Shard, ShardTypes};
use std::cell::Cell;
use workloads::workload::Workload;

/// How often a waiting shard checks the flags.
pub const LONGEST_WAIT: Nanos = Nanos::from_millis(100);

/// How often a shard checks for a session that is being opened meanwhile.
const OPENING_WAIT: Nanos = Nanos::from_millis(5);

impl<T: ShardTypes> Shard<'_, T> {
    /// Takes in what other shards have caused. After this they wake the shard; returns whether it may sleep.
    pub fn receive_caused(&self, now: Nanos) -> bool {
        let Some(mailbox) = self.mailbox else { return true };
        mailbox.fall_asleep();
        let mut nothing_came = true;
        while let Some(job) = mailbox.receive() {
            self.take_caused(job, now);
            nothing_came = false;
        }
        nothing_came
    }

    /// Queues what is due and wakes sessions for it. Work that comes after the end is left out.
    #[inline]
    pub fn admit(&self, now: Nanos) {
        if self.is_closing() {
            return;
        }
        let last = now.min(Nanos(self.window.end().0 - 1));
        for (actor, actor_state) in (0_u16..).zip(&self.actor_states) {
            // An arrival that is turned away still uses up its inputs, so that all others have the same inputs however
            // long the queue is.
            let turn_away = |state: &mut <T::Workload as Workload>::Client| drop(self.workload.next(state));
            let mut came = actor_state.clients.borrow_mut().admit(last, turn_away);
            if actor_state.reacts {
                came += actor_state.deferral.borrow_mut().admit(last);
            }
            for _ in 0..came {
                if !self.agenda.wake_one(actor) {
                    break;
                }
            }
        }
    }

    pub fn meters(&self) -> Meters {
        let (mut queue, mut deferred) = (QueueCounts::default(), Backlog::default());
        for actor_state in &self.actor_states {
            queue.add(actor_state.clients.borrow().counts());
            let backlog = actor_state.deferral.borrow().backlog();
            deferred.waiting += backlog.waiting;
            deferred.queued += backlog.queued;
        }
        Meters {
            cpu: self.clock.thread_cpu(),
            turns: self.clock.thread_turns(),
            idle: self.idle.get(),
            queue,
            deferred,
        }
    }

    /// The actor that an idle session counts for; one that does everything counts for the first actor.
    fn vacancy_of(&self, role: Role) -> Option<&Cell<Vacancy>> {
        let actor = if let Role::Of(actor) = role { actor } else { 0 };
        Some(&self.actor_state(actor)?.vacancy)
    }

    /// A session has become idle.
    pub fn freed(&self, role: Role, now: Nanos) {
        let Some(vacancy) = self.vacancy_of(role) else { return };
        let mut changed = vacancy.get();
        changed.freed(now);
        vacancy.set(changed);
    }

    /// A session begins to work; returns since when one was idle.
    pub fn taken(&self, role: Role) -> Nanos {
        let Some(vacancy) = self.vacancy_of(role) else { return Nanos::ZERO };
        let mut changed = vacancy.get();
        let since = changed.taken();
        vacancy.set(changed);
        since
    }

    pub fn until_something_is_due(&self, now: Nanos) -> Nanos {
        let mut moment = self.recorder.borrow().second_end();
        moment = self.agenda.next_timer().map_or(moment, |timer| timer.min(moment));
        if !self.is_closing() {
            for actor_state in &self.actor_states {
                moment = actor_state.clients.borrow().next_coming().map_or(moment, |coming| coming.min(moment));
                if actor_state.reacts {
                    moment = actor_state.deferral.borrow().next_later().map_or(moment, |later| later.min(moment));
                }
            }
        }
        moment.since(now).min(if self.openings.is_under_way() { OPENING_WAIT } else { LONGEST_WAIT })
    }
}
