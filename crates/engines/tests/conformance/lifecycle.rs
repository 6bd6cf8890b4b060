//! Promises about servers: what they report, what survives, and how their end is noticed.

use crate::ground::{Engine, Ground, LIMIT, Postgres, SHAPE, Sqlite, done, start, try_start};
use engines::admin::CountersOf;
use engines::catalog;
use engines::limit::ReplyLimit;
use engines::port::HeldPort;
use engines::remote::Remote;
use engines::reused_admin::ReusedAdmin;
use engines::secret::Secret;
use engines::server::{Endpoint, ServerError, ServerPlace};
use engines::session::{Access, Param, Session, SessionError};
use engines::statement::StatementId;
use engines::version::ServerVersion;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, Permissions};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

pub fn a_restart_keeps_data<E: Engine>() {
    let Some(ground) = Ground::<E>::new("{}") else { return };
    ground.script("CREATE TABLE kept (id BIGINT); INSERT INTO kept VALUES (1), (2)");
    let before = ground.counters();
    ground.server.borrow_mut().alive().unwrap();
    let ground = ground.restart(E::SETTINGS);
    assert_eq!(ground.number("SELECT count(*) FROM kept"), 2);
    let after = ground.counters();
    assert!(before.keys().eq(after.keys()), "{before:?} {after:?}");
}

/// A further database has what the first one has if the server copies databases, and from then on each has its own.
pub fn a_server_has_further_databases<E: Engine>(copies: bool) {
    let Some(ground) = Ground::<E>::new(E::SETTINGS) else { return };
    ground.script("CREATE TABLE kept (id BIGINT); INSERT INTO kept VALUES (1), (2)");
    let open = |ground: &Ground<E>| ground.server.borrow().open_database(2).unwrap();
    let further = open(&ground);
    assert_eq!(further.is_empty, !copies);
    let mut admin = catalog::admin(&further.report.endpoint).unwrap();
    assert_eq!(admin.has_table("kept").unwrap(), copies);
    admin.script("DROP TABLE IF EXISTS kept; CREATE TABLE own (id BIGINT)").unwrap();
    drop(admin);
    assert_eq!(ground.number("SELECT count(*) FROM kept"), 2);

    let ground = ground.restart(E::SETTINGS);
    let again = open(&ground);
    assert!(!again.is_empty, "it is there now");
    assert_eq!(again.report.effective, ground.server.borrow().report().effective);
    let mut admin = catalog::admin(&again.report.endpoint).unwrap();
    assert!(admin.has_table("own").unwrap() && !admin.has_table("kept").unwrap());

    let own = admin.counters(CountersOf::Database, ReplyLimit::QUESTION).unwrap();
    let counted = again.report.endpoint.in_shared_words(&own);
    assert!(
        counted.data_bytes.is_some() && counted.cache_bytes.is_none() && counted.log_bytes.is_none(),
        "{counted:?}"
    );
    let all = admin.counters(CountersOf::DatabaseAndServer, ReplyLimit::QUESTION).unwrap();
    assert!(own.keys().all(|name| all.contains_key(name)), "{own:?} {all:?}");
    ground.server.into_inner().stop().unwrap();
}

#[test]
fn sqlite_has_one_database() {
    let ground = Ground::<Sqlite>::new("{}").unwrap();
    let refused = ground.server.borrow().open_database(2).unwrap_err().to_string();
    assert!(refused.contains("SQLite has no server that could have several databases"), "{refused}");
}

#[test]
fn sqlite_says_what_is_in_force() {
    let ground = Ground::<Sqlite>::new(r#"{ "profile": "relaxed", "cache": "4MiB" }"#).unwrap();
    let report = ground.server.borrow().report().clone();
    assert!(report.version.starts_with("3."), "{}", report.version);
    for (name, value) in
        [("journal_mode", "wal"), ("synchronous", "1"), ("cache_size", "-4096"), ("busy_timeout", "10000")]
    {
        assert_eq!(report.effective[name], value, "{name}");
    }
    assert!(report.effective["compile_options"].contains("THREADSAFE"));
    assert_eq!(ground.counters()["page_count"], 1);
}

/// A server that starts again on the file takes it to the other way, also from a write-ahead log.
#[test]
fn sqlite_keeps_its_journal_as_it_is_told() {
    let mut ground = Ground::<Sqlite>::new("{}").unwrap();
    ground.script("CREATE TABLE kept (id BIGINT); INSERT INTO kept VALUES (1)");
    for mode in ["delete", "truncate", "persist", "wal"] {
        ground = ground.restart(&format!(r#"{{ "journal_mode": "{mode}" }}"#));
        assert_eq!(ground.server.borrow().report().effective["journal_mode"], mode);
        ground.script("INSERT INTO kept VALUES (2)");
        let journal = ground.folder.path().join("sqlite/bakeoff.db-journal");
        assert_eq!(journal.exists(), ["truncate", "persist"].contains(&mode), "{mode}");
    }
    assert_eq!(ground.number("SELECT count(*) FROM kept"), 5);
}

#[test]
fn sqlite_leaves_one_file_and_nothing_in_its_log() {
    let ground = Ground::<Sqlite>::new("{}").unwrap();
    ground.script("CREATE TABLE kept (id BIGINT); INSERT INTO kept VALUES (1)");
    ground.server.into_inner().stop().unwrap();
    let files: Vec<_> =
        fs::read_dir(ground.folder.path().join("sqlite")).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, ["bakeoff.db"]);
}

#[test]
fn sqlite_does_not_stop_under_an_open_transaction() {
    let ground = Ground::<Sqlite>::new(r#"{ "busy_timeout": "10ms" }"#).unwrap();
    ground.script("CREATE TABLE held (id BIGINT); INSERT INTO held VALUES (1)");
    let mut reader = ground.admin();
    reader.script("BEGIN; SELECT count(*) FROM held").unwrap();
    ground.script("INSERT INTO held VALUES (2)");
    let error = ground.server.into_inner().stop().unwrap_err();
    assert!(error.to_string().contains("still uses the file"), "{error}");
}

#[test]
fn sqlite_notices_that_its_file_is_gone() {
    let ground = Ground::<Sqlite>::new("{}").unwrap();
    fs::remove_file(ground.folder.path().join("sqlite/bakeoff.db")).unwrap();
    let error = ground.server.borrow_mut().alive().unwrap_err();
    assert!(matches!(error, ServerError::Io { .. }), "{error}");
}

#[test]
fn postgres_says_what_is_in_force() {
    let settings = r#"{ "isolation": "serializable", "shared_buffers": "48MiB", "synchronous_commit": "off", "checkpoint_timeout": "7m" }"#;
    let Some(ground) = Ground::<Postgres>::new(settings) else { return };
    let report = ground.server.borrow().report().clone();
    assert!(report.version.starts_with("PostgreSQL "), "{}", report.version);
    let expected = [
        ("default_transaction_isolation", "serializable"),
        ("shared_buffers", "48MB"),
        ("effective_cache_size", "384MB"),
        ("synchronous_commit", "off"),
        ("checkpoint_timeout", "7min"),
        ("fsync", "on"),
        ("full_page_writes", "on"),
        ("data_checksums", "off"),
        ("server_encoding", "UTF8"),
        ("listen_addresses", ""),
    ];
    for (name, value) in expected {
        assert_eq!(report.effective[name], value, "{name}");
    }
    let of_our_sessions = report.effective.keys().find(|name| *name == "client_connection_check_interval");
    assert_eq!(of_our_sessions, None, "it is not the server's");
    let counters = ground.counters();
    for name in [
        "xact_commit",
        "blks_read",
        "tup_inserted",
        "temp_bytes",
        "deadlocks",
        "wal_bytes",
        "wal_records",
        "database_bytes",
    ] {
        assert!(counters.contains_key(name), "{name} is missing from {counters:?}");
    }
}

/// Reads and writes of a run appear in the counters that all engines share.
pub fn counters_are_told_in_shared_words<E: Engine>() {
    let Some(ground) = Ground::<E>::new(E::SETTINGS) else { return };
    let look = || ground.endpoint.in_shared_words(&ground.counters());
    ground.script("CREATE TABLE counted (id BIGINT, filler TEXT)");
    let before = look();
    assert!(!before.meaning.is_empty());
    assert!(before.cache_bytes > Some(0) && before.data_bytes > Some(0), "{before:?}");
    let filler = "x".repeat(1000);
    ground
        .admin()
        .load("counted", &["id", "filler"], &mut |sink| {
            for id in 0..5_000 {
                sink.integer(id);
                sink.text(&filler);
                sink.end_row();
            }
            false
        })
        .unwrap();
    let after = look();
    assert!(after.data_bytes > before.data_bytes, "{before:?} {after:?}");
    assert!(after.reads >= before.reads && after.reads.is_some(), "{before:?} {after:?}");
    assert!(after.writes >= before.writes && after.writes.is_some(), "{before:?} {after:?}");
    assert!(after.log_bytes >= before.log_bytes, "{before:?} {after:?}");
}

#[test]
fn postgres_ends_a_kept_connection_and_is_counted_again() {
    let Some(ground) = Ground::<Postgres>::new("{}") else { return };
    let mut kept = ReusedAdmin::new(ground.endpoint.clone());
    kept.ask(|admin| admin.counters(CountersOf::DatabaseAndServer, ReplyLimit::QUESTION)).unwrap();
    let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
        WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
    ground.script(others);
    kept.ask(|admin| admin.counters(CountersOf::DatabaseAndServer, ReplyLimit::QUESTION)).unwrap();
}

/// The same server for another user. Sessions over the socket need no password.
pub fn as_visitor(endpoint: &Endpoint) -> Endpoint {
    let user = || "visitor".to_owned();
    match endpoint.clone() {
        Endpoint::Postgres(remote) => Endpoint::Postgres(Remote { user: user(), ..remote }),
        Endpoint::Mysql(remote) => Endpoint::Mysql(Remote { user: user(), ..remote }),
        other @ Endpoint::Sqlite(_) => other,
    }
}

#[test]
fn a_plain_login_may_read_what_postgres_counts() {
    let Some(ground) = Ground::<Postgres>::new("{}") else { return };
    ground.script("CREATE ROLE visitor LOGIN");
    let counters = catalog::admin(&as_visitor(&ground.endpoint))
        .unwrap()
        .counters(CountersOf::DatabaseAndServer, ReplyLimit::QUESTION)
        .unwrap();
    assert!(counters.keys().eq(ground.counters().keys()), "{counters:?}");
}

#[test]
fn postgres_counts_what_closed_sessions_did() {
    let Some(ground) = Ground::<Postgres>::new("{}") else { return };
    ground.script("CREATE TABLE counted (id BIGINT)");
    let before = ground.counters();
    ground
        .admin()
        .load("counted", &["id"], &mut |sink| {
            for id in 0..1000 {
                sink.integer(id);
                sink.end_row();
            }
            false
        })
        .unwrap();
    // The loading session is about to end; the server counts its work only after that.
    let deadline = Instant::now() + LIMIT;
    let grown = loop {
        let after = ground.counters();
        let inserted = after["tup_inserted"] - before["tup_inserted"];
        if inserted >= 1000 || Instant::now() > deadline {
            break (inserted, after["wal_position"] > before["wal_position"]);
        }
    };
    // The rows that the server's own catalog has of the new table may come as late.
    assert!((1000..1020).contains(&grown.0) && grown.1, "{grown:?}");
}

#[test]
fn postgres_listens_for_those_who_know_the_password() {
    let held = HeldPort::of_loopback().unwrap();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, held.number()));
    let Some(ground) = Ground::<Postgres>::listening("{}", Some(address)) else { return };
    // It would answer here too if it listened on all addresses.
    let elsewhere = TcpStream::connect((Ipv4Addr::new(127, 0, 0, 2), held.number())).unwrap_err();
    assert_eq!(elsewhere.kind(), std::io::ErrorKind::ConnectionRefused);
    let outside = ground.endpoint.clone().reached_at(address);
    let mut found = 0;
    let mut admin = catalog::admin(&outside).unwrap();
    admin.scan("SELECT 41 + 1", &mut |rows, row| found = rows.integer(row, 0).unwrap()).unwrap();
    assert_eq!(found, 42);
    let Endpoint::Postgres(outside) = outside else { panic!("{outside:?}") };
    for password in [None, Some(Secret::new("guess"))] {
        let wrong = Endpoint::Postgres(Remote { password, ..outside.clone() });
        let Err(error) = catalog::admin(&wrong) else { panic!("let in with {wrong:?}") };
        assert!(matches!(error, SessionError::Refused { .. }), "{error:?}");
    }
}

/// The server's process id, from its own file.
fn server_process(place: &ServerPlace) -> Pid {
    let file = fs::read_to_string(place.data.join("postgres/postmaster.pid")).unwrap();
    Pid::from_raw(file.lines().next().unwrap().parse().unwrap()).unwrap()
}

#[test]
fn a_killed_postgres_is_noticed_and_recovers() {
    let Some(ground) = Ground::<Postgres>::new("{}") else { return };
    ground.script("CREATE TABLE survivor (id BIGINT); INSERT INTO survivor VALUES (1)");
    let mut session = ground.session(&[("select", "SELECT count(*) FROM survivor")]);
    kill_process(server_process(&ground.place), Signal::KILL).unwrap();

    let deadline = Instant::now() + LIMIT;
    let mut server = ground.server.into_inner();
    let noticed = loop {
        match server.alive() {
            Err(error) => break error.to_string(),
            Ok(()) => assert!(Instant::now() < deadline, "the end of the server was not noticed"),
        }
    };
    assert!(noticed.contains("signal: 9") && noticed.contains("ready to accept connections"), "{noticed}");
    // A backend may answer once more before it notices.
    let lost = loop {
        match done(&mut session, async |s| s.execute(StatementId(0), &[]).await.map(|_| ())) {
            Err(error) => break error,
            Ok(()) => assert!(Instant::now() < deadline, "the session outlives its server"),
        }
    };
    assert!(matches!(lost, SessionError::Lost(_)), "{lost:?}");
    drop(server);

    let server = start::<Postgres>("{}", &ground.place);
    let mut kept = 0;
    let mut admin = catalog::admin(&server.report().endpoint).unwrap();
    admin.scan("SELECT count(*) FROM survivor", &mut |rows, row| kept = rows.integer(row, 0).unwrap()).unwrap();
    assert_eq!(kept, 1);
    server.stop().unwrap();
}

#[test]
fn a_session_learns_why_its_server_went() {
    let Some(ground) = Ground::<Postgres>::new("{}") else { return };
    let mut session = ground.session(&[("select", "SELECT 1")]);
    ground.server.into_inner().stop().unwrap();
    let lost = done(&mut session, async |s| s.execute(StatementId(0), &[]).await.map(|_| ())).unwrap_err();
    assert!(matches!(lost, SessionError::Lost(_)), "{lost:?}");
    assert!(lost.to_string().contains("57P01"), "{lost}");
}

#[test]
fn a_postgres_that_cannot_start_shows_its_log() {
    let Some(ground) = Ground::<Postgres>::new("{}") else { return };
    ground.server.into_inner().stop().unwrap();
    fs::write(ground.place.data.join("postgres/PG_VERSION"), "4\n").unwrap();
    let Err(error) = try_start::<Postgres>("{}", &ground.place) else {
        panic!("it started from another version's data")
    };
    assert!(matches!(error, ServerError::Failed { .. }), "{error}");
    assert!(error.to_string().contains("incompatible"), "{error}");
}

#[test]
fn a_database_left_half_made_is_made_anew() {
    let Some(ground) = Ground::<Postgres>::new("{}") else { return };
    ground.server.into_inner().stop().unwrap();
    fs::rename(ground.place.data.join("postgres"), ground.place.data.join("postgres.unfinished")).unwrap();
    let server = start::<Postgres>(r#"{ "data_checksums": true }"#, &ground.place);
    assert!(server.report().version.starts_with("PostgreSQL "));
    assert_eq!(server.report().effective["data_checksums"], "on");
    server.stop().unwrap();
    assert!(!ground.place.data.join("postgres.unfinished").exists());
}

#[test]
fn a_version_that_is_not_installed_is_refused_with_those_that_are() {
    let Some(ground) = Ground::<Postgres>::new("{}") else { return };
    let report = ground.server.borrow().report().clone();
    let here = ServerVersion::printed(&report.version).unwrap();
    let started = |version: String| {
        let table = serde_json::from_value(serde_json::json!({ "version": version })).unwrap();
        let folder = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
        let place = ServerPlace { data: folder.path().to_owned(), logs: folder.path().join("logs"), listen: None };
        catalog::start("postgres", &table, &place, &SHAPE).map(|server| server.report().version.clone())
    };
    assert_eq!(started(here.major().to_string()).unwrap(), report.version);
    let why = started("99".to_owned()).unwrap_err().to_string();
    assert!(why.starts_with("PostgreSQL 99 is not in this machine; there is "), "{why}");
    assert!(why.contains(&here.to_string()), "{why}");
}

#[test]
fn a_commit_after_a_failed_statement_is_an_error() {
    let Some(ground) = Ground::<Postgres>::new("{}") else { return };
    let mut session = ground.session(&[("divide", "SELECT 1 / $1::int")]);
    let committed = done(&mut session, async |s| {
        s.begin(Access::ReadWrite).await?;
        s.execute(StatementId(0), &[Param::Integer(0)]).await.map(|_| ()).unwrap_err();
        s.commit().await
    });
    let error = committed.unwrap_err();
    assert!(matches!(&error, SessionError::Refused { code, .. } if code == "25P02"), "{error:?}");
}

#[test]
fn an_engine_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let place = ServerPlace { data: folder.path().to_owned(), logs: folder.path().to_owned(), listen: None };
    let Err(error) = catalog::start("oracle", &serde_json::Map::new(), &place, &SHAPE) else { panic!("started") };
    assert!(error.to_string().contains("oracle"), "{error}");
}
