//! How many rows a scale means.

use crate::decision_support::scale::DataScale;

/// Rows at scale 1.
const SUPPLIERS: u64 = 10_000;
const CUSTOMERS: u64 = 150_000;
const PARTS: u64 = 200_000;
const ORDERS: u64 = 1_500_000;
/// Each part has so many suppliers.
const SUPPLIERS_OF_A_PART: u64 = 4;
/// A refresh set has one order for so many initial ones.
const ORDERS_FOR_A_REFRESHED_ONE: u64 = 1_000;

/// Scales from which on that many query streams work at the same time.
const STREAMS: &[(u32, u32)] = &[(100, 2), (1_000, 3), (3_000, 4), (10_000, 5), (30_000, 6), (100_000, 7)];

/// From this scale on, keys of orders do not fit 32 bits with a sign.
const WIDE_ORDER_KEYS: u32 = 30_001;
/// Up to this scale, the largest sum of the questions fits 64 bits on SQLite.
const LARGEST_FOR_SQLITE: u32 = 8_000;

impl DataScale {
    /// The number for the generator, which multiplies by it and cuts off the fraction. Where the product would be a little less
    /// than a whole number, the next larger number makes it whole.
    pub fn factor(self) -> f64 {
        let plain = self.plain();
        let is_exact = |rows: u64| rows as f64 * plain >= self.times(rows) as f64;
        if [SUPPLIERS, CUSTOMERS, PARTS, ORDERS].into_iter().all(is_exact) { plain } else { plain.next_up() }
    }

    const fn times(self, rows: u64) -> u64 {
        rows / 100 * self.0 as u64
    }

    pub const fn suppliers(self) -> u64 {
        self.times(SUPPLIERS)
    }

    pub const fn customers(self) -> u64 {
        self.times(CUSTOMERS)
    }

    pub const fn parts(self) -> u64 {
        self.times(PARTS)
    }

    pub const fn offers(self) -> u64 {
        self.parts() * SUPPLIERS_OF_A_PART
    }

    pub const fn orders(self) -> u64 {
        self.times(ORDERS)
    }

    /// Orders of a refresh set.
    pub const fn refreshed(self) -> u64 {
        self.orders() / ORDERS_FOR_A_REFRESHED_ONE
    }

    /// The least number of query streams at the same time.
    pub fn streams(self) -> u32 {
        STREAMS.iter().rev().find(|(from, _)| self.0 >= *from).map_or(STREAMS[0].1, |(_, streams)| *streams)
    }

    pub const fn has_wide_order_keys(self) -> bool {
        self.0 >= WIDE_ORDER_KEYS
    }

    pub const fn fits_sqlite(self) -> bool {
        self.0 <= LARGEST_FOR_SQLITE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(of: f64) -> DataScale {
        DataScale::of(of).unwrap()
    }

    #[test]
    fn rows_grow_with_the_scale() {
        let of = |of: f64| {
            let scale = scale(of);
            (scale.suppliers(), scale.customers(), scale.offers(), scale.orders(), scale.refreshed(), scale.streams())
        };
        assert_eq!(of(0.01), (100, 1_500, 8_000, 15_000, 15, 2));
        assert_eq!(of(1.0), (10_000, 150_000, 800_000, 1_500_000, 1_500, 2));
        assert_eq!(of(30.0), (300_000, 4_500_000, 24_000_000, 45_000_000, 45_000, 4));
        assert_eq!(of(1_000.0), (10_000_000, 150_000_000, 800_000_000, 1_500_000_000, 1_500_000, 7));
    }

    #[test]
    fn keys_of_orders_are_wide_from_a_scale_on() {
        assert!(!scale(300.0).has_wide_order_keys());
        assert!(scale(301.0).has_wide_order_keys());
    }

    #[test]
    fn the_generator_multiplies_to_whole_numbers() {
        for hundredths in 1..=100_000 {
            let scale = DataScale(hundredths);
            for rows in [SUPPLIERS, CUSTOMERS, PARTS, ORDERS] {
                let found = (rows as f64 * scale.factor()).floor();
                assert_eq!(found.to_bits(), (scale.times(rows) as f64).to_bits(), "{hundredths}");
            }
        }
        assert_eq!(scale(0.01).factor().to_bits(), 0.01_f64.to_bits());
    }
}
