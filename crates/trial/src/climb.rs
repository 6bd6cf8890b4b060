//! The climb to the peak: one step after another over the same running server, as the driver's ladder decides.
//!
//! The steps decide with how many clients the trial is measured, and are kept as a curve. They are not its result.

use crate::attempt::Running;
use crate::conversation::AskError;
use crate::course::{Work, left};
use crate::error::AttemptError;
use crate::validity;
use driver::ladder::{self, Limits, Next};
use driver::plan::Pacing;
use engines::server::ServerReport;
use machines::machine::Machine;
use record::event::Event;
use record::ladder::{ClimbEnd, Ladder, Rung};
use record::trial::{DriverFacts, KindTotals};
use study::Offered;

/// The server's own name for how many sessions it takes; the same in PostgreSQL, MySQL and MariaDB.
const SESSIONS_SETTING: &str = "max_connections";
/// Sessions that a server keeps for its owner, and ours for asking it things.
const SESSIONS_KEPT: u32 = 8;
/// Makes the seed of each step another: repeated inputs would find their rows in the cache.
const SEED_STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// What a climb leaves behind.
pub(crate) struct Climb {
    pub ladder: Ladder,
    /// Everything that the steps did to the database.
    driven: AllDriven,
}

/// What was done to the database in all of a trial's driving.
#[derive(Default)]
pub(crate) struct AllDriven {
    pub whole_run: Vec<KindTotals>,
    /// Transactions that may or may not be in the database.
    pub unknown_ends: u64,
}

impl AllDriven {
    /// The measured driving and the climb before it, if there was one.
    pub fn of(facts: &DriverFacts, climb: Option<&Climb>) -> Self {
        let mut all = Self::default();
        if let Some(climb) = climb {
            all.whole_run.clone_from(&climb.driven.whole_run);
            all.unknown_ends = climb.driven.unknown_ends;
        }
        all.absorb(facts);
        all
    }

    fn absorb(&mut self, facts: &DriverFacts) {
        self.unknown_ends += validity::unknown_ends(facts);
        self.whole_run = KindTotals::summed(self.whole_run.iter().chain(&facts.whole_run));
    }
}

impl Running<'_> {
    pub(crate) fn climb(&mut self, machine: &mut dyn Machine, work: &mut Work) -> Result<(), AttemptError> {
        let server = left(work.server.as_ref());
        let Offered::Peak(limits) = self.attempt.cell.load.offered else { return Ok(()) };
        let limits = Limits {
            max_clients: limits.max_clients.min(self.room_for(server)),
            failed_share: limits.error_limit,
            p99_us: limits.p99_limit_ms.map(|limit| limit.0 * 1_000),
        };
        let (mut rungs, mut driven) = (Vec::<Rung>::new(), AllDriven::default());
        let mut seed = self.attempt.planned.seed;
        loop {
            let clients = match ladder::next(&limits, &rungs) {
                Next::Try(clients) => clients,
                Next::NoneWithin(ended) => return Err(AttemptError::NoPeak(broken(ended))),
                Next::Found(peak) => {
                    let at_peak = rungs.iter().find(|rung| rung.clients == peak.chosen).copied().unwrap_or_default();
                    let ladder = Ladder {
                        chosen: peak.chosen,
                        smallest_tied: peak.smallest_tied,
                        ended: peak.ended,
                        largest_allowed: limits.max_clients,
                        saturated: ladder::saturated(&at_peak, self.in_process()),
                        rungs,
                    };
                    work.climb = Some(Climb { ladder, driven });
                    return Ok(());
                }
            };
            let done = rungs.len() as u64;
            let what = format!("climb: {clients} clients");
            (self.attempt.tell)(Event::Progress { what, done, of: ladder::steps_max(&limits).into() });
            seed = seed.wrapping_add(SEED_STEP);
            let step = self.drive(machine, server, self.drive_plan(Pacing::Clients { clients }, seed))?;
            if step.stopped {
                return Err(AskError::Interrupted.into());
            }
            driven.absorb(&step.facts);
            let cpu = self.looks.take().and_then(|looks| looks.cpu_use());
            rungs.push(Rung { cpu, ..ladder::rung(clients, &step) });
        }
    }

    /// How many clients the running server takes, if it says so. Each may need a session in the background, too.
    fn room_for(&self, server: &ServerReport) -> u32 {
        let taken = server.effective.get(SESSIONS_SETTING).and_then(|count| count.parse::<u32>().ok());
        let each = if self.data().workload.actors().iter().any(|actor| actor.reacts) { 2 } else { 1 };
        taken.map_or(u32::MAX, |count| (count.saturating_sub(SESSIONS_KEPT) / each).max(1))
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
        let ladder = Ladder {
            rungs: Vec::new(),
            chosen: 1,
            smallest_tied: 1,
            ended: ClimbEnd::Levelled,
            largest_allowed: 1,
            saturated: String::new(),
        };
        let all = AllDriven::of(&facts(70, 2), Some(&Climb { ladder, driven }));
        assert_eq!((all.whole_run[0].committed, all.whole_run[0].failed, all.unknown_ends), (100, 3, 3));
        assert_eq!(AllDriven::of(&facts(70, 2), None).whole_run[0].committed, 70);
    }
}
