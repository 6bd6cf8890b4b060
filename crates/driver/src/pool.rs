//! The background sessions of a shard: each actor whose work others cause has a pool, which grows while work is overdue.

use crate::actor_state::Pool;
use crate::agenda::Role;
use crate::clock::Nanos;
use crate::deferral::OVERDUE_AFTER;
use crate::sessions::watch;
use crate::shard::{Shard, ShardTask, ShardTypes};

impl<T: ShardTypes> Shard<'_, T> {
    /// Takes sessions that were opened meanwhile. They go to tasks that lost theirs, else to the most overdue pool.
    /// Returns how many tasks were added.
    pub fn take_what_was_opened<'t>(&'t self, tasks: &mut Vec<ShardTask<'t>>) -> usize {
        let before = tasks.len();
        while let Some(opened) = self.openings.arrived() {
            let Some(opened) = self.openings.hand_to_waiting(opened, &self.agenda) else { continue };
            let mut session = match opened {
                Ok(session) => session,
                Err(refusal) => {
                    // The database takes no more sessions, so the pools stay as they are.
                    self.books.note_error(&refusal);
                    for (_, actor_state) in self.queues.all() {
                        actor_state.pool.set(Pool { most: actor_state.pool.get().now, ..actor_state.pool.get() });
                    }
                    continue;
                }
            };
            let Some((actor, pool)) =
                self.most_overdue.get().and_then(|actor| Some((actor, &self.queues.actor(actor)?.pool)))
            else {
                continue;
            };
            let token = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
            match watch(self.reactor, &mut session, token) {
                Ok(_) if !self.ending.has_begun() => {
                    pool.set(Pool { now: pool.get().now + 1, ..pool.get() });
                    self.put_to_work(tasks, token, Role::Of(actor), session);
                }
                Ok(_) => {}
                Err(error) => self.fail(error),
            }
        }
        tasks.len() - before
    }

    /// Asks for one more background session if the oldest caused transaction has waited too long.
    pub fn grow_if_overdue(&self, now: Nanos) {
        if self.openings.is_under_way() || self.ending.has_begun() {
            return;
        }
        let reacting = self.queues.all().filter(|(_, actor_state)| actor_state.reacts);
        let overdue = reacting.filter_map(|(actor, actor_state)| {
            let Pool { now: sessions, most, .. } = actor_state.pool.get();
            // A pool without a session does not grow: one session does everything, including the pool's work.
            let due = if (1..most).contains(&sessions) { actor_state.deferral.borrow().next_due() } else { None };
            due.filter(|due| now.since(*due) > OVERDUE_AFTER).map(|due| (due, actor))
        });
        if let Some((_, actor)) = overdue.min() {
            self.most_overdue.set(Some(actor));
            self.openings.ask_for_more();
        }
    }
}
