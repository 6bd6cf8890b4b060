//! Items and their stocks.

use super::super::definition::{CENTS, DISTRICTS, ORIGINAL};
use super::ITEMS_PER_CHUNK;
use crate::chunks::Chunk;
use crate::random::{Letters, Picks, RandomStream};
use engines::rows::RowSink;
use std::ops::RangeInclusive;

/// A tenth of the items and a tenth of the stocks are marked.
const MARKED: u64 = ITEMS_PER_CHUNK as u64 / 10;
const PRICE_MIN_CENTS: i64 = CENTS;
const PRICE_MAX_CENTS: i64 = 100 * CENTS;
const IMAGES: i64 = 10_000;
const STOCK_MIN: i64 = 10;
const STOCK_MAX: i64 = 100;

/// A thousand items.
pub struct ItemRows {
    stream: RandomStream,
    marks: Picks,
    left: RangeInclusive<u32>,
}

impl ItemRows {
    pub fn new(seed: u64, chunk: u32) -> Self {
        let stream = RandomStream::new(seed, "item", [chunk, 0]);
        Self { stream, marks: Picks::new(MARKED, u64::from(ITEMS_PER_CHUNK)), left: items(chunk) }
    }
}

impl Chunk for ItemRows {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(id) = self.left.next() else { return false };
        let stream = &mut self.stream;
        sink.integer(i64::from(id));
        sink.integer(stream.uniform(1, IMAGES));
        sink.text(Letters::<24>::alphanumeric(stream, 14).as_str());
        sink.integer(stream.uniform(PRICE_MIN_CENTS, PRICE_MAX_CENTS));
        write_data(stream, &mut self.marks, sink);
        sink.end_row();
        true
    }
}

/// The stocks of a thousand items in one warehouse.
pub struct StockRows {
    stream: RandomStream,
    marks: Picks,
    left: RangeInclusive<u32>,
    warehouse: u32,
}

impl StockRows {
    pub fn new(seed: u64, warehouse: u32, chunk: u32) -> Self {
        let stream = RandomStream::new(seed, "stock", [warehouse, chunk]);
        Self { stream, marks: Picks::new(MARKED, u64::from(ITEMS_PER_CHUNK)), left: items(chunk), warehouse }
    }
}

impl Chunk for StockRows {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(item) = self.left.next() else { return false };
        let stream = &mut self.stream;
        sink.integer(i64::from(self.warehouse));
        sink.integer(i64::from(item));
        sink.integer(stream.uniform(STOCK_MIN, STOCK_MAX));
        for _ in 0..DISTRICTS {
            sink.text(Letters::<24>::alphanumeric(stream, 24).as_str());
        }
        for _ in ["ytd", "order count", "remote count"] {
            sink.integer(0);
        }
        write_data(stream, &mut self.marks, sink);
        sink.end_row();
        true
    }
}

fn items(chunk: u32) -> RangeInclusive<u32> {
    chunk * ITEMS_PER_CHUNK + 1..=(chunk + 1) * ITEMS_PER_CHUNK
}

fn write_data(stream: &mut RandomStream, marks: &mut Picks, sink: &mut dyn RowSink) {
    let mut data = Letters::<50>::alphanumeric(stream, 26);
    if marks.next(stream) {
        data.overwrite(stream, ORIGINAL.as_bytes());
    }
    sink.text(data.as_str());
}
