//! The initial trading of a load unit, replayed: what each trade costs and what it does to the holdings.
//!
//! Every table of trades comes from a replay, so they agree with each other. A replay takes a fraction of the time in which
//! a database loads one of these tables. So each table has a replay of its own, and nothing is kept in between.

use super::accounts::CustomerAccount;
use super::order::InitialOrder;
use super::orders::InitialOrders;
use super::size::{BROKERS_OF_UNIT, BrokerageSize, LOAD_UNIT};
use super::trading::{Costs, band, commission_cents, commission_rate, settlement_cents, tax_cents};
use super::unit::{LoadUnit, LotChange, Member, UnitPosition};
use super::{customers, ids, watched};
use std::collections::BTreeMap;

/// A completed trade.
#[derive(Debug, Clone, Copy)]
pub struct CompletedTrade {
    pub order: InitialOrder,
    pub member: Member,
    pub charge_cents: i64,
    pub commission_cents: i64,
    pub tax_cents: i64,
    /// Of the settlement.
    pub amount_cents: i64,
}

pub struct Replay {
    unit: LoadUnit,
    orders: InitialOrders,
    /// Orders that wait for their completion, by its time and their number.
    waiting: BTreeMap<(i64, u64), InitialOrder>,
    /// The next order that is placed.
    placed: Option<InitialOrder>,
    /// What the last trade did to lots.
    changes: Vec<LotChange>,
}

impl Replay {
    pub fn new(seed: u64, size: BrokerageSize, unit: u32) -> Self {
        let mut orders = InitialOrders::new(seed, size, unit);
        let unit = LoadUnit::new(seed, size, unit);
        let placed = orders.next(&unit);
        Self { unit, orders, waiting: BTreeMap::new(), placed, changes: Vec::new() }
    }

    /// The next trade, in the order of their completion.
    pub fn next(&mut self) -> Option<CompletedTrade> {
        // An order that is placed later is completed later, too.
        while let Some(placed) = self.placed
            && self.waiting.first_key_value().is_none_or(|((completed, _), _)| placed.placed < *completed)
        {
            self.waiting.insert((placed.completed, placed.number), placed);
            self.placed = self.orders.next(&self.unit);
        }
        let (_, order) = self.waiting.pop_first()?;
        Some(self.complete(order))
    }

    pub fn changes(&self) -> &[LotChange] {
        &self.changes
    }

    pub fn position(&self, order: &InitialOrder) -> &UnitPosition {
        &self.unit.positions[order.position as usize]
    }

    /// What is held at the end.
    pub fn finish(mut self) -> LoadUnit {
        while self.next().is_some() {}
        self.unit
    }

    fn complete(&mut self, order: InitialOrder) -> CompletedTrade {
        let position = &mut self.unit.positions[order.position as usize];
        let gain_cents = position.trade(&order, &mut self.changes);
        let member = self.unit.members[position.account as usize];
        let rate = commission_rate(member.tier, position.exchange, band(order.quantity));
        let tax_cents = if member.tax_status == 0 { 0 } else { tax_cents(gain_cents, member.tax_rates) };
        let charge_cents = order.of.charge_cents(member.tier);
        let commission_cents = commission_cents(rate, order.quantity, order.price_cents);
        let withheld = if member.tax_status == 1 { tax_cents } else { 0 };
        let costs = Costs { charge: charge_cents, commission: commission_cents, withheld };
        let amount_cents = settlement_cents(order.of, order.quantity, order.price_cents, costs);
        CompletedTrade { order, member, charge_cents, commission_cents, tax_cents, amount_cents }
    }
}

impl CompletedTrade {
    pub fn id(&self) -> i64 {
        ids::trade_id(self.order.number)
    }
}

/// What the trades of a broker sum up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Brokered {
    pub trades: i64,
    pub commission_cents: i64,
}

/// Numbers of rows that are random or follow from the trading of all load units, and the sums of all brokers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TradingTotals {
    pub histories: u64,
    pub cash_transactions: u64,
    pub holding_histories: u64,
    pub holdings: u64,
    pub summaries: u64,
    pub permissions: u64,
    pub watch_items: u64,
    pub brokers: Vec<Brokered>,
}

impl TradingTotals {
    /// Replays all load units on several threads.
    pub fn count(seed: u64, size: BrokerageSize) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = u32::try_from(threads).unwrap_or(1).min(size.load_units());
        let units = |thread: u32| size.load_units() * thread / threads..size.load_units() * (thread + 1) / threads;
        std::thread::scope(|scope| {
            let parts: Vec<_> = (0..threads)
                .map(|thread| scope.spawn(move || units(thread).map(|unit| Self::of_unit(seed, size, unit)).collect()))
                .collect();
            let mut all = Self::default();
            for part in parts {
                let part: Vec<Self> = part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                for unit in part {
                    all.add(unit);
                }
            }
            all
        })
    }

    fn of_unit(seed: u64, size: BrokerageSize, unit: u32) -> Self {
        let mut totals = Self { brokers: vec![Brokered::default(); BROKERS_OF_UNIT as usize], ..Self::default() };
        let mut replay = Replay::new(seed, size, unit);
        while let Some(trade) = replay.next() {
            totals.histories += if trade.order.of.is_market() { 2 } else { 3 };
            totals.cash_transactions += u64::from(trade.order.is_cash);
            totals.holding_histories += replay.changes().len() as u64;
            let broker = &mut totals.brokers[(trade.member.broker % BROKERS_OF_UNIT) as usize];
            broker.trades += 1;
            broker.commission_cents += trade.commission_cents;
        }
        for customer in LOAD_UNIT * unit..LOAD_UNIT * (unit + 1) {
            totals.watch_items += u64::from(watched::count(seed, customer));
            let accounts =
                (0..customers::accounts(customer)).map(|account| CustomerAccount::new(seed, customer, account));
            totals.permissions += accounts.map(|account| 1 + account.others().len() as u64).sum::<u64>();
        }
        for position in &replay.finish().positions {
            totals.holdings += position.lots.len() as u64;
            totals.summaries += u64::from(!position.lots.is_empty());
        }
        totals
    }

    fn add(&mut self, unit: Self) {
        self.histories += unit.histories;
        self.cash_transactions += unit.cash_transactions;
        self.holding_histories += unit.holding_histories;
        self.holdings += unit.holdings;
        self.summaries += unit.summaries;
        self.permissions += unit.permissions;
        self.watch_items += unit.watch_items;
        self.brokers.extend(unit.brokers);
    }
}

#[cfg(test)]
mod tests;
