//! The monotonic clock, from which all times of a trial come.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the machine's monotonic clock. Only differences have a meaning; zero is arbitrary.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // The monotonic clock counts up from boot, so neither part is ever negative.
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}
