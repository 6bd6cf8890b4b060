//! The sysbench-oltp workload: every test and mode from empty tables to a checked trial, with every condition
//! violated once.

use crate::database::Database;
use crate::running;
use engines::admin::Admin;
use record::check::{CheckResult, Moment, Verdict};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use workloads::checksum;
use workloads::dataset::{Dataset, TablePart};
use workloads::sysbench_oltp::SysbenchOltp;
use workloads::workload::Workload;

const CLIENTS: u32 = 4;
const TRANSACTIONS_PER_CLIENT: u32 = 50;
const LOADED_PARTS: u32 = 3;

/// Settings to run with, and how many more rows there are afterwards, if that is known beforehand.
fn cases() -> Vec<(Value, Option<i64>)> {
    let small = |mut keys: Value| {
        let table = keys.as_object_mut().unwrap();
        table.entry("table_size").or_insert(json!(1_000));
        if !table.contains_key("mode") {
            table.entry("tables").or_insert(json!(2));
        }
        keys
    };
    let transactions = i64::from(CLIENTS * TRANSACTIONS_PER_CLIENT);
    let cases = [
        (json!({ "test": "read_write" }), Some(0)),
        // With few rows, clients meet, wait for each other, and delete each other's rows.
        (
            json!({ "test": "read_write", "table_size": 300, "tables": 1, "delete_inserts": 2, "rand_type": "uniform" }),
            Some(0),
        ),
        (json!({ "test": "read_write", "mode": "0.4.8" }), Some(0)),
        (json!({ "test": "read_write", "auto_inc": false, "create_secondary": false }), Some(0)),
        (json!({ "test": "read_write", "skip_trx": true, "rand_type": "zipfian" }), Some(0)),
        (json!({ "test": "read_write", "secondary": true, "rand_type": "uniform" }), None),
        (json!({ "test": "read_only", "rand_type": "pareto" }), Some(0)),
        (json!({ "test": "read_only", "mode": "0.4.8" }), Some(0)),
        (json!({ "test": "write_only", "rand_type": "uniform" }), Some(0)),
        (json!({ "test": "point_select", "rand_type": "gaussian" }), Some(0)),
        (json!({ "test": "point_select", "mode": "0.4.8" }), Some(0)),
        (json!({ "test": "update_index" }), Some(0)),
        (json!({ "test": "update_non_index", "non_index_updates": 2 }), Some(0)),
        (json!({ "test": "insert" }), Some(transactions)),
        (json!({ "test": "insert", "auto_inc": false }), Some(transactions)),
        (json!({ "test": "delete", "rand_type": "uniform" }), None),
        (json!({ "test": "select_random_points", "segments": 4 }), Some(0)),
        (json!({ "test": "select_random_ranges", "number_of_ranges": 50 }), Some(0)),
        (json!({ "test": "bulk_insert" }), Some(250 * transactions)),
    ];
    cases.into_iter().map(|(keys, rows)| (small(keys), rows)).collect()
}

pub fn every_test_holds(database: &Database) {
    for (keys, new_rows) in cases() {
        let workload = made(&keys);
        let mut admin = database.admin();
        load(database, &workload, admin.as_mut());
        run_and_check(database, &workload, admin.as_mut(), &keys, new_rows);
        drop_tables(&workload, admin.as_mut());
    }
}

fn made(keys: &Value) -> SysbenchOltp {
    SysbenchOltp::from_table(keys.as_object().unwrap()).unwrap()
}

/// Loads in uneven parts. On every engine, the stored rows must equal what the generator makes as one part.
fn load(database: &Database, workload: &SysbenchOltp, admin: &mut dyn Admin) {
    admin.script(&workload.schema(database.dialect())).unwrap();
    for table in workload.tables() {
        let part = |index| TablePart { index, count: LOADED_PARTS };
        let loaded: u64 = (0..LOADED_PARTS).map(|index| database.load(workload, table, part(index))).sum();
        assert_eq!(loaded, workload.expected_rows(table), "{}", table.name);
    }
    admin.script(&workload.finish(database.dialect())).unwrap();
    admin.settle().unwrap();
    for table in workload.tables() {
        let stored = checksum::stored(admin, table).unwrap();
        assert_eq!(stored, checksum::expected(workload, table, 2), "{}", table.name);
    }
}

fn run_and_check(
    database: &Database,
    workload: &SysbenchOltp,
    admin: &mut dyn Admin,
    keys: &Value,
    new_rows: Option<i64>,
) {
    all_hold(keys, &workload.check(admin, database.dialect(), Moment::AfterLoad).unwrap());
    let before = workload.state(admin).unwrap();
    let sums_before = sums(workload, admin);
    let (totals, mut tally) = running::run(database, workload, CLIENTS, TRANSACTIONS_PER_CLIENT);
    let after = workload.state(admin).unwrap();

    assert_eq!(totals[0].committed, u64::from(CLIENTS * TRANSACTIONS_PER_CLIENT), "{keys}");
    all_hold(keys, &workload.audit(&totals, &tally, 0));
    all_hold(keys, &workload.reconcile(&before, &after, &totals));
    all_hold(keys, &workload.check(admin, database.dialect(), Moment::AfterTrial).unwrap());
    if let Some(new_rows) = new_rows {
        assert_eq!(after["rows"] - before["rows"], new_rows, "{keys}");
    }
    let writes = tally["queries_write"] > 0;
    assert_eq!(sums(workload, admin) != sums_before, writes, "{keys}: what was written is there, and nothing else");
    *tally.get_mut("queries_read").unwrap() += 1;
    assert!(
        workload.audit(&totals, &tally, 0).iter().any(CheckResult::is_violated),
        "{keys}: a query too many is noticed"
    );
}

fn sums(workload: &SysbenchOltp, admin: &mut dyn Admin) -> Vec<workloads::dataset::Checksum> {
    workload.tables().iter().map(|table| checksum::stored(admin, table).unwrap()).collect()
}

fn all_hold(keys: &Value, findings: &[CheckResult]) {
    let violated: Vec<_> = findings.iter().filter(|finding| finding.is_violated()).collect();
    assert!(violated.is_empty(), "{keys}: {violated:#?}");
}

fn drop_tables(workload: &SysbenchOltp, admin: &mut dyn Admin) {
    for table in workload.tables() {
        admin.script(&format!("DROP TABLE {}", table.name)).unwrap();
    }
}

/// A condition, how to violate it, what the finding must name, and how to undo it.
struct Damage {
    condition: &'static str,
    shown: &'static str,
    harm: &'static str,
    repair: &'static str,
}

const fn damage(condition: &'static str, shown: &'static str, harm: &'static str, repair: &'static str) -> Damage {
    Damage { condition, shown, harm, repair }
}

const OF_10: &[Damage] = &[
    damage(
        "rows",
        "sbtest2 has 299 rows instead of 300",
        "DELETE FROM sbtest2 WHERE id = 300",
        "INSERT INTO sbtest2 SELECT 300, k, c, pad FROM sbtest2 WHERE id = 1",
    ),
    damage(
        "ids",
        "sbtest1: id 301",
        "UPDATE sbtest1 SET id = 301 WHERE id = 7",
        "UPDATE sbtest1 SET id = 7 WHERE id = 301",
    ),
    damage(
        "unique-ids",
        "sbtest1: id 8",
        "UPDATE sbtest1 SET id = 8 WHERE id = 7",
        "UPDATE sbtest1 SET id = 7 WHERE id = 8 AND k <> (SELECT MIN(k) FROM sbtest1 WHERE id = 8)",
    ),
    damage(
        "loaded-keys",
        "sbtest2: id 9",
        "UPDATE sbtest2 SET k = k + 300 WHERE id = 9",
        "UPDATE sbtest2 SET k = k - 300 WHERE id = 9",
    ),
    damage(
        "texts",
        "sbtest2: id 10",
        "UPDATE sbtest2 SET pad = 'short' WHERE id = 10",
        "UPDATE sbtest2 SET pad = (SELECT pad FROM sbtest2 WHERE id = 11) WHERE id = 10",
    ),
];

const OF_048: &[Damage] = &[
    damage(
        "loaded-keys",
        "sbtest: id 9",
        "UPDATE sbtest SET k = 1 WHERE id = 9",
        "UPDATE sbtest SET k = 0 WHERE id = 9",
    ),
    damage(
        "constant-texts",
        "sbtest: id 10",
        "UPDATE sbtest SET pad = 'short' WHERE id = 10",
        "UPDATE sbtest SET pad = (SELECT pad FROM sbtest WHERE id = 11) WHERE id = 10",
    ),
];

pub fn each_condition_finds_its_violation(database: &Database) {
    // Without a primary key, ids can be equal.
    harm(database, &json!({ "tables": 2, "table_size": 300, "secondary": true }), OF_10, &[]);
    // The first call has violated the conditions on ids and their number already.
    harm(database, &json!({ "table_size": 300, "mode": "0.4.8" }), OF_048, &["ids", "rows"]);
}

fn harm(database: &Database, keys: &Value, damages: &[Damage], not_damaged: &[&str]) {
    let workload = made(keys);
    let mut admin = database.admin();
    load(database, &workload, admin.as_mut());
    let check = |admin: &mut dyn Admin| workload.check(admin, database.dialect(), Moment::AfterLoad).unwrap();
    let sound = check(admin.as_mut());
    all_hold(keys, &sound);
    for damage in damages {
        admin.script(damage.harm).unwrap();
        let name = format!("sysbench-oltp/{}", damage.condition);
        let findings = check(admin.as_mut());
        let finding = findings.iter().find(|finding| finding.name == name).unwrap();
        let Verdict::Violated { seen } = &finding.verdict else { panic!("{}: {finding:?}", damage.harm) };
        assert!(seen.contains(damage.shown), "{}: {seen}", damage.harm);
        admin.script(damage.repair).unwrap();
        all_hold(keys, &check(admin.as_mut()));
    }
    let names = |names: Vec<&str>| names.into_iter().map(|name| format!("sysbench-oltp/{name}")).collect();
    let mut tried: BTreeSet<String> = names(damages.iter().map(|damage| damage.condition).collect());
    tried.extend::<BTreeSet<String>>(names(not_damaged.to_vec()));
    assert_eq!(tried, sound.into_iter().map(|finding| finding.name).collect(), "conditions that were never violated");
    drop_tables(&workload, admin.as_mut());
}

/// A statement without BEGIN is a transaction of its own: others see its effect at once.
pub fn statements_alone_commit_themselves(database: &Database) {
    let workload = made(&json!({ "test": "update_index", "table_size": 100, "index_updates": 1 }));
    let mut admin = database.admin();
    load(database, &workload, admin.as_mut());
    let before = workload.state(admin.as_mut()).unwrap();
    let (totals, tally) = running::run(database, &workload, 1, 10);
    assert_eq!(workload.kinds()[0].name, totals[0].kind);
    assert_eq!((tally["queries"], tally["queries_write"], tally["queries_other"]), (10, 10, 0));
    let after = workload.state(admin.as_mut()).unwrap();
    assert_eq!(after["sum-of-k"] - before["sum-of-k"], 10);
    drop_tables(&workload, admin.as_mut());
}

/// As with sysbench: on somebody else's server, columns compare as its owner chose.
pub fn tables_compare_as_their_database_does(database: &Database) {
    let mut admin = database.admin();
    // In the second, a letter takes two bytes. The columns of the third have bytes and no letters.
    for collation in ["latin1_swedish_ci", "utf16_general_ci", "binary"] {
        let letters = collation.split('_').next().unwrap();
        admin.script(&format!("ALTER DATABASE CHARACTER SET {letters} COLLATE {collation}")).unwrap();
        let workload = made(&json!({ "table_size": 100 }));
        load(database, &workload, admin.as_mut());
        let columns = format!(
            "SELECT COUNT(*) FROM information_schema.columns WHERE table_name = 'sbtest1' \
             AND table_schema = DATABASE() AND COALESCE(collation_name, data_type) = '{collation}'"
        );
        let mut found = 0;
        admin.scan(&columns, &mut |set, row| found = set.integer(row, 0).unwrap()).unwrap();
        assert_eq!(found, 2, "c and pad");
        let keys = json!({ "test": "read_write" });
        run_and_check(database, &workload, admin.as_mut(), &keys, Some(0));
        drop_tables(&workload, admin.as_mut());
    }
}
