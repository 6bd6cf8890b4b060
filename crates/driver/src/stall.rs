//! How long the load engine stood still although it had something to do or to check.
//!
//! Every wait has a latest end, and between waits there is only work that takes microseconds. So if such a moment is
//! missed by far, the load engine itself is the reason. Its process was stopped, it had no CPU, or it was too busy.
//! Time that the database makes clients wait does not count here.

use crate::clock::{Clock, MonotonicClock, Nanos, OpenTurns};
use crate::window::Window;
use record::trial::Stalls;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use telemetry::Throttling;

/// Shorter stalls happen on any busy host. It is half as long as the seconds in which results are counted.
const STALL_MIN: Nanos = Nanos::from_millis(500);

/// A thread that sleeps is nearly always woken within a few slices of the scheduler's, even beside a busy database. One that is
/// woken later than this, without having waited for a CPU, was stopped.
const SCATTERED_MIN: Nanos = Nanos::from_millis(20);

/// How often the watching thread reads the clock: a few times in each period of a CPU limit, which has 100 ms.
const LOOK_UP: Nanos = Nanos::from_millis(25);

/// Readings of control groups are within this of an end of the window.
const NEAR: Nanos = Nanos::from_millis(100);

/// Watches until the sender is dropped. This thread does nothing else, so what delays it delays every thread.
pub fn watch(window: Window, is_over: &Receiver<()>) -> Stalls {
    let short = || StallWatch { shortest: SCATTERED_MIN, ..StallWatch::over(window) };
    let (mut stalls, mut pieces, mut pieces_without_waits) = (StallWatch::over(window), short(), short());
    let groups = Throttling::around_us().ok();
    let so_far = || groups.as_ref().and_then(Throttling::so_far);
    let mut throttled = Throttled::new(window, so_far());
    let counts = OpenTurns::of_this_thread();
    let read = || counts.as_ref().and_then(OpenTurns::read);
    let (mut last, mut turns) = (MonotonicClock.now(), read());
    while is_over.recv_timeout(LOOK_UP.as_duration()) == Err(RecvTimeoutError::Timeout) {
        // The time of the last look counts, too: no moment is between two waits.
        let (expected, now) = (last + LOOK_UP, MonotonicClock.now());
        let now_turns = read();
        let waited = turns.zip(now_turns).map(|(earlier, later)| later.since(earlier).waited);
        throttled.look(now, so_far);
        if now.since(expected) >= STALL_MIN {
            stalls.note(expected, now);
        } else {
            pieces.note(expected, now);
            pieces_without_waits.note(expected + waited.unwrap_or_default(), now);
        }
        (last, turns) = (now, now_turns);
    }
    let [start, end] = throttled.ends(so_far);
    let throttled_ms = groups.as_ref().and_then(|groups| groups.between(start, end));
    let throttled_ms = throttled_ms.map(|time| Nanos::from_duration(time).as_millis());
    // Some kernels count throttled time as a wait. So where that may be hidden, no wait is an excuse.
    let sees_all = groups.as_ref().is_some_and(Throttling::sees_all);
    let without_waits = throttled_ms.is_some() && sees_all && turns.is_some();
    let pieces = if without_waits { pieces_without_waits } else { pieces };
    Stalls { scattered_ms: pieces.total.as_millis(), without_waits, throttled_ms, ..stalls.stalls() }
}

/// How long the control groups around us had held us back at both ends of the window.
struct Throttled {
    window: Window,
    start: Option<Duration>,
    end: Option<Duration>,
    /// Whether `end` was read: near the end of the window, or later.
    is_read: bool,
    is_over: bool,
}

impl Throttled {
    fn new(window: Window, start: Option<Duration>) -> Self {
        Self { window, start, end: None, is_read: false, is_over: false }
    }

    /// A reading opens files, and may make the kernel add up the counts of many groups. So there are a few near both ends. Who is
    /// held back over the end reads as soon as it can.
    fn look(&mut self, now: Nanos, read: impl FnOnce() -> Option<Duration>) {
        let (start, end) = (self.window.measured_start(), self.window.measured_end());
        if now <= start && now + NEAR >= start {
            self.start = read();
        } else if !self.is_over && now > start && now + NEAR >= end {
            (self.end, self.is_read, self.is_over) = (read(), true, now >= end);
        }
    }

    /// The readings at both ends. A watch that ended before it could read the second one reads it now.
    fn ends(self, read: impl FnOnce() -> Option<Duration>) -> [Option<Duration>; 2] {
        [self.start, if self.is_read { self.end } else { read() }]
    }
}

/// Adds up stalls within the measured window.
#[derive(Debug, Clone, Copy)]
pub struct StallWatch {
    window: Window,
    /// What counts.
    shortest: Nanos,
    total: Nanos,
    longest: Nanos,
}

impl StallWatch {
    pub fn over(window: Window) -> Self {
        Self { window, shortest: STALL_MIN, total: Nanos::ZERO, longest: Nanos::ZERO }
    }

    /// Notes that something planned for `expected` happened at `now`.
    pub fn note(&mut self, expected: Nanos, now: Nanos) {
        if now.since(expected) < self.shortest {
            return;
        }
        let end = now.min(self.window.measured_end());
        let stalled = end.since(expected.max(self.window.measured_start()));
        self.total = self.total + stalled;
        self.longest = self.longest.max(stalled);
    }

    pub fn stalls(&self) -> Stalls {
        Stalls { total_ms: self.total.as_millis(), longest_ms: self.longest.as_millis(), ..Stalls::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window { start: Nanos(0), warmup_s: 2, measure_s: 4, ..Window::AT_ZERO };

    fn noted(stretches: &[(u64, u64)]) -> Stalls {
        let mut watch = StallWatch::over(WINDOW);
        for (expected_ms, now_ms) in stretches {
            watch.note(Nanos::from_millis(*expected_ms), Nanos::from_millis(*now_ms));
        }
        watch.stalls()
    }

    #[test]
    fn only_long_delays_are_stalls() {
        assert_eq!(noted(&[(2_100, 2_100), (2_200, 2_699)]), Stalls::default());
        assert_eq!(
            noted(&[(2_200, 2_700), (3_000, 4_000)]),
            Stalls { total_ms: 1_500, longest_ms: 1_000, ..Stalls::default() }
        );
    }

    /// Each look counts a second more. The window is from 2 to 6 s.
    fn read_at(looks_ms: &[u64]) -> [Option<Duration>; 2] {
        let count = std::cell::Cell::new(0);
        let read = || Some(Duration::from_secs(count.replace(count.get() + 1)));
        let mut throttled = Throttled::new(WINDOW, read());
        for now_ms in looks_ms {
            throttled.look(Nanos::from_millis(*now_ms), read);
        }
        throttled.ends(read)
    }

    #[test]
    fn who_is_held_back_over_the_end_of_the_window_reads_late_and_not_never() {
        let seconds = |looks: &[u64]| read_at(looks).map(|read| read.map(|time| time.as_secs()));
        assert_eq!(
            seconds(&[1_950, 1_990, 3_000, 5_950, 5_990, 6_010, 6_100]),
            [Some(2), Some(5)],
            "the first one after the end"
        );
        assert_eq!(seconds(&[1_990, 3_000, 6_400, 6_500]), [Some(1), Some(2)]);
        assert_eq!(seconds(&[1_990, 3_000]), [Some(1), Some(2)], "and when watching ends");
        assert_eq!(seconds(&[500, 3_000, 5_990]), [Some(0), Some(1)]);
    }

    #[test]
    fn what_lies_outside_the_window_does_not_count() {
        assert_eq!(noted(&[(500, 1_900), (7_000, 9_000)]), Stalls::default());
        assert_eq!(
            noted(&[(1_000, 3_000), (5_500, 8_000)]),
            Stalls { total_ms: 1_500, longest_ms: 1_000, ..Stalls::default() }
        );
    }
}
