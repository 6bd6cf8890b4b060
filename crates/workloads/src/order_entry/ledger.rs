//! Compares the database with what clients got acknowledged: sums before and after a run, and the acknowledged totals.

use super::checks::{Checks, finding};
use super::definition::DISTRICTS;
use engines::admin::Admin;
use engines::limit::Limit;
use engines::session::SessionError;
use record::check::{CheckResult, Moment, Verdict};
use record::trial::KindTotals;
use std::collections::BTreeMap;
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

pub fn state(checks: &Checks, admin: &mut dyn Admin) -> Result<BTreeMap<String, i64>, SessionError> {
    let mut state = BTreeMap::new();
    for sum in &checks.sums {
        let mut found = Ok(0);
        admin.ask(&sum.sql, Limit::WORK, &mut |set, row| {
            // The sum over no rows is null.
            found = if set.is_null(row, 0) { Ok(0) } else { set.integer(row, 0) };
        })?;
        state.insert(sum.name.to_owned(), found?);
    }
    Ok(state)
}

pub fn reconcile(
    before: &BTreeMap<String, i64>,
    after: &BTreeMap<String, i64>,
    whole_run: &[KindTotals],
) -> Vec<CheckResult> {
    let moved = |sum: &str| after.get(sum).copied().unwrap_or(0) - before.get(sum).copied().unwrap_or(0);
    let acknowledged = |kind: &str, each: i64| {
        let totals = whole_run.iter().find(|totals| totals.kind == kind);
        let certain = totals.map_or(0, |totals| totals.committed).cast_signed();
        // A transaction that failed for the client may still have been committed, if only its answer was lost.
        let doubtful = totals.map_or(0, |totals| totals.failed).cast_signed();
        certain * each..=(certain + doubtful) * each
    };
    let new_orders = acknowledged("new-order", 1);
    let most_delivered = *acknowledged("delivery", i64::from(DISTRICTS)).end();
    vec![
        compare(
            "acknowledged-orders",
            "Order numbers moved by the new orders that were acknowledged.",
            moved("order-numbers"),
            new_orders.clone(),
        ),
        compare("stored-orders", "There are as many new orders as were acknowledged.", moved("orders"), new_orders),
        compare(
            "acknowledged-payments",
            "There are as many new payments as were acknowledged.",
            moved("history"),
            acknowledged("payment", 1),
        ),
        compare(
            "acknowledged-deliveries",
            "No more orders were delivered than ten for each acknowledged delivery.",
            moved("customer-deliveries"),
            0..=most_delivered,
        ),
        compare(
            "queue",
            "The queue grew by the new orders less the delivered ones.",
            moved("new_order"),
            RangeInclusive::new(
                moved("orders") - moved("customer-deliveries"),
                moved("orders") - moved("customer-deliveries"),
            ),
        ),
        stock_follows(before.get(STOCK_QUANTITIES), after.get(STOCK_QUANTITIES)),
    ]
}

fn stock_follows(before: Option<&i64>, after: Option<&i64>) -> CheckResult {
    let verdict = match (before, after) {
        (Some(before), Some(after)) if before == after => Verdict::Holds { seen: None },
        (Some(before), Some(after)) => Verdict::Violated {
            seen: format!("what is left and what was ordered add up to checksum {after} instead of {before}"),
        },
        _ => {
            Verdict::Undecided { why: "an older bakeoff loaded the data and did not add the quantities up".to_owned() }
        }
    };
    let rule = "The quantity of each stock moved by what was ordered from it, and by 91 whenever it ran low.";
    finding("stock-follows", rule, Moment::AfterTrial, verdict)
}

fn compare(name: &str, rule: &str, moved: i64, allowed: RangeInclusive<i64>) -> CheckResult {
    let seen = if allowed.start() == allowed.end() {
        format!("{moved} in the database, {} acknowledged", allowed.start())
    } else {
        format!("{moved} in the database, {} to {} allowed", allowed.start(), allowed.end())
    };
    let verdict =
        if allowed.contains(&moved) { Verdict::Holds { seen: Some(seen) } } else { Verdict::Violated { seen } };
    finding(name, rule, Moment::AfterTrial, verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(values: &[(&str, i64)]) -> BTreeMap<String, i64> {
        values.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
    }

    fn totals(kind: &str, committed: u64, failed: u64) -> KindTotals {
        KindTotals { kind: kind.to_owned(), committed, failed, ..KindTotals::default() }
    }

    fn violated(after: &[(&str, i64)], failed: u64) -> Vec<String> {
        let before = sums(&[("order-numbers", 100), ("orders", 99), ("history", 50), ("new_order", 30)]);
        let run = [totals("new-order", 20, failed), totals("payment", 10, failed), totals("delivery", 1, 0)];
        let findings = reconcile(&before, &sums(after), &run);
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
    fn quantities_that_nobody_added_up_at_the_start_decide_nothing() {
        let of = |before, after| stock_follows(before, after).verdict;
        assert_eq!(of(Some(&7), Some(&7)), Verdict::Holds { seen: None });
        assert!(
            matches!(of(Some(&7), Some(&8)), Verdict::Violated { seen } if seen.contains("checksum 8 instead of 7"))
        );
        assert!(matches!(of(None, Some(&8)), Verdict::Undecided { .. }));
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
