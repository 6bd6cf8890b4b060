//! Promises about batches: the answers are those of single requests, and after a failed request nothing is left.

use crate::ground::{Engine, Ground, done};
use engines::batch::{Batch, Sending};
use engines::session::{Access, Param, Session, SessionError};
use engines::statement::StatementId;
use std::pin::pin;
use std::task::{Context, Waker};

const WAYS: [Sending; 2] = [Sending::OneByOne, Sending::Together];
const INSERT: StatementId = StatementId(0);
const SELECT: StatementId = StatementId(1);
const NEXT: StatementId = StatementId(2);

fn statements<E: Engine>() -> [(&'static str, &'static str); 3] {
    [
        ("insert", "INSERT INTO batched VALUES ($1, $2)"),
        ("select", "SELECT id, words FROM batched WHERE id >= $1 ORDER BY id"),
        ("next", E::NEXT_ORDER),
    ]
}

fn insert(batch: &mut Batch, id: i64) -> usize {
    batch.add(INSERT, &[Param::Integer(id), Param::Text(&format!("of {id}"))])
}

/// Tables of its own: a batch's rows, and a row that is counted up.
fn prepare<E: Engine>(ground: &Ground<E>) {
    let dropped = ["batched", "district"].map(|table| format!("DROP TABLE IF EXISTS {table}")).join("; ");
    ground.script(&format!(
        "{dropped}; CREATE TABLE batched (id BIGINT PRIMARY KEY, words VARCHAR(40)); \
         CREATE TABLE district (id BIGINT PRIMARY KEY, next_order BIGINT); INSERT INTO district VALUES (7, 3001)"
    ));
}

pub fn a_batch_is_answered_like_single_requests<E: Engine>(ground: &Ground<E>) {
    for sending in WAYS {
        prepare(ground);
        let mut session = ground.session(&statements::<E>());
        let (mut batch, work) = (Batch::new(sending), session.work());
        batch.begin(Access::ReadWrite);
        let (first, all) = (insert(&mut batch, 1), batch.add(SELECT, &[Param::Integer(0)]));
        let (order, second) = (batch.add(NEXT, &[Param::Integer(7)]), insert(&mut batch, 2));
        done(&mut session, async |s| s.run(&mut batch).await).unwrap();
        assert_eq!((batch.answer(first).changed(), batch.answer(second).changed()), (1, 1));
        assert_eq!((batch.answer(all).rows(), batch.answer(all).text(0, 1).unwrap()), (1, "of 1"));
        let order = batch.answer(order);
        let found = (order.integer(0, 0).unwrap(), order.integer(0, 1).unwrap(), order.rows(), order.changed());
        assert_eq!(found, (3001, 7, 1, 1));
        assert_eq!(ground.number("SELECT count(*) FROM batched"), 0, "it is not committed");

        batch.clear();
        let (all, none) = (batch.add(SELECT, &[Param::Integer(0)]), batch.add(SELECT, &[Param::Integer(9)]));
        let third = batch.add(INSERT, &[Param::Integer(3), Param::Null]);
        let fifth = insert(&mut batch, 5);
        batch.commit();
        done(&mut session, async |s| s.run(&mut batch).await).unwrap();
        let told = |row| batch.answer(all).text(row, 1).unwrap().to_owned();
        assert_eq!((told(0), told(1), batch.answer(none).rows()), ("of 1".to_owned(), "of 2".to_owned(), 0));
        assert_eq!(ground.number("SELECT count(*) FROM batched"), 4);
        assert_eq!(ground.number("SELECT count(*) FROM batched WHERE id = 3 AND words IS NULL"), 1);
        assert_eq!(batch.answer(third).changed() + batch.answer(fifth).changed(), 2);
        let statements = session.work().statements - work.statements;
        assert!((8..=9).contains(&statements), "one statement may be two: {statements}");

        // A batch that only commits, one with nothing, and what follows them outside of a transaction.
        let mut end = Batch::new(sending);
        done(&mut session, async |s| s.run(&mut end).await).unwrap();
        end.begin(Access::ReadOnly);
        let all = end.add(SELECT, &[Param::Integer(2)]);
        end.commit();
        done(&mut session, async |s| s.run(&mut end).await).unwrap();
        assert_eq!(end.answer(all).rows(), 3);
        let alone = [Param::Integer(4), Param::Null];
        done(&mut session, async |s| s.execute(INSERT, &alone).await.map(|_| ())).unwrap();
        assert_eq!(ground.number("SELECT count(*) FROM batched"), 5, "it is committed at once");
        let again = [Param::Integer(7)];
        let next = done(&mut session, async |s| s.execute(NEXT, &again).await?.integer(0, 0)).unwrap();
        assert_eq!(next, 3002);
    }
}

/// Whichever request fails, and whether the batch begins the transaction or goes on with it.
pub fn after_a_failed_request_nothing_is_left<E: Engine>(ground: &Ground<E>) {
    for sending in WAYS {
        prepare(ground);
        ground.script("INSERT INTO batched VALUES (10, 'before')");
        let mut session = ground.session(&statements::<E>());
        for (fails_at, begins) in [(0, true), (1, true), (2, true), (0, false), (1, false), (2, false)] {
            let mut batch = Batch::new(sending);
            batch.begin(Access::ReadWrite);
            if !begins {
                insert(&mut batch, 1);
                done(&mut session, async |s| s.run(&mut batch).await).unwrap();
                batch.clear();
            }
            for place in 0..3 {
                insert(&mut batch, if place == fails_at { 10 } else { 20 + place });
            }
            batch.commit();
            let error = done(&mut session, async |s| s.run(&mut batch).await).unwrap_err();
            assert!(matches!(error, SessionError::Refused { .. }), "{error:?}");
            done(&mut session, async |s| s.rollback().await).unwrap();
            assert_eq!(ground.number("SELECT count(*) FROM batched"), 1, "{sending:?}: {fails_at}, {begins}");
            let found = done(&mut session, async |s| Ok(s.execute(SELECT, &[Param::Integer(0)]).await?.rows()));
            assert_eq!(found.unwrap(), 1);
        }
        let mut too_few = Batch::new(sending);
        too_few.begin(Access::ReadWrite);
        insert(&mut too_few, 30);
        too_few.add(INSERT, &[]);
        too_few.commit();
        let error = done(&mut session, async |s| s.run(&mut too_few).await).unwrap_err();
        assert!(matches!(error, SessionError::Unexpected { statement: "insert", .. }), "{error:?}");
        done(&mut session, async |s| s.rollback().await).unwrap();
        assert_eq!(ground.number("SELECT count(*) FROM batched"), 1);
    }
}

/// Some engines roll back at once, and would commit by itself what follows in the batch.
pub fn after_a_conflict_nothing_is_left<E: Engine>(ground: &Ground<E>) {
    for sending in WAYS {
        prepare(ground);
        let (mut first, mut second) = (ground.session(&statements::<E>()), ground.session(&statements::<E>()));
        if first.descriptor().is_none() {
            // The second one to write is refused before it has done anything.
            return;
        }
        let mut batch = Batch::new(sending);
        batch.begin(Access::ReadWrite);
        batch.add(SELECT, &[Param::Integer(0)]);
        insert(&mut batch, 1);
        done(&mut second, async |s| s.run(&mut batch).await).unwrap();
        done(&mut first, async |s| s.execute(NEXT, &[Param::Integer(7)]).await.map(|_| ())).unwrap();
        batch.clear();
        insert(&mut batch, 2);
        batch.add(NEXT, &[Param::Integer(7)]);
        insert(&mut batch, 3);
        batch.commit();
        let error = done(&mut second, async |s| s.run(&mut batch).await).unwrap_err();
        assert!(matches!(error, SessionError::Retryable { .. }), "{error:?}");
        done(&mut second, async |s| s.rollback().await).unwrap();
        assert_eq!(ground.number("SELECT count(*) FROM batched"), 0);
        assert_eq!(ground.number("SELECT next_order FROM district"), 3002);
    }
}

/// Whatever follows, also a transaction that is rolled back, leaves alone what such a batch did and what came after it.
pub fn a_batch_outside_of_a_transaction_leaves_none_open<E: Engine>(ground: &Ground<E>) {
    for sending in WAYS {
        prepare(ground);
        let mut session = ground.session(&statements::<E>());
        let mut batch = Batch::new(sending);
        batch.begin(Access::ReadWrite);
        insert(&mut batch, 1);
        batch.commit();
        done(&mut session, async |s| s.run(&mut batch).await).unwrap();
        batch.clear();
        batch.add(SELECT, &[Param::Integer(0)]);
        insert(&mut batch, 2);
        done(&mut session, async |s| s.run(&mut batch).await).unwrap();
        assert_eq!(ground.number("SELECT count(*) FROM batched"), 2);
        done(&mut session, async |s| s.execute(INSERT, &[Param::Integer(3), Param::Null]).await.map(drop)).unwrap();
        assert_eq!(ground.number("SELECT count(*) FROM batched"), 3);
        batch.clear();
        batch.begin(Access::ReadWrite);
        insert(&mut batch, 4);
        done(&mut session, async |s| s.run(&mut batch).await).unwrap();
        done(&mut session, async |s| s.rollback().await).unwrap();
        assert_eq!(ground.number("SELECT max(id) FROM batched"), 3);
        // A transaction that a batch only begins holds what follows, in a batch and alone.
        batch.clear();
        batch.begin(Access::ReadWrite);
        done(&mut session, async |s| s.run(&mut batch).await).unwrap();
        batch.clear();
        insert(&mut batch, 5);
        done(&mut session, async |s| s.run(&mut batch).await).unwrap();
        done(&mut session, async |s| s.execute(INSERT, &[Param::Integer(6), Param::Null]).await.map(drop)).unwrap();
        done(&mut session, async |s| s.rollback().await).unwrap();
        assert_eq!(ground.number("SELECT max(id) FROM batched"), 3);
    }
}

pub fn an_abandoned_batch_is_not_taken_for_the_next<E: Engine>(ground: &Ground<E>) {
    prepare(ground);
    let mut session = ground.session(&statements::<E>());
    let mut batch = Batch::new(Sending::Together);
    batch.begin(Access::ReadWrite);
    for id in 1..9 {
        insert(&mut batch, id);
        batch.add(SELECT, &[Param::Integer(id)]);
    }
    drop(pin!(session.run(&mut batch)).as_mut().poll(&mut Context::from_waker(Waker::noop())));
    done(&mut session, async |s| s.rollback().await).unwrap();
    for sending in WAYS {
        let mut next = Batch::new(sending);
        next.begin(Access::ReadWrite);
        insert(&mut next, 40);
        let all = next.add(SELECT, &[Param::Integer(0)]);
        done(&mut session, async |s| s.run(&mut next).await).unwrap();
        assert_eq!((next.answer(all).rows(), next.answer(all).text(0, 1).unwrap()), (1, "of 40"));
        done(&mut session, async |s| s.rollback().await).unwrap();
    }
    assert_eq!(ground.number("SELECT count(*) FROM batched"), 0);
}

/// Some requests have several rows, some have none, and some ask for the same. Their number is more than fits a list.
pub fn many_requests_of_one_statement_get_their_own_rows<E: Engine>(ground: &Ground<E>) {
    ground.script(
        "CREATE TABLE placed (place BIGINT, id BIGINT, words VARCHAR(40)); \
         INSERT INTO placed VALUES (1, 1, 'a'), (1, 2, 'b'), (1, 2, 'c'), (2, 1, NULL), (2, 9, 'd')",
    );
    let alone = "SELECT $2 + 0, words FROM placed WHERE place = $1 AND id = $3 ORDER BY words";
    let alone =
        if E::OF_SEVERAL.is_empty() { alone.replace("$2 + 0", "CAST($2 AS INTEGER)") } else { alone.to_owned() };
    let mut session = ground.session(&[("placed", &format!("{alone}{}", E::OF_SEVERAL))]);
    for (sending, others) in [(WAYS[0], 5), (WAYS[1], 5), (WAYS[1], 6)] {
        for requests in [1, 2, 3, 16, 17, 40] {
            let mut batch = Batch::new(sending);
            batch.begin(Access::ReadOnly);
            let asked: Vec<(i64, i64)> = (0..requests).map(|request| (1 + request % 2, request % 5)).collect();
            for (place, id) in &asked {
                // The last request may differ in a value that is not in the list.
                let shared = if batch.len() + 1 == asked.len() { others } else { 5 };
                batch.add(StatementId(0), &[Param::Integer(*place), Param::Integer(shared), Param::Integer(*id)]);
            }
            batch.commit();
            done(&mut session, async |s| s.run(&mut batch).await).unwrap();
            for (number, asked) in asked.iter().enumerate() {
                let answer = batch.answer(number);
                let found: Vec<_> = (0..answer.rows()).map(|row| answer.value(row, 1)).collect();
                let expected: &[_] = match asked {
                    (1, 1) => &[Some(Param::Text("a"))],
                    (1, 2) => &[Some(Param::Text("b")), Some(Param::Text("c"))],
                    (2, 1) => &[Some(Param::Null)],
                    _ => &[],
                };
                assert_eq!(found, expected, "{sending:?}, request {number} of {requests}");
                let shared = if number + 1 == batch.len() { others } else { 5 };
                assert!((0..answer.rows()).all(|row| answer.integer(row, 0).unwrap() == shared));
            }
        }
    }
}

/// More than the sockets take in both directions: the server waits until its answers are read.
pub fn a_long_batch_arrives_whole<E: Engine>(ground: &Ground<E>) {
    ground.script(&format!("CREATE TABLE long_batch (words {})", E::LONG_TEXT));
    let mut session =
        ground.session(&[("insert", "INSERT INTO long_batch VALUES ($1)"), ("select", "SELECT words FROM long_batch")]);
    let words = "x".repeat(200_000);
    let mut batch = Batch::new(Sending::Together);
    batch.begin(Access::ReadWrite);
    let answers: Vec<usize> = (0..12)
        .map(|_| {
            batch.add(INSERT, &[Param::Text(&words)]);
            batch.add(SELECT, &[])
        })
        .collect();
    batch.commit();
    done(&mut session, async |s| s.run(&mut batch).await).unwrap();
    for (rows, answer) in (1..).zip(answers) {
        assert_eq!(
            (batch.answer(answer).rows(), batch.answer(answer).text(rows - 1, 0).unwrap().len()),
            (rows, 200_000)
        );
    }
}
