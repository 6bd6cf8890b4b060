//! Shows that every condition on the data can fail: one district is loaded, then damaged and repaired per condition.

use crate::database::Database;
use engines::admin::Admin;
use record::check::{CheckResult, Moment, Verdict};
use std::collections::BTreeSet;
use workloads::dataset::{Dataset, Part};
use workloads::order_entry::{OrderEntry, Settings};

/// A condition, how to violate it, and how to undo that.
struct Damage {
    condition: &'static str,
    /// The key that the finding must name.
    key: &'static str,
    harm: &'static str,
    repair: &'static str,
}

const DAMAGES: &[Damage] = &[
    Damage {
        condition: "consistency-01",
        key: "warehouse 1",
        harm: "UPDATE warehouse SET w_ytd = w_ytd + 1",
        repair: "UPDATE warehouse SET w_ytd = w_ytd - 1",
    },
    Damage {
        condition: "consistency-02",
        key: "warehouse 1, district 1",
        harm: "UPDATE district SET d_next_o_id = d_next_o_id + 1",
        repair: "UPDATE district SET d_next_o_id = d_next_o_id - 1",
    },
    Damage {
        condition: "consistency-02",
        key: "warehouse 1, district 1",
        harm: "DELETE FROM new_order WHERE no_o_id = 3000",
        repair: "INSERT INTO new_order VALUES (1, 1, 3000)",
    },
    Damage {
        condition: "consistency-03",
        key: "warehouse 1, district 1",
        harm: "DELETE FROM new_order WHERE no_o_id = 2500",
        repair: "INSERT INTO new_order VALUES (1, 1, 2500)",
    },
    Damage {
        condition: "consistency-04",
        key: "warehouse 1, district 1",
        harm: "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_id = 17",
        repair: "UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE o_id = 17",
    },
    Damage {
        condition: "consistency-05",
        key: "warehouse 1, district 1, order 2999",
        harm: "UPDATE orders SET o_carrier_id = 3 WHERE o_id = 2999",
        repair: "UPDATE orders SET o_carrier_id = NULL WHERE o_id = 2999",
    },
    Damage {
        condition: "consistency-06",
        key: "warehouse 1, district 1, order 18",
        harm: "UPDATE order_line SET ol_o_id = 4000 WHERE ol_o_id = 18",
        repair: "UPDATE order_line SET ol_o_id = 18 WHERE ol_o_id = 4000",
    },
    Damage {
        condition: "consistency-07",
        key: "warehouse 1, district 1, order 2998, line 5",
        harm: "UPDATE order_line SET ol_delivery_d = 1 WHERE ol_o_id = 2998",
        repair: "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_o_id = 2998",
    },
    Damage {
        condition: "consistency-08",
        key: "warehouse 1",
        harm: "UPDATE history SET h_amount = h_amount + 1 WHERE h_c_id = 5",
        repair: "UPDATE history SET h_amount = h_amount - 1 WHERE h_c_id = 5",
    },
    Damage {
        condition: "consistency-09",
        key: "warehouse 1, district 1",
        harm: "UPDATE history SET h_d_id = 2 WHERE h_c_id = 6",
        repair: "UPDATE history SET h_d_id = 1 WHERE h_c_id = 6",
    },
    Damage {
        condition: "consistency-10",
        key: "warehouse 1, district 1, customer 7",
        harm: "UPDATE customer SET c_balance = c_balance - 1 WHERE c_id = 7",
        repair: "UPDATE customer SET c_balance = c_balance + 1 WHERE c_id = 7",
    },
    Damage {
        condition: "consistency-11",
        key: "warehouse 1, district 1",
        harm: "UPDATE orders SET o_carrier_id = NULL WHERE o_id = 19",
        repair: "UPDATE orders SET o_carrier_id = 1 WHERE o_id = 19",
    },
    Damage {
        condition: "consistency-11-loaded",
        key: "warehouse 1, district 1",
        harm: "DELETE FROM new_order WHERE no_o_id = 2101",
        repair: "INSERT INTO new_order VALUES (1, 1, 2101)",
    },
    Damage {
        condition: "consistency-12",
        key: "warehouse 1, district 1, customer 8",
        harm: "UPDATE customer SET c_ytd_payment = c_ytd_payment + 1 WHERE c_id = 8",
        repair: "UPDATE customer SET c_ytd_payment = c_ytd_payment - 1 WHERE c_id = 8",
    },
    Damage {
        condition: "references",
        key: "warehouse 1, district 1, order 3001",
        harm: "INSERT INTO new_order VALUES (1, 1, 3001)",
        repair: "DELETE FROM new_order WHERE no_o_id = 3001",
    },
    Damage {
        condition: "references",
        key: "warehouse 1, district 1, order 20",
        harm: "UPDATE orders SET o_c_id = o_c_id + 90000 WHERE o_id = 20",
        repair: "UPDATE orders SET o_c_id = o_c_id - 90000 WHERE o_id = 20",
    },
    Damage {
        condition: "stock-quantity",
        key: "warehouse 1, item 12",
        harm: "UPDATE stock SET s_quantity = s_quantity - 100 WHERE s_i_id = 12",
        repair: "UPDATE stock SET s_quantity = s_quantity + 100 WHERE s_i_id = 12",
    },
    Damage {
        condition: "stock-ledger",
        key: "warehouse 1",
        harm: "UPDATE stock SET s_ytd = 1 WHERE s_i_id = 13",
        repair: "UPDATE stock SET s_ytd = 0 WHERE s_i_id = 13",
    },
    Damage {
        condition: "stock-ledger",
        key: "warehouse 1",
        harm: "UPDATE stock SET s_order_cnt = 1 WHERE s_i_id = 13",
        repair: "UPDATE stock SET s_order_cnt = 0 WHERE s_i_id = 13",
    },
    Damage {
        condition: "stock-ledger",
        key: "warehouse 1",
        harm: "UPDATE stock SET s_remote_cnt = 1 WHERE s_i_id = 13",
        repair: "UPDATE stock SET s_remote_cnt = 0 WHERE s_i_id = 13",
    },
    Damage {
        condition: "payment-ledger",
        key: "warehouse 1, district 1",
        harm: "UPDATE customer SET c_payment_cnt = 2 WHERE c_id = 9",
        repair: "UPDATE customer SET c_payment_cnt = 1 WHERE c_id = 9",
    },
    Damage {
        condition: "delivery-ledger",
        key: "warehouse 1, district 1",
        harm: "UPDATE customer SET c_delivery_cnt = 1 WHERE c_id = 10",
        repair: "UPDATE customer SET c_delivery_cnt = 0 WHERE c_id = 10",
    },
    Damage {
        condition: "customer-data",
        key: "warehouse 1, district 1, customer 11",
        harm: "UPDATE customer SET c_data = 'lost' WHERE c_id = 11",
        repair: "UPDATE customer SET c_data = (SELECT c_data FROM customer WHERE c_id = 12) WHERE c_id = 11",
    },
    // A payment that is missing in the data, and one in the data of a customer with good credit.
    Damage {
        condition: "customer-data",
        key: "warehouse 1, district 1, customer ",
        harm: "UPDATE customer SET c_payment_cnt = 2 WHERE c_credit = 'BC'",
        repair: "UPDATE customer SET c_payment_cnt = 1",
    },
    Damage {
        condition: "customer-data",
        key: "warehouse 1, district 1, customer ",
        harm: "UPDATE customer SET c_payment_cnt = 20 WHERE c_credit = 'BC'",
        repair: "UPDATE customer SET c_payment_cnt = 1",
    },
    Damage {
        condition: "customer-data",
        key: "warehouse 1, district 1, customer ",
        harm: "UPDATE customer SET c_credit = 'GC', c_data = CONCAT('|', substr(c_data, 2)) WHERE c_credit = 'BC'",
        repair: "UPDATE customer SET c_credit = 'BC', c_data = REPLACE(c_data, '|', 'x') WHERE c_data LIKE '|%'",
    },
    Damage {
        condition: "cardinalities",
        key: "warehouse has 2 rows instead of 1",
        harm: "INSERT INTO warehouse SELECT 2, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, 0 FROM warehouse",
        repair: "DELETE FROM warehouse WHERE w_id = 2",
    },
];

pub fn each_condition_finds_its_violation(database: &Database) {
    let workload = OrderEntry::new(Settings::plain(1, 3)).unwrap();
    let mut admin = database.admin();
    admin.script(&workload.schema(database.dialect())).unwrap();
    load_one_district(database, &workload, admin.as_mut());
    admin.script(&workload.finish(database.dialect())).unwrap();

    let check = |admin: &mut dyn Admin| workload.check(admin, database.dialect(), Moment::AfterLoad).unwrap();
    let sound = check(admin.as_mut());
    let all: BTreeSet<&str> = sound.iter().map(|finding| finding.name.as_str()).collect();
    for damage in DAMAGES {
        let name = format!("order-entry/{}", damage.condition);
        assert!(all.contains(name.as_str()), "{name} is not checked");
        admin.script(damage.harm).unwrap();
        let seen = seen_by(&check(admin.as_mut()), &name);
        assert!(seen.contains(damage.key), "{name} after {}: {seen}", damage.harm);
        admin.script(damage.repair).unwrap();
    }
    assert_eq!(check(admin.as_mut()), sound);
    let damaged: BTreeSet<String> = DAMAGES.iter().map(|damage| format!("order-entry/{}", damage.condition)).collect();
    let never: Vec<_> = all.into_iter().filter(|name| !damaged.contains(*name)).collect();
    // No items are loaded here; another test damages them where all of them are loaded.
    assert_eq!(never, ["order-entry/items", "order-entry/last-name-constants"], "conditions that were never violated");
}

/// Loads the first of ten districts and the first fiftieth of the stocks, with a warehouse that has only these.
fn load_one_district(database: &Database, workload: &OrderEntry, admin: &mut dyn Admin) {
    for table in workload.tables() {
        let count = match &*table.name {
            "warehouse" => 1,
            "stock" => 50,
            "item" => continue,
            _ => 10,
        };
        database.load(workload, table, Part { index: 0, count });
    }
    admin.script("UPDATE warehouse SET w_ytd = 3000000").unwrap();
}

fn seen_by(findings: &[CheckResult], name: &str) -> String {
    let finding = findings.iter().find(|finding| finding.name == name).unwrap();
    match &finding.verdict {
        Verdict::Violated { seen } => seen.clone(),
        other => panic!("{name}: {other:?}"),
    }
}
