//! Keys of a dvd-store `[workload]` table, under the names that DVD Store's users know.

use super::size::DvdStoreSize;
use crate::way::{self, StatementSending, Transactions};
use serde::Deserialize;
use settings::{Holds, Problem, keys};

/// A cart or a visit has 1 to 2·n − 1 of something, and a statement room for the longest cart.
const MEAN_MAX: u8 = 10;
pub const LONGEST: usize = 2 * MEAN_MAX as usize - 1;
const BATCH_MAX: i64 = 100;
const DEPTH_MAX: i64 = 10_000;
const LONGEST_THOUGHT_MS: u64 = 3_600_000;

const MEAN: Holds = Holds::Integer { min: 1, max: MEAN_MAX as i64 };
const PERCENT: Holds = Holds::Integer { min: 0, max: 100 };

keys! {
    /// The table, read.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct DvdStoreSettings {
        db_size: DvdStoreSize = "\"10MB\"", Holds::Text,
            "nominal size, 1MB to 1023MB or 1GB to 1023GB: 2,000 customers for each MB, 2,000,000 for each GB; with its \
             indexes a database takes more";
        version: DvdStoreVersion = "2", Holds::Integer { min: 2, max: 3 },
            "of DVD Store: 3 adds memberships, reviews and ratings, which are most of its data";
        n_searches: u32 = "3", MEAN, "searches for products in an order, on average; 1 to twice as many less one";
        search_batch_size: u32 = "5", Holds::Integer { min: 1, max: BATCH_MAX },
            "products that a search returns at most, on average";
        n_line_items: u32 = "5", MEAN, "products bought in an order, on average";
        pct_newcustomers: u32 = "20", PERCENT, "percent of the orders by customers that sign up first; the others log in";
        /// Mean, in milliseconds.
        think_time: u64 = "\"0s\"", Holds::Span { min_ms: 0, max_ms: LONGEST_THOUGHT_MS },
            "pause after each order, on average; 0 to twice as long, also where clients work back to back";
        n_reviews: Option<u32> = "", MEAN,
            "version 3: searches of each of two kinds for reviews in an order, on average; 3 unless given";
        pct_newmember: Option<u32> = "", PERCENT, "version 3: percent of the orders whose customer becomes a member; 1 unless given";
        pct_newreviews: Option<u32> = "", PERCENT, "version 3: percent of the orders with a new review; 5 unless given";
        pct_newhelpfulness: Option<u32> = "", PERCENT,
            "version 3: percent of the orders in which a review is rated; 10 unless given";
        search_depth: Option<u32> = "", Holds::Integer { min: 1, max: DEPTH_MAX },
            "version 3: reviews that a search by actor or title looks at before it sorts; 500 unless given";
        transactions: Transactions = "\"client\"", Holds::Choice(Transactions::NAMES),
            "whether a client sends the statements of login and purchase, or calls a procedure in the database that executes them";
        statements: StatementSending = "\"plain\"", Holds::Choice(StatementSending::NAMES),
            "whether each statement waits for the answer to the one before it, or those that need no answer go out together";
        data_seed: u64 = "42", Holds::Integer { min: 0, max: i64::MAX },
            "seed of the rows; a trial's inputs have the study's seed";
    }
}

/// Of DVD Store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u8")]
pub enum DvdStoreVersion {
    Two,
    Three,
}

impl TryFrom<u8> for DvdStoreVersion {
    type Error = &'static str;

    fn try_from(number: u8) -> Result<Self, Self::Error> {
        match number {
            2 => Ok(Self::Two),
            3 => Ok(Self::Three),
            _ => Err("a version, 2 or 3"),
        }
    }
}

impl DvdStoreSettings {
    /// This size and version, and the defaults of everything else.
    pub fn plain(size: DvdStoreSize, version: DvdStoreVersion) -> Self {
        Self {
            db_size: size,
            version,
            n_searches: 3,
            search_batch_size: 5,
            n_line_items: 5,
            pct_newcustomers: 20,
            think_time: 0,
            n_reviews: None,
            pct_newmember: None,
            pct_newreviews: None,
            pct_newhelpfulness: None,
            search_depth: None,
            transactions: Transactions::Client,
            statements: StatementSending::Plain,
            data_seed: 42,
        }
    }

    /// What an order does besides in version 3; `None` in version 2.
    pub fn community(&self) -> Option<Community> {
        (self.version == DvdStoreVersion::Three).then(|| Community {
            n_reviews: self.n_reviews.unwrap_or(3),
            pct_newmember: self.pct_newmember.unwrap_or(1),
            pct_newreviews: self.pct_newreviews.unwrap_or(5),
            pct_newhelpfulness: self.pct_newhelpfulness.unwrap_or(10),
            search_depth: self.search_depth.unwrap_or(500),
        })
    }

    /// Mistakes in combinations of keys that are right one by one.
    pub fn check(&self) -> Result<(), Vec<Problem>> {
        way::check(self.transactions, self.statements)?;
        let given = [
            ("n_reviews", self.n_reviews),
            ("pct_newmember", self.pct_newmember),
            ("pct_newreviews", self.pct_newreviews),
            ("pct_newhelpfulness", self.pct_newhelpfulness),
            ("search_depth", self.search_depth),
        ];
        let problems: Vec<_> = given
            .into_iter()
            .filter(|(_, value)| value.is_some() && self.version == DvdStoreVersion::Two)
            .map(|(key, _)| Problem::new(key, "found it with version = 2", "no such key, or version = 3"))
            .collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

/// Settings of memberships, reviews and ratings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Community {
    pub n_reviews: u32,
    pub pct_newmember: u32,
    pub pct_newreviews: u32,
    pub pct_newhelpfulness: u32,
    pub search_depth: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(table: &Value) -> DvdStoreSettings {
        settings::read(table.as_object().unwrap(), KEYS).unwrap()
    }

    #[test]
    fn defaults_are_those_of_the_original() {
        let settings = read(&json!({}));
        assert_eq!(settings, DvdStoreSettings::plain(DvdStoreSize::parse("10MB").unwrap(), DvdStoreVersion::Two));
        assert_eq!(settings.community(), None);
        let third = read(&json!({ "version": 3, "pct_newreviews": 7 }));
        let expected =
            Community { n_reviews: 3, pct_newmember: 1, pct_newreviews: 7, pct_newhelpfulness: 10, search_depth: 500 };
        assert_eq!(third.community(), Some(expected));
        assert!(third.check().is_ok());
    }

    #[test]
    fn keys_of_the_third_version_do_not_go_with_the_second() {
        let problems = read(&json!({ "n_reviews": 3, "search_depth": 100 })).check().unwrap_err();
        let paths: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, ["n_reviews", "search_depth"]);
    }
}
