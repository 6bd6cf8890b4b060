//! The initial population. A chunk has the rows of one district, one warehouse or a thousand items.

mod catalogue;
mod customers;
#[cfg(test)]
mod golden;
mod orders;
mod places;

use super::OrderEntry;
use super::definition::{CUSTOMERS, DISTRICTS, ITEMS, QUEUED};
use crate::chunks::{id, no_rows, source};
use crate::dataset::{RowSource, TablePart};
use crate::random::{Letters, RandomStream};
use engines::rows::RowSink;

pub use orders::lines_of_all_orders;

/// Items or stocks in one chunk.
const ITEMS_PER_CHUNK: u32 = 1_000;
const ITEM_CHUNKS: u32 = ITEMS / ITEMS_PER_CHUNK;

/// The rows of one part of a table.
pub fn rows<'a>(workload: &'a OrderEntry, table: &str, part: TablePart) -> Box<dyn RowSource + 'a> {
    let seed = workload.settings.data_seed;
    let warehouses = u64::from(workload.settings.warehouses);
    let districts = warehouses * u64::from(DISTRICTS);
    let stock_chunks = warehouses * u64::from(ITEM_CHUNKS);
    match table {
        "item" => source(part, u64::from(ITEM_CHUNKS), move |chunk| catalogue::ItemRows::new(seed, id(chunk))),
        "warehouse" => source(part, warehouses, move |chunk| places::WarehouseRow::new(seed, id(chunk) + 1)),
        "stock" => source(part, stock_chunks, move |chunk| {
            catalogue::StockRows::new(seed, id(chunk / u64::from(ITEM_CHUNKS)) + 1, id(chunk % u64::from(ITEM_CHUNKS)))
        }),
        "district" => source(part, districts, move |chunk| places::DistrictRow::new(seed, Home::of_chunk(chunk))),
        "customer" => {
            let constant = workload.constants.last_name_at_load;
            source(part, districts, move |chunk| customers::CustomerRows::new(seed, constant, Home::of_chunk(chunk)))
        }
        "history" => source(part, districts, move |chunk| customers::HistoryRows::new(seed, Home::of_chunk(chunk))),
        "orders" => source(part, districts, move |chunk| orders::OrderRows::new(seed, Home::of_chunk(chunk))),
        "order_line" => source(part, districts, move |chunk| orders::LineRows::new(seed, Home::of_chunk(chunk))),
        "new_order" => source(part, districts, move |chunk| orders::QueueRows::new(Home::of_chunk(chunk))),
        _ => no_rows(),
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

    fn stream(self, seed: u64, purpose: &str) -> RandomStream {
        RandomStream::new(seed, purpose, [self.warehouse, self.district])
    }

    fn write(self, sink: &mut dyn RowSink) {
        sink.integer(i64::from(self.warehouse));
        sink.integer(i64::from(self.district));
    }
}

/// Two streets and a city, a state, and a zip code of four digits and five ones.
fn write_address(stream: &mut RandomStream, sink: &mut dyn RowSink) {
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
