//! What the transactions leave in the rows, beyond the conditions that every trial checks.

use engines::admin::Admin;

struct Effect {
    what: &'static str,
    /// Counts the rows that show the effect. There must be some, or nothing was tested.
    shown: &'static str,
    /// Counts the rows that contradict it.
    contradicted: &'static str,
}

/// Effects that need a second warehouse.
const SUPPLIED: &str = "an order is all local exactly if its warehouse supplies every line";
const ELSEWHERE: &str = "a payment may be made in another warehouse than the customer's";

const EFFECTS: &[Effect] = &[
    Effect {
        what: "a line costs its quantity times the item's price",
        shown: "SELECT COUNT(*) FROM order_line WHERE ol_o_id > 3000 AND ol_amount > 0",
        contradicted: "SELECT COUNT(*) FROM order_line JOIN item ON i_id = ol_i_id \
            WHERE ol_o_id > 3000 AND ol_amount <> ol_quantity * i_price",
    },
    Effect {
        what: "a line carries what its supplier's stock has for the order's district",
        shown: "SELECT COUNT(*) FROM order_line WHERE ol_o_id > 3000 AND ol_d_id = 10",
        contradicted: "SELECT COUNT(*) FROM order_line JOIN stock ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id \
            WHERE ol_o_id > 3000 AND ol_dist_info <> CASE ol_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 \
            WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 \
            WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END",
    },
    Effect {
        what: SUPPLIED,
        shown: "SELECT COUNT(*) FROM orders WHERE o_all_local = 0",
        contradicted: "SELECT COUNT(*) FROM orders WHERE o_all_local <> (SELECT CASE WHEN COUNT(*) = 0 THEN 1 ELSE 0 END \
            FROM order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id AND ol_supply_w_id <> o_w_id)",
    },
    Effect {
        what: "the lines of an order are numbered without gaps",
        shown: "SELECT COUNT(*) FROM orders WHERE o_id > 3000",
        contradicted: "SELECT COUNT(*) FROM (SELECT 1 AS gap FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id \
            HAVING MIN(ol_number) <> 1 OR MAX(ol_number) <> COUNT(*)) g",
    },
    Effect {
        what: "an order is entered after the load",
        shown: "SELECT COUNT(*) FROM orders WHERE o_id > 3000",
        contradicted: "SELECT COUNT(*) FROM orders WHERE o_id > 3000 AND o_entry_d <= 1767225600000000",
    },
    Effect {
        what: "a payment names where it was made: warehouse, four blanks, district",
        shown: "SELECT COUNT(*) FROM history WHERE h_date > 1767225600000000",
        contradicted: "SELECT COUNT(*) FROM history JOIN warehouse ON w_id = h_w_id \
            JOIN district ON d_w_id = h_w_id AND d_id = h_d_id \
            WHERE h_date > 1767225600000000 AND h_data <> substr(CONCAT(w_name, '    ', d_name), 1, 24)",
    },
    Effect {
        what: ELSEWHERE,
        shown: "SELECT COUNT(*) FROM history WHERE h_c_w_id <> h_w_id",
        contradicted: "SELECT COUNT(*) FROM history WHERE h_c_w_id = h_w_id AND h_c_d_id <> h_d_id",
    },
    Effect {
        what: "the data of a customer with bad credit begins with the payment",
        shown: "SELECT COUNT(*) FROM customer WHERE c_credit = 'BC' AND c_payment_cnt > 1",
        contradicted: "SELECT COUNT(*) FROM customer WHERE c_credit = 'BC' AND c_payment_cnt > 1 AND (length(c_data) > 500 \
            OR substr(c_data, 1, length(CONCAT(c_id, ' '))) <> CONCAT(c_id, ' '))",
    },
    Effect {
        what: "the data of a customer with good credit stays",
        shown: "SELECT COUNT(*) FROM customer WHERE c_credit = 'GC' AND c_payment_cnt > 1",
        contradicted: "SELECT COUNT(*) FROM customer WHERE c_credit = 'GC' AND c_data LIKE '% %'",
    },
    Effect {
        what: "a delivered order has one of ten carriers, and the oldest are delivered first",
        shown: "SELECT COUNT(*) FROM orders WHERE o_id > 2100 AND o_carrier_id BETWEEN 1 AND 10",
        contradicted: "SELECT COUNT(*) FROM (SELECT 1 AS overtaken FROM orders GROUP BY o_w_id, o_d_id HAVING \
            MAX(CASE WHEN o_carrier_id IS NOT NULL THEN o_id END) > MIN(CASE WHEN o_carrier_id IS NULL THEN o_id END)) d",
    },
];

pub fn are_as_they_should_be(admin: &mut dyn Admin, warehouses: u32) {
    for effect in EFFECTS.iter().filter(|effect| warehouses > 1 || ![SUPPLIED, ELSEWHERE].contains(&effect.what)) {
        assert!(count(admin, effect.shown) > 0, "never happened: {}", effect.what);
        assert_eq!(count(admin, effect.contradicted), 0, "contradicted: {}", effect.what);
    }
}

fn count(admin: &mut dyn Admin, query: &str) -> i64 {
    let mut found = None;
    admin.scan(query, &mut |set, row| found = Some(set.integer(row, 0).unwrap())).unwrap();
    found.unwrap()
}
