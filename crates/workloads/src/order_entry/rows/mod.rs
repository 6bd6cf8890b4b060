//! The initial population. A chunk has the rows of one district, one warehouse or a thousand items.

mod catalogue;
mod customers;
#[cfg(test)]
mod golden;
mod orders;
mod places;

use super::OrderEntry;
use super::definition::{CUSTOMERS, DISTRICTS, ITEMS, QUEUED};
use super::tables;
use crate::chunks::{id, no_rows, source};
use crate::dataset::{Part, RowSource};
use crate::random::{Letters, Stream};
use engines::rows::RowSink;

pub use orders::lines_of_all_orders;

/// Items or stocks in one chunk.
const ITEMS_PER_CHUNK: u32 = 1_000;
const ITEM_CHUNKS: u32 = ITEMS / ITEMS_PER_CHUNK;

/// The rows of one part of a table.
pub fn rows<'a>(workload: &'a OrderEntry, table: &str, part: Part) -> Box<dyn RowSource + 'a> {
    let seed = workload.settings.data_seed;
    let warehouses = u64::from(workload.settings.warehouses);
    let districts = warehouses * u64::from(DISTRICTS);
    let stock_chunks = warehouses * u64::from(ITEM_CHUNKS);
    if table == tables::ITEM.name {
        source(part, u64::from(ITEM_CHUNKS), move |chunk| catalogue::Items::new(seed, id(chunk)))
    } else if table == tables::WAREHOUSE.name {
        source(part, warehouses, move |chunk| places::Warehouse::new(seed, id(chunk) + 1))
    } else if table == tables::STOCK.name {
        source(part, stock_chunks, move |chunk| {
            catalogue::Stocks::new(seed, id(chunk / u64::from(ITEM_CHUNKS)) + 1, id(chunk % u64::from(ITEM_CHUNKS)))
        })
    } else if table == tables::DISTRICT.name {
        source(part, districts, move |chunk| places::District::new(seed, Home::of_chunk(chunk)))
    } else if table == tables::CUSTOMER.name {
        let constant = workload.constants.last_name_at_load;
        source(part, districts, move |chunk| customers::Customers::new(seed, constant, Home::of_chunk(chunk)))
    } else if table == tables::HISTORY.name {
        source(part, districts, move |chunk| customers::Histories::new(seed, Home::of_chunk(chunk)))
    } else if table == tables::ORDERS.name {
        source(part, districts, move |chunk| orders::Orders::new(seed, Home::of_chunk(chunk)))
    } else if table == tables::ORDER_LINE.name {
        source(part, districts, move |chunk| orders::Lines::new(seed, Home::of_chunk(chunk)))
    } else if table == tables::NEW_ORDER.name {
        source(part, districts, move |chunk| orders::Queue::new(Home::of_chunk(chunk)))
    } else {
        no_rows()
    }
}

/// Number of rows of a table at the start.
pub fn expected_rows(workload: &OrderEntry, table: &str) -> u64 {
    let warehouses = u64::from(workload.settings.warehouses);
    let districts = warehouses * u64::from(DISTRICTS);
    match table {
        "item" => u64::from(ITEMS),
        "warehouse" => warehouses,
        "stock" => warehouses * u64::from(ITEMS),
        "district" => districts,
        "customer" | "history" | "orders" => districts * u64::from(CUSTOMERS),
        "new_order" => districts * u64::from(QUEUED),
        "order_line" => *workload.order_lines.get_or_init(|| lines_of_all_orders(workload)),
        _ => 0,
    }
}

/// A district and its warehouse, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Home {
    pub warehouse: u32,
    pub district: u32,
}

impl Home {
    fn of_chunk(chunk: u64) -> Self {
        let districts = u64::from(DISTRICTS);
        Self { warehouse: id(chunk / districts) + 1, district: id(chunk % districts) + 1 }
    }

    fn stream(self, seed: u64, purpose: &str) -> Stream {
        Stream::new(seed, purpose, [self.warehouse, self.district])
    }

    fn write(self, sink: &mut dyn RowSink) {
        sink.integer(i64::from(self.warehouse));
        sink.integer(i64::from(self.district));
    }
}

/// Two streets and a city, a state, and a zip code of four digits and five ones.
fn write_address(stream: &mut Stream, sink: &mut dyn RowSink) {
    for _ in 0..3 {
        sink.text(Letters::<20>::alphanumeric(stream, 10).as_str());
    }
    let mut state = [0; 2];
    stream.capitals(&mut state);
    let mut zip = *b"000011111";
    stream.digits(&mut zip[..4]);
    for text in [state.as_slice(), zip.as_slice()] {
        sink.text(std::str::from_utf8(text).unwrap_or_default());
    }
}
