//! Reopens lost sessions.

use crate::clock::{Clock, Nanos};
use crate::error::DriveError;
use crate::sessions::watch;
use crate::shard::{SessionOf, Shard, ShardTypes};
use engines::session::Connect;

const FIRST_PAUSE: Nanos = Nanos::from_millis(20);
const LONGEST_PAUSE: Nanos = Nanos::from_millis(500);

/// Reopens a lost session, or ends the driving if that fails for too long. `None` means that the task must end.
pub async fn reopen<T: ShardTypes>(shard: &Shard<'_, T>, token: u32) -> Option<SessionOf<T>> {
    let lost_at = shard.clock.now();
    shard.books.count_loss(|losses| losses.lost += 1);
    let opened = try_to_reopen(shard, token, lost_at + shard.away_limit).await;
    let was_without = shard.clock.now().since(lost_at).as_millis();
    shard.books.count_loss(|losses| {
        losses.reopened += u64::from(opened.is_some());
        losses.longest_ms = losses.longest_ms.max(was_without);
    });
    opened
}

async fn try_to_reopen<T: ShardTypes>(shard: &Shard<'_, T>, token: u32, give_up: Nanos) -> Option<SessionOf<T>> {
    let mut pause = FIRST_PAUSE;
    loop {
        if shard.ending.has_begun() || shard.signals.is_aborted() {
            return None;
        }
        let opened =
            if shard.openings.is_aside() { shard.openings.one_for(token).await? } else { shard.connect.connect() };
        let refusal = match opened {
            Ok(session) => return watched(shard, session, token),
            Err(refusal) => refusal,
        };
        let now = shard.clock.now();
        if now >= give_up {
            shard.fail(DriveError::Gone { source: refusal });
            return None;
        }
        shard.agenda.pause(shard.clock, token, now + pause).await;
        pause = Nanos(pause.0 * 2).min(LONGEST_PAUSE);
    }
}

fn watched<T: ShardTypes>(shard: &Shard<'_, T>, mut session: SessionOf<T>, token: u32) -> Option<SessionOf<T>> {
    match watch(shard.reactor, &mut session, token) {
        Ok(_) => Some(session),
        Err(error) => {
            shard.fail(error);
            None
        }
    }
}
