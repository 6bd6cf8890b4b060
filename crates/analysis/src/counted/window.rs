//! Where a trial's measured window lies on the clock of each side.
//!
//! The driver records when the window began by its own clock: the machine's if it drove inside, the host's if outside.
//! On the other side's clock the window is shifted by the offset between both. The offset is assumed to change evenly
//! between its readings before and after driving.

use crate::missing::Missing;
use record::clock::{AFTER_DRIVING, BEFORE_DRIVING, ClockReading};
use record::script::PhaseDone;
use record::telemetry::Side;
use record::trial::{DriverFacts, TrialRecord};

const NANOS_PER_MILLI: u64 = 1_000_000;
const NANOS_PER_SECOND: f64 = 1e9;

/// Beginning and end of a window on one side's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SideWindow {
    pub start_ns: u64,
    pub end_ns: u64,
}

impl SideWindow {
    pub fn length_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    pub fn seconds(&self) -> f64 {
        self.length_ns() as f64 / NANOS_PER_SECOND
    }

    pub fn holds(&self, at_ns: u64) -> bool {
        (self.start_ns..=self.end_ns).contains(&at_ns)
    }
}

/// The window on a side's clock, or why it is not known. With phases that end with their work, it reaches from the first
/// to the end of the last one.
pub fn of_side(record: &TrialRecord, side: Side) -> Result<SideWindow, Missing> {
    let parts = parts_of_side(record, side)?;
    let ends = parts.first().zip(parts.last()).ok_or(Missing::WindowEmpty);
    ends.map(|(first, last)| SideWindow { start_ns: first.start_ns, end_ns: last.end_ns })
}

/// The parts of the window in which work counted: the phases, if they end with their work, or the window itself. Between
/// such phases a machine waits for others, or keeps its database busy with work that does not count.
pub fn parts_of_side(record: &TrialRecord, side: Side) -> Result<Vec<SideWindow>, Missing> {
    let driver = record.driver.as_ref().ok_or(Missing::NotDriven)?;
    let start_ns = driver.window_start_ns.ok_or(Missing::WindowStartUnknown)?;
    if driver.measured_ms == 0 {
        return Err(Missing::WindowEmpty);
    }
    let own = own_parts(driver, start_ns);
    let driven_on = if is_driven_outside(record) { Side::Host } else { Side::Machine };
    if driven_on == side {
        return Ok(own);
    }
    let clock = record.machine.as_ref().map_or(&[][..], |machine| &machine.clock);
    let (at_start, at_end) = offsets(clock, driver).ok_or(Missing::ClocksNotCompared)?;
    let length_ns = own.last().map_or(0, |last| last.end_ns - start_ns).max(1);
    let moved = |at_ns: u64| {
        #[allow(clippy::cast_possible_truncation)] // Between two numbers that fit.
        let offset_ns = at_start + ((at_end - at_start) as f64 * (at_ns - start_ns) as f64 / length_ns as f64) as i64;
        // The offset is the machine's clock minus the host's.
        let offset_ns = if side == Side::Machine { offset_ns } else { -offset_ns };
        at_ns.checked_add_signed(offset_ns).ok_or(Missing::ClockOffsetImpossible)
    };
    let on_side = |part: &SideWindow| {
        let (start_ns, end_ns) = (moved(part.start_ns)?, moved(part.end_ns)?);
        if start_ns < end_ns { Ok(SideWindow { start_ns, end_ns }) } else { Err(Missing::ClockRanWrong) }
    };
    own.iter().map(on_side).collect()
}

/// On the clock that timed the driving, on which the window begins then.
fn own_parts(driver: &DriverFacts, start_ns: u64) -> Vec<SideWindow> {
    let part = |after_ms: u64, length_ms: u64| {
        let start_ns = start_ns + after_ms * NANOS_PER_MILLI;
        SideWindow { start_ns, end_ns: start_ns + length_ms * NANOS_PER_MILLI }
    };
    if !driver.ends_with_its_work() {
        return vec![part(0, driver.measured_ms)];
    }
    let measured_after = |phase: &PhaseDone| phase.start_ms + phase.warmup_ms;
    let first_ms = driver.phases.first().map_or(0, measured_after);
    let phases = driver.phases.iter().filter(|phase| phase.measured_ms > 0);
    phases.map(|phase| part(measured_after(phase).saturating_sub(first_ms), phase.measured_ms)).collect()
}

/// True if the host's clock timed the driving.
pub fn is_driven_outside(record: &TrialRecord) -> bool {
    record.driver.as_ref().is_some_and(|driver| driver.placement == "outside")
}

/// The offsets of the machine's clock before and after driving, as far as they were read.
fn around_driving(clock: &[ClockReading]) -> [Option<i64>; 2] {
    let at = |label: &str| clock.iter().rev().find(|reading| reading.at == label).map(|reading| reading.offset_ns);
    [BEFORE_DRIVING, AFTER_DRIVING].map(at)
}

/// How much the machine's clock moved against the host's between the readings around the driving, if that clock timed
/// the driving.
pub fn drift_ns(record: &TrialRecord) -> u64 {
    match record.machine.as_ref().map(|machine| around_driving(&machine.clock)) {
        Some([Some(before), Some(after)]) if !is_driven_outside(record) => after.abs_diff(before),
        _ => 0,
    }
}

/// The offset at the beginning and at the end of the window.
fn offsets(clock: &[ClockReading], driver: &DriverFacts) -> Option<(i64, i64)> {
    let last = clock.last()?.offset_ns;
    let [before, after] = around_driving(clock).map(|offset_ns| offset_ns.unwrap_or(last));
    let driven_ms = (driver.warmup_ms + driver.measured_ms) as f64;
    let share = driver.warmup_ms as f64 / driven_ms.max(1.0);
    #[allow(clippy::cast_possible_truncation)] // Between two numbers that fit.
    let at_start = before + ((after - before) as f64 * share) as i64;
    Some((at_start, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::script::PhaseEnd;
    use record::synthetic;

    fn record(placement: &str, before_ns: i64, after_ns: i64) -> TrialRecord {
        let mut record = synthetic::run(1).trials.remove(0).record;
        let driver = record.driver.as_mut().unwrap();
        placement.clone_into(&mut driver.placement);
        (driver.warmup_ms, driver.measured_ms, driver.window_start_ns) = (10_000, 30_000, Some(50_000_000_000));
        let reading = |at: &str, offset_ns| ClockReading { at: at.to_owned(), offset_ns, round_trip_ns: 60_000 };
        let clock =
            vec![reading("after boot", 77), reading(BEFORE_DRIVING, before_ns), reading(AFTER_DRIVING, after_ns)];
        record.machine.as_mut().unwrap().clock = clock;
        record
    }

    /// The machine's clock is 40 s behind and gains 4 ms while driving for 40 s: 1 ms until the window begins.
    #[test]
    fn the_other_side_sees_the_window_through_the_offset() {
        let inside = record("inside", -40_000_000_000, -39_996_000_000);
        let own = of_side(&inside, Side::Machine).unwrap();
        assert_eq!(own, SideWindow { start_ns: 50_000_000_000, end_ns: 80_000_000_000 });
        let hosts = of_side(&inside, Side::Host).unwrap();
        assert_eq!(hosts, SideWindow { start_ns: 89_999_000_000, end_ns: 119_996_000_000 });
        let outside = record("outside", -40_000_000_000, -40_000_000_000);
        assert_eq!(of_side(&outside, Side::Host).unwrap(), own);
        assert_eq!(of_side(&outside, Side::Machine).unwrap().start_ns, 10_000_000_000);
    }

    /// A clock that gained 40 s while driving for 40 s: the window would end before it begins.
    #[test]
    fn a_clock_that_ran_wrong_leaves_no_window() {
        let wrong = record("inside", 0, 40_000_000_000);
        assert!(of_side(&wrong, Side::Machine).is_ok());
        assert_eq!(of_side(&wrong, Side::Host), Err(Missing::ClockRanWrong));
    }

    /// Two phases that end with their work, 5 s apart. The machine's clock gains 2 ms from the beginning to the end.
    #[test]
    fn phases_that_end_with_their_work_are_the_parts_of_a_window() {
        let mut inside = record("inside", 0, 2_000_000);
        let driver = inside.driver.as_mut().unwrap();
        (driver.warmup_ms, driver.measured_ms) = (0, 15_000);
        let phase = |start_ms, measured_ms| PhaseDone {
            name: String::new(),
            start_ms,
            warmup_ms: 0,
            measured_ms,
            ended: PhaseEnd::Streams,
            streams: Vec::new(),
            kinds: Vec::new(),
        };
        driver.phases = vec![phase(0, 10_000), phase(15_000, 5_000)];
        let part = |start_ns, end_ns| SideWindow { start_ns, end_ns };
        let own = [part(50_000_000_000, 60_000_000_000), part(65_000_000_000, 70_000_000_000)];
        assert_eq!(parts_of_side(&inside, Side::Machine).unwrap(), own);
        assert_eq!(of_side(&inside, Side::Machine).unwrap(), part(50_000_000_000, 70_000_000_000));
        let hosts = [part(50_000_000_000, 59_999_000_000), part(64_998_500_000, 69_998_000_000)];
        assert_eq!(parts_of_side(&inside, Side::Host).unwrap(), hosts);
    }

    #[test]
    fn what_is_not_known_has_a_reason() {
        let mut old = record("inside", 0, 0);
        old.driver.as_mut().unwrap().window_start_ns = None;
        assert_eq!(of_side(&old, Side::Machine), Err(Missing::WindowStartUnknown));
        let mut unread = record("inside", 0, 0);
        unread.machine.as_mut().unwrap().clock.clear();
        assert!(of_side(&unread, Side::Machine).is_ok());
        assert_eq!(of_side(&unread, Side::Host), Err(Missing::ClocksNotCompared));
    }
}
