//! The climb to the peak: step after step on the same running server, as the driver's ladder decides.
//!
//! The steps decide how many clients the trial is measured with. They are kept as a curve, and are not its result.

use crate::asking::BootedMachine;
use crate::context::TrialContext;
use crate::conversation::AskError;
use crate::database_history::DatabaseHistory;
use crate::driving::{DriveOutcome, LoadSource, drive, require_whole};
use crate::error::{AttemptError, StepResult};
use crate::log::TrialLog;
use driver::combine;
use driver::ladder::{self, LadderLimits, Next};
use driver::plan::Pacing;
use engines::server::ServerReport;
use record::event::Event;
use record::ladder::{ClimbEnd, Ladder, Rung};
use study::PeakLimits;

/// The server's setting for the largest number of sessions; it has this name in PostgreSQL, MySQL and MariaDB.
const SESSIONS_SETTING: &str = "max_connections";
/// Sessions that a server reserves for its owner, and our own for queries about its state.
const SESSIONS_KEPT: u32 = 8;
/// Gives each step a different seed: repeated inputs would find their rows in the cache.
const SEED_STEP: u64 = 0xD1B5_4A32_D192_ED03;

pub(crate) fn climb(
    booted: &mut BootedMachine<'_>,
    log: &mut TrialLog<'_>,
    source: &mut LoadSource<'_>,
    (servers, done): (&[ServerReport], &mut [DatabaseHistory]),
    limits: &PeakLimits,
) -> StepResult<Ladder> {
    let context = booted.context;
    // Each database gets the same number of clients, also from each load host, so steps are multiples of these numbers.
    let hosts = u32::try_from(source.generators()).unwrap_or(u32::MAX);
    let each = u32::from(context.cell.written.instances()).saturating_mul(hosts);
    let limits = LadderLimits {
        max_clients: (limits.max_clients.min(room_for(&context, servers)) / each).max(1),
        failed_share: limits.error_limit,
        p99_us: limits.p99_limit_ms.map(|limit| limit.0 * 1_000),
    };
    let mut rungs = Vec::<Rung>::new();
    let mut seed = context.seed();
    loop {
        let clients = match ladder::next(&limits, &rungs) {
            Next::Try(clients) => clients,
            Next::NoneWithin(ended) => return Err(AttemptError::NoPeak(broken(ended))),
            Next::Found(peak) => {
                let at_peak = rungs.iter().find(|rung| rung.clients == peak.chosen).copied().unwrap_or_default();
                return Ok(Ladder {
                    chosen: peak.chosen * each,
                    smallest_tied: peak.smallest_tied * each,
                    ended: peak.ended,
                    largest_allowed: limits.max_clients.saturating_mul(each),
                    saturated: ladder::saturated(&at_peak, context.in_process()),
                    rungs: rungs.iter().map(|rung| Rung { clients: rung.clients * each, ..*rung }).collect(),
                });
            }
        };
        let steps = rungs.len() as u64;
        let all_clients = clients * each;
        let what = format!("climb: {all_clients} clients");
        log.tell(Event::Progress { what, done: steps, of: ladder::steps_max(&limits).into() });
        seed = seed.wrapping_add(SEED_STEP);
        let plan = context.drive_plan(Pacing::Clients { clients: all_clients }, seed);
        let DriveOutcome { each: driven, looks, .. } = drive(booted, log, source, &plan)?;
        // If one database broke off, the others were stopped because of it and not by the user.
        require_whole(booted, log, &driven)?;
        for (own, driven) in done.iter_mut().zip(&driven) {
            own.all.absorb(&driven.facts);
        }
        let Some(step) = combine::together(driven).filter(|step| !step.stopped) else {
            return Err(AskError::Interrupted.into());
        };
        // CPU use is the machine's, whichever database was asked.
        let cpu = looks.into_iter().flatten().next().and_then(|looks| looks.cpu_use());
        rungs.push(Rung { cpu, ..ladder::rung(clients, &step) });
    }
}

/// How many clients the running servers accept together, if their settings say so. Each client may also need a background session.
fn room_for(context: &TrialContext<'_>, servers: &[ServerReport]) -> u32 {
    let taken = |server: &ServerReport| server.effective.get(SESSIONS_SETTING)?.parse::<u32>().ok();
    let taken: Option<Vec<u32>> = servers.iter().map(taken).collect();
    let each = if context.data().workload.made.actors().iter().any(|actor| actor.reacts) { 2 } else { 1 };
    let clients = |count: u32| (count.saturating_sub(SESSIONS_KEPT) / each).max(1);
    taken.map_or(u32::MAX, |counts| counts.into_iter().map(clients).fold(0, u32::saturating_add))
}

fn broken(ended: ClimbEnd) -> &'static str {
    match ended {
        ClimbEnd::Slow => "the response at the 99th percentile is above p99_limit",
        _ => "a larger share of transactions than error_limit fails",
    }
}

#[cfg(test)]
mod tests {
    use super::SEED_STEP;
    use crate::context::SEED_OF_MACHINE;

    /// Equal seeds are equal inputs, whose rows the cache has.
    #[test]
    fn no_step_has_the_seed_of_another_machine_or_of_another_step() {
        let seed = |(machine, step): (u64, u64)| {
            SEED_OF_MACHINE.wrapping_mul(machine).wrapping_add(SEED_STEP.wrapping_mul(step))
        };
        let seeds = (0..256).flat_map(|machine| (0..64).map(move |step| (machine, step))).map(seed);
        assert_eq!(seeds.collect::<std::collections::BTreeSet<_>>().len(), 256 * 64);
    }
}
