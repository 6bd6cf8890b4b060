//! Reads a machine's clock, and checks that it can be trusted before anything is timed by it.

use crate::asking::BootedMachine;
use crate::error::{AttemptError, StepResult};
use crate::log::TrialLog;
use crate::validity;
use record::clock::ClockReading;
use std::time::{Duration, Instant};

/// Two readings this far apart show whether both clocks run at the same rate.
const CLOCK_TRIAL: Duration = Duration::from_millis(500);
/// A clock this close to the host's is the host's own: no two systems boot within this time.
const OWN_CLOCK_NS: u64 = 1_000_000;

/// Checks that the machine's clock runs as fast as the host's. A guest calibrates its clock while it boots. If its
/// CPU is emulated and is taken away meanwhile, the result is wrong by a factor of several.
pub(crate) fn require_right(booted: &mut BootedMachine<'_>, log: &mut TrialLog<'_>) -> StepResult {
    let Some((first, at)) = last(log) else { return Ok(()) };
    if first.offset_ns.unsigned_abs() < OWN_CLOCK_NS {
        return Ok(());
    }
    std::thread::sleep(CLOCK_TRIAL.saturating_sub(at.elapsed()));
    read(booted, log, "after start")?;
    let why = last(log)
        .and_then(|(other, now)| validity::why_clock_is_wrong(&first, &other, now.saturating_duration_since(at)));
    why.map_or(Ok(()), |why| Err(AttemptError::WrongClock(why)))
}

/// The last reading of the machine's clock, and when it was taken.
fn last(log: &TrialLog<'_>) -> Option<(ClockReading, Instant)> {
    Some((log.clock()?.clone(), log.clock_read?))
}

pub(crate) fn read(booted: &mut BootedMachine<'_>, log: &mut TrialLog<'_>, at: &str) -> StepResult {
    let reading = booted.conversation(0).read_clock(at)?;
    log.clock_read = Some(Instant::now());
    if let Some(facts) = &mut log.record.machine {
        facts.clock.push(reading);
    }
    Ok(())
}
