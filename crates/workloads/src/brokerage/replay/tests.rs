//! Shares and ratios of the initial trading, and that its parts agree with each other.

use super::*;
use crate::brokerage::market::Security;
use crate::brokerage::size::{ACCOUNTS_OF_UNIT, DAY_MS};
use crate::brokerage::trading::{QUANTITIES, TradeType};
use crate::brokerage::words::one_of;
use crate::brokerage::{calendar, price};
use crate::random::RandomStream;
use std::collections::{BTreeMap, VecDeque};

const SEED: u64 = 42;
/// Enough for about 29 trades of each account.
const SIZE: BrokerageSize = BrokerageSize { customers: 1_000, days: 10, scale_factor: 2_000 };

fn trades(size: BrokerageSize) -> Vec<(CompletedTrade, Vec<LotChange>)> {
    let mut replay = Replay::new(SEED, size, 0);
    std::iter::from_fn(|| replay.next().map(|trade| (trade, replay.changes().to_vec()))).collect()
}

#[test]
fn orders_have_their_shares() {
    let trades = trades(SIZE);
    assert_eq!(trades.len(), 144_000);
    let share = |test: &dyn Fn(&CompletedTrade) -> bool| {
        trades.iter().filter(|(trade, _)| test(trade)).count() as f64 / trades.len() as f64
    };
    // Four standard deviations of a share of one half.
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 0.006, "{found} instead of {expected}");
    for (of, expected) in TradeType::ALL.into_iter().zip([0.3, 0.3, 0.1, 0.1, 0.2]) {
        near(share(&|trade| trade.order.of == of), expected);
    }
    for quantity in QUANTITIES {
        near(share(&|trade| trade.order.quantity == quantity), 0.25);
    }
    for (tier, expected) in [(1, 0.1), (2, 0.6), (3, 0.3)] {
        near(share(&|trade| trade.member.tier == tier), expected);
    }
    near(share(&|trade| trade.order.is_lifo), 0.35);
    near(share(&|trade| !trade.order.is_cash), 0.08);
    assert!(trades.iter().all(|(trade, _)| trade.order.is_cash || !trade.order.of.is_sell()));
}

#[test]
fn tables_grow_in_their_ratios() {
    let totals = TradingTotals::count(SEED, SIZE);
    let ratio = |rows: u64| rows as f64 / SIZE.trades() as f64;
    let near =
        |found: f64, expected: f64, by: f64| assert!((found - expected).abs() < by, "{found} instead of {expected}");
    near(ratio(totals.histories), 2.4, 0.01);
    near(ratio(totals.cash_transactions), 0.92, 0.01);
    assert_eq!(totals.brokers.len(), 10);
    assert_eq!(totals.brokers.iter().map(|broker| broker.trades).sum::<i64>(), 144_000);
    assert!(totals.summaries < 10 * u64::from(ACCOUNTS_OF_UNIT) + 1_000);
}

/// As many trades of each security of an account as in a database of 300 days, which has 3,456 trades of an account with ten.
#[test]
fn trades_change_134_lots_in_a_hundred_and_leave_5() {
    const POSITIONS: u32 = 1_000;
    const TRADES: u64 = 346;
    let (mut stream, mut changes) = (RandomStream::new(SEED, "test", [0, 0]), Vec::new());
    let (mut rows, mut left) = (0, 0);
    for _ in 0..POSITIONS {
        let mut position = UnitPosition { account: 0, security: Security::new(0), exchange: 0, lots: VecDeque::new() };
        for number in 1..=TRADES {
            let mut order = ORDER;
            order.number = number;
            order.of = if stream.once_in(2) { TradeType::MarketBuy } else { TradeType::MarketSell };
            order.quantity = one_of(&mut stream, &QUANTITIES);
            order.is_lifo = stream.below(100) < 35;
            position.trade(&order, &mut changes);
            rows += changes.len();
        }
        left += position.lots.len();
    }
    let ratio = |count: usize| count as f64 / (f64::from(POSITIONS) * TRADES as f64);
    assert!((ratio(rows) - 1.34).abs() < 0.01, "{}", ratio(rows));
    assert!((ratio(left) - 0.051).abs() < 0.003, "{}", ratio(left));
}

const ORDER: InitialOrder = InitialOrder {
    number: 0,
    position: 0,
    of: TradeType::MarketBuy,
    quantity: 100,
    bid_cents: 2_500,
    price_cents: 2_500,
    is_cash: true,
    is_lifo: false,
    placed: 0,
    submitted: 0,
    completed: 0,
};

/// Each load unit is counted once, whichever thread does it.
#[test]
fn load_units_add_up() {
    let size = BrokerageSize { customers: 3_000, days: 5, scale_factor: 20_000 };
    let mut all = TradingTotals::default();
    (0..3).for_each(|unit| all.add(TradingTotals::of_unit(SEED, size, unit)));
    assert_eq!(TradingTotals::count(SEED, size), all);
}

#[test]
fn trades_complete_in_order_and_keep_their_limits() {
    let trades = trades(SIZE);
    let key = |(trade, _): &(CompletedTrade, Vec<LotChange>)| (trade.order.completed, trade.order.number);
    assert!(trades.windows(2).all(|pair| key(&pair[0]) < key(&pair[1])));
    let mut waited_ms = 0;
    let mut limits = 0;
    for (trade, _) in &trades {
        let order = &trade.order;
        assert!(!ids::is_aborted(order.number));
        assert!((price::LOWEST_CENTS..=price::HIGHEST_CENTS).contains(&order.price_cents));
        let took_ms = (order.completed - order.submitted) / 1_000;
        assert!((1_000..=6_000).contains(&took_ms), "{took_ms}");
        if order.of.is_market() {
            assert_eq!(order.placed, order.submitted);
        } else {
            assert!(order.placed < order.submitted);
            let same_day = calendar::date_of(order.placed) == calendar::date_of(order.submitted);
            let wait_ms = (order.submitted - order.placed) / 1_000;
            if same_day {
                assert!(wait_ms <= 900_000);
                waited_ms += wait_ms;
                limits += 1;
            }
        }
        match order.of {
            TradeType::LimitBuy => assert!(order.price_cents <= order.bid_cents),
            TradeType::LimitSell => assert!(order.price_cents >= order.bid_cents),
            _ => {}
        }
    }
    // Half of the limits are reached at once; the others wait for a few minutes.
    let mean_s = waited_ms / limits / 1_000;
    assert!((100..300).contains(&mean_s), "{mean_s} s");
    let first = calendar::moment(0);
    let last = calendar::moment(SIZE.trading_ms() + 2 * DAY_MS);
    assert!(trades.iter().all(|(trade, _)| (first..last).contains(&trade.order.completed)));
}

/// Lots of a position, played again by hand from the changes alone, are those that are held at the end.
#[test]
fn holdings_are_what_the_changes_leave() {
    let size = BrokerageSize { scale_factor: 5_000, ..SIZE };
    let mut lots = BTreeMap::new();
    for (trade, changes) in trades(size) {
        let sign = if trade.order.of.is_sell() { -1 } else { 1 };
        let moved: i64 = changes.iter().map(|change| change.after - change.before).sum();
        assert_eq!(moved, sign * trade.order.quantity);
        for change in changes {
            let lot = lots.entry(change.opened_by).or_insert(0);
            assert_eq!(*lot, change.before);
            *lot = change.after;
        }
    }
    lots.retain(|_, quantity| *quantity != 0);
    let unit = Replay::new(SEED, size, 0).finish();
    let held: BTreeMap<_, _> =
        unit.positions.iter().flat_map(|position| &position.lots).map(|held| (held.order, held.lot.quantity)).collect();
    assert_eq!(held, lots);
    for position in &unit.positions {
        assert!(
            position.lots.iter().zip(position.lots.iter().skip(1)).all(|(older, newer)| older.opened <= newer.opened)
        );
        assert!(position.lots.iter().all(|held| held.lot.quantity.signum() == position.lots[0].lot.quantity.signum()));
    }
}
