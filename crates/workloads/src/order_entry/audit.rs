//! Whether the transactions of the measured window follow the rules for the inputs.
//!
//! The definition allows a little more or less than each rule says, for runs of hours. Chance is allowed for in
//! addition, see [`crate::share`].

use super::finding::finding;
use super::tally::Counter;
use crate::share::{AllowedShare, mean};
use record::check::{CheckResult, Moment, Verdict};
use record::trial::KindTotals;
use std::collections::BTreeMap;

/// Standard deviation of an order's number of lines, uniform over 5 to 15: the root of (11² − 1) / 12.
const LINES_DEVIATION: f64 = 3.162_277_66;
/// At most this share of the districts that deliveries visited may have had nothing to deliver.
const SKIPPED_SHARE_MAX: f64 = 0.01;

/// A rule for a share of something.
struct ShareRule {
    name: &'static str,
    rule: &'static str,
    share: AllowedShare,
}

/// The deck gives each kind its share `target`, but the definition only asks for a minimum.
const fn at_least(name: &'static str, rule: &'static str, target: f64, low: f64) -> ShareRule {
    ShareRule { name, rule, share: AllowedShare { target, low, high: 1.0 } }
}

/// The kind that the settings may defer.
const DEFERRED: &str = "delivery";

const MIX: [(&str, ShareRule); 4] = [
    ("payment", at_least("mix-payment", "At least 43 % of the transactions are payments.", 10.0 / 23.0, 0.43)),
    (
        "order-status",
        at_least("mix-order-status", "At least 4 % of the transactions are order-status.", 1.0 / 23.0, 0.04),
    ),
    ("delivery", at_least("mix-delivery", "At least 4 % of the transactions are deliveries.", 1.0 / 23.0, 0.04)),
    ("stock-level", at_least("mix-stock-level", "At least 4 % of the transactions are stock-level.", 1.0 / 23.0, 0.04)),
];

const ROLLED_BACK: ShareRule = ShareRule {
    name: "rolled-back",
    rule: "1 % of the new orders are rolled back because of an unknown item.",
    share: AllowedShare { target: 0.01, low: 0.009, high: 0.011 },
};
const REMOTE_LINES: ShareRule = ShareRule {
    name: "remote-lines",
    rule: "1 % of the order lines are supplied by another warehouse.",
    share: AllowedShare { target: 0.01, low: 0.0095, high: 0.0105 },
};
const REMOTE_PAYMENTS: ShareRule = ShareRule {
    name: "remote-payments",
    rule: "15 % of the payments are made by customers of another warehouse.",
    share: AllowedShare { target: 0.15, low: 0.14, high: 0.16 },
};
const PAYMENTS_BY_LAST_NAME: ShareRule = ShareRule {
    name: "payments-by-last-name",
    rule: "60 % of the payments find their customer by last name.",
    share: AllowedShare { target: 0.60, low: 0.57, high: 0.63 },
};
const STATUS_BY_LAST_NAME: ShareRule = ShareRule {
    name: "status-by-last-name",
    rule: "60 % of the order-status requests find their customer by last name.",
    share: AllowedShare { target: 0.60, low: 0.57, high: 0.63 },
};
const LINES_MEAN_LOW: f64 = 9.5;
const LINES_MEAN_HIGH: f64 = 10.5;

pub fn audit(warehouses: u32, kinds: &[KindTotals], tally: &BTreeMap<String, u64>, waiting: u64) -> Vec<CheckResult> {
    let counted = |counter: Counter| tally.get(counter.name()).copied().unwrap_or(0);
    let ended = |kind: &str| {
        kinds.iter().find(|totals| totals.kind == kind).map_or(0, |totals| totals.committed + totals.rolled_back)
    };
    let all = kinds.iter().map(|totals| totals.committed + totals.rolled_back).sum();
    let (orders, lines) = (ended("new-order"), counted(Counter::OrderLines));

    let mix = |(kind, rule): &(&str, ShareRule)| match rule.share.judge(ended(kind), all) {
        Verdict::Violated { seen } if *kind == DEFERRED && !is_violated(rule, ended(kind) + waiting, all + waiting) => {
            Verdict::Undecided { why: format!("{seen}, but up to {waiting} waited to be executed") }
        }
        verdict => verdict,
    };
    let mut findings: Vec<CheckResult> = MIX.iter().map(|of| finish(&of.1, mix(of))).collect();
    findings.push(finish(&ROLLED_BACK, ROLLED_BACK.share.judge(counted(Counter::OrdersRolledBack), orders)));
    let lines_of_orders = mean(lines, orders, (LINES_MEAN_LOW, LINES_MEAN_HIGH), LINES_DEVIATION);
    findings.push(finding("mean-lines", "New orders have 10 lines on average.", Moment::AfterTrial, lines_of_orders));
    for (rule, counter, of) in
        [(&REMOTE_LINES, Counter::RemoteLines, lines), (&REMOTE_PAYMENTS, Counter::RemotePayments, ended("payment"))]
    {
        let verdict = if warehouses == 1 {
            Verdict::Undecided { why: "there is only one warehouse".to_owned() }
        } else {
            rule.share.judge(counted(counter), of)
        };
        findings.push(finish(rule, verdict));
    }
    for (rule, counter, of) in [
        (&PAYMENTS_BY_LAST_NAME, Counter::PaymentsByLastName, ended("payment")),
        (&STATUS_BY_LAST_NAME, Counter::StatusByLastName, ended("order-status")),
    ] {
        findings.push(finish(rule, rule.share.judge(counted(counter), of)));
    }
    findings.push(skipped(counted(Counter::DistrictsSkipped), counted(Counter::DistrictsDelivered)));
    findings
}

fn is_violated(rule: &ShareRule, events: u64, of: u64) -> bool {
    matches!(rule.share.judge(events, of), Verdict::Violated { .. })
}

fn finish(rule: &ShareRule, verdict: Verdict) -> CheckResult {
    finding(rule.name, rule.rule, Moment::AfterTrial, verdict)
}

/// This does not depend on chance: a queue runs empty when more is delivered than ordered. One per run is always allowed.
fn skipped(skipped: u64, delivered: u64) -> CheckResult {
    let districts = skipped + delivered;
    let rule = "At most 1 % of the districts that deliveries went through had nothing to deliver.";
    let seen = format!("{skipped} of {districts} were skipped");
    let verdict = if districts == 0 {
        Verdict::Undecided { why: "nothing was delivered".to_owned() }
    } else if skipped <= 1 || skipped as f64 <= SKIPPED_SHARE_MAX * districts as f64 {
        Verdict::Holds { seen: Some(seen) }
    } else {
        Verdict::Violated { seen }
    };
    finding("skipped-deliveries", rule, Moment::AfterTrial, verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(counts: [u64; 5]) -> Vec<KindTotals> {
        let names = ["new-order", "payment", "order-status", "delivery", "stock-level"];
        names
            .iter()
            .zip(counts)
            .map(|(kind, committed)| KindTotals { kind: (*kind).to_owned(), committed, ..KindTotals::default() })
            .collect()
    }

    /// The transactions of a hundred thousand decks, right in every respect.
    fn right() -> (Vec<KindTotals>, BTreeMap<String, u64>) {
        let tally = [
            (Counter::OrderLines, 10_000_000),
            (Counter::RemoteLines, 100_000),
            (Counter::OrdersRolledBack, 10_000),
            (Counter::RemotePayments, 150_000),
            (Counter::PaymentsByLastName, 600_000),
            (Counter::StatusByLastName, 60_000),
            (Counter::DistrictsDelivered, 995_000),
            (Counter::DistrictsSkipped, 5_000),
        ];
        let tally = tally.into_iter().map(|(counter, value)| (counter.name().to_owned(), value)).collect();
        (kinds([1_000_000, 1_000_000, 100_000, 100_000, 100_000]), tally)
    }

    fn violated(warehouses: u32, kinds: &[KindTotals], tally: &BTreeMap<String, u64>) -> Vec<String> {
        let violated = audit(warehouses, kinds, tally, 0).into_iter().filter(CheckResult::is_violated);
        violated.map(|finding| finding.name.replace("order-entry/", "")).collect()
    }

    #[test]
    fn the_right_inputs_pass() {
        let (kinds, tally) = right();
        let findings = audit(2, &kinds, &tally, 0);
        let holds = |finding: &&CheckResult| matches!(finding.verdict, Verdict::Holds { .. });
        assert_eq!(findings.iter().filter(holds).count(), findings.len(), "{findings:#?}");
    }

    #[test]
    fn every_rule_can_be_violated_from_either_side() {
        let cases = [
            (Counter::OrderLines, 9_000_000, vec!["mean-lines", "remote-lines"]),
            (Counter::OrderLines, 11_000_000, vec!["mean-lines", "remote-lines"]),
            (Counter::RemoteLines, 93_000, vec!["remote-lines"]),
            (Counter::RemoteLines, 107_000, vec!["remote-lines"]),
            (Counter::OrdersRolledBack, 8_500, vec!["rolled-back"]),
            (Counter::OrdersRolledBack, 11_500, vec!["rolled-back"]),
            (Counter::RemotePayments, 138_000, vec!["remote-payments"]),
            (Counter::RemotePayments, 162_000, vec!["remote-payments"]),
            (Counter::PaymentsByLastName, 560_000, vec!["payments-by-last-name"]),
            (Counter::PaymentsByLastName, 640_000, vec!["payments-by-last-name"]),
            (Counter::StatusByLastName, 55_000, vec!["status-by-last-name"]),
            (Counter::StatusByLastName, 65_000, vec!["status-by-last-name"]),
            (Counter::DistrictsSkipped, 11_000, vec!["skipped-deliveries"]),
        ];
        for (counter, value, names) in cases {
            let (kinds, mut tally) = right();
            tally.insert(counter.name().to_owned(), value);
            assert_eq!(violated(2, &kinds, &tally), names, "{counter:?} {value}");
        }
    }

    #[test]
    fn deliveries_that_waited_are_not_held_against_the_mix() {
        let few = kinds([1_000_000, 1_000_000, 100_000, 80_000, 100_000]);
        let of = |waiting| {
            let findings = audit(2, &few, &BTreeMap::new(), waiting);
            findings.into_iter().find(|finding| finding.name.ends_with("mix-delivery")).unwrap().verdict
        };
        assert!(matches!(of(100), Verdict::Violated { .. }), "so few explain nothing");
        assert!(matches!(of(20_000), Verdict::Undecided { why } if why.contains("20000 waited")));
    }

    #[test]
    fn too_little_of_a_kind_is_a_wrong_mix() {
        let (_, tally) = right();
        for (counts, name) in [
            ([1_000_000, 950_000, 100_000, 100_000, 100_000], "mix-payment"),
            ([1_000_000, 1_000_000, 80_000, 100_000, 100_000], "mix-order-status"),
            ([1_000_000, 1_000_000, 100_000, 80_000, 100_000], "mix-delivery"),
            ([1_000_000, 1_000_000, 100_000, 100_000, 80_000], "mix-stock-level"),
        ] {
            assert!(violated(2, &kinds(counts), &tally).contains(&name.to_owned()), "{name}");
        }
    }

    #[test]
    fn nothing_is_decided_from_nothing() {
        let nothing = audit(2, &kinds([0; 5]), &BTreeMap::new(), 0);
        assert!(nothing.iter().all(|finding| matches!(finding.verdict, Verdict::Undecided { .. })), "{nothing:#?}");
    }

    #[test]
    fn a_single_warehouse_has_no_remote_shares() {
        let (kinds, tally) = right();
        let undecided = audit(1, &kinds, &tally, 0)
            .into_iter()
            .filter(|finding| matches!(finding.verdict, Verdict::Undecided { .. }))
            .map(|finding| finding.name)
            .collect::<Vec<_>>();
        assert_eq!(undecided, ["order-entry/remote-lines", "order-entry/remote-payments"]);
    }
}
