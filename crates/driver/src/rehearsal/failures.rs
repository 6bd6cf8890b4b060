//! Retries, lost sessions, and servers that go away or fall silent.

use super::workload::RehearsedWorkload;
use super::world::{RequestKind, WorldAnswer, WorldCall};
use super::{RehearsalRun, answers_after, lost, paced, plan, retryable, since_start};
use crate::clock::Nanos;
use crate::error::DriveError;
use crate::plan::{ArrivalProcess, Control, Pacing};
use crate::slice::Slice;
use engines::session::SessionError;
use std::cell::Cell;

fn refused() -> WorldAnswer {
    WorldAnswer::Fail(SessionError::Refused { code: "23505".to_owned(), message: "duplicate key".to_owned() })
}

/// Fails the first `times` statements with `failure`, then answers.
fn fails_first(times: u32, failure: fn() -> WorldAnswer) -> impl Fn(&WorldCall) -> WorldAnswer {
    let left = Cell::new(times);
    move |call| {
        if matches!(call.asked, RequestKind::Statement(_)) && left.get() > 0 {
            left.set(left.get() - 1);
            return failure();
        }
        answers_after(10)
    }
}

#[test]
fn a_retry_repeats_the_same_inputs_and_the_response_counts_from_the_first_due_time() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let run = RehearsalRun::new(&workload, plan(1, 0, 1), false, &stop);
    let driven = run.merged(vec![run.alone(fails_first(2, retryable))]);
    let attempts = workload.attempts();
    assert_eq!((attempts[0], attempts[0]), (attempts[1], attempts[2]));
    assert_eq!((attempts[2].number, attempts[3].number), (0, 1));
    assert_eq!((driven.facts.kinds[0].retries, driven.facts.kinds[0].failed), (2, 0));
    assert_eq!(driven.facts.errors["40001: conflict"], 2);
    let committed = driven.facts.kinds[0].committed;
    assert_eq!(driven.facts.tally["lines"], 10 * committed, "attempts that failed are not tallied");
    // Two rollbacks, two pauses of 0.25 to 0.75 ms and 0.5 to 1.5 ms, and the statement.
    let slowest = driven.measured.intervals[0].kinds[0].counts.last().unwrap().0;
    assert!((30_750..=32_280).contains(&slowest), "{slowest}");
}

#[test]
fn a_transaction_is_given_up_after_the_last_allowed_retry() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let run = RehearsalRun::new(&workload, plan(1, 0, 1), true, &stop);
    let driven = run.merged(vec![run.alone(fails_first(5, retryable))]);
    let numbers: Vec<u32> = workload.attempts().iter().map(|input| input.number).take(7).collect();
    assert_eq!(numbers, [0, 0, 0, 0, 1, 1, 2]);
    assert_eq!((driven.facts.kinds[0].retries, driven.facts.kinds[0].failed), (4, 1));
}

#[test]
fn a_refused_transaction_is_not_tried_again() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let run = RehearsalRun::new(&workload, plan(2, 0, 1), false, &stop);
    let report = run.alone(fails_first(3, refused));
    let driven = run.merged(vec![report]);
    assert_eq!((driven.facts.kinds[0].retries, driven.facts.kinds[0].failed), (0, 3));
    assert_eq!(driven.facts.errors["23505: duplicate key"], 3);
}

#[test]
fn a_lost_session_is_opened_again_and_its_client_goes_on() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let run = RehearsalRun::new(&workload, plan(2, 0, 2), false, &stop);
    let report = run.alone(fails_first(1, lost));
    assert_eq!((report.losses.lost, report.losses.reopened), (1, 1));
    let by_client = workload.attempts_by_client();
    let lost_one = &by_client[&0];
    assert_eq!(lost_one[1].number, 1, "what may have been committed is not repeated");
    let driven = run.merged(vec![report]);
    assert_eq!(driven.facts.kinds[0].failed, 1);
    assert!(driven.facts.kinds[0].committed > 390, "both clients worked for two seconds");
}

#[test]
fn a_session_that_cannot_roll_back_is_opened_again() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let run = RehearsalRun::new(&workload, plan(1, 0, 1), false, &stop);
    let failing = fails_first(1, retryable);
    let report = run.alone(move |call| if call.asked == RequestKind::Rollback { refused() } else { failing(call) });
    assert_eq!((report.losses.lost, report.losses.reopened), (1, 1));
}

fn refuses_connections() -> WorldAnswer {
    WorldAnswer::Fail(SessionError::Lost(std::io::ErrorKind::ConnectionRefused.into()))
}

#[test]
fn a_server_that_stays_away_ends_the_driving_and_not_what_was_driven() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let run = RehearsalRun::new(&workload, plan(4, 0, 600), false, &stop);
    let dies = |call: &WorldCall| {
        if since_start(call) < Nanos::from_millis(1_500) {
            return answers_after(10);
        }
        assert!(since_start(call) < Nanos::from_seconds(40), "tried for too long");
        refuses_connections()
    };
    let report = run.alone(dies);
    assert!(matches!(report.failure, Some(DriveError::Gone { source: SessionError::Lost(_) })));
    assert!(report.seconds.iter().all(|second| second.index < 40));
    assert_eq!((report.losses.lost, report.losses.reopened), (4, 0));
    assert!(run.merged(vec![report]).facts.kinds[0].committed > 500);
}

#[test]
fn a_server_that_restarts_costs_the_time_that_it_takes() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let run = RehearsalRun::new(&workload, plan(4, 0, 10), false, &stop);
    let restarts = |call: &WorldCall| {
        let away = Nanos::from_seconds(3)..Nanos::from_seconds(7);
        if away.contains(&since_start(call)) { refuses_connections() } else { answers_after(10) }
    };
    let report = run.alone(restarts);
    assert!(report.failure.is_none());
    assert_eq!((report.losses.lost, report.losses.reopened), (4, 4));
    assert!((4_000..5_000).contains(&report.losses.longest_ms), "{:?}", report.losses);
    let driven = run.merged(vec![report]);
    let done: Vec<bool> = driven.seconds.iter().map(|second| second.counted > 0).collect();
    // Requests from before the server went away were answered in second 3.
    assert_eq!(done, [true, true, true, true, false, false, false, true, true, true]);
    assert_eq!((driven.stopped, driven.facts.measured_ms), (false, 10_000));
}

#[test]
fn a_server_that_falls_silent_is_told_with_what_it_made_clients_wait() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let run = RehearsalRun::new(&workload, plan(3, 1, 5), false, &stop);
    let silent = |call: &WorldCall| {
        if since_start(call) < Nanos::from_seconds(4) { answers_after(10) } else { WorldAnswer::Never }
    };
    let driven = run.merged(vec![run.alone(silent)]);
    let unended = driven.facts.unended;
    // Two of the window's five seconds, and the ten seconds in which they might still have ended.
    assert_eq!((unended.transactions, unended.oldest_ms), (3, 12_000));
    assert!((unended.window_share - 0.4).abs() < 0.01, "{unended:?}");
    let given_up: Vec<_> = driven.unended().flat_map(|part| &part.counts).copied().collect();
    assert!(matches!(given_up[..], [(micros, 3)] if micros.abs_diff(12_000_000) < 12_000), "{given_up:?}");
    assert!(driven.facts.testimony.response.max_us > 11_900_000, "{:?}", driven.facts.testimony.response);
    assert_eq!(driven.facts.testimony.stalls, record::trial::Stalls::default(), "that is not the driver's doing");
}

/// One of four sessions gets no answers for the last seconds of the window, and goes on after it.
#[test]
fn what_ends_after_the_window_is_in_the_percentiles_with_its_whole_time() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let run = RehearsalRun::new(&workload, plan(4, 0, 5), false, &stop);
    let driven = run.merged(vec![run.alone(|call| {
        let (now, end) = (since_start(call), Nanos::from_seconds(6));
        let held = call.session == 2 && (Nanos::from_seconds(2)..end).contains(&now);
        WorldAnswer::After(if held { end.since(now) } else { Nanos::from_millis(10) })
    })]);
    assert_eq!(driven.facts.unended.transactions, 0, "it did end");
    assert!(driven.facts.testimony.response.max_us.abs_diff(4_000_000) < 20_000, "{:?}", driven.facts.testimony);
    let booked: u64 = driven.unended().flat_map(|part| &part.counts).map(|(_, count)| u64::from(*count)).sum();
    assert_eq!(booked, 1);
}

#[test]
fn arrivals_that_wait_for_a_silent_server_are_in_the_percentiles() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let pacing = Pacing::Arrivals { per_second: 100.0, process: ArrivalProcess::Uniform, sessions: 5 };
    let run = RehearsalRun::new(&workload, paced(pacing, 0, 4), false, &stop);
    let silent = |call: &WorldCall| {
        if since_start(call) < Nanos::from_seconds(2) { answers_after(1) } else { WorldAnswer::Never }
    };
    let driven = run.merged(vec![run.alone(silent)]);
    let waited: u64 = driven.unended().flat_map(|part| &part.counts).map(|(_, count)| u64::from(*count)).sum();
    assert!((100..=102).contains(&waited), "a second's worth had waited for a second or longer: {waited}");
    assert_eq!(driven.facts.unended.transactions, 5);
}

#[test]
fn a_session_that_cannot_be_opened_is_named() {
    let (workload, stop) = (RehearsedWorkload::default(), Control::default());
    let run = RehearsalRun::new(&workload, plan(9, 0, 2), false, &stop);
    let full = |call: &WorldCall| if call.session < 2 { answers_after(1) } else { refused() };
    let error = run.shard(Slice { shard: 0, of: 3 }, full).unwrap_err();
    assert!(matches!(error, DriveError::Connect { index: 6, of: 9, .. }));
}
