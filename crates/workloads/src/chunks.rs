//! Rows of a table as a sequence of chunks, each with random streams of its own.
//!
//! A part of a table is a run of whole chunks. So any split gives the same rows, and parts can be made in parallel on
//! different threads or machines.

use crate::dataset::{RowSource, TablePart};
use engines::rows::RowSink;
use std::ops::Range;

/// Rows written by one call of [`RowSource::fill`].
const ROWS_PER_FILL: usize = 256;

/// The rows of one chunk, one at a time.
pub trait Chunk: Send {
    /// Writes the next row; returns false, and writes nothing, after the last.
    fn write(&mut self, sink: &mut dyn RowSink) -> bool;
}

/// The rows of several chunks, one after another.
struct Chunks<Open, Rows> {
    left: Range<u64>,
    rows_per_fill: usize,
    open: Open,
    current: Option<Rows>,
}

impl<Open: FnMut(u64) -> Rows + Send, Rows: Chunk> Chunks<Open, Rows> {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        loop {
            if let Some(rows) = &mut self.current
                && rows.write(sink)
            {
                return true;
            }
            let Some(next) = self.left.next() else { return false };
            self.current = Some((self.open)(next));
        }
    }
}

impl<Open: FnMut(u64) -> Rows + Send, Rows: Chunk> RowSource for Chunks<Open, Rows> {
    fn fill(&mut self, sink: &mut dyn RowSink) -> bool {
        (0..self.rows_per_fill).all(|_| self.write(sink))
    }
}

/// The rows of a table that a workload does not have: none.
struct NoRows;

impl RowSource for NoRows {
    fn fill(&mut self, _: &mut dyn RowSink) -> bool {
        false
    }
}

/// The rows of one part of a table that has this many chunks.
pub fn source<'a, Rows, Open>(part: TablePart, chunks: u64, open: Open) -> Box<dyn RowSource + 'a>
where
    Rows: Chunk + 'a,
    Open: FnMut(u64) -> Rows + Send + 'a,
{
    Box::new(Chunks { left: part.chunks(chunks), rows_per_fill: ROWS_PER_FILL, open, current: None })
}

/// Like [`source`], for rows so large that only one is made at a time.
pub fn source_of_large_rows<'a, Rows, Open>(part: TablePart, chunks: u64, open: Open) -> Box<dyn RowSource + 'a>
where
    Rows: Chunk + 'a,
    Open: FnMut(u64) -> Rows + Send + 'a,
{
    Box::new(Chunks { left: part.chunks(chunks), rows_per_fill: 1, open, current: None })
}

pub fn no_rows() -> Box<dyn RowSource> {
    Box::new(NoRows)
}

/// Names a chunk among random streams. There are never more than 32 bits of them.
pub fn id(chunk: u64) -> u32 {
    u32::try_from(chunk).unwrap_or(u32::MAX)
}
