//! The initial population. A chunk has a thousand rows, or those of a thousand orders or reviews.

mod community;
mod customers;
mod goods;
mod orders;
mod sold;
#[cfg(test)]
mod tests;

use super::DvdStore;
use super::definition::{CATEGORIES, CUSTOMERS_FOR_A_MEMBER};
use super::size::DvdStoreSize;
use crate::chunks::{Chunk, id, no_rows, source};
use crate::dataset::{RowSource, TablePart};
use crate::random::RandomStream;
use engines::rows::RowSink;
use std::ops::RangeInclusive;

pub use community::{SUMMARY_MAX, SUMMARY_WORDS, TEXT_MAX};
pub use customers::{CustomerKind, push_attributes};
pub use goods::{Matches, chance_of_shortage};
pub use sold::{Ratings, Sold};

/// Customers, products, orders, reviews or members in one chunk.
const CHUNK: u32 = 1_000;
/// Members in one chunk have so many customers to choose from.
const MEMBERS_CHUNK: u32 = CHUNK / CUSTOMERS_FOR_A_MEMBER;

/// The rows of one part of a table.
pub fn rows<'a>(workload: &'a DvdStore, table: &str, part: TablePart) -> Box<dyn RowSource + 'a> {
    let (seed, size) = (workload.settings.data_seed, workload.settings.db_size);
    let has_community = workload.settings.community().is_some();
    let count = |of: u32| u64::from(of.div_ceil(CHUNK));
    let (customers, products, orders) = (count(size.customers()), count(size.products()), count(size.orders()));
    match table {
        "categories" => source(part, 1, |_| Categories(1..=CATEGORIES.len())),
        "customers" => {
            source(part, customers, move |chunk| customers::ShopCustomers::new(seed, size, has_community, id(chunk)))
        }
        "products" => source(part, products, move |chunk| goods::Products::new(seed, size, has_community, id(chunk))),
        "inventory" => {
            let sold = workload.sold();
            source(part, products, move |chunk| goods::ShopInventory::new(seed, size, sold, id(chunk)))
        }
        "orders" => source(part, orders, move |chunk| orders::ShopOrders::new(seed, size, has_community, id(chunk))),
        "orderlines" => {
            source(part, orders, move |chunk| orders::ShopOrderLines::new(seed, size, has_community, id(chunk)))
        }
        "cust_hist" => source(part, orders, move |chunk| orders::Purchases::new(seed, size, id(chunk))),
        "membership" => source(part, customers, move |chunk| community::Members::new(seed, size, id(chunk))),
        "reviews" => source(part, count(size.reviews()), move |chunk| community::Reviews::new(seed, size, id(chunk))),
        "reviews_helpfulness" => {
            let (ratings, chunks) = (workload.ratings(), count(size.reviews()));
            source(part, chunks, move |chunk| community::Helpfulness::new(seed, size, ratings, id(chunk)))
        }
        _ => no_rows(),
    }
}

/// Number of rows of a table at the start.
pub fn expected_rows(workload: &DvdStore, table: &str) -> u64 {
    let size = workload.settings.db_size;
    match table {
        "categories" => CATEGORIES.len() as u64,
        "customers" => size.customers().into(),
        "products" | "inventory" => size.products().into(),
        "orders" => size.orders().into(),
        "orderlines" | "cust_hist" => workload.sold().lines,
        "membership" => (size.customers() / CUSTOMERS_FOR_A_MEMBER).into(),
        "reviews" => size.reviews().into(),
        "reviews_helpfulness" => workload.ratings().all,
        _ => 0,
    }
}

/// The ids of one chunk, where there are `all` of them, counted from 1.
fn ids(chunk: u32, all: u32) -> RangeInclusive<u32> {
    chunk * CHUNK + 1..=(chunk * CHUNK).saturating_add(CHUNK).min(all)
}

fn stream(seed: u64, purpose: &str, chunk: u32) -> RandomStream {
    RandomStream::new(seed, purpose, [chunk, 0])
}

/// Drawn between 1 and the number of customers or products.
fn one_of(stream: &mut RandomStream, count: u32) -> i64 {
    stream.uniform(1, i64::from(count))
}

/// The month of an order, from 0. Ids of a month follow each other.
fn month(size: DvdStoreSize, order: u32) -> u32 {
    (order - 1) / size.orders_of_a_month()
}

struct Categories(RangeInclusive<usize>);

impl Chunk for Categories {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(id) = self.0.next() else { return false };
        sink.integer(i64::try_from(id).unwrap_or(0));
        sink.text(CATEGORIES[id - 1]);
        sink.end_row();
        true
    }
}
