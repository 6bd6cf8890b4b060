//! A brokerage house, derived from a published benchmark: customers place orders through brokers, and a market executes them.
//!
//! Left out, and listed in [`deviations`]: the original's generator, its texts, and its rules for publication.

pub mod accounts;
pub mod calendar;
pub mod customers;
pub mod ids;
pub mod lots;
pub mod market;
pub mod people;
pub mod places;
pub mod price;
pub mod settings;
pub mod size;
pub mod skew;
pub mod tables;
pub mod trading;
pub mod words;

use crate::sql;
use engines::statement::ByDialect;

pub use settings::{KEYS, Settings};

pub const KIND: &str = "brokerage";

pub const SCHEMA: ByDialect<&str> = sql::files!("sql/schema");
pub const FINISH: ByDialect<&str> = sql::files!("sql/finish");
