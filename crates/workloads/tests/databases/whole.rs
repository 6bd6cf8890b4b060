//! From an empty server to a checked trial, and the findings when the database then loses writes unnoticed by its clients.

use crate::database::Database;
use crate::effects;
use crate::running;
use engines::admin::Admin;
use engines::statement::Dialect;
use record::check::{CheckResult, Moment, Verdict};
use record::trial::KindTotals;
use std::collections::BTreeMap;
use workloads::checksum;
use workloads::dataset::{Dataset, Part, Table};
use workloads::order_entry::{Delivery, OrderEntry, Settings};
use workloads::way::{Statements, Transactions};

/// Two, so that there is a remote warehouse to order from.
const WAREHOUSES: u32 = 2;
const CLIENTS: u32 = 4;
const TRANSACTIONS_PER_CLIENT: u32 = 1_000;

pub fn load_run_and_check(database: &Database) {
    let (workload, pipelined, called) = (made(Way::Plain), made(Way::Pipelined), made(Way::Called));
    // SQLite has no procedures. What they leave must be the same as elsewhere, so it does the work plainly once more.
    let called = if database.dialect() == Dialect::Sqlite { &workload } else { &called };
    load(database, called);
    let mut admin = database.admin();
    all_hold(&workload.check(admin.as_mut(), database.dialect(), Moment::AfterLoad).unwrap());
    for way in [&workload, &pipelined, called] {
        running::run(database, way, 1, TRANSACTIONS_PER_CLIENT / 2);
    }
    assert_eq!(format!("{:016x}", left_by_one_client(admin.as_mut(), &workload)), LEFT);

    for way in [&pipelined, called] {
        let before = workload.state(admin.as_mut()).unwrap();
        let (totals, tally) = running::run(database, way, CLIENTS, TRANSACTIONS_PER_CLIENT);
        let after = workload.state(admin.as_mut()).unwrap();
        all_hold(&workload.reconcile(&before, &after, &totals));
        all_hold(&workload.audit(&totals, &tally, 0));
        all_hold(&workload.check(admin.as_mut(), database.dialect(), Moment::AfterTrial).unwrap());
    }

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
    each_loss_is_found(database, &workload, admin.as_mut());
}

#[derive(Clone, Copy)]
enum Way {
    Plain,
    Pipelined,
    Called,
}

fn made(way: Way) -> OrderEntry {
    let (transactions, statements) = match way {
        Way::Plain => (Transactions::Client, Statements::Plain),
        Way::Pipelined => (Transactions::Client, Statements::Pipelined),
        Way::Called => (Transactions::Procedures, Statements::Plain),
    };
    let settings = Settings { delivery: Delivery::Inline, transactions, statements, ..Settings::plain(WAREHOUSES, 42) };
    OrderEntry::new(settings).unwrap()
}

/// What one client leaves, on every engine and whichever way its transactions are executed.
const LEFT: &str = "4aa57e56b5cc4ca8";

/// All rows of all tables, but for the moments in them.
fn left_by_one_client(admin: &mut dyn Admin, workload: &OrderEntry) -> u64 {
    let moments = ["o_entry_d", "ol_delivery_d", "h_date"];
    workload.tables().iter().fold(0, |sum: u64, table| {
        let columns: Vec<&str> = table.columns.iter().copied().filter(|column| !moments.contains(column)).collect();
        let table = Table { columns: columns.leak(), ..table.clone() };
        sum.rotate_left(7) ^ checksum::stored(admin, &table).unwrap().sum
    })
}

/// Loads in uneven parts. On every engine, the stored rows must equal what the generator makes as one part.
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
    end: [&'static str; 3],
}

/// The order matters: damage by one of them remains.
const LOSSES: &[Loss] = &[
    Loss {
        found: "stock-follows",
        begin: [
            "CREATE TRIGGER loss AFTER UPDATE OF s_quantity ON stock WHEN random() % 100 = 0 BEGIN \
             UPDATE stock SET s_quantity = OLD.s_quantity WHERE rowid = NEW.rowid; END",
            "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN \
             IF random() < 0.01 THEN NEW.s_quantity := OLD.s_quantity; END IF; RETURN NEW; END$$; \
             CREATE TRIGGER loss BEFORE UPDATE ON stock FOR EACH ROW EXECUTE FUNCTION lose()",
            "CREATE TRIGGER loss BEFORE UPDATE ON stock FOR EACH ROW \
             SET NEW.s_quantity = IF(RAND() < 0.01, OLD.s_quantity, NEW.s_quantity)",
        ],
        end: ["DROP TRIGGER loss", "DROP TRIGGER loss ON stock; DROP FUNCTION lose", "DROP TRIGGER loss"],
    },
    Loss {
        found: "customer-data",
        begin: [
            "CREATE TRIGGER loss AFTER UPDATE OF c_data ON customer WHEN random() % 2 = 0 BEGIN \
             UPDATE customer SET c_data = OLD.c_data WHERE rowid = NEW.rowid; END",
            "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN \
             IF random() < 0.5 THEN NEW.c_data := OLD.c_data; END IF; RETURN NEW; END$$; \
             CREATE TRIGGER loss BEFORE UPDATE ON customer FOR EACH ROW EXECUTE FUNCTION lose()",
            "CREATE TRIGGER loss BEFORE UPDATE ON customer FOR EACH ROW \
             SET NEW.c_data = IF(RAND() < 0.5, OLD.c_data, NEW.c_data)",
        ],
        end: ["DROP TRIGGER loss", "DROP TRIGGER loss ON customer; DROP FUNCTION lose", "DROP TRIGGER loss"],
    },
    Loss { found: "items", begin: ["UPDATE item SET i_price = i_price + 1 WHERE i_id = 4711"; 3], end: [""; 3] },
];

fn each_loss_is_found(database: &Database, workload: &OrderEntry, admin: &mut dyn Admin) {
    let dialect = database.dialect();
    let words = |of: &[&'static str; 3]| match dialect {
        Dialect::Sqlite => of[0],
        Dialect::Postgres => of[1],
        Dialect::Mysql => of[2],
    };
    let mut expected = Vec::new();
    for loss in LOSSES {
        let before = workload.state(admin).unwrap();
        admin.script(words(&loss.begin)).unwrap();
        let (totals, _) = running::run(database, workload, CLIENTS, TRANSACTIONS_PER_CLIENT / 2);
        admin.script(words(&loss.end)).unwrap();
        let mut findings = workload.reconcile(&before, &workload.state(admin).unwrap(), &totals);
        findings.extend(workload.check(admin, dialect, Moment::AfterTrial).unwrap());
        // Stocks are compared with their state before the run, everything else with all that ever happened.
        expected.retain(|name| *name != "order-entry/stock-follows");
        expected.push(format!("order-entry/{}", loss.found));
        expected.sort();
        let mut violated: Vec<_> =
            findings.iter().filter(|finding| finding.is_violated()).map(|finding| finding.name.clone()).collect();
        violated.sort();
        assert_eq!(violated, expected, "{findings:#?}");
    }
}
