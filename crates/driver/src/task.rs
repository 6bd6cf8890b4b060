//! What a session does all day: take what was due first, run it, book it, open the session again if it was lost.
//!
//! One such future lives as long as its session, so that a transaction costs no allocation.

use crate::agenda::Role;
use crate::clock::{Clock, Nanos};
use crate::deferral::{Job, ResultLine};
use crate::reactor::Reactor;
use crate::recorder::{Life, work_between};
use crate::retry::{Attempts, Outcome, attempt};
use crate::sessions::reopen;
use crate::shard::Shard;
use engines::session::{Connect, Session};
use workloads::workload::{Tally, Workload};

pub async fn serve<W, C, K, R>(shard: &Shard<'_, W, C, K, R>, token: u32, role: Role, mut session: C::Session)
where
    W: Workload,
    C: Connect,
    K: Clock,
    R: Reactor,
{
    let mut tally = Tally::new(W::COUNTERS.len());
    let mut free = shard.window.start;
    while let Some(job) = next_job(shard, token, role).await {
        let before = session.work();
        let sent = shard.clock.now();
        let Attempts { outcome, retries } = attempt(shard, token, &mut session, &job.input, &mut tally).await;
        let done = shard.clock.now();
        let ending = if let Outcome::Ended(ending) = outcome { Some(ending) } else { None };
        let work = work_between(before, session.work());
        let life = Life { kind: job.kind, due: job.due, free, sent, done, retries, ending, work };
        shard.book(&life, &tally);
        release(shard, &job, &life);
        free = done;
        if matches!(outcome, Outcome::Lost) {
            drop(session);
            shard.losses.lost.set(shard.losses.lost.get() + 1);
            match reopen(shard, token).await {
                Some(new) => session = new,
                None => return,
            }
            shard.losses.reopened.set(shard.losses.reopened.get() + 1);
            free = shard.clock.now();
        }
        // These may not have waited for anything, and must not keep the others from their turn.
        if shard.in_process || ending.is_none() {
            shard.agenda.yield_turn(token).await;
        }
    }
}

/// The next transaction for a session of this role; waits if there is none, `None` when there will be none.
async fn next_job<W, C, K, R>(shard: &Shard<'_, W, C, K, R>, token: u32, role: Role) -> Option<Job<W::Input>>
where
    W: Workload,
    C: Connect,
    K: Clock,
    R: Reactor,
{
    loop {
        shard.look_for_the_end(shard.now.get());
        if shard.signals.is_aborted() {
            return None;
        }
        if let Some(job) = pick(shard, role) {
            shard.in_progress.set(shard.in_progress.get() + 1);
            return Some(job);
        }
        let more_may_come = role.serves(Role::Deferred) && !shard.deferral.borrow().is_empty();
        if shard.is_closing() && !more_may_come {
            return None;
        }
        shard.agenda.park(token, role).await;
    }
}

/// What was due first among that which the role takes.
fn pick<W, C, K, R>(shard: &Shard<'_, W, C, K, R>, role: Role) -> Option<Job<W::Input>>
where
    W: Workload,
    C: Connect,
    K: Clock,
    R: Reactor,
{
    let now = shard.now.get();
    let deferred_first =
        |client_due: Option<Nanos>, deferred_due: Nanos| client_due.is_none_or(|due| deferred_due <= due);
    loop {
        let takes_clients = role.serves(Role::Clients) && !shard.is_closing();
        let client_due = if takes_clients { shard.clients.borrow().next_due(now) } else { None };
        let deferred_due = if role.serves(Role::Deferred) { shard.deferral.borrow().next_due() } else { None };
        if deferred_due.is_some_and(|due| deferred_first(client_due, due)) {
            return take_deferred(shard, now);
        }
        client_due?;
        if let Some(job) = take_client(shard, now) {
            return Some(job);
        }
    }
}

fn take_deferred<W, C, K, R>(shard: &Shard<'_, W, C, K, R>, now: Nanos) -> Option<Job<W::Input>>
where
    W: Workload,
    C: Connect,
    K: Clock,
    R: Reactor,
{
    let (job, admitted) = shard.deferral.borrow_mut().take(now)?;
    if let Some(client) = admitted {
        shard.clients.borrow_mut().finished(client, now);
        shard.agenda.wake_one(Role::Clients);
    }
    Some(job)
}

/// Draws the next transaction of the client that is due first; `None` if it was one to be deferred.
fn take_client<W, C, K, R>(shard: &Shard<'_, W, C, K, R>, now: Nanos) -> Option<Job<W::Input>>
where
    W: Workload,
    C: Connect,
    K: Clock,
    R: Reactor,
{
    let mut clients = shard.clients.borrow_mut();
    let (due, client, state) = clients.take()?;
    let input = shard.workload.next(state);
    let kind = shard.workload.kind(&input);
    if !shard.workload.deferred(&input) {
        return Some(Job { input, kind, due, client: Some(client) });
    }
    if shard.deferral.borrow_mut().offer(client, kind, input, now) {
        clients.finished(client, now);
    }
    shard.agenda.wake_one(Role::Deferred);
    None
}

/// Lets the client go on, or writes down how a deferred transaction went.
fn release<W, C, K, R>(shard: &Shard<'_, W, C, K, R>, job: &Job<W::Input>, life: &Life)
where
    W: Workload,
    C: Connect,
    K: Clock,
    R: Reactor,
{
    shard.in_progress.set(shard.in_progress.get() - 1);
    if let Some(client) = job.client {
        shard.clients.borrow_mut().finished(client, life.done);
        return;
    }
    let well = life.ending.is_some();
    shard.deferral.borrow_mut().ended(well);
    let start = shard.window.start;
    let line = ResultLine { kind: job.kind, queued: job.due.since(start), done: life.done.since(start), well };
    shard.lines.borrow_mut().push(line);
}
