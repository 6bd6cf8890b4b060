//! Opening a shard's sessions before the start, and opening one again when it was lost.

use crate::agenda::Role;
use crate::arrivals::Share;
use crate::clock::{Clock, Nanos};
use crate::deferral::CLIENTS_FOR_ONE;
use crate::plan::{DriveError, Pacing};
use crate::reactor::Reactor;
use crate::shard::Shard;
use engines::session::Connect;
use std::ops::Range;
use workloads::workload::Workload;

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
    /// Those for the shard's clients, and some in the background if there is ever work for them: in proportion to the
    /// clients, so that more shards do not mean more of them.
    pub fn of(workload: &impl Workload, share: Share, pacing: Pacing) -> Self {
        let for_clients = pacing.sessions();
        let background_of = |shard| {
            let clients = Share { shard, ..share }.of_all(for_clients).len();
            if workload.defers() { clients.div_ceil(CLIENTS_FOR_ONE) } else { 0 }
        };
        let background = |shards: Range<u32>| {
            let sessions: usize = shards.map(background_of).sum();
            u32::try_from(sessions).unwrap_or(u32::MAX)
        };
        let (first, end) = (for_clients + background(0..share.shard), for_clients + background(0..share.shard + 1));
        let for_clients_here = share.of_all(for_clients).into_iter().map(|index| (Role::Clients, index));
        let sessions = for_clients_here.chain((first..end).map(|index| (Role::Deferred, index))).collect();
        Self { sessions, of: for_clients + background(0..share.of) }
    }
}

/// Opens the sessions of the roster. An in-process engine gets a single session for everything: on one thread a second
/// one would only split the engine's cache.
pub fn open<C: Connect>(
    connect: &C,
    reactor: &impl Reactor<C::Session>,
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
        if !watch(reactor, &session, token)? {
            return Ok(Opened { sessions: vec![(Role::Both, session)], in_process: true });
        }
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
    R: Reactor<C::Session>,
{
    let lost_at = shard.clock.now();
    shard.count_loss(|losses| losses.lost += 1);
    let opened = try_to_reopen(shard, token, lost_at + shard.away_limit).await;
    let was_without = shard.clock.now().since(lost_at).as_millis();
    shard.count_loss(|losses| {
        losses.reopened += u64::from(opened.is_some());
        losses.longest_ms = losses.longest_ms.max(was_without);
    });
    opened
}

async fn try_to_reopen<W, C, K, R>(shard: &Shard<'_, W, C, K, R>, token: u32, give_up: Nanos) -> Option<C::Session>
where
    W: Workload,
    C: Connect,
    K: Clock,
    R: Reactor<C::Session>,
{
    let mut pause = FIRST_PAUSE;
    loop {
        if shard.is_closing() || shard.signals.is_aborted() {
            return None;
        }
        let opened =
            if shard.openings.is_aside() { shard.openings.one_for(token).await? } else { shard.connect.connect() };
        let refusal = match opened {
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
    R: Reactor<C::Session>,
{
    match watch(shard.reactor, &session, token) {
        Ok(_) => Some(session),
        Err(error) => {
            shard.fail(error);
            None
        }
    }
}

/// Whether there is anything to watch.
pub fn watch<S>(reactor: &impl Reactor<S>, session: &S, token: u32) -> Result<bool, DriveError> {
    reactor.watch(session, token).map_err(|source| DriveError::Io { doing: "watching a session", source })
}
