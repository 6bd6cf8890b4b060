//! The accounts of a load unit while its initial trading is replayed.

use super::accounts::{Basket, CustomerAccount};
use super::customers;
use super::lots::{Lot, Walk};
use super::market::Security;
use super::order::InitialOrder;
use super::places::TaxRates;
use super::size::{ACCOUNTS_OF_UNIT, BrokerageSize, LOAD_UNIT};
use std::collections::VecDeque;
use std::ops::Range;

/// A lot and the order that opened it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldLot {
    pub order: u64,
    pub lot: Lot,
    /// When it was opened, in microseconds since 1970.
    pub opened: i64,
}

/// What an account holds of a security, the oldest lot first.
#[derive(Debug)]
pub struct UnitPosition {
    pub account: u32,
    pub security: Security,
    pub exchange: u32,
    pub lots: VecDeque<HeldLot>,
}

/// What a trade did to a lot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LotChange {
    /// The order that opened the lot.
    pub opened_by: u64,
    pub before: i64,
    pub after: i64,
}

impl UnitPosition {
    /// Changes the lots as an order asks for, and returns what it gains by those that it closes. Afterwards `changes` has what
    /// it did to each lot.
    pub fn trade(&mut self, order: &InitialOrder, changes: &mut Vec<LotChange>) -> i64 {
        let InitialOrder { quantity, price_cents, is_lifo, .. } = *order;
        let lots = &mut self.lots;
        let in_order = |number: usize| lots[if is_lifo { lots.len() - 1 - number } else { number }];
        changes.clear();
        let walk = Walk { is_sell: order.of.is_sell(), quantity, price_cents };
        let closed = walk.over((0..lots.len()).map(|number| in_order(number).lot), |number, before, after| {
            changes.push(LotChange { opened_by: in_order(number).order, before, after });
        });
        for change in &*changes {
            if change.after == 0 {
                if is_lifo {
                    lots.pop_back()
                } else {
                    lots.pop_front()
                };
            } else if let Some(held) = if is_lifo { lots.back_mut() } else { lots.front_mut() } {
                held.lot.quantity = change.after;
            }
        }
        if closed.new_lot != 0 {
            let lot = Lot { quantity: closed.new_lot, price_cents };
            lots.push_back(HeldLot { order: order.number, lot, opened: order.completed });
            changes.push(LotChange { opened_by: order.number, before: 0, after: closed.new_lot });
        }
        closed.gain_cents()
    }
}

/// An account of the load unit.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    pub customer: u32,
    /// Which of the customer's accounts, from 0.
    pub account: u32,
    pub tier: u32,
    /// Place of its broker.
    pub broker: u32,
    pub tax_status: u32,
    /// The sum of the customer's tax rates, in 1/100,000.
    pub tax_rates: i64,
}

#[derive(Debug)]
pub struct LoadUnit {
    pub members: Vec<Member>,
    pub positions: Vec<UnitPosition>,
    /// The first account of each customer, and their number.
    first_accounts: Vec<u32>,
    /// The first position of each account, and their number.
    first_positions: Vec<u32>,
}

impl LoadUnit {
    pub fn new(seed: u64, size: BrokerageSize, unit: u32) -> Self {
        let mut made = Self {
            members: Vec::with_capacity(ACCOUNTS_OF_UNIT as usize),
            positions: Vec::new(),
            first_accounts: vec![0],
            first_positions: vec![0],
        };
        for customer in LOAD_UNIT * unit..LOAD_UNIT * (unit + 1) {
            let tax_rates = TaxRates::new(seed, size.companies(), customer).sum();
            for account in 0..customers::accounts(customer) {
                made.add(seed, size, customer, account, tax_rates);
            }
            made.first_accounts.push(count(made.members.len()));
        }
        made
    }

    fn add(&mut self, seed: u64, size: BrokerageSize, customer: u32, account: u32, tax_rates: i64) {
        let place = count(self.members.len());
        for &security in Basket::new(seed, size, customer, account).securities() {
            let security = Security::new(security);
            let exchange = security.exchange();
            self.positions.push(UnitPosition { account: place, security, exchange, lots: VecDeque::new() });
        }
        self.first_positions.push(count(self.positions.len()));
        let CustomerAccount { broker, tax_status, .. } = CustomerAccount::new(seed, customer, account);
        let tier = customers::tier(customer);
        self.members.push(Member { customer, account, tier, broker, tax_status, tax_rates });
    }

    /// Places of a customer's accounts.
    pub fn accounts_of(&self, customer: u32) -> Range<u32> {
        let place = (customer % LOAD_UNIT) as usize;
        self.first_accounts[place]..self.first_accounts[place + 1]
    }

    /// Places of an account's positions.
    pub fn positions_of(&self, account: u32) -> Range<u32> {
        let place = account as usize;
        self.first_positions[place]..self.first_positions[place + 1]
    }
}

/// No load unit has more than 90,000 positions.
fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
