//! Refresh sets: which of them a database has had, and which keys their orders have.
//!
//! The sets are numbered from 1. Each inserts new orders into gaps between the keys and deletes as many of the oldest.

use super::scale::Scale;
use engines::admin::Admin;
use engines::limit::Limit;
use engines::session::SessionError;

/// Keys come in runs of eight, one of four runs after another.
const RUN: u64 = 8;
const RUNS: u64 = 4;
/// The run of the orders that are loaded, and of those that refresh sets insert.
const LOADED: u64 = 0;
const INSERTED: u64 = 1;

/// The key of an order of this number, counted from 1, in one of the runs.
const fn key(number: u64, run: u64) -> u64 {
    (number / RUN * RUNS + run) * RUN + number % RUN
}

/// The highest key that loading gives.
pub fn highest_key(scale: Scale) -> u64 {
    // The last numbers are those of a run that is not full, so the one before it may be higher.
    key(scale.orders(), LOADED).max(key(scale.orders() / RUN * RUN - 1, LOADED))
}

/// No order has a higher key.
pub fn limit_of_keys(scale: Scale) -> u64 {
    key(scale.orders(), INSERTED) + RUN
}

/// How many sets a database has had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sets {
    pub inserted: u64,
    pub deleted: u64,
}

impl Sets {
    pub fn read(admin: &mut dyn Admin) -> Result<Self, SessionError> {
        let mut found = Ok([0, 0]);
        admin.ask(include_str!("sql/sets.sql"), Limit::WORK, &mut |set, row| {
            found = set.integer(row, 0).and_then(|inserted| Ok([inserted, set.integer(row, 1)?]));
        })?;
        let [inserted, deleted] = found?.map(|sets| u64::try_from(sets).unwrap_or(0));
        Ok(Self { inserted, deleted })
    }

    pub fn are_unused(self) -> bool {
        self.inserted == 0 && self.deleted == 0
    }
}
