//! A session's task: it takes the transaction that was due first, runs it, books it, and reopens the session if it was lost.
//!
//! Each such future lives as long as its session, so that none is made for a transaction.

use crate::actor_state::ActorState;
use crate::agenda::Role;
use crate::clock::{Clock, Nanos};
use crate::deferral::{Job, ResultLine};
use crate::mailbox::{due, home_of};
use crate::plan::OF_THE_LOAD;
use crate::recorder::{Executed, work_between};
use crate::reopen::reopen;
use crate::retry::{Attempts, TransactionEnd, attempt};
use crate::script::ScriptError;
use crate::shard::{InputOf, SessionOf, Shard, ShardTypes, UnderWay};
use crate::slice::ClientIndex;
use crate::users::{UserStyle, next_pause};
use engines::session::Session;
use std::time::Duration;
use workloads::effects::{Effects, FollowUp};
use workloads::workload::Workload;

pub async fn serve<T: ShardTypes>(shard: &Shard<'_, T>, token: u32, role: Role, mut session: SessionOf<T>) {
    let clock = || shard.clock.now().0;
    let alarm = |until| shard.agenda.wake_at(token, Nanos(until));
    let mut effects = Effects::new(T::Workload::COUNTERS.len(), &clock, &alarm);
    shard.queues.freed(role, shard.now.get());
    while let Some(job) = shard.next_job(token, role).await {
        let free = shard.queues.taken(role);
        let before = session.work();
        let sent = shard.clock.now();
        effects.set_due(job.due.0);
        let Attempts { outcome, retries } = attempt(shard, token, &mut session, &job.input, &mut effects).await;
        let done = shard.clock.now();
        let ending = if let TransactionEnd::Ended(ending) = outcome { Some(ending) } else { None };
        let work = work_between(before, session.work());
        let deferred = job.client.is_none();
        let life = Executed { kind: job.kind, due: job.due, free, sent, done, retries, ending, work, deferred };
        shard.book(&life, &effects);
        if ending.is_some() {
            shard.learn(&job, &mut effects);
            effects.take_follow_ups().for_each(|follow_up| shard.follow_up(follow_up, done));
        }
        shard.release(token, &job, &life);
        if matches!(outcome, TransactionEnd::Lost) {
            drop(session);
            // The client may be due again, and this session cannot serve it.
            shard.agenda.wake_one(job.actor);
            match reopen(shard, token).await {
                Some(new) => session = new,
                None => return,
            }
            shard.queues.freed(role, shard.clock.now());
        } else {
            shard.queues.freed(role, done);
        }
        // Such a transaction may not have waited for anything; without this, the other tasks would not get their turn.
        if shard.in_process || ending.is_none() {
            shard.agenda.yield_turn(token).await;
        }
    }
    shard.keep(token, role, session);
}

impl<T: ShardTypes> Shard<'_, T> {
    /// The next transaction for a session of this role. Waits if there is none now; `None` if there will be none.
    async fn next_job(&self, token: u32, role: Role) -> Option<Job<InputOf<T>>> {
        loop {
            self.look_for_the_end(self.now.get());
            if self.signals.is_aborted() {
                return None;
            }
            if let Some(job) = self.pick(role) {
                let under_way = UnderWay { kind: job.kind, due: job.due, taken: self.now.get() };
                self.note_under_way(token, Some(under_way));
                return Some(job);
            }
            if self.ending.has_begun() && !self.more_may_come(role) {
                return None;
            }
            self.agenda.park(token, role).await;
        }
    }

    /// Whether a transaction that is still under way may cause something for this role.
    fn more_may_come(&self, role: Role) -> bool {
        let reacts = self.queues.of_role(role).any(|(_, actor_state)| actor_state.pool.get().now > 0);
        reacts && self.under_way.borrow().iter().any(Option::is_some)
    }

    /// The transaction that was due first among those of the role.
    fn pick(&self, role: Role) -> Option<Job<InputOf<T>>> {
        loop {
            let mut first: Option<(Nanos, bool, u16)> = None;
            for (actor, actor_state) in self.queues.of_role(role) {
                let client_due = if self.ending.has_begun() { None } else { actor_state.clients.borrow().next_due() };
                let caused_due = if actor_state.reacts { actor_state.deferral.borrow().next_due() } else { None };
                // Of two that are due at the same moment, the one that no client waits for comes first.
                for (due, by_client) in [(caused_due, false), (client_due, true)] {
                    let Some(due) = due else { continue };
                    if first.is_none_or(|(earliest, ..)| due < earliest) {
                        first = Some((due, by_client, actor));
                    }
                }
            }
            let (_, by_client, actor) = first?;
            let job = if by_client { self.take_client(actor) } else { self.take_deferred(actor) };
            if job.is_some() {
                return job;
            }
        }
    }

    fn take_deferred(&self, actor: u16) -> Option<Job<InputOf<T>>> {
        let (job, admitted) = self.queues.actor(actor)?.deferral.borrow_mut().take()?;
        if let Some((by, client, thinking)) = admitted {
            self.due_again(by, client, self.now.get(), thinking);
            self.agenda.wake_one(by);
        }
        Some(job)
    }

    /// Draws the next transaction of the client that is due first. `None` if the client has no more, or if it hands the
    /// transaction over to another actor.
    fn take_client(&self, actor: u16) -> Option<Job<InputOf<T>>> {
        let (client, job) = self.draw(actor)?;
        if job.actor == actor {
            return Some(job);
        }
        let performer = self.reacting(job.actor)?;
        let (now, thinking, by) = (self.now.get(), job.thinking, job.actor);
        if self.queues.actor(actor)?.style == UserStyle::Arriving {
            // No user waits, so no user pauses either.
            performer.deferral.borrow_mut().offer_or_leave(job);
        } else {
            // Until now it was the client's transaction, waiting to be queued; from now on it is in the background.
            self.books.paused(now.since(job.due));
            if performer.deferral.borrow_mut().offer(actor, client, job) {
                self.due_again(actor, client, now, thinking);
            }
        }
        self.agenda.wake_one(by);
        None
    }

    fn draw(&self, actor: u16) -> Option<(ClientIndex, Job<InputOf<T>>)> {
        let actor_state = self.queues.actor(actor)?;
        let mut clients = actor_state.clients.borrow_mut();
        let (due, client, state) = clients.take()?;
        let may_begin = !actor_state.is_counted || self.signals.take_from_budget(actor);
        let Some(input) = may_begin.then(|| self.workload.next(state)).flatten() else {
            clients.end_one();
            return None;
        };
        let thinking = match actor_state.style {
            UserStyle::Arriving | UserStyle::Called => Nanos::ZERO,
            style => Nanos::from_duration(self.workload.pause(state, &input, style == UserStyle::Terminals).thinking),
        };
        let (kind, actor) = (self.workload.kind(&input), self.workload.performer(&input));
        Some((client, Job { input, actor, kind, due, client: Some(client), user: Some(client), thinking }))
    }

    /// The client thinks, and a terminal also types its next inputs. How long typing takes depends on those inputs.
    /// They are drawn from a copy, because keeping them until they are due would take more memory than the terminal.
    fn due_again(&self, actor: u16, client: ClientIndex, done: Nanos, thinking: Nanos) {
        let Some(actor_state) = self.queues.actor(actor) else { return };
        let mut clients = actor_state.clients.borrow_mut();
        if actor_state.is_counted && self.signals.is_budget_spent(actor) {
            return clients.end_one();
        }
        let keying = match (actor_state.style, clients.state(client)) {
            (UserStyle::Terminals, Some(state)) => next_pause(self.workload, state).keying,
            _ => Duration::ZERO,
        };
        let pause = thinking + Nanos::from_duration(keying);
        clients.due_again(client, done + pause, done);
        // Users beside those of the load are no clients of it, and may pause for longer than is measured.
        if actor == OF_THE_LOAD {
            self.books.paused(pause);
        }
    }

    /// Lets the user that the transaction belongs to learn from the answers.
    fn learn(&self, job: &Job<InputOf<T>>, effects: &mut Effects<'_, InputOf<T>>) {
        let (Some(user), Some(actor_state)) = (job.user, self.queues.actor(job.actor)) else { return };
        if let Some(state) = actor_state.clients.borrow_mut().state_mut(user) {
            self.workload.learn(state, &job.input, effects);
        }
    }

    /// Gives another actor what a transaction has caused: on this shard, or on the one where the user lives.
    fn follow_up(&self, follow_up: FollowUp<InputOf<T>>, done: Nanos) {
        let FollowUp { input, after, user } = follow_up;
        let (kind, actor) = (self.workload.kind(&input), self.workload.performer(&input));
        let (shard, user) = match user {
            Some(user) => {
                let (shard, index) = home_of(user, self.here.of);
                (shard, Some(index))
            }
            None => (self.here.shard, None),
        };
        let job = Job { input, actor, kind, due: due(done, after), client: None, user, thinking: Nanos::ZERO };
        if shard == self.here.shard {
            self.take_caused(job, done);
        } else {
            self.queues.send(shard, job);
        }
    }

    /// Takes in work that others have caused for an actor of this shard.
    pub fn take_caused(&self, job: Job<InputOf<T>>, now: Nanos) {
        let actor = job.actor;
        let Some(actor_state) = self.reacting(actor) else { return };
        if self.workload.is_note(&job.input) {
            let mut users = actor_state.clients.borrow_mut();
            if let Some(state) = job.user.and_then(|user| users.state_mut(user)) {
                self.workload.note(state, job.input);
            }
            return;
        }
        actor_state.deferral.borrow_mut().cause(job, now);
        self.agenda.wake_one(actor);
    }

    /// An actor that others may cause work for. Work for any other actor would never be done, so that ends the driving.
    fn reacting(&self, actor: u16) -> Option<&ActorState<T::Workload>> {
        let actor_state = self.queues.actor(actor).filter(|actor_state| actor_state.reacts);
        if actor_state.is_none() {
            let name =
                self.workload.actors().get(usize::from(actor)).map_or("an actor it does not have", |actor| actor.name);
            self.fail(ScriptError::DoesNotReact { actor: name }.into());
        }
        actor_state
    }

    fn note_under_way(&self, token: u32, under_way: Option<UnderWay>) {
        let mut all = self.under_way.borrow_mut();
        if let Some(place) = all.get_mut(token as usize) {
            *place = under_way;
        }
        let is_last = self.ending.has_begun() && all.iter().all(Option::is_none);
        drop(all);
        if is_last {
            // Tasks that waited for what this transaction might cause need not wait any longer.
            self.agenda.wake_all_parked();
        }
    }

    /// Lets the client go on, or logs how a deferred transaction went.
    fn release(&self, token: u32, job: &Job<InputOf<T>>, life: &Executed) {
        self.note_under_way(token, None);
        if let Some(client) = job.client {
            self.due_again(job.actor, client, life.done, job.thinking);
            return;
        }
        let well = life.ending.is_some();
        if let Some(actor_state) = self.queues.actor(job.actor) {
            actor_state.deferral.borrow_mut().ended(well);
        }
        let origin = self.window.origin;
        self.books.note_line(ResultLine {
            kind: job.kind,
            queued: job.due.since(origin),
            done: life.done.since(origin),
            well,
        });
    }
}
