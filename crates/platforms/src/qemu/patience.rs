//! How long a guest may take to boot. Nested and busy hosts are slower than others, so the limit follows their speed.

use super::accelerator::version_of;
use super::command::Accelerator;
use super::settings::PROGRAM;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A guest on real CPUs boots in a second or two.
const KVM: Duration = Duration::from_mins(1);
/// An emulated guest, on a host that is also busy with other work.
const TCG: Duration = Duration::from_mins(3);
/// A host where KVM works boots the guest of the probe in about a second.
const PROBE: Duration = Duration::from_secs(20);
/// No guest that is of use takes longer.
const MOST: Duration = Duration::from_mins(15);
/// QEMU prints its version within this on an ordinary host that is not busy.
const ORDINARY: Duration = Duration::from_millis(50);
/// The first start may read QEMU from a disk.
const STARTS: usize = 2;

/// The limit for a guest of a trial, and for that of the probe whether KVM works. A study may set another.
pub(crate) fn start_limit(accelerator: Accelerator, set: Option<u64>) -> Duration {
    let ordinary = match accelerator {
        Accelerator::Kvm => KVM,
        Accelerator::Tcg => TCG,
    };
    set.map_or_else(|| following(ordinary, start_time()), Duration::from_millis)
}

pub(super) fn probe_limit(set: Option<u64>) -> Duration {
    set.map_or_else(|| following(PROBE, start_time()), Duration::from_millis)
}

/// The limit of an ordinary host on one where starting QEMU takes this long.
fn following(ordinary: Duration, start: Duration) -> Duration {
    let slower = start.as_secs_f64() / ORDINARY.as_secs_f64();
    ordinary.mul_f64(slower.max(1.0)).min(MOST)
}

/// How long QEMU takes here to start and end; measured once.
fn start_time() -> Duration {
    static MEASURED: OnceLock<Duration> = OnceLock::new();
    *MEASURED.get_or_init(|| {
        let one = |_| {
            let begin = Instant::now();
            version_of(PROGRAM).map(|_| begin.elapsed()).ok()
        };
        // Without QEMU there is no guest to wait for.
        (0..STARTS).filter_map(one).min().unwrap_or(ORDINARY)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_host_is_given_time_and_a_fast_one_not_less() {
        let seconds = |start_ms| following(PROBE, Duration::from_millis(start_ms)).as_secs();
        assert_eq!([5, 50, 100, 500, 60_000].map(seconds), [20, 20, 40, 200, 900]);
        assert_eq!(start_limit(Accelerator::Kvm, Some(7_000)), Duration::from_secs(7));
        assert!(start_limit(Accelerator::Tcg, None) >= TCG);
    }
}
