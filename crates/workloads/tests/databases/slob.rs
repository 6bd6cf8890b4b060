//! The slob workload from an empty server to a checked trial, with every condition violated once.

use crate::database::Database;
use crate::running;
use engines::admin::Admin;
use record::check::{CheckResult, Moment, Verdict};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use workloads::checksum;
use workloads::dataset::{Dataset, TablePart};
use workloads::slob::Slob;

/// Two clients for each schema.
const CLIENTS: u32 = 4;
/// Enough for several hundreds of each quota.
const OPERATIONS_PER_CLIENT: u32 = 1_000;
const LOADED_PARTS: u32 = 3;

fn made(table: &Value) -> Slob {
    Slob::from_table(table.as_object().unwrap()).unwrap()
}

/// A workload with every feature switched on.
fn workload() -> Slob {
    made(&json!({
        "schemas": 2, "threads_per_schema": 2, "scale": 1_500, "scan_table_sz": 20, "work_unit": 16, "update_pct": 30,
        "scan_pct": 20, "redo_stress": "heavy", "do_hotspot": true, "hotspot_mb": 1, "hotspot_offset_mb": 2,
        "hotspot_frequency": 3, "hot_schema_frequency": 4, "think_tm_frequency": 10, "obfuscate_columns": true,
    }))
}

fn load(database: &Database, workload: &Slob, admin: &mut dyn Admin) {
    admin.script(&workload.schema(database.dialect())).unwrap();
    for table in workload.tables() {
        let part = |index| TablePart { index, count: LOADED_PARTS };
        let loaded: u64 = (0..LOADED_PARTS).map(|index| database.load(workload, table, part(index))).sum();
        assert_eq!(loaded, workload.expected_rows(table), "{}", table.name);
    }
    workload.finish_over(admin, database.dialect()).unwrap();
}

/// With `bakeoff drive`, the server belongs to somebody else.
pub fn a_failure_leaves_the_server_as_it_was(database: &Database) {
    let workload = workload();
    let mut admin = database.admin();
    admin.script("SET GLOBAL innodb_fill_factor = 80").unwrap();
    admin.script(&workload.schema(database.dialect())).unwrap();
    let last = &workload.tables().last().unwrap().name;
    admin.script(&format!("DROP TABLE {last}")).unwrap();
    let error = workload.finish_over(admin.as_mut(), database.dialect()).unwrap_err();
    assert!(error.to_string().contains(&**last), "{error}");
    let mut found = None;
    let asked = "SELECT @@GLOBAL.innodb_fill_factor";
    admin.scan(asked, &mut |set, row| found = Some(set.integer(row, 0).unwrap())).unwrap();
    assert_eq!(found, Some(80));
}

pub fn load_run_and_check(database: &Database) {
    let workload = workload();
    let mut admin = database.admin();
    load(database, &workload, admin.as_mut());
    for table in workload.tables() {
        let stored = checksum::stored(admin.as_mut(), table).unwrap();
        assert_eq!(stored, checksum::expected(&workload, table, 2), "{}", table.name);
    }
    admin.settle().unwrap();
    all_hold(&workload.check(admin.as_mut(), database.dialect(), Moment::AfterLoad).unwrap());

    let before = workload.state(admin.as_mut()).unwrap();
    let (mut totals, tally) = running::run(database, &workload, CLIENTS, OPERATIONS_PER_CLIENT);
    let after = workload.state(admin.as_mut()).unwrap();

    assert_eq!(totals.iter().map(|kind| kind.committed).collect::<Vec<_>>(), [2_240, 1_200, 560]);
    all_hold(&workload.audit(&totals, &tally, 0));
    all_hold(&workload.reconcile(&before, &after, &totals));
    all_hold(&workload.check(admin.as_mut(), database.dialect(), Moment::AfterTrial).unwrap());
    only_the_rows_of_updates_have_changed(admin.as_mut());
    totals[1].committed += 1;
    let missed = workload.reconcile(&before, &after, &totals);
    assert!(missed[0].is_violated(), "an update more than there are is noticed: {missed:#?}");
}

/// Heavy updates rewrite all columns, and no row changed without being counted.
fn only_the_rows_of_updates_have_changed(admin: &mut dyn Admin) {
    let mut count = |query: &str| {
        let mut found = None;
        admin.scan(query, &mut |set, row| found = Some(set.integer(row, 0).unwrap())).unwrap();
        found.unwrap()
    };
    assert!(count("SELECT COUNT(*) FROM slob2 WHERE changes > 0") > 0);
    assert_eq!(count("SELECT COUNT(*) FROM slob2_scan WHERE changes > 0"), 0);
    // The text of one update is the same in all rows of its range, while loaded rows differ from each other.
    let different = count("SELECT COUNT(DISTINCT c11) FROM slob1 WHERE changes = 0");
    assert_eq!(different, count("SELECT COUNT(*) FROM slob1 WHERE changes = 0"));
    assert!(
        count("SELECT COUNT(DISTINCT c11) FROM slob1 WHERE changes > 0")
            < count("SELECT COUNT(*) FROM slob1 WHERE changes > 0")
    );
}

fn all_hold(findings: &[CheckResult]) {
    let holds = |finding: &&CheckResult| matches!(finding.verdict, Verdict::Holds { .. });
    let not: Vec<_> = findings.iter().filter(|finding| !holds(finding)).collect();
    assert!(not.is_empty(), "{not:#?}");
}

/// A condition, how to violate it, and how to undo that.
struct Damage {
    condition: &'static str,
    seen: &'static str,
    harm: &'static str,
    repair: &'static str,
}

const DAMAGES: &[Damage] = &[
    Damage {
        condition: "slob/keys",
        seen: "slob1: 1024 rows with 1023 keys from 1 to 1024",
        harm: "UPDATE slob1 SET custid = 18 WHERE custid = 17",
        repair: "UPDATE slob1 SET custid = 17 WHERE custid = 18 AND changes = -1",
    },
    Damage {
        condition: "slob/text",
        seen: "slob1: 1 row",
        harm: "UPDATE slob1 SET c7 = 'short' WHERE custid = 19",
        repair: "UPDATE slob1 SET c7 = c8 WHERE custid = 19",
    },
];

pub fn each_condition_finds_its_violation(database: &Database) {
    let workload = made(&json!({ "scale": 1_024, "scan_table_sz": 10, "work_unit": 3 }));
    let mut admin = database.admin();
    load(database, &workload, admin.as_mut());
    let check = |admin: &mut dyn Admin| workload.check(admin, database.dialect(), Moment::AfterLoad).unwrap();
    let sound = check(admin.as_mut());
    all_hold(&sound);
    // Marks the row, so that the repair can tell it from the row whose key it gets.
    admin.script("UPDATE slob1 SET changes = -1 WHERE custid = 17").unwrap();
    for damage in DAMAGES {
        admin.script(damage.harm).unwrap();
        let seen = seen_by(&check(admin.as_mut()), damage.condition);
        assert!(seen.contains(damage.seen), "{}: {seen}", damage.condition);
        admin.script(damage.repair).unwrap();
    }
    let places = rows_that_lie_wrong(database, admin.as_mut(), &check);
    let damaged: BTreeSet<&str> = DAMAGES.iter().map(|damage| damage.condition).chain(places).collect();
    assert_eq!(damaged, sound.iter().map(|finding| finding.name.as_str()).collect());
}

/// Makes the same table again without what keeps rows apart, and loads it in the order of its keys.
fn rows_that_lie_wrong(
    database: &Database,
    admin: &mut dyn Admin,
    check: &dyn Fn(&mut dyn Admin) -> Vec<CheckResult>,
) -> [&'static str; 2] {
    admin.script("DROP TABLE slob1").unwrap();
    admin.script("CREATE TABLE slob1 (custid BIGINT, changes INTEGER, c2 TEXT)").unwrap();
    for column in 3..=20 {
        admin.script(&format!("ALTER TABLE slob1 ADD COLUMN c{column} TEXT")).unwrap();
    }
    let mut key = 0;
    let mut fill = |sink: &mut dyn engines::rows::RowSink| {
        key += 1;
        sink.integer(key);
        sink.integer(0);
        sink.text("short");
        sink.end_row();
        key < 1_024
    };
    assert_eq!(database.admin().load("slob1", &["custid", "changes", "c2"], &mut fill).unwrap(), 1_024);
    let findings = check(admin);
    assert!(seen_by(&findings, "slob/one-row-per-page").contains("slob1: 1024 rows in "));
    assert!(seen_by(&findings, "slob/scattered").contains("1023 rows lie beside"));
    ["slob/one-row-per-page", "slob/scattered"]
}

fn seen_by(findings: &[CheckResult], name: &str) -> String {
    let finding = findings.iter().find(|finding| finding.name == name).unwrap();
    match &finding.verdict {
        Verdict::Violated { seen } => seen.clone(),
        other => panic!("{name}: {other:?}"),
    }
}
