//! The driver about itself: what it cost, how late it was, and whether it was the bottleneck.
//!
//! Lateness is the time from when a transaction was due *and* a session was free for it until its first statement:
//! waiting for a session is queueing, which belongs to the response, and is not the driver's fault. For an in-process
//! engine the thread's CPU time contains the database's; the time inside its transactions counts as waiting.

use crate::clock::Nanos;
use crate::counts::{self, SparseCounts};
use crate::recorder::Second;
use record::trial::{Spread, Testimony};

/// Shares of a window, beginning with its first second, in which a shard worked, and in which it was ready to but others
/// had the CPU. Work is CPU time: a shard with too much to do still asks the kernel for more and is answered at once,
/// which looks like waiting; and one that shares its CPUs with the database it drives is kept from working, not busy.
fn shares(seconds: &[&Second], window: Nanos, in_process: bool) -> (f64, f64) {
    if window == Nanos::ZERO {
        return (0.0, 0.0);
    }
    let total = |of: fn(&Second) -> Nanos| seconds.iter().map(|second| of(second).0).sum::<u64>() as f64;
    let awake = (1.0 - total(|second| second.idle) / window.0 as f64).clamp(0.0, 1.0);
    if in_process {
        return (awake, 0.0);
    }
    let on_cpu = (total(|second| second.cpu) / window.0 as f64).clamp(0.0, 1.0);
    (on_cpu, (awake - on_cpu).max(0.0))
}

/// Takes the measured seconds of each shard, and the length of the measured window.
pub fn testify(shards: &[Vec<&Second>], window: Nanos, in_process: bool) -> Testimony {
    let all = || shards.iter().flatten();
    let kinds = || all().flat_map(|second| &second.kinds);
    let lateness = spread(all().map(|second| &second.lateness));
    let cpu_ns: u64 = all().map(|second| second.cpu.0).sum();
    let statements: u64 = all().map(|second| second.work.statements).sum();
    let parts = shards.iter().map(|seconds| shares(seconds, window, in_process));
    let (busy, without_cpu): (Vec<f64>, Vec<f64>) = parts.unzip();
    let most = |shares: &[f64]| shares.iter().copied().fold(0.0, f64::max);
    Testimony {
        cpu_ns,
        cpu_ns_per_statement: cpu_ns.checked_div(statements),
        response: spread(kinds().map(|kind| &kind.response)),
        service: spread(kinds().map(|kind| &kind.service)),
        session_wait: spread(all().map(|second| &second.session_wait)),
        lateness_p50_us: lateness.p50_us,
        lateness_p99_us: lateness.p99_us,
        lateness_max_us: lateness.max_us,
        busiest_shard: most(&busy),
        without_cpu: most(&without_cpu),
        busy,
    }
}

fn spread<'a>(parts: impl Iterator<Item = &'a SparseCounts>) -> Spread {
    let counts = counts::sum(parts);
    Spread {
        p50_us: counts::quantile(&counts, 0.5),
        p99_us: counts::quantile(&counts, 0.99),
        max_us: counts::quantile(&counts, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::trial::Work;

    #[test]
    fn the_busiest_shard_and_the_sum_of_cpu() {
        let second = |idle_ms, cpu_ms, late_us| Second {
            idle: Nanos::from_millis(idle_ms),
            cpu: Nanos::from_millis(cpu_ms),
            lateness: vec![(late_us, 10)],
            session_wait: vec![(7 * late_us, 10)],
            work: Work { statements: 1_000, ..Work::default() },
            ..Second::empty(0, 1, 0)
        };
        let (quiet, busy) = ([second(900, 80, 10), second(800, 90, 20)], [second(250, 700, 30), second(250, 710, 90)]);
        let shards = [quiet.iter().collect(), busy.iter().collect()];
        let testimony = testify(&shards, Nanos::from_seconds(2), false);
        assert!((testimony.busiest_shard - 0.705).abs() < 1e-9 && (testimony.without_cpu - 0.065).abs() < 1e-9);
        assert_eq!((testimony.cpu_ns, testimony.cpu_ns_per_statement), (1_580_000_000, Some(395_000)));
        assert!((testimony.busy[0] - 0.085).abs() < 1e-9 && (testimony.busy[1] - 0.705).abs() < 1e-9);
        assert_eq!(testimony.session_wait, Spread { p50_us: 140, p99_us: 630, max_us: 630 });
        assert_eq!((testimony.lateness_p50_us, testimony.lateness_p99_us, testimony.lateness_max_us), (20, 90, 90));
    }

    #[test]
    fn a_shard_that_is_always_answered_at_once_is_busy_unless_it_is_the_database() {
        let second = Second { idle: Nanos::from_millis(400), cpu: Nanos::from_millis(970), ..Second::empty(0, 1, 0) };
        let share = |in_process| testify(&[vec![&second]], Nanos::from_seconds(1), in_process).busiest_shard;
        assert!((share(false) - 0.97).abs() < 1e-9 && (share(true) - 0.6).abs() < 1e-9);
    }

    #[test]
    fn a_shard_whose_cpu_others_have_is_not_busy() {
        let second = Second { idle: Nanos::from_millis(40), cpu: Nanos::from_millis(190), ..Second::empty(0, 1, 0) };
        let testimony = testify(&[vec![&second]], Nanos::from_seconds(1), false);
        assert!((testimony.busiest_shard - 0.19).abs() < 1e-9 && (testimony.without_cpu - 0.77).abs() < 1e-9);
    }

    #[test]
    fn an_empty_window_says_nothing() {
        assert_eq!(testify(&[Vec::new()], Nanos::ZERO, false), Testimony { busy: vec![0.0], ..Testimony::default() });
    }
}
