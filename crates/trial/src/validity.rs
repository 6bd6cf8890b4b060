//! When a measurement cannot be trusted: the measuring tool itself was in the way or lacks information, or the database
//! broke down meanwhile. Messages name each limit and the value found; docs/findings.md lists the limits.

use driver::plan::{Driven, SecondDone};
use record::check::{CheckResult, Verdict};
use record::clock::{AFTER_DRIVING, BEFORE_DRIVING, ClockReading};
use record::script::PhaseEnd;
use record::trial::{Deferred, DriverFacts, KindTotals, Pacing, QueuedWork};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

/// A shard that worked for more of the window than this kept answers waiting. Measured; see docs/findings.md.
const BUSIEST_SHARD_MAX: f64 = 0.9;
/// The driver delayed work that was due and had a session if it started later than this (99th percentile) …
const LATENESS_P99_MAX_US: u64 = 1_000;
/// … which matters if it is more than this share of the response at the 99th percentile.
const LATENESS_SHARE_MAX: f64 = 0.25;
/// A driver that waited for more of the window than this for CPUs that the database does not use has lengthened the response times.
const WAITED_SHARE_MAX: f64 = 0.25;
/// A larger error of the clock inside than this share makes throughput false; a smaller one is only a finding (`clock-wrong`).
const CLOCK_RATE_ERROR_MAX: f64 = 0.02;
/// A clock that is not adjusted runs within 50 ppm of another one; what runs faster is broken or is being set right.
const DRIFT_MAX_PPM: f64 = 200.0;
/// A queue grows if it is this many times as long in the last third of the window as in the first.
const GROWTH: f64 = 1.5;
/// If the load engine stood still for more of the window than this, a part of the result is missing, too.
const STALLED_SHARE_MAX: f64 = 0.01;
/// The CPU time of a control group around the load engine may be used up for this share, unless the study or bakeoff limited it.
const THROTTLED_SHARE_MAX: f64 = 0.01;
/// In short stretches it may stand still for the same share as in long ones …
const SCATTERED_SHARE_MAX: f64 = STALLED_SHARE_MAX;
/// … but a few hiccups in a short window are no limit of its CPU time.
const SCATTERED_FEW_MS: f64 = 200.0;
/// It may stand still for this share if waits for a CPU are a part of it, or in a guest, which its hypervisor holds back …
const SCATTERED_SHARE_MAX_UNKNOWN: f64 = 0.1;
/// … but a reader must know of more than this.
const SCATTERED_SHARE_TOLD: f64 = 0.02;
/// If more of the clients' time than this went into transactions that never ended, the database hung.
const UNENDED_SHARE_MAX: f64 = 0.01;
/// If a larger share than this fails for good, of all transactions or of one kind, the rest is another workload.
const FAILED_SHARE_MAX: f64 = 0.01;
/// Fewer failures of one kind than this may be chance.
const FAILED_FEW: u64 = 10;
/// If a larger share than this of the work deferred in the window still waits at its end, that work was not done.
const BEHIND_SHARE_MAX: f64 = 0.05;
/// If a larger share than this of what came in the window was not begun, and more than came in a second, another load was measured.
const MISSED_RATE_MAX: f64 = 0.05;
/// If this many transactions should have ended at the mean rate and none did, that is no chance (e^-15 is 3 in 10 million).
const MISSED_AT_LEAST: f64 = 15.0;

/// Why a measurement is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// A sentence without its full stop.
    pub why: String,
    /// True if the reason is that too many transactions failed.
    pub by_failures: bool,
}

/// The first reason why a drive that ran to its end is invalid, given the readings of the machine's clock around it.
pub fn why_not(clock: &[ClockReading], driven: &Driven) -> Option<Invalid> {
    if driven.stopped || driven.broke_off.is_some() {
        return None;
    }
    let of_clock = why_time_is_wrong(clock, &driven.facts).map(|why| Invalid { why, by_failures: false });
    of_clock.or_else(|| invalid(&driven.facts))
}

/// The reason if a server does not have the settings any more that it had when the trial began to use it.
pub fn why_changed(began: &BTreeMap<String, String>, ended: &BTreeMap<String, String>) -> Option<String> {
    if began.is_empty() || ended.is_empty() {
        return None;
    }
    let changed = |(name, now): (&String, &String)| match began.get(name) {
        Some(then) if then == now => None,
        Some(then) => Some(format!("{name} from {then} to {now}")),
        None => Some(format!("{name} to {now}")),
    };
    // Those that were asked for are listed, whatever they are; others only while they are not the default.
    let reset = began.iter().filter(|(name, _)| !ended.contains_key(*name));
    let reset = reset.map(|(name, then)| format!("{name} from {then} to its default"));
    let changed: Vec<String> = ended.iter().filter_map(changed).chain(reset).collect();
    (!changed.is_empty())
        .then(|| format!("the server's settings were changed during the trial: {}", changed.join(", ")))
}

/// The first reason in the driver's own figures, if there is one.
pub fn invalid(facts: &DriverFacts) -> Option<Invalid> {
    let for_other_reasons = |why| Invalid { why, by_failures: false };
    let committed: u64 = facts.transactions().map(|kind| kind.committed).sum();
    // A cause before its effect.
    if let Some(why) = why_not_all_of_it(facts) {
        return Some(for_other_reasons(why));
    }
    if let Some(why) = why_too_many_failed(facts) {
        return Some(Invalid { why, by_failures: true });
    }
    if committed == 0 {
        return Some(for_other_reasons("no transaction was committed in the measured window".to_owned()));
    }
    // An engine inside the driver's process works on the driver's threads. Those are always busy by nature, which says
    // nothing about the driver.
    let driver_bound = || if facts.in_process { None } else { why_driver_bound(facts) };
    why_work_is_undone(facts).or_else(|| why_rate_is_missed(facts)).or_else(driver_bound).map(for_other_reasons)
}

/// The reason if a phase that its streams should have ended was cut off at its limit.
pub fn why_a_phase_is_too_long(facts: &DriverFacts) -> Option<String> {
    let phase = facts.phases.iter().find(|phase| phase.ended == PhaseEnd::Limit)?;
    Some(format!("phase {} was not at its end within its limit of {}", phase.name, seconds(phase.measured_ms)))
}

/// The reason if one of several load generators was in the way. Its own part of the work shows nothing else.
pub fn why_generator_is_wrong(facts: &DriverFacts) -> Option<String> {
    why_it_stood_still(facts).or_else(|| why_driver_bound(facts))
}

fn why_it_stood_still(facts: &DriverFacts) -> Option<String> {
    let (stalls, measured_ms) = (facts.testimony.stalls, facts.measured_ms.max(1));
    let throttled = stalls.throttled_ms.filter(|ms| *ms as f64 > THROTTLED_SHARE_MAX * measured_ms as f64);
    if let Some(throttled_ms) = throttled {
        return Some(format!(
            "the load generator was throttled for {}, added up over CPUs, of the {} that were measured: its control group had used up \
             its CPU time; at most {} is tolerated. Raise the group's limit",
            seconds(throttled_ms),
            seconds(measured_ms),
            percent(THROTTLED_SHARE_MAX),
        ));
    }
    let most_ms = most_in_pieces_ms(facts);
    if stalls.scattered_ms as f64 > most_ms {
        return Some(format!(
            "the load generator stood still for at least {} of the {} that were measured, in pieces of less than half a second: it was \
             stopped, a CPU limit was used up, or a hypervisor took its CPU; at most {} is tolerated. Raise the limit",
            seconds(stalls.scattered_ms),
            seconds(measured_ms),
            percent(most_ms / measured_ms as f64),
        ));
    }
    (stalls.total_ms as f64 > STALLED_SHARE_MAX * measured_ms as f64).then(|| {
        format!(
            "the load generator stood still for {} of the {} that were measured: it, or the machine that it runs in, was \
             stopped or got no CPU; at most {} is tolerated",
            seconds(stalls.total_ms),
            seconds(measured_ms),
            percent(STALLED_SHARE_MAX),
        )
    })
}

/// How long it may stand still in short stretches.
fn most_in_pieces_ms(facts: &DriverFacts) -> f64 {
    let of_window = |share: f64| share * facts.measured_ms.max(1) as f64;
    if facts.testimony.stalls.without_waits {
        of_window(SCATTERED_SHARE_MAX).max(SCATTERED_FEW_MS)
    } else {
        of_window(SCATTERED_SHARE_MAX_UNKNOWN)
    }
}

/// The reason if the load engine or the database stood still or broke down in the window.
fn why_not_all_of_it(facts: &DriverFacts) -> Option<String> {
    if let Some(why) = why_it_stood_still(facts) {
        return Some(why);
    }
    if let Some(why) = why_a_phase_is_too_long(facts) {
        return Some(why);
    }
    if let Some(why) = why_it_hung(facts) {
        return Some(why);
    }
    let losses = facts.losses;
    (losses.lost > 0).then(|| {
        format!(
            "{} lost, and {} opened again: the database, or the way to it, broke down under the load; the longest time \
             without was {}. The server's log may say why",
            many(losses.lost, "session was", "sessions were"),
            losses.reopened,
            seconds(losses.longest_ms),
        )
    })
}

/// The reason if too much of the clients' time went into transactions that never ended.
pub fn why_it_hung(facts: &DriverFacts) -> Option<String> {
    let unended = facts.unended;
    (unended.window_share > UNENDED_SHARE_MAX).then(|| {
        format!(
            "the database hung: {}; {} of all session time in the window went into {}, at most {} is tolerated",
            never_ended(facts),
            percent(unended.window_share),
            if unended.transactions == 1 { "it" } else { "them" },
            percent(UNENDED_SHARE_MAX),
        )
    })
}

fn why_too_many_failed(facts: &DriverFacts) -> Option<String> {
    let (what, failed, of) = too_many_failed(&facts.kinds)?;
    let most = facts.errors.iter().max_by_key(|(_, times)| **times);
    let why = most.map(|(message, times)| format!("; the most frequent error, {times} times: {message}"));
    Some(format!(
        "{failed} of {of} {what} failed ({}), at most {} may{}",
        percent(failed as f64 / of as f64),
        percent(FAILED_SHARE_MAX),
        why.unwrap_or_default(),
    ))
}

/// The reason if clients went on although their deferred work was not done.
fn why_work_is_undone(facts: &DriverFacts) -> Option<String> {
    let deferred = facts.deferred?;
    if deferred.held_up > 0 {
        return Some(format!(
            "clients were held up {} times, because {} had not kept up with what clients deferred; the database, or the \
             number of sessions that it takes, is the limit",
            deferred.held_up,
            many(u64::from(deferred.sessions_at_end), "background session", "background sessions"),
        ));
    }
    if deferred.turned_away > 0 {
        return Some(format!(
            "{} queue full and never ran: the throughput is that of less work",
            many(
                deferred.turned_away,
                "deferred transaction or note found its",
                "deferred transactions and notes found their"
            ),
        ));
    }
    let behind = fell_behind(&deferred);
    (behind as f64 > BEHIND_SHARE_MAX * deferred.queued_in_window as f64).then(|| {
        format!(
            "{behind} of the {} transactions that clients deferred in the window were left undone at its end, at most {} \
             may be: the throughput was borrowed from later",
            deferred.queued_in_window,
            percent(BEHIND_SHARE_MAX),
        )
    })
}

/// The reason if the database did much less than arrived. A pause at the end of a short window is not much.
fn why_rate_is_missed(facts: &DriverFacts) -> Option<String> {
    let queue = facts.queue.as_ref().filter(|_| matches!(facts.pacing, Some(Pacing::Arrivals { .. })))?;
    let length = |second: u64| usize::try_from(second).ok().and_then(|second| queue.each_second.get(second)).copied();
    let (warmup_s, measured_s) = (facts.warmup_ms / 1_000, (facts.measured_ms / 1_000).max(1));
    let before = warmup_s.checked_sub(1).and_then(length).unwrap_or(0);
    let waits = length(warmup_s + measured_s - 1)?.saturating_sub(before).saturating_sub(facts.sessions.into());
    let missed = queue.turned_away + waits;
    let most = (MISSED_RATE_MAX * queue.came as f64).max(queue.came as f64 / measured_s as f64);
    (missed as f64 > most).then(|| {
        format!(
            "the rate was missed: {} of what arrived in the window was not begun, {} turned away and {waits} waited at its end; at \
             most {} may be missed. Ask for less, or give more sessions",
            percent(missed as f64 / queue.came.max(1) as f64),
            many(queue.turned_away, "arrival was", "arrivals were"),
            percent(MISSED_RATE_MAX),
        )
    })
}

/// By how much the backlog grew, less the transactions that are under way at any moment.
fn fell_behind(deferred: &Deferred) -> u64 {
    let under_way = u64::from(deferred.sessions_at_end);
    deferred.waiting_at_end.saturating_sub(deferred.waiting_at_start).saturating_sub(under_way)
}

fn why_driver_bound(facts: &DriverFacts) -> Option<String> {
    let testimony = &facts.testimony;
    if testimony.busiest_shard > BUSIEST_SHARD_MAX {
        return Some(format!(
            "the driver was the bottleneck: its busiest thread worked {} of the time, so answers waited for it; give it \
             more threads (load.shards) or CPUs, or ask for less",
            percent(testimony.busiest_shard),
        ));
    }
    let waited = testimony.run_delay.filter(|delay| delay.beside_database == Some(false));
    if let Some(delay) = waited.filter(|delay| delay.share > WAITED_SHARE_MAX) {
        return Some(format!(
            "the driver was short of CPUs: a thread was ready and had none for {} of the window, and the database uses no CPU there; at \
             most {} is tolerated. End what else runs there, or give it more CPUs",
            percent(delay.share),
            percent(WAITED_SHARE_MAX),
        ));
    }
    let (late_us, response_us) = (testimony.lateness_p99_us, testimony.response.p99_us);
    (late_us > LATENESS_P99_MAX_US && late_us as f64 > LATENESS_SHARE_MAX * response_us as f64).then(|| {
        format!(
            "the driver was late: {late_us} µs (99th percentile) passed between due and sent although a session was free, \
             of a response of {response_us} µs; it found no CPU in time where it ran"
        )
    })
}

/// What failed, how many of them, and how many there were: the kind with the largest share of failures, or all.
fn too_many_failed(kinds: &[KindTotals]) -> Option<(String, u64, u64)> {
    let is_too_much = |failed: u64, of: u64| failed as f64 > FAILED_SHARE_MAX * of as f64;
    // A step is not a transaction, and never fails.
    let ended = |kind: &KindTotals| if kind.step { 0 } else { kind.finished() + kind.failed };
    let share = |kind: &KindTotals| kind.failed as f64 / ended(kind).max(1) as f64;
    let worst = kinds.iter().filter(|kind| kind.failed >= FAILED_FEW && is_too_much(kind.failed, ended(kind)));
    let worst = worst.max_by(|one, other| share(one).total_cmp(&share(other)));
    if let Some(kind) = worst {
        return Some((format!("transactions of kind {}", kind.kind), kind.failed, ended(kind)));
    }
    let (failed, of) = kinds.iter().fold((0, 0), |(failed, of), kind| (failed + kind.failed, of + ended(kind)));
    is_too_much(failed, of).then(|| ("transactions".to_owned(), failed, of))
}

fn never_ended(facts: &DriverFacts) -> String {
    let (count, oldest) = (facts.unended.transactions, seconds(facts.unended.oldest_ms));
    format!("{} never ended, the oldest had waited for {oldest}", many(count, "transaction", "transactions"))
}

fn many(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

fn percent(share: f64) -> String {
    if share < 0.1 { format!("{:.1} %", share * 100.0) } else { format!("{:.0} %", share * 100.0) }
}

fn seconds(millis: u64) -> String {
    format!("{:.1} s", millis as f64 / 1e3)
}

/// How much the machine's clock gained on the host's between two readings, at least: their uncertainty is subtracted.
fn surely_gained_ns(one: &ClockReading, other: &ClockReading) -> u64 {
    other.offset_ns.abs_diff(one.offset_ns).saturating_sub(one.round_trip_ns.midpoint(other.round_trip_ns))
}

/// The reason if two readings, this far apart by the host's clock, show that the machine's clock runs at another rate.
pub fn why_clock_is_wrong(one: &ClockReading, other: &ClockReading, apart: Duration) -> Option<String> {
    let share = surely_gained_ns(one, other) as f64 / 1e9 / apart.as_secs_f64();
    let rate = 1.0 + (other.offset_ns - one.offset_ns) as f64 / 1e9 / apart.as_secs_f64();
    (share > CLOCK_RATE_ERROR_MAX).then(|| format!("the machine's clock ran {rate:.2} times as fast as the host's"))
}

/// The reason if two readings, this far apart by our clock, show that a load generator's clock runs at another rate, so its
/// seconds were not those of the others.
pub fn why_clock_drifts(one: &ClockReading, other: &ClockReading, apart: Duration) -> Option<String> {
    let ppm = surely_gained_ns(one, other) as f64 / 1e3 / apart.as_secs_f64();
    (ppm > DRIFT_MAX_PPM).then(|| {
        format!("its clock ran at another rate than ours, by at least {ppm:.0} ppm; at most {DRIFT_MAX_PPM:.0} are tolerated")
    })
}

/// The reason if the machine's clock ran at another rate than the host's during driving, so times from inside are false.
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

/// What a reader must know about a valid measurement; `each_second` has what ended in each measured second.
pub fn warnings(facts: &DriverFacts, each_second: &[SecondDone]) -> Vec<String> {
    let mut warnings = Vec::new();
    if facts.unended.transactions > 0 {
        warnings.push(format!("{}; they count in the percentiles with the time they had waited", never_ended(facts)));
    }
    warnings.extend(silent(facts, each_second));
    if facts.testimony.stalls.total_ms > 0 {
        let (total, longest) = (facts.testimony.stalls.total_ms, facts.testimony.stalls.longest_ms);
        warnings.push(format!(
            "the load generator stood still for {} in all, at most for {} at a time",
            seconds(total),
            seconds(longest)
        ));
    }
    let scattered_ms = facts.testimony.stalls.scattered_ms as f64;
    if scattered_ms > SCATTERED_SHARE_TOLD * facts.measured_ms as f64 && scattered_ms <= most_in_pieces_ms(facts) {
        warnings.push(format!(
            "the load generator stood still for at least {} in all, in pieces of less than half a second: raise its CPU limit",
            seconds(facts.testimony.stalls.scattered_ms)
        ));
    }
    if let Some(queue) = facts.queue.as_ref().filter(|queue| queue.turned_away > 0 || grows(facts, queue)) {
        let QueuedWork { longest, waiting_at_end, turned_away, .. } = queue;
        warnings.push(format!(
            "the database did less than was asked of it: {longest} transactions waited for a session at most, \
             {waiting_at_end} when driving ended, and {turned_away} were turned away; response times grow with the queue"
        ));
    }
    warnings
}

/// True if the queue kept growing. A long queue is not enough: a full set of sessions is always under way.
fn grows(facts: &DriverFacts, queue: &QueuedWork) -> bool {
    let warmup_s = usize::try_from(facts.warmup_ms / 1_000).unwrap_or(0);
    let window = queue.each_second.get(warmup_s..).unwrap_or_default();
    let third = window.len().div_ceil(3);
    let sum = |part: &[u64]| part.iter().sum::<u64>() as f64;
    let (first, last) = (sum(&window[..third]), sum(&window[window.len() - third..]));
    queue.waiting_at_end > u64::from(facts.sessions) && last > GROWTH * first
}

/// Seconds in which nothing ended, whatever the cause.
fn silent(facts: &DriverFacts, each_second: &[SecondDone]) -> Option<String> {
    // A transaction that is as long as its phase ends in one of its seconds.
    if facts.ends_with_its_work() {
        return None;
    }
    let stretches = silent_stretches(each_second);
    let longest = stretches.iter().max_by_key(|stretch| stretch.len())?;
    let all: usize = stretches.iter().map(Range::len).sum();
    let offset_s = facts.warmup_ms / 1_000;
    let (from, to) = (offset_s + longest.start as u64, offset_s + longest.end as u64);
    let more =
        if stretches.len() > 1 { format!(", the longest of {} stretches", stretches.len()) } else { String::new() };
    Some(format!(
        "nothing was done for {all} of the {} measured seconds, from {from} s to {to} s after the start{more}",
        each_second.len()
    ))
}

/// Stretches of seconds in which nothing ended, although at the mean rate something must have.
fn silent_stretches(each_second: &[SecondDone]) -> Vec<Range<usize>> {
    let total: u64 = each_second.iter().map(|second| second.ended).sum();
    let rate = total as f64 / each_second.len().max(1) as f64;
    let mut stretches: Vec<Range<usize>> = Vec::new();
    for (index, _) in each_second.iter().enumerate().filter(|(_, second)| second.ended == 0) {
        match stretches.last_mut().filter(|stretch| stretch.end == index) {
            Some(stretch) => stretch.end += 1,
            None => stretches.push(index..index + 1),
        }
    }
    stretches.retain(|stretch| rate * stretch.len() as f64 >= MISSED_AT_LEAST);
    stretches
}

/// How many transactions may or may not be in the database.
pub fn unknown_ends(facts: &DriverFacts) -> u64 {
    facts.losses.lost + facts.unended.transactions
}

/// Transactions whose end the driver did not see may or may not be in the database. What was acknowledged and what is
/// stored need not agree then, and a disagreement is no violation.
pub fn as_far_as_known(reconciled: Vec<CheckResult>, unknown_ends: u64) -> Vec<CheckResult> {
    let why = format!("the end of {unknown_ends} transactions is not known to the driver");
    if unknown_ends == 0 { reconciled } else { undecided(reconciled, &why) }
}

/// A mix in which transactions failed is not the one that clients asked for, and no violation.
pub fn as_far_as_done(audited: Vec<CheckResult>, kinds: &[KindTotals]) -> Vec<CheckResult> {
    match too_many_failed(kinds) {
        Some((what, failed, of)) => undecided(audited, &format!("{failed} of {of} {what} failed")),
        None => audited,
    }
}

fn undecided(findings: Vec<CheckResult>, why: &str) -> Vec<CheckResult> {
    let soften = |finding: CheckResult| match finding.verdict {
        Verdict::Violated { seen } => {
            CheckResult { verdict: Verdict::Undecided { why: format!("{why}; {seen}") }, ..finding }
        }
        _ => finding,
    };
    findings.into_iter().map(soften).collect()
}

#[cfg(test)]
mod tests;
