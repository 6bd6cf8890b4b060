//! Keys of an order-entry `[workload]` table.

use serde::Deserialize;
use settings::{Holds, Key};

/// What a warehouse id may be; more than anybody loads, and small enough that every id fits a database's integer.
pub const WAREHOUSES_MAX: i64 = 100_000;

pub const KEYS: &[Key] = &[
    Key {
        name: "warehouses",
        holds: Holds::Integer { min: 1, max: WAREHOUSES_MAX },
        default: Some("10"),
        meaning: "scale: each warehouse has ten districts, 30,000 customers and 100,000 stock rows, about 100 MB",
    },
    Key {
        name: "delivery",
        holds: Holds::Choice(&["deferred", "inline"]),
        default: Some("\"deferred\""),
        meaning: "whether a client only queues its deliveries and goes on, or executes and waits for them itself",
    },
    Key {
        name: "data_seed",
        holds: Holds::Integer { min: 0, max: i64::MAX },
        default: Some("42"),
        meaning: "seed of the rows and of the hot values; a trial's inputs have the study's seed",
    },
];

/// The table, read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub warehouses: u32,
    pub delivery: Delivery,
    pub data_seed: u64,
}

/// Who executes a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    Deferred,
    Inline,
}
