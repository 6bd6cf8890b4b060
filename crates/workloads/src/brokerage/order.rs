//! An order of the initial trading, as it is drawn and then played through.

use super::trading::TradeType;

/// What an order asks for, and when it goes through its states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InitialOrder {
    /// Counted from 1 over all load units.
    pub number: u64,
    /// Place in `Unit::positions`: the account and the security.
    pub position: u32,
    pub of: TradeType,
    pub quantity: i64,
    /// The limit, or the price at which a market order was placed.
    pub bid_cents: i64,
    pub price_cents: i64,
    pub is_cash: bool,
    pub is_lifo: bool,
    /// Microseconds since 1970.
    pub placed: i64,
    pub submitted: i64,
    pub completed: i64,
}
