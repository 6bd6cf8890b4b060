//! The machine of a trial that differs from the others: what its clients do, and when.

use crate::attempt::Running;
use crate::error::AttemptError;
use driver::plan::{DrivePlan, Pacing, Together};
use machines::clock::monotonic_ns;
use std::time::Duration;
use study::{Machine, Odd, OddLoad};

const NANOS_PER_MILLI: u64 = 1_000_000;
const MILLIS_PER_SECOND: u64 = 1_000;
/// Clocks of machines agree to a few milliseconds, and a busy one is a little late; this is far more.
const TAIL_S: u64 = 2;
/// How often a machine without load looks whether the trial is given up.
const LOOK_UP: Duration = Duration::from_millis(100);

/// The machine that speaks for its trial where one is enough (phases, the host around the window): the first that is driven for
/// the whole of it.
pub fn leader(machine: &Machine) -> u32 {
    match &machine.odd {
        Some(odd) if odd.number == 1 && odd.load != OddLoad::Same => 2,
        _ => 1,
    }
}

impl Running<'_> {
    pub(crate) fn leads(&self) -> bool {
        self.attempt.number == leader(&self.attempt.cell.machine)
    }

    /// What is different about this machine, if it is the odd one.
    pub(crate) fn odd(&self) -> Option<&Odd> {
        self.attempt.cell.machine.odd.as_ref().filter(|odd| odd.number == self.attempt.number)
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.odd().is_some_and(|odd| odd.load == OddLoad::Idle)
    }

    /// How this machine is driven while the trial is measured.
    pub(crate) fn measured_plan(&self, pacing: Pacing) -> DrivePlan {
        let base = self.attempt.cell.drive_plan(pacing, self.seed());
        let together = self.attempt.halt.others.map(|_| Together { tail_s: TAIL_S });
        let plan = DrivePlan { together, ..base };
        self.odd().map_or_else(|| plan.clone(), |odd| of_odd(odd, &plan))
    }

    /// How long after the others this machine's load starts.
    pub(crate) fn start_delay_ns(&self) -> u64 {
        let starts_late = self.odd().is_some_and(|odd| odd.load == OddLoad::Starts);
        let Some(late) = starts_late.then(|| self.attempt.cell.drive_plan(Pacing::Clients { clients: 1 }, 0)) else {
            return 0;
        };
        let window_ms = late.window_ms();
        (window_ms.end - half(&late)) * NANOS_PER_MILLI
    }

    /// Stands by while the others are driven.
    pub(crate) fn stand_by(&mut self) -> Result<(), AttemptError> {
        let start_ns = self.meet_for_start()?;
        let window_ms = self.attempt.cell.drive_plan(Pacing::Clients { clients: 1 }, 0).window_ms();
        let end_ns = start_ns + window_ms.end * NANOS_PER_MILLI;
        while monotonic_ns() < end_ns {
            if self.attempt.halt.now() {
                return Err(self.attempt.halt.reason().into());
            }
            std::thread::sleep(LOOK_UP);
        }
        Ok(())
    }
}

/// Half of the measured window, in whole seconds, at least one.
fn half(plan: &DrivePlan) -> u64 {
    let window_ms = plan.window_ms();
    ((window_ms.end - window_ms.start) / 2 / MILLIS_PER_SECOND).max(1) * MILLIS_PER_SECOND
}

fn of_odd(odd: &Odd, plan: &DrivePlan) -> DrivePlan {
    let pacing = match (plan.pacing, odd.clients) {
        (Pacing::Clients { .. }, Some(clients)) => Pacing::Clients { clients },
        (pacing, _) => pacing,
    };
    match odd.load {
        OddLoad::Same | OddLoad::Idle => DrivePlan { pacing, ..plan.clone() },
        // From then on it does nothing.
        OddLoad::Stops => {
            DrivePlan { pacing, measure_ms: half(plan), together: Some(Together { tail_s: 0 }), ..plan.clone() }
        }
        OddLoad::Starts => DrivePlan { pacing, warmup_ms: 0, measure_ms: half(plan), ..plan.clone() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_odd_machine_works_for_its_half_of_the_window() {
        let plan = DrivePlan {
            pacing: Pacing::Clients { clients: 4 },
            shards: 0,
            warmup_ms: 5_000,
            measure_ms: 21_000,
            seed: 1,
            retries: 0,
            together: Some(Together { tail_s: TAIL_S }),
        };
        let of = |load, clients| of_odd(&Odd { number: 2, cpu_quota: None, load, clients }, &plan);
        let stops = of(OddLoad::Stops, None);
        assert_eq!((stops.warmup_ms, stops.measure_ms, stops.pacing), (5_000, 10_000, plan.pacing));
        assert_eq!(stops.together, Some(Together { tail_s: 0 }), "nothing from the middle on");
        let starts = of(OddLoad::Starts, Some(9));
        assert_eq!((starts.warmup_ms, starts.measure_ms, starts.pacing), (0, 10_000, Pacing::Clients { clients: 9 }));
        assert_eq!(of(OddLoad::Same, None), plan);
    }
}
