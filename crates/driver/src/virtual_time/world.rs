//! A world in which time passes only when everyone waits. It is clock, reactor and sessions in one.
//!
//! A script decides how each request of a session is answered, and when. Nothing here is sent anywhere, and no session
//! has a descriptor.

use crate::clock::{Clock, Nanos, Turns};
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

/// The time of a new world. It is not zero, so that there are moments before it.
const BEGINNING: Nanos = Nanos::from_seconds(10);

/// What a session asks of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    Connect,
    Statement(u16),
    Commit,
    Rollback,
}

#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(test), expect(dead_code, reason = "known times depend on nothing; scripts of tests ask when and who"))]
pub struct WorldCall {
    pub now: Nanos,
    /// Sessions are numbered from 0, in the order in which they are opened.
    pub session: u32,
    pub asked: RequestKind,
}

#[cfg_attr(not(test), expect(dead_code, reason = "in a rehearsal everything is answered; tests have more to ask"))]
pub enum WorldAnswer {
    After(Nanos),
    Fail(SessionError),
    Never,
}

pub type Script = Box<dyn Fn(&WorldCall) -> WorldAnswer>;

struct Universe {
    now: Cell<Nanos>,
    in_process: bool,
    script: Script,
    /// The moments when sessions are answered, with their tokens.
    answers: RefCell<BinaryHeap<Reverse<(Nanos, u32)>>>,
    sessions: Cell<u32>,
    /// How many sessions an opener was asked for. Each is opened when the shard checks for it.
    wanted: Cell<u32>,
}

/// A handle to the one world of a run.
#[derive(Clone)]
pub struct World(Rc<Universe>);

impl World {
    /// A request of an in-process session is answered before the session goes on, so there is only one at a time.
    pub fn new(in_process: bool, script: Script) -> Self {
        Self(Rc::new(Universe {
            now: Cell::new(BEGINNING),
            in_process,
            script,
            answers: RefCell::default(),
            sessions: Cell::new(0),
            wanted: Cell::new(0),
        }))
    }

    /// Time never goes back.
    pub fn pass_until(&self, moment: Nanos) {
        self.0.now.set(moment.max(self.0.now.get()));
    }
}

impl Clock for World {
    fn now(&self) -> Nanos {
        self.0.now.get()
    }

    fn thread_cpu(&self) -> Nanos {
        Nanos::ZERO
    }

    fn thread_turns(&self) -> Option<Turns> {
        None
    }
}

impl Reactor<VirtualSession> for World {
    fn watch(&self, session: &mut VirtualSession, token: u32) -> io::Result<bool> {
        session.token.set(token);
        Ok(!self.0.in_process)
    }

    fn wait(&self, at_most: Nanos, ready: &mut Vec<u32>) -> io::Result<()> {
        let mut answers = self.0.answers.borrow_mut();
        let latest = self.now() + at_most;
        self.pass_until(answers.peek().map_or(latest, |Reverse((moment, _))| latest.min(*moment)));
        let now = self.now();
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
        let call = WorldCall { now: self.now(), session: number, asked: RequestKind::Connect };
        if let WorldAnswer::Fail(error) = (self.0.script)(&call) {
            return Err(error);
        }
        self.0.sessions.set(number + 1);
        let (results, work) = Default::default();
        Ok(VirtualSession { world: self.clone(), number, token: Cell::new(0), results, work })
    }
}

impl Opener<VirtualSession> for World {
    fn ask(&self) {
        self.0.wanted.set(self.0.wanted.get() + 1);
    }

    fn opened(&self) -> Option<Result<VirtualSession, SessionError>> {
        let wanted = self.0.wanted.get().checked_sub(1)?;
        self.0.wanted.set(wanted);
        Some(self.connect())
    }
}

pub struct VirtualSession {
    world: World,
    number: u32,
    /// The token that an answer wakes.
    token: Cell<u32>,
    results: ResultSet,
    work: SessionWork,
}

impl VirtualSession {
    /// Follows the contract of sessions: the first poll only sends, later polls look for the answer.
    async fn ask(&mut self, asked: RequestKind) -> Result<(), SessionError> {
        let (world, now) = (&self.world, self.world.now());
        let at = match (world.0.script)(&WorldCall { now, session: self.number, asked }) {
            WorldAnswer::Fail(error) => return Err(error),
            WorldAnswer::After(span) => Some(now + span),
            WorldAnswer::Never => None,
        };
        if let Some(at) = at {
            if world.0.in_process {
                world.pass_until(at);
                return Ok(());
            }
            world.0.answers.borrow_mut().push(Reverse((at, self.token.get())));
        }
        let mut sent = false;
        poll_fn(|_| {
            let answered = sent && at.is_some_and(|at| world.now() >= at);
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
        self.ask(RequestKind::Commit).await
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        self.ask(RequestKind::Rollback).await
    }

    async fn execute(&mut self, statement: StatementId, _params: &[Param<'_>]) -> Result<&ResultSet, SessionError> {
        self.ask(RequestKind::Statement(statement.0)).await?;
        self.work.statements += 1;
        Ok(&self.results)
    }

    async fn execute_text(&mut self, _: &'static str, _: &str) -> Result<&ResultSet, SessionError> {
        self.execute(StatementId(u16::MAX), &[]).await
    }

    fn work(&self) -> SessionWork {
        self.work
    }
}
