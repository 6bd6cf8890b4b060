//! How many of each thing there are.
//!
//! Everything comes in load units of a thousand customers. A unit has customers, brokers, companies and trades of its own.

/// Customers in a load unit.
pub const LOAD_UNIT: u32 = 1_000;
/// Ids of accounts that each customer has room for.
pub const ACCOUNT_SLOTS: u32 = 10;
pub const ACCOUNTS_OF_UNIT: u32 = 5_000;
pub const BROKERS_OF_UNIT: u32 = 10;
pub const COMPANIES_OF_UNIT: u32 = 500;
pub const SECURITIES_OF_UNIT: u32 = 685;
pub const EXCHANGES: u32 = 4;
/// Hours of trading in a day.
pub const HOURS_OF_DAY: u32 = 8;
pub const DAY_MS: i64 = HOURS_OF_DAY as i64 * 3_600_000;
/// Of so many orders, one is given up: its id is used, and it has no row.
pub const ORDERS_FOR_AN_ABORTED: u64 = 101;
/// The orders among them that become trades.
pub const COMPLETED_OF_THEM: u64 = ORDERS_FOR_AN_ABORTED - 1;

/// The size of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrokerageSize {
    pub customers: u32,
    /// Days of the initial trading.
    pub days: u32,
    /// Customers for each trade result a second.
    pub scale_factor: u32,
}

impl BrokerageSize {
    pub fn load_units(self) -> u32 {
        self.customers / LOAD_UNIT
    }

    pub fn accounts(self) -> u32 {
        self.load_units() * ACCOUNTS_OF_UNIT
    }

    pub fn brokers(self) -> u32 {
        self.load_units() * BROKERS_OF_UNIT
    }

    pub fn companies(self) -> u32 {
        self.load_units() * COMPANIES_OF_UNIT
    }

    pub fn securities(self) -> u32 {
        self.load_units() * SECURITIES_OF_UNIT
    }

    /// The initial trading in milliseconds of trading time.
    pub fn trading_ms(self) -> i64 {
        i64::from(self.days) * DAY_MS
    }

    /// Trades of a load unit: those of the nominal rate, in whole hundreds.
    pub fn trades_of_unit(self) -> u64 {
        let seconds = u64::from(self.days * HOURS_OF_DAY) * 3_600;
        let nominal = seconds * u64::from(LOAD_UNIT) / u64::from(self.scale_factor);
        nominal / COMPLETED_OF_THEM * COMPLETED_OF_THEM
    }

    /// Orders of a load unit: its trades, and those that were given up.
    pub fn orders_of_unit(self) -> u64 {
        self.trades_of_unit() / COMPLETED_OF_THEM * ORDERS_FOR_AN_ABORTED
    }

    pub fn trades(self) -> u64 {
        self.trades_of_unit() * u64::from(self.load_units())
    }

    /// All initial orders. Their numbers count from 1.
    pub fn orders(self) -> u64 {
        self.orders_of_unit() * u64::from(self.load_units())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_size_has_as_many_trades_as_the_original() {
        let size = BrokerageSize { customers: 5_000, days: 300, scale_factor: 500 };
        assert_eq!((size.trades(), size.orders()), (86_400_000, 87_264_000));
        assert_eq!((size.securities(), size.companies(), size.brokers(), size.accounts()), (3_425, 2_500, 50, 25_000));
        let odd = BrokerageSize { customers: 1_000, days: 7, scale_factor: 777 };
        assert_eq!((odd.trades(), odd.orders()), (259_400, 261_994));
    }
}
