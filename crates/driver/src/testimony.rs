//! The driver's account of itself: what it cost, how late it was, and whether it was the bottleneck.
//!
//! Lateness is the time from when a transaction was due *and* a session was free for it until its first statement.
//! Waiting for a session is queueing: it belongs to the response, and is not the driver's fault. For an in-process
//! engine the thread's CPU time contains the database's, so the time inside its transactions counts as waiting.

use crate::clock::{Nanos, Turns};
use crate::counts::{self, SparseCounts};
use crate::recorder::Second;
use record::trial::{RunDelay, Spread, Testimony};

/// A shard's time in the measured window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardTime {
    cpu: Nanos,
    idle: Nanos,
    turns: Option<Turns>,
}

impl ShardTime {
    pub const ZERO: Self =
        Self { cpu: Nanos::ZERO, idle: Nanos::ZERO, turns: Some(Turns { waited: Nanos::ZERO, count: 0 }) };

    pub fn add(&mut self, second: &Second) {
        self.cpu = self.cpu + second.cpu;
        self.idle = self.idle + second.idle;
        self.turns = self.turns.zip(second.turns).map(|(sum, more)| sum + more);
    }

    /// The share of a window in which the shard worked. Work is CPU time: a shard with too much to do still asks the kernel for
    /// more and is answered at once, which looks like waiting. The time that a database in the same process takes is not work.
    fn busy(self, window: Nanos, in_process: bool) -> f64 {
        if window == Nanos::ZERO {
            return 0.0;
        }
        let share = |time: Nanos| (time.0 as f64 / window.0 as f64).clamp(0.0, 1.0);
        if in_process { 1.0 - share(self.idle) } else { share(self.cpu) }
    }
}

fn run_delay(shards: &[ShardTime], window: Nanos) -> Option<RunDelay> {
    let turns: Vec<Turns> = shards.iter().map(|shard| shard.turns).collect::<Option<_>>()?;
    let all = turns.iter().fold(Turns::default(), |sum, turns| sum + *turns);
    let longest = turns.iter().map(|turns| turns.waited).max()?;
    (all.count > 0 && window > Nanos::ZERO).then(|| RunDelay {
        share: (longest.0 as f64 / window.0 as f64).min(1.0),
        us_per_turn: all.waited.0 as f64 / 1e3 / all.count as f64,
        beside_database: None,
    })
}

/// How long things took in the measured window, all kinds of transaction together.
pub struct Times<'a> {
    /// Includes transactions that had not ended in the window.
    pub response: Vec<&'a SparseCounts>,
    pub service: Vec<&'a SparseCounts>,
    pub session_wait: SparseCounts,
    pub lateness: SparseCounts,
}

pub fn testify(times: &Times<'_>, shards: &[ShardTime], statements: u64, window: Nanos, in_process: bool) -> Testimony {
    let lateness = spread([&times.lateness]);
    let cpu_ns: u64 = shards.iter().map(|shard| shard.cpu.0).sum();
    let busy: Vec<f64> = shards.iter().map(|shard| shard.busy(window, in_process)).collect();
    Testimony {
        cpu_ns,
        cpu_ns_per_statement: cpu_ns.checked_div(statements),
        response: spread(times.response.iter().copied()),
        service: spread(times.service.iter().copied()),
        session_wait: spread([&times.session_wait]),
        lateness_p50_us: lateness.p50_us,
        lateness_p99_us: lateness.p99_us,
        lateness_max_us: lateness.max_us,
        busiest_shard: busy.iter().copied().fold(0.0, f64::max),
        run_delay: run_delay(shards, window),
        busy,
        ..Testimony::default()
    }
}

fn spread<'a>(parts: impl IntoIterator<Item = &'a SparseCounts>) -> Spread {
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

    fn time(idle_ms: u64, cpu_ms: u64) -> ShardTime {
        ShardTime { idle: Nanos::from_millis(idle_ms), cpu: Nanos::from_millis(cpu_ms), ..ShardTime::ZERO }
    }

    fn testified(shards: &[ShardTime], window_s: u64, in_process: bool) -> Testimony {
        let times = Times {
            response: Vec::new(),
            service: Vec::new(),
            session_wait: vec![(70, 30), (630, 10)],
            lateness: vec![(10, 10), (20, 10), (30, 10), (90, 10)],
        };
        testify(&times, shards, 4_000, Nanos::from_seconds(window_s), in_process)
    }

    #[test]
    fn the_busiest_shard_and_the_sum_of_cpu() {
        let testimony = testified(&[time(1_700, 170), time(500, 1_410)], 2, false);
        assert!((testimony.busiest_shard - 0.705).abs() < 1e-9);
        assert_eq!((testimony.cpu_ns, testimony.cpu_ns_per_statement), (1_580_000_000, Some(395_000)));
        assert!((testimony.busy[0] - 0.085).abs() < 1e-9 && (testimony.busy[1] - 0.705).abs() < 1e-9);
        assert_eq!(testimony.session_wait, Spread { p50_us: 70, p99_us: 630, max_us: 630 });
        assert_eq!((testimony.lateness_p50_us, testimony.lateness_p99_us, testimony.lateness_max_us), (20, 90, 90));
    }

    #[test]
    fn a_shard_that_is_always_answered_at_once_is_busy_unless_it_is_the_database() {
        let share = |in_process| testified(&[time(400, 970)], 1, in_process).busiest_shard;
        assert!((share(false) - 0.97).abs() < 1e-9 && (share(true) - 0.6).abs() < 1e-9);
    }

    #[test]
    fn a_shard_whose_cpu_others_have_is_not_busy_but_waits() {
        let waits = |turns| ShardTime { turns, ..time(40, 190) };
        let turns = |waited_ms, count| Some(Turns { waited: Nanos::from_millis(waited_ms), count });
        let testimony = testified(&[waits(turns(770, 1_000)), waits(turns(30, 3_000))], 1, false);
        assert!((testimony.busiest_shard - 0.19).abs() < 1e-9);
        let delay = testimony.run_delay.unwrap();
        assert!((delay.share - 0.77).abs() < 1e-9 && (delay.us_per_turn - 200.0).abs() < 1e-9, "{delay:?}");
        assert_eq!(testified(&[waits(turns(770, 1_000)), waits(None)], 1, false).run_delay, None, "unknown is not 0");
    }

    #[test]
    fn an_empty_window_says_nothing() {
        let testimony = testified(&[ShardTime::ZERO], 0, false);
        assert_eq!((testimony.busy, testimony.busiest_shard, testimony.cpu_ns), (vec![0.0], 0.0, 0));
        assert_eq!(testimony.run_delay, None);
    }
}
