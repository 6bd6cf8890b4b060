//! The monotonic clock that all times of a trial are taken from.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the machine's monotonic clock. Its zero means nothing, only differences do.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // The monotonic clock counts up from boot: neither part is ever negative.
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}
