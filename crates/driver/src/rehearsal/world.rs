//! A world in which time passes only when everybody waits.

use crate::clock::{Clock, Nanos};
use crate::reactor::Reactor;
use engines::session::{Access, Connect, Opener, Param, ResultSet, Session, SessionError, SessionWork};
use engines::statement::{Dialect, StatementId};
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::future::poll_fn;
use std::io;
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::task::Poll;

/// What a session asks of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    Connect,
    Statement(u16),
    Commit,
    Rollback,
}

#[derive(Debug, Clone, Copy)]
pub struct Call {
    pub now: Nanos,
    /// Sessions are numbered in the order in which they are opened, from 0.
    pub session: u32,
    pub asked: Asked,
}

pub enum Answer {
    After(Nanos),
    Fail(SessionError),
    Never,
}

type Script = Box<dyn Fn(&Call) -> Answer>;

pub struct Universe {
    now: Cell<Nanos>,
    in_process: bool,
    /// What each look at the clock takes: a driver that is slow.
    toil: Cell<Nanos>,
    script: Script,
    /// When somebody is answered, and the token of the session.
    answers: RefCell<BinaryHeap<Reverse<(Nanos, u32)>>>,
    sessions: Cell<u32>,
}

/// A handle to the one universe of a run; opens its sessions.
#[derive(Clone)]
pub struct World(Rc<Universe>);

impl World {
    /// Starts a little before driving does, as a real run would.
    pub fn new(in_process: bool, script: Script) -> Self {
        Self(Rc::new(Universe {
            now: Cell::new(Nanos::from_millis(10_000)),
            in_process,
            toil: Cell::new(Nanos::ZERO),
            script,
            answers: RefCell::default(),
            sessions: Cell::new(0),
        }))
    }
}

impl World {
    /// From now on every look at the clock takes so long.
    pub fn slow_the_driver_down(&self, toil: Nanos) {
        self.0.toil.set(toil);
    }
}

pub struct VirtualClock(pub World);

impl Clock for VirtualClock {
    fn now(&self) -> Nanos {
        let now = self.0.0.now.get();
        self.0.0.now.set(now + self.0.0.toil.get());
        now
    }

    fn thread_cpu(&self) -> Nanos {
        Nanos::ZERO
    }
}

pub struct VirtualReactor(pub World);

impl Reactor<VirtualSession> for VirtualReactor {
    fn watch(&self, session: &VirtualSession, token: u32) -> io::Result<bool> {
        session.token.set(token);
        Ok(!self.0.0.in_process)
    }

    fn wait(&self, at_most: Nanos, ready: &mut Vec<u32>) -> io::Result<()> {
        let universe = &self.0.0;
        let mut answers = universe.answers.borrow_mut();
        let latest = universe.now.get() + at_most;
        let next = answers.peek().map_or(latest, |Reverse((moment, _))| (*moment).min(latest));
        let now = next.max(universe.now.get());
        universe.now.set(now);
        while let Some(answer) = answers.peek_mut().filter(|answer| answer.0.0 <= now) {
            let Reverse((_, token)) = PeekMut::pop(answer);
            ready.push(token);
        }
        Ok(())
    }
}

impl Connect for World {
    type Session = VirtualSession;

    fn connect(&self) -> Result<VirtualSession, SessionError> {
        let number = self.0.sessions.get();
        let call = Call { now: self.0.now.get(), session: number, asked: Asked::Connect };
        if let Answer::Fail(error) = (self.0.script)(&call) {
            return Err(error);
        }
        self.0.sessions.set(number + 1);
        Ok(VirtualSession {
            universe: Rc::clone(&self.0),
            number,
            token: Cell::new(0),
            results: ResultSet::default(),
            work: SessionWork::default(),
        })
    }
}

/// Opens each session at once, when it is looked for.
pub struct VirtualOpener {
    world: World,
    wanted: Cell<u32>,
}

impl VirtualOpener {
    pub fn of(world: &World) -> Self {
        Self { world: world.clone(), wanted: Cell::new(0) }
    }
}

impl Opener<VirtualSession> for VirtualOpener {
    fn ask(&self) {
        self.wanted.set(self.wanted.get() + 1);
    }

    fn opened(&self) -> Option<Result<VirtualSession, SessionError>> {
        let wanted = self.wanted.get().checked_sub(1)?;
        self.wanted.set(wanted);
        Some(self.world.connect())
    }
}

pub struct VirtualSession {
    universe: Rc<Universe>,
    number: u32,
    token: Cell<u32>,
    results: ResultSet,
    work: SessionWork,
}

impl VirtualSession {
    /// As the contract of sessions says: the first poll only sends, later polls look for the answer.
    async fn ask(&mut self, asked: Asked) -> Result<(), SessionError> {
        let call = Call { now: self.universe.now.get(), session: self.number, asked };
        let at = match (self.universe.script)(&call) {
            Answer::Fail(error) => return Err(error),
            Answer::After(span) => Some(call.now + span),
            Answer::Never => None,
        };
        if self.universe.in_process {
            self.universe.now.set(at.expect("an in-process engine always returns"));
            return Ok(());
        }
        if let Some(at) = at {
            self.universe.answers.borrow_mut().push(Reverse((at, self.token.get())));
        }
        let mut sent = false;
        poll_fn(|_| {
            let answered = sent && at.is_some_and(|at| self.universe.now.get() >= at);
            sent = true;
            if answered { Poll::Ready(Ok(())) } else { Poll::Pending }
        })
        .await
    }
}

impl Session for VirtualSession {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    async fn begin(&mut self, _access: Access) -> Result<(), SessionError> {
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.ask(Asked::Commit).await
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        self.ask(Asked::Rollback).await
    }

    async fn execute(&mut self, statement: StatementId, _params: &[Param<'_>]) -> Result<&ResultSet, SessionError> {
        self.ask(Asked::Statement(statement.0)).await?;
        self.work.statements += 1;
        self.work.rows_changed += 2;
        Ok(&self.results)
    }

    fn work(&self) -> SessionWork {
        self.work
    }
}
