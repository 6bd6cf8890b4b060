//! Due, sent and done: what a stall does, and what belongs to the measured window.

use super::workload::RehearsedWorkload;
use super::world::{WorldAnswer, WorldCall};
use super::{RehearsalRun, answers_after, count_at_least, plan, since_start};
use crate::clock::Nanos;
use crate::counts::{quantile, total};
use crate::plan::Control;
use crate::slice::Slice;
use record::intervals::Span;
use std::sync::Arc;

const STALL_BEGINS: Nanos = Nanos::from_seconds(2);
const STALL_ENDS: Nanos = Nanos::from_seconds(3);

/// The database answers within a millisecond, but gives no answer from second 2 to second 3.
fn stalls(call: &WorldCall) -> WorldAnswer {
    let now = since_start(call);
    let usual = Nanos::from_millis(1);
    let stalled = if now >= STALL_BEGINS && now < STALL_ENDS { STALL_ENDS.since(now) } else { Nanos::ZERO };
    WorldAnswer::After(stalled + usual)
}

#[test]
fn a_stall_shows_in_the_response_of_every_client() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let run = RehearsalRun::new(&workload, plan(8, 1, 4), false, &stop);
    let report = run.alone(stalls);
    let after = report.seconds.iter().find(|second| second.index == 3).unwrap();
    assert_eq!(count_at_least(&after.kinds[0].response, 990), 8);
    let during = report.seconds.iter().find(|second| second.index == 2).unwrap();
    assert_eq!(during.kinds[0].committed, 8, "only what was asked before the stall and answered as it began");
}

/// In process only one client is inside the stalled call, but all others are due and wait for it.
#[test]
fn a_stall_of_one_in_process_call_shows_in_the_response_of_every_client() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let run = RehearsalRun::new(&workload, plan(8, 1, 4), true, &stop);
    let report = run.alone(stalls);
    assert_eq!(report.sessions, 1);
    let after = report.seconds.iter().find(|second| second.index == 3).unwrap();
    assert_eq!(count_at_least(&after.kinds[0].response, 990), 8);
    assert_eq!(count_at_least(&after.kinds[0].service, 990), 1);
    assert_eq!(quantile(&after.lateness, 1.0), 1, "waiting for the session is not the driver's lateness");
}

#[test]
fn in_process_clients_take_turns() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let run = RehearsalRun::new(&workload, plan(5, 0, 1), true, &stop);
    run.alone(|_| answers_after(1));
    let counts: Vec<usize> = workload.attempts_by_client().values().map(Vec::len).collect();
    assert_eq!(counts, [200; 5]);
}

#[test]
fn the_measured_window_is_whole_seconds_of_the_grid() {
    let (workload, stop) = (RehearsedWorkload::rolling_back(10), Control::default());
    let run = RehearsalRun::new(&workload, plan(1, 2, 3), false, &stop);
    let driven = run.merged(vec![run.alone(|_| answers_after(100))]);
    let facts = &driven.facts;
    // Transactions are done at 0.1, 0.2, …; one done exactly on a boundary belongs to the second that begins there.
    let ended = |interval: &record::intervals::Interval| total(&interval.kinds[0].counts);
    assert_eq!(driven.measured.intervals.iter().map(ended).collect::<Vec<_>>(), [9, 10, 10, 10, 10]);
    let flags: Vec<_> = driven.measured.intervals.iter().map(|second| (second.start_ms, second.measured)).collect();
    assert_eq!(flags, [(0, false), (1_000, false), (2_000, true), (3_000, true), (4_000, true)]);
    assert_eq!((facts.warmup_ms, facts.measured_ms), (2_000, 3_000));
    assert_eq!((facts.kinds[0].committed, facts.kinds[0].rolled_back), (27, 3));
    assert_eq!(facts.whole_run[0].finished(), 50, "with warm-up, and with what was finished after the end");
    assert_eq!((facts.work.transactions, facts.work.statements), (30, 30));
    assert_eq!(facts.tally["lines"], 300);
    assert!(!driven.stopped);
}

#[test]
fn response_counts_from_due_and_service_from_sent() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let run = RehearsalRun::new(&workload, plan(4, 0, 2), true, &stop);
    let driven = run.merged(vec![run.alone(|_| answers_after(10))]);
    let second = &driven.measured.intervals[1];
    let of = |span| &second.kinds.iter().find(|kind| kind.span == span).unwrap().counts;
    assert!(quantile(of(Span::Response), 0.0).abs_diff(40_000) <= 40, "four clients, each waits for the three others");
    assert!(quantile(of(Span::Service), 1.0).abs_diff(10_000) <= 10);
    assert!(driven.facts.testimony.busiest_shard < 0.01, "the thread was the database all the time");
}

#[test]
fn an_idle_shard_is_not_busy() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let run = RehearsalRun::new(&workload, plan(3, 1, 2), false, &stop);
    let driven = run.merged(vec![run.alone(|_| answers_after(7))]);
    assert!(driven.facts.testimony.busiest_shard < 0.001);
    assert_eq!(driven.facts.testimony.lateness_max_us, 1);
    assert_eq!(driven.facts.sessions, 3, "one for each client, who defer nothing");
}

#[test]
fn the_same_seed_gives_the_same_inputs_whatever_the_shards() {
    let stop = Control::default();
    let inputs = |shards: u32, millis: u64| {
        let workload = RehearsedWorkload::deferring(4);
        for shard in 0..shards {
            let run = RehearsalRun::new(&workload, plan(6, 0, 1), false, &stop);
            run.shard(Slice { shard, of: shards }, move |_| answers_after(millis)).unwrap();
        }
        let mut by_client = workload.attempts_by_client();
        for inputs in by_client.values_mut() {
            // Deferred transactions overtake others or are overtaken, so order them by their number.
            inputs.sort_by_key(|input| input.number);
            inputs.truncate(20);
        }
        by_client
    };
    let one = inputs(1, 20);
    assert_eq!(one.len(), 6);
    assert!(one.values().all(|inputs| inputs.len() == 20));
    assert_ne!(one[&0][0].draw, one[&1][0].draw);
    assert_eq!(one, inputs(3, 20));
    assert_eq!(one, inputs(2, 3), "nor of the timing");
}

#[test]
fn a_stop_ends_at_a_transaction_boundary_and_keeps_whole_seconds() {
    let (workload, stop) = (RehearsedWorkload::default(), Arc::new(Control::default()));
    let run = RehearsalRun::new(&workload, plan(4, 1, 60), false, &stop);
    let flag = Arc::clone(&stop);
    let report = run.alone(move |call| {
        if since_start(call) >= Nanos::from_millis(3_500) {
            flag.stop();
        }
        answers_after(100)
    });
    assert_eq!(report.given_up.transactions, 0);
    let driven = run.merged(vec![report]);
    assert!(driven.stopped);
    assert_eq!((driven.facts.measured_ms, driven.measured.intervals.len()), (2_000, 3));
    assert_eq!(driven.facts.kinds[0].committed, 80);
    assert!(driven.facts.whole_run[0].committed > 80);
}
