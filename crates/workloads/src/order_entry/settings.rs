//! Keys of an order-entry `[workload]` table.

use crate::way::{StatementSending, Transactions};
use serde::Deserialize;
use settings::{Holds, keys, names};

/// The largest warehouse id: more than anybody loads, and small enough that every id fits a database's integer.
pub const WAREHOUSES_MAX: i64 = 100_000;

keys! {
    /// The table, read.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct OrderEntrySettings {
        warehouses: u32 = "10", Holds::Integer { min: 1, max: WAREHOUSES_MAX },
            "scale: each warehouse has ten districts, 30,000 customers and 100,000 stock rows, about 100 MB";
        delivery: DeliveryMode = "\"deferred\"", Holds::Choice(DeliveryMode::NAMES),
            "whether a client only queues its deliveries and goes on, or executes and waits for them itself";
        transactions: Transactions = "\"client\"", Holds::Choice(Transactions::NAMES),
            "whether a client sends the statements of a transaction, or calls a procedure in the database that executes them";
        statements: StatementSending = "\"plain\"", Holds::Choice(StatementSending::NAMES),
            "whether each statement waits for the answer to the one before it, or those that need no answer go out together";
        data_seed: u64 = "42", Holds::Integer { min: 0, max: i64::MAX },
            "seed of the rows and of the hot values; a trial's inputs have the study's seed";
    }
}

names! {
    /// How a delivery is executed.
    pub enum DeliveryMode {
        Deferred => "deferred",
        Inline => "inline",
    }
}

impl OrderEntrySettings {
    /// At this scale, clients send plain statements and leave deliveries to others.
    pub const fn plain(warehouses: u32, data_seed: u64) -> Self {
        let (transactions, statements) = (Transactions::Client, StatementSending::Plain);
        Self { warehouses, delivery: DeliveryMode::Deferred, transactions, statements, data_seed }
    }
}
