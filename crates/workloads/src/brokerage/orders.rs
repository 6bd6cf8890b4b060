//! The orders of a load unit's initial trading, in the order in which they are placed.

use super::customers;
use super::ids::is_aborted;
use super::market::Security;
use super::order::InitialOrder;
use super::size::{BrokerageSize, DAY_MS};
use super::trading::{QUANTITIES, TradeType};
use super::unit::LoadUnit;
use super::words::{below, one_of};
use super::{calendar, price};
use crate::random::RandomStream;
use std::ops::Range;

const LOWEST_LIMIT_CENTS: i64 = price::LOWEST_CENTS;
const HIGHEST_LIMIT_CENTS: i64 = price::HIGHEST_CENTS;
const LIFO_PERCENT: u64 = 35;
const MARGIN_PERCENT_OF_BUYS: u64 = 16;
/// A limit that is reached at once is noticed after a second, give or take half of it.
const NOTICED_MS: (i64, i64) = (500, 1_500);
/// From the submission of an order to its completion: a constant, and an exponential time with this mean and this limit.
const COMPLETION_MS: i64 = 1_000;
const MEAN_DELAY_MS: f64 = 1_000.0;
const LONGEST_DELAY_MS: f64 = 5_000.0;

pub struct InitialOrders {
    stream: RandomStream,
    size: BrokerageSize,
    unit: u32,
    /// Places in the load unit.
    left: Range<u64>,
}

impl InitialOrders {
    pub fn new(seed: u64, size: BrokerageSize, unit: u32) -> Self {
        let stream = RandomStream::new(seed, "orders", [unit, 0]);
        Self { stream, size, unit, left: 0..size.orders_of_unit() }
    }

    /// The next order that is not given up.
    pub fn next(&mut self, unit: &LoadUnit) -> Option<InitialOrder> {
        loop {
            let place = self.left.next()?;
            let number = u64::from(self.unit) * self.size.orders_of_unit() + place + 1;
            if !is_aborted(number) {
                return Some(self.draw(unit, place, number));
            }
        }
    }

    fn draw(&mut self, unit: &LoadUnit, place: u64, number: u64) -> InitialOrder {
        let placed_ms = self.time(place);
        let stream = &mut self.stream;
        let customer = customers::at_rank(self.unit, customers::draw_rank(stream));
        let accounts = unit.accounts_of(customer);
        let account = accounts.start + below(stream, accounts.end - accounts.start);
        let positions = unit.positions_of(account);
        let position = positions.start + below(stream, positions.end - positions.start);
        let security = unit.positions[position as usize].security;
        let of = draw_type(stream);
        let quantity = one_of(stream, &QUANTITIES);
        let limit_cents = stream.uniform(LOWEST_LIMIT_CENTS, HIGHEST_LIMIT_CENTS);
        let bid_cents = if of.is_market() { price::at(security.place, placed_ms) } else { limit_cents };
        let is_lifo = stream.below(100) < LIFO_PERCENT;
        let is_cash = of.is_sell() || stream.below(100) >= MARGIN_PERCENT_OF_BUYS;
        let submitted_ms = submission(stream, security, of, bid_cents, placed_ms);
        let delay_ms = completion_delay(stream);
        let submitted = calendar::moment(submitted_ms);
        InitialOrder {
            number,
            position,
            of,
            quantity,
            bid_cents,
            price_cents: of.price(bid_cents, price::at(security.place, submitted_ms + delay_ms)),
            is_cash,
            is_lifo,
            placed: calendar::moment(placed_ms),
            submitted,
            completed: submitted + calendar::microseconds(delay_ms),
        }
    }

    /// The time of an order: anywhere in its slot.
    fn time(&mut self, place: u64) -> i64 {
        let orders = self.size.orders_of_unit().cast_signed();
        let slot = |place: u64| place.cast_signed() * self.size.trading_ms() / orders;
        let (begin, end) = (slot(place), slot(place + 1));
        self.stream.uniform(begin, end - 1)
    }
}

fn draw_type(stream: &mut RandomStream) -> TradeType {
    match stream.below(10) {
        0..3 => TradeType::MarketBuy,
        3..6 => TradeType::MarketSell,
        6..8 => TradeType::LimitBuy,
        8 => TradeType::LimitSell,
        _ => TradeType::StopLoss,
    }
}

/// When an order is submitted to the market, in trading time. One that is not by the evening is submitted at the next opening.
fn submission(stream: &mut RandomStream, security: Security, of: TradeType, limit_cents: i64, placed_ms: i64) -> i64 {
    if of.is_market() {
        return placed_ms;
    }
    let noticed_ms = stream.uniform(NOTICED_MS.0, NOTICED_MS.1);
    let wait_ms = price::wait_ms(security.place, placed_ms, of, limit_cents).unwrap_or(noticed_ms);
    let next_opening = (placed_ms / DAY_MS + 1) * DAY_MS;
    (placed_ms + wait_ms).min(next_opening)
}

fn completion_delay(stream: &mut RandomStream) -> i64 {
    let exponential = -MEAN_DELAY_MS * (1.0 - stream.fraction()).ln();
    #[allow(clippy::cast_possible_truncation, reason = "a few thousands")]
    let delay = exponential.min(LONGEST_DELAY_MS).round() as i64;
    COMPLETION_MS + delay
}
