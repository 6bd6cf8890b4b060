//! Terminals and arrivals: what a stall does, what waits for what, and that a plan of arrivals depends on no answer.

use super::deferral::{but_no_more_sessions, deliveries_take};
use super::workload::{Input, RehearsedWorkload};
use super::world::{WorldAnswer, WorldCall};
use super::{RehearsalRun, ShardRun, answers_after, count_at_least, paced, since_start};
use crate::clock::Nanos;
use crate::counts::{quantile, sum, total};
use crate::pacing::ARRIVALS_WAITING_MAX;
use crate::plan::{ArrivalProcess, Control, Pacing};
use crate::recorder::Second;
use crate::slice::Slice;

fn terminals(terminals: u32, sessions: u32) -> Pacing {
    Pacing::Terminals { terminals, sessions }
}

fn arrivals(per_second: f64, process: ArrivalProcess, sessions: u32) -> Pacing {
    Pacing::Arrivals { per_second, process, sessions }
}

/// Answers within a millisecond, but gives no answer from second 2 to second 3.
fn stalls(call: &WorldCall) -> WorldAnswer {
    let now = since_start(call);
    let stalled = if now.whole_seconds() == 2 { Nanos::from_seconds(3).since(now) } else { Nanos::ZERO };
    WorldAnswer::After(stalled + Nanos::from_millis(1))
}

fn slower_than(report: &ShardRun, millis: u64, of: impl Fn(&Second) -> &crate::counts::SparseCounts) -> u64 {
    report.seconds.iter().map(|second| count_at_least(of(second), millis)).sum()
}

fn lateness_and_wait(report: &ShardRun, share: f64) -> (u64, u64) {
    let lateness = sum(report.seconds.iter().map(|second| &second.lateness));
    let wait = sum(report.seconds.iter().map(|second| &second.session_wait));
    (quantile(&lateness, share), quantile(&wait, share))
}

#[test]
fn a_stall_shows_in_the_response_of_every_terminal_that_was_due() {
    let (workload, stop) = (RehearsedWorkload::pausing(200, 299), Control::default());
    let run = RehearsalRun::new(&workload, paced(terminals(1_000, 10), 0, 5), false, &stop);
    let report = run.alone(stalls);
    // Pauses are half a second: every terminal becomes due in the first half of the stall, and waits until it ends.
    assert_eq!(slower_than(&report, 500, |second| &second.kinds[0].response), 1_000);
    assert_eq!(slower_than(&report, 500, |second| &second.kinds[0].service), 10, "only ten sessions were in it");
    assert_eq!(slower_than(&report, 500, |second| &second.session_wait), 990);
    assert_eq!(lateness_and_wait(&report, 1.0).0, 1, "the driver was never late");
    assert_eq!(report.queue.longest, 990);
}

#[test]
fn a_stall_shows_in_the_response_of_every_arrival_that_was_due() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let run = RehearsalRun::new(&workload, paced(arrivals(1_000.0, ArrivalProcess::Uniform, 50), 1, 4), false, &stop);
    let report = run.alone(stalls);
    let slow = slower_than(&report, 500, |second| &second.kinds[0].response);
    // One is due each millisecond. The first half of those due in the stall waits half a second or more. So do a few
    // after them, because the backlog takes 20 ms.
    assert!((500..=520).contains(&slow), "{slow}");
    let service = slower_than(&report, 500, |second| &second.kinds[0].service);
    assert_eq!(service, 50, "a tool that looks at service alone sees fifty");
    assert_eq!((report.queue.turned_away, report.queue.waiting), (0, 0));
    let driven = run.merged(vec![report]);
    assert_eq!(driven.facts.kinds[0].committed, 4_000, "nothing is skipped: what was due in the window is done in it");
    let queue = driven.facts.queue.clone().unwrap();
    assert!(queue.each_second[2].abs_diff(950) <= 2, "{:?}", queue.each_second);
    assert_eq!((queue.each_second.len(), queue.each_second[4], queue.came), (5, 0, 4_000));
    let testimony = driven.facts.testimony.clone();
    assert!(testimony.response.max_us.abs_diff(1_001_000) <= 1_100, "{testimony:?}");
    assert!(testimony.session_wait.max_us.abs_diff(951_000) <= 1_000, "{testimony:?}");
    assert_eq!(testimony.lateness_max_us, 1);
}

/// The inputs in the order in which they were begun; arrivals are served in the order in which they came.
fn begun(process: ArrivalProcess, seed: u64, sessions: u32, millis: u64) -> Vec<Input> {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let mut plan = paced(arrivals(500.0, process, sessions), 0, 3);
    plan.seed = seed;
    RehearsalRun::new(&workload, plan, false, &stop).alone(move |_| answers_after(millis));
    workload.attempts()
}

#[test]
fn the_plan_of_arrivals_is_the_same_whatever_the_service_times() {
    for process in [ArrivalProcess::Poisson, ArrivalProcess::Uniform] {
        let (fast, slow, few) = (begun(process, 7, 20, 1), begun(process, 7, 20, 30), begun(process, 7, 1, 10));
        assert!(fast.len() > 1_350, "three seconds of 500: {}", fast.len());
        assert_eq!(fast, slow);
        assert!(few.len() <= 300);
        assert_eq!(fast[..few.len()], few, "one session does less, but the same");
        assert_ne!(fast, begun(process, 8, 20, 1));
    }
}

#[test]
fn the_plan_of_arrivals_is_the_same_whatever_the_shards() {
    let stop = Control::default();
    let inputs = |shards: u32| {
        let workload = RehearsedWorkload::default();
        for shard in 0..shards {
            let plan = paced(arrivals(500.0, ArrivalProcess::Poisson, 12), 0, 2);
            RehearsalRun::new(&workload, plan, false, &stop)
                .shard(Slice { shard, of: shards }, |_| answers_after(1))
                .unwrap();
        }
        workload.attempts_by_client()
    };
    assert_eq!(inputs(1), inputs(3));
}

#[test]
fn who_waits_for_a_session_and_who_waits_for_the_driver_are_told_apart() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    // One session that needs 15 ms for each arrival, and an arrival every 10 ms.
    let run = RehearsalRun::new(&workload, paced(arrivals(100.0, ArrivalProcess::Uniform, 1), 0, 3), false, &stop);
    let (lateness, wait) = lateness_and_wait(&run.alone(|_| answers_after(15)), 1.0);
    assert_eq!(lateness, 1);
    assert!(wait.abs_diff(1_000_000) < 20_000, "the queue grows by a third of all: {wait}");
    // Enough sessions, but a driver that takes 2 ms for each reading of the clock.
    let workload = RehearsedWorkload::default();
    let plan = paced(arrivals(100.0, ArrivalProcess::Uniform, 60), 0, 3);
    let run = RehearsalRun { toil: Nanos::from_millis(2), ..RehearsalRun::new(&workload, plan, false, &stop) };
    let (lateness, wait) = lateness_and_wait(&run.alone(|_| answers_after(15)), 0.99);
    assert_eq!(wait, 1, "there was always a free session");
    assert!(lateness > 1_000, "{lateness}");
}

#[test]
fn a_hundred_thousand_terminals_are_spread_over_their_pauses() {
    let (workload, stop) = (RehearsedWorkload::pausing(2_000, 8_000), Control::default());
    let run = RehearsalRun::new(&workload, paced(terminals(100_000, 64), 1, 3), false, &stop);
    let report = run.alone(|_| answers_after(1));
    assert_eq!(report.sessions, 64);
    let each_second: Vec<u64> = report.seconds.iter().take(4).map(|second| second.kinds[0].committed).collect();
    // A tenth of them in each second; the deviation is below √(100,000 · 0.1 · 0.9) ≈ 95.
    assert!(each_second.iter().all(|committed| committed.abs_diff(10_000) < 450), "{each_second:?}");
    assert_eq!(lateness_and_wait(&report, 1.0).0, 1);
}

#[test]
fn terminals_whose_think_times_vary_come_as_evenly_from_the_start() {
    for (keying_ms, thinking_ms) in [(0, 5_000), (2_500, 2_500), (4_500, 500)] {
        let mut workload = RehearsedWorkload::pausing(keying_ms, thinking_ms);
        workload.thinking_varies = true;
        let stop = Control::default();
        let run = RehearsalRun::new(&workload, paced(terminals(50_000, 64), 0, 4), false, &stop);
        let report = run.alone(|_| answers_after(1));
        let each_second: Vec<u64> = report.seconds.iter().take(4).map(|second| second.kinds[0].committed).collect();
        // A fifth of 50,000 in each second, with a deviation of a hundred.
        assert!(each_second.iter().all(|done| done.abs_diff(10_000) < 400), "typing {keying_ms} ms: {each_second:?}");
    }
}

#[test]
fn a_terminal_is_due_again_after_thinking_and_typing() {
    let (workload, stop) = (RehearsedWorkload::pausing(30, 60), Control::default());
    let run = RehearsalRun::new(&workload, paced(terminals(4, 2), 1, 9), false, &stop);
    let driven = run.merged(vec![run.alone(|_| answers_after(10))]);
    assert_eq!(driven.facts.kinds[0].committed, 4 * 90, "a cycle is 100 ms");
    assert_eq!(driven.facts.paused_ms, Some(4 * 90 * 90), "90 of them a pause");
    assert_eq!((driven.facts.clients, driven.facts.sessions), (4, 2));
    let limits = driven.facts.queue.clone().unwrap();
    assert_eq!((limits.limit, limits.turned_away), (4, 0));
}

#[test]
fn without_terminals_only_the_workloads_own_think_time_counts() {
    let (workload, stop) = (RehearsedWorkload::pausing(30, 90), Control::default());
    let run = RehearsalRun::new(&workload, super::plan(4, 1, 9), false, &stop);
    let driven = run.merged(vec![run.alone(|_| answers_after(10))]);
    assert_eq!(driven.facts.kinds[0].committed, 4 * 90, "a cycle is 100 ms");
    assert_eq!(driven.facts.testimony.response.max_us.abs_diff(10_000) / 20, 0, "and is no part of the response");
}

#[test]
fn an_overload_is_a_queue_that_grows_to_its_bound_and_is_counted() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let rate = 50_000.0;
    let run = RehearsalRun::new(&workload, paced(arrivals(rate, ArrivalProcess::Poisson, 1), 0, 4), false, &stop);
    let report = run.alone(|_| answers_after(10));
    let queue = report.queue;
    assert_eq!(queue.longest, ARRIVALS_WAITING_MAX as u64);
    assert!(queue.turned_away > 90_000, "{queue:?}");
    let begun = workload.attempts().len() as u64;
    assert_eq!(queue.came, begun + queue.turned_away + queue.waiting, "everyone is accounted for");
    let booked: u64 = report.seconds.iter().map(|second| total(&second.kinds[0].response)).sum();
    assert_eq!(booked, begun);
    let facts = run.merged(vec![report]).driven.facts;
    let merged = facts.queue.unwrap();
    assert!(merged.each_second[0].abs_diff(49_900) < 1_200, "{:?}", merged.each_second);
    assert_eq!(merged.waiting_at_end, queue.waiting);
    assert!(merged.each_second.is_sorted() && facts.testimony.response.p99_us > 3_900_000, "response counts from due");
}

#[test]
fn who_is_turned_away_changes_nobody_elses_inputs() {
    let by_client = |sessions: u32, millis: u64| {
        let (workload, stop) = (RehearsedWorkload::default(), Control::default());
        let run = RehearsalRun::new(
            &workload,
            paced(arrivals(60_000.0, ArrivalProcess::Uniform, sessions), 0, 3),
            false,
            &stop,
        );
        let report = run.alone(move |_| answers_after(millis));
        (workload.attempts(), report.queue.turned_away)
    };
    let (all, none_away) = by_client(200, 1);
    let (some, away) = by_client(10, 1);
    assert_eq!(none_away, 0);
    assert!(away > 0);
    let known: std::collections::BTreeSet<_> =
        all.iter().map(|input| (input.client, input.number, input.draw)).collect();
    assert!(some.len() > 1_000 && some.len() < all.len());
    assert!(some.iter().all(|input| known.contains(&(input.client, input.number, input.draw))));
}

#[test]
fn arrivals_do_not_wait_for_room_in_the_background() {
    let (workload, stop) = (RehearsedWorkload::deferring(2), Control::default());
    let run = RehearsalRun::new(&workload, paced(arrivals(20_000.0, ArrivalProcess::Poisson, 200), 0, 3), false, &stop);
    let report = run.alone(but_no_more_sessions(225, deliveries_take(20)));
    let deferred = report.deferred;
    assert!(deferred.turned_away > 1_000 && deferred.held_up == 0, "{deferred:?}");
    let begun: u64 = report.seconds.iter().map(|second| second.kinds[0].committed).sum();
    assert_eq!(report.queue.came, begun + deferred.queued + deferred.turned_away + report.queue.waiting);
}
