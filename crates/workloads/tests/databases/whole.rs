//! From an empty server to a checked trial, and the findings when the database then loses writes unnoticed by its clients.

use crate::database::Database;
use crate::effects;
use crate::loaded;
use crate::running;
use engines::admin::Admin;
use engines::statement::{ByDialect, Dialect};
use record::check::{CheckResult, Moment, Verdict};
use record::trial::KindTotals;
use std::collections::BTreeMap;
use workloads::checksum;
use workloads::dataset::{DataTable, Dataset};
use workloads::order_entry::{DeliveryMode, OrderEntry, OrderEntrySettings};
use workloads::way::{StatementSending, Transactions};

const CLIENTS: u32 = 4;
const BY_ONE_CLIENT: u32 = 150;
/// All ways together have enough for every share to be judged. Shares are of what clients ask for, which no engine changes.
const BY_EACH_OF_SEVERAL: u32 = 250;
/// Enough for each effect and each loss to be seen.
const A_FEW: u32 = 60;

/// One warehouse, or two, so that there is a remote one to order from.
pub fn load_run_and_check(database: &Database, warehouses: u32) {
    let [workload, pipelined, called] = [Way::Plain, Way::Pipelined, Way::Called].map(|way| made(way, warehouses));
    // SQLite has no procedures. What they leave must be the same as elsewhere, so it does the work plainly once more.
    let called = if database.dialect() == Dialect::Sqlite { &workload } else { &called };
    let number = warehouses as usize - 1;
    load(database, called, LOADED[number]);
    let mut admin = database.admin();
    all_hold(&workload.check(admin.as_mut(), database.dialect(), Moment::AfterLoad).unwrap());
    for way in [&workload, &pipelined, called] {
        running::run(database, way, 1, BY_ONE_CLIENT);
    }
    assert_eq!(format!("{:016x}", left_by_one_client(admin.as_mut(), &workload)), LEFT[number]);

    let is_judged = database.dialect() == Dialect::Sqlite || warehouses > 1;
    let each = if is_judged { BY_EACH_OF_SEVERAL } else { A_FEW };
    let (mut all_totals, mut all_tallies) = (Vec::new(), BTreeMap::new());
    for (way, first) in [&pipelined, called, &workload].into_iter().zip((0..).step_by(CLIENTS as usize)) {
        let before = workload.state(admin.as_mut()).unwrap();
        let (totals, tally) = running::run_these(database, way, first..first + CLIENTS, each);
        let after = workload.state(admin.as_mut()).unwrap();
        all_hold(&workload.reconcile(&before, &after, &totals));
        all_hold(&workload.audit(&totals, &tally, 0));
        one_acknowledged_order_more_is_missed(&workload, &before, &after, totals.clone());
        all_totals.extend(totals);
        for (name, count) in tally {
            *all_tallies.entry(name).or_insert(0) += count;
        }
    }
    effects::are_as_they_should_be(admin.as_mut(), warehouses);
    all_hold(&workload.check(admin.as_mut(), database.dialect(), Moment::AfterTrial).unwrap());
    let audit = workload.audit(&KindTotals::summed(&all_totals), &all_tallies, 0);
    all_hold(&audit);
    let is_undecided = |finding: &&CheckResult| matches!(finding.verdict, Verdict::Undecided { .. });
    let undecided: Vec<_> = audit.iter().filter(is_undecided).map(|finding| finding.name.as_str()).collect();
    let of_two: &[&str] =
        if warehouses > 1 { &[] } else { &["order-entry/remote-lines", "order-entry/remote-payments"] };
    if is_judged {
        assert_eq!(undecided, of_two, "3000 transactions are enough to judge all others");
    }
    every_loss_is_found(database, &workload, admin.as_mut());
}

#[derive(Clone, Copy)]
enum Way {
    Plain,
    Pipelined,
    Called,
}

fn made(way: Way, warehouses: u32) -> OrderEntry {
    let (transactions, statements) = match way {
        Way::Plain => (Transactions::Client, StatementSending::Plain),
        Way::Pipelined => (Transactions::Client, StatementSending::Pipelined),
        Way::Called => (Transactions::Procedures, StatementSending::Plain),
    };
    let settings = OrderEntrySettings {
        delivery: DeliveryMode::Inline,
        transactions,
        statements,
        ..OrderEntrySettings::plain(warehouses, 42)
    };
    OrderEntry::new(settings).unwrap()
}

/// What one client leaves in one warehouse, and in two, on every engine and whichever way its transactions are executed.
const LEFT: [&str; 2] = ["96f08aa3e93fc38e", "52f21e2ffb383c9a"];

/// All rows of all tables, but for the moments in them.
fn left_by_one_client(admin: &mut dyn Admin, workload: &OrderEntry) -> u64 {
    let moments = ["o_entry_d", "ol_delivery_d", "h_date"];
    workload.tables().iter().fold(0, |sum: u64, table| {
        let columns: Vec<&str> = table.columns.iter().copied().filter(|column| !moments.contains(column)).collect();
        let table = DataTable { columns: columns.leak(), ..table.clone() };
        sum.rotate_left(7) ^ checksum::stored(admin, &table).unwrap().sum
    })
}

/// What is loaded on every engine: of one warehouse, and of two.
const LOADED: [&str; 2] = ["53e912367b4e6dd8", "52b7685c3a803221"];

fn load(database: &Database, workload: &OrderEntry, known: &str) {
    let mut admin = database.admin();
    admin.script(&workload.schema(database.dialect())).unwrap();
    loaded::in_parts(database, workload, workload.tables());
    admin.script(&workload.finish(database.dialect())).unwrap();
    admin.settle().unwrap();
    // What is left by one client is compared on every engine, too, so on servers this would read all rows twice.
    if database.dialect() == Dialect::Sqlite {
        loaded::are_as_made(database, workload, workload.tables(), known);
    }
}

fn all_hold(findings: &[CheckResult]) {
    let violated: Vec<_> = findings.iter().filter(|finding| finding.is_violated()).collect();
    assert!(violated.is_empty(), "{violated:#?}");
}

/// Shows that the ledger works: an order that is acknowledged but not in the database is a violation.
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

/// Makes the database lose or change something that it acknowledges to clients.
struct Loss {
    found: &'static str,
    /// In the SQL of SQLite, PostgreSQL and MariaDB.
    begin: [&'static str; 3],
}

/// None of them hides another.
const LOSSES: &[Loss] = &[
    Loss {
        found: "customer-data",
        begin: [
            "CREATE TRIGGER lose_data AFTER UPDATE OF c_data ON customer BEGIN \
             UPDATE customer SET c_data = OLD.c_data WHERE rowid = NEW.rowid; END",
            "CREATE FUNCTION lose_data() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN \
             NEW.c_data := OLD.c_data; RETURN NEW; END$$; \
             CREATE TRIGGER lose_data BEFORE UPDATE ON customer FOR EACH ROW EXECUTE FUNCTION lose_data()",
            "CREATE TRIGGER lose_data BEFORE UPDATE ON customer FOR EACH ROW \
             SET NEW.c_data = OLD.c_data",
        ],
    },
    Loss { found: "items", begin: ["UPDATE item SET i_price = i_price + 1 WHERE i_id = 4711"; 3] },
    Loss {
        found: "stock-follows",
        begin: [
            "CREATE TRIGGER lose_stock AFTER UPDATE OF s_quantity ON stock WHEN random() % 20 = 0 BEGIN \
             UPDATE stock SET s_quantity = OLD.s_quantity WHERE rowid = NEW.rowid; END",
            "CREATE FUNCTION lose_stock() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN \
             IF random() < 0.05 THEN NEW.s_quantity := OLD.s_quantity; END IF; RETURN NEW; END$$; \
             CREATE TRIGGER lose_stock BEFORE UPDATE ON stock FOR EACH ROW EXECUTE FUNCTION lose_stock()",
            "CREATE TRIGGER lose_stock BEFORE UPDATE ON stock FOR EACH ROW \
             SET NEW.s_quantity = IF(RAND() < 0.05, OLD.s_quantity, NEW.s_quantity)",
        ],
    },
];

/// The last of what is done with the database.
fn every_loss_is_found(database: &Database, workload: &OrderEntry, admin: &mut dyn Admin) {
    let dialect = database.dialect();
    let before = workload.state(admin).unwrap();
    for loss in LOSSES {
        let [sqlite, postgres, mysql] = loss.begin;
        admin.script(ByDialect { sqlite, postgres, mysql }.of(dialect)).unwrap();
    }
    let (totals, _) = running::run(database, workload, CLIENTS, A_FEW);
    let mut findings = workload.reconcile(&before, &workload.state(admin).unwrap(), &totals);
    findings.extend(workload.check(admin, dialect, Moment::AfterTrial).unwrap());
    let mut violated: Vec<_> =
        findings.iter().filter(|finding| finding.is_violated()).map(|finding| finding.name.clone()).collect();
    violated.sort();
    let expected: Vec<_> = LOSSES.iter().map(|loss| format!("order-entry/{}", loss.found)).collect();
    assert_eq!(violated, expected, "{findings:#?}");
}
