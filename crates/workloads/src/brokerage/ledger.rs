//! Compares the database with what clients got acknowledged: sums before and after a run, and the acknowledged totals.

use super::checks::finding;
use crate::ledger::{Ledger, compare};
use record::check::{CheckResult, Moment};

/// Kinds of transactions that add rows.
const ORDER: &str = "trade-order";
const RESULT: &str = "trade-result";

pub fn reconcile(ledger: &Ledger<'_>) -> Vec<CheckResult> {
    let compared = |name: &str, rule: &str, sum: &str, kind: &str| {
        finding(name, rule, Moment::AfterTrial, compare(ledger.moved(sum), &ledger.acknowledged(kind, 1)))
    };
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
            "balances-follow",
            "The balance of each account moved by the cash transactions of its trades.",
            Moment::AfterTrial,
            ledger.stays("balances", "balances less what was paid"),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::trial::KindTotals;
    use std::collections::BTreeMap;

    const BEFORE: [(&str, i64); 5] =
        [("trades", 100), ("completed", 90), ("settlements", 90), ("brokered", 90), ("balances", 7)];
    const RIGHT: [(&str, i64); 5] =
        [("trades", 130), ("completed", 110), ("settlements", 110), ("brokered", 110), ("balances", 7)];

    fn violated(after: [(&str, i64); 5], failed: u64) -> Vec<String> {
        let sums = |values: [(&str, i64); 5]| -> BTreeMap<_, _> {
            values.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
        };
        let totals =
            |kind: &str, committed| KindTotals { kind: kind.to_owned(), committed, failed, ..Default::default() };
        let run = [totals(ORDER, 30), totals(RESULT, 20)];
        let findings = reconcile(&Ledger { before: &sums(BEFORE), after: &sums(after), whole_run: &run });
        findings.into_iter().filter(CheckResult::is_violated).map(|finding| finding.name).collect()
    }

    #[test]
    fn each_sum_that_is_off_is_named() {
        assert!(violated(RIGHT, 0).is_empty());
        let names =
            ["acknowledged-orders", "acknowledged-results", "settled-results", "brokered-results", "balances-follow"];
        for (index, name) in names.into_iter().enumerate() {
            let mut wrong = RIGHT;
            wrong[index].1 += 1;
            assert_eq!(violated(wrong, 0), [format!("brokerage/{name}")]);
        }
        let one_more = [("trades", 131), ("completed", 111), ("settlements", 111), ("brokered", 111), ("balances", 7)];
        assert!(violated(one_more, 1).is_empty());
    }
}
