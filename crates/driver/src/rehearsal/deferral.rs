//! Deferred transactions: queued at once, executed by a pool that grows while work is overdue, and drained or counted at the end.

use super::workload::{DELIVERY, RehearsedWorkload};
use super::world::{RequestKind, WorldAnswer, WorldCall};
use super::{Merged, RehearsalRun, ShardRun, answers_after, plan};
use crate::clock::Nanos;
use crate::counts::{quantile, sum, total};
use crate::deferral::{OVERDUE_AFTER, QUEUE_CAPACITY};
use crate::plan::Control;
use crate::slice::Slice;
use engines::session::SessionError;
use record::intervals::Span;
use std::time::Duration;

/// Sales take 1 ms, deliveries as long as given.
pub fn deliveries_take(millis: u64) -> impl Fn(&WorldCall) -> WorldAnswer {
    move |call| answers_after(if call.asked == RequestKind::Statement(DELIVERY) { millis } else { 1 })
}

/// The same for a database that accepts no more sessions than there are at the start of driving.
pub fn but_no_more_sessions(
    at_start: u32,
    script: impl Fn(&WorldCall) -> WorldAnswer,
) -> impl Fn(&WorldCall) -> WorldAnswer {
    move |call| {
        if call.asked == RequestKind::Connect && call.session >= at_start {
            let (code, message) = ("53300".to_owned(), "too many clients already".to_owned());
            return WorldAnswer::Fail(SessionError::Refused { code, message });
        }
        script(call)
    }
}

#[test]
fn clients_do_not_wait_for_what_they_defer() {
    let (workload, stop) = (RehearsedWorkload::deferring(10), Control::default());
    let run = RehearsalRun::new(&workload, plan(1, 0, 2), false, &stop);
    let report = run.alone(deliveries_take(5));
    let totals = report.deferred;
    assert!(totals.queued > 200, "{totals:?}");
    assert_eq!((totals.queued, totals.failed, totals.abandoned, totals.held_up), (totals.done, 0, 0, 0));
    let driven = run.merged(vec![report]);
    assert!(driven.facts.kinds[0].committed >= 1_990, "a sale each millisecond, whatever deliveries take");
    assert_eq!(driven.log.lines().count() as u64, 1 + totals.done);
    assert_eq!(driven.facts.deferred.unwrap().queued, totals.queued);
}

/// Sixteen clients defer 1,600 transactions a second; one background session can execute 200.
#[test]
fn throughput_does_not_depend_on_the_number_of_shards() {
    let stop = Control::default();
    let driven = |shards: u32| -> Merged {
        let workload = RehearsedWorkload::deferring(11);
        let run = RehearsalRun::new(&workload, plan(16, 3, 5), false, &stop);
        let shard = |shard| run.shard(Slice { shard, of: shards }, deliveries_take(5)).unwrap();
        run.merged((0..shards).map(shard).collect())
    };
    let (one, eight) = (driven(1), driven(8));
    for merged in [&one, &eight] {
        let deferred = merged.facts.deferred.unwrap();
        assert_eq!((deferred.held_up, deferred.abandoned), (0, 0), "{deferred:?}");
        assert!(deferred.waiting_at_end <= deferred.waiting_at_start + 16, "the pool keeps up: {deferred:?}");
    }
    let sales = |merged: &Merged| merged.facts.kinds[0].committed;
    assert!(sales(&one).abs_diff(sales(&eight)) * 50 < sales(&one), "{} and {}", sales(&one), sales(&eight));
    let waits = |merged: &Merged| {
        merged
            .latencies
            .iter()
            .find(|part| part.kind == DELIVERY && part.span == Span::Response)
            .map(|part| quantile(&part.counts, 0.5))
            .unwrap()
    };
    assert!(waits(&one) < 110_000 && waits(&eight) < 110_000, "{} and {} µs", waits(&one), waits(&eight));
}

#[test]
fn the_pool_grows_while_work_is_overdue_and_not_beyond_the_clients() {
    let (workload, stop) = (RehearsedWorkload::deferring(2), Control::default());
    let run = RehearsalRun::new(&workload, plan(16, 0, 4), false, &stop);
    let enough = run.alone(deliveries_take(2));
    assert_eq!(enough.deferred.sessions_at_start, 2, "one for eight clients");
    assert!(enough.deferred.sessions_at_end > 2 && enough.deferred.sessions_at_end <= 16, "{:?}", enough.deferred);
    let late = run.alone(deliveries_take(200));
    assert_eq!((late.deferred.sessions_at_end, late.sessions), (16, 32));
}

#[test]
fn clients_that_are_held_up_are_counted_and_their_wait_is_response_time() {
    let (workload, stop) = (RehearsedWorkload::deferring(2), Control::default());
    let run = RehearsalRun::new(&workload, plan(4, 0, 30), false, &stop);
    let report = run.alone(but_no_more_sessions(5, deliveries_take(20)));
    let totals = report.deferred;
    assert_eq!((totals.longest_queue, totals.sessions_at_end), (QUEUE_CAPACITY as u64, 1));
    assert!(totals.held_up > 100, "{totals:?}");
    assert_eq!(totals.queued, totals.done + totals.failed + totals.abandoned + report.given_up.transactions);
    let driven = run.merged(vec![report]);
    assert_eq!(driven.facts.errors["53300: too many clients already"], 1, "it is not asked again and again");
    let deferred = driven.facts.deferred.unwrap();
    assert_eq!(deferred.waiting_at_start, 0);
    assert!(deferred.waiting_at_end > QUEUE_CAPACITY as u64, "{deferred:?}");
}

#[test]
fn the_queue_is_drained_after_the_end_if_that_is_possible_in_time() {
    let (workload, stop) = (RehearsedWorkload::deferring(2), Control::default());
    let run = RehearsalRun::new(&workload, plan(4, 0, 1), false, &stop);
    let drained = run.alone(but_no_more_sessions(5, deliveries_take(4)));
    assert_eq!((drained.deferred.abandoned, drained.deferred.queued), (0, drained.deferred.done));
    let hopeless = run.alone(but_no_more_sessions(5, deliveries_take(500)));
    assert!(hopeless.deferred.abandoned > 0);
    // One was being executed when the time was up.
    let totals = hopeless.deferred;
    assert_eq!((totals.queued, hopeless.given_up.transactions), (totals.done + totals.abandoned + 1, 1));
    let waited: u64 = hopeless.unended.iter().map(total).sum();
    assert!(waited > totals.abandoned, "those that were never executed have waited, too: {waited}");
}

#[test]
fn response_of_a_deferred_transaction_counts_from_when_its_client_wanted_it() {
    let (workload, stop) = (RehearsedWorkload::deferring(2), Control::default());
    let run = RehearsalRun::new(&workload, plan(2, 0, 2), false, &stop);
    let report = run.alone(but_no_more_sessions(3, deliveries_take(50)));
    let deliveries = |report: &ShardRun| -> Vec<_> {
        report.seconds.iter().map(|second| second.kinds[usize::from(DELIVERY)].clone()).collect()
    };
    let kinds = deliveries(&report);
    let longest = kinds.iter().filter_map(|kind| kind.response.last()).max().unwrap().0;
    assert!(longest > 1_000_000, "they queued for seconds: {longest} µs");
    assert!(kinds.iter().flat_map(|kind| &kind.service).all(|(micros, _)| micros.abs_diff(50_000) <= 50));
    let booked: u64 = kinds.iter().map(|kind| total(&kind.response)).sum();
    assert_eq!(booked, report.deferred.done);
}

#[test]
fn one_in_process_session_does_both_in_the_order_in_which_they_were_due() {
    let (workload, stop) = (RehearsedWorkload::deferring(4), Control::default());
    let run = RehearsalRun::new(&workload, plan(3, 0, 2), true, &stop);
    let report = run.alone(deliveries_take(2));
    assert_eq!((report.sessions, report.deferred.abandoned), (1, 0));
    assert!(report.deferred.done > 100);
    let deliveries = sum(report.seconds.iter().map(|second| &second.kinds[usize::from(DELIVERY)].response));
    let longest = quantile(&deliveries, 1.0);
    assert!(longest < Nanos::from_millis(12).as_micros(), "none waits behind later ones: {longest} µs");
    assert!(OVERDUE_AFTER > Nanos::from_millis(12), "so a pool would not grow either");
}

#[test]
fn a_user_knows_of_what_it_was_told_before_it_acts_and_how_late_it_acts() {
    let workload = RehearsedWorkload::telling(Duration::from_millis(300));
    let stop = Control::default();
    let run = RehearsalRun::new(&workload, plan(1, 0, 1), false, &stop);
    let report = run.alone(deliveries_take(1));
    let known = workload.known.lock().unwrap();
    assert_eq!(known.len() as u64, report.deferred.done, "being told takes no session");
    assert!(known.len() > 600, "{}", known.len());
    // A delivery is due 300 ms after its sale and takes 1 ms, as sales do.
    for (number, (sales, late_ns)) in (1_u32..).zip(known.iter()) {
        assert_eq!((sales - number, *late_ns), (301.min(1_000 - number), 1_000_000), "delivery {number}");
    }
}
