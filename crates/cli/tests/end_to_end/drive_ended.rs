//! A drive that is asked to end: it reports what it has measured.

use crate::drive::{Database, SMALL, drive, succeeded};
use crate::setting::text;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn an_interrupt_ends_the_run_and_reports_it() {
    ends_with_a_report(&[Signal::INT], None);
}

#[test]
fn a_terminal_that_closes_ends_the_run_unless_it_is_to_go_on() {
    ends_with_a_report(&[Signal::HUP], None);
    ends_with_a_report(&[Signal::HUP, Signal::INT], Some("nohup"));
}

/// Each signal is sent when an interval was shown. Only the last one ends the run.
fn ends_with_a_report(signals: &[Signal], by: Option<&str>) {
    let folder = tempfile::tempdir().unwrap();
    succeeded(&drive(folder.path(), "sqlite:shop.db", &["--steps", "load"]));
    let arguments = [&["drive", "sysbench-oltp", "sqlite:shop.db", "--time", "10m", "--json"], &SMALL[..]].concat();
    let mut command = Command::new("env");
    command.args(by).arg(env!("CARGO_BIN_EXE_bakeoff")).args(&arguments).current_dir(folder.path());
    command.env("BAKEOFF_QUEUE", folder.path().file_name().expect("a temporary folder's name"));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let is_interval = |line: &String| line.contains("\"interval\"");
    for signal in signals {
        assert!(lines.any(|line| is_interval(&line)), "no interval was shown");
        kill_process(Pid::from_child(&child), *signal).unwrap();
    }
    let last = lines.last().expect("a result");
    let output = child.wait_with_output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains("stopping after what is under way") && told.contains("TPS"), "{told}");
    let result: Value = serde_json::from_str(&last).unwrap();
    assert_eq!((result["event"].as_str(), result["stopped"].as_bool()), (Some("result"), Some(true)));
}

const SLOW_ON_POSTGRES: &str = "CREATE TABLE slow AS SELECT 1 AS one FROM pg_sleep(600);\n";
const BUSY_POSTGRES: &str = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND pid <> pg_backend_pid() AND state = 'active'";

/// An index of a large table takes hours, and holds a lock.
#[test]
fn a_server_ends_the_statement_of_a_load_that_was_killed() {
    let Some(database) = Database::new("{}") else { return };
    assert_eq!(ended_in_a_load(&database, SLOW_ON_POSTGRES, BUSY_POSTGRES, Signal::KILL), None);
}

/// MariaDB does not notice that a client is gone.
#[test]
fn a_user_who_stops_a_load_stops_its_statement() {
    let Some(database) = Database::mariadb("{}") else { return };
    let slow = "CREATE TABLE slow AS SELECT SLEEP(600) AS one;\n";
    let busy =
        "SELECT count(*) FROM information_schema.processlist WHERE info LIKE '%SLEEP(600)%' AND id <> CONNECTION_ID()";
    assert_eq!(ended_in_a_load(&database, slow, busy, Signal::INT), Some(130));
    let Some(database) = Database::new("{}") else { return };
    assert_eq!(ended_in_a_load(&database, SLOW_ON_POSTGRES, BUSY_POSTGRES, Signal::INT), Some(130));
}

/// The exit code of a load that gets this signal while the server works on its statement, once the server does not any more.
fn ended_in_a_load(database: &Database, slow: &str, busy: &str, signal: Signal) -> Option<i32> {
    let write = |name: &str, sql: &str| std::fs::write(database.folder.path().join(name), sql).unwrap();
    write("look.sql", "SELECT 1;\n");
    write("slow.sql", slow);
    let url = database.url("");
    let arguments = ["drive", "file", &url, "-f", "look.sql", "--setup-file", "slow.sql", "--steps", "load"];
    let child = database.bakeoff(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut admin = engines::catalog::admin(&database.server.report().endpoint).unwrap();
    let mut until = |wanted: i64| {
        let begun = Instant::now();
        let mut found = -1;
        while found != wanted {
            assert!(begun.elapsed() < Duration::from_mins(1), "{found} statements go on");
            admin.scan(busy, &mut |rows, row| found = rows.integer(row, 0).unwrap()).unwrap();
        }
    };
    until(1);
    kill_process(Pid::from_child(&child), signal).unwrap();
    let output = child.wait_with_output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(told.contains("stopping the server's work on the tables"), signal == Signal::INT, "{told}");
    until(0);
    output.status.code()
}
