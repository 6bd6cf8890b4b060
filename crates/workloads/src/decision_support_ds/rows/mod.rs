//! The rows, from the crate `tpcdsgen`, which makes those of the original generator.
//!
//! It gives each row as a line of text. Its structures would say the value of a column even where the column is null. A chunk
//! of a table of sales or returns is some of its orders, and one of another table is some of its rows.

pub mod counts;
#[cfg(test)]
mod tests;

use super::tables::{self, RetailColumn};
use crate::chunks::{Chunk, no_rows, source};
use crate::dataset::{RowSource, TablePart};
use crate::decision_support::scale::DataScale;
use engines::rows::RowSink;
use engines::session::{Date, Decimal};
use std::fmt::{Display, Write};
use tpcdsgen::config::Table;
use tpcdsgen::row::{
    CallCenterRowGenerator, CatalogPageRowGenerator, CatalogReturnsRowGenerator, CatalogSalesRowGenerator,
    CustomerAddressRowGenerator, CustomerDemographicsRowGenerator, CustomerRowGenerator, DateDimRowGenerator,
    HouseholdDemographicsRowGenerator, IncomeBandRowGenerator, InventoryRowGenerator, ItemRowGenerator,
    PromotionRowGenerator, ReasonRowGenerator, ShipModeRowGenerator, StoreReturnsRowGenerator, StoreRowGenerator,
    StoreSalesRowGenerator, TimeDimRowGenerator, WarehouseRowGenerator, WebPageRowGenerator, WebReturnsRowGenerator,
    WebSalesRowGenerator, WebSiteRowGenerator,
};

/// Orders or rows in one chunk.
const CHUNK: u64 = 5_000;
/// Between the values of a line.
const SEPARATOR: char = '|';
/// What some tables have in place of a value that is null. Others have nothing there.
const NULL: &str = "NULL";

/// The row of the table of refresh sets: none has been used.
const NO_SETS: &str = "1|0|";

/// The rows of one part of a table.
pub fn rows(scale: DataScale, table: &str, part: TablePart) -> Box<dyn RowSource> {
    let kinds = tables::kinds(table);
    /// The chunks that a generator makes of so many orders or rows.
    macro_rules! chunks {
        ($generator:ident, $of:ident) => {{
            let session = scale.session();
            let count = session.get_scaling().get_row_count(Table::$of);
            source(part, count.div_ceil(CHUNK), move |chunk| {
                let mut generator = $generator::new(session.clone(), count);
                generator.set_source_row_range(chunk * CHUNK + 1, (chunk + 1) * CHUNK);
                GeneratedLines::of(kinds, generator)
            })
        }};
    }
    match table {
        "income_band" => chunks!(IncomeBandRowGenerator, IncomeBand),
        "ship_mode" => chunks!(ShipModeRowGenerator, ShipMode),
        "reason" => chunks!(ReasonRowGenerator, Reason),
        "date_dim" => chunks!(DateDimRowGenerator, DateDim),
        "time_dim" => chunks!(TimeDimRowGenerator, TimeDim),
        "customer_demographics" => chunks!(CustomerDemographicsRowGenerator, CustomerDemographics),
        "household_demographics" => chunks!(HouseholdDemographicsRowGenerator, HouseholdDemographics),
        "customer_address" => chunks!(CustomerAddressRowGenerator, CustomerAddress),
        "customer" => chunks!(CustomerRowGenerator, Customer),
        "item" => chunks!(ItemRowGenerator, Item),
        "promotion" => chunks!(PromotionRowGenerator, Promotion),
        "store" => chunks!(StoreRowGenerator, Store),
        "call_center" => chunks!(CallCenterRowGenerator, CallCenter),
        "catalog_page" => chunks!(CatalogPageRowGenerator, CatalogPage),
        "web_site" => chunks!(WebSiteRowGenerator, WebSite),
        "web_page" => chunks!(WebPageRowGenerator, WebPage),
        "warehouse" => chunks!(WarehouseRowGenerator, Warehouse),
        // A generator of returns makes the orders again.
        "store_sales" => chunks!(StoreSalesRowGenerator, StoreSales),
        "store_returns" => chunks!(StoreReturnsRowGenerator, StoreSales),
        "catalog_sales" => chunks!(CatalogSalesRowGenerator, CatalogSales),
        "catalog_returns" => chunks!(CatalogReturnsRowGenerator, CatalogSales),
        "web_sales" => chunks!(WebSalesRowGenerator, WebSales),
        "web_returns" => chunks!(WebReturnsRowGenerator, WebSales),
        "inventory" => chunks!(InventoryRowGenerator, Inventory),
        "refresh_sets" => source(part, 1, move |_| GeneratedLines::of(kinds, std::iter::once(NO_SETS))),
        _ => no_rows(),
    }
}

/// The rows of one chunk, as lines of text.
struct GeneratedLines<I> {
    kinds: &'static [RetailColumn],
    left: I,
    /// Room for the line of a row.
    line: String,
}

impl<I> GeneratedLines<I> {
    fn of(kinds: &'static [RetailColumn], left: I) -> Self {
        Self { kinds, left, line: String::new() }
    }
}

impl<I: Iterator<Item: Display> + Send> Chunk for GeneratedLines<I> {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(row) = self.left.next() else { return false };
        self.line.clear();
        // Writing to a string cannot fail.
        let _ = write!(self.line, "{row}");
        for (value, kind) in self.line.split(SEPARATOR).zip(self.kinds) {
            put(value, *kind, sink);
        }
        sink.end_row();
        true
    }
}

/// A value that is not what its column holds is put as a text, which the database refuses.
fn put(value: &str, kind: RetailColumn, sink: &mut dyn RowSink) {
    if value.is_empty() || value == NULL {
        return sink.null();
    }
    match kind {
        RetailColumn::Integer => {
            if let Ok(value) = value.parse() {
                return sink.integer(value);
            }
        }
        RetailColumn::Decimal => {
            if let Some(value) = Decimal::parse(value) {
                return sink.decimal(value);
            }
        }
        RetailColumn::Date => {
            if let Some(value) = Date::parse(value) {
                return sink.date(value);
            }
        }
        RetailColumn::Text => (),
    }
    sink.text(value);
}
