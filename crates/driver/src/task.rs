//! What a session does all day: take what was due first, run it, book it, open the session again if it was lost.
//!
//! One such future lives as long as its session, so that a transaction costs no allocation.

use crate::agenda::Role;
use crate::clock::{Clock, Nanos};
use crate::deferral::{Job, ResultLine};
use crate::pacing::ClientIndex;
use crate::reactor::Reactor;
use crate::recorder::{Life, work_between};
use crate::retry::{Attempts, Outcome, attempt};
use crate::sessions::reopen;
use crate::shard::{Shard, UnderWay};
use crate::users::{Style, next_pause};
use engines::session::{Connect, Session};
use std::time::Duration;
use workloads::workload::{Tally, Workload};

pub async fn serve<W, C, K, R>(shard: &Shard<'_, W, C, K, R>, token: u32, role: Role, mut session: C::Session)
where
    W: Workload,
    C: Connect,
    K: Clock,
    R: Reactor<C::Session>,
{
    let mut tally = Tally::new(W::COUNTERS.len());
    shard.freed(role, shard.now.get());
    while let Some(job) = shard.next_job(token, role).await {
        let free = shard.taken(role);
        let before = session.work();
        let sent = shard.clock.now();
        let Attempts { outcome, retries } = attempt(shard, token, &mut session, &job.input, &mut tally).await;
        let done = shard.clock.now();
        let ending = if let Outcome::Ended(ending) = outcome { Some(ending) } else { None };
        let work = work_between(before, session.work());
        let deferred = job.client.is_none();
        let life = Life { kind: job.kind, due: job.due, free, sent, done, retries, ending, work, deferred };
        shard.book(&life, &tally);
        shard.release(token, &job, &life);
        if matches!(outcome, Outcome::Lost) {
            drop(session);
            // The client may be due again, and this session cannot take it.
            shard.agenda.wake_one(Role::Clients);
            match reopen(shard, token).await {
                Some(new) => session = new,
                None => return,
            }
            shard.freed(role, shard.clock.now());
        } else {
            shard.freed(role, done);
        }
        // These may not have waited for anything, and must not keep the others from their turn.
        if shard.in_process || ending.is_none() {
            shard.agenda.yield_turn(token).await;
        }
    }
}

impl<W, C, K, R> Shard<'_, W, C, K, R>
where
    W: Workload,
    C: Connect,
    K: Clock,
    R: Reactor<C::Session>,
{
    /// The next transaction for a session of this role; waits if there is none, `None` when there will be none.
    async fn next_job(&self, token: u32, role: Role) -> Option<Job<W::Input>> {
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
            let more_may_come = role.serves(Role::Deferred) && !self.deferral.borrow().is_empty();
            if self.is_closing() && !more_may_come {
                return None;
            }
            self.agenda.park(token, role).await;
        }
    }

    /// What was due first among that which the role takes.
    fn pick(&self, role: Role) -> Option<Job<W::Input>> {
        let deferred_first =
            |client_due: Option<Nanos>, deferred_due: Nanos| client_due.is_none_or(|due| deferred_due <= due);
        loop {
            let takes_clients = role.serves(Role::Clients) && !self.is_closing();
            let client_due = if takes_clients { self.clients.borrow().next_due() } else { None };
            let deferred_due = if role.serves(Role::Deferred) { self.deferral.borrow().next_due() } else { None };
            if deferred_due.is_some_and(|due| deferred_first(client_due, due)) {
                return self.take_deferred();
            }
            client_due?;
            if let Some(job) = self.take_client() {
                return Some(job);
            }
        }
    }

    fn take_deferred(&self) -> Option<Job<W::Input>> {
        let (job, admitted) = self.deferral.borrow_mut().take()?;
        if let Some((client, thinking)) = admitted {
            self.due_again(client, self.now.get(), thinking);
            self.agenda.wake_one(Role::Clients);
        }
        Some(job)
    }

    /// Draws the next transaction of the client that is due first; `None` if it was one to be deferred.
    fn take_client(&self) -> Option<Job<W::Input>> {
        let (client, job) = self.draw()?;
        if !self.workload.deferred(&job.input) {
            return Some(job);
        }
        let (now, thinking) = (self.now.get(), job.thinking);
        // While it waited to be queued it was the client's, and from now on it is in the background.
        self.paused(now.since(job.due));
        if self.style == Style::Arriving {
            self.deferral.borrow_mut().offer_or_leave(job);
        } else if self.deferral.borrow_mut().offer(client, job) {
            self.due_again(client, now, thinking);
        }
        self.agenda.wake_one(Role::Deferred);
        None
    }

    fn draw(&self) -> Option<(ClientIndex, Job<W::Input>)> {
        let mut clients = self.clients.borrow_mut();
        let (due, client, state) = clients.take()?;
        let input = self.workload.next(state);
        let thinking = match self.style {
            Style::Arriving => Nanos::ZERO,
            style => Nanos::from_duration(self.workload.pause(state, &input, style == Style::Terminals).thinking),
        };
        let kind = self.workload.kind(&input);
        Some((client, Job { input, kind, due, client: Some(client), thinking }))
    }

    /// The client thinks, and a terminal's next inputs have to be typed in. How long that takes depends on what they
    /// are, so they are drawn from a copy: to keep them until they are due would cost more memory than the terminal.
    fn due_again(&self, client: ClientIndex, done: Nanos, thinking: Nanos) {
        let mut clients = self.clients.borrow_mut();
        let keying = match (self.style, clients.state(client)) {
            (Style::Terminals, Some(state)) => next_pause(self.workload, state).keying,
            _ => Duration::ZERO,
        };
        let pause = thinking + Nanos::from_duration(keying);
        clients.due_again(client, done + pause, done);
        self.paused(pause);
    }

    fn note_under_way(&self, token: u32, under_way: Option<UnderWay>) {
        if let Some(place) = self.under_way.borrow_mut().get_mut(token as usize) {
            *place = under_way;
        }
    }

    /// Lets the client go on, or writes down how a deferred transaction went.
    fn release(&self, token: u32, job: &Job<W::Input>, life: &Life) {
        self.note_under_way(token, None);
        if let Some(client) = job.client {
            self.due_again(client, life.done, job.thinking);
            return;
        }
        let well = life.ending.is_some();
        self.deferral.borrow_mut().ended(well);
        let start = self.window.start;
        self.lines.borrow_mut().push(ResultLine {
            kind: job.kind,
            queued: job.due.since(start),
            done: life.done.since(start),
            well,
        });
    }
}
