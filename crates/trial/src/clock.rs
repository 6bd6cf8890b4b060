//! Reads a machine's clock, and checks that it can be trusted before anything is timed by it.

use crate::attempt::Running;
use crate::error::AttemptError;
use crate::validity;
use machines::machine::Machine;
use record::clock::ClockReading;
use std::time::{Duration, Instant};

/// Two readings this far apart show whether both clocks run at the same rate.
const CLOCK_TRIAL: Duration = Duration::from_millis(500);
/// A clock this close to the host's is the host's own: no two systems boot within this time.
const OWN_CLOCK_NS: u64 = 1_000_000;

impl Running<'_> {
    /// Checks that the machine's clock runs as fast as the host's. A guest calibrates its clock while it boots. If its
    /// CPU is emulated and is taken away meanwhile, the result is wrong by a factor of several.
    pub(crate) fn require_right_clock(&mut self, machine: &mut dyn Machine) -> Result<(), AttemptError> {
        let booted = self.last_clock();
        if booted.as_ref().is_none_or(|(reading, _)| reading.offset_ns.unsigned_abs() < OWN_CLOCK_NS) {
            return Ok(());
        }
        if let Some((_, at)) = booted {
            std::thread::sleep(CLOCK_TRIAL.saturating_sub(at.elapsed()));
        }
        self.read_clock(machine, "after start")?;
        let why = booted.zip(self.last_clock()).and_then(|((one, at), (other, now))| {
            validity::why_clock_is_wrong(&one, &other, now.saturating_duration_since(at))
        });
        why.map_or(Ok(()), |why| Err(AttemptError::WrongClock(why)))
    }

    /// The last reading of the machine's clock, and when it was taken.
    fn last_clock(&self) -> Option<(ClockReading, Instant)> {
        Some((self.record.machine.as_ref()?.clock.last()?.clone(), self.clock_read?))
    }

    pub(crate) fn read_clock(&mut self, machine: &mut dyn Machine, at: &str) -> Result<(), AttemptError> {
        let reading = self.conversation(machine).read_clock(at)?;
        self.clock_read = Some(Instant::now());
        if let Some(facts) = &mut self.record.machine {
            facts.clock.push(reading);
        }
        Ok(())
    }
}
