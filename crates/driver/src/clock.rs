//! Time as the driver counts it: nanoseconds on a clock that all shards share and that never goes back.
//!
//! The clock is a trait so that tests can run a shard on a virtual one. The meaning of times (due, sent, done) is
//! defined elsewhere.

use rustix::time::{ClockId, Timespec, clock_gettime};
use std::fs::File;
use std::ops::Add;
use std::os::unix::fs::FileExt;

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
    /// The calling thread's waits for a CPU since it began; `None` if they are not counted.
    fn thread_turns(&self) -> Option<Turns>;
}

/// How often a thread got a CPU, and how long it was ready to run before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Turns {
    pub waited: Nanos,
    pub count: u64,
}

impl Turns {
    /// A thread that reads this has a CPU. So a kernel that counts no turn counts no wait.
    fn of_schedstat(text: &str) -> Option<Self> {
        let mut numbers = text.split_whitespace().skip(1).map_while(|word| word.parse().ok());
        let (waited, count) = (Nanos(numbers.next()?), numbers.next()?);
        (count > 0).then_some(Self { waited, count })
    }

    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self { waited: self.waited.since(earlier.waited), count: self.count.saturating_sub(earlier.count) }
    }
}

/// The calling thread's counts, opened once: an emulated CPU takes milliseconds to open a file.
pub struct OpenTurns(File);

impl OpenTurns {
    /// `None` if they are not counted.
    pub fn of_this_thread() -> Option<Self> {
        File::open("/proc/thread-self/schedstat").ok().map(Self)
    }

    pub fn read(&self) -> Option<Turns> {
        let mut bytes = [0; 128];
        let length = self.0.read_at(&mut bytes, 0).ok()?;
        Turns::of_schedstat(str::from_utf8(bytes.get(..length)?).ok()?)
    }
}

impl Add for Turns {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { waited: self.waited + other.waited, count: self.count + other.count }
    }
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

    fn thread_turns(&self) -> Option<Turns> {
        OpenTurns::of_this_thread()?.read()
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
    fn a_kernel_that_counts_no_turns_says_nothing_about_waits() {
        let turns = Turns::of_schedstat("7300 4100 12\n");
        assert_eq!(turns, Some(Turns { waited: Nanos(4_100), count: 12 }));
        for text in ["0 0 0\n", "7300 4100\n", "", "7300 no 12"] {
            assert_eq!(Turns::of_schedstat(text), None, "{text:?}");
        }
    }

    /// More threads than CPUs, all ready to run, wait for each other.
    #[test]
    fn a_thread_among_too_many_has_waited() {
        let Some(before) = MonotonicClock.thread_turns() else { return };
        let end = std::sync::atomic::AtomicBool::new(false);
        let spin = || {
            while !end.load(std::sync::atomic::Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        let threads = 4 * std::thread::available_parallelism().unwrap().get();
        let waited = std::thread::scope(|scope| {
            (0..threads).for_each(|_| drop(scope.spawn(spin)));
            let began = MonotonicClock.now();
            let mut waited = Nanos::ZERO;
            while waited < Nanos::from_millis(20) && MonotonicClock.now().since(began) < Nanos::from_seconds(60) {
                waited = MonotonicClock.thread_turns().unwrap().since(before).waited;
            }
            end.store(true, std::sync::atomic::Ordering::Relaxed);
            waited
        });
        assert!(waited >= Nanos::from_millis(20), "{waited:?}");
    }

    #[test]
    fn the_real_clock_does_not_go_back() {
        let readings: Vec<Nanos> = (0..1_000).map(|_| MonotonicClock.now()).collect();
        assert!(readings.is_sorted());
        assert!(readings[0] > Nanos::ZERO);
    }
}
