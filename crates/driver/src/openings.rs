//! Sessions that an [`Opener`] opens while a shard drives the others.
//!
//! They go to tasks that lost their session first, and then to the pool of background sessions.

use crate::agenda::Agenda;
use engines::session::{Opener, SessionError};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::task::Poll;

type OpenedSession<S> = Result<S, SessionError>;

pub struct Openings<'a, S> {
    opener: Option<&'a dyn Opener<S>>,
    /// How many have been asked for and have not arrived yet.
    asked: Cell<u32>,
    /// Tasks that wait for a session, by token.
    waiting: RefCell<VecDeque<u32>>,
    /// What arrived for them, by token.
    came: RefCell<BTreeMap<u32, OpenedSession<S>>>,
    is_closed: Cell<bool>,
}

impl<'a, S> Openings<'a, S> {
    pub fn by(opener: Option<&'a dyn Opener<S>>) -> Self {
        let (asked, waiting, came, is_closed) = Default::default();
        Self { opener, asked, waiting, came, is_closed }
    }

    /// Whether any session is being opened.
    pub fn is_under_way(&self) -> bool {
        self.asked.get() > 0
    }

    /// Asks for one more session, for a task or the pool.
    pub fn ask_for_more(&self) {
        if let Some(opener) = self.opener {
            opener.ask();
            self.asked.set(self.asked.get() + 1);
        }
    }

    /// The next session that has arrived, if any; never waits.
    pub fn arrived(&self) -> Option<OpenedSession<S>> {
        if !self.is_under_way() {
            return None;
        }
        let opened = self.opener?.opened()?;
        self.asked.set(self.asked.get() - 1);
        Some(opened)
    }

    /// Gives a session to the task that has waited longest; returns it if no task waits.
    pub fn hand_to_waiting(&self, opened: OpenedSession<S>, agenda: &Agenda) -> Option<OpenedSession<S>> {
        let Some(token) = self.waiting.borrow_mut().pop_front() else { return Some(opened) };
        self.came.borrow_mut().insert(token, opened);
        agenda.wake(token);
        None
    }

    /// A session for this task; `None` if there is no opener, or when driving ends.
    pub async fn one_for(&self, token: u32) -> Option<OpenedSession<S>> {
        self.opener?;
        self.waiting.borrow_mut().push_back(token);
        self.ask_for_more();
        poll_fn(|_| {
            if let Some(opened) = self.came.borrow_mut().remove(&token) {
                return Poll::Ready(Some(opened));
            }
            if self.is_closed.get() { Poll::Ready(None) } else { Poll::Pending }
        })
        .await
    }

    /// Whether there is an opener.
    pub fn is_aside(&self) -> bool {
        self.opener.is_some()
    }

    /// Ends the waiting of all tasks, because driving is about to end.
    pub fn close(&self, agenda: &Agenda) {
        self.is_closed.set(true);
        for token in self.waiting.borrow_mut().drain(..) {
            agenda.wake(token);
        }
    }
}
