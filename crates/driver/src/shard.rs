//! One thread of the driver: the state that the tasks of its sessions share.

use crate::actor_state::ActorState;
use crate::agenda::{Agenda, Role};
use crate::assignment::Assignment;
use crate::books::{Books, ClosedBooks};
use crate::clock::{Clock, Nanos};
use crate::deferral::ResultLines;
use crate::error::DriveError;
use crate::mailbox::Mailbox;
use crate::openings::Openings;
use crate::pacing::QueueCounts;
use crate::phase_ending::PhaseEnding;
use crate::queues::Queues;
use crate::reactor::Reactor;
use crate::recorder::{Executed, Meters, Recorder, Second};
use crate::report::ShardReport;
use crate::sessions::Opened;
use crate::signals::{RunningTotals, Signals};
use crate::slice::Slice;
use crate::stall::StallWatch;
use crate::window::Window;
use engines::session::{Connect, Opener};
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use workloads::effects::Effects;
use workloads::workload::Workload;

/// The transaction that a session is executing.
#[derive(Debug, Clone, Copy)]
pub struct UnderWay {
    pub kind: u16,
    pub due: Nanos,
    pub taken: Nanos,
}

/// Names the types that the code of a shard is compiled for.
pub trait ShardTypes {
    type Workload: Workload;
    type Connect: Connect;
    type Clock: Clock;
    type Reactor: Reactor<<Self::Connect as Connect>::Session>;
}

impl<W: Workload, C: Connect, K: Clock, R: Reactor<C::Session>> ShardTypes for (W, C, K, R) {
    type Workload = W;
    type Connect = C;
    type Clock = K;
    type Reactor = R;
}

pub type SessionOf<T> = <<T as ShardTypes>::Connect as Connect>::Session;
pub type InputOf<T> = <<T as ShardTypes>::Workload as Workload>::Input;

/// State that the tasks of one shard share. They run on one thread and borrow it only between waits.
pub struct Shard<'a, T: ShardTypes> {
    pub workload: &'a T::Workload,
    pub connect: &'a T::Connect,
    pub clock: &'a T::Clock,
    pub reactor: &'a T::Reactor,
    pub signals: &'a Signals<'a>,
    pub retries: u32,
    pub away_limit: Nanos,
    drain_limit: Nanos,
    pub window: Window,
    /// The shard's place among the shards of this load generator.
    pub here: Slice,
    pub in_process: bool,
    pub agenda: Agenda,
    pub queues: Queues<'a, T::Workload>,
    pub books: Books<'a>,
    pub ending: PhaseEnding,
    pub openings: Openings<'a, SessionOf<T>>,
    /// The transaction of each session, by token.
    pub under_way: RefCell<Vec<Option<UnderWay>>>,
    /// The latest reading of the clock, for decisions that do not need a fresh one.
    pub now: Cell<Nanos>,
    /// The actor whose work is most overdue; the next new session goes to it.
    pub most_overdue: Cell<Option<u16>>,
    /// Sessions that have finished their work in this phase, with their tokens.
    kept: RefCell<Vec<(u32, Role, SessionOf<T>)>>,
    failure: RefCell<Option<DriveError>>,
}

/// Everything around a shard that tests can replace.
pub struct Surroundings<'a, T: ShardTypes> {
    pub connect: &'a T::Connect,
    pub opener: Option<&'a dyn Opener<SessionOf<T>>>,
    pub clock: &'a T::Clock,
    pub reactor: &'a T::Reactor,
    pub signals: &'a Signals<'a>,
    pub published: &'a RunningTotals,
    /// Takes each second once it is over.
    pub hand_on: &'a dyn Fn(Second),
    /// The shard's mailbox, if there are other shards.
    pub mailbox: Option<&'a Mailbox<InputOf<T>>>,
}

pub type ShardTask<'t> = Option<Pin<Box<dyn Future<Output = ()> + 't>>>;

impl<'a, T: ShardTypes> Shard<'a, T> {
    pub fn new(
        around: &Surroundings<'a, T>,
        assignment: &Assignment<'a, T::Workload>,
        opened: &Opened<SessionOf<T>>,
    ) -> Self {
        let Assignment { workload, window, .. } = *assignment;
        let kinds = workload.kinds();
        let meters = Meters { cpu: around.clock.thread_cpu(), turns: around.clock.thread_turns(), ..Meters::default() };
        let users = |pacing: record::trial::Pacing| assignment.share.of_all(pacing.clients()).len();
        let handing_over = assignment.phase.streams.iter().map(|stream| users(stream.pacing)).sum();
        let sessions = |actor| opened.sessions.iter().filter(|(role, _)| *role == Role::Of(actor)).count();
        let actor_states =
            ActorState::all(assignment, handing_over, |actor| u32::try_from(sessions(actor)).unwrap_or(u32::MAX));
        let recorder = Recorder::new(window, kinds.len(), T::Workload::COUNTERS.len(), assignment.receipts, meters);
        let blank = (recorder, ResultLines::new(assignment.log_lines), StallWatch::over(window));
        Self {
            workload,
            connect: around.connect,
            clock: around.clock,
            reactor: around.reactor,
            signals: around.signals,
            retries: assignment.retries,
            away_limit: assignment.away_limit,
            drain_limit: assignment.drain_limit,
            window,
            here: assignment.here,
            in_process: opened.in_process,
            agenda: Agenda::new(opened.sessions.len(), actor_states.len()),
            queues: Queues::new(workload, actor_states, around.mailbox),
            books: Books::open(kinds, (around.published, around.hand_on), blank),
            ending: PhaseEnding::not_yet(),
            openings: Openings::by(around.opener),
            under_way: RefCell::new(Vec::with_capacity(opened.sessions.len())),
            now: Cell::new(window.start),
            most_overdue: Cell::new(None),
            kept: RefCell::default(),
            failure: RefCell::new(None),
        }
    }

    /// Keeps a session that has no more work in this phase.
    pub fn keep(&self, token: u32, role: Role, session: SessionOf<T>) {
        self.kept.borrow_mut().push((token, role, session));
    }

    /// The sessions that can be used again, in the order of their tokens.
    pub fn sessions_left(&self) -> Vec<(Role, SessionOf<T>)> {
        let mut kept = self.kept.take();
        kept.sort_by_key(|(token, ..)| *token);
        kept.into_iter().map(|(_, role, session)| (role, session)).collect()
    }

    /// Reads the clock, closes the seconds that are over, and queues the clients that have become due.
    pub fn look_at_the_clock(&self) -> Nanos {
        let now = self.clock.now();
        self.moved_on(now);
        self.admit(now);
        now
    }

    /// Closes the seconds one by one, so that each records how many were waiting when it ended.
    fn moved_on(&self, now: Nanos) {
        self.now.set(now);
        loop {
            let second_end = self.books.second_end();
            if now < second_end {
                return;
            }
            // A transaction due exactly on a boundary belongs to the second that begins there.
            self.admit(Nanos(second_end.0 - 1));
            self.books.close_second(second_end, self.meters(), self.ending.leaves_whole(second_end));
        }
    }

    pub fn is_drained_enough(&self, now: Nanos) -> bool {
        self.ending.has_lasted(self.drain_limit, now)
    }

    /// Ends the driving of all shards, for this reason.
    pub fn fail(&self, reason: DriveError) {
        self.failure.borrow_mut().get_or_insert(reason);
        self.signals.abort();
    }

    /// Books a finished transaction in the second in which it was done.
    pub fn book(&self, life: &Executed, effects: &Effects<'_, InputOf<T>>) {
        if self.in_process {
            // During the transaction this thread was the database.
            self.books.note_idle(life.done.since(life.sent));
        }
        self.moved_on(life.done);
        self.books.book(life, effects);
    }

    pub fn into_report(self, sessions: u32) -> ShardReport {
        let now = self.clock.now();
        let given_up = self.give_up(now);
        let meters = self.meters();
        let queue = QueueCounts { waiting: self.ending.waiting(), ..meters.queue };
        let ClosedBooks { errors, lines, losses, stalls, unended } =
            self.books.close(meters, self.ending.is_by_streams());
        ShardReport {
            errors,
            lines,
            deferred: self.queues.close(),
            sessions,
            losses,
            unended,
            given_up,
            stalls,
            on_one_cpu: false,
            through_io_uring: false,
            in_process: self.in_process,
            queue,
            ended: self.ending.reason(),
            failure: self.failure.into_inner(),
        }
    }
}
