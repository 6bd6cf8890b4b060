//! The inputs of the transactions.
//!
//! The settings allow too many statements to reserve room for their values. So an input does not hold the values but
//! a random stream of its own, from which [`SysbenchDraws`] takes them one after the other. A retry takes the same ones
//! again, and no answer of the database changes what is drawn next.

use super::settings::{SysbenchMode, SysbenchSettings};
use super::text::{C_LENGTH, PAD_LENGTH, digit_groups, joined_numbers};
use crate::random::{Distribution, Letters, RandomStream};
use std::time::Duration;

/// One transaction: the stream of its values, its client, and its number among that client's transactions.
#[derive(Debug, Clone)]
pub struct SysbenchInput {
    values: RandomStream,
    client: u32,
    /// How many transactions the client has drawn before.
    number: u64,
    /// Where the unique ids of all clients begin.
    first_unique_id: u64,
}

/// One emulated client.
#[derive(Debug, Clone)]
pub struct SysbenchClient {
    stream: RandomStream,
    index: u32,
    drawn: u64,
    first_unique_id: u64,
}

impl SysbenchClient {
    pub fn new(seed: u64, index: u32) -> Self {
        // The same for all clients of a run; another run, with another seed, hits other rows of the table.
        let first_unique_id = RandomStream::new(seed, "sysbench ids", [0, 0]).bits();
        Self { stream: RandomStream::new(seed, "sysbench client", [index, 0]), index, drawn: 0, first_unique_id }
    }

    pub fn draw(&mut self) -> SysbenchInput {
        let number = self.drawn;
        self.drawn += 1;
        SysbenchInput { values: self.stream.fork(), client: self.index, number, first_unique_id: self.first_unique_id }
    }
}

impl SysbenchInput {
    /// How long a terminal thinks afterwards. It has its own stream, so that inputs are the same without terminals.
    pub fn thinking(&self, mean: Duration) -> Duration {
        // The value is above 0 and at most 1, so the logarithm is finite.
        let chance = 1.0 - self.values.clone().fork().fraction();
        mean.mul_f64(-chance.ln())
    }
}

/// The rows to choose from, and how they are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ids {
    tables: u32,
    rows: i64,
    range_size: i64,
    /// 0.4.8 moves a range that would end beyond the last row, and takes one more id for the range without duplicates.
    ranges_end_inside: bool,
    in_table: Distribution,
    segments: u32,
    segment_rows: i64,
    in_segment: Distribution,
}

impl Ids {
    pub fn new(settings: &SysbenchSettings) -> Self {
        let shape = settings.shape();
        let segment_rows = settings.table_size / settings.segments;
        Self {
            tables: settings.tables,
            rows: i64::from(settings.table_size),
            range_size: i64::from(settings.range_size),
            ranges_end_inside: settings.mode == SysbenchMode::Of048,
            in_table: Distribution::new(shape, u64::from(settings.table_size)),
            segments: settings.segments,
            segment_rows: i64::from(segment_rows),
            in_segment: Distribution::new(shape, u64::from(segment_rows)),
        }
    }

    /// An id, or a value of k, which has the same range.
    pub fn draw(&self, stream: &mut RandomStream) -> i64 {
        1 + self.in_table.draw(stream).cast_signed()
    }

    fn draw_range(&self, stream: &mut RandomStream, ids: i64) -> IdRange {
        let drawn = self.draw(stream);
        let low = if self.ranges_end_inside { drawn.min(self.rows - self.range_size).max(1) } else { drawn };
        let high = low + ids - 1;
        IdRange { low, high, rows: usize::try_from(high.min(self.rows) - low + 1).unwrap_or(0) }
    }
}

/// Ids from `low` to `high`, and the number of rows that have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdRange {
    pub low: i64,
    pub high: i64,
    pub rows: usize,
}

/// Room for the ids that one client inserts into a table it shares: a 128th of the range of four bytes.
const IDS_OF_BULK_CLIENT: i64 = 1 << 24;
/// Low bits of a unique id before it is scattered: the client's number. The number of its transaction is above them.
const CLIENT_BITS: u32 = 24;
const UNIQUE_ID_BITS: u32 = 62;
/// Odd, so that multiplying by it reorders all ids and no two of them become equal.
const SCATTER: u64 = 0x2545_F491_4F6C_DD1D;

/// The values of one transaction, in the order of its statements.
#[derive(Debug)]
pub struct SysbenchDraws<'a> {
    ids: &'a Ids,
    values: RandomStream,
    client: u32,
    number: u64,
    first_unique_id: u64,
}

impl<'a> SysbenchDraws<'a> {
    pub fn new(ids: &'a Ids, input: &SysbenchInput) -> Self {
        let SysbenchInput { ref values, client, number, first_unique_id } = *input;
        Self { ids, values: values.clone(), client, number, first_unique_id }
    }

    /// Number of a table, counted from 0. All are equally frequent, whatever the distribution of rows.
    pub fn table(&mut self) -> u32 {
        // It is below the number of tables.
        u32::try_from(self.values.below(u64::from(self.ids.tables))).unwrap_or(0)
    }

    pub fn id(&mut self) -> i64 {
        self.ids.draw(&mut self.values)
    }

    pub fn range(&mut self) -> IdRange {
        self.ids.draw_range(&mut self.values, self.ids.range_size)
    }

    pub fn distinct_range(&mut self) -> IdRange {
        let more = i64::from(self.ids.ranges_end_inside);
        self.ids.draw_range(&mut self.values, self.ids.range_size + more)
    }

    pub fn c(&mut self) -> Letters<C_LENGTH> {
        digit_groups(&mut self.values)
    }

    pub fn c_of_numbers(&mut self) -> Letters<C_LENGTH> {
        joined_numbers(&mut self.values)
    }

    pub fn pad(&mut self) -> Letters<PAD_LENGTH> {
        digit_groups(&mut self.values)
    }

    /// A value of k from the client's segment.
    pub fn in_segment(&mut self) -> i64 {
        let segment = i64::from(self.client % self.ids.segments);
        segment * self.ids.segment_rows + 1 + self.ids.in_segment.draw(&mut self.values).cast_signed()
    }

    /// An id that no other transaction has; such ids are scattered over the whole range.
    pub fn unique_id(&self) -> i64 {
        let place = self.number << CLIENT_BITS | u64::from(self.client);
        let scattered = place.wrapping_mul(SCATTER).wrapping_add(self.first_unique_id);
        (scattered & ((1 << UNIQUE_ID_BITS) - 1)).cast_signed()
    }

    /// The table that the client fills, and the first of `rows` consecutive ids in it.
    pub fn bulk(&self, rows: usize) -> (u32, i64) {
        let before = self.number.saturating_mul(rows as u64);
        let first = i64::from(self.client / self.ids.tables) * IDS_OF_BULK_CLIENT + 1;
        (self.client % self.ids.tables, first.saturating_add_unsigned(before))
    }
}

#[cfg(test)]
mod tests;
