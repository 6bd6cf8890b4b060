//! Makes the clients of one shard from the plan's pacing: who they are, and when each first becomes due.

use crate::arrivals::{Arrivals, USERS};
use crate::assignment::Assignment;
use crate::clock::Nanos;
use crate::mailbox::home_of;
use crate::pacing::{ARRIVALS_WAITING_MAX, Clients};
use crate::plan::{Pacing, UserStream};
use std::iter::repeat;
use std::time::Duration;
use workloads::random::RandomStream as Chance;
use workloads::workload::{Pause, Workload};

/// When a client is due again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserStyle {
    /// After the answer, and a think time if the workload demands one.
    BackToBack,
    /// After the answer, thinking and typing.
    Terminals,
    /// When the plan of arrivals says so.
    Arriving,
    /// No user comes by itself; others cause the work.
    Called,
}

impl UserStyle {
    pub fn of(pacing: Pacing) -> Self {
        match pacing {
            Pacing::Clients { .. } => Self::BackToBack,
            Pacing::Terminals { .. } => Self::Terminals,
            Pacing::Arrivals { .. } => Self::Arriving,
        }
    }
}

/// The users of a stream that belong to a shard, due as the pacing says.
pub fn clients_of<W: Workload>(assignment: &Assignment<'_, W>, stream: &UserStream) -> Clients<W::Client> {
    let Assignment { workload, share, seed, window, .. } = *assignment;
    let (start, UserStream { actor, pacing, ramp_per_s, .. }) = (window.start, *stream);
    let numbers = match pacing {
        Pacing::Arrivals { .. } => share.of_all(USERS),
        _ => share.of_all(pacing.clients()),
    };
    let states = assignment.users(actor, numbers.iter().copied());
    match pacing {
        Pacing::Clients { .. } => match ramp_per_s {
            None => Clients::pausing(states, repeat(start)),
            Some(rate) => {
                let begins =
                    |number: &u32| start + Nanos::from_duration(Duration::from_secs_f64(f64::from(*number) / rate));
                Clients::pausing(states, numbers.iter().map(begins))
            }
        },
        Pacing::Terminals { .. } => {
            let past = PauseHistory::of(workload, seed, actor, &states);
            let first = numbers.iter().zip(&states).map(|(number, state)| start + past.first_pause(*number, state));
            let first: Vec<Nanos> = first.collect();
            Clients::pausing(states, first.into_iter())
        }
        Pacing::Arrivals { per_second, process, .. } => {
            let chance = Chance::new(seed, "arrivals", [actor.into(), assignment.number.into()]);
            let plan = Arrivals::new(chance, per_second, process, start, share);
            Clients::arriving(states, plan, (ARRIVALS_WAITING_MAX / share.of as usize).max(1))
        }
    }
}

/// The users of a reacting actor that belong to this shard.
pub fn reacting_users<W: Workload>(assignment: &Assignment<'_, W>, actor: u16) -> Clients<W::Client> {
    let users = assignment.workload.actors().get(usize::from(actor)).map_or(0, |actor| actor.users);
    let here = assignment.here;
    let numbers = (0..users).filter(|user| home_of(*user, here.of).0 == here.shard);
    Clients::called(assignment.users(actor, numbers))
}

/// The pauses around the client's next transaction. The client's own state does not advance.
pub fn next_pause<W: Workload>(workload: &W, client: &W::Client) -> Pause {
    let mut ahead = client.clone();
    workload.next(&mut ahead).map_or_else(Pause::default, |input| workload.pause(&mut ahead, &input, true))
}

/// When driving starts, terminals have lived for this many mean cycles, and for a random part of as many again. That is
/// long enough to hide that all began at once. It is a whole number, so that terminals with constant cycles are spread
/// evenly over them.
const CYCLES_LIVED: f64 = 8.0;
/// A bound that only pauses of zero length reach. Any other terminal comes to the start in far fewer cycles.
const CYCLES_MAX: usize = 256;
/// How many terminals, and how many cycles of each, the mean cycle is estimated from. The mean only says how far to look back.
const SAMPLED_TERMINALS: usize = 256;
const SAMPLED_CYCLES: usize = 16;

/// Where terminals are in their pauses when driving starts: as if they had been typing and thinking for long. If all
/// began to type at once, those with the same keying time would send at the same moment.
struct PauseHistory<'a, W: Workload> {
    workload: &'a W,
    seed: u64,
    actor: u16,
    mean_cycle: Duration,
}

impl<'a, W: Workload> PauseHistory<'a, W> {
    fn of(workload: &'a W, seed: u64, actor: u16, terminals: &[W::Client]) -> Self {
        let sampled = terminals.iter().step_by(terminals.len().div_ceil(SAMPLED_TERMINALS).max(1));
        let lengths: Vec<Duration> =
            sampled.flat_map(|terminal| cycles(workload, terminal).take(SAMPLED_CYCLES)).collect();
        let count = u32::try_from(lengths.len().max(1)).unwrap_or(u32::MAX);
        Self { workload, seed, actor, mean_cycle: lengths.iter().sum::<Duration>() / count }
    }

    /// The time from the start until the terminal first comes.
    fn first_pause(&self, number: u32, terminal: &W::Client) -> Nanos {
        let mut chance = Chance::new(self.seed, "terminal", [number, self.actor.into()]);
        let lived = self.mean_cycle.mul_f64(CYCLES_LIVED * (1.0 + chance.fraction()));
        let mut passed = Duration::ZERO;
        let left = cycles(self.workload, terminal).take(CYCLES_MAX).find_map(|cycle| {
            passed += cycle;
            passed.checked_sub(lived)
        });
        Nanos::from_duration(left.unwrap_or_default())
    }
}

/// How far apart the terminal's transactions would be if each were answered at once.
fn cycles<W: Workload>(workload: &W, terminal: &W::Client) -> impl Iterator<Item = Duration> {
    let mut ahead = terminal.clone();
    std::iter::from_fn(move || {
        let input = workload.next(&mut ahead)?;
        let Pause { keying, thinking } = workload.pause(&mut ahead, &input, true);
        Some(keying + thinking)
    })
}
