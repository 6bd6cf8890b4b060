//! Opening a shard's sessions before the start, and opening one again when it was lost.

use crate::agenda::Role;
use crate::arrivals::Share;
use crate::clock::{Clock, Nanos};
use crate::plan::{DriveError, Pacing};
use crate::reactor::Reactor;
use crate::shard::Shard;
use engines::session::{Connect, Session};
use workloads::workload::Workload;

/// How long a lost session is tried again before the database counts as gone. A server that restarts its processes
/// after a crash is back by then, and a dead one is found out soon.
const REOPEN_LIMIT: Nanos = Nanos::from_seconds(3);
const FIRST_PAUSE: Nanos = Nanos::from_millis(20);
const LONGEST_PAUSE: Nanos = Nanos::from_millis(500);

/// The sessions of one shard; a session's place in the list is its token.
pub struct Opened<S> {
    pub sessions: Vec<(Role, S)>,
    pub in_process: bool,
}

/// Which sessions a shard opens: what each is for, and its number among all.
pub struct Roster {
    sessions: Vec<(Role, u32)>,
    of: u32,
}

impl Roster {
    /// Those for the shard's clients, and one in the background if there is ever work for it.
    pub fn of(workload: &impl Workload, share: Share, pacing: Pacing) -> Self {
        let for_clients = pacing.sessions();
        let background = workload.defers().then_some((Role::Deferred, for_clients + share.shard));
        let sessions = share.of_all(for_clients).into_iter().map(|index| (Role::Clients, index)).chain(background);
        let of = for_clients + if workload.defers() { share.of } else { 0 };
        Self { sessions: sessions.collect(), of }
    }
}

/// Opens the sessions of the roster. An in-process engine gets a single session for everything: on one thread a second
/// one would only split the engine's cache.
pub fn open<C: Connect>(
    connect: &C,
    reactor: &impl Reactor,
    roster: &Roster,
    stopped: impl Fn() -> bool,
) -> Result<Opened<C::Session>, DriveError> {
    let of = roster.of;
    let mut sessions = Vec::with_capacity(roster.sessions.len());
    for ((role, index), token) in roster.sessions.iter().copied().zip(0..) {
        if stopped() {
            break;
        }
        let session = connect.connect().map_err(|source| DriveError::Connect { index, of, source })?;
        if session.descriptor().is_none() {
            return Ok(Opened { sessions: vec![(Role::Both, session)], in_process: true });
        }
        register(reactor, &session, token)?;
        sessions.push((role, session));
    }
    Ok(Opened { sessions, in_process: false })
}

/// Opens a lost session again, or ends the driving if that does not work for too long. `None` means to give up.
pub async fn reopen<W, C, K, R>(shard: &Shard<'_, W, C, K, R>, token: u32) -> Option<C::Session>
where
    W: Workload,
    C: Connect,
    K: Clock,
    R: Reactor,
{
    let give_up = shard.clock.now() + REOPEN_LIMIT;
    let mut pause = FIRST_PAUSE;
    loop {
        if shard.is_closing() || shard.signals.is_aborted() {
            return None;
        }
        // This may block the shard for as long as the engine lets a connection take; see the pitfalls in lib.rs.
        let refusal = match shard.connect.connect() {
            Ok(session) => return watched(shard, session, token),
            Err(refusal) => refusal,
        };
        let now = shard.clock.now();
        if now >= give_up {
            shard.fail(DriveError::Gone { source: refusal });
            return None;
        }
        shard.agenda.pause(shard.clock, token, now + pause).await;
        pause = Nanos(pause.0 * 2).min(LONGEST_PAUSE);
    }
}

fn watched<W, C, K, R>(shard: &Shard<'_, W, C, K, R>, session: C::Session, token: u32) -> Option<C::Session>
where
    W: Workload,
    C: Connect,
    K: Clock,
    R: Reactor,
{
    match register(shard.reactor, &session, token) {
        Ok(()) => Some(session),
        Err(error) => {
            shard.fail(error);
            None
        }
    }
}

fn register(reactor: &impl Reactor, session: &impl Session, token: u32) -> Result<(), DriveError> {
    let Some(descriptor) = session.descriptor() else { return Ok(()) };
    reactor
        .register(descriptor, token)
        .map_err(|source| DriveError::Io { doing: "watching a session's descriptor", source })
}
