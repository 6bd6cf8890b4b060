//! Orders, their lines, and the queue of those that are not delivered.
//!
//! An order and its lines are in different tables but must agree on the number of lines. So that number has its own
//! stream, which both read.

use super::super::OrderEntry;
use super::super::definition::{
    CARRIERS, CENTS, CUSTOMERS, DISTRICTS, FIRST_QUEUED, ITEMS, LINES_MAX, LINES_MIN, LOADED_AT_US, ORDERS,
};
use super::Home;
use crate::chunks::Chunk;
use crate::random::{Letters, RandomStream};
use engines::rows::RowSink;
use std::ops::RangeInclusive;

const LINE_QUANTITY: i64 = 5;
const AMOUNT_MIN_CENTS: i64 = 1;
const AMOUNT_MAX_CENTS: i64 = 10_000 * CENTS - 1;

/// The numbers of lines of a district's orders, in the order of their ids.
struct LineCounts(RandomStream);

impl LineCounts {
    fn new(seed: u64, home: Home) -> Self {
        Self(home.stream(seed, "lines of an order"))
    }

    fn next(&mut self) -> i64 {
        self.0.uniform(i64::from(LINES_MIN), i64::from(LINES_MAX))
    }
}

/// Number of order lines of the whole data set.
pub fn lines_of_all_orders(workload: &OrderEntry) -> u64 {
    let districts = u64::from(workload.settings.warehouses) * u64::from(DISTRICTS);
    let mut lines = 0;
    for district in 0..districts {
        let mut counts = LineCounts::new(workload.settings.data_seed, Home::of_chunk(district));
        lines += (0..ORDERS).map(|_| counts.next().unsigned_abs()).sum::<u64>();
    }
    lines
}

fn is_delivered(order: u32) -> bool {
    order < FIRST_QUEUED
}

/// The orders of one district.
pub struct OrderRows {
    stream: RandomStream,
    counts: LineCounts,
    customers: Vec<u32>,
    home: Home,
    left: RangeInclusive<u32>,
}

impl OrderRows {
    pub fn new(seed: u64, home: Home) -> Self {
        let mut stream = home.stream(seed, "orders");
        let mut customers: Vec<u32> = (1..=CUSTOMERS).collect();
        stream.shuffle(&mut customers);
        Self { stream, counts: LineCounts::new(seed, home), customers, home, left: 1..=ORDERS }
    }
}

impl Chunk for OrderRows {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(order) = self.left.next() else { return false };
        let Some(customer) = self.customers.pop() else { return false };
        self.home.write(sink);
        sink.integer(i64::from(order));
        sink.integer(i64::from(customer));
        sink.integer(LOADED_AT_US);
        if is_delivered(order) {
            sink.integer(self.stream.uniform(1, i64::from(CARRIERS)));
        } else {
            sink.null();
        }
        sink.integer(self.counts.next());
        // All lines are supplied by the order's own warehouse.
        sink.integer(1);
        sink.end_row();
        true
    }
}

/// The order lines of one district.
pub struct LineRows {
    stream: RandomStream,
    counts: LineCounts,
    home: Home,
    order: u32,
    numbers: RangeInclusive<i64>,
}

impl LineRows {
    pub fn new(seed: u64, home: Home) -> Self {
        let counts = LineCounts::new(seed, home);
        Self { stream: home.stream(seed, "order_line"), counts, home, order: 0, numbers: RangeInclusive::new(1, 0) }
    }

    fn next_line(&mut self) -> Option<(u32, i64)> {
        if let Some(number) = self.numbers.next() {
            return Some((self.order, number));
        }
        if self.order == ORDERS {
            return None;
        }
        self.order += 1;
        self.numbers = 1..=self.counts.next();
        self.numbers.next().map(|number| (self.order, number))
    }
}

impl Chunk for LineRows {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some((order, number)) = self.next_line() else { return false };
        self.home.write(sink);
        sink.integer(i64::from(order));
        sink.integer(number);
        sink.integer(self.stream.uniform(1, i64::from(ITEMS)));
        sink.integer(i64::from(self.home.warehouse));
        if is_delivered(order) {
            sink.integer(LOADED_AT_US);
            sink.integer(LINE_QUANTITY);
            sink.integer(0);
        } else {
            sink.null();
            sink.integer(LINE_QUANTITY);
            sink.integer(self.stream.uniform(AMOUNT_MIN_CENTS, AMOUNT_MAX_CENTS));
        }
        sink.text(Letters::<24>::alphanumeric(&mut self.stream, 24).as_str());
        sink.end_row();
        true
    }
}

/// The queue of one district: its newest orders, none of them delivered.
pub struct QueueRows {
    home: Home,
    left: RangeInclusive<u32>,
}

impl QueueRows {
    pub fn new(home: Home) -> Self {
        Self { home, left: FIRST_QUEUED..=ORDERS }
    }
}

impl Chunk for QueueRows {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(order) = self.left.next() else { return false };
        self.home.write(sink);
        sink.integer(i64::from(order));
        sink.end_row();
        true
    }
}
