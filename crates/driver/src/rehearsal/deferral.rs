//! Deferred transactions: queued at once, executed in the background, bounded, drained or counted.

use super::workload::{DELIVERY, Rehearsed};
use super::world::{Answer, Asked, Call};
use super::{Run, answers_after, plan};
use crate::clock::Nanos;
use crate::counts::total;
use crate::deferral::QUEUE_CAPACITY;
use crate::plan::Control;

/// Sales take 1 ms, deliveries as long as given.
fn deliveries_take(millis: u64) -> impl Fn(&Call) -> Answer {
    move |call| answers_after(if call.asked == Asked::Statement(DELIVERY) { millis } else { 1 })
}

#[test]
fn clients_do_not_wait_for_what_they_defer() {
    let (workload, stop) = (Rehearsed::deferring(10), Control::default());
    let run = Run::new(&workload, plan(1, 0, 2), false, &stop);
    let report = run.alone(deliveries_take(5));
    let totals = report.deferred;
    assert!(totals.queued > 200, "{totals:?}");
    assert_eq!((totals.queued, totals.failed, totals.abandoned, totals.waits_for_room), (totals.done, 0, 0, 0));
    let driven = run.merged(vec![report]);
    assert!(driven.facts.kinds[0].committed >= 1_990, "a sale each millisecond, whatever deliveries take");
    assert_eq!(driven.log.lines().count() as u64, 1 + totals.done);
    assert_eq!(driven.facts.extra["deferred"]["queued"], totals.queued);
}

#[test]
fn a_background_session_that_cannot_keep_up_slows_the_clients_down() {
    let (workload, stop) = (Rehearsed::deferring(2), Control::default());
    let run = Run::new(&workload, plan(4, 0, 3), false, &stop);
    let report = run.alone(deliveries_take(20));
    let totals = report.deferred;
    assert_eq!(totals.longest_queue, QUEUE_CAPACITY as u64);
    assert!(totals.waits_for_room > 100, "{totals:?}");
    assert_eq!(totals.queued, totals.done + totals.failed + totals.abandoned);
    let sales: u64 = report.seconds.iter().map(|second| second.kinds[0].committed).sum();
    // Each delivery that was queued lets its client make one sale before the next.
    assert!(sales <= totals.queued + 8, "{sales} sales, {} queued", totals.queued);
}

#[test]
fn the_queue_is_drained_after_the_end_if_that_is_possible_in_time() {
    let (workload, stop) = (Rehearsed::deferring(2), Control::default());
    let run = Run::new(&workload, plan(4, 0, 1), false, &stop);
    let drained = run.alone(deliveries_take(20)).deferred;
    assert_eq!((drained.abandoned, drained.queued), (0, drained.done));
    let hopeless = run.alone(deliveries_take(500)).deferred;
    assert!(hopeless.abandoned > 0);
    // One was being executed when time was up.
    assert_eq!(hopeless.queued, hopeless.done + hopeless.abandoned + 1);
}

#[test]
fn response_of_a_deferred_transaction_counts_from_when_it_was_queued() {
    let (workload, stop) = (Rehearsed::deferring(2), Control::default());
    let run = Run::new(&workload, plan(2, 0, 2), false, &stop);
    let report = run.alone(deliveries_take(50));
    let deliveries: Vec<_> = report.seconds.iter().map(|second| &second.kinds[usize::from(DELIVERY)]).collect();
    let longest = deliveries.iter().filter_map(|kind| kind.response.last()).max().unwrap().0;
    assert!(longest > 1_000_000, "they queued for seconds: {longest} µs");
    assert!(deliveries.iter().flat_map(|kind| &kind.service).all(|(micros, _)| micros.abs_diff(50_000) <= 50));
    let booked: u64 = deliveries.iter().map(|kind| total(&kind.response)).sum();
    assert_eq!(booked, report.deferred.done);
}

#[test]
fn one_in_process_session_does_both_in_the_order_in_which_they_were_due() {
    let (workload, stop) = (Rehearsed::deferring(4), Control::default());
    let run = Run::new(&workload, plan(3, 0, 2), true, &stop);
    let report = run.alone(deliveries_take(2));
    assert_eq!((report.sessions, report.deferred.abandoned), (1, 0));
    assert!(report.deferred.done > 100);
    let deliveries = report.seconds.iter().map(|second| &second.kinds[usize::from(DELIVERY)]);
    let longest = deliveries.filter_map(|kind| kind.response.last()).max().unwrap().0;
    assert!(longest < Nanos::from_millis(12).as_micros(), "none waits behind later ones: {longest} µs");
}
