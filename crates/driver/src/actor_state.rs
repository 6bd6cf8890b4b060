//! One actor in a shard: its users, the work that others cause for it, and how many sessions it has.

use crate::assignment::Assignment;
use crate::deferral::{Deferral, LATER_CAPACITY, QUEUE_CAPACITY};
use crate::pacing::{Clients, Vacancy};
use crate::script::has_end;
use crate::users::{UserStyle, clients_of, reacting_users};
use std::cell::{Cell, RefCell};
use workloads::workload::Workload;

pub struct ActorState<W: Workload> {
    pub style: UserStyle,
    /// Others cause work for it; its queue holds nothing else.
    pub reacts: bool,
    /// Its users finish their work by themselves.
    pub ends: bool,
    /// Whether its users may begin only so many transactions together ([`crate::signals::Signals::take_from_budget`]).
    pub is_counted: bool,
    pub clients: RefCell<Clients<W::Client>>,
    /// The work that others cause for it.
    pub deferral: RefCell<Deferral<W::Input>>,
    /// Its idle sessions.
    pub vacancy: Cell<Vacancy>,
    pub pool: Cell<Pool>,
}

/// An actor's background sessions, which execute what others cause for it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pool {
    pub at_start: u32,
    pub now: u32,
    /// The upper limit: the number of sessions for clients, or `at_start` if that is larger.
    pub most: u32,
}

impl<W: Workload> ActorState<W> {
    /// The states of all actors in this phase, by index. At most `handing_over` users can wait for room at a time.
    pub fn all(assignment: &Assignment<'_, W>, handing_over: usize, sessions: impl Fn(u16) -> u32) -> Vec<Self> {
        let actors = assignment.workload.actors();
        let paced: u32 =
            (0_u16..).zip(actors).filter(|(_, actor)| !actor.reacts).map(|(index, _)| sessions(index)).sum();
        let of = assignment.share.of as usize;
        let actor_state = |(index, actor): (u16, &workloads::workload::Actor)| {
            let stream = assignment.phase.streams.iter().find(|stream| stream.actor == index);
            let clients =
                stream.map_or_else(|| reacting_users(assignment, index), |stream| clients_of(assignment, stream));
            let in_pool = if actor.reacts { sessions(index) } else { 0 };
            let waiting = if actor.reacts { handing_over } else { 0 };
            let (capacity, later) = (QUEUE_CAPACITY.div_ceil(of), LATER_CAPACITY.div_ceil(of));
            Self {
                style: stream.map_or(UserStyle::Called, |stream| UserStyle::of(stream.pacing)),
                reacts: actor.reacts,
                ends: stream.is_some_and(|stream| has_end(stream, actors)),
                is_counted: stream.is_some_and(|stream| stream.transactions.is_some()),
                clients: RefCell::new(clients),
                deferral: RefCell::new(Deferral::new(capacity, later, waiting)),
                vacancy: Cell::default(),
                pool: Cell::new(Pool { at_start: in_pool, now: in_pool, most: paced.max(in_pool) }),
            }
        };
        (0_u16..).zip(actors).map(actor_state).collect()
    }
}
