//! Receipts that transactions write into the database, of each workload on each engine, in each way in which its transactions reach
//! the database. Decision support is left out: its questions take longer than a test may, and reach the database like those of
//! the others.

use crate::database::{Database, Ground, made};
use driver::drive_endpoint;
use driver::plan::{Control, DrivePlan, LoadPhase, Pacing, Receipt, Receipts, SeenProgress};
use engines::catalog;
use record::check::CheckResult;
use record::trial::{DriverFacts, KindTotals};
use serde_json::{Value, json};
use workloads::receipts;

/// Numbers of the receipts of one driving, and how many it may have at most.
const NUMBERS: i64 = 1_000_000;
const CLIENTS: u32 = 8;
/// Of all clients together, at most: those of few rows meet at once, and may then wait for each other.
const TRANSACTIONS: u32 = 160;

/// How many receipts a transaction leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Leaves {
    /// One if it is committed.
    One,
    /// One, even if the procedure that it calls changes nothing.
    OneForACall,
    /// One for each of its steps, but for a purchase that is rolled back.
    OneForAStep,
    /// One for each step, even if the procedure that it calls changes nothing.
    OneForAStepOrCall,
    /// One for each of its statements.
    OneFor { statements: usize },
}
use Leaves::{One, OneFor, OneForACall, OneForAStep, OneForAStepOrCall};

/// Ways of a workload that share their data. The first is loaded.
type Ways = Vec<(Value, Leaves)>;

/// Workloads whose data take long to load. On servers the full set has them.
const LARGE: [&str; 2] = ["brokerage", "order-entry"];

fn everything(engine: &str) -> Vec<(&'static str, Ways)> {
    // So few rows that clients meet.
    let rows = json!({ "tables": 1, "table_size": 30, "rand_type": "uniform", "range_selects": false });
    let table = |keys: Value| merged(&rows, keys);
    let sysbench = vec![
        (table(json!({ "test": "read_write", "delete_inserts": 2 })), One),
        (table(json!({ "test": "read_write", "skip_trx": true })), OneFor { statements: 14 }),
        (table(json!({ "test": "point_select" })), One),
        (table(json!({ "test": "insert" })), One),
    ];
    let bulk = vec![(json!({ "test": "bulk_insert", "table_size": 200 }), One)];
    let slob = vec![(json!({ "scale": "8MiB", "work_unit": 16, "update_pct": 50 }), One)];
    let house = json!({ "initial_trade_days": 5, "scale_factor": 20_000, "news_bytes": 300 });
    let (one, small) = (json!({ "warehouses": 1 }), json!({ "db_size": "1MB" }));
    let with_community = merged(&small, json!({ "version": 3 }));
    let called = |keys: &Value| merged(keys, json!({ "transactions": "procedures" }));
    let pipelined = |keys: &Value| merged(keys, json!({ "statements": "pipelined" }));
    let of_a_server = |ways: Ways| if engine == "sqlite" { Vec::new() } else { ways };
    // Procedures are made with the data.
    let houses = [vec![(house.clone(), One)], of_a_server(vec![(pipelined(&house), One)])].concat();
    let warehouses =
        [of_a_server(vec![(called(&one), OneForACall), (pipelined(&one), One)]), vec![(one.clone(), One)]].concat();
    let shops = [
        of_a_server(vec![(called(&small), OneForAStepOrCall), (pipelined(&small), OneForAStep)]),
        vec![(small.clone(), OneForAStep)],
    ]
    .concat();
    vec![
        ("sysbench-oltp", sysbench),
        ("sysbench-oltp", bulk),
        ("slob", slob),
        ("brokerage", houses),
        ("order-entry", warehouses),
        ("dvd-store", shops),
        ("dvd-store", vec![(with_community, OneForAStep)]),
    ]
}

fn merged(base: &Value, other: Value) -> Value {
    let (mut all, Value::Object(other)) = (base.clone(), other) else { panic!("a table") };
    all.as_object_mut().unwrap().extend(other);
    all
}

fn of_workloads(engine: &'static str, is_asked: fn(&str) -> bool) {
    let Some(ground) = Ground::or_skip(engine) else { return };
    let mut retries = 0;
    let asked = everything(engine).into_iter().filter(|(kind, _)| is_asked(kind));
    for ((kind, ways), number) in asked.zip(2..) {
        let mut database = ground.loaded(number, made(kind, &ways[0].0));
        catalog::admin(database.endpoint()).unwrap().script(receipts::SCHEMA).unwrap();
        let mut told = Vec::new();
        for ((keys, leaves), place) in ways.into_iter().zip(1..) {
            database.workload = made(kind, &keys);
            let way = format!("{kind} {keys} on {engine}");
            retries += receipts_are_those_in_the_database(&way, &database, leaves, NUMBERS * place, &mut told);
        }
        all_hold(&format!("{kind} on {engine}"), &database.check());
    }
    assert!(retries > 0 || engine == "sqlite", "clients of few rows meet");
}

/// What users were told is exactly what the database holds, each receipt once and with its mark. `told` is what they were told before.
/// Returns how often a transaction was tried again.
fn receipts_are_those_in_the_database(
    way: &str,
    database: &Database,
    leaves: Leaves,
    first: i64,
    told: &mut Vec<i64>,
) -> u64 {
    let before = database.state();
    let (facts, given) = driven(database, first);
    assert_eq!((facts.losses.lost, facts.unended.transactions), (0, 0), "{way}: {:?}", facts.errors);
    assert!(!given.is_empty() && failed(&facts) == 0, "{way}: {:?} {:?}", facts.whole_run, facts.errors);
    each_has_its_own(way, &facts, &given, leaves);
    let new = given.iter().flat_map(|receipt| &receipt.written).copied();
    told.extend(new.inspect(|number| assert!((first..first + NUMBERS).contains(number), "{way}: {number}")));
    told.sort_unstable();
    assert_eq!(held(database), *told, "{way}");
    all_hold(way, &database.reconcile(&before, &facts.whole_run));
    facts.whole_run.iter().map(|totals| totals.retries).sum()
}

/// Each driving has a seed of its own, so that it does not sign up the customers of one before it.
fn driven(database: &Database, first: i64) -> (DriverFacts, Vec<Receipt>) {
    let mut load = LoadPhase::timed(Pacing::Clients { clients: CLIENTS }, 0, 1_000);
    load.streams[0].transactions = Some(TRANSACTIONS);
    let receipts = Receipts::Written { first };
    let plan = DrivePlan {
        shards: 2,
        retries: 50,
        receipts,
        ..DrivePlan::of(database.workload.script(load), first.unsigned_abs())
    };
    let mut given = Vec::new();
    let driven = drive_endpoint(&database.workload, database.endpoint(), &plan, &Control::default(), &mut |seen| {
        if let SeenProgress::Receipts(more) = seen {
            given.extend(more.into_iter().filter(|receipt| !receipt.written.is_empty()));
        }
    });
    (driven.unwrap().facts, given)
}

fn failed(facts: &DriverFacts) -> u64 {
    facts.whole_run.iter().map(|totals| totals.failed).sum()
}

/// Each transaction has as many receipts as it has commits.
fn each_has_its_own(way: &str, facts: &DriverFacts, given: &[Receipt], leaves: Leaves) {
    let sum = |count: fn(&KindTotals) -> u64, steps: bool| -> u64 {
        facts.whole_run.iter().filter(|totals| totals.step == steps).map(count).sum()
    };
    let written: usize = given.iter().map(|receipt| receipt.written.len()).sum();
    let whole = format!("{way}: {:?}", facts.whole_run);
    match leaves {
        One | OneForACall => {
            assert!(given.iter().all(|receipt| receipt.written.len() == 1), "{whole}");
            for (totals, kind) in facts.whole_run.iter().zip(0..) {
                let called = if leaves == OneForACall { totals.rolled_back } else { 0 };
                let of_kind = given.iter().filter(|receipt| receipt.kind == kind).count();
                assert_eq!(of_kind as u64, totals.committed + called, "{whole}");
            }
        }
        OneForAStep => {
            assert_eq!(written as u64, sum(|k| k.committed, true) - sum(|k| k.rolled_back, false), "{whole}");
        }
        OneForAStepOrCall => assert_eq!(written as u64, sum(|k| k.committed, true), "{whole}"),
        OneFor { statements } => {
            // What an attempt committed before it had to be repeated stays committed.
            assert!(given.iter().all(|receipt| receipt.written.len() >= statements), "{whole}");
            let (all, retries) = (sum(|k| k.committed, false), sum(|k| k.retries, false));
            assert!(written as u64 == all * statements as u64 || retries > 0, "{whole}");
        }
    }
}

fn held(database: &Database) -> Vec<i64> {
    let mut numbers = Vec::new();
    let mut admin = catalog::admin(database.endpoint()).unwrap();
    admin
        .scan(receipts::QUERY, &mut |rows, row| {
            let number = rows.integer(row, 0).unwrap();
            assert_eq!(rows.text(row, 1).unwrap(), receipts::marks(number));
            numbers.push(number);
        })
        .unwrap();
    numbers.sort_unstable();
    numbers
}

fn all_hold(way: &str, findings: &[CheckResult]) {
    let violated: Vec<_> = findings.iter().filter(|finding| finding.is_violated()).collect();
    assert!(violated.is_empty(), "{way}: {violated:#?}");
}

#[test]
fn receipts_on_sqlite() {
    of_workloads("sqlite", |_| true);
}

#[test]
fn receipts_on_postgres() {
    of_workloads("postgres", |kind| !LARGE.contains(&kind));
}

#[test]
fn receipts_on_mariadb() {
    of_workloads("mariadb", |kind| !LARGE.contains(&kind));
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn receipts_of_large_data_on_servers() {
    for engine in ["postgres", "mariadb"] {
        // Clients of the last one meet, so that transactions are tried again.
        of_workloads(engine, |kind| LARGE.contains(&kind) || kind == "sysbench-oltp");
    }
}
