//! From the plan's pacing to the clients of one shard: who they are, and when each is due for the first time.

use crate::arrivals::{Arrivals, USERS, fraction};
use crate::clock::Nanos;
use crate::pacing::{ARRIVALS_WAITING_MAX, Clients};
use crate::plan::Pacing;
use crate::shard::Assignment;
use std::iter::repeat;
use std::time::Duration;
use workloads::random::Stream;
use workloads::workload::{Pause, Workload};

/// What decides when a client is due again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// The answer, and a think time if the workload demands one.
    BackToBack,
    /// The answer, thinking and typing.
    Terminals,
    /// The plan of arrivals.
    Arriving,
}

impl Style {
    pub fn of(pacing: Pacing) -> Self {
        match pacing {
            Pacing::Clients { .. } => Self::BackToBack,
            Pacing::Terminals { .. } => Self::Terminals,
            Pacing::Arrivals { .. } => Self::Arriving,
        }
    }
}

/// The clients that belong to a shard, due as the plan says.
pub fn clients_of_shard<W: Workload>(assignment: &Assignment<'_, W>) -> Clients<W::Client> {
    let Assignment { workload, pacing, share, seed, window, .. } = *assignment;
    let start = window.start;
    let numbers = match pacing {
        Pacing::Arrivals { .. } => share.of_all(USERS),
        _ => share.of_all(pacing.clients()),
    };
    let states: Vec<W::Client> = numbers.iter().map(|number| workload.client(seed, *number)).collect();
    match pacing {
        Pacing::Clients { .. } => Clients::pausing(states, repeat(start)),
        Pacing::Terminals { .. } => {
            let first =
                numbers.iter().zip(&states).map(|(number, state)| start + first_pause(workload, seed, *number, state));
            let first: Vec<Nanos> = first.collect();
            Clients::pausing(states, first.into_iter())
        }
        Pacing::Arrivals { per_second, process, .. } => {
            let plan = Arrivals::new(seed, per_second, process, start, share);
            Clients::arriving(states, plan, (ARRIVALS_WAITING_MAX / share.of as usize).max(1))
        }
    }
}

/// The pauses around the client's next transaction, which is not drawn by this.
pub fn next_pause<W: Workload>(workload: &W, client: &W::Client) -> Pause {
    let mut ahead = client.clone();
    let input = workload.next(&mut ahead);
    workload.pause(&mut ahead, &input, true)
}

/// Cycles among which a terminal's first moment is chosen: enough that a longer pause is as much likelier to be the one it
/// is found in as it is longer.
const CYCLES: usize = 8;

/// Terminals are found somewhere in their pauses when driving starts, and first come when that pause is over. If all of
/// them began to type at once, those with the same thing to type would come down on the database in one moment.
fn first_pause<W: Workload>(workload: &W, seed: u64, number: u32, state: &W::Client) -> Nanos {
    let mut ahead = state.clone();
    let cycles: [Duration; CYCLES] = std::array::from_fn(|_| {
        let input = workload.next(&mut ahead);
        let Pause { keying, thinking } = workload.pause(&mut ahead, &input, true);
        keying + thinking
    });
    let mut chance = Stream::new(seed, "terminal", [number, 0]);
    let found = cycles.iter().sum::<Duration>().mul_f64(fraction(&mut chance));
    let mut passed = Duration::ZERO;
    let over = cycles.iter().find_map(|cycle| {
        passed += *cycle;
        passed.checked_sub(found)
    });
    Nanos::from_duration(over.unwrap_or_default())
}
