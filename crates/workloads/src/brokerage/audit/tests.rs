//! Findings of runs that are right, and of runs that are wrong in one respect.

use super::*;
use std::collections::BTreeMap;

const SIZE: BrokerageSize = BrokerageSize { customers: 2_000, days: 25, scale_factor: 500 };

fn totals(kind: BrokerageWork, committed: u64, rolled_back: u64) -> KindTotals {
    KindTotals { kind: kind.name().to_owned(), committed, rolled_back, ..KindTotals::default() }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "neither negative nor too large")]
fn times(count: u64, factor: f64) -> u64 {
    (count as f64 * factor).round() as u64
}

/// The transactions of a long run, right in every respect.
fn right() -> (Vec<KindTotals>, BTreeMap<String, u64>) {
    const ALL: u64 = 101_000_000;
    let mut kinds: Vec<KindTotals> = MIX.iter().map(|(work, share)| totals(*work, times(ALL, *share), 0)).collect();
    let orders = kinds.iter_mut().find(|totals| totals.kind == "trade-order").unwrap();
    orders.rolled_back = orders.committed / 101;
    orders.committed -= orders.rolled_back;
    kinds.push(totals(BrokerageWork::DataMaintenance, 100, 0));
    let done = |work: BrokerageWork| kinds.iter().find(|totals| totals.kind == work.name()).unwrap().finished();
    let of_rule = |rule: ShareRule| (rule.counter.name().to_owned(), times(done(rule.of), rule.percents[0] / 100.0));
    let mut tally: BTreeMap<String, u64> = rules().map(of_rule).collect();
    tally.insert(BrokerageCounter::LoadUnits.name().to_owned(), done(BrokerageWork::TradeResult) * 3 / 2);
    tally.insert(BrokerageCounter::ResultLagMs.name().to_owned(), done(BrokerageWork::TradeResult) * 1_200);
    tally.insert(BrokerageCounter::Warning621.name().to_owned(), 3);
    for (work, place) in LIMITED.into_iter().zip(BrokerageCounter::LateTradeResults as usize..) {
        let late = if work == BrokerageWork::DataMaintenance { 0 } else { done(work) / 11 };
        tally.insert(BrokerageCounter::NAMES[place].to_owned(), late);
    }
    (kinds, tally)
}

fn audit(size: BrokerageSize, kinds: &[KindTotals], tally: &BTreeMap<String, u64>, waiting: u64) -> Vec<Judgement> {
    judge_window(size, Execution { kinds, tally, waiting })
}

fn violated(size: BrokerageSize, kinds: &[KindTotals], tally: &BTreeMap<String, u64>) -> Vec<String> {
    let violated = audit(size, kinds, tally, 0).into_iter().filter(Judgement::is_violated);
    violated.map(|finding| finding.name).collect()
}

#[test]
fn the_right_transactions_pass() {
    let (kinds, tally) = right();
    let findings = audit(SIZE, &kinds, &tally, 0);
    let holds = |finding: &&Judgement| matches!(finding.verdict, Verdict::Holds { .. });
    assert_eq!(findings.iter().filter(holds).count(), findings.len(), "{findings:#?}");
    let seen = |name: &str| {
        let finding = findings.iter().find(|finding| finding.name.ends_with(name)).unwrap();
        if let Verdict::Holds { seen: Some(seen) } = &finding.verdict { seen.clone() } else { String::new() }
    };
    assert_eq!(seen("warnings"), "3 of 621");
    assert!(seen("result-lag").starts_with("1200 ms on average"));
}

#[test]
fn every_rule_for_inputs_can_be_violated_from_either_side() {
    for ShareRule { name, counter, percents: [target, low, high], .. } in rules() {
        for off in [low - 0.3 * (target - low) - 0.1, high + 0.3 * (high - target) + 0.1] {
            let (kinds, mut tally) = right();
            let count = tally.get_mut(counter.name()).unwrap();
            *count = times(*count, off / target);
            assert_eq!(violated(SIZE, &kinds, &tally), [name], "{off} %");
        }
    }
}

#[test]
fn every_share_of_what_customers_send_can_be_violated() {
    for (work, _) in &MIX[..8] {
        let (mut kinds, tally) = right();
        let totals = kinds.iter_mut().find(|totals| totals.kind == work.name()).unwrap();
        totals.committed += totals.committed / 10;
        let violated = violated(SIZE, &kinds, &tally);
        assert!(violated.contains(&format!("mix-{}", work.name())), "{work:?}: {violated:?}");
    }
}

#[test]
fn results_that_are_owed_are_told_and_not_held_against_the_mix() {
    let (mut kinds, mut tally) = right();
    for work in [BrokerageWork::TradeResult, BrokerageWork::MarketFeed] {
        let totals = kinds.iter_mut().find(|totals| totals.kind == work.name()).unwrap();
        totals.committed = totals.committed * 6 / 10;
    }
    for counter in [
        BrokerageCounter::CashTransactions,
        BrokerageCounter::LoadUnits,
        BrokerageCounter::LateTradeResults,
        BrokerageCounter::LateMarketFeeds,
    ] {
        *tally.get_mut(counter.name()).unwrap() *= 6;
        *tally.get_mut(counter.name()).unwrap() /= 10;
    }
    assert_eq!(violated(SIZE, &kinds, &tally), [""; 0]);
    let findings = audit(SIZE, &kinds, &tally, 0);
    let mix = findings.iter().find(|finding| finding.name == "mix-trade-result").unwrap();
    assert!(matches!(&mix.verdict, Verdict::Undecided { why } if why.contains("4040000 fewer")), "{mix:?}");
}

#[test]
fn transactions_that_are_late_or_wrong_are_told() {
    for (work, place) in LIMITED.into_iter().zip(BrokerageCounter::LateTradeResults as usize..) {
        let (kinds, mut tally) = right();
        let all = kinds.iter().find(|totals| totals.kind == work.name()).unwrap().finished();
        tally.insert(BrokerageCounter::NAMES[place].to_owned(), all / 9);
        assert_eq!(violated(SIZE, &kinds, &tally), [""; 0], "a slow database is not a wrong one");
        let findings = audit(SIZE, &kinds, &tally, 0);
        let exceeded =
            |finding: &&Judgement| matches!(&finding.verdict, Verdict::Undecided { why } if why.contains("exceeded"));
        let names: Vec<_> = findings.iter().filter(exceeded).map(|finding| finding.name.clone()).collect();
        assert_eq!(names, [format!("response-{}", work.name())]);
    }
    let wrong = |counter: BrokerageCounter, size: BrokerageSize| {
        let (kinds, mut tally) = right();
        tally.insert(counter.name().to_owned(), 1);
        violated(size, &kinds, &tally)
    };
    assert_eq!(wrong(BrokerageCounter::Error611, SIZE), ["errors"]);
    assert_eq!(wrong(BrokerageCounter::Error911, SIZE), ["enough-trades"]);
    assert_eq!(
        wrong(BrokerageCounter::Error911, BrokerageSize { days: 5, ..SIZE }),
        [""; 0],
        "so few trades cannot be enough"
    );
    assert_eq!(wrong(BrokerageCounter::Error642, SIZE), [""; 0], "a trade that is not complete has no holdings");
}

#[test]
fn feeds_and_load_units_that_are_off_are_told() {
    let (mut kinds, mut tally) = right();
    let feeds = kinds.iter_mut().find(|totals| totals.kind == "market-feed").unwrap();
    feeds.committed -= 2 * u64::from(MARKETS) + 1;
    assert_eq!(violated(SIZE, &kinds, &tally), ["feeds"]);
    feeds_back(&mut kinds);
    *tally.get_mut(BrokerageCounter::LoadUnits.name()).unwrap() += 100_000;
    assert_eq!(violated(SIZE, &kinds, &tally), ["load-units"]);
}

fn feeds_back(kinds: &mut [KindTotals]) {
    let feeds = kinds.iter_mut().find(|totals| totals.kind == "market-feed").unwrap();
    feeds.committed += 2 * u64::from(MARKETS) + 1;
}

#[test]
fn nothing_is_decided_from_nothing() {
    let decided = audit(SIZE, &[], &BTreeMap::new(), 0)
        .into_iter()
        .filter(|finding| !matches!(finding.verdict, Verdict::Undecided { .. }))
        .map(|finding| finding.name)
        .collect::<Vec<_>>();
    assert_eq!(decided, ["feeds", "errors", "warnings", "enough-trades"], "what never happened is not wrong");
}
