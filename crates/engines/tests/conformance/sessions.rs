//! Promises about sessions: values, counts, visibility, errors.

use crate::ground::{Engine, Ground, done};
use engines::session::{Access, Connect, Param, Session, SessionError};
use engines::statement::StatementId;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const FIRST: StatementId = StatementId(0);
const SECOND: StatementId = StatementId(1);

pub fn values_come_back_as_they_went<E: Engine>(ground: &Ground<E>) {
    ground.script("CREATE TABLE item (id BIGINT PRIMARY KEY, small SMALLINT, medium INTEGER, words VARCHAR(40))");
    let mut session = ground.session(&[
        ("insert", "INSERT INTO item (words, medium, small, id) VALUES ($4, $3, $2, $1)"),
        ("select", "SELECT id, small, medium, words FROM item WHERE id = $1"),
    ]);
    let rows = [
        [Param::Integer(i64::MIN), Param::Integer(-32_768), Param::Integer(2_147_483_647), Param::Text("")],
        [Param::Integer(i64::MAX), Param::Integer(32_767), Param::Integer(-2_147_483_648), Param::Text("O'Neill\t\\N")],
        [Param::Integer(0), Param::Null, Param::Null, Param::Null],
        [Param::Integer(1), Param::Integer(-1), Param::Integer(0), Param::Text("žluťoučký 🐎 \"kůň\"\n")],
    ];
    for row in &rows {
        let changed = done(&mut session, async |s| Ok(s.execute(FIRST, row).await?.changed())).unwrap();
        assert_eq!(changed, 1);
    }
    for row in &rows {
        done(&mut session, async |s| {
            let found = s.execute(SECOND, &row[..1]).await?;
            assert_eq!((found.rows(), found.columns(), found.changed()), (1, 4, 0));
            for (column, value) in row.iter().enumerate() {
                assert_eq!(found.value(0, column), Some(*value));
            }
            Ok(())
        })
        .unwrap();
    }
    let none = done(&mut session, async |s| Ok(s.execute(SECOND, &[Param::Integer(99)]).await?.rows())).unwrap();
    assert_eq!(none, 0);
}

pub fn every_count_of_changed_rows_is_true<E: Engine>(ground: &Ground<E>) {
    ground.script("CREATE TABLE counted (id BIGINT PRIMARY KEY, amount BIGINT); INSERT INTO counted VALUES (1, 0), (2, 0), (3, 0)");
    let mut session = ground.session(&[
        ("update", "UPDATE counted SET amount = amount + $2 WHERE id >= $1"),
        ("delete", "DELETE FROM counted WHERE id > $1"),
        ("select", "SELECT id FROM counted ORDER BY id"),
        ("leave", "UPDATE counted SET amount = amount"),
    ]);
    let mut changed = |statement, params: &[Param<'_>]| {
        done(&mut session, async |s| Ok(s.execute(StatementId(statement), params).await?.changed())).unwrap()
    };
    assert_eq!(changed(0, &[Param::Integer(2), Param::Integer(5)]), 2);
    assert_eq!(changed(2, &[]), 0);
    assert_eq!(changed(3, &[]), 3);
    assert_eq!(changed(0, &[Param::Integer(9), Param::Integer(5)]), 0);
    assert_eq!(changed(1, &[Param::Integer(0)]), 3);
}

pub fn an_update_returns_its_rows<E: Engine>(ground: &Ground<E>) {
    ground.script(
        "CREATE TABLE district (id BIGINT PRIMARY KEY, next_order BIGINT); INSERT INTO district VALUES (7, 3001)",
    );
    let mut session = ground.session(&[("next", E::NEXT_ORDER)]);
    for expected in 3001..3004 {
        let found = done(&mut session, async |s| {
            let found = s.execute(FIRST, &[Param::Integer(7)]).await?;
            Ok((found.integer(0, 0)?, found.integer(0, 1)?, found.rows(), found.changed()))
        });
        assert_eq!(found.unwrap(), (expected, 7, 1, 1));
    }
}

pub fn others_see_what_is_committed_and_nothing_else<E: Engine>(ground: &Ground<E>) {
    ground.script("CREATE TABLE seen (id BIGINT PRIMARY KEY)");
    let mut writer = ground.session(&[("insert", "INSERT INTO seen VALUES ($1)"), ("delete", "DELETE FROM seen")]);
    let count = || ground.number("SELECT count(*) FROM seen");
    done(&mut writer, async |s| {
        s.rollback().await?;
        s.begin(Access::ReadWrite).await?;
        s.execute(FIRST, &[Param::Integer(1)]).await?;
        assert_eq!(count(), 0);
        s.commit().await?;
        assert_eq!(count(), 1);
        s.begin(Access::ReadWrite).await?;
        s.execute(SECOND, &[]).await?;
        s.rollback().await?;
        assert_eq!(count(), 1);
        s.begin(Access::ReadOnly).await?;
        s.commit().await
    })
    .unwrap();
}

/// The statement would take hours.
pub fn a_statement_over_its_limit_is_refused<E: Engine>(ground: &Ground<E>) {
    let tens = (0..10).map(|digit| format!("SELECT {digit} AS digit")).collect::<Vec<_>>().join(" UNION ALL ");
    let many = (0..12).map(|place| format!("tens d{place}")).collect::<Vec<_>>().join(", ");
    let endless = format!("WITH tens AS ({tens}) SELECT SUM(d0.digit + d11.digit) FROM {many}");
    let mut session = ground.session(&[("one", "SELECT 1")]);
    let ended = done(&mut session, async |s| {
        s.limit_statements(Duration::from_millis(100)).await?;
        assert_eq!(s.execute(FIRST, &[]).await?.rows(), 1);
        let ended = s.execute_text("endless", &endless).await.map(|_| ());
        s.rollback().await?;
        assert_eq!(s.execute(FIRST, &[]).await?.rows(), 1);
        Ok(ended)
    });
    assert!(matches!(ended.unwrap(), Err(SessionError::Refused { .. })));
}

pub fn a_refused_statement_leaves_the_session_usable<E: Engine>(ground: &Ground<E>) {
    ground.script("CREATE TABLE once (id BIGINT PRIMARY KEY)");
    let mut session =
        ground.session(&[("insert", "INSERT INTO once VALUES ($1)"), ("select", "SELECT count(*) FROM once")]);
    let one = [Param::Integer(1)];
    for _ in 0..3 {
        done(&mut session, async |s| {
            s.begin(Access::ReadWrite).await?;
            s.execute(FIRST, &one).await?;
            let error = s.execute(FIRST, &one).await.unwrap_err();
            assert!(matches!(error, SessionError::Refused { .. }), "{error:?}");
            s.rollback().await?;
            assert_eq!(s.execute(SECOND, &[]).await?.integer(0, 0)?, 0);
            Ok(())
        })
        .unwrap();
    }
    let too_few = done(&mut session, async |s| s.execute(FIRST, &[]).await.map(|_| ())).unwrap_err();
    assert!(matches!(too_few, SessionError::Unexpected { statement: "insert", .. }), "{too_few:?}");
    let fine = done(&mut session, async |s| Ok(s.execute(FIRST, &one).await?.changed())).unwrap();
    assert_eq!(fine, 1);
}

async fn add_one<S: Session>(session: &mut S) -> Result<(), SessionError> {
    session.begin(Access::ReadWrite).await?;
    session.execute(SECOND, &[]).await?;
    session.commit().await
}

/// One engine refuses the second writer at its start, another when it changes a row that the first has changed.
pub fn of_two_that_conflict_one_may_try_again<E: Engine>(ground: &Ground<E>) {
    ground.script("CREATE TABLE contended (id BIGINT PRIMARY KEY, amount BIGINT); INSERT INTO contended VALUES (1, 0)");
    let statements = [
        ("read", "SELECT amount FROM contended WHERE id = 1"),
        ("add", "UPDATE contended SET amount = amount + 1 WHERE id = 1"),
    ];
    let (mut first, mut second) = (ground.session(&statements), ground.session(&statements));
    done(&mut first, async |s| {
        s.begin(Access::ReadWrite).await?;
        s.execute(FIRST, &[]).await.map(|_| ())
    })
    .unwrap();
    let refused = match done(&mut second, add_one) {
        Ok(()) => done(&mut first, async |s| s.execute(SECOND, &[]).await.map(|_| ())).unwrap_err(),
        Err(error) => error,
    };
    assert!(matches!(refused, SessionError::Retryable { .. }), "{refused:?}");
    done(&mut first, async |s| s.rollback().await).unwrap();
    done(&mut second, async |s| s.rollback().await).unwrap();
    let before = ground.number("SELECT amount FROM contended");
    done(&mut first, add_one).unwrap();
    assert_eq!(ground.number("SELECT amount FROM contended"), before + 1);
}

/// Of two transactions that wait for each other, one is aborted. The first line of the message is the same each time,
/// whoever the two are.
pub fn a_deadlock_may_be_tried_again<E: Engine>(code: &str)
where
    <E::Connect as Connect>::Session: Send,
{
    let Some(ground) = Ground::<E>::new("{}") else { return };
    ground.script(
        "CREATE TABLE crossed (id BIGINT PRIMARY KEY, amount BIGINT); INSERT INTO crossed VALUES (1, 0), (2, 0)",
    );
    let (one, other) = (deadlock(&ground, code), deadlock(&ground, code));
    assert_eq!(one.lines().next(), other.lines().next());
    assert_eq!(ground.number("SELECT SUM(amount) FROM crossed"), 0);
}

/// The message of one deadlock.
fn deadlock<E: Engine>(ground: &Ground<E>, expected: &str) -> String
where
    <E::Connect as Connect>::Session: Send,
{
    let statements = [("add", "UPDATE crossed SET amount = amount + 1 WHERE id = $1")];
    let both = |first: i64, second: i64| {
        let mut session = ground.session(&statements);
        done(&mut session, async |s| {
            s.begin(Access::ReadWrite).await?;
            s.execute(FIRST, &[Param::Integer(first)]).await.map(|_| ())
        })
        .unwrap();
        (session, second)
    };
    let (one, other) = (both(1, 2), both(2, 1));
    let ended: Vec<_> = std::thread::scope(|scope| {
        let run = |mut session: <E::Connect as Connect>::Session, second| {
            let ended = done(&mut session, async |s| s.execute(FIRST, &[Param::Integer(second)]).await.map(|_| ()));
            done(&mut session, async |s| s.rollback().await).unwrap();
            ended
        };
        let threads = [one, other].map(|(session, second)| scope.spawn(move || run(session, second)));
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let given_up: Vec<_> = ended.into_iter().filter_map(Result::err).collect();
    let [SessionError::Retryable { code, message }] = given_up.as_slice() else {
        panic!("one of the two is the victim: {given_up:?}")
    };
    assert_eq!((code.as_str(), given_up[0].to_string().lines().count()), (expected, 1));
    message.clone()
}

/// The text is longer than a socket takes at once, in both directions.
pub fn a_long_text_arrives_whole<E: Engine>(ground: &Ground<E>) {
    ground.script(&format!("CREATE TABLE wide (words {})", E::LONG_TEXT));
    let mut session =
        ground.session(&[("insert", "INSERT INTO wide VALUES ($1)"), ("select", "SELECT words, words FROM wide")]);
    let words: String = (0..400_000).map(|number: u32| char::from(b'a' + (number % 23) as u8)).collect();
    done(&mut session, async |s| {
        s.execute(FIRST, &[Param::Text(&words)]).await?;
        let found = s.execute(SECOND, &[]).await?;
        assert!(found.text(0, 0)? == words && found.text(0, 1)? == words);
        Ok(())
    })
    .unwrap();
}

pub fn an_abandoned_answer_is_not_taken_for_the_next<E: Engine>(ground: &Ground<E>) {
    ground.script("CREATE TABLE abandoned (id BIGINT PRIMARY KEY, words TEXT); INSERT INTO abandoned VALUES (1, 'no'), (2, 'yes')");
    let mut session = ground.session(&[
        ("select", "SELECT words FROM abandoned WHERE id = $1"),
        ("insert", "INSERT INTO abandoned VALUES ($1, 'left')"),
    ]);
    let in_process = session.descriptor().is_none();
    done(&mut session, async |s| s.begin(Access::ReadWrite).await).unwrap();
    for (statement, id) in [(FIRST, 1), (SECOND, 3), (SECOND, 4)] {
        let params = [Param::Integer(id)];
        let mut future = pin!(session.execute(statement, &params));
        let first_poll = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        // A request over a wire is never answered in the poll that sends it.
        assert_eq!(matches!(first_poll, Poll::Pending), !in_process);
    }
    done(&mut session, async |s| {
        s.rollback().await?;
        assert_eq!(s.execute(FIRST, &[Param::Integer(2)]).await?.text(0, 0)?, "yes");
        Ok(())
    })
    .unwrap();
    assert_eq!(ground.number("SELECT count(*) FROM abandoned"), 2);
}

pub fn a_statement_that_makes_no_sense_is_named_at_once<E: Engine>(ground: &Ground<E>) {
    let Err(error) = ground.try_session(&[("fine", "SELECT 1"), ("broken", "SELECT nothing FROM nowhere")]) else {
        panic!("a statement about a table that is not there was prepared");
    };
    assert!(matches!(error, SessionError::Refused { .. }), "{error:?}");
    assert!(error.to_string().contains("statement broken"), "{error}");
}

pub fn work_is_counted<E: Engine>(ground: &Ground<E>) {
    ground.script("CREATE TABLE worked (id BIGINT)");
    let mut session =
        ground.session(&[("insert", "INSERT INTO worked VALUES ($1), ($1)"), ("select", "SELECT id FROM worked")]);
    done(&mut session, async |s| {
        s.begin(Access::ReadWrite).await?;
        s.execute(FIRST, &[Param::Integer(4)]).await?;
        s.execute(SECOND, &[]).await?;
        s.commit().await
    })
    .unwrap();
    let work = session.work();
    assert_eq!((work.statements, work.rows_returned, work.rows_changed), (2, 2, 2));
    assert_eq!(work.round_trips, if session.descriptor().is_none() { 0 } else { 4 });
}
