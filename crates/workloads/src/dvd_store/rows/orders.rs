//! Orders, their lines, and the history of what customers bought.
//!
//! The three tables share customers, dates and lines. Each of these has a stream of its own, which all tables that need it read.

use super::super::definition::{AMOUNT_MAX_CENTS, LINES_MAX, QUANTITY_MAX, date, first_of, money, tax_cents};
use super::super::size::DvdStoreSize;
use super::{ids, month, one_of, stream};
use crate::chunks::Chunk;
use crate::random::RandomStream;
use engines::rows::RowSink;
use engines::session::Date;
use std::ops::RangeInclusive;

/// The customers of a chunk's orders.
struct Buyers {
    stream: RandomStream,
    customers: u32,
}

impl Buyers {
    fn new(seed: u64, size: DvdStoreSize, chunk: u32) -> Self {
        Self { stream: stream(seed, "buyers", chunk), customers: size.customers() }
    }

    fn next(&mut self) -> i64 {
        one_of(&mut self.stream, self.customers)
    }
}

/// The dates of a chunk's orders.
struct Dates {
    stream: RandomStream,
    year: u32,
    size: DvdStoreSize,
}

impl Dates {
    fn new(seed: u64, size: DvdStoreSize, has_community: bool, chunk: u32) -> Self {
        Self { stream: stream(seed, "order dates", chunk), year: if has_community { 2_013 } else { 2_009 }, size }
    }

    fn next(&mut self, order: u32) -> Date {
        let month = month(self.size, order) + 1;
        date(self.stream.uniform(first_of(self.year, month), first_of(self.year, month + 1) - 1))
    }
}

/// One product in an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoldItem {
    pub product: i64,
    pub quantity: i64,
}

/// The items of a chunk's orders, one order after another.
pub struct SoldItems {
    stream: RandomStream,
    products: u32,
    left: i64,
}

impl SoldItems {
    pub fn new(seed: u64, size: DvdStoreSize, chunk: u32) -> Self {
        Self { stream: stream(seed, "order lines", chunk), products: size.products(), left: 0 }
    }

    /// Begins the next order; the items of the one before it must have been taken. Returns how many it has.
    pub fn begin_order(&mut self) -> i64 {
        self.left = self.stream.uniform(1, LINES_MAX);
        self.left
    }

    /// The next item of the order.
    pub fn next(&mut self) -> Option<SoldItem> {
        self.left = self.left.checked_sub(1).filter(|left| *left >= 0)?;
        let product = one_of(&mut self.stream, self.products);
        Some(SoldItem { product, quantity: self.stream.uniform(1, QUANTITY_MAX.into()) })
    }
}

/// The orders of one chunk. Their amounts have nothing to do with their lines.
pub struct ShopOrders {
    amounts: RandomStream,
    buyers: Buyers,
    dates: Dates,
    left: RangeInclusive<u32>,
}

impl ShopOrders {
    pub fn new(seed: u64, size: DvdStoreSize, has_community: bool, chunk: u32) -> Self {
        Self {
            amounts: stream(seed, "amounts", chunk),
            buyers: Buyers::new(seed, size, chunk),
            dates: Dates::new(seed, size, has_community, chunk),
            left: ids(chunk, size.orders()),
        }
    }
}

impl Chunk for ShopOrders {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(order) = self.left.next() else { return false };
        let net = self.amounts.uniform(1, AMOUNT_MAX_CENTS);
        let tax = tax_cents(net);
        sink.integer(order.into());
        sink.date(self.dates.next(order));
        sink.integer(self.buyers.next());
        for cents in [net, tax, net + tax] {
            sink.decimal(money(cents));
        }
        sink.end_row();
        true
    }
}

/// The order lines of one chunk of orders.
pub struct ShopOrderLines {
    items: SoldItems,
    dates: Dates,
    left: RangeInclusive<u32>,
    order: u32,
    date: Date,
    number: i64,
}

impl ShopOrderLines {
    pub fn new(seed: u64, size: DvdStoreSize, has_community: bool, chunk: u32) -> Self {
        Self {
            items: SoldItems::new(seed, size, chunk),
            dates: Dates::new(seed, size, has_community, chunk),
            left: ids(chunk, size.orders()),
            order: 0,
            date: date(0),
            number: 0,
        }
    }

    fn next(&mut self) -> Option<SoldItem> {
        if let Some(item) = self.items.next() {
            return Some(item);
        }
        self.order = self.left.next()?;
        self.date = self.dates.next(self.order);
        self.number = 0;
        self.items.begin_order();
        self.items.next()
    }
}

impl Chunk for ShopOrderLines {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(item) = self.next() else { return false };
        self.number += 1;
        for value in [self.number, self.order.into(), item.product, item.quantity] {
            sink.integer(value);
        }
        sink.date(self.date);
        sink.end_row();
        true
    }
}

/// What the customers of one chunk of orders bought.
pub struct Purchases {
    items: SoldItems,
    buyers: Buyers,
    left: RangeInclusive<u32>,
    order: u32,
    customer: i64,
}

impl Purchases {
    pub fn new(seed: u64, size: DvdStoreSize, chunk: u32) -> Self {
        Self {
            items: SoldItems::new(seed, size, chunk),
            buyers: Buyers::new(seed, size, chunk),
            left: ids(chunk, size.orders()),
            order: 0,
            customer: 0,
        }
    }

    fn next(&mut self) -> Option<SoldItem> {
        if let Some(item) = self.items.next() {
            return Some(item);
        }
        self.order = self.left.next()?;
        self.customer = self.buyers.next();
        self.items.begin_order();
        self.items.next()
    }
}

impl Chunk for Purchases {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(item) = self.next() else { return false };
        for value in [self.customer, self.order.into(), item.product] {
            sink.integer(value);
        }
        sink.end_row();
        true
    }
}
