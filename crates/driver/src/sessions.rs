//! The sessions of a shard, and how they are opened before the start.

use crate::agenda::Role;
use crate::deferral::CLIENTS_FOR_ONE;
use crate::error::DriveError;
use crate::plan::DrivePlan;
use crate::reactor::Reactor;
use crate::slice::Slice;
use engines::session::Connect;
use workloads::workload::Actor;

/// The sessions of one shard; a session's index in the list is its token.
#[derive(Debug)]
pub struct Opened<S> {
    pub sessions: Vec<(Role, S)>,
    pub in_process: bool,
}

/// The sessions that a shard opens: what each is for, and its number among all sessions.
pub struct SessionList {
    sessions: Vec<(Role, u32)>,
    of: u32,
}

impl SessionList {
    /// For each actor with a pacing, the shard's part of the most sessions that any of its streams needs. For each
    /// reacting actor, its part of the background sessions. Their number follows the clients. Only if there are fewer
    /// than shards with clients, there is one for each of these shards, since a shard executes itself what its clients
    /// defer.
    pub fn of(actors: &[Actor], share: Slice, plan: &DrivePlan) -> Self {
        let actors = || (0_u16..).zip(actors);
        let wanted = |actor: u16| {
            let streams = plan.phases.iter().flat_map(|phase| &phase.streams);
            streams.filter(|stream| stream.actor == actor).map(|stream| stream.pacing.sessions()).max().unwrap_or(0)
        };
        let paced: Vec<(u16, u32)> =
            actors().filter(|(_, actor)| !actor.reacts).map(|(index, _)| (index, wanted(index))).collect();
        let clients: u32 = paced.iter().map(|(_, sessions)| *sessions).sum();
        let with_clients = paced.iter().map(|(_, sessions)| *sessions).max().unwrap_or(0).min(share.of);
        let background = clients.div_ceil(CLIENTS_FOR_ONE).max(with_clients);
        let reacting = actors().filter(|(_, actor)| actor.reacts).map(|(index, _)| (index, background));
        let (mut sessions, mut of) = (Vec::new(), 0);
        for (actor, count) in paced.into_iter().chain(reacting) {
            sessions.extend(share.of_all(count).into_iter().map(|index| (Role::Of(actor), of + index)));
            of += count;
        }
        Self { sessions, of }
    }
}

/// How many sessions a plan opens on one thread, of an engine with a server. More threads open a few more for work in the background.
pub fn opened(actors: &[Actor], plan: &DrivePlan) -> u32 {
    SessionList::of(actors, plan.generator.part_of(Slice { shard: 0, of: 1 }), plan).of
}

/// Opens the sessions of a list. An in-process engine gets a single session for everything, because a second one on
/// the same thread would only split the engine's cache.
pub fn open<C: Connect>(
    connect: &C,
    reactor: &impl Reactor<C::Session>,
    session_list: &SessionList,
    stopped: impl Fn() -> bool,
) -> Result<Opened<C::Session>, DriveError> {
    let of = session_list.of;
    let mut sessions = Vec::with_capacity(session_list.sessions.len());
    for ((role, index), token) in session_list.sessions.iter().copied().zip(0..) {
        if stopped() {
            break;
        }
        let mut session = connect.connect().map_err(|source| DriveError::Connect { index, of, source })?;
        if !watch(reactor, &mut session, token)? {
            return Ok(Opened { sessions: vec![(Role::All, session)], in_process: true });
        }
        sessions.push((role, session));
    }
    Ok(Opened { sessions, in_process: false })
}

/// Returns whether there is anything to watch.
pub fn watch<S>(reactor: &impl Reactor<S>, session: &mut S, token: u32) -> Result<bool, DriveError> {
    reactor.watch(session, token).map_err(|source| DriveError::Io { doing: "watching a session", source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Pacing;
    use crate::rehearsal::workload::RehearsedWorkload;
    use workloads::workload::Workload;

    #[test]
    fn background_sessions_follow_the_clients_and_each_shard_with_clients_has_one() {
        let of_each = |clients: u32, of: u32| -> Vec<usize> {
            let plan = DrivePlan::timed(Pacing::Clients { clients }, 0, 1_000, 1);
            let lists = (0..of)
                .map(|shard| SessionList::of(RehearsedWorkload::deferring(1).actors(), Slice { shard, of }, &plan));
            let background = |list: SessionList| list.sessions.iter().filter(|(role, _)| *role == Role::Of(1)).count();
            lists.map(background).collect()
        };
        assert_eq!((of_each(32, 1), of_each(32, 2), of_each(34, 3)), (vec![4], vec![2, 2], vec![2, 2, 1]));
        assert_eq!((of_each(8, 4), of_each(3, 4)), (vec![1, 1, 1, 1], vec![1, 1, 1, 0]));
        let plan = DrivePlan::timed(Pacing::Clients { clients: 300 }, 0, 1_000, 1);
        assert_eq!(opened(RehearsedWorkload::deferring(1).actors(), &plan), 300 + 38);
    }
}
