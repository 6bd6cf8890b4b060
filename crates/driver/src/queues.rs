//! The queues of a shard: for each actor its users and the work that others cause for it, and the mailbox between shards.

use crate::actor_state::ActorState;
use crate::agenda::{Agenda, Role};
use crate::clock::Nanos;
use crate::deferral::Job;
use crate::mailbox::Mailbox;
use crate::pacing::{QueueCounts, Vacancy};
use crate::recorder::Backlog;
use record::trial::Deferred;
use std::cell::Cell;
use std::iter::from_fn;
use workloads::workload::Workload;

pub struct Queues<'a, W: Workload> {
    workload: &'a W,
    /// One for each actor, by its index.
    actor_states: Vec<ActorState<W>>,
    /// `None` if there are no other shards.
    mailbox: Option<&'a Mailbox<W::Input>>,
}

impl<'a, W: Workload> Queues<'a, W> {
    pub fn new(workload: &'a W, actor_states: Vec<ActorState<W>>, mailbox: Option<&'a Mailbox<W::Input>>) -> Self {
        Self { workload, actor_states, mailbox }
    }

    pub fn actor(&self, actor: u16) -> Option<&ActorState<W>> {
        self.actor_states.get(usize::from(actor))
    }

    /// The actors whose transactions the role executes.
    pub fn of_role(&self, role: Role) -> impl Iterator<Item = (u16, &ActorState<W>)> {
        let (first, count) = match role {
            Role::Of(actor) => (actor, 1),
            Role::All => (0, self.actor_states.len()),
        };
        (first..).zip(self.actor_states.iter().skip(usize::from(first)).take(count))
    }

    pub fn all(&self) -> impl Iterator<Item = (u16, &ActorState<W>)> {
        (0..).zip(&self.actor_states)
    }

    /// Queues what is due up to this moment and wakes sessions for it.
    #[inline]
    pub fn admit(&self, last: Nanos, agenda: &Agenda) {
        for (actor, actor_state) in self.all() {
            // An arrival that is turned away still uses up its inputs, so that all others have the same inputs however
            // long the queue is.
            let turn_away = |state: &mut W::Client| drop(self.workload.next(state));
            let mut came = actor_state.clients.borrow_mut().admit(last, turn_away);
            if actor_state.reacts {
                came += actor_state.deferral.borrow_mut().admit(last);
            }
            for _ in 0..came {
                if !agenda.wake_one(actor) {
                    break;
                }
            }
        }
    }

    /// When the next users or the next of what was caused are due, if that is before `moment`.
    pub fn next_coming(&self, moment: Nanos) -> Nanos {
        let of_actor = |(_, actor_state): (u16, &ActorState<W>)| {
            let coming = actor_state.clients.borrow().next_coming();
            let later = if actor_state.reacts { actor_state.deferral.borrow().next_later() } else { None };
            coming.into_iter().chain(later).min()
        };
        self.all().filter_map(of_actor).fold(moment, Nanos::min)
    }

    /// Sends a job to another shard, or turns it away if that shard has too many.
    pub fn send(&self, shard: u32, job: Job<W::Input>) {
        let actor = job.actor;
        let is_sent = self.mailbox.is_some_and(|mailbox| mailbox.send(shard, job));
        if let Some(actor_state) = self.actor(actor).filter(|_| !is_sent) {
            actor_state.deferral.borrow_mut().turn_away();
        }
    }

    /// From now on other shards wake this one. Jobs that they have sent before are received after this call.
    pub fn fall_asleep(&self) {
        if let Some(mailbox) = self.mailbox {
            mailbox.fall_asleep();
        }
    }

    pub fn wake_up(&self) {
        if let Some(mailbox) = self.mailbox {
            mailbox.wake_up();
        }
    }

    pub fn receive(&self) -> Option<Job<W::Input>> {
        self.mailbox?.receive()
    }

    pub fn counts(&self) -> (QueueCounts, Backlog) {
        let (mut queue, mut deferred) = (QueueCounts::default(), Backlog::default());
        for (_, actor_state) in self.all() {
            queue.add(actor_state.clients.borrow().counts());
            let backlog = actor_state.deferral.borrow().backlog();
            deferred.waiting += backlog.waiting;
            deferred.queued += backlog.queued;
        }
        (queue, deferred)
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

    /// The actor that an idle session counts for; one that does everything counts for the first actor.
    fn vacancy_of(&self, role: Role) -> Option<&Cell<Vacancy>> {
        let actor = if let Role::Of(actor) = role { actor } else { 0 };
        Some(&self.actor(actor)?.vacancy)
    }

    /// Totals of all that was deferred. Jobs that were sent here but not received before the end are abandoned.
    pub fn close(self) -> Deferred {
        let abandoned = from_fn(|| self.receive()).count() as u64;
        let mut deferred = Deferred { abandoned, ..Deferred::default() };
        for actor_state in self.actor_states {
            let pool = actor_state.pool.get();
            let totals = actor_state.deferral.into_inner().totals();
            deferred.add(&Deferred { sessions_at_start: pool.at_start, sessions_at_end: pool.now, ..totals });
        }
        deferred
    }
}
