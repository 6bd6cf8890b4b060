//! DVD Store from an empty database to a checked run, in both versions and by all ways, and conditions that can fail.

use crate::database::Database;
use crate::running;
use engines::admin::Admin;
use engines::statement::Dialect;
use record::check::{CheckResult, Moment, Verdict};
use std::collections::BTreeSet;
use workloads::checksum;
use workloads::dataset::{Dataset, Part, Table};
use workloads::dvd_store::{DvdStore, Settings, Size, Version};
use workloads::way::{Statements, Transactions};

const CLIENTS: u32 = 4;
const ORDERS_PER_CLIENT: u32 = 600;
const BY_ONE_CLIENT: u32 = 150;

fn size() -> Size {
    Size::parse("1MB").unwrap()
}

fn made(version: Version, transactions: Transactions, statements: Statements) -> DvdStore {
    DvdStore::new(Settings { transactions, statements, ..Settings::plain(size(), version) }).unwrap()
}

pub fn load_run_and_check(database: &Database) {
    for version in [Version::Two, Version::Three] {
        let plain = made(version, Transactions::Client, Statements::Plain);
        let pipelined = made(version, Transactions::Client, Statements::Pipelined);
        let called = made(version, Transactions::Procedures, Statements::Plain);
        // SQLite has no procedures. What they leave must be the same as elsewhere, so it does the work plainly once more.
        let called = if database.dialect() == Dialect::Sqlite { &plain } else { &called };
        load(database, called);
        let mut admin = database.admin();
        all_hold(&plain.check(admin.as_mut(), database.dialect(), Moment::AfterLoad).unwrap());
        // Each way has a client of its own. A second customer of one name would take an id on some engines.
        for (way, client) in [&plain, &pipelined, called].into_iter().zip(CLIENTS..) {
            running::run_these(database, way, client..client + 1, BY_ONE_CLIENT);
        }
        assert_eq!(left(admin.as_mut(), version), left_everywhere(version), "{version:?}");
        for way in [&plain, &pipelined, called] {
            let before = way.state(admin.as_mut()).unwrap();
            let (totals, tally) = running::run(database, way, CLIENTS, ORDERS_PER_CLIENT);
            let after = way.state(admin.as_mut()).unwrap();
            all_hold(&way.reconcile(&before, &after, &totals));
            all_hold(&way.check(admin.as_mut(), database.dialect(), Moment::AfterTrial).unwrap());
            let audit = way.audit(&totals, &tally, 0);
            all_hold(&audit);
            let is_undecided = |finding: &&CheckResult| matches!(finding.verdict, Verdict::Undecided { .. });
            let undecided: Vec<_> = audit.iter().filter(is_undecided).map(|finding| finding.name.as_str()).collect();
            // So small a shop has few of the titles that are searched for.
            assert_eq!(undecided, ["dvd-store/matches-by-title"]);
        }
        attempts_do_nothing_twice(database, &plain);
        drop_tables(&plain, admin.as_mut(), database.dialect());
    }
}

/// What one client leaves on every engine by all ways.
fn left_everywhere(version: Version) -> &'static str {
    match version {
        Version::Two => "178c14248dd95b01",
        Version::Three => "2dc0391be7defc80",
    }
}

/// All rows of the tables that orders change, but for their dates. A rolled-back order takes a number on some engines, so
/// orders are numbered anew.
fn left(admin: &mut dyn Admin, version: Version) -> String {
    const COLUMNS: [(&str, &[&str]); 9] = [
        ("customers", &["customerid", "lastname", "address1", "city", "state", "username", "age", "gender"]),
        ("inventory", &["prod_id", "quan_in_stock", "sales"]),
        ("reorder", &["prod_id", "quan_low", "quan_reordered"]),
        (
            "(SELECT ROW_NUMBER() OVER (ORDER BY orderid) AS number, customerid, netamount, tax, totalamount FROM orders) o",
            &["number", "customerid", "netamount", "tax", "totalamount"],
        ),
        (
            "(SELECT DENSE_RANK() OVER (ORDER BY orderid) AS number, orderlineid, prod_id, quantity FROM orderlines) l",
            &["number", "orderlineid", "prod_id", "quantity"],
        ),
        (
            "(SELECT DENSE_RANK() OVER (ORDER BY orderid) AS number, customerid, prod_id FROM cust_hist) h",
            &["number", "customerid", "prod_id"],
        ),
        ("membership", &["customerid", "membershiptype"]),
        ("reviews", &["review_id", "prod_id", "stars", "customerid", "review_summary", "review_text"]),
        ("reviews_helpfulness", &["review_helpfulness_id", "review_id", "customerid", "helpfulness"]),
    ];
    let count = if version == Version::Two { 6 } else { COLUMNS.len() };
    let sum = COLUMNS[..count].iter().fold(0, |sum: u64, (name, columns)| {
        let table = Table { name: (*name).into(), columns, key: &[] };
        sum.rotate_left(7) ^ checksum::stored(admin, &table).unwrap().sum
    });
    format!("{sum:016x}")
}

/// Loads in uneven parts, and tables before those that they refer to, as parallel loading may. On every engine, the stored rows
/// must equal what the generator makes as one part.
fn load(database: &Database, workload: &DvdStore) {
    let mut admin = database.admin();
    admin.script(&workload.schema(database.dialect())).unwrap();
    for table in workload.tables().iter().rev() {
        let loaded: u64 = (0..3).map(|index| database.load(workload, table, Part { index, count: 3 })).sum();
        assert_eq!(loaded, workload.expected_rows(table), "{}", table.name);
    }
    workload.finish_over(admin.as_mut(), database.dialect()).unwrap();
    for table in workload.tables() {
        let stored = checksum::stored(admin.as_mut(), table).unwrap();
        assert_eq!(stored, checksum::expected(workload, table, 2), "{}", table.name);
    }
}

fn drop_tables(workload: &DvdStore, admin: &mut dyn Admin, dialect: Dialect) {
    let mut names: Vec<_> = workload.tables().iter().rev().map(|table| table.name.to_string()).collect();
    if dialect == Dialect::Sqlite {
        names.extend(["products_by_actor", "products_by_title"].map(str::to_owned));
    }
    for name in &names {
        admin.script(&format!("DROP TABLE {name}")).unwrap();
    }
}

fn all_hold(findings: &[CheckResult]) {
    let violated: Vec<_> = findings.iter().filter(|finding| finding.is_violated()).collect();
    assert!(violated.is_empty(), "{violated:#?}");
}

/// If the database gives a purchase up, it is tried again, but nobody signs up twice. SQLite has no error that a trigger could
/// raise for it.
fn attempts_do_nothing_twice(database: &Database, workload: &DvdStore) {
    let (begin, end) = match database.dialect() {
        Dialect::Sqlite => return,
        Dialect::Postgres => (
            "CREATE FUNCTION give_up() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN \
             IF random() < 0.2 THEN RAISE EXCEPTION USING ERRCODE = '40001'; END IF; RETURN NEW; END$$; \
             CREATE TRIGGER give_up BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION give_up()",
            "DROP TRIGGER give_up ON orders; DROP FUNCTION give_up",
        ),
        Dialect::Mysql => (
            "CREATE TRIGGER give_up BEFORE INSERT ON orders FOR EACH ROW BEGIN IF RAND() < 0.2 THEN \
             SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213; END IF; END",
            "DROP TRIGGER give_up",
        ),
    };
    let mut admin = database.admin();
    admin.script(begin).unwrap();
    let before = workload.state(admin.as_mut()).unwrap();
    let (totals, tally) = running::run(database, workload, 1, 200);
    let after = workload.state(admin.as_mut()).unwrap();
    admin.script(end).unwrap();
    all_hold(&workload.reconcile(&before, &after, &totals));
    let orders = totals.iter().find(|totals| totals.kind == "order").unwrap();
    assert_eq!(orders.committed + orders.rolled_back, 200);
    all_hold(&workload.audit(&totals, &tally, 0));
}

/// A condition, how to violate it, and how to undo that.
struct Damage {
    condition: &'static str,
    /// What the finding must name.
    key: &'static str,
    harm: &'static str,
    repair: &'static str,
}

const fn damage(condition: &'static str, key: &'static str, harm: &'static str, repair: &'static str) -> Damage {
    Damage { condition, key, harm, repair }
}

/// Foreign keys would not allow some of them, so they are dropped or switched off.
const DAMAGES: &[Damage] = &[
    damage(
        "cardinalities",
        "inventory has 1001 rows instead of 1000",
        "INSERT INTO inventory VALUES (1001, 5, 0)",
        "DELETE FROM inventory WHERE prod_id = 1001",
    ),
    damage(
        "categories",
        "16 rows with checksum",
        "UPDATE categories SET categoryname = 'Comedies' WHERE category = 5",
        "UPDATE categories SET categoryname = 'Comedy' WHERE category = 5",
    ),
    damage(
        "products",
        "1000 rows with checksum",
        "UPDATE products SET special = 1 - special WHERE prod_id = 7",
        "UPDATE products SET special = 1 - special WHERE prod_id = 7",
    ),
    damage(
        "loaded-customers",
        "customer 8",
        "UPDATE customers SET username = 'other' WHERE customerid = 8",
        "UPDATE customers SET username = 'user8' WHERE customerid = 8",
    ),
    damage(
        "loaded-customers",
        "customer 9",
        "UPDATE customers SET region = 2 WHERE customerid = 9",
        "UPDATE customers SET region = 1 WHERE customerid = 9",
    ),
    damage(
        "order-totals",
        "order 10",
        "UPDATE orders SET totalamount = totalamount + 1 WHERE orderid = 10",
        "UPDATE orders SET totalamount = totalamount - 1 WHERE orderid = 10",
    ),
    damage(
        "order-taxes",
        "order 11",
        "UPDATE orders SET tax = tax + 1, totalamount = totalamount + 1 WHERE orderid = 11",
        "UPDATE orders SET tax = tax - 1, totalamount = totalamount - 1 WHERE orderid = 11",
    ),
    damage(
        "order-amounts",
        "order 1201",
        "UPDATE orders SET netamount = netamount + 1, totalamount = totalamount + 1 WHERE orderid = 1201",
        "UPDATE orders SET netamount = netamount - 1, totalamount = totalamount - 1 WHERE orderid = 1201",
    ),
    damage(
        "order-lines",
        "order 12",
        "UPDATE orderlines SET orderlineid = 20 WHERE orderid = 12 AND orderlineid = 1",
        "UPDATE orderlines SET orderlineid = 1 WHERE orderid = 12 AND orderlineid = 20",
    ),
    damage(
        "line-dates",
        "order 13, line 1",
        "UPDATE orderlines SET orderdate = '2001-02-03' WHERE orderid = 13 AND orderlineid = 1",
        "UPDATE orderlines SET orderdate = (SELECT orderdate FROM orders o WHERE o.orderid = 13) \
         WHERE orderid = 13 AND orderlineid = 1",
    ),
    damage(
        "line-orders",
        "order 90000, line 1",
        "INSERT INTO orderlines VALUES (1, 90000, 1, 1, '2009-01-01')",
        "DELETE FROM orderlines WHERE orderid = 90000",
    ),
    damage(
        "line-products",
        "order 14, line 1",
        "UPDATE orderlines SET prod_id = prod_id + 90000 WHERE orderid = 14 AND orderlineid = 1",
        "UPDATE orderlines SET prod_id = prod_id - 90000 WHERE orderid = 14 AND orderlineid = 1",
    ),
    damage(
        "order-customers",
        "order 15",
        "UPDATE orders SET customerid = customerid + 90000 WHERE orderid = 15",
        "UPDATE orders SET customerid = customerid - 90000 WHERE orderid = 15",
    ),
    damage(
        "history",
        "order 16",
        "UPDATE cust_hist SET prod_id = prod_id + 1 WHERE orderid = 16",
        "UPDATE cust_hist SET prod_id = prod_id - 1 WHERE orderid = 16",
    ),
    damage(
        "history-orders",
        "order 90000",
        "INSERT INTO cust_hist VALUES (1, 90000, 1)",
        "DELETE FROM cust_hist WHERE orderid = 90000",
    ),
    damage(
        "stock",
        "product 17",
        "UPDATE inventory SET sales = sales + 1 WHERE prod_id = 17; DROP TRIGGER restock{on inventory}; \
         UPDATE inventory SET quan_in_stock = quan_in_stock - 9000 WHERE prod_id = 17",
        "UPDATE inventory SET quan_in_stock = quan_in_stock + 9000, sales = sales - 1 WHERE prod_id = 17",
    ),
    damage(
        "sales",
        "product 18",
        "UPDATE inventory SET sales = sales + 1 WHERE prod_id = 18",
        "UPDATE inventory SET sales = sales - 1 WHERE prod_id = 18",
    ),
    damage(
        "reorders",
        "product 19",
        "INSERT INTO reorder VALUES (19, '2009-01-01', 2, '2009-01-01', 249, '2009-01-01')",
        "DELETE FROM reorder WHERE prod_id = 19 AND quan_reordered = 249",
    ),
    damage(
        "members",
        "customer 90000",
        "INSERT INTO membership VALUES (90000, 1, '2015-01-15')",
        "DELETE FROM membership WHERE customerid = 90000",
    ),
    damage(
        "reviews",
        "review 20",
        "UPDATE reviews SET stars = stars + 5 WHERE review_id = 20",
        "UPDATE reviews SET stars = stars - 5 WHERE review_id = 20",
    ),
    damage(
        "ratings",
        "rating 21",
        "UPDATE reviews_helpfulness SET helpfulness = helpfulness + 10 WHERE review_helpfulness_id = 21",
        "UPDATE reviews_helpfulness SET helpfulness = helpfulness - 10 WHERE review_helpfulness_id = 21",
    ),
];

pub fn each_condition_finds_its_violation(database: &Database) {
    let (workload, dialect) = (made(Version::Three, Transactions::Client, Statements::Plain), database.dialect());
    load(database, &workload);
    running::run(database, &workload, 1, 20);
    let mut admin = database.admin();
    admin.script(match dialect {
        Dialect::Sqlite => "PRAGMA foreign_keys = OFF",
        Dialect::Postgres => {
            "ALTER TABLE orders DROP CONSTRAINT orders_customer; ALTER TABLE orderlines DROP CONSTRAINT orderlines_order; \
             ALTER TABLE membership DROP CONSTRAINT membership_customer"
        }
        Dialect::Mysql => "SET foreign_key_checks = 0",
    })
    .unwrap();
    let check = |admin: &mut dyn Admin| workload.check(admin, dialect, Moment::AfterTrial).unwrap();
    let sound = check(admin.as_mut());
    all_hold(&sound);
    let all: BTreeSet<&str> = sound.iter().map(|finding| finding.name.as_str()).collect();
    for damage in DAMAGES {
        let name = format!("dvd-store/{}", damage.condition);
        assert!(all.contains(name.as_str()), "{name} is not checked");
        let on_table = if dialect == Dialect::Postgres { " ON inventory" } else { "" };
        admin.script(&damage.harm.replace("{on inventory}", on_table)).unwrap();
        let finding = check(admin.as_mut()).into_iter().find(|finding| finding.name == name).unwrap();
        let Verdict::Violated { seen } = finding.verdict else { panic!("{name} after {}", damage.harm) };
        assert!(seen.contains(damage.key), "{name} after {}: {seen}", damage.harm);
        admin.script(damage.repair).unwrap();
    }
    assert_eq!(check(admin.as_mut()), sound);
    let damaged: BTreeSet<String> = DAMAGES.iter().map(|damage| format!("dvd-store/{}", damage.condition)).collect();
    let never: Vec<_> = all.into_iter().filter(|name| !damaged.contains(*name)).collect();
    assert!(never.is_empty(), "conditions that were never violated: {never:?}");
}
