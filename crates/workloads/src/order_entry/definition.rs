//! The numbers of the definition: how many rows each table has, how values are skewed, what names consist of.

use crate::random::{Letters, RandomStream, Skew};

pub const ITEMS: u32 = 100_000;
pub const DISTRICTS: u32 = 10;
pub const CUSTOMERS: u32 = 3_000;
/// Orders in each district at the start: each customer has placed exactly one.
pub const ORDERS: u32 = CUSTOMERS;
/// The first order that is not delivered yet; it and all later ones are in the queue.
pub const FIRST_QUEUED: u32 = 2_101;
pub const QUEUED: u32 = ORDERS + 1 - FIRST_QUEUED;
pub const LINES_MIN: u32 = 5;
pub const LINES_MAX: u32 = 15;
/// Customers 1 to 1000 of a district have the last names one after another; those of the others are drawn.
pub const LAST_NAMES: u32 = 1_000;
pub const CARRIERS: u32 = 10;

/// Money is in whole cents.
pub const CENTS: i64 = 100;
pub const WAREHOUSE_YTD_CENTS: i64 = 300_000 * CENTS;
pub const DISTRICT_YTD_CENTS: i64 = 30_000 * CENTS;
pub const CREDIT_LIMIT_CENTS: i64 = 50_000 * CENTS;
/// The one payment that every customer made before the start; the balance is that far below zero.
pub const FIRST_PAYMENT_CENTS: i64 = 10 * CENTS;
/// Taxes and discounts are in ten-thousandths.
pub const TAX_MAX: i64 = 2_000;
pub const DISCOUNT_MAX: i64 = 5_000;

/// The time at which everything was loaded, in microseconds since 1970: the start of 2026. It is a constant, so that
/// the rows have the same bytes whenever and wherever they are made.
pub const LOADED_AT_US: i64 = 1_767_225_600_000_000;

pub const LAST_NAME_SKEW: Skew = Skew { mask: 255, low: 0, high: LAST_NAMES as i64 - 1 };
pub const CUSTOMER_SKEW: Skew = Skew { mask: 1_023, low: 1, high: CUSTOMERS as i64 };
pub const ITEM_SKEW: Skew = Skew { mask: 8_191, low: 1, high: ITEMS as i64 };

/// The mark in the data of a tenth of the items and stocks.
pub const ORIGINAL: &str = "ORIGINAL";
pub const BAD_CREDIT: &str = "BC";
pub const GOOD_CREDIT: &str = "GC";
/// Length to which the data of a customer with bad credit is cut.
pub const CUSTOMER_DATA_MAX: usize = 500;

const SYLLABLES: [&str; 10] = ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];
/// Three syllables of at most five letters.
pub const LAST_NAME_MAX: usize = 15;

/// The last name with a number from 0 to 999: one syllable for each of its three digits, hundreds first.
pub fn last_name(number: u32) -> Letters<LAST_NAME_MAX> {
    let mut name = Letters::default();
    for power in [100, 10, 1] {
        name.push(SYLLABLES[(number / power % 10) as usize].as_bytes());
    }
    name
}

/// Range of the distance between the last-name constants of loading and running. Together with two excluded distances
/// it ensures that the names asked for most are not the ones that loading made frequent.
const DELTA_MIN: i64 = 65;
const DELTA_MAX: i64 = 119;
const DELTA_NOT: [i64; 2] = [96, 112];

/// The constants C of the skewed values. They belong to the data set, so that every trial on it has the same hot rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constants {
    pub last_name_at_load: i64,
    pub last_name_at_run: i64,
    pub customer: i64,
    pub item: i64,
}

impl Constants {
    pub fn draw(seed: u64) -> Self {
        let mut stream = RandomStream::new(seed, "constants", [0, 0]);
        let last_name_at_load = stream.uniform(0, LAST_NAME_SKEW.mask);
        let allowed: Vec<i64> =
            (0..=LAST_NAME_SKEW.mask).filter(|&at_run| delta_is_allowed(last_name_at_load, at_run)).collect();
        let chosen = stream.below(allowed.len() as u64);
        Self {
            last_name_at_load,
            // Every constant at load time has allowed ones below or above it.
            last_name_at_run: usize::try_from(chosen).ok().and_then(|chosen| allowed.get(chosen)).copied().unwrap_or(0),
            customer: stream.uniform(0, CUSTOMER_SKEW.mask),
            item: stream.uniform(0, ITEM_SKEW.mask),
        }
    }
}

/// Whether two constants of the last name may be used together.
pub fn delta_is_allowed(at_load: i64, at_run: i64) -> bool {
    let delta = (at_run - at_load).abs();
    (DELTA_MIN..=DELTA_MAX).contains(&delta) && !DELTA_NOT.contains(&delta)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_names_are_made_of_the_digits() {
        assert_eq!(last_name(371).as_str(), "PRICALLYOUGHT");
        assert_eq!(last_name(40).as_str(), "BARPRESBAR");
        assert_eq!(last_name(999).as_str(), "EINGEINGEING");
        assert_eq!((0..LAST_NAMES).map(|number| last_name(number).as_str().len()).max(), Some(LAST_NAME_MAX));
    }

    #[test]
    fn constants_keep_their_distance_for_every_seed() {
        for seed in 0..2_000 {
            let constants = Constants::draw(seed);
            assert!(delta_is_allowed(constants.last_name_at_load, constants.last_name_at_run), "{constants:?}");
            assert!((0..=LAST_NAME_SKEW.mask).contains(&constants.last_name_at_run));
        }
    }

    #[test]
    fn distances_that_are_not_allowed() {
        for delta in [0, 64, 96, 112, 120] {
            assert!(!delta_is_allowed(100, 100 + delta), "{delta}");
            assert!(!delta_is_allowed(100, 100 - delta), "{delta}");
        }
        for delta in [65, 95, 97, 111, 113, 119] {
            assert!(delta_is_allowed(100, 100 + delta), "{delta}");
        }
    }
}
