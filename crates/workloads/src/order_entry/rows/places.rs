//! Warehouses and districts.

use super::super::definition::{DISTRICT_YTD_CENTS, ORDERS, TAX_MAX, WAREHOUSE_YTD_CENTS};
use super::{Home, write_address};
use crate::chunks::Chunk;
use crate::random::{Letters, RandomStream};
use engines::rows::RowSink;

/// A warehouse's row.
pub struct WarehouseRow {
    stream: RandomStream,
    id: Option<u32>,
}

impl WarehouseRow {
    pub fn new(seed: u64, id: u32) -> Self {
        Self { stream: RandomStream::new(seed, "warehouse", [id, 0]), id: Some(id) }
    }
}

impl Chunk for WarehouseRow {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(id) = self.id.take() else { return false };
        sink.integer(i64::from(id));
        write_place(&mut self.stream, sink);
        sink.integer(WAREHOUSE_YTD_CENTS);
        sink.end_row();
        true
    }
}

/// A district's row.
pub struct DistrictRow {
    stream: RandomStream,
    home: Option<Home>,
}

impl DistrictRow {
    pub fn new(seed: u64, home: Home) -> Self {
        Self { stream: home.stream(seed, "district"), home: Some(home) }
    }
}

impl Chunk for DistrictRow {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(home) = self.home.take() else { return false };
        home.write(sink);
        write_place(&mut self.stream, sink);
        sink.integer(DISTRICT_YTD_CENTS);
        sink.integer(i64::from(ORDERS) + 1);
        sink.end_row();
        true
    }
}

/// Name, address and tax.
fn write_place(stream: &mut RandomStream, sink: &mut dyn RowSink) {
    sink.text(Letters::<10>::alphanumeric(stream, 6).as_str());
    write_address(stream, sink);
    sink.integer(stream.uniform(0, TAX_MAX));
}
