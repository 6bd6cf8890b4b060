//! Keys of a brokerage `[workload]` table.

use super::size::{BrokerageSize, LOAD_UNIT};
use crate::way::StatementSending;
use serde::Deserialize;
use settings::{Holds, Problem, keys};

/// Symbols of securities have room for more, but no machine of ours has.
const CUSTOMERS_MAX: i64 = 1_000_000;
/// A lookup goes back four days from the end of the initial trading.
const DAYS_MIN: i64 = 5;
const DAYS_MAX: i64 = 300;
const SCALE_FACTOR_MIN: i64 = 100;
const SCALE_FACTOR_MAX: i64 = 100_000;
/// The summary of a news item is the beginning of its text.
const NEWS_BYTES_MIN: i64 = 255;
const NEWS_BYTES_MAX: i64 = 100_000;

keys! {
    /// The table, read.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct BrokerageSettings {
        customers: u32 = "1000", Holds::Integer { min: LOAD_UNIT as i64, max: CUSTOMERS_MAX },
            "customers of the brokerage house, in whole thousands; with the scale factor they give the nominal rate";
        initial_trade_days: u32 = "25", Holds::Integer { min: DAYS_MIN, max: DAYS_MAX },
            "days of trading that are in the database at the start; each has eight hours at the nominal rate";
        scale_factor: u32 = "500", Holds::Integer { min: SCALE_FACTOR_MIN, max: SCALE_FACTOR_MAX },
            "customers for each trade result a second";
        news_bytes: u32 = "100000", Holds::Integer { min: NEWS_BYTES_MIN, max: NEWS_BYTES_MAX },
            "length of the text of a news item, of which there is one for each customer";
        statements: StatementSending = "\"plain\"", Holds::Choice(StatementSending::NAMES),
            "whether each statement waits for the answer to the one before it, or those that need no answer go out together";
        data_seed: u64 = "42", Holds::Integer { min: 0, max: i64::MAX },
            "seed of the rows; a trial's inputs have the study's seed";
    }
}

impl BrokerageSettings {
    pub fn size(&self) -> BrokerageSize {
        BrokerageSize { customers: self.customers, days: self.initial_trade_days, scale_factor: self.scale_factor }
    }

    /// Mistakes that the ranges of the keys do not show.
    pub fn check(&self) -> Result<(), Vec<Problem>> {
        if self.customers.is_multiple_of(LOAD_UNIT) {
            return Ok(());
        }
        let problem = Problem::new("customers", format!("found {}", self.customers), "a multiple of 1000");
        let nearest = self.customers.next_multiple_of(LOAD_UNIT).to_string();
        Err(vec![Problem { nearest: Some(nearest), ..problem }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(table: &Value) -> BrokerageSettings {
        settings::read(table.as_object().unwrap(), KEYS).unwrap()
    }

    #[test]
    fn customers_come_in_whole_thousands() {
        assert!(read(&json!({})).check().is_ok());
        let problems = read(&json!({ "customers": 1_500 })).check().unwrap_err();
        assert_eq!((problems[0].path.as_str(), problems[0].nearest.as_deref()), ("customers", Some("2000")));
    }
}
