//! From an empty server to a checked trial.

use crate::database::Database;
use crate::effects;
use crate::running;
use record::check::{Finding, Moment, Verdict};
use record::trial::KindTotals;
use std::collections::BTreeMap;
use workloads::checksum;
use workloads::dataset::{Dataset, Part};
use workloads::order_entry::{Delivery, OrderEntry, Settings};

/// Two, so that there is another warehouse to order from.
const WAREHOUSES: u32 = 2;
const CLIENTS: u32 = 4;
const TRANSACTIONS_PER_CLIENT: u32 = 1_000;

pub fn load_run_and_check(database: &Database) {
    let settings = Settings { warehouses: WAREHOUSES, delivery: Delivery::Inline, data_seed: 42 };
    let workload = OrderEntry::new(settings).unwrap();
    load(database, &workload);
    let mut admin = database.admin();
    all_hold(&workload.check(admin.as_mut(), database.dialect(), Moment::AfterLoad).unwrap());

    let before = workload.state(admin.as_mut()).unwrap();
    let (totals, tally) = running::run(database, &workload, CLIENTS, TRANSACTIONS_PER_CLIENT);
    let after = workload.state(admin.as_mut()).unwrap();

    effects::are_as_they_should_be(admin.as_mut());
    all_hold(&workload.reconcile(&before, &after, &totals));
    all_hold(&workload.check(admin.as_mut(), database.dialect(), Moment::AfterTrial).unwrap());
    let audit = workload.audit(&totals, &tally, 0);
    all_hold(&audit);
    let undecided: Vec<_> =
        audit.iter().filter(|finding| matches!(finding.verdict, Verdict::Undecided { .. })).collect();
    assert!(undecided.is_empty(), "4000 transactions are enough to judge: {undecided:#?}");
    one_acknowledged_order_more_is_missed(&workload, &before, &after, totals);
}

/// Loads in uneven parts; what is stored must be what the generator makes in one, on every engine.
fn load(database: &Database, workload: &OrderEntry) {
    let mut admin = database.admin();
    admin.script(&workload.schema(database.dialect())).unwrap();
    for table in workload.tables() {
        let loaded: u64 = (0..3).map(|index| database.load(workload, table, Part { index, count: 3 })).sum();
        assert_eq!(loaded, workload.expected_rows(table), "{}", table.name);
    }
    admin.script(&workload.finish(database.dialect())).unwrap();
    for table in workload.tables() {
        let stored = checksum::stored(admin.as_mut(), table).unwrap();
        assert_eq!(stored, checksum::expected(workload, table, 2), "{}", table.name);
    }
}

fn all_hold(findings: &[Finding]) {
    let violated: Vec<_> = findings.iter().filter(|finding| finding.is_violated()).collect();
    assert!(violated.is_empty(), "{violated:#?}");
}

/// The ledger can tell: one order acknowledged that is not in the database is a violation.
fn one_acknowledged_order_more_is_missed(
    workload: &OrderEntry,
    before: &BTreeMap<String, i64>,
    after: &BTreeMap<String, i64>,
    mut totals: Vec<KindTotals>,
) {
    totals[0].committed += 1;
    let findings = workload.reconcile(before, after, &totals);
    let violated: Vec<_> =
        findings.iter().filter(|finding| finding.is_violated()).map(|finding| &finding.name).collect();
    assert_eq!(violated, ["order-entry/acknowledged-orders", "order-entry/stored-orders"]);
}
