//! Whether the database moved by what was acknowledged, and whether the transactions of the measured window follow the rules for
//! the inputs.
//!
//! The definition allows a little more or less than each rule says, for runs of hours. Chance is allowed for in
//! addition, see [`crate::share`].

use super::definition::DISTRICTS;
use super::inputs::Card;
use super::tally::OrderEntryCounter;
use crate::execution::Execution;
use crate::judgement::{Judgement, holds_if, judgement};
use crate::ledger::Ledger;
use crate::share::{AllowedShare, mean};
use record::check::Verdict;
use record::trial::KindTotals;
use std::ops::RangeInclusive;

/// Standard deviation of an order's number of lines, uniform over 5 to 15: the root of (11² − 1) / 12.
const LINES_DEVIATION: f64 = 3.162_277_66;
const LINES_MEAN: (f64, f64) = (9.5, 10.5);
/// At most this share of the districts that deliveries visited may have had nothing to deliver.
const SKIPPED_SHARE_MAX: f64 = 0.01;

/// The deck gives each kind its share, the first number, but the definition only asks for a minimum, the second.
const MIX: [(Card, &str, &str, f64, f64); 4] = [
    (Card::Payment, "mix-payment", "At least 43 % of the transactions are payments.", 10.0 / 23.0, 0.43),
    (Card::OrderStatus, "mix-order-status", "At least 4 % of the transactions are order-status.", 1.0 / 23.0, 0.04),
    (Card::Delivery, "mix-delivery", "At least 4 % of the transactions are deliveries.", 1.0 / 23.0, 0.04),
    (Card::StockLevel, "mix-stock-level", "At least 4 % of the transactions are stock-level.", 1.0 / 23.0, 0.04),
];

/// Shares with which inputs are drawn, and what is allowed.
const SHARES: [(&str, &str, [f64; 3]); 5] = [
    ("rolled-back", "1 % of the new orders are rolled back because of an unknown item.", [0.01, 0.009, 0.011]),
    ("remote-lines", "1 % of the order lines are supplied by another warehouse.", [0.01, 0.0095, 0.0105]),
    ("remote-payments", "15 % of the payments are made by customers of another warehouse.", [0.15, 0.14, 0.16]),
    ("payments-by-last-name", "60 % of the payments find their customer by last name.", [0.60, 0.57, 0.63]),
    ("status-by-last-name", "60 % of the order-status requests find their customer by last name.", [0.60, 0.57, 0.63]),
];

pub fn judge_window(warehouses: u32, execution: &Execution<'_>) -> Vec<Judgement> {
    let counted = |counter: OrderEntryCounter| execution.counted(counter.name());
    let ended = |card: Card| execution.done(card.name());
    let mut judged: Vec<_> = MIX
        .iter()
        .map(|(card, name, rule, target, low)| {
            let share = AllowedShare { target: *target, low: *low, high: 1.0 };
            judgement(*name, *rule, mix(*card, &share, execution))
        })
        .collect();
    let (orders, lines, payments) =
        (ended(Card::NewOrder), counted(OrderEntryCounter::OrderLines), ended(Card::Payment));
    let events = [
        (counted(OrderEntryCounter::OrdersRolledBack), orders),
        (counted(OrderEntryCounter::RemoteLines), lines),
        (counted(OrderEntryCounter::RemotePayments), payments),
        (counted(OrderEntryCounter::PaymentsByLastName), payments),
        (counted(OrderEntryCounter::StatusByLastName), ended(Card::OrderStatus)),
    ];
    for ((name, rule, share), (events, of)) in SHARES.into_iter().zip(events) {
        let verdict = if name.starts_with("remote-") && warehouses == 1 {
            Verdict::Undecided { why: "there is only one warehouse".to_owned() }
        } else {
            AllowedShare::of(share).judge(events, of)
        };
        judged.push(judgement(name, rule, verdict));
        if name == "rolled-back" {
            let lines_of_orders = mean(lines, orders, LINES_MEAN, LINES_DEVIATION);
            judged.push(judgement("mean-lines", "New orders have 10 lines on average.", lines_of_orders));
        }
    }
    judged.push(skipped(counted(OrderEntryCounter::DistrictsSkipped), counted(OrderEntryCounter::DistrictsDelivered)));
    judged
}

/// Deliveries may be deferred, and those that wait may explain why there are so few.
fn mix(card: Card, share: &AllowedShare, execution: &Execution<'_>) -> Verdict {
    let (ended, waiting) = (execution.done(card.name()), execution.waiting);
    let all: u64 = execution.kinds.iter().map(KindTotals::finished).sum();
    let is_violated = |verdict: &Verdict| matches!(verdict, Verdict::Violated { .. });
    match share.judge(ended, all) {
        Verdict::Violated { seen }
            if card == Card::Delivery && !is_violated(&share.judge(ended + waiting, all + waiting)) =>
        {
            Verdict::Undecided { why: format!("{seen}, but up to {waiting} waited to be executed") }
        }
        verdict => verdict,
    }
}

/// This does not depend on chance: a queue runs empty when more is delivered than ordered. One per run is always allowed.
fn skipped(skipped: u64, delivered: u64) -> Judgement {
    let districts = skipped + delivered;
    let is_allowed = skipped <= 1 || skipped as f64 <= SKIPPED_SHARE_MAX * districts as f64;
    let verdict = if districts == 0 {
        Verdict::Undecided { why: "nothing was delivered".to_owned() }
    } else {
        holds_if(is_allowed, format!("{skipped} of {districts} were skipped"))
    };
    let rule = "At most 1 % of the districts that deliveries went through had nothing to deliver.";
    judgement("skipped-deliveries", rule, verdict)
}

pub fn judge_ledger(ledger: &Ledger<'_>) -> Vec<Judgement> {
    let new_orders = ledger.acknowledged(Card::NewOrder.name(), 1);
    let most_delivered = *ledger.acknowledged(Card::Delivery.name(), i64::from(DISTRICTS)).end();
    let queued = ledger.moved("orders") - ledger.moved("customer-deliveries");
    vec![
        ledger.grew(
            "acknowledged-orders",
            "Order numbers moved by the new orders that were acknowledged.",
            "order-numbers",
            &new_orders,
        ),
        ledger.grew("stored-orders", "There are as many new orders as were acknowledged.", "orders", &new_orders),
        ledger.grew(
            "acknowledged-payments",
            "There are as many new payments as were acknowledged.",
            "history",
            &ledger.acknowledged(Card::Payment.name(), 1),
        ),
        ledger.grew(
            "acknowledged-deliveries",
            "No more orders were delivered than ten for each acknowledged delivery.",
            "customer-deliveries",
            &(0..=most_delivered),
        ),
        ledger.grew(
            "queue",
            "The queue grew by the new orders less the delivered ones.",
            "new_order",
            &RangeInclusive::new(queued, queued),
        ),
        judgement(
            "stock-follows",
            "The quantity of each stock moved by what was ordered from it, and by 91 whenever it ran low.",
            ledger.stays("stock-quantities", "what is left and what was ordered"),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn judged(warehouses: u32, kinds: &[KindTotals], tally: &BTreeMap<String, u64>, waiting: u64) -> Vec<Judgement> {
        judge_window(warehouses, &Execution { kinds, tally, waiting })
    }

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
            (OrderEntryCounter::OrderLines, 10_000_000),
            (OrderEntryCounter::RemoteLines, 100_000),
            (OrderEntryCounter::OrdersRolledBack, 10_000),
            (OrderEntryCounter::RemotePayments, 150_000),
            (OrderEntryCounter::PaymentsByLastName, 600_000),
            (OrderEntryCounter::StatusByLastName, 60_000),
            (OrderEntryCounter::DistrictsDelivered, 995_000),
            (OrderEntryCounter::DistrictsSkipped, 5_000),
        ];
        let tally = tally.into_iter().map(|(counter, value)| (counter.name().to_owned(), value)).collect();
        (kinds([1_000_000, 1_000_000, 100_000, 100_000, 100_000]), tally)
    }

    fn violated(warehouses: u32, kinds: &[KindTotals], tally: &BTreeMap<String, u64>) -> Vec<String> {
        let violated = judged(warehouses, kinds, tally, 0).into_iter().filter(Judgement::is_violated);
        violated.map(|finding| finding.name).collect()
    }

    #[test]
    fn the_right_inputs_pass() {
        let (kinds, tally) = right();
        let findings = judged(2, &kinds, &tally, 0);
        let holds = |finding: &&Judgement| matches!(finding.verdict, Verdict::Holds { .. });
        assert_eq!(findings.iter().filter(holds).count(), findings.len(), "{findings:#?}");
    }

    #[test]
    fn every_rule_can_be_violated_from_either_side() {
        let cases = [
            (OrderEntryCounter::OrderLines, 9_000_000, vec!["mean-lines", "remote-lines"]),
            (OrderEntryCounter::OrderLines, 11_000_000, vec!["mean-lines", "remote-lines"]),
            (OrderEntryCounter::RemoteLines, 93_000, vec!["remote-lines"]),
            (OrderEntryCounter::RemoteLines, 107_000, vec!["remote-lines"]),
            (OrderEntryCounter::OrdersRolledBack, 8_500, vec!["rolled-back"]),
            (OrderEntryCounter::OrdersRolledBack, 11_500, vec!["rolled-back"]),
            (OrderEntryCounter::RemotePayments, 138_000, vec!["remote-payments"]),
            (OrderEntryCounter::RemotePayments, 162_000, vec!["remote-payments"]),
            (OrderEntryCounter::PaymentsByLastName, 560_000, vec!["payments-by-last-name"]),
            (OrderEntryCounter::PaymentsByLastName, 640_000, vec!["payments-by-last-name"]),
            (OrderEntryCounter::StatusByLastName, 55_000, vec!["status-by-last-name"]),
            (OrderEntryCounter::StatusByLastName, 65_000, vec!["status-by-last-name"]),
            (OrderEntryCounter::DistrictsSkipped, 11_000, vec!["skipped-deliveries"]),
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
            let findings = judged(2, &few, &BTreeMap::new(), waiting);
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
        let nothing = judged(2, &kinds([0; 5]), &BTreeMap::new(), 0);
        assert!(nothing.iter().all(|finding| matches!(finding.verdict, Verdict::Undecided { .. })), "{nothing:#?}");
    }

    #[test]
    fn a_single_warehouse_has_no_remote_shares() {
        let (kinds, tally) = right();
        let undecided = judged(1, &kinds, &tally, 0)
            .into_iter()
            .filter(|finding| matches!(finding.verdict, Verdict::Undecided { .. }))
            .map(|finding| finding.name)
            .collect::<Vec<_>>();
        assert_eq!(undecided, ["remote-lines", "remote-payments"]);
    }

    fn sums(values: &[(&str, i64)]) -> BTreeMap<String, i64> {
        values.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
    }

    fn totals(kind: &str, committed: u64, failed: u64) -> KindTotals {
        KindTotals { kind: kind.to_owned(), committed, failed, ..KindTotals::default() }
    }

    fn moved_wrongly(after: &[(&str, i64)], failed: u64) -> Vec<String> {
        let before = sums(&[("order-numbers", 100), ("orders", 99), ("history", 50), ("new_order", 30)]);
        let run = [totals("new-order", 20, failed), totals("payment", 10, failed), totals("delivery", 1, 0)];
        let findings = judge_ledger(&Ledger { before: &before, after: &sums(after), whole_run: &run });
        findings.into_iter().filter(Judgement::is_violated).map(|finding| finding.name).collect()
    }

    const RIGHT: [(&str, i64); 5] =
        [("order-numbers", 120), ("orders", 119), ("history", 60), ("new_order", 41), ("customer-deliveries", 9)];

    #[test]
    fn what_was_acknowledged_is_there() {
        assert!(moved_wrongly(&RIGHT, 0).is_empty());
    }

    #[test]
    fn each_sum_that_is_off_is_named() {
        for (index, names) in [
            (0, vec!["acknowledged-orders"]),
            (1, vec!["stored-orders", "queue"]),
            (2, vec!["acknowledged-payments"]),
            (3, vec!["queue"]),
            (4, vec!["queue"]),
        ] {
            let mut wrong = RIGHT;
            wrong[index].1 -= 1;
            assert_eq!(moved_wrongly(&wrong, 0), names);
        }
        let too_many = [RIGHT[0], RIGHT[1], RIGHT[2], ("new_order", 39), ("customer-deliveries", 11)];
        assert_eq!(moved_wrongly(&too_many, 0), ["acknowledged-deliveries"]);
    }

    #[test]
    fn a_transaction_that_failed_may_or_may_not_be_there() {
        let one_more =
            [("order-numbers", 121), ("orders", 120), ("history", 60), ("new_order", 42), ("customer-deliveries", 9)];
        assert!(moved_wrongly(&RIGHT, 1).is_empty());
        assert!(moved_wrongly(&one_more, 1).is_empty());
        assert!(!moved_wrongly(&one_more, 0).is_empty());
    }
}
