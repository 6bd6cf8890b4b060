//! One transaction, tried until it ends: again with the same inputs when the database gave it up, up to a limit.

use crate::clock::{Clock, Nanos};
use crate::reactor::Reactor;
use crate::shard::Shard;
use engines::session::{Connect, Session, SessionError};
use workloads::workload::{Ending, Tally, Workload};

/// Pause before the first retry; it doubles with each further one. Long enough for the winner of a conflict to
/// commit, short beside any response time that a user would notice.
const FIRST_PAUSE: Nanos = Nanos::from_micros(500);
const LONGEST_PAUSE: Nanos = Nanos::from_millis(32);

#[derive(Debug)]
pub enum Outcome {
    Ended(Ending),
    /// Failed for good; the session is usable.
    GivenUp,
    /// The session is of no use any more, and whether the database kept the transaction is unknown.
    Lost,
}

#[derive(Debug)]
pub struct Attempts {
    pub outcome: Outcome,
    pub retries: u32,
}

pub fn pause_before(retry: u32) -> Nanos {
    let doubled = FIRST_PAUSE.0.saturating_mul(1 << retry.min(16));
    Nanos(doubled).min(LONGEST_PAUSE)
}

/// Runs the transaction; afterwards `tally` holds what the last attempt did.
pub async fn attempt<W, C, K, R>(
    shard: &Shard<'_, W, C, K, R>,
    token: u32,
    session: &mut C::Session,
    input: &W::Input,
    tally: &mut Tally,
) -> Attempts
where
    W: Workload,
    C: Connect,
    K: Clock,
    R: Reactor,
{
    let mut retries = 0;
    loop {
        tally.clear();
        let error = match shard.workload.run(session, input, tally).await {
            Ok(ending) => return Attempts { outcome: Outcome::Ended(ending), retries },
            Err(error) => error,
        };
        shard.note_error(&error);
        if is_loss(&error) {
            return Attempts { outcome: Outcome::Lost, retries };
        }
        // A session that cannot even roll back is in a state that nobody knows.
        if let Err(error) = session.rollback().await {
            shard.note_error(&error);
            return Attempts { outcome: Outcome::Lost, retries };
        }
        let again = matches!(error, SessionError::Retryable { .. }) && retries < shard.retries;
        if !again || shard.signals.is_aborted() {
            return Attempts { outcome: Outcome::GivenUp, retries };
        }
        let until = shard.clock.now() + pause_before(retries);
        shard.agenda.pause(shard.clock, token, until).await;
        retries += 1;
    }
}

fn is_loss(error: &SessionError) -> bool {
    matches!(error, SessionError::Lost(_) | SessionError::Protocol(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_bound() {
        assert_eq!(pause_before(0), FIRST_PAUSE);
        assert_eq!(pause_before(1), Nanos(2 * FIRST_PAUSE.0));
        assert_eq!(pause_before(100), LONGEST_PAUSE);
        assert!((0..100).map(pause_before).is_sorted());
    }
}
