//! The inputs of the transactions, drawn completely before they run.
//!
//! Things are named by their places, which count from 0. A transaction turns them into the ids, names and symbols that the
//! original hands to the database.

mod deck;
mod draw;
mod upkeep;

use super::ids;
use super::trading::TradeType;
use super::work::BrokerageWork;
use crate::random::RandomStream;
use crate::workload::User;
use engines::session::Date;

pub use deck::Deck;
pub use draw::draw;
pub use upkeep::{Maintainer, Upkeep};

/// How many brokers a broker-volume asks for at most, and how many trades a lookup of trades.
pub const BROKERS_MAX: usize = 40;
pub const TRADES: usize = 20;
/// Entries of a ticker.
pub const ENTRIES: usize = 20;

/// The inputs of one transaction. The large ones are on the heap, because tens of thousands of small ones wait for the market.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrokerageInput {
    BrokerVolume(Box<BrokerVolume>),
    CustomerPosition(CustomerPosition),
    MarketFeed(Box<[TickerEntry; ENTRIES]>),
    MarketWatch(MarketWatch),
    SecurityDetail(SecurityDetail),
    TradeLookup(TradeSelection),
    TradeOrder(Box<TradeOrder>),
    TradeResult(TradeResult),
    TradeStatus(AccountPlace),
    TradeUpdate(TradeSelection),
    DataMaintenance(Upkeep),
    TradeCleanup,
    /// No transaction: a note to the market of an order that waits for its price.
    Limit(LimitOrder),
}

impl BrokerageInput {
    /// `None` if it is no transaction.
    pub fn work(&self) -> Option<BrokerageWork> {
        Some(match self {
            Self::BrokerVolume(_) => BrokerageWork::BrokerVolume,
            Self::CustomerPosition(_) => BrokerageWork::CustomerPosition,
            Self::MarketFeed(_) => BrokerageWork::MarketFeed,
            Self::MarketWatch(_) => BrokerageWork::MarketWatch,
            Self::SecurityDetail(_) => BrokerageWork::SecurityDetail,
            Self::TradeLookup(_) => BrokerageWork::TradeLookup,
            Self::TradeOrder(_) => BrokerageWork::TradeOrder,
            Self::TradeResult(_) => BrokerageWork::TradeResult,
            Self::TradeStatus(_) => BrokerageWork::TradeStatus,
            Self::TradeUpdate(_) => BrokerageWork::TradeUpdate,
            Self::DataMaintenance(_) => BrokerageWork::DataMaintenance,
            Self::TradeCleanup => BrokerageWork::TradeCleanup,
            Self::Limit(_) => return None,
        })
    }
}

/// One of a customer's accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountPlace {
    pub customer: u32,
    pub number: u32,
}

impl AccountPlace {
    pub fn id(self) -> i64 {
        ids::account_id(self.customer, self.number)
    }
}

/// Pending orders of some brokers for securities of a sector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerVolume {
    brokers: [u32; BROKERS_MAX],
    count: usize,
    /// The sector's name.
    pub sector: &'static str,
}

impl BrokerVolume {
    pub fn brokers(&self) -> &[u32] {
        &self.brokers[..self.count]
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerPosition {
    pub customer: u32,
    pub by_tax_id: bool,
    /// The account whose history is asked for, among those that were found.
    pub history_of: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarketWatch {
    pub of: WatchTarget,
    pub since: Date,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchTarget {
    ListOf(u32),
    Account(AccountPlace),
    /// Companies of the industry in a range of places.
    Industry {
        industry: u32,
        first: u32,
        last: u32,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityDetail {
    pub security: u32,
    pub since: Date,
    pub days: i64,
    pub with_item: bool,
}

/// Which trades to look up, and from which moment on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TradeSelection {
    /// Ids in ascending order, so that two updates lock their trades in the same order.
    Trades(Box<[i64; TRADES]>),
    OfAccount {
        account: AccountPlace,
        from_us: i64,
    },
    OfSecurity {
        security: u32,
        from_us: i64,
    },
    /// The holdings that the first trade changed.
    Holdings {
        account: AccountPlace,
        from_us: i64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is drawn by itself, as in the original")]
pub struct TradeOrder {
    pub account: AccountPlace,
    pub security: u32,
    /// The customer knows the company and the issue instead of the symbol.
    pub by_company: bool,
    /// The person who orders, by its id.
    pub executor: i64,
    pub kind: TradeType,
    pub on_margin: bool,
    pub newest_first: bool,
    pub quantity: i64,
    /// Of an order with a limit.
    pub limit_cents: i64,
    pub rolls_back: bool,
}

impl TradeOrder {
    pub fn is_by_other(&self) -> bool {
        self.executor != ids::id(self.account.customer)
    }
}

/// The market has executed an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TradeResult {
    pub trade: i64,
    pub price_cents: i64,
    pub security: u32,
    pub quantity: i64,
    /// When the market heard of it, by the driver's clock.
    pub since_ns: u64,
}

/// A price and a number of shares on the ticker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TickerEntry {
    pub security: u32,
    pub price_cents: i64,
    pub quantity: i64,
}

/// An order that waits until the price meets its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitOrder {
    pub security: u32,
    pub kind: TradeType,
    pub price_cents: i64,
    /// When the market heard of it, by the driver's clock.
    pub since_ns: u64,
}

/// A customer's user: one client of the load.
#[derive(Debug, Clone)]
pub struct Customer {
    stream: RandomStream,
    deck: Deck,
    /// How long the market takes to execute an order. It has a stream of its own, because answers decide whether it is drawn.
    pub delays: RandomStream,
}

impl Customer {
    pub fn new(user: User) -> Self {
        let phase = user.phase.into();
        Self {
            stream: RandomStream::new(user.seed, "customers", [user.index, phase]),
            deck: Deck::default(),
            delays: RandomStream::new(user.seed, "executions", [user.index, phase]),
        }
    }
}

#[cfg(test)]
mod tests;
