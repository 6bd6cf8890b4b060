//! The climb to the peak: step after step on the same running server, as the driver's ladder decides.
//!
//! The steps decide how many clients the trial is measured with. They are kept as a curve, and are not its result.

use crate::attempt::Running;
use crate::conversation::AskError;
use crate::course::{OwnWork, Work, left};
use crate::error::AttemptError;
use crate::validity;
use driver::combine;
use driver::ladder::{self, Limits, Next};
use driver::plan::Pacing;
use machines::machine::Machine;
use record::event::Event;
use record::ladder::{ClimbEnd, Ladder, Rung};
use record::trial::{DriverFacts, KindTotals};
use study::Offered;

/// The server's setting for the largest number of sessions; it has this name in PostgreSQL, MySQL and MariaDB.
const SESSIONS_SETTING: &str = "max_connections";
/// Sessions that a server reserves for its owner, and our own for queries about its state.
const SESSIONS_KEPT: u32 = 8;
/// Gives each step a different seed: repeated inputs would find their rows in the cache.
const SEED_STEP: u64 = 0xD1B5_4A32_D192_ED03;

/// What all driving of a trial did to the database.
#[derive(Default)]
pub(crate) struct AllDriven {
    pub whole_run: Vec<KindTotals>,
    /// Transactions that may or may not be in the database.
    pub unknown_ends: u64,
}

impl AllDriven {
    pub fn absorb(&mut self, facts: &DriverFacts) {
        self.unknown_ends += validity::unknown_ends(facts);
        self.whole_run = KindTotals::summed(self.whole_run.iter().chain(&facts.whole_run));
    }
}

impl Running<'_> {
    pub(crate) fn climb(&mut self, machine: &mut dyn Machine, work: &mut Work) -> Result<(), AttemptError> {
        let Offered::Peak(limits) = self.attempt.cell.load.offered else { return Ok(()) };
        // Each database gets the same number of clients, also from each load host, so steps are multiples of these numbers.
        let hosts = u32::try_from(self.generators.len().max(1)).unwrap_or(u32::MAX);
        let each = u32::from(self.instance_count()).saturating_mul(hosts);
        let limits = Limits {
            max_clients: (limits.max_clients.min(self.room_for(&work.each)) / each).max(1),
            failed_share: limits.error_limit,
            p99_us: limits.p99_limit_ms.map(|limit| limit.0 * 1_000),
        };
        let mut rungs = Vec::<Rung>::new();
        let mut seed = self.seed();
        loop {
            let clients = match ladder::next(&limits, &rungs) {
                Next::Try(clients) => clients,
                Next::NoneWithin(ended) => return Err(AttemptError::NoPeak(broken(ended))),
                Next::Found(peak) => {
                    let at_peak = rungs.iter().find(|rung| rung.clients == peak.chosen).copied().unwrap_or_default();
                    let ladder = Ladder {
                        chosen: peak.chosen * each,
                        smallest_tied: peak.smallest_tied * each,
                        ended: peak.ended,
                        largest_allowed: limits.max_clients.saturating_mul(each),
                        saturated: ladder::saturated(&at_peak, self.in_process()),
                        rungs: rungs.iter().map(|rung| Rung { clients: rung.clients * each, ..*rung }).collect(),
                    };
                    work.ladder = Some(ladder);
                    return Ok(());
                }
            };
            let done = rungs.len() as u64;
            let all_clients = clients * each;
            let what = format!("climb: {all_clients} clients");
            (self.attempt.tell)(Event::Progress { what, done, of: ladder::steps_max(&limits).into() });
            seed = seed.wrapping_add(SEED_STEP);
            let plan = self.drive_plan(Pacing::Clients { clients: all_clients }, seed);
            let mut all = self.drive(machine, &work.each, &plan)?;
            // If one database broke off, the others were stopped because of it and not by the user.
            self.for_each_instance(&mut all, |running, driven| running.require_whole(machine, driven))?;
            for (own, driven) in work.each.iter_mut().zip(&all) {
                own.all_driven.absorb(&driven.facts);
            }
            let step = left(combine::together(all));
            if step.stopped {
                return Err(AskError::Interrupted.into());
            }
            // CPU use is the machine's, whichever database was asked.
            let looks = self.instances.iter_mut().find_map(|own| own.looks.take());
            let cpu = looks.and_then(|looks| looks.cpu_use());
            rungs.push(Rung { cpu, ..ladder::rung(clients, &step) });
        }
    }

    /// How many clients the running servers accept together, if they say so. Each client may also need a background session.
    fn room_for(&self, servers: &[OwnWork]) -> u32 {
        let taken = |own: &OwnWork| own.server.as_ref()?.effective.get(SESSIONS_SETTING)?.parse::<u32>().ok();
        let taken: Option<Vec<u32>> = servers.iter().map(taken).collect();
        let each = if self.data().workload.actors().iter().any(|actor| actor.reacts) { 2 } else { 1 };
        let clients = |count: u32| (count.saturating_sub(SESSIONS_KEPT) / each).max(1);
        taken.map_or(u32::MAX, |counts| counts.into_iter().map(clients).fold(0, u32::saturating_add))
    }
}

fn broken(ended: ClimbEnd) -> &'static str {
    match ended {
        ClimbEnd::Slow => "the response at the 99th percentile is above p99_limit",
        _ => "a larger share of transactions than error_limit fails",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::trial::KindTotals;

    fn facts(committed: u64, lost: u64) -> DriverFacts {
        let mut facts = DriverFacts::default();
        facts.whole_run.push(KindTotals { committed, failed: lost, ..KindTotals::default() });
        facts.losses.lost = lost;
        facts
    }

    #[test]
    fn what_the_steps_did_counts_too_when_the_database_is_checked() {
        let mut driven = AllDriven::default();
        driven.absorb(&facts(10, 0));
        driven.absorb(&facts(20, 1));
        driven.absorb(&facts(70, 2));
        assert_eq!((driven.whole_run[0].committed, driven.whole_run[0].failed, driven.unknown_ends), (100, 3, 3));
    }
}
