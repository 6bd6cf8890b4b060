//! Compares the database with what clients got acknowledged: sums before and after a run, and the acknowledged totals.

use super::definition::DISTRICTS;
use super::finding::finding;
use crate::ledger::{Ledger, compare};
use record::check::{CheckResult, Moment};
use std::ops::RangeInclusive;

/// Names of the sums; a sum with a table's name is its number of rows.
pub const SUMS: &[&str] = &[
    "order-numbers",
    "warehouse",
    "district",
    "customer",
    "history",
    "orders",
    "new_order",
    "order_line",
    "item",
    "stock",
    "customer-deliveries",
    STOCK_QUANTITIES,
];
const STOCK_QUANTITIES: &str = "stock-quantities";

pub fn reconcile(ledger: &Ledger<'_>) -> Vec<CheckResult> {
    let new_orders = ledger.acknowledged("new-order", 1);
    let most_delivered = *ledger.acknowledged("delivery", i64::from(DISTRICTS)).end();
    let queued = ledger.moved("orders") - ledger.moved("customer-deliveries");
    let compared = |name: &str, rule: &str, sum: &str, allowed: RangeInclusive<i64>| {
        finding(name, rule, Moment::AfterTrial, compare(ledger.moved(sum), &allowed))
    };
    vec![
        compared(
            "acknowledged-orders",
            "Order numbers moved by the new orders that were acknowledged.",
            "order-numbers",
            new_orders.clone(),
        ),
        compared("stored-orders", "There are as many new orders as were acknowledged.", "orders", new_orders),
        compared(
            "acknowledged-payments",
            "There are as many new payments as were acknowledged.",
            "history",
            ledger.acknowledged("payment", 1),
        ),
        compared(
            "acknowledged-deliveries",
            "No more orders were delivered than ten for each acknowledged delivery.",
            "customer-deliveries",
            0..=most_delivered,
        ),
        compared(
            "queue",
            "The queue grew by the new orders less the delivered ones.",
            "new_order",
            RangeInclusive::new(queued, queued),
        ),
        finding(
            "stock-follows",
            "The quantity of each stock moved by what was ordered from it, and by 91 whenever it ran low.",
            Moment::AfterTrial,
            ledger.stays(STOCK_QUANTITIES, "what is left and what was ordered"),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::trial::KindTotals;
    use std::collections::BTreeMap;

    fn sums(values: &[(&str, i64)]) -> BTreeMap<String, i64> {
        values.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
    }

    fn totals(kind: &str, committed: u64, failed: u64) -> KindTotals {
        KindTotals { kind: kind.to_owned(), committed, failed, ..KindTotals::default() }
    }

    fn violated(after: &[(&str, i64)], failed: u64) -> Vec<String> {
        let before = sums(&[("order-numbers", 100), ("orders", 99), ("history", 50), ("new_order", 30)]);
        let run = [totals("new-order", 20, failed), totals("payment", 10, failed), totals("delivery", 1, 0)];
        let findings = reconcile(&Ledger { before: &before, after: &sums(after), whole_run: &run });
        findings.into_iter().filter(CheckResult::is_violated).map(|finding| finding.name).collect()
    }

    const RIGHT: [(&str, i64); 5] =
        [("order-numbers", 120), ("orders", 119), ("history", 60), ("new_order", 41), ("customer-deliveries", 9)];

    #[test]
    fn what_was_acknowledged_is_there() {
        assert!(violated(&RIGHT, 0).is_empty());
    }

    #[test]
    fn each_sum_that_is_off_is_named() {
        for (index, names) in [
            (0, vec!["order-entry/acknowledged-orders"]),
            (1, vec!["order-entry/stored-orders", "order-entry/queue"]),
            (2, vec!["order-entry/acknowledged-payments"]),
            (3, vec!["order-entry/queue"]),
            (4, vec!["order-entry/queue"]),
        ] {
            let mut wrong = RIGHT;
            wrong[index].1 -= 1;
            assert_eq!(violated(&wrong, 0), names);
        }
        let too_many = [RIGHT[0], RIGHT[1], RIGHT[2], ("new_order", 39), ("customer-deliveries", 11)];
        assert_eq!(violated(&too_many, 0), ["order-entry/acknowledged-deliveries"]);
    }

    #[test]
    fn a_transaction_that_failed_may_or_may_not_be_there() {
        let one_more =
            [("order-numbers", 121), ("orders", 120), ("history", 60), ("new_order", 42), ("customer-deliveries", 9)];
        assert!(violated(&RIGHT, 1).is_empty());
        assert!(violated(&one_more, 1).is_empty());
        assert!(!violated(&one_more, 0).is_empty());
    }
}
