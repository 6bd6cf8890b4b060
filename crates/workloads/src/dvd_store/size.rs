//! How many rows a nominal size means.
//!
//! Customers and orders grow with the size. Products do not: 1,000 MB have a million, 1 GB has 100,000, 2 GB have 20,000.
//! That is how the original has it, and its users compare by these sizes.

use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};
use settings::Problem;

/// Every id but those of ratings must fit into four signed bytes.
const LARGEST: u64 = 1_023;
const KEY: &str = "db_size";
const EXPECTED: &str = "a size from 1MB to 1023MB or from 1GB to 1023GB, in whole numbers";
const MONTHS: u64 = 12;
const REVIEWS_OF_A_PRODUCT: u64 = 20;

/// A nominal size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DvdStoreSize {
    Megabytes(u64),
    Gigabytes(u64),
}

impl DvdStoreSize {
    /// A whole number of MB or GB, such as "10MB" or "25 GB".
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits = text.find(|letter: char| !letter.is_ascii_digit())?;
        let (number, unit) = text.split_at(digits);
        let number = number.parse().ok().filter(|number| (1..=LARGEST).contains(number))?;
        match unit.trim_start().to_ascii_uppercase().as_str() {
            "MB" => Some(Self::Megabytes(number)),
            "GB" => Some(Self::Gigabytes(number)),
            _ => None,
        }
    }

    /// The key is a text to the settings, so what it means is checked here.
    pub fn check(table: &Map<String, Value>) -> Result<(), Vec<Problem>> {
        let text = table.get(KEY).and_then(Value::as_str);
        let Some(wrong) = text.filter(|text| Self::parse(text).is_none()) else { return Ok(()) };
        let problem = Problem::new(KEY, format!("found \"{}\"", wrong.escape_debug()), EXPECTED);
        Err(vec![Problem { nearest: nearest(wrong), ..problem }])
    }

    pub fn customers(self) -> u32 {
        fits(match self {
            Self::Megabytes(size) => 2_000 * size,
            Self::Gigabytes(size) => 2_000_000 * size,
        })
    }

    pub fn orders_of_a_month(self) -> u32 {
        fits(match self {
            Self::Megabytes(size) => 100 * size,
            Self::Gigabytes(size) => 100_000 * size,
        })
    }

    pub fn orders(self) -> u32 {
        fits(MONTHS * u64::from(self.orders_of_a_month()))
    }

    pub fn products(self) -> u32 {
        fits(match self {
            Self::Megabytes(size) => 1_000 * size,
            Self::Gigabytes(1) => 100_000,
            Self::Gigabytes(size) => 10_000 * size,
        })
    }

    /// Of these, one is a special offer.
    pub fn products_for_a_special(self) -> u64 {
        if self.products() <= 100_000 { 100 } else { 10_000 }
    }

    pub fn reviews(self) -> u32 {
        fits(REVIEWS_OF_A_PRODUCT * u64::from(self.products()))
    }
}

/// The size that was probably meant.
fn nearest(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_uppercase().replace("IB", "B");
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().ok()?;
    let megabytes = match unit.trim() {
        "MB" | "M" | "" => number,
        "GB" | "G" => number * 1_024.0,
        "TB" | "T" => number * 1_048_576.0,
        _ => return None,
    };
    let whole = |size: f64| size.round().clamp(1.0, LARGEST as f64);
    Some(if megabytes < 1_024.0 {
        format!("{}MB", whole(megabytes))
    } else {
        format!("{}GB", whole(megabytes / 1_024.0))
    })
}

/// The largest size has 2,046,000,000 customers.
fn fits(rows: u64) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}

impl<'de> Deserialize<'de> for DvdStoreSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom(EXPECTED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_rows_of_the_original() {
        let rows = |text: &str| {
            let size = DvdStoreSize::parse(text).unwrap();
            let of_time = (size.customers(), size.orders_of_a_month(), size.orders());
            (of_time, size.products(), size.products_for_a_special(), size.reviews())
        };
        assert_eq!(rows("10MB"), ((20_000, 1_000, 12_000), 10_000, 100, 200_000));
        assert_eq!(rows("100MB"), ((200_000, 10_000, 120_000), 100_000, 100, 2_000_000));
        assert_eq!(rows("1GB"), ((2_000_000, 100_000, 1_200_000), 100_000, 100, 2_000_000));
        assert_eq!(rows("2GB"), ((4_000_000, 200_000, 2_400_000), 20_000, 100, 400_000));
        assert_eq!(rows("25GB"), ((50_000_000, 2_500_000, 30_000_000), 250_000, 10_000, 5_000_000));
        assert_eq!(rows("100 gb"), ((200_000_000, 10_000_000, 120_000_000), 1_000_000, 10_000, 20_000_000));
        let ((customers, _, orders), ..) = rows("1023GB");
        assert!(i32::try_from(customers).is_ok() && i32::try_from(orders).is_ok());
    }

    #[test]
    fn other_sizes_are_none() {
        for text in
            ["", "MB", "0MB", "1024MB", "1024GB", "1.5GB", "10", "10MiB", "-1GB", "1TB", "99999999999999999999MB"]
        {
            assert_eq!(DvdStoreSize::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_size_that_no_rule_can_fill_is_told_the_nearest() {
        let told = |text: &str| {
            let table = serde_json::json!({ "db_size": text });
            let problem = DvdStoreSize::check(table.as_object().unwrap()).unwrap_err().remove(0);
            assert_eq!(problem.path, "db_size");
            problem.nearest
        };
        for (text, nearest) in
            [("0MB", "1MB"), ("1024MB", "1GB"), ("1.5GB", "2GB"), ("2TB", "1023GB"), ("10MiB", "10MB"), ("10", "10MB")]
        {
            assert_eq!(told(text).as_deref(), Some(nearest), "{text}");
        }
        assert_eq!(told("large"), None);
    }
}
