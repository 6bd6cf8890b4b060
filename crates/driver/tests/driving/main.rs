//! The driver with real databases: SQLite, PostgreSQL and MariaDB, for a second or two each.
//!
//! Tests of a server whose programs are missing skip and say so; with `REQUIRE=postgres,mariadb` set they fail.

// A test reports what it skips, and stops at what should not happen.
#![allow(clippy::print_stderr, clippy::unwrap_used)]

mod database;
#[path = "../../../engines/tests/conformance/made.rs"]
mod made;
mod made_up;
mod receipts;
mod scripts;

use database::{Database, database_or_skip, one_warehouse, small_house, small_shop, small_tables};
use driver::drive_endpoint;
use driver::error::DriveError;
use driver::plan::{Control, DrivePlan, Driven, LoadPhase, Pacing, PhaseLimit, SeenProgress};
use record::check::{CheckResult, Verdict};
use record::intervals::Span;
use std::ops::RangeInclusive;
use workloads::catalog::AnyWorkload;

fn plan(clients: u32, shards: u32, warmup_ms: u64, measure_ms: u64) -> DrivePlan {
    let plan = DrivePlan::timed(Pacing::Clients { clients }, warmup_ms, measure_ms, 20_261_121);
    DrivePlan { shards, retries: 10, ..plan }
}

fn drive(database: &Database, plan: &DrivePlan) -> Driven {
    drive_endpoint(&database.workload, database.endpoint(), plan, &Control::default(), &mut |_| ()).unwrap()
}

/// The intervals, the totals and the work must give the same number for the measured window.
fn totals_agree(driven: &Driven) {
    let facts = &driven.facts;
    for (index, totals) in facts.kinds.iter().enumerate() {
        for span in [Span::Response, Span::Service] {
            let of_kind = driven.latencies.iter().filter(|part| usize::from(part.kind) == index && part.span == span);
            let counted: u64 = of_kind.flat_map(|kind| &kind.counts).map(|(_, count)| u64::from(*count)).sum();
            assert_eq!(counted, totals.finished(), "{} {span:?}", totals.kind);
        }
    }
    let finished: u64 = facts.kinds.iter().filter(|kind| !kind.step).map(record::trial::KindTotals::finished).sum();
    assert_eq!(facts.work.transactions, finished);
    assert!(facts.work.statements > 2 * finished, "{:?}", facts.work);
    assert!(facts.kinds.iter().all(|kind| kind.finished() > 0), "every kind was executed: {:?}", facts.kinds);
    assert!(facts.kinds.iter().zip(&facts.whole_run).all(|(part, whole)| part.finished() <= whole.finished()));
}

/// The database holds exactly what was executed, and all its data checks pass.
fn database_agrees(database: &Database, before: &database::State, driven: &Driven) {
    let facts = &driven.facts;
    assert_eq!((facts.losses.lost, facts.unended.transactions), (0, 0), "{:?}", facts.errors);
    let findings = database.reconcile(before, &driven.facts.whole_run).into_iter().chain(database.check());
    let violated: Vec<_> = findings.filter(CheckResult::is_violated).collect();
    assert!(violated.is_empty(), "{violated:#?}");
}

#[test]
fn order_entry_on_sqlite() {
    let database = Database::of("sqlite", one_warehouse());
    let before = database.state();
    let driven = drive(&database, &plan(6, 2, 1_000, 2_000));
    totals_agree(&driven);
    database_agrees(&database, &before, &driven);
    assert_eq!((driven.facts.shards, driven.facts.sessions), (2, 2), "one session for each shard");
    assert!(driven.facts.in_process);
    assert_eq!((driven.facts.warmup_ms, driven.facts.measured_ms), (1_000, 2_000));
    assert_eq!(driven.facts.metric.counted, ["new-order"]);
    let deferred = driven.facts.deferred.unwrap();
    assert_eq!(deferred.queued, deferred.done, "{deferred:?}");
    assert!(driven.log.starts_with("kind\t"), "deliveries are logged");
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn order_entry_on_postgres() {
    // More are opened where background work is overdue, up to one for each client.
    driven_until_the_server_is_killed("postgres", one_warehouse(), 10..=16);
}

#[test]
fn dvd_store_on_mariadb() {
    driven_until_the_server_is_killed("mariadb", small_shop(), 8..=8);
}

fn driven_until_the_server_is_killed(engine: &str, workload: AnyWorkload, sessions: RangeInclusive<u32>) {
    let Some(database) = database_or_skip(engine, workload) else { return };
    let before = database.state();
    let driven = drive(&database, &plan(8, 2, 1_000, 2_000));
    totals_agree(&driven);
    database_agrees(&database, &before, &driven);
    assert_eq!(driven.facts.shards, 2);
    assert!(sessions.contains(&driven.facts.sessions), "eight clients: {}", driven.facts.sessions);
    assert!(driven.facts.testimony.cpu_ns > 0);

    stopping_keeps_what_was_measured(&database);
    // It has four clients instead of eight.
    a_server_that_is_killed_ends_the_driving(database, *sessions.start() - 4);
}

/// Customers of two threads order, and markets that live on both answer them. They end by count: a market sends its prices
/// with each ten results, and a busy host has few in a second.
#[test]
fn brokerage_on_postgres() {
    let Some(database) = database_or_skip("postgres", small_house()) else { return };
    let before = database.state();
    let mut load = LoadPhase::timed(Pacing::Clients { clients: 4 }, 0, 0);
    load.until = PhaseLimit::StreamsEnd { limit_ms: 50_000 };
    load.streams[0].transactions = Some(3_000);
    let plan = DrivePlan { shards: 2, retries: 10, ..DrivePlan::of(database.workload.script(load), 20_261_125) };
    let driven = drive(&database, &plan);
    database_agrees(&database, &before, &driven);
    let violated: Vec<_> = database.audit(&driven).into_iter().filter(CheckResult::is_violated).collect();
    assert!(violated.is_empty(), "{violated:#?}");
    let whole = |kind: &str| driven.facts.whole_run.iter().find(|totals| totals.kind == kind).unwrap().committed;
    let deferred = driven.facts.deferred.unwrap();
    assert_eq!(deferred.done, whole("trade-result") + whole("market-feed"), "{deferred:?}");
    assert!(whole("trade-result") > 10 && whole("market-feed") > 0, "{:?}", driven.facts.whole_run);
    assert_eq!((whole("trade-cleanup"), whole("data-maintenance")), (1, 0), "a minute has not passed");
    assert_eq!(driven.facts.metric.counted, ["trade-result"]);
}

/// The window's counters are exactly those of its transactions.
///
/// Clients that meet in few rows can all wait for one deadlock, which PostgreSQL breaks after a second. So the window is
/// several times as long.
fn every_query_is_counted(database: &Database, clients: u32) {
    let before = database.state();
    let driven = drive(database, &plan(clients, 2, 500, 4_000));
    totals_agree(&driven);
    database_agrees(database, &before, &driven);
    let audit = database.audit(&driven);
    assert!(audit.iter().all(|finding| matches!(finding.verdict, Verdict::Holds { .. })), "{audit:#?}");
    assert_eq!(driven.facts.tally["queries"], 20 * driven.facts.kinds[0].committed);
    assert_eq!((driven.facts.metric.name.as_str(), driven.facts.metric.per_ms), ("TPS", 1_000));
}

#[test]
fn sysbench_on_sqlite() {
    every_query_is_counted(&Database::of("sqlite", small_tables()), 4);
}

#[test]
fn sysbench_on_postgres() {
    let Some(database) = database_or_skip("postgres", small_tables()) else { return };
    every_query_is_counted(&database, 8);
    stopping_keeps_what_was_measured(&database);
    a_server_that_is_killed_ends_the_driving(database, 4);
}

#[test]
fn sysbench_on_mariadb() {
    let Some(database) = database_or_skip("mariadb", small_tables()) else { return };
    every_query_is_counted(&database, 8);
}

fn stopping_keeps_what_was_measured(database: &Database) {
    let before = database.state();
    let stop = Control::default();
    let plan = plan(4, 2, 0, 3_600_000);
    let driven = drive_endpoint(&database.workload, database.endpoint(), &plan, &stop, &mut |seen| {
        if matches!(seen, SeenProgress::Tick(_)) {
            stop.stop();
        }
    })
    .unwrap();
    assert!(driven.stopped);
    assert!(driven.facts.measured_ms >= 1_000);
    database_agrees(database, &before, &driven);
}

/// The plan is an hour long, so this test ends only if the driver notices.
fn a_server_that_is_killed_ends_the_driving(mut database: Database, sessions: u32) {
    let (endpoint, stop) = (database.endpoint().clone(), Control::default());
    let mut server = database.server.take();
    let plan = plan(4, 2, 0, 3_600_000);
    let ended = drive_endpoint(&database.workload, &endpoint, &plan, &stop, &mut |seen| {
        if matches!(seen, SeenProgress::Tick(_)) {
            drop(server.take());
        }
    });
    let driven = ended.unwrap();
    assert!(driven.broke_off.is_some_and(|why| why.starts_with("the database went away")) && driven.stopped);
    assert!(driven.facts.whole_run[0].committed > 0, "what was done until then is kept");
    assert_eq!((driven.facts.losses.lost > 0, driven.facts.losses.reopened), (true, 0));
    let ended = drive_endpoint(&database.workload, &endpoint, &plan, &stop, &mut |_| ());
    assert!(matches!(ended, Err(DriveError::Connect { of, .. }) if of == sessions), "{ended:?}");
}
