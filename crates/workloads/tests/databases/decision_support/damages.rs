//! Conditions that can fail: each is violated once, and names what violates it.

use crate::damage::{Round, damage, each_is_found};
use crate::database::Database;
use engines::admin::Admin;
use engines::statement::Dialect;
use record::check::Moment;
use workloads::dataset::Dataset;
use workloads::decision_support_h::DecisionSupportH;

/// Orders 1 to 39 may have been replaced.
const ROUNDS: &[Round] = &[
    &[
        damage(
            "cardinalities",
            "supplier has 101 rows instead of 100",
            "INSERT INTO supplier VALUES (101, 'a', 'b', 1, 'c', 1, 'd')",
            "DELETE FROM supplier WHERE s_suppkey = 101",
        ),
        damage(
            "region",
            "5 rows with checksum",
            "UPDATE region SET r_name = 'EUROPA' WHERE r_regionkey = 3",
            "UPDATE region SET r_name = 'EUROPE' WHERE r_regionkey = 3",
        ),
        damage(
            "nation",
            "25 rows with checksum",
            "UPDATE nation SET n_regionkey = 1 WHERE n_nationkey = 7",
            "UPDATE nation SET n_regionkey = 3 WHERE n_nationkey = 7",
        ),
        damage(
            "order-totals",
            "order 992",
            "UPDATE orders SET o_totalprice = o_totalprice + 1 WHERE o_orderkey = 992",
            "UPDATE orders SET o_totalprice = o_totalprice - 1 WHERE o_orderkey = 992",
        ),
        damage(
            "order-lines",
            "order 993",
            "UPDATE lineitem SET l_linenumber = 9 WHERE l_orderkey = 993 AND l_linenumber = 1",
            "UPDATE lineitem SET l_linenumber = 1 WHERE l_orderkey = 993 AND l_linenumber = 9",
        ),
        damage(
            "order-status",
            "order 992",
            "UPDATE orders SET o_orderstatus = 'X' WHERE o_orderkey = 992",
            "UPDATE orders SET o_orderstatus = 'O' WHERE o_orderkey = 992",
        ),
        damage(
            "order-customers",
            "order 994",
            "UPDATE orders SET o_custkey = o_custkey + 9000 WHERE o_orderkey = 994",
            "UPDATE orders SET o_custkey = o_custkey - 9000 WHERE o_orderkey = 994",
        ),
        damage(
            "line-offers",
            "order 995, line 1",
            "UPDATE lineitem SET l_suppkey = l_suppkey + 900 WHERE l_orderkey = 995 AND l_linenumber = 1",
            "UPDATE lineitem SET l_suppkey = l_suppkey - 900 WHERE l_orderkey = 995 AND l_linenumber = 1",
        ),
        damage(
            "line-dates",
            "order 997, line 1",
            "UPDATE orders SET o_orderdate = '1998-12-31' WHERE o_orderkey = 997",
            "UPDATE orders SET o_orderdate = '1997-05-19' WHERE o_orderkey = 997",
        ),
        damage(
            "offers",
            "part 9000, supplier 1",
            "INSERT INTO partsupp VALUES (9000, 1, 1, 1, 'a')",
            "DELETE FROM partsupp WHERE ps_partkey = 9000",
        ),
    ],
    &[
        damage(
            "order-keys",
            "order 1052",
            "INSERT INTO orders VALUES (1052, 1, 'O', 1, '1995-01-01', 'a', 'b', 0, 'c')",
            "DELETE FROM orders WHERE o_orderkey = 1052",
        ),
        damage(
            "line-orders",
            "order 1053, line 1",
            "INSERT INTO lineitem VALUES \
         (1053, 1, 2, 1, 1, 1, 0, 0, 'N', 'O', '1997-01-01', '1997-01-01', '1997-01-01', 'a', 'b', 'c')",
            "DELETE FROM lineitem WHERE l_orderkey = 1053",
        ),
        damage(
            "line-prices",
            "order 996, line 1",
            "UPDATE lineitem SET l_extendedprice = l_extendedprice + 1 WHERE l_orderkey = 996 AND l_linenumber = 1",
            "UPDATE lineitem SET l_extendedprice = l_extendedprice - 1 WHERE l_orderkey = 996 AND l_linenumber = 1",
        ),
        damage(
            "answers",
            "h13 has",
            "UPDATE refresh_sets SET inserted = 0, deleted = 0",
            "UPDATE refresh_sets SET inserted = 3, deleted = 3",
        ),
    ],
];

/// After three refresh sets. Foreign keys would not allow some of the damages, so they are dropped or switched off.
pub fn each_condition_finds_its_violation(database: &Database, workload: &DecisionSupportH) {
    let (mut admin, dialect) = (database.admin(), database.dialect());
    admin.script(match dialect {
        Dialect::Sqlite => "PRAGMA foreign_keys = OFF",
        Dialect::Postgres => {
            "ALTER TABLE orders DROP CONSTRAINT orders_customer; ALTER TABLE lineitem DROP CONSTRAINT lineitem_order; \
             ALTER TABLE lineitem DROP CONSTRAINT lineitem_offer; ALTER TABLE partsupp DROP CONSTRAINT partsupp_part"
        }
        Dialect::Mysql => "SET foreign_key_checks = 0",
    })
    .unwrap();
    let check = |admin: &mut dyn Admin| workload.check(admin, dialect, Moment::AfterTrial).unwrap();
    let never = each_is_found(ROUNDS, admin.as_mut(), &check);
    assert!(never.is_empty(), "conditions that were never violated: {never:?}");
}
