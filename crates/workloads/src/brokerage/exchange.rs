//! The market that answers: it executes orders, waits with those that have a limit, and fills a ticker.
//!
//! There are a few markets, each a user with its share of the securities. So two market-feeds of different markets never change
//! the same price, and no lock is shared. A market learns of time only when it acts. Nothing asks for an order whose limit was
//! met before that, because such orders only come to the ticker beside a result.

use super::inputs::{BrokerageInput, ENTRIES, LimitOrder, TickerEntry, TradeOrder, TradeResult};
use super::price;
use super::size::BrokerageSize;
use super::trading::TradeType;
use super::words::below;
use crate::effects::{Effects, FollowUp};
use crate::random::RandomStream;
use crate::workload::User;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

/// More than one, so that several threads have one each. Each keeps back a ticker that is not full.
pub const MARKETS: u32 = 4;
const MEAN_DELAY_S: f64 = 1.0;
const LONGEST_DELAY_S: f64 = 5.0;
/// Shares on the ticker that no trade of the database stands behind.
const WAITING_QUANTITY: i64 = 375;
const MADE_UP_QUANTITIES: [i64; 2] = [325, 425];
/// Orders that may wait in all markets. There are some hundreds for each result a second.
const WAITING_MAX: usize = 100_000;
const NANOS_PER_MS: u64 = 1_000_000;
/// Stands for the trade in the receipt of an order that was rolled back.
pub const NO_TRADE: i64 = -1;

/// The market that a security belongs to.
pub fn market_of(security: u32) -> u32 {
    security % MARKETS
}

/// Prices follow the driver's clock. Securities are at different places of their waves at any time, so it does not matter
/// when the clock began.
pub fn price_at(security: u32, at_ns: u64) -> i64 {
    price::at(security, milliseconds(at_ns))
}

fn milliseconds(at_ns: u64) -> i64 {
    i64::try_from(at_ns / NANOS_PER_MS).unwrap_or(i64::MAX)
}

/// How long the market takes to execute an order.
fn delay(stream: &mut RandomStream) -> Duration {
    // Above 0 and at most 1, so that the logarithm is finite.
    let chance = 1.0 - stream.fraction();
    Duration::from_secs_f64((-chance.ln() * MEAN_DELAY_S).min(LONGEST_DELAY_S))
}

/// An order that is to be executed now.
#[derive(Debug, Clone, Copy)]
pub struct ToExecute {
    pub trade: i64,
    pub security: u32,
    pub kind: TradeType,
    pub limit_cents: i64,
    pub quantity: i64,
}

impl ToExecute {
    /// Its result, at the price at which the market will execute it.
    pub fn result(self, now_ns: u64, stream: &mut RandomStream) -> FollowUp<BrokerageInput> {
        let Self { trade, security, kind, limit_cents, quantity } = self;
        let after = delay(stream);
        let executed_ns = now_ns + u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
        let price_cents = kind.price(limit_cents, price_at(security, executed_ns));
        let result = TradeResult { trade, price_cents, security, quantity, since_ns: now_ns };
        FollowUp { input: BrokerageInput::TradeResult(result), after, user: Some(market_of(security)) }
    }
}

/// One market.
#[derive(Debug, Clone)]
pub struct Market {
    number: u32,
    stream: RandomStream,
    /// Orders whose price comes later: when, and what they put on the ticker then.
    waiting: BinaryHeap<Reverse<WaitingOrder>>,
    /// Entries of orders whose price has come, for the ticker.
    met: VecDeque<TickerEntry>,
    ticker: [TickerEntry; ENTRIES],
    on_ticker: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct WaitingOrder {
    until_ns: u64,
    security: u32,
    price_cents: i64,
}

impl Market {
    pub fn new(user: User) -> Self {
        Self {
            number: user.index,
            stream: RandomStream::new(user.seed, "market", [user.index, user.phase.into()]),
            waiting: BinaryHeap::new(),
            met: VecDeque::new(),
            ticker: [TickerEntry::default(); ENTRIES],
            on_ticker: 0,
        }
    }

    /// Takes in an order with a limit.
    pub fn note(&mut self, limit: LimitOrder) {
        let LimitOrder { security, kind, price_cents: limit_cents, since_ns } = limit;
        if self.waiting.len() + self.met.len() >= WAITING_MAX / MARKETS as usize {
            // The check for orders that are never answered finds it.
            return;
        }
        let now_ms = milliseconds(since_ns);
        match price::wait_ms(security, now_ms, kind, limit_cents) {
            None => {
                let price_cents = price::at(security, now_ms);
                self.met.push_back(TickerEntry { security, price_cents, quantity: WAITING_QUANTITY });
            }
            Some(wait_ms) => {
                let until_ns = since_ns + wait_ms.unsigned_abs() * NANOS_PER_MS;
                self.waiting.push(Reverse(WaitingOrder { until_ns, security, price_cents: limit_cents }));
            }
        }
    }

    /// Puts the trade of a result on the ticker, and beside it an order whose price has come, or something made up. A full
    /// ticker goes to the database.
    pub fn executed(&mut self, result: &TradeResult, size: BrokerageSize, effects: &mut Effects<'_, BrokerageInput>) {
        let now_ns = effects.now_ns();
        let TradeResult { security, quantity, .. } = *result;
        self.put(TickerEntry { security, price_cents: price_at(security, now_ns), quantity });
        while let Some(Reverse(first)) = self.waiting.peek().filter(|Reverse(first)| first.until_ns <= now_ns) {
            let WaitingOrder { security, price_cents, .. } = *first;
            self.met.push_back(TickerEntry { security, price_cents, quantity: WAITING_QUANTITY });
            self.waiting.pop();
        }
        let beside = self.met.pop_front().unwrap_or_else(|| self.made_up(size, now_ns));
        self.put(beside);
        if self.on_ticker == ENTRIES {
            self.on_ticker = 0;
            let input = BrokerageInput::MarketFeed(Box::new(self.ticker));
            effects.cause(FollowUp { input, after: Duration::ZERO, user: Some(self.number) });
        }
    }

    /// Executes the orders that a market-feed has triggered.
    pub fn triggered(&mut self, effects: &mut Effects<'_, BrokerageInput>) {
        let now_ns = effects.now_ns();
        let orders: Vec<ToExecute> = triggered(effects.receipt()).collect();
        for order in orders {
            effects.cause(order.result(now_ns, &mut self.stream));
        }
    }

    fn put(&mut self, entry: TickerEntry) {
        self.ticker[self.on_ticker] = entry;
        self.on_ticker += 1;
    }

    fn made_up(&mut self, size: BrokerageSize, now_ns: u64) -> TickerEntry {
        let of_market = (size.securities() - self.number).div_ceil(MARKETS);
        let security = below(&mut self.stream, of_market) * MARKETS + self.number;
        let quantity = MADE_UP_QUANTITIES[usize::from(self.stream.once_in(2))];
        TickerEntry { security, price_cents: price_at(security, now_ns), quantity }
    }
}

/// The numbers that stand for a triggered order in the receipt of a market-feed.
pub fn receipt(order: &ToExecute) -> [i64; 5] {
    let ToExecute { trade, security, kind, limit_cents, quantity } = *order;
    [trade, security.into(), kind as i64, limit_cents, quantity]
}

fn triggered(receipt: &[i64]) -> impl Iterator<Item = ToExecute> {
    receipt.as_chunks().0.iter().filter_map(|&[trade, security, kind, limit_cents, quantity]| {
        let kind = *TradeType::ALL.get(usize::try_from(kind).ok()?)?;
        Some(ToExecute { trade, security: u32::try_from(security).ok()?, kind, limit_cents, quantity })
    })
}

/// What a customer's order makes the market do, once the database has it. In a rehearsal there is no database, and no trade.
pub fn ordered(order: &TradeOrder, delays: &mut RandomStream, effects: &mut Effects<'_, BrokerageInput>) {
    let trade = effects.receipt().first().copied().unwrap_or_default();
    if trade == NO_TRADE {
        return;
    }
    let TradeOrder { security, kind, limit_cents, quantity, .. } = *order;
    let now_ns = effects.now_ns();
    if kind.is_market() {
        let order = ToExecute { trade, security, kind, limit_cents, quantity };
        effects.cause(order.result(now_ns, delays));
    } else {
        let limit = BrokerageInput::Limit(LimitOrder { security, kind, price_cents: limit_cents, since_ns: now_ns });
        effects.cause(FollowUp { input: limit, after: Duration::ZERO, user: Some(market_of(security)) });
    }
}

#[cfg(test)]
mod tests {
    use super::super::inputs::AccountPlace;
    use super::*;
    use std::cell::Cell;

    const SIZE: BrokerageSize = BrokerageSize { customers: 1_000, days: 5, scale_factor: 500 };
    const NUMBER: u32 = 3;
    const SECOND: u64 = 1_000_000_000;

    fn market() -> Market {
        Market::new(User { seed: 7, phase: 0, actor: 1, index: NUMBER, is_filler: false })
    }

    fn result(security: u32) -> TradeResult {
        TradeResult { trade: 9, price_cents: 2_222, security, quantity: 800, since_ns: 0 }
    }

    /// Lets the market execute ten trades a second apart, and returns the ticker.
    fn ticker(market: &mut Market, now: &Cell<u64>) -> [TickerEntry; ENTRIES] {
        let clock = || now.get();
        let mut effects = Effects::new(0, &clock, &|_| ());
        for trade in 0..10 {
            assert_eq!(effects.take_follow_ups().count(), 0, "before trade {trade}");
            now.set(now.get() + SECOND);
            market.executed(&result(NUMBER + MARKETS * trade), SIZE, &mut effects);
        }
        let feeds: Vec<_> = effects.take_follow_ups().collect();
        let [FollowUp { input: BrokerageInput::MarketFeed(entries), after: Duration::ZERO, user: Some(NUMBER) }] =
            &feeds[..]
        else {
            panic!("one market-feed for ten results: {feeds:?}")
        };
        **entries
    }

    #[test]
    fn ten_results_fill_a_ticker_with_something_made_up_beside_each() {
        let (mut market, now) = (market(), Cell::new(5 * SECOND));
        for _ in 0..3 {
            let began_ns = now.get();
            let entries = ticker(&mut market, &now);
            for (pair, place) in entries.as_chunks::<2>().0.iter().zip(0_u32..) {
                let at_ns = began_ns + u64::from(place + 1) * SECOND;
                let security = NUMBER + MARKETS * place;
                let price_cents = price_at(security, at_ns);
                assert_eq!(pair[0], TickerEntry { security, price_cents, quantity: 800 }, "the current price");
                assert!(MADE_UP_QUANTITIES.contains(&pair[1].quantity));
                assert_eq!(market_of(pair[1].security), NUMBER);
                assert!(pair[1].security < SIZE.securities());
                assert_eq!(pair[1].price_cents, price_at(pair[1].security, at_ns));
            }
        }
    }

    #[test]
    fn orders_with_a_limit_come_to_the_ticker_once_their_price_has_come() {
        let (mut market, now) = (market(), Cell::new(5 * SECOND));
        let security = NUMBER + 5 * MARKETS;
        let price = price_at(security, now.get());
        let limit = |kind, price_cents| LimitOrder { security, kind, price_cents, since_ns: 5 * SECOND };
        // Any price above is met at once by a purchase, and 20.00 within a quarter of an hour.
        market.note(limit(TradeType::LimitBuy, 3_000));
        market.note(limit(TradeType::LimitBuy, 2_000));
        assert_eq!((market.met.len(), market.waiting.len()), (1, 1));
        let entries = ticker(&mut market, &now);
        let met = TickerEntry { security, price_cents: price, quantity: WAITING_QUANTITY };
        assert_eq!(entries[1], met, "at the price when it was ordered");
        let waits_ns = market.waiting.peek().unwrap().0.until_ns - 5 * SECOND;
        assert!(waits_ns > 10 * SECOND && waits_ns < 900 * SECOND, "{waits_ns}");
        assert!(!entries[2..].iter().any(|entry| entry.quantity == WAITING_QUANTITY));
        now.set(5 * SECOND + waits_ns);
        let entries = ticker(&mut market, &now);
        assert_eq!(entries[1], TickerEntry { security, price_cents: 2_000, quantity: WAITING_QUANTITY });
        assert!(market.waiting.is_empty() && market.met.is_empty());
    }

    #[test]
    fn a_market_takes_a_second_on_average_and_keeps_limits() {
        let mut stream = RandomStream::new(7, "test", [0, 0]);
        let delays: Vec<f64> = (0..100_000).map(|_| delay(&mut stream).as_secs_f64()).collect();
        let mean = delays.iter().sum::<f64>() / delays.len() as f64;
        // Cut off at five means, it is shorter by e⁻⁵.
        assert!((mean - 0.993).abs() < 0.015, "{mean}");
        assert!(delays.iter().all(|delay| (0.0..=5.0).contains(delay)) && delays.contains(&5.0));
        for kind in TradeType::ALL {
            let order = ToExecute { trade: 1, security: 11, kind, limit_cents: 2_500, quantity: 100 };
            for second in 0..900 {
                let executed = order.result(second * SECOND, &mut stream);
                let BrokerageInput::TradeResult(result) = executed.input else { panic!("a result") };
                let at_ns = second * SECOND + u64::try_from(executed.after.as_nanos()).unwrap();
                let price = price_at(11, at_ns);
                let expected = match kind {
                    TradeType::LimitBuy => price.min(2_500),
                    TradeType::LimitSell => price.max(2_500),
                    _ => price,
                };
                assert_eq!((result.price_cents, result.since_ns, executed.user), (expected, second * SECOND, Some(3)));
            }
        }
    }

    #[test]
    fn triggered_orders_are_executed_like_those_that_never_waited() {
        let clock = || 7 * SECOND;
        let mut effects = Effects::new(0, &clock, &|_| ());
        let order = |trade, kind| ToExecute { trade, security: 19, kind, limit_cents: 2_345, quantity: 400 };
        for order in [order(5, TradeType::StopLoss), order(6, TradeType::LimitSell)] {
            effects.tell(&receipt(&order));
        }
        market().triggered(&mut effects);
        let results: Vec<_> = effects.take_follow_ups().collect();
        let trades: Vec<_> = results
            .iter()
            .map(|caused| match caused.input {
                BrokerageInput::TradeResult(result) => (result.trade, result.security, result.quantity, caused.user),
                _ => panic!("a result"),
            })
            .collect();
        assert_eq!(trades, [(5, 19, 400, Some(3)), (6, 19, 400, Some(3))]);
    }

    #[test]
    fn an_order_goes_to_the_market_of_its_security_unless_it_was_rolled_back() {
        let clock = || 7 * SECOND;
        let order = TradeOrder {
            account: AccountPlace { customer: 1, number: 0 },
            security: 13,
            by_company: false,
            executor: 0,
            kind: TradeType::MarketBuy,
            on_margin: false,
            newest_first: false,
            quantity: 100,
            limit_cents: 2_500,
            rolls_back: false,
        };
        let limited = TradeOrder { kind: TradeType::LimitBuy, ..order.clone() };
        let mut delays = RandomStream::new(7, "test", [0, 0]);
        let mut caused = |order: &TradeOrder, trade| {
            let mut effects = Effects::new(0, &clock, &|_| ());
            effects.tell(&[trade]);
            ordered(order, &mut delays, &mut effects);
            effects.take_follow_ups().next()
        };
        assert_eq!(caused(&order, NO_TRADE), None);
        let bought = caused(&order, 77).unwrap();
        assert!(matches!(bought.input, BrokerageInput::TradeResult(TradeResult { trade: 77, .. })));
        let noted = caused(&limited, 78).unwrap();
        assert!(matches!(noted.input, BrokerageInput::Limit(LimitOrder { price_cents: 2_500, .. })));
        assert_eq!([bought.user, noted.user], [Some(1), Some(1)]);
    }

    #[test]
    fn a_hundred_thousand_orders_that_wait_take_a_few_megabytes() {
        assert!(size_of::<WaitingOrder>() <= 24);
        let mut market = market();
        for place in 0..30_000 {
            market.note(LimitOrder {
                security: place % 85 * MARKETS,
                kind: TradeType::LimitBuy,
                price_cents: 2_000,
                since_ns: 0,
            });
        }
        assert_eq!(market.waiting.len() + market.met.len(), WAITING_MAX / MARKETS as usize, "there is a bound");
    }
}
