//! The initial rows: each table is a sequence of chunks of a thousand ids, and every chunk has its own random stream.
//! So any split of a table into parts gives the same rows.

use super::SysbenchOltp;
use super::settings::SysbenchMode;
use super::text::{C_BLANK, C_LENGTH, PAD_LENGTH, PAD_LOADED, digit_groups};
use crate::chunks::{Chunk, id, no_rows, source};
use crate::dataset::{RowSource, TablePart};
use crate::random::RandomStream;
use engines::rows::RowSink;
use std::ops::RangeInclusive;

const ROWS_PER_CHUNK: u64 = 1_000;

/// The rows of one part of the table with this number, counted from 0; none for `None`.
pub fn rows(workload: &SysbenchOltp, table: Option<u32>, part: TablePart) -> Box<dyn RowSource + '_> {
    let (Some(table), count) = (table, workload.initial_rows()) else { return no_rows() };
    source(part, count.div_ceil(ROWS_PER_CHUNK), move |chunk| {
        let stream = RandomStream::new(workload.settings.data_seed, "sysbench rows", [table, id(chunk)]);
        let last = ((chunk + 1) * ROWS_PER_CHUNK).min(count);
        Thousand { workload, stream, left: chunk * ROWS_PER_CHUNK + 1..=last }
    })
}

/// The rows of one chunk.
struct Thousand<'a> {
    workload: &'a SysbenchOltp,
    stream: RandomStream,
    left: RangeInclusive<u64>,
}

impl Chunk for Thousand<'_> {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(id) = self.left.next() else { return false };
        sink.integer(id.cast_signed());
        match self.workload.settings.mode {
            SysbenchMode::Of10 => {
                sink.integer(self.workload.ids.draw(&mut self.stream));
                sink.text(digit_groups::<C_LENGTH>(&mut self.stream).as_str());
                sink.text(digit_groups::<PAD_LENGTH>(&mut self.stream).as_str());
            }
            SysbenchMode::Of048 => {
                sink.integer(0);
                sink.text(C_BLANK);
                sink.text(PAD_LOADED);
            }
        }
        sink.end_row();
        true
    }
}

#[cfg(test)]
mod tests;
