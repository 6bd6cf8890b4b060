//! The initial rows: each table is a sequence of chunks of a thousand ids, and every chunk has its own random stream.
//! So any split of a table into parts gives the same rows.

use super::SysbenchOltp;
use super::settings::Mode;
use super::text::{C_BLANK, C_LENGTH, PAD_LENGTH, PAD_LOADED, digit_groups};
use crate::dataset::{Part, RowSource};
use crate::random::Stream;
use engines::rows::RowSink;
use std::ops::{Range, RangeInclusive};

const ROWS_PER_CHUNK: u64 = 1_000;
/// Rows written by one call of [`RowSource::fill`].
const ROWS_PER_FILL: usize = 256;

/// The rows of one part of the table with this number, counted from 0; none for `None`.
pub fn rows(workload: &SysbenchOltp, table: Option<u32>, part: Part) -> Rows<'_> {
    let count = if table.is_some() { workload.initial_rows() } else { 0 };
    let chunks = part.chunks(count.div_ceil(ROWS_PER_CHUNK));
    Rows { workload, table: table.unwrap_or(0), chunks, stream: Stream::new(0, "no chunk", [0, 0]), left: END }
}

/// An empty range.
#[expect(clippy::reversed_empty_ranges, reason = "it is meant to be empty")]
const END: RangeInclusive<u64> = 1..=0;

#[derive(Debug)]
pub struct Rows<'a> {
    workload: &'a SysbenchOltp,
    table: u32,
    chunks: Range<u64>,
    stream: Stream,
    /// The remaining ids of the current chunk.
    left: RangeInclusive<u64>,
}

impl Rows<'_> {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(id) = self.next_id() else { return false };
        sink.integer(id.cast_signed());
        match self.workload.settings.mode {
            Mode::Of10 => {
                sink.integer(self.workload.ids.draw(&mut self.stream));
                sink.text(digit_groups::<C_LENGTH>(&mut self.stream).as_str());
                sink.text(digit_groups::<PAD_LENGTH>(&mut self.stream).as_str());
            }
            Mode::Of048 => {
                sink.integer(0);
                sink.text(C_BLANK);
                sink.text(PAD_LOADED);
            }
        }
        sink.end_row();
        true
    }

    fn next_id(&mut self) -> Option<u64> {
        if let Some(id) = self.left.next() {
            return Some(id);
        }
        let chunk = self.chunks.next()?;
        // There are fewer chunks than rows, whose number has 32 bits.
        let key = [self.table, u32::try_from(chunk).unwrap_or(u32::MAX)];
        self.stream = Stream::new(self.workload.settings.data_seed, "sysbench rows", key);
        let last = ((chunk + 1) * ROWS_PER_CHUNK).min(self.workload.initial_rows());
        self.left = chunk * ROWS_PER_CHUNK + 1..=last;
        self.left.next()
    }
}

impl RowSource for Rows<'_> {
    fn fill(&mut self, sink: &mut dyn RowSink) -> bool {
        (0..ROWS_PER_FILL).all(|_| self.write(sink))
    }
}

#[cfg(test)]
mod tests;
