//! The background sessions of a shard: a pool that grows while what was deferred is overdue.

use crate::agenda::Role;
use crate::clock::{Clock, Nanos};
use crate::deferral::OVERDUE_AFTER;
use crate::reactor::Reactor;
use crate::sessions::watch;
use crate::shard::{Shard, Task};
use engines::session::Connect;
use workloads::workload::Workload;

/// The shard's background sessions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pool {
    pub at_start: u32,
    pub now: u32,
    /// No more than there are sessions for clients.
    pub most: u32,
}

impl<W, C, K, R> Shard<'_, W, C, K, R>
where
    W: Workload,
    C: Connect,
    K: Clock,
    R: Reactor<C::Session>,
{
    /// Sessions that were opened aside: for those who lost theirs, else for what is overdue. Returns how many tasks came.
    pub fn take_what_was_opened<'t>(&'t self, tasks: &mut Vec<Task<'t>>) -> usize {
        let before = tasks.len();
        while let Some(opened) = self.openings.arrived() {
            let Some(opened) = self.openings.hand_to_waiting(opened, &self.agenda) else { continue };
            let session = match opened {
                Ok(session) => session,
                Err(refusal) => {
                    // The database takes no more sessions, so the pool stays as it is.
                    self.note_error(&refusal);
                    self.pool.set(Pool { most: self.pool.get().now, ..self.pool.get() });
                    continue;
                }
            };
            let token = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
            match watch(self.reactor, &session, token) {
                Ok(_) if !self.is_closing() => {
                    self.pool.set(Pool { now: self.pool.get().now + 1, ..self.pool.get() });
                    self.put_to_work(tasks, Role::Deferred, session);
                }
                Ok(_) => {}
                Err(error) => self.fail(error),
            }
        }
        tasks.len() - before
    }

    /// Has one more background session opened while the oldest deferred transaction waits for too long.
    pub fn grow_if_overdue(&self, now: Nanos) {
        let Pool { now: sessions, most, .. } = self.pool.get();
        if sessions >= most || self.openings.is_under_way() || self.is_closing() {
            return;
        }
        let oldest = self.deferral.borrow().next_due();
        if oldest.is_some_and(|due| now.since(due) > OVERDUE_AFTER) {
            self.openings.ask_for_more();
        }
    }
}
