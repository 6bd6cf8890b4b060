//! Promises about MariaDB's server: what it reports, what survives, who may log in, and how its end is noticed.

use crate::ground::{Ground, LIMIT, Mariadb, done, start, try_start};
use crate::lifecycle::as_visitor;
use engines::admin::CountersOf;
use engines::catalog;
use engines::limit::ReplyLimit;
use engines::port::HeldPort;
use engines::remote::Remote;
use engines::rows::RowSink;
use engines::secret::Secret;
use engines::server::{Endpoint, ServerError, ServerPlace};
use engines::session::{Param, Session, SessionError};
use engines::statement::StatementId;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Instant;

#[test]
fn it_says_what_is_in_force() {
    let settings = r#"{
        "isolation": "serializable", "innodb_buffer_pool_size": "48MiB", "innodb_flush_log_at_trx_commit": 2,
        "innodb_lock_wait_timeout": "7s"
    }"#;
    let Some(ground) = Ground::<Mariadb>::new(settings) else { return };
    let report = ground.server.borrow().report().clone();
    assert!(report.version.starts_with("MariaDB "), "{}", report.version);
    let expected = [
        ("tx_isolation", "SERIALIZABLE"),
        ("innodb_buffer_pool_size", "50331648"),
        ("innodb_log_file_size", "100663296"),
        ("innodb_flush_log_at_trx_commit", "2"),
        ("innodb_lock_wait_timeout", "7"),
        ("innodb_flush_method", "O_DIRECT"),
        ("innodb_doublewrite", "ON"),
        ("innodb_snapshot_isolation", "OFF"),
        ("collation_server", "utf8mb4_bin"),
        ("log_bin", "OFF"),
        ("skip_networking", "ON"),
    ];
    for (name, value) in expected {
        assert_eq!(report.effective[name], value, "{name}");
    }
    let counters = ground.counters();
    for name in [
        "com_commit",
        "handler_write",
        "innodb_buffer_pool_read_requests",
        "innodb_data_fsyncs",
        "innodb_data_written",
        "innodb_lsn_current",
        "innodb_os_log_written",
        "innodb_row_lock_waits",
        "database_bytes",
    ] {
        assert!(counters.contains_key(name), "{name} is missing from {counters:?}");
    }
}

/// The mode of a server is that of its sessions.
#[test]
fn rows_arrive_as_they_were_made_in_every_sql_mode() {
    let Some(ground) = Ground::<Mariadb>::new("{}") else { return };
    for (number, mode) in
        ["NO_BACKSLASH_ESCAPES", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES", "ORACLE", "ANSI", ""]
            .into_iter()
            .enumerate()
    {
        ground.script(&format!(
            "SET GLOBAL sql_mode = '{mode}'; CREATE TABLE mode_{number} (id BIGINT, words TEXT, more INTEGER);"
        ));
        let mut left = 2;
        let mut fill = |sink: &mut dyn RowSink| {
            left -= 1;
            sink.integer(left);
            match left {
                1 => sink.text("back\\N\ttab"),
                _ => sink.null(),
            }
            sink.null();
            sink.end_row();
            left > 0
        };
        let mut admin = ground.admin();
        assert_eq!(admin.load(&format!("mode_{number}"), &["id", "words", "more"], &mut fill).unwrap(), 2, "{mode}");
        let mut found = Vec::new();
        let sql = format!("SELECT words, more IS NULL FROM mode_{number} ORDER BY id");
        let seen = admin.scan(&sql, &mut |rows, row| {
            let words =
                if let Param::Text(words) = rows.value(row, 0).unwrap() { Some(words.to_owned()) } else { None };
            found.push((words, rows.integer(row, 1).unwrap()));
        });
        seen.unwrap();
        assert_eq!(found, [(None, 1), (Some("back\\N\ttab".to_owned()), 1)], "{mode}");
    }
}

#[test]
fn it_counts_what_sessions_did() {
    let Some(ground) = Ground::<Mariadb>::new("{}") else { return };
    ground.script("CREATE TABLE counted (id BIGINT PRIMARY KEY)");
    let before = ground.counters();
    let mut session = ground.session(&[("insert", "INSERT INTO counted VALUES ($1)")]);
    for id in 0..10 {
        done(&mut session, async |s| s.execute(StatementId(0), &[Param::Integer(id)]).await.map(|_| ())).unwrap();
    }
    let after = ground.counters();
    let grown = |name: &str| after[name] - before[name];
    assert_eq!((grown("com_insert"), grown("com_stmt_execute") >= 10), (10, true));
    assert!(grown("innodb_os_log_written") > 0, "{after:?}");
}

#[test]
fn a_plain_login_may_read_what_it_counts_but_for_the_size_of_files() {
    let Some(ground) = Ground::<Mariadb>::new("{}") else { return };
    let Endpoint::Mysql(Remote { database, .. }) = &ground.endpoint else { panic!("{:?}", ground.endpoint) };
    ground.script("CREATE USER visitor@localhost");
    ground.script(&format!("GRANT ALL PRIVILEGES ON {database}.* TO visitor@localhost"));
    let counters = catalog::admin(&as_visitor(&ground.endpoint))
        .unwrap()
        .counters(CountersOf::DatabaseAndServer, ReplyLimit::QUESTION)
        .unwrap();
    let mut all = ground.counters();
    all.remove("database_bytes");
    assert!(counters.keys().eq(all.keys()), "{counters:?}");
}

#[test]
fn it_listens_for_those_who_know_the_password() {
    let held = HeldPort::of_loopback().unwrap();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, held.number()));
    let Some(ground) = Ground::<Mariadb>::listening("{}", Some(address)) else { return };
    // It would answer here too if it listened on all addresses.
    let elsewhere = TcpStream::connect((Ipv4Addr::new(127, 0, 0, 2), held.number())).unwrap_err();
    assert_eq!(elsewhere.kind(), std::io::ErrorKind::ConnectionRefused);
    let outside = ground.endpoint.clone().reached_at(address);
    for endpoint in [&ground.endpoint, &outside] {
        let mut found = 0;
        let mut admin = catalog::admin(endpoint).unwrap();
        admin.scan("SELECT 41 + 1", &mut |rows, row| found = rows.integer(row, 0).unwrap()).unwrap();
        assert_eq!(found, 42);
    }
    let Endpoint::Mysql(outside) = outside else { panic!("{outside:?}") };
    let without = Remote { password: None, ..outside.clone() };
    let guess = Remote { password: Some(Secret::new("guess")), ..outside.clone() };
    let root = Remote { user: "root".to_owned(), password: None, ..outside };
    for wrong in [without, guess, root].map(Endpoint::Mysql) {
        let Err(error) = catalog::admin(&wrong) else { panic!("let in with {wrong:?}") };
        assert!(matches!(error, SessionError::Refused { .. }), "{error:?}");
    }
}

/// The server's process id, from its own file.
fn server_process(place: &ServerPlace) -> Pid {
    let file = fs::read_to_string(place.data.join("mariadb/mariadb.pid")).unwrap();
    Pid::from_raw(file.trim().parse().unwrap()).unwrap()
}

#[test]
fn a_killed_server_is_noticed_and_recovers() {
    let Some(ground) = Ground::<Mariadb>::new("{}") else { return };
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
    assert!(noticed.contains("signal: 9") && noticed.contains("ready for connections"), "{noticed}");
    let lost = done(&mut session, async |s| s.execute(StatementId(0), &[]).await.map(|_| ())).unwrap_err();
    assert!(matches!(lost, SessionError::Lost(_)), "{lost:?}");
    drop(server);

    let server = start::<Mariadb>("{}", &ground.place);
    let mut kept = 0;
    let mut admin = catalog::admin(&server.report().endpoint).unwrap();
    admin.scan("SELECT count(*) FROM survivor", &mut |rows, row| kept = rows.integer(row, 0).unwrap()).unwrap();
    assert_eq!(kept, 1);
    server.stop().unwrap();
}

#[test]
fn a_server_that_cannot_start_shows_its_log() {
    let Some(ground) = Ground::<Mariadb>::new("{}") else { return };
    ground.server.into_inner().stop().unwrap();
    fs::write(ground.place.data.join("mariadb/ibdata1"), "not a tablespace").unwrap();
    let Err(error) = try_start::<Mariadb>("{}", &ground.place) else { panic!("it started from what is no data") };
    assert!(matches!(error, ServerError::Failed { .. }), "{error}");
    assert!(error.to_string().contains("ibdata1"), "{error}");
}

#[test]
fn a_database_left_half_made_is_made_anew() {
    let Some(ground) = Ground::<Mariadb>::new("{}") else { return };
    ground.server.into_inner().stop().unwrap();
    let data = &ground.place.data;
    fs::rename(data.join("mariadb"), data.join("mariadb.unfinished")).unwrap();
    let server = start::<Mariadb>("{}", &ground.place);
    assert!(server.report().version.starts_with("MariaDB "));
    server.stop().unwrap();
    assert!(!data.join("mariadb.unfinished").exists());
}

/// A statement of two parts changes and returns rows. If the first finds nothing, the second is not executed.
#[test]
fn the_second_part_runs_only_after_a_first_that_found_something() {
    let Some(ground) = Ground::<Mariadb>::new("{}") else { return };
    ground.script("CREATE TABLE queue (id BIGINT PRIMARY KEY); INSERT INTO queue VALUES (4), (5)");
    let take = "SELECT id FROM queue WHERE id >= $1 ORDER BY id LIMIT 1 FOR UPDATE; \
        DELETE FROM queue WHERE id >= $1 ORDER BY id LIMIT 1";
    let mut session = ground.session(&[("take", take)]);
    let mut take = |from| {
        let taken = done(&mut session, async |s| {
            let found = s.execute(StatementId(0), &[Param::Integer(from)]).await?;
            Ok((found.value(0, 0).map(|id| format!("{id:?}")), found.changed()))
        });
        (taken.unwrap(), session.work().statements)
    };
    assert_eq!(take(5), ((Some("Integer(5)".to_owned()), 1), 2));
    assert_eq!(take(5), ((None, 0), 3));
    assert_eq!(ground.number("SELECT count(*) FROM queue"), 1);
    let Err(error) = ground.try_session(&[("both", "SELECT 1; SELECT 2")]) else { panic!("two parts with rows") };
    assert!(error.to_string().contains("only one of its parts"), "{error}");
}

#[test]
fn a_server_that_is_full_says_so() {
    let Some(ground) = Ground::<Mariadb>::new(r#"{ "max_connections": 10 }"#) else { return };
    let mut sessions = Vec::new();
    let full = loop {
        match ground.try_session(&[("select", "SELECT 1")]) {
            Ok(session) => sessions.push(session),
            Err(error) => break error,
        }
        assert!(sessions.len() < 20, "more sessions than the server was told to allow");
    };
    assert!(matches!(&full, SessionError::Refused { code, .. } if code == "1040"), "{full:?}");
}
