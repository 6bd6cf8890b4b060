//! Ids, which do not fit into 32 bits, and the places that they stand for, counted from 0.

use super::size::{ACCOUNT_SLOTS, ORDERS_FOR_AN_ABORTED};

const SHIFT: i64 = 4_300_000_000;
const TRADE_SHIFT: i64 = 200_000_000_000_000;
/// Which order among so many is given up.
const ABORTED: u64 = 51;

/// The id at a place: of customers, brokers, companies, addresses, watch lists and news.
pub fn id(place: u32) -> i64 {
    SHIFT + 1 + i64::from(place)
}

/// The place of an id, if it can be one.
pub fn place(id: i64) -> Option<u32> {
    u32::try_from(id - SHIFT - 1).ok()
}

/// The id of one of a customer's accounts, which count from 0.
pub fn account_id(customer: u32, account: u32) -> i64 {
    (id(customer) - 1) * i64::from(ACCOUNT_SLOTS) + 1 + i64::from(account)
}

/// The id of an order's trade. Orders count from 1.
pub fn trade_id(order: u64) -> i64 {
    TRADE_SHIFT + order.cast_signed()
}

/// Whether an initial order was given up, so that it has no trade.
pub fn is_aborted(order: u64) -> bool {
    order % ORDERS_FOR_AN_ABORTED == ABORTED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_wider_than_32_bits() {
        assert_eq!([id(0), account_id(0, 0), account_id(999, 9)], [4_300_000_001, 43_000_000_001, 43_000_010_000]);
        assert_eq!(trade_id(1), 200_000_000_000_001);
        assert_eq!([place(id(7)), place(0)], [Some(7), None]);
        assert_eq!((1..=10_100).filter(|order| is_aborted(*order)).count(), 100);
        assert!(!is_aborted(10_100), "the last id of a load unit has a trade");
    }
}
