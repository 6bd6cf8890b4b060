//! The rows, from the crate `tpchgen`, which makes those of the original generator. A chunk of a table is one of its parts.

#[cfg(test)]
mod tests;

use crate::chunks::{Chunk, no_rows, source};
use crate::dataset::{RowSource, TablePart};
use crate::decision_support::scale::DataScale;
use engines::rows::RowSink;
use engines::session::{Date, Decimal};
use std::fmt::{Display, Write};
use tpchgen::dates::TPCHDate;
use tpchgen::decimal::TPCHDecimal;
use tpchgen::generators::{
    Customer, CustomerGenerator, LineItem, LineItemGenerator, Nation, NationGenerator, Order, OrderGenerator,
    Part as SoldPart, PartGenerator, PartSupp, PartSuppGenerator, Region, RegionGenerator, Supplier, SupplierGenerator,
};

/// Suppliers, customers, parts or orders in one chunk, about.
const CHUNK: u64 = 10_000;
/// The first day of the data.
const FIRST_DAY: Date = Date::from_days(TPCHDate::UNIX_EPOCH_OFFSET).expect("1992 has days");
pub const REGIONS: u64 = 5;
pub const NATIONS: u64 = 25;

/// The rows of one part of a table.
pub fn rows(scale: DataScale, table: &str, part: TablePart) -> Box<dyn RowSource> {
    let factor = scale.factor();
    /// The chunks that a generator makes, of which each is one of its parts; there are at most 150,000.
    macro_rules! chunks {
        ($generator:ident, $rows:expr) => {{
            let of = $rows.div_ceil(CHUNK);
            source(part, of, move |chunk| ChunkRows::of($generator::new(factor, number(chunk + 1), number(of)).iter()))
        }};
    }
    match table {
        "region" => chunks!(RegionGenerator, REGIONS),
        "nation" => chunks!(NationGenerator, NATIONS),
        "supplier" => chunks!(SupplierGenerator, scale.suppliers()),
        "customer" => chunks!(CustomerGenerator, scale.customers()),
        "part" => chunks!(PartGenerator, scale.parts()),
        "partsupp" => chunks!(PartSuppGenerator, scale.parts()),
        "orders" => chunks!(OrderGenerator, scale.orders()),
        "lineitem" => chunks!(LineItemGenerator, scale.orders()),
        "refresh_sets" => source(part, 1, |_| ChunkRows::of(std::iter::once(NoSets))),
        _ => no_rows(),
    }
}

/// Number of lines of all initial orders.
pub fn lines(scale: DataScale) -> u64 {
    let mut counts = OrderGenerator::create_line_count_random();
    let mut lines = 0;
    for _ in 0..scale.orders() {
        lines += u64::from(counts.next_value().unsigned_abs());
        counts.row_finished();
    }
    lines
}

fn number(of: u64) -> i32 {
    i32::try_from(of).unwrap_or(i32::MAX)
}

/// A row of some table.
pub trait TableRow {
    fn put(&self, cells: &mut Cells<'_>);
}

/// Where the cells of a row go.
pub struct Cells<'a> {
    sink: &'a mut dyn RowSink,
    /// Room for a text that is made when it is needed.
    text: &'a mut String,
}

impl Cells<'_> {
    fn integer(&mut self, value: impl Into<i64>) {
        self.sink.integer(value.into());
    }

    fn money(&mut self, value: TPCHDecimal) {
        self.sink.decimal(money(value));
    }

    fn date(&mut self, value: TPCHDate) {
        self.sink.date(date(value));
    }

    fn text(&mut self, value: &str) {
        self.sink.text(value);
    }

    fn shown(&mut self, value: &impl Display) {
        self.text.clear();
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{value}");
        self.sink.text(self.text);
    }
}

pub fn money(value: TPCHDecimal) -> Decimal {
    Decimal::new(value.0.into(), 2)
}

pub fn quantity(value: i64) -> Decimal {
    Decimal::new(i128::from(value) * 100, 2)
}

pub fn date(value: TPCHDate) -> Date {
    // All its days are in the twentieth century.
    Date::from_days(value.to_unix_epoch()).unwrap_or(FIRST_DAY)
}

/// The rows of one chunk.
struct ChunkRows<I> {
    left: I,
    text: String,
}

impl<I> ChunkRows<I> {
    fn of(left: I) -> Self {
        Self { left, text: String::new() }
    }
}

impl<I: Iterator<Item: TableRow> + Send> Chunk for ChunkRows<I> {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(row) = self.left.next() else { return false };
        row.put(&mut Cells { sink, text: &mut self.text });
        sink.end_row();
        true
    }
}

impl TableRow for Region<'_> {
    fn put(&self, cells: &mut Cells<'_>) {
        cells.integer(self.r_regionkey);
        cells.text(self.r_name);
        cells.text(self.r_comment);
    }
}

impl TableRow for Nation<'_> {
    fn put(&self, cells: &mut Cells<'_>) {
        cells.integer(self.n_nationkey);
        cells.text(self.n_name);
        cells.integer(self.n_regionkey);
        cells.text(self.n_comment);
    }
}

impl TableRow for Supplier {
    fn put(&self, cells: &mut Cells<'_>) {
        cells.integer(self.s_suppkey);
        cells.shown(&self.s_name);
        cells.shown(&self.s_address);
        cells.integer(self.s_nationkey);
        cells.shown(&self.s_phone);
        cells.money(self.s_acctbal);
        cells.text(&self.s_comment);
    }
}

impl TableRow for Customer<'_> {
    fn put(&self, cells: &mut Cells<'_>) {
        cells.integer(self.c_custkey);
        cells.shown(&self.c_name);
        cells.shown(&self.c_address);
        cells.integer(self.c_nationkey);
        cells.shown(&self.c_phone);
        cells.money(self.c_acctbal);
        cells.text(self.c_mktsegment);
        cells.text(self.c_comment);
    }
}

impl TableRow for SoldPart<'_> {
    fn put(&self, cells: &mut Cells<'_>) {
        cells.integer(self.p_partkey);
        cells.shown(&self.p_name);
        cells.shown(&self.p_mfgr);
        cells.shown(&self.p_brand);
        cells.text(self.p_type);
        cells.integer(self.p_size);
        cells.text(self.p_container);
        cells.money(self.p_retailprice);
        cells.text(self.p_comment);
    }
}

impl TableRow for PartSupp<'_> {
    fn put(&self, cells: &mut Cells<'_>) {
        cells.integer(self.ps_partkey);
        cells.integer(self.ps_suppkey);
        cells.integer(self.ps_availqty);
        cells.money(self.ps_supplycost);
        cells.text(self.ps_comment);
    }
}

impl TableRow for Order<'_> {
    fn put(&self, cells: &mut Cells<'_>) {
        cells.integer(self.o_orderkey);
        cells.integer(self.o_custkey);
        cells.text(self.o_orderstatus.as_str());
        cells.money(self.o_totalprice);
        cells.date(self.o_orderdate);
        cells.text(self.o_orderpriority);
        cells.shown(&self.o_clerk);
        cells.integer(self.o_shippriority);
        cells.text(self.o_comment);
    }
}

impl TableRow for LineItem<'_> {
    fn put(&self, cells: &mut Cells<'_>) {
        cells.integer(self.l_orderkey);
        cells.integer(self.l_partkey);
        cells.integer(self.l_suppkey);
        cells.integer(self.l_linenumber);
        cells.sink.decimal(quantity(self.l_quantity));
        cells.money(self.l_extendedprice);
        cells.money(self.l_discount);
        cells.money(self.l_tax);
        cells.text(self.l_returnflag);
        cells.text(self.l_linestatus);
        cells.date(self.l_shipdate);
        cells.date(self.l_commitdate);
        cells.date(self.l_receiptdate);
        cells.text(self.l_shipinstruct);
        cells.text(self.l_shipmode);
        cells.text(self.l_comment);
    }
}

/// No refresh set has been used.
struct NoSets;

impl TableRow for NoSets {
    fn put(&self, cells: &mut Cells<'_>) {
        for value in [1, 0, 0] {
            cells.integer(value);
        }
    }
}
