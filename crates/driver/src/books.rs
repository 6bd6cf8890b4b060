//! The books of a shard: its seconds, its errors and losses, and how long it had nothing to do or stood still.

use crate::clock::Nanos;
use crate::counts::SparseCounts;
use crate::deferral::{ResultLine, ResultLines};
use crate::errors::ErrorBook;
use crate::recorder::{Executed, Meters, Recorder, Second};
use crate::signals::RunningTotals;
use crate::stall::StallWatch;
use engines::session::SessionError;
use record::trial::{Losses, Stalls};
use std::cell::{Cell, RefCell};
use workloads::effects::Effects;
use workloads::workload::{Ending, TransactionKind};

pub struct Books<'a> {
    kinds: &'static [TransactionKind],
    published: &'a RunningTotals,
    /// Takes each second once it is over.
    hand_on: &'a dyn Fn(Second),
    recorder: RefCell<Recorder>,
    errors: RefCell<ErrorBook>,
    lines: RefCell<ResultLines>,
    losses: Cell<Losses>,
    stalls: Cell<StallWatch>,
    idle: Cell<Nanos>,
}

/// The books at the end.
pub struct ClosedBooks {
    pub errors: ErrorBook,
    pub lines: ResultLines,
    pub losses: Losses,
    pub stalls: Stalls,
    /// By kind, what had not ended with the window.
    pub unended: Vec<SparseCounts>,
}

impl<'a> Books<'a> {
    pub fn open(
        kinds: &'static [TransactionKind],
        (published, hand_on): (&'a RunningTotals, &'a dyn Fn(Second)),
        (recorder, lines, stalls): (Recorder, ResultLines, StallWatch),
    ) -> Self {
        let (recorder, lines, stalls) = (RefCell::new(recorder), RefCell::new(lines), Cell::new(stalls));
        let (errors, losses, idle) = (RefCell::default(), Cell::default(), Cell::new(Nanos::ZERO));
        Self { kinds, published, hand_on, recorder, errors, lines, losses, stalls, idle }
    }

    /// When the current second ends.
    pub fn second_end(&self) -> Nanos {
        self.recorder.borrow().second_end()
    }

    pub fn close_second(&self, second_end: Nanos, meters: Meters, is_whole: bool) {
        let closed = self.recorder.borrow_mut().close_second(second_end, meters);
        if let Some(second) = closed {
            (self.hand_on)(Second { whole: is_whole, ..second });
        }
    }

    /// Books a finished transaction; the seconds before it are closed.
    pub fn book<I>(&self, life: &Executed, effects: &Effects<'_, I>) {
        self.recorder.borrow_mut().book(life, effects);
        match life.ending {
            Some(ending) => {
                let counted = self.kinds.get(usize::from(life.kind)).is_some_and(|kind| kind.counted);
                self.published.ended(counted, ending == Ending::Committed);
            }
            None => self.published.failed(),
        }
    }

    /// Books a transaction that will not end any more, and was due at `due`.
    pub fn book_unended(&self, kind: u16, due: Nanos, now: Nanos) {
        self.recorder.borrow_mut().book_unended(kind, due, now);
    }

    /// Books a client's pause between two transactions.
    pub fn paused(&self, pause: Nanos) {
        self.recorder.borrow_mut().pause(pause);
    }

    pub fn note_error(&self, error: &SessionError) {
        self.errors.borrow_mut().note(error);
    }

    pub fn note_line(&self, line: ResultLine) {
        self.lines.borrow_mut().push(line);
    }

    pub fn count_loss(&self, change: impl FnOnce(&mut Losses)) {
        let mut losses = self.losses.get();
        change(&mut losses);
        self.losses.set(losses);
    }

    /// Notes that the shard was to go on at `expected`, and did so at `now`.
    pub fn note_stall(&self, expected: Nanos, now: Nanos) {
        let mut stalls = self.stalls.get();
        stalls.note(expected, now);
        self.stalls.set(stalls);
    }

    /// Notes time in which the thread waited, or was the database.
    pub fn note_idle(&self, time: Nanos) {
        self.idle.set(self.idle.get() + time);
    }

    pub fn idle(&self) -> Nanos {
        self.idle.get()
    }

    /// Hands on the last second.
    pub fn close(self, meters: Meters, is_whole: bool) -> ClosedBooks {
        let (last, unended) = self.recorder.into_inner().finish(meters);
        (self.hand_on)(Second { whole: is_whole, ..last });
        ClosedBooks {
            errors: self.errors.into_inner(),
            lines: self.lines.into_inner(),
            losses: self.losses.get(),
            stalls: self.stalls.get().stalls(),
            unended,
        }
    }
}
