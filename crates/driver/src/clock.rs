//! Time as the driver counts it: nanoseconds on a clock that all shards share and that never goes back.
//!
//! The clock is a trait so that tests can run a shard on a virtual one. The meaning of times (due, sent, done) is
//! defined elsewhere.

use rustix::time::{ClockId, Timespec, clock_gettime};
use std::ops::Add;

/// A moment, or a span between two moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Nanos(pub u64);

const NANOS_PER_MICRO: u64 = 1_000;
const NANOS_PER_MILLI: u64 = 1_000_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

impl Nanos {
    pub const ZERO: Self = Self(0);

    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * NANOS_PER_MICRO)
    }

    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * NANOS_PER_MILLI)
    }

    pub const fn from_seconds(seconds: u64) -> Self {
        Self(seconds * NANOS_PER_SECOND)
    }

    /// The span since an earlier moment; zero if that moment is later.
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// Rounded to the nearest microsecond.
    pub const fn as_micros(self) -> u64 {
        (self.0 + NANOS_PER_MICRO / 2) / NANOS_PER_MICRO
    }

    pub const fn as_millis(self) -> u64 {
        self.0 / NANOS_PER_MILLI
    }

    pub const fn whole_seconds(self) -> u64 {
        self.0 / NANOS_PER_SECOND
    }

    /// A span too long for 64 bits becomes the longest one, which is centuries.
    pub fn from_duration(span: std::time::Duration) -> Self {
        Self(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    }

    pub fn as_duration(self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.0)
    }
}

impl Add for Nanos {
    type Output = Self;

    fn add(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

/// The readings of time that a shard needs.
pub trait Clock {
    fn now(&self) -> Nanos;
    /// CPU time of the calling thread since it began.
    fn thread_cpu(&self) -> Nanos;
}

/// The host's monotonic clock, read without a system call wherever the kernel offers that.
#[derive(Debug, Clone, Copy, Default)]
pub struct MonotonicClock;

impl Clock for MonotonicClock {
    fn now(&self) -> Nanos {
        from_timespec(clock_gettime(ClockId::Monotonic))
    }

    fn thread_cpu(&self) -> Nanos {
        from_timespec(clock_gettime(ClockId::ThreadCPUTime))
    }
}

/// Converts without a sign: neither clock is ever negative on Linux.
fn from_timespec(time: Timespec) -> Nanos {
    Nanos(time.tv_sec.unsigned_abs() * NANOS_PER_SECOND + time.tv_nsec.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_never_go_below_zero() {
        assert_eq!(Nanos(5).since(Nanos(9)), Nanos::ZERO);
        assert_eq!(Nanos(9).since(Nanos(5)), Nanos(4));
    }

    #[test]
    fn microseconds_round_to_nearest() {
        assert_eq!(Nanos(499).as_micros(), 0);
        assert_eq!(Nanos(500).as_micros(), 1);
        assert_eq!(Nanos(1_499).as_micros(), 1);
    }

    #[test]
    fn the_real_clock_does_not_go_back() {
        let readings: Vec<Nanos> = (0..1_000).map(|_| MonotonicClock.now()).collect();
        assert!(readings.is_sorted());
        assert!(readings[0] > Nanos::ZERO);
    }
}
