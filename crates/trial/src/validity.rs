//! When a measurement cannot be trusted: the measuring tool itself was in the way or does not know enough, or the
//! database broke down in between.

use record::check::{Finding, Verdict};
use record::trial::{AFTER_DRIVING, BEFORE_DRIVING, ClockReading, DriverFacts, Queue};
use std::time::Duration;

/// A shard that worked for more of the window than this kept answers waiting: measured, see docs/method.md.
const BUSIEST_SHARD_MAX: f64 = 0.9;
/// Work that was due and had a session, and started later than this at the 99th percentile, was delayed by the driver …
const LATENESS_P99_MAX_US: u64 = 1_000;
/// … which matters if it is more than this share of the response at the 99th percentile.
const LATENESS_SHARE_MAX: f64 = 0.25;
/// A driver that was ready for more of the window than this without getting a CPU has lengthened the response times.
const WITHOUT_CPU_MAX: f64 = 0.5;
/// A clock inside that is wrong by more than this share makes a false throughput; less is warned of.
const CLOCK_RATE_ERROR_MAX: f64 = 0.02;
/// A queue grows if it is so much longer in the last third of the window than in the first.
const GROWTH: f64 = 1.5;

/// The reason why the driver was the bottleneck, if it was. An engine inside the driver's process works on the driver's
/// threads: those are busy all the time by nature, and that says nothing.
pub fn why_invalid(facts: &DriverFacts, in_process: bool) -> Option<String> {
    let testimony = &facts.testimony;
    let total: u64 = facts.kinds.iter().map(|kind| kind.committed).sum();
    if total == 0 {
        return Some("no transaction was committed in the measured window".to_owned());
    }
    let lost = count(facts, "sessions_lost");
    if lost > 0 {
        return Some(format!(
            "{lost} sessions were lost and opened again: the database, or the way to it, broke down under the load; its \
             log may tell why"
        ));
    }
    if in_process {
        return None;
    }
    if testimony.busiest_shard > BUSIEST_SHARD_MAX {
        return Some(format!(
            "the driver was the bottleneck: its busiest thread worked {:.0} % of the time, so answers waited for it; give \
             it more threads (load.shards) or CPUs, or ask for less",
            testimony.busiest_shard * 100.0,
        ));
    }
    let (late_us, response_us) = (testimony.lateness_p99_us, testimony.response.p99_us);
    if late_us > LATENESS_P99_MAX_US && late_us as f64 > LATENESS_SHARE_MAX * response_us as f64 {
        return Some(format!(
            "the driver was late: {late_us} µs (99th percentile) passed between due and sent although a session was free, \
             of a response of {response_us} µs; it found no CPU in time where it ran"
        ));
    }
    None
}

/// By how much the machine's clock gained on the host's between two readings, less what they leave open.
fn surely_gained_ns(one: &ClockReading, other: &ClockReading) -> u64 {
    other.offset_ns.abs_diff(one.offset_ns).saturating_sub(one.round_trip_ns.midpoint(other.round_trip_ns))
}

/// Whether two readings that are so far apart by the host's clock show that the machine's runs at another rate.
pub fn why_clock_is_wrong(one: &ClockReading, other: &ClockReading, apart: Duration) -> Option<String> {
    let share = surely_gained_ns(one, other) as f64 / 1e9 / apart.as_secs_f64();
    let rate = 1.0 + (other.offset_ns - one.offset_ns) as f64 / 1e9 / apart.as_secs_f64();
    (share > CLOCK_RATE_ERROR_MAX).then(|| format!("the machine's clock ran {rate:.2} times as fast as the host's"))
}

/// The reason why what was timed inside is false, if the machine's clock ran unlike the host's while it was driven.
pub fn why_time_is_wrong(clock: &[ClockReading], facts: &DriverFacts) -> Option<String> {
    let at = |label: &str| clock.iter().rev().find(|reading| reading.at == label);
    let (before, after) = (at(BEFORE_DRIVING)?, at(AFTER_DRIVING)?);
    let gained_s = surely_gained_ns(before, after) as f64 / 1e9;
    let driven_s = (facts.warmup_ms + facts.measured_ms) as f64 / 1e3;
    let word = if after.offset_ns > before.offset_ns { "gained" } else { "lost" };
    let is_wrong = facts.placement == "inside" && gained_s > CLOCK_RATE_ERROR_MAX * driven_s;
    is_wrong.then(|| {
        format!(
            "the machine's clock {word} {gained_s:.1} s on the host's while it was driven for {driven_s:.1} s, so what was \
             timed inside is false"
        )
    })
}

/// What a reader must know of a measurement that stands.
pub fn warnings(facts: &DriverFacts) -> Vec<String> {
    let mut warnings = Vec::new();
    let without_cpu = facts.testimony.without_cpu;
    if without_cpu > WITHOUT_CPU_MAX {
        warnings.push(format!(
            "a thread of the driver was ready to work but without a CPU for {:.0} % of the window, because the database or \
             others had it: that wait is part of the response times",
            without_cpu * 100.0
        ));
    }
    if let Some(queue) = facts.queue.as_ref().filter(|queue| queue.turned_away > 0 || grows(facts, queue)) {
        let Queue { longest, waiting_at_end, turned_away, .. } = queue;
        warnings.push(format!(
            "the database did less than was asked of it: {longest} transactions waited for a session at most, \
             {waiting_at_end} when driving ended, and {turned_away} were turned away; response times grow with the queue"
        ));
    }
    let turned_away = facts.extra.get("deferred").and_then(|deferred| deferred.get("turned_away")?.as_u64());
    if let Some(count) = turned_away.filter(|count| *count > 0) {
        warnings.push(format!("{count} deferred transactions found their queue full and were turned away"));
    }
    warnings
}

/// Whether the queue was longer and longer, and not only long: a full set of sessions is always under way.
fn grows(facts: &DriverFacts, queue: &Queue) -> bool {
    let warmup_s = usize::try_from(facts.warmup_ms / 1_000).unwrap_or(0);
    let window = queue.each_second.get(warmup_s..).unwrap_or_default();
    let third = window.len().div_ceil(3);
    let sum = |part: &[u64]| part.iter().sum::<u64>() as f64;
    let (first, last) = (sum(&window[..third]), sum(&window[window.len() - third..]));
    queue.waiting_at_end > u64::from(facts.sessions) && last > GROWTH * first
}

fn count(facts: &DriverFacts, name: &str) -> u64 {
    facts.extra.get(name).and_then(serde_json::Value::as_u64).unwrap_or_default()
}

/// How many transactions may or may not be in the database.
pub fn unknown_ends(facts: &DriverFacts) -> u64 {
    count(facts, "sessions_lost") + count(facts, "unfinished")
}

/// Transactions whose end the driver did not see may or may not be in the database: what was acknowledged and what is
/// there then need not agree, and a disagreement is no violation.
pub fn as_far_as_known(reconciled: Vec<Finding>, unknown_ends: u64) -> Vec<Finding> {
    if unknown_ends == 0 {
        return reconciled;
    }
    let why = format!("the end of {unknown_ends} transactions is not known to the driver");
    let soften = |finding: Finding| match finding.verdict {
        Verdict::Violated { seen } => {
            Finding { verdict: Verdict::Undecided { why: format!("{why}; {seen}") }, ..finding }
        }
        _ => finding,
    };
    reconciled.into_iter().map(soften).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::trial::{KindTotals, Testimony};

    fn facts(committed: u64, busiest_shard: f64, lateness_p99_us: u64) -> DriverFacts {
        DriverFacts {
            kinds: vec![KindTotals { committed, ..KindTotals::default() }],
            testimony: Testimony { busiest_shard, lateness_p99_us, ..Testimony::default() },
            ..DriverFacts::default()
        }
    }

    #[test]
    fn a_busy_driver_is_the_bottleneck_unless_the_engine_runs_inside_it() {
        let busy = facts(10, 0.97, 5);
        assert!(why_invalid(&busy, false).is_some_and(|why| why.contains("97 %")));
        assert_eq!(why_invalid(&busy, true), None);
        assert_eq!(why_invalid(&facts(10, 0.89, 5), false), None);
    }

    #[test]
    fn a_driver_that_makes_up_a_large_part_of_the_response_was_late() {
        let with = |late_us, p99_us| {
            let mut facts = facts(10, 0.1, late_us);
            facts.testimony.response.p99_us = p99_us;
            why_invalid(&facts, false)
        };
        assert!(with(5_000, 12_000).is_some_and(|why| why.contains("5000 µs")));
        assert_eq!(with(5_000, 60_000), None, "a twelfth of the response");
        assert_eq!(with(900, 1_000), None, "below what a busy machine does to anybody");
    }

    #[test]
    fn a_clock_that_runs_at_another_rate_is_found_out() {
        let reading = |offset_ms: i64| ClockReading {
            at: String::new(),
            offset_ns: offset_ms * 1_000_000,
            round_trip_ns: 1_000_000,
        };
        let told = |gained_ms: i64| {
            why_clock_is_wrong(&reading(-70_000), &reading(-70_000 + gained_ms), Duration::from_millis(500))
        };
        assert_eq!(told(10), None, "9 ms surely, of 10 that would be wrong");
        assert_eq!(told(1_250).unwrap(), "the machine's clock ran 3.50 times as fast as the host's");
        assert_eq!(told(-100).unwrap(), "the machine's clock ran 0.80 times as fast as the host's");
    }

    /// Half a second in twenty-five is a fiftieth.
    #[test]
    fn a_clock_that_runs_wrong_makes_what_it_timed_false() {
        let told = |placement: &str, gained_ms: i64| {
            let reading = |at: &str, offset_ms: i64| ClockReading {
                at: at.to_owned(),
                offset_ns: offset_ms * 1_000_000,
                round_trip_ns: 2_000_000,
            };
            let clock = [reading(BEFORE_DRIVING, -9_000), reading(AFTER_DRIVING, -9_000 + gained_ms)];
            let placement = placement.to_owned();
            why_time_is_wrong(
                &clock,
                &DriverFacts { placement, warmup_ms: 5_000, measured_ms: 20_000, ..facts(1, 0.0, 0) },
            )
        };
        assert_eq!(told("inside", 501), None, "as far as the readings are sure");
        assert!(told("inside", 503).is_some_and(|why| why.contains("gained 0.5 s")));
        assert!(told("inside", -12_000).is_some_and(|why| why.contains("lost 12.0 s")));
        assert_eq!(told("outside", 12_000), None, "timed by the host");
    }

    #[test]
    fn a_queue_that_grows_is_told_and_one_that_comes_and_goes_is_not() {
        let with = |each_second: &[u64], turned_away| {
            let waiting_at_end = each_second.last().copied().unwrap_or(0);
            let queue = Queue { each_second: each_second.to_vec(), waiting_at_end, turned_away, ..Queue::default() };
            warnings(&DriverFacts { sessions: 10, queue: Some(queue), warmup_ms: 1_000, ..facts(10, 0.1, 0) })
        };
        assert_eq!(with(&[0, 100, 200, 300, 400, 500, 600], 0).len(), 1);
        assert_eq!(with(&[0, 3, 900, 2, 0, 4, 5], 0).len(), 0);
        assert_eq!(with(&[0, 60, 50, 55, 60, 50, 55], 0).len(), 0, "long, but it does not grow");
        assert_eq!(with(&[0, 60, 50, 55, 60, 50, 55], 7).len(), 1);
        assert_eq!(with(&[], 0).len(), 0);
    }

    #[test]
    fn a_database_that_broke_down_and_came_back_was_not_measured() {
        let mut facts = facts(100, 0.1, 0);
        facts.extra.insert("sessions_lost".to_owned(), 0.into());
        assert_eq!(why_invalid(&facts, false), None);
        facts.extra.insert("sessions_lost".to_owned(), 3.into());
        assert!(why_invalid(&facts, false).is_some_and(|why| why.starts_with("3 sessions were lost")));
    }

    #[test]
    fn a_disagreement_is_a_violation_only_if_the_driver_saw_every_end() {
        let violated = || {
            let verdict = Verdict::Violated { seen: "99 instead of 100".to_owned() };
            let moment = record::check::Moment::AfterTrial;
            vec![Finding { name: "ledger".to_owned(), rule: "they agree".to_owned(), moment, verdict }]
        };
        assert!(as_far_as_known(violated(), 0)[0].is_violated());
        let softened = as_far_as_known(violated(), 1);
        assert!(matches!(&softened[0].verdict, Verdict::Undecided { why } if why.contains("1 transactions")));
    }

    #[test]
    fn a_window_without_a_commit_is_not_a_measurement() {
        assert!(why_invalid(&facts(0, 0.1, 0), true).is_some());
    }
}
