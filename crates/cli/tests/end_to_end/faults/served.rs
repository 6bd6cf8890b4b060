//! A server that hangs, restarts, refuses or forgets while `bakeoff drive` drives it.

use super::Stopped;
use crate::drive::Database;
use crate::running::{Running, below, command_line};
use crate::setting::text;
use rustix::process::Signal;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const SHOP: [&str; 2] = ["--set", "db_size=1MB"];

/// A PostgreSQL server with the tables of dvd-store.
fn loaded() -> Option<Database> {
    let database = Database::new("{}")?;
    let url = database.url("?sslmode=disable");
    Some(with_shop(database, &url))
}

fn with_shop(database: Database, url: &str) -> Database {
    let arguments = [&["drive", "dvd-store", url], &SHOP[..], &["--steps", "load"]].concat();
    let output = database.bakeoff(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    database
}

/// Four clients that do as much as they can.
const AT_FULL_SPEED: [&str; 2] = ["--clients", "4"];
/// As many sessions, which wait most of the time.
const PACED: [&str; 4] = ["--arrivals", "100/s", "--sessions", "4"];

/// Drives for three seconds, with further arguments.
fn begun(load: &[&str], database: &Database, url: &str, more: &[&str]) -> Running {
    begun_for("3s", load, database, url, more)
}

fn begun_for(time: &str, load: &[&str], database: &Database, url: &str, more: &[&str]) -> Running {
    let window = ["--warmup", "0s", "--time", time, "--record", "kept"];
    let words = [&["drive", "dvd-store", url], &SHOP[..], load, &window, more].concat();
    let mut running = Running::of(database.bakeoff(&words));
    running.until(" 1 s ");
    running
}

/// The result in the run's folder.
fn result(database: &Database) -> Value {
    let kept = std::fs::read(database.folder.path().join("kept/result.json")).expect("the run's result is kept");
    serde_json::from_slice(&kept).unwrap()
}

#[test]
fn a_server_that_hangs_is_no_result() {
    let Some(database) = loaded() else { return };
    let running = begun_for("6s", &AT_FULL_SPEED, &database, &database.url("?sslmode=disable"), &[]);
    let server = database.server.process();
    let frozen = Stopped::all([vec![server], below(server)].concat());
    let (code, told) = running.end();
    drop(frozen);
    assert_eq!(code, Some(4), "{told}");
    assert!(
        told.contains("invalid: the database hung: 4 transactions never ended, the oldest had waited for"),
        "{told}"
    );
    assert!(told.contains("nothing was done for"), "{told}");
    let numbers_at = told.find("mean ms").expect("a table");
    assert!(told.find("invalid:").is_some_and(|at| at < numbers_at), "above the numbers: {told}");
    let result = result(&database);
    let slowest =
        result["latency"].as_object().unwrap().values().filter_map(|kind| kind["response"]["max_us"].as_u64());
    assert!(slowest.max() > Some(10_000_000), "their time so far is in the percentiles: {result}");
}

#[test]
fn a_backend_that_hangs_is_no_result() {
    let Some(database) = loaded() else { return };
    // On a busy host, this process finds a busy backend late.
    let running = begun_for("8s", &AT_FULL_SPEED, &database, &database.url("?sslmode=disable"), &[]);
    let frozen = Stopped::all(vec![busy_backend(&database)]);
    let (code, told) = running.end();
    drop(frozen);
    assert_eq!(code, Some(4), "{told}");
    // On a busy host, the load generator that stood still is the graver reason.
    let reasons = ["invalid: the database hung: ", "invalid: the load generator stood still"];
    assert!(reasons.iter().any(|reason| told.contains(reason)) && told.contains(" never ended"), "{told}");
}

/// What blocks the clients would block the checks, too, and for hours.
#[test]
fn a_database_that_hangs_is_not_checked() {
    let Some(database) = loaded() else { return };
    let running = begun(&AT_FULL_SPEED, &database, &database.url("?sslmode=disable"), &["--steps", "run,check"]);
    let mut admin = engines::catalog::admin(&database.server.report().endpoint).unwrap();
    admin.script("BEGIN; LOCK TABLE customers").unwrap();
    let (code, told) = running.end();
    drop(admin);
    assert_eq!(code, Some(4), "{told}");
    assert!(told.contains("invalid: the database hung: 4 transactions never ended"), "{told}");
    assert!(told.contains("not checked: the database hung: 4 transactions") && told.contains("0 violated"), "{told}");
}

/// A backend in a transaction. The end of its command line says what it is doing.
fn busy_backend(database: &Database) -> u32 {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let is_busy = |process: &u32| {
            let words = command_line(*process);
            words.starts_with("postgres: ") && words.contains("127.0.0.1") && !words.contains(") idle\0")
        };
        let busy = below(database.server.process()).into_iter().find(|process| is_busy(process));
        if let Some(process) = busy {
            return process;
        }
        assert!(Instant::now() < deadline, "no backend is busy");
    }
}

/// PostgreSQL ends all sessions and recovers when one of its processes is killed.
#[test]
fn a_server_that_restarts_costs_its_time_and_not_the_result() {
    let Some(database) = loaded() else { return };
    // How long recovery takes depends on what else this host does.
    let running = begun_for("10s", &PACED, &database, &database.url("?sslmode=disable"), &[]);
    crate::running::send(busy_backend(&database), Signal::KILL);
    let (code, told) = running.end();
    assert_eq!(code, Some(4), "{told}");
    assert!(told.contains("sessions lost: 4, opened again: 4") && told.contains(" OPM "), "{told}");
    // If this host is busy, the load generator may have got no CPU for a while, too.
    let reasons = ["invalid: 4 sessions were lost, and 4 opened again", "invalid: the load generator stood still"];
    assert!(reasons.iter().any(|reason| told.contains(reason)), "{told}");
    let result = result(&database);
    assert!(result["throughput"].as_f64() > Some(0.0), "{result}");
    assert_eq!((&result["driver"]["losses"]["lost"], &result["driver"]["measured_ms"]), (&4.into(), &10_000.into()));
    let log = std::fs::read(database.folder.path().join("kept/trials/0001/intervals.hlog")).unwrap();
    assert_eq!(record::hlog::read(&log[..]).unwrap().intervals.len(), 10, "every second is there");
}

#[test]
fn a_server_whose_settings_are_changed_meanwhile_is_no_result() {
    let Some(database) = loaded() else { return };
    let changes = ["ALTER SYSTEM SET commit_delay = 100", "SELECT pg_reload_conf()"];
    changed_meanwhile(&database, &database.url("?sslmode=disable"), &changes, "commit_delay from 0 to 100");
    let Some(database) = Database::mariadb("{}") else { return };
    let url = database.url("");
    let database = with_shop(database, &url);
    let changes = ["SET GLOBAL innodb_flush_log_at_trx_commit = 2"];
    changed_meanwhile(&database, &url, &changes, "innodb_flush_log_at_trx_commit from 1 to 2");
}

fn changed_meanwhile(database: &Database, url: &str, changes: &[&str], named: &str) {
    let running = begun(&PACED, database, url, &[]);
    let mut admin = engines::catalog::admin(&database.server.report().endpoint).unwrap();
    for change in changes {
        admin.script(change).unwrap();
    }
    let (code, told) = running.end();
    assert_eq!(code, Some(4), "{told}");
    let why = format!("invalid: the server's settings were changed during the trial: {named}");
    assert!(told.contains(&why) && told.contains("about to open 4 sessions"), "{told}");
}

#[test]
fn a_workload_of_which_half_is_refused_has_a_code_of_its_own() {
    let Some(database) = loaded() else { return };
    let mut admin = engines::catalog::admin(&database.server.report().endpoint).unwrap();
    let refuse = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
                  $$ BEGIN IF random() < 0.5 THEN RAISE EXCEPTION 'not today'; END IF; RETURN NEW; END $$";
    admin.script(refuse).unwrap();
    admin.script("CREATE TRIGGER refuse BEFORE INSERT ON orderlines FOR EACH ROW EXECUTE FUNCTION refuse()").unwrap();
    let (code, told) = begun(&PACED, &database, &database.url("?sslmode=disable"), &[]).end();
    assert_eq!(code, Some(9), "{told}");
    assert!(told.contains("transactions of kind order failed") && told.contains("not today"), "{told}");
    assert_eq!(result(&database)["exit"], 9);
}

/// One of ten commits becomes a rollback on its way, but the client is told that it was committed.
#[test]
fn commits_that_are_dropped_in_secret_are_found() {
    let Some(database) = loaded() else { return };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (server, commits) = (database.port, Arc::new(AtomicU32::new(0)));
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let (server, commits) = (TcpStream::connect((Ipv4Addr::LOCALHOST, server)).unwrap(), Arc::clone(&commits));
            for stream in [&client, &server] {
                stream.set_nodelay(true).unwrap();
            }
            let (answers, asker) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            let dropped = Arc::new(AtomicU32::new(0));
            let lies = Arc::clone(&dropped);
            thread::spawn(move || pretending(answers, asker, &lies));
            thread::spawn(move || forgetful(client, server, &commits, &dropped));
        }
    });
    let url = database.url("?sslmode=disable").replace(&format!(":{}/", database.port), &format!(":{port}/"));
    let (code, told) = begun(&PACED, &database, &url, &["--steps", "run,check"]).end();
    assert_eq!(code, Some(6), "{told}");
    assert!(told.contains("VIOLATED"), "{told}");
}

/// Passes on what a client sends, but turns some commits into rollbacks.
fn forgetful(mut client: TcpStream, mut server: TcpStream, commits: &AtomicU32, dropped: &AtomicU32) -> Option<()> {
    let mut length = [0; 4];
    // The first message has no tag.
    client.read_exact(&mut length).ok()?;
    let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
    client.read_exact(&mut body).ok()?;
    server.write_all(&[&length[..], &body].concat()).ok()?;
    while let Some((head, mut body)) = message(&mut client) {
        // An unnamed portal, and the third and fourth statements that a session prepares: COMMIT and ROLLBACK.
        let is_commit = head[0] == b'B' && body.starts_with(b"\0s2\0");
        if is_commit && commits.fetch_add(1, Ordering::Relaxed) % 10 == 9 {
            body[2] = b'3';
            dropped.fetch_add(1, Ordering::Relaxed);
        }
        server.write_all(&[&head[..], &body].concat()).ok()?;
    }
    server.shutdown(Shutdown::Both).ok()
}

/// Passes on what the server answers, but reports a commit where it was made to roll back.
fn pretending(mut server: TcpStream, mut client: TcpStream, dropped: &AtomicU32) -> Option<()> {
    while let Some((mut head, mut body)) = message(&mut server) {
        if head[0] == b'C' && body == b"ROLLBACK\0" && dropped.swap(0, Ordering::Relaxed) > 0 {
            body = b"COMMIT\0".to_vec();
            head[4] = 4 + 7;
        }
        client.write_all(&[&head[..], &body].concat()).ok()?;
    }
    client.shutdown(Shutdown::Both).ok()
}

/// A message with its tag and length.
fn message(from: &mut TcpStream) -> Option<([u8; 5], Vec<u8>)> {
    let mut head = [0; 5];
    from.read_exact(&mut head).ok()?;
    let mut body = vec![0; u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize - 4];
    from.read_exact(&mut body).ok()?;
    Some((head, body))
}
