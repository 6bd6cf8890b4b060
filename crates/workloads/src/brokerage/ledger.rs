//! Compares the database with what clients got acknowledged: sums before and after a run, and the acknowledged totals.

use super::checks::finding;
use crate::ledger::{Ledger, compare};
use record::check::{CheckResult, Moment, Verdict};
use std::ops::RangeInclusive;

/// Kinds of transactions that add rows.
const ORDER: &str = "trade-order";
const RESULT: &str = "trade-result";

pub fn reconcile(ledger: &Ledger<'_>) -> Vec<CheckResult> {
    let compared = |name: &str, rule: &str, sum: &str, kind: &str| {
        finding(name, rule, Moment::AfterTrial, compare(ledger.moved(sum), &ledger.acknowledged(kind, 1)))
    };
    let moved = ["completed", "pending", "submitted", "canceled"].map(|sum| ledger.moved(sum));
    let orders = ledger.acknowledged(ORDER, 1);
    vec![
        compared("acknowledged-orders", "There are as many new trades as orders were committed.", "trades", ORDER),
        compared(
            "acknowledged-results",
            "As many trades were completed as results were acknowledged.",
            "completed",
            RESULT,
        ),
        compared(
            "settled-results",
            "There are as many new settlements as results were acknowledged.",
            "settlements",
            RESULT,
        ),
        compared(
            "brokered-results",
            "Brokers counted as many trades as results were acknowledged.",
            "brokered",
            RESULT,
        ),
        finding(
            "open-orders",
            "An order has a result, waits for its price, is with the market, or was canceled.",
            Moment::AfterTrial,
            what_became_of(&orders, moved),
        ),
        finding(
            "balances-follow",
            "The balance of each account moved by the cash transactions of its trades.",
            Moment::AfterTrial,
            ledger.stays("balances", "balances less what was paid"),
        ),
    ]
}

/// Whether the trades in all states together moved by the orders that were acknowledged.
fn what_became_of(orders: &RangeInclusive<i64>, moved: [i64; 4]) -> Verdict {
    let [completed, pending, submitted, canceled] = moved;
    let seen = format!(
        "{} orders acknowledged; {completed} completed, {pending} more wait for their price, {submitted} more are with the \
         market, {canceled} more are canceled",
        orders.start()
    );
    if orders.contains(&moved.iter().sum()) { Verdict::Holds { seen: Some(seen) } } else { Verdict::Violated { seen } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::trial::KindTotals;
    use std::collections::BTreeMap;

    const NAMES: [&str; 8] =
        ["trades", "completed", "pending", "submitted", "canceled", "settlements", "brokered", "balances"];
    const BEFORE: [i64; 8] = [100, 90, 7, 3, 0, 90, 90, 7];
    /// Two orders that waited before were canceled.
    const RIGHT: [i64; 8] = [130, 110, 13, 5, 2, 110, 110, 7];

    fn violated(after: [i64; 8], failed: u64) -> Vec<String> {
        let sums = |values: [i64; 8]| -> BTreeMap<_, _> { NAMES.into_iter().map(str::to_owned).zip(values).collect() };
        let totals =
            |kind: &str, committed| KindTotals { kind: kind.to_owned(), committed, failed, ..Default::default() };
        let run = [totals(ORDER, 30), totals(RESULT, 20)];
        let findings = reconcile(&Ledger { before: &sums(BEFORE), after: &sums(after), whole_run: &run });
        findings.into_iter().filter(CheckResult::is_violated).map(|finding| finding.name).collect()
    }

    #[test]
    fn each_sum_that_is_off_is_named() {
        assert!(violated(RIGHT, 0).is_empty());
        let names: [&[&str]; 8] = [
            &["acknowledged-orders"],
            &["acknowledged-results", "open-orders"],
            &["open-orders"],
            &["open-orders"],
            &["open-orders"],
            &["settled-results"],
            &["brokered-results"],
            &["balances-follow"],
        ];
        for (place, names) in names.into_iter().enumerate() {
            let mut wrong = RIGHT;
            wrong[place] += 1;
            let expected: Vec<_> = names.iter().map(|name| format!("brokerage/{name}")).collect();
            assert_eq!(violated(wrong, 0), expected);
        }
        let one_more = [131, 111, 13, 5, 2, 111, 111, 7];
        assert!(violated(one_more, 1).is_empty());
    }
}
