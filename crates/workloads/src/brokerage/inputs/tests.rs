//! Statistics of the inputs against the definition.

use super::super::customers;
use super::super::settings::BrokerageSettings;
use super::super::size::BrokerageSize;
use super::super::trading::{QUANTITIES, TradeType};
use super::super::{accounts, calendar, ids};
use super::*;
use crate::way::StatementSending;
use std::collections::{BTreeMap, BTreeSet};

const SETTINGS: BrokerageSettings = BrokerageSettings {
    customers: 1_000,
    initial_trade_days: 25,
    scale_factor: 500,
    news_bytes: 300,
    statements: StatementSending::Plain,
    data_seed: 42,
};
/// Whole decks.
const DRAWN: usize = 890 * 400;

fn drawn(settings: &BrokerageSettings, count: usize) -> Vec<BrokerageInput> {
    let mut customer = Customer::new(User::first(7, 3));
    (0..count).map(|_| draw(&mut customer, settings)).collect()
}

/// Whether a share of `of` is what it should be, but for chance.
fn is_share(found: usize, of: usize, expected: f64) {
    let deviation = (expected * (1.0 - expected) / of as f64).sqrt();
    let share = found as f64 / of as f64;
    assert!((share - expected).abs() <= 4.0 * deviation, "{share} of {of} instead of {expected}");
}

fn count<T>(all: &[T], test: impl Fn(&T) -> bool) -> usize {
    all.iter().filter(|one| test(one)).count()
}

#[test]
fn the_same_user_draws_the_same() {
    assert_eq!(drawn(&SETTINGS, 100), drawn(&SETTINGS, 100));
    let shown: Vec<String> = drawn(&SETTINGS, 3).iter().map(|input| format!("{input:?}")).collect();
    assert_eq!(shown, GOLDEN);
    assert!(size_of::<BrokerageInput>() <= 48, "{} bytes", size_of::<BrokerageInput>());
    assert!(size_of::<Customer>() <= 64, "{} bytes", size_of::<Customer>());
}

const GOLDEN: [&str; 3] = [
    "MarketWatch(MarketWatch { of: Account(AccountPlace { customer: 140, number: 0 }), since: 2003-05-16 })",
    "TradeStatus(AccountPlace { customer: 886, number: 2 })",
    "SecurityDetail(SecurityDetail { security: 272, since: 2003-03-16, days: 8, with_item: false })",
];

#[test]
fn transactions_have_their_numbers_and_shares() {
    let inputs = drawn(&SETTINGS, DRAWN);
    let mut kinds = BTreeMap::new();
    for input in &inputs {
        *kinds.entry(input.work().unwrap().name()).or_insert(0_usize) += 1;
    }
    let expected = [
        ("broker-volume", 49),
        ("customer-position", 130),
        ("market-watch", 180),
        ("security-detail", 140),
        ("trade-lookup", 80),
        ("trade-order", 101),
        ("trade-status", 190),
        ("trade-update", 20),
    ];
    assert_eq!(kinds, expected.map(|(name, count)| (name, count * 400)).into());
    let of = |test: fn(&BrokerageInput) -> bool| count(&inputs, test);
    let positions = of(|input| matches!(input, BrokerageInput::CustomerPosition(_)));
    is_share(
        of(|input| matches!(input, BrokerageInput::CustomerPosition(position) if position.by_tax_id)),
        positions,
        0.5,
    );
    let with_history =
        |input: &BrokerageInput| matches!(input, BrokerageInput::CustomerPosition(of) if of.history_of.is_some());
    is_share(of(with_history), positions, 0.5);
    let watches = of(|input| matches!(input, BrokerageInput::MarketWatch(_)));
    let by = |test: fn(&WatchTarget) -> bool| {
        count(&inputs, |input| matches!(input, BrokerageInput::MarketWatch(watch) if test(&watch.of)))
    };
    is_share(by(|of| matches!(of, WatchTarget::ListOf(_))), watches, 0.6);
    is_share(by(|of| matches!(of, WatchTarget::Account(_))), watches, 0.35);
    is_share(by(|of| matches!(of, WatchTarget::Industry { first: 0, last: 499, .. })), watches, 0.05);
    let details = of(|input| matches!(input, BrokerageInput::SecurityDetail(_)));
    is_share(of(|input| matches!(input, BrokerageInput::SecurityDetail(detail) if detail.with_item)), details, 0.01);
    for (of_kind, shares) in [
        (of_lookups as fn(&BrokerageInput) -> Option<&TradeSelection>, [0.3, 0.3, 0.3, 0.1]),
        (of_updates, [0.33, 0.33, 0.34, 0.0]),
    ] {
        let lookups: Vec<&TradeSelection> = inputs.iter().filter_map(of_kind).collect();
        let tests: [fn(&&TradeSelection) -> bool; 4] = [
            |lookup| matches!(lookup, TradeSelection::Trades(_)),
            |lookup| matches!(lookup, TradeSelection::OfAccount { .. }),
            |lookup| matches!(lookup, TradeSelection::OfSecurity { .. }),
            |lookup| matches!(lookup, TradeSelection::Holdings { .. }),
        ];
        for (test, share) in tests.into_iter().zip(shares) {
            is_share(count(&lookups, test), lookups.len(), share);
        }
    }
}

fn of_lookups(input: &BrokerageInput) -> Option<&TradeSelection> {
    if let BrokerageInput::TradeLookup(lookup) = input { Some(lookup) } else { None }
}

fn of_updates(input: &BrokerageInput) -> Option<&TradeSelection> {
    if let BrokerageInput::TradeUpdate(lookup) = input { Some(lookup) } else { None }
}

fn orders(count: usize) -> Vec<TradeOrder> {
    let inputs = drawn(&SETTINGS, count);
    let order = |input| if let BrokerageInput::TradeOrder(order) = input { Some(*order) } else { None };
    inputs.into_iter().filter_map(order).collect()
}

#[test]
fn orders_are_what_customers_order() {
    let orders = orders(DRAWN);
    let share = |test: &dyn Fn(&TradeOrder) -> bool, expected| is_share(count(&orders, test), orders.len(), expected);
    share(&|order| order.is_by_other(), 0.1);
    share(&|order| order.by_company, 0.4);
    share(&|order| order.on_margin, 0.08);
    share(&|order| order.newest_first, 0.35);
    share(&|order| order.rolls_back, 1.0 / 101.0);
    for quantity in QUANTITIES {
        share(&|order| order.quantity == quantity, 0.25);
    }
    for (kind, expected) in TradeType::ALL.into_iter().zip([0.3, 0.3, 0.1, 0.1, 0.2]) {
        share(&|order| order.kind == kind, expected);
    }
    for (tier, expected) in (1..).zip([0.1, 0.6, 0.3]) {
        share(&|order| customers::tier(order.account.customer) == tier, expected);
    }
    share(&|order| order.limit_cents < 2_500, 0.5);
    assert!(orders.iter().all(|order| (2_000..=3_000).contains(&order.limit_cents)));
    for order in &orders[..2_000] {
        let AccountPlace { customer, number } = order.account;
        assert!(number < customers::accounts(customer));
        let basket = accounts::Basket::new(42, SETTINGS.size(), customer, number);
        assert!(basket.securities().contains(&order.security));
        let others = accounts::CustomerAccount::new(42, customer, number);
        assert!(!order.is_by_other() || others.others().last() == Some(&order.executor));
    }
}

#[test]
fn lists_and_ranges_keep_their_limits() {
    let inputs = drawn(&SETTINGS, 890 * 20);
    let end = calendar::end(25);
    let mut weekdays = [0_usize; 5];
    for input in &inputs {
        match input {
            // A thousand customers have ten brokers.
            BrokerageInput::BrokerVolume(volume) => {
                let different: BTreeSet<_> = volume.brokers().iter().collect();
                assert_eq!((different.len(), volume.brokers().len()), (10, 10));
            }
            BrokerageInput::MarketWatch(watch) => {
                let days = i64::from(watch.since.days()) - calendar::FIRST_MARKET_DAY;
                assert!((35..7 * 261).contains(&days));
                weekdays[usize::try_from(days % 7).unwrap()] += 1;
            }
            BrokerageInput::SecurityDetail(detail) => {
                let days = i64::from(detail.since.days()) - calendar::FIRST_MARKET_DAY;
                assert!((5..=20).contains(&detail.days) && (0..=1_305 - detail.days).contains(&days));
            }
            BrokerageInput::TradeLookup(lookup) | BrokerageInput::TradeUpdate(lookup) => match lookup {
                TradeSelection::Trades(trades) => {
                    assert!(trades.is_sorted_by(|one, next| one < next));
                    let is_there = |trade: &i64| {
                        let order = (trade - ids::trade_id(0)).unsigned_abs();
                        (1..=SETTINGS.size().orders()).contains(&order) && !ids::is_aborted(order)
                    };
                    assert!(trades.iter().all(is_there));
                }
                TradeSelection::OfAccount { from_us, .. } => assert!((calendar::moment(0)..end).contains(from_us)),
                TradeSelection::OfSecurity { from_us, .. } | TradeSelection::Holdings { from_us, .. } => {
                    assert!(*from_us < end);
                }
            },
            _ => {}
        }
    }
    let watches = weekdays.iter().sum();
    for (found, share) in weekdays.into_iter().zip([0.2, 0.07, 0.06, 0.07, 0.6]) {
        is_share(found, watches, share);
    }
}

#[test]
fn large_houses_ask_for_20_to_40_brokers_and_a_window_of_companies() {
    let settings = BrokerageSettings { customers: 20_000, ..SETTINGS };
    let (mut counts, mut windows) = (BTreeSet::new(), BTreeSet::new());
    for input in drawn(&settings, 890 * 10) {
        match input {
            BrokerageInput::BrokerVolume(volume) => assert!({
                counts.insert(volume.brokers().len());
                volume.brokers().iter().collect::<BTreeSet<_>>().len() == volume.brokers().len()
            }),
            BrokerageInput::MarketWatch(MarketWatch { of: WatchTarget::Industry { first, last, .. }, .. }) => {
                assert_eq!(last - first, 4_999);
                assert!(last < 10_000);
                windows.insert(first);
            }
            _ => {}
        }
    }
    assert_eq!((counts.first(), counts.last()), (Some(&20), Some(&40)));
    assert!(windows.len() > 50);
}

#[test]
fn maintenance_begins_with_a_clean_up_and_takes_twelve_tables_in_turn() {
    let size: BrokerageSize = SETTINGS.size();
    let mut maintainer = Maintainer::new(User::first(7, 0));
    assert_eq!(maintainer.draw(size), BrokerageInput::TradeCleanup);
    let mut turns: Vec<Vec<std::mem::Discriminant<Upkeep>>> = vec![Vec::new(); 12];
    for turn in 0..1_200 {
        let BrokerageInput::DataMaintenance(upkeep) = maintainer.draw(size) else { panic!("a change of data") };
        let kind = std::mem::discriminant(&upkeep);
        if !turns[turn % 12].contains(&kind) {
            turns[turn % 12].push(kind);
        }
        if let Upkeep::DailyMarket { day, change, .. } = upkeep {
            assert!((1..=31).contains(&day) && (1..=3).contains(&change.abs()));
        }
    }
    let different: Vec<usize> = turns.iter().map(Vec::len).collect();
    assert_eq!(different, [1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], "addresses are those of customers and of companies");
}
