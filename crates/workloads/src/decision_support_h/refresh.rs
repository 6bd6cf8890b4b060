//! Refresh sets: which of them a database has had, and which keys their orders have.
//!
//! The sets are numbered from 1. Each inserts new orders into gaps between the keys and deletes as many of the oldest.

use super::rows::{date, money, quantity};
use crate::decision_support::scale::DataScale;
use engines::admin::Admin;
use engines::limit::ReplyLimit;
use engines::session::{Param, SessionError};
use tpchgen::generators::{LineItem, LineItemGenerator, Order, OrderGenerator};
use tpchgen::text::TextPool;

/// After these, all keys of the first gap are used, and all orders that were loaded are deleted but for the last set of them.
pub const SETS_MAX: i64 = 999;
/// The generator splits the loaded orders into so many parts. The parts that would follow them are the rows of refresh sets.
const PARTS: u32 = 1_000;

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

/// Makes what all texts are cut from: 300 MB, which takes a second, so it is done before anything is timed.
pub fn prepare() {
    TextPool::get_or_init_default();
}

/// An order of a set, with its lines.
pub struct RefreshedOrder {
    pub order: OrderOfRefresh,
    pub lines: Vec<LineOfRefresh>,
}

pub struct OrderOfRefresh {
    key: i64,
    row: Order<'static>,
    clerk: String,
}

pub struct LineOfRefresh {
    key: i64,
    row: LineItem<'static>,
}

impl OrderOfRefresh {
    pub fn params(&self) -> [Param<'_>; 9] {
        let Self { key, row, clerk } = self;
        [
            Param::Integer(*key),
            Param::Integer(row.o_custkey),
            Param::Text(row.o_orderstatus.as_str()),
            Param::Decimal(money(row.o_totalprice)),
            Param::Date(date(row.o_orderdate)),
            Param::Text(row.o_orderpriority),
            Param::Text(clerk),
            Param::Integer(row.o_shippriority.into()),
            Param::Text(row.o_comment),
        ]
    }
}

impl LineOfRefresh {
    pub fn params(&self) -> [Param<'_>; 16] {
        let Self { key, row } = self;
        [
            Param::Integer(*key),
            Param::Integer(row.l_partkey),
            Param::Integer(row.l_suppkey),
            Param::Integer(row.l_linenumber.into()),
            Param::Decimal(quantity(row.l_quantity)),
            Param::Decimal(money(row.l_extendedprice)),
            Param::Decimal(money(row.l_discount)),
            Param::Decimal(money(row.l_tax)),
            Param::Text(row.l_returnflag),
            Param::Text(row.l_linestatus),
            Param::Date(date(row.l_shipdate)),
            Param::Date(date(row.l_commitdate)),
            Param::Date(date(row.l_receiptdate)),
            Param::Text(row.l_shipinstruct),
            Param::Text(row.l_shipmode),
            Param::Text(row.l_comment),
        ]
    }
}

/// The keys that a set has in a run.
fn keys(scale: DataScale, set: u64, run: u64) -> impl Iterator<Item = i64> {
    let before = set.saturating_sub(1) * scale.refreshed();
    (before + 1..=before + scale.refreshed()).map(move |number| key(number, run).cast_signed())
}

/// The keys of the orders that a set deletes.
pub fn old_keys(scale: DataScale, set: u64) -> impl Iterator<Item = i64> {
    keys(scale, set, LOADED)
}

/// The orders that a set inserts. They continue the loaded ones, but for their keys.
pub fn new_orders(scale: DataScale, set: u64) -> impl Iterator<Item = RefreshedOrder> {
    let number = |of: u64| i32::try_from(of).unwrap_or(i32::MAX);
    let (part, of) = (number(u64::from(PARTS) + set), number(PARTS.into()));
    let mut lines = LineItemGenerator::new(scale.factor(), part, of).iter().peekable();
    let orders = OrderGenerator::new(scale.factor(), part, of).iter();
    orders.zip(keys(scale, set, INSERTED)).map(move |(row, key)| {
        let own = std::iter::from_fn(|| lines.next_if(|line| line.l_orderkey == row.o_orderkey));
        let lines = own.map(|row| LineOfRefresh { key, row }).collect();
        RefreshedOrder { order: OrderOfRefresh { key, clerk: row.o_clerk.to_string(), row }, lines }
    })
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
        admin.ask(include_str!("sql/sets.sql"), ReplyLimit::WORK, &mut |set, row| {
            found = set.integer(row, 0).and_then(|inserted| Ok([inserted, set.integer(row, 1)?]));
        })?;
        let [inserted, deleted] = found?.map(|sets| u64::try_from(sets).unwrap_or(0));
        Ok(Self { inserted, deleted })
    }

    pub fn are_unused(self) -> bool {
        self.inserted == 0 && self.deleted == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(of: f64) -> DataScale {
        DataScale::of(of).unwrap()
    }

    #[test]
    fn a_set_fills_gaps_and_deletes_the_oldest() {
        let new: Vec<_> = keys(scale(1.0), 1, INSERTED).collect();
        let old: Vec<_> = old_keys(scale(1.0), 1).collect();
        assert_eq!((new.len(), &new[..8]), (1_500, &[9, 10, 11, 12, 13, 14, 15, 40][..]));
        assert_eq!((&old[..9], old[1_499]), (&[1, 2, 3, 4, 5, 6, 7, 32, 33][..], 5_988));
        assert_eq!(old_keys(scale(1.0), 2).next(), Some(5_989));
    }

    #[test]
    fn new_orders_continue_the_loaded_ones() {
        for (of, count) in [(0.01, 15), (0.29, 435)] {
            for set in [1, 2, 999] {
                let orders: Vec<_> = new_orders(scale(of), set).collect();
                assert_eq!(orders.len(), count, "{of}");
                for (RefreshedOrder { order, lines }, key) in orders.iter().zip(keys(scale(of), set, INSERTED)) {
                    assert!((1..=7).contains(&lines.len()) && order.key == key);
                    let total: i64 = lines
                        .iter()
                        .map(|LineOfRefresh { row, .. }| {
                            let charged = row.l_extendedprice.0 * (100 - row.l_discount.0) / 100;
                            charged * (100 + row.l_tax.0) / 100
                        })
                        .sum();
                    assert_eq!(total, order.row.o_totalprice.0);
                }
            }
        }
    }

    /// At scale 1, this is the first order of the original generator's first set.
    #[test]
    fn golden_order() {
        let first = new_orders(scale(1.0), 1).next().unwrap();
        let found = format!("{:?}", first.order.params());
        let expected = "[Integer(9), Integer(12658), Text(\"O\"), Decimal(129872.68), Date(1998-07-06), Text(\"4-NOT SPECIFIED\"), \
            Text(\"Clerk#000000248\"), Integer(0), Text(\" blithely final packages cajole. regular waters are final requests. \
            regular ac\")]";
        assert_eq!(found, expected);
    }
}
