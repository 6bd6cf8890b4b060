//! Promises about the waits of sessions, as another session sees them.

use crate::ground::{Engine, Ground, LIMIT, Mariadb, Postgres, Sqlite, done};
use engines::session::{Access, Connect, Session};
use engines::statement::StatementId;
use engines::waits::question;
use std::sync::mpsc::RecvTimeoutError::Timeout;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// `InnoDB` reports row waits from a copy, which it renews only if nobody has read it for 100 ms.
const BETWEEN: Duration = Duration::from_millis(125);

/// Class, event and number of sessions.
type Seen = Vec<(String, String, i64)>;

fn seen<S: Session>(asker: &mut S) -> Seen {
    done(asker, async |s| {
        let found = s.execute(StatementId(0), &[]).await?;
        let row = |row| Ok((found.text(row, 0)?.to_owned(), found.text(row, 1)?.to_owned(), found.integer(row, 2)?));
        (0..found.rows()).map(row).collect()
    })
    .unwrap()
}

/// Runs `statement` and asks until its wait is the only one seen; `end` then ends the statement.
fn seen_during<E: Engine>(ground: &Ground<E>, statement: &str, expected: (&str, &str), end: impl FnOnce()) {
    let question = question(&ground.endpoint).unwrap();
    let mut asker = E::connect(&ground.endpoint, vec![question.statement]).connect().unwrap();
    let endpoint = ground.endpoint.clone();
    let statement = engines::statement::Statement { name: "waits", sql: statement.to_owned() };
    let (goes_on, ended) = channel::<()>();
    thread::scope(|scope| {
        let waiting = scope.spawn(move || {
            // Dropped once the statement has ended.
            let _goes_on = goes_on;
            let mut session = E::connect(&endpoint, vec![statement]).connect().unwrap();
            done(&mut session, async |s| s.execute(StatementId(0), &[]).await.map(|_| ())).unwrap();
        });
        let expected = vec![(expected.0.to_owned(), expected.1.to_owned(), 1)];
        let deadline = Instant::now() + LIMIT;
        let mut last = Seen::new();
        while last != expected && Instant::now() < deadline && ended.recv_timeout(BETWEEN) == Err(Timeout) {
            last = seen(&mut asker);
        }
        end();
        waiting.join().unwrap();
        assert_eq!(last, expected, "neither the session that asks nor one that is idle is seen");
    });
    // The copy of the last answer may still be valid, so this waits until it is not.
    let (_kept, never) = channel::<()>();
    assert_eq!(never.recv_timeout(BETWEEN), Err(Timeout));
    assert_eq!(seen(&mut asker), [], "nobody else is at work");
}

fn a_session_that_waits_is_seen<E: Engine>(
    settings: &str,
    source: &str,
    sleep: &str,
    row: &str,
    sleeping: (&str, &str),
) {
    let Some(ground) = Ground::<E>::new(settings) else { return };
    let told = question(&ground.endpoint).unwrap().source;
    assert!(told.starts_with(source), "{told}");
    ground.script("CREATE TABLE held (id BIGINT PRIMARY KEY, amount BIGINT); INSERT INTO held VALUES (1, 0)");
    let add = "UPDATE held SET amount = amount + 1 WHERE id = 1";
    let mut holder = ground.session(&[("add", add)]);
    done(&mut holder, async |s| {
        s.begin(Access::ReadWrite).await?;
        s.execute(StatementId(0), &[]).await.map(|_| ())
    })
    .unwrap();
    seen_during(&ground, add, ("Lock", row), || done(&mut holder, async |s| s.commit().await).unwrap());
    seen_during(&ground, sleep, sleeping, || ());
    assert_eq!(ground.number("SELECT amount FROM held"), 2);
}

#[test]
fn postgres_tells_what_a_session_waits_for() {
    let settings = r#"{ "shared_buffers": "32MiB" }"#;
    let sleep = "SELECT pg_sleep(1)::text";
    a_session_that_waits_is_seen::<Postgres>(
        settings,
        "pg_stat_activity",
        sleep,
        "transactionid",
        ("Timeout", "PgSleep"),
    );
}

#[test]
fn mariadb_tells_what_a_session_waits_for_or_does() {
    let (sleep, row) = ("SELECT SLEEP(1)", "row");
    let waits = r#"{ "innodb_buffer_pool_size": "32MiB", "performance_schema": true }"#;
    let slept = ("synch/cond", "sql/Item_func_sleep::cond");
    a_session_that_waits_is_seen::<Mariadb>(waits, "performance_schema.events", sleep, row, slept);
    let states = r#"{ "innodb_buffer_pool_size": "32MiB" }"#;
    let because = "information_schema.processlist, because performance_schema is off";
    a_session_that_waits_is_seen::<Mariadb>(states, because, sleep, row, ("State", "User sleep"));
}

#[test]
fn sqlite_says_why_it_cannot() {
    let Some(ground) = Ground::<Sqlite>::new(Sqlite::SETTINGS) else { return };
    assert!(question(&ground.endpoint).unwrap_err().contains("has no server"));
}
