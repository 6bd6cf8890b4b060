//! The loop of one shard: it polls the tasks of its sessions until the phase ends.

use crate::agenda::Role;
use crate::assignment::Assignment;
use crate::clock::{Clock, Nanos};
use crate::error::DriveError;
use crate::reactor::Reactor;
use crate::report::ShardReport;
use crate::sessions::Opened;
use crate::shard::{SessionOf, Shard, ShardTask, ShardTypes, Surroundings};
use crate::task;
use crate::waiting::LONGEST_WAIT;
use std::task::{Context, Poll, Waker};

/// Drives the shard's users over the opened sessions until the phase ends. Afterwards `opened` holds the usable sessions.
pub fn run<T: ShardTypes>(
    around: &Surroundings<'_, T>,
    assignment: &Assignment<'_, T::Workload>,
    opened: &mut Opened<SessionOf<T>>,
) -> Result<ShardReport, DriveError> {
    wait_for_start(around, assignment.window.start)?;
    let shard = Shard::new(around, assignment, opened);
    let mut tasks: Vec<ShardTask<'_>> = Vec::with_capacity(opened.sessions.len());
    for ((role, session), token) in opened.sessions.drain(..).zip(0..) {
        shard.put_to_work(&mut tasks, token, role, session);
    }
    shard.drive(&mut tasks)?;
    let sessions = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
    drop(tasks);
    opened.sessions = shard.sessions_left();
    Ok(shard.into_report(sessions))
}

/// Events before the start can be ignored: a session that has sent nothing has nothing to read.
fn wait_for_start<T: ShardTypes>(around: &Surroundings<'_, T>, start: Nanos) -> Result<(), DriveError> {
    let mut ignored = Vec::new();
    loop {
        let left = start.since(around.clock.now());
        if left == Nanos::ZERO {
            return Ok(());
        }
        around.reactor.wait(left.min(LONGEST_WAIT), &mut ignored).map_err(waiting_failed)?;
        ignored.clear();
    }
}

fn waiting_failed(source: std::io::Error) -> DriveError {
    DriveError::Io { doing: "waiting for sessions", source }
}

impl<T: ShardTypes> Shard<'_, T> {
    /// Adds one more session that works from now on.
    pub fn put_to_work<'t>(&'t self, tasks: &mut Vec<ShardTask<'t>>, token: u32, role: Role, session: SessionOf<T>) {
        self.under_way.borrow_mut().push(None);
        tasks.push(Some(Box::pin(task::serve(self, token, role, session))));
        self.agenda.wake(token);
    }

    fn drive<'t>(&'t self, tasks: &mut Vec<ShardTask<'t>>) -> Result<(), DriveError> {
        let mut ready = Vec::with_capacity(2 * tasks.len());
        let waker = self.agenda.waker();
        let mut left = tasks.len();
        let mut looked = self.look_at_the_clock();
        loop {
            left -= self.poll_ready(tasks, &waker);
            let now = self.look_at_the_clock();
            if !self.in_process {
                // Nothing here waits, so a long time is a stall of the load engine.
                self.books.note_stall(looked, now);
            }
            self.look_for_the_end(now);
            if left == 0 || self.signals.is_aborted() || self.is_drained_enough(now) {
                return Ok(());
            }
            self.agenda.wake_due(now);
            left += self.take_what_was_opened(tasks);
            self.grow_if_overdue(now);
            let nothing_came = self.receive_caused(now);
            let someone_is_ready = self.agenda.ready_count() > 0;
            if someone_is_ready && self.in_process {
                looked = now;
                continue;
            }
            let at_most =
                if someone_is_ready || !nothing_came { Nanos::ZERO } else { self.until_something_is_due(now) };
            self.reactor.wait(at_most, &mut ready).map_err(waiting_failed)?;
            self.queues.wake_up();
            looked = self.look_at_the_clock();
            self.books.note_stall(now + at_most, looked);
            self.books.note_idle(looked.since(now));
            for token in ready.drain(..) {
                self.agenda.wake(token);
            }
        }
    }

    /// Gives every task that is ready now one turn; returns how many tasks have ended.
    fn poll_ready(&self, tasks: &mut [ShardTask<'_>], waker: &Waker) -> usize {
        let mut context = Context::from_waker(waker);
        let mut ended = 0;
        for _ in 0..self.agenda.ready_count() {
            let Some(token) = self.agenda.next_ready() else { break };
            let Some(slot) = tasks.get_mut(token as usize) else { continue };
            let Some(task) = slot else { continue };
            if let Poll::Ready(()) = task.as_mut().poll(&mut context) {
                *slot = None;
                ended += 1;
            }
            self.agenda.heed_wake_up_call(token, self.now.get());
        }
        ended
    }
}
