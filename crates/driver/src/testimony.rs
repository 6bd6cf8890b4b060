//! The driver about itself: what it cost, how late it was, and whether it was the bottleneck.
//!
//! Lateness is the time from when a transaction was due *and* a session was free for it until its first statement:
//! waiting for a session is queueing, which belongs to the response, and is not the driver's fault. For an in-process
//! engine the thread's CPU time contains the database's; the time inside its transactions counts as waiting.

use crate::clock::Nanos;
use crate::counts;
use crate::recorder::Second;
use record::trial::Testimony;

/// Share of a window, beginning with its first second, in which a shard was not waiting.
fn busy_share(seconds: &[&Second], window: Nanos) -> f64 {
    if window == Nanos::ZERO {
        return 0.0;
    }
    let idle: u64 = seconds.iter().map(|second| second.idle.0).sum();
    (1.0 - idle as f64 / window.0 as f64).clamp(0.0, 1.0)
}

/// Takes the measured seconds of each shard, and the length of the measured window.
pub fn testify(shards: &[Vec<&Second>], window: Nanos) -> Testimony {
    let all = || shards.iter().flatten();
    let lateness = counts::sum(all().map(|second| &second.lateness));
    Testimony {
        cpu_ns: all().map(|second| second.cpu.0).sum(),
        lateness_p50_us: counts::quantile(&lateness, 0.5),
        lateness_p99_us: counts::quantile(&lateness, 0.99),
        lateness_max_us: counts::quantile(&lateness, 1.0),
        busiest_shard: shards.iter().map(|seconds| busy_share(seconds, window)).fold(0.0, f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_shard_and_the_sum_of_cpu() {
        let second = |idle_ms, cpu_ms, late_us| Second {
            idle: Nanos::from_millis(idle_ms),
            cpu: Nanos::from_millis(cpu_ms),
            lateness: vec![(late_us, 10)],
            ..Second::empty(0, 1, 0)
        };
        let (quiet, busy) = ([second(900, 80, 10), second(800, 90, 20)], [second(250, 700, 30), second(250, 710, 90)]);
        let shards = [quiet.iter().collect(), busy.iter().collect()];
        let testimony = testify(&shards, Nanos::from_seconds(2));
        assert!((testimony.busiest_shard - 0.75).abs() < 1e-9);
        assert_eq!(testimony.cpu_ns, 1_580_000_000);
        assert_eq!((testimony.lateness_p50_us, testimony.lateness_p99_us, testimony.lateness_max_us), (20, 90, 90));
    }

    #[test]
    fn an_empty_window_says_nothing() {
        assert_eq!(testify(&[Vec::new()], Nanos::ZERO), Testimony::default());
    }
}
