//! The exception of a trial: what its clients do, and when.

use driver::plan::{DrivePlan, Pacing, PhaseLimit, Together};
use record::settings::{ExceptionLoad, MachineException};
use std::ops::Range;
use std::time::Duration;
use study::TypedCell;

const MILLIS_PER_SECOND: u64 = 1_000;
/// Far more than machines differ: their clocks agree to a few milliseconds, and a busy one is slightly late.
pub(crate) const TAIL_S: u64 = 2;

/// The machine that represents its trial where one is enough (phases, the host around the window). It is the first
/// machine that is measured, and so it is driven for the whole window.
pub fn leader(cell: &TypedCell) -> u32 {
    if cell.written.bystander() == Some(1) { 2 } else { 1 }
}

/// True if this machine has no load.
pub fn is_idle(cell: &TypedCell, number: u32) -> bool {
    cell.machine
        .exception
        .as_ref()
        .is_some_and(|exception| exception.number == number && exception.load == ExceptionLoad::Idle)
}

/// The plan for driving a machine in the measured part of the trial, made of the plan for a machine that is alone.
pub fn measured(exception: Option<&MachineException>, is_alone: bool, base: DrivePlan) -> DrivePlan {
    let plan = DrivePlan { together: (!is_alone).then_some(Together { tail_s: TAIL_S }), ..base };
    exception.map_or_else(|| plan.clone(), |exception| of_exception(exception, &plan))
}

/// How long after the others the load of the exception starts.
pub fn delay(load: ExceptionLoad, plan: &DrivePlan) -> Duration {
    Duration::from_millis(works(load, plan).start)
}

/// When this machine has load, in milliseconds since the common start. The seconds after the window do not count.
///
/// Halves and thirds are whole seconds, at least one, so that the grids of all machines agree. The remainder goes to
/// the time without load; for a burst, to the time after it.
fn works(load: ExceptionLoad, plan: &DrivePlan) -> Range<u64> {
    let window_ms = plan.window_ms();
    let part = |of: u64| ((window_ms.end - window_ms.start) / of / MILLIS_PER_SECOND).max(1) * MILLIS_PER_SECOND;
    match load {
        ExceptionLoad::Same => 0..window_ms.end,
        ExceptionLoad::Idle => 0..0,
        ExceptionLoad::Stops => 0..window_ms.start + part(2),
        ExceptionLoad::Starts => window_ms.end - part(2)..window_ms.end,
        ExceptionLoad::Burst => window_ms.start + part(3)..window_ms.start + 2 * part(3),
    }
}

/// A machine that starts late has no warm-up: its sessions are open and wait, so its first seconds are those of a cold
/// database. All of it is measured, since the other machines run beside it.
fn of_exception(exception: &MachineException, plan: &DrivePlan) -> DrivePlan {
    let mut own = plan.clone();
    let Some(phase) = own.phases.first_mut() else { return own };
    for stream in phase.streams.iter_mut().filter(|stream| stream.actor == 0) {
        if let (Pacing::Clients { clients }, Some(other)) = (&mut stream.pacing, exception.clients) {
            *clients = other;
        }
    }
    if exception.load == ExceptionLoad::Idle {
        return own;
    }
    let (works_ms, window_ms) = (works(exception.load, plan), plan.window_ms());
    phase.warmup_ms = window_ms.start.saturating_sub(works_ms.start);
    phase.until = PhaseLimit::Time { measure_ms: works_ms.end - works_ms.start - phase.warmup_ms };
    if works_ms.end < window_ms.end {
        // A machine that ends before the others stays idle afterwards.
        own.together = Some(Together { tail_s: 0 });
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(warmup_ms: u64, measure_ms: u64) -> DrivePlan {
        let plan = DrivePlan::timed(Pacing::Clients { clients: 4 }, warmup_ms, measure_ms, 1);
        DrivePlan { together: Some(Together { tail_s: TAIL_S }), ..plan }
    }

    /// Lengths of warm-up and window, and the pacing.
    fn shape(plan: &DrivePlan) -> (u64, u64, Pacing) {
        let phase = &plan.phases[0];
        let PhaseLimit::Time { measure_ms } = phase.until else { panic!("{phase:?}") };
        (phase.warmup_ms, measure_ms, phase.streams[0].pacing)
    }

    #[test]
    fn the_exception_works_for_its_part_of_the_window() {
        let plan = plan(5_000, 21_000);
        let of = |load, clients| {
            of_exception(&MachineException { number: 2, cpu_quota: None, load, clients, workload: None }, &plan)
        };
        let stops = of(ExceptionLoad::Stops, None);
        assert_eq!(shape(&stops), (5_000, 10_000, shape(&plan).2));
        assert_eq!(stops.together, Some(Together { tail_s: 0 }), "nothing from the middle on");
        let starts = of(ExceptionLoad::Starts, Some(9));
        assert_eq!(shape(&starts), (0, 10_000, Pacing::Clients { clients: 9 }));
        assert_eq!(starts.together, plan.together, "it goes on as the others do");
        let burst = of(ExceptionLoad::Burst, None);
        assert_eq!((shape(&burst).0, shape(&burst).1), (0, 7_000));
        assert_eq!(burst.together, Some(Together { tail_s: 0 }), "nothing after its third");
        assert_eq!(of(ExceptionLoad::Same, None), plan);
    }

    #[test]
    fn halves_and_thirds_are_whole_seconds_of_the_window() {
        let of = |load, warmup_ms, measure_ms| works(load, &plan(warmup_ms, measure_ms));
        assert_eq!(of(ExceptionLoad::Stops, 5_000, 21_000), 0..15_000);
        assert_eq!(of(ExceptionLoad::Starts, 5_000, 21_000), 16_000..26_000);
        assert_eq!(of(ExceptionLoad::Burst, 5_000, 21_000), 12_000..19_000);
        assert_eq!(of(ExceptionLoad::Burst, 4_500, 13_000), 9_000..13_000, "the last part has what is left");
        assert_eq!(of(ExceptionLoad::Burst, 0, 12_000), 4_000..8_000);
        assert_eq!(of(ExceptionLoad::Idle, 5_000, 21_000), 0..0);
    }
}
