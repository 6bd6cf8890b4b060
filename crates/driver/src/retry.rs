//! Runs one transaction until it ends: after the database aborted it, again with the same inputs, up to a limit.

use crate::clock::{Clock, Nanos};
use crate::shard::{InputOf, SessionOf, Shard, ShardTypes};
use engines::session::{Session, SessionError};
use workloads::effects::Effects;
use workloads::workload::{Ending, Workload};

/// Mean pause before the first retry; it doubles with each further retry. It is long enough for the winner of a
/// conflict to commit, and short compared with any response time that a user would notice.
const FIRST_PAUSE: Nanos = Nanos::from_micros(500);
const LONGEST_PAUSE: Nanos = Nanos::from_millis(32);

#[derive(Debug)]
pub enum TransactionEnd {
    Ended(Ending),
    /// Failed for good; the session is usable.
    GivenUp,
    /// The session is unusable, and whether the database kept the transaction is unknown.
    Lost,
}

#[derive(Debug)]
pub struct Attempts {
    pub outcome: TransactionEnd,
    pub retries: u32,
}

/// A pause between half and one and a half times the mean: two transactions that conflicted must not come back in
/// step.
fn pause_before(retry: u32, token: u32, now: Nanos) -> Nanos {
    let mean = Nanos(FIRST_PAUSE.0.saturating_mul(1 << retry.min(16))).min(LONGEST_PAUSE);
    Nanos(mean.0 / 2 + scattered(token, now) % mean.0)
}

/// A number that looks random but depends only on the session and the moment. (The finalizer of splitmix64.)
fn scattered(token: u32, now: Nanos) -> u64 {
    let mut mixed = now.0 ^ (u64::from(token) << 32);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// Runs the transaction; afterwards `effects` holds those of the last attempt, and of what attempts before it kept.
pub async fn attempt<T: ShardTypes>(
    shard: &Shard<'_, T>,
    token: u32,
    session: &mut SessionOf<T>,
    input: &InputOf<T>,
    effects: &mut Effects<'_, InputOf<T>>,
) -> Attempts {
    let mut retries = 0;
    effects.clear();
    loop {
        let error = match shard.workload.run(session, input, effects).await {
            Ok(ending) => {
                effects.end_step();
                return Attempts { outcome: TransactionEnd::Ended(ending), retries };
            }
            Err(error) => error,
        };
        shard.books.note_error(&error);
        if is_loss(&error) {
            return Attempts { outcome: TransactionEnd::Lost, retries };
        }
        // A session that cannot even roll back is in an unknown state.
        if let Err(error) = session.rollback().await {
            shard.books.note_error(&error);
            return Attempts { outcome: TransactionEnd::Lost, retries };
        }
        let again = matches!(error, SessionError::Retryable { .. }) && retries < shard.retries;
        if !again || shard.signals.is_aborted() {
            return Attempts { outcome: TransactionEnd::GivenUp, retries };
        }
        let now = shard.clock.now();
        shard.agenda.pause(shard.clock, token, now + pause_before(retries, token, now)).await;
        effects.rewind();
        retries += 1;
    }
}

fn is_loss(error: &SessionError) -> bool {
    matches!(error, SessionError::Lost(_) | SessionError::Protocol(_) | SessionError::TooLarge(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_bound_and_differ_between_sessions() {
        let pauses = |retry: u32| (0..1_000).map(move |token| pause_before(retry, token, Nanos(5)).0);
        for (retry, mean) in [(0, FIRST_PAUSE.0), (1, 2 * FIRST_PAUSE.0), (100, LONGEST_PAUSE.0)] {
            assert!(pauses(retry).all(|pause| (mean / 2..mean / 2 + mean).contains(&pause)));
            let average = pauses(retry).sum::<u64>() / 1_000;
            assert!(average.abs_diff(mean) < mean / 10, "{average} instead of {mean}");
        }
    }
}
