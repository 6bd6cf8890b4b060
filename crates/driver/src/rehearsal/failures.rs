//! Retries, lost sessions, servers that go away or say nothing.

use super::workload::Rehearsed;
use super::world::{Asked, Call};
use super::{Run, answers_after, lost, plan, retryable, since_start};
use crate::arrivals::Share;
use crate::clock::Nanos;
use crate::plan::{Control, DriveError};
use crate::rehearsal::world::Answer;
use engines::session::SessionError;
use std::cell::Cell;

fn refused() -> Answer {
    Answer::Fail(SessionError::Refused { code: "23505".to_owned(), message: "duplicate key".to_owned() })
}

/// Fails statements as `failure` says for the first `times` calls, then answers.
fn fails_first(times: u32, failure: fn() -> Answer) -> impl Fn(&Call) -> Answer {
    let left = Cell::new(times);
    move |call| {
        if matches!(call.asked, Asked::Statement(_)) && left.get() > 0 {
            left.set(left.get() - 1);
            return failure();
        }
        answers_after(10)
    }
}

#[test]
fn a_retry_repeats_the_same_inputs_and_the_response_counts_from_the_first_due_time() {
    let (workload, stop) = (Rehearsed::default(), Control::default());
    let run = Run::new(&workload, plan(1, 0, 1), false, &stop);
    let driven = run.merged(vec![run.alone(fails_first(2, retryable))]);
    let attempts = workload.attempts();
    assert_eq!((attempts[0], attempts[0]), (attempts[1], attempts[2]));
    assert_eq!((attempts[2].number, attempts[3].number), (0, 1));
    assert_eq!((driven.facts.kinds[0].retries, driven.facts.kinds[0].failed), (2, 0));
    assert_eq!(driven.facts.errors["40001: conflict"], 2);
    let committed = driven.facts.kinds[0].committed;
    assert_eq!(driven.facts.tally["lines"], 10 * committed, "attempts that failed are not tallied");
    // Two rollbacks, two pauses of 0.5 and 1 ms, and the statement.
    let slowest = driven.measured.intervals[0].kinds[0].counts.last().unwrap().0;
    assert!(slowest.abs_diff(31_500) <= 32, "{slowest}");
}

#[test]
fn a_transaction_is_given_up_after_the_last_allowed_retry() {
    let (workload, stop) = (Rehearsed::default(), Control::default());
    let run = Run::new(&workload, plan(1, 0, 1), true, &stop);
    let driven = run.merged(vec![run.alone(fails_first(5, retryable))]);
    let numbers: Vec<u32> = workload.attempts().iter().map(|input| input.number).take(7).collect();
    assert_eq!(numbers, [0, 0, 0, 0, 1, 1, 2]);
    assert_eq!((driven.facts.kinds[0].retries, driven.facts.kinds[0].failed), (4, 1));
}

#[test]
fn a_refused_transaction_is_not_tried_again() {
    let (workload, stop) = (Rehearsed::default(), Control::default());
    let run = Run::new(&workload, plan(2, 0, 1), false, &stop);
    let report = run.alone(fails_first(3, refused));
    let driven = run.merged(vec![report]);
    assert_eq!((driven.facts.kinds[0].retries, driven.facts.kinds[0].failed), (0, 3));
    assert_eq!(driven.facts.errors["23505: duplicate key"], 3);
}

#[test]
fn a_lost_session_is_opened_again_and_its_client_goes_on() {
    let (workload, stop) = (Rehearsed::default(), Control::default());
    let run = Run::new(&workload, plan(2, 0, 2), false, &stop);
    let report = run.alone(fails_first(1, lost));
    assert_eq!((report.lost, report.reopened), (1, 1));
    let by_client = workload.attempts_by_client();
    let lost_one = &by_client[&0];
    assert_eq!(lost_one[1].number, 1, "what may have been committed is not repeated");
    let driven = run.merged(vec![report]);
    assert_eq!(driven.facts.kinds[0].failed, 1);
    assert!(driven.facts.kinds[0].committed > 390, "both clients worked for two seconds");
}

#[test]
fn a_session_that_cannot_roll_back_is_opened_again() {
    let (workload, stop) = (Rehearsed::default(), Control::default());
    let run = Run::new(&workload, plan(1, 0, 1), false, &stop);
    let failing = fails_first(1, retryable);
    let report = run.alone(move |call| if call.asked == Asked::Rollback { refused() } else { failing(call) });
    assert_eq!((report.lost, report.reopened), (1, 1));
}

#[test]
fn a_server_that_stays_away_is_gone_soon() {
    let (workload, stop) = (Rehearsed::default(), Control::default());
    let run = Run::new(&workload, plan(4, 0, 600), false, &stop);
    let dies = |call: &Call| {
        if since_start(call) < Nanos::from_millis(1_500) {
            return answers_after(10);
        }
        assert!(since_start(call) < Nanos::from_seconds(8), "tried for too long");
        Answer::Fail(SessionError::Lost(std::io::ErrorKind::ConnectionRefused.into()))
    };
    let report = run.alone(dies);
    assert!(matches!(report.failure, Some(DriveError::Gone { source: SessionError::Lost(_) })));
    assert!(report.seconds.iter().all(|second| second.index < 8));
}

#[test]
fn a_server_that_says_nothing_does_not_hold_the_driver() {
    let (workload, stop) = (Rehearsed::default(), Control::default());
    let run = Run::new(&workload, plan(3, 0, 2), false, &stop);
    let report =
        run.alone(|call| if since_start(call) < Nanos::from_seconds(1) { answers_after(10) } else { Answer::Never });
    assert_eq!(report.unfinished, 3);
    assert_eq!(report.closed_at, run.window().end());
}

#[test]
fn a_session_that_cannot_be_opened_is_named() {
    let (workload, stop) = (Rehearsed::default(), Control::default());
    let run = Run::new(&workload, plan(9, 0, 2), false, &stop);
    let full = |call: &Call| if call.session < 2 { answers_after(1) } else { refused() };
    let error = run.shard(Share { shard: 0, of: 3 }, full).unwrap_err();
    assert!(matches!(error, DriveError::Connect { index: 6, of: 9, .. }));
}
