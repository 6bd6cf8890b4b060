//! Products, what is in stock of them, and how often a search or a purchase meets them.

use super::super::definition::{
    CATEGORIES_COUNT, HOT, NAMES, PRICE_MAX, PRICE_MIN, QUANTITY_MAX, STOCK_MAX, TITLES, actor, is_hot, money, title,
    words_of_title,
};
use super::super::size::DvdStoreSize;
use super::{CHUNK, Sold, ids, one_of, stream};
use crate::chunks::Chunk;
use crate::random::RandomStream;
use engines::rows::RowSink;
use std::ops::RangeInclusive;

/// The products of one chunk.
pub struct Products {
    stream: RandomStream,
    actors: Actors,
    size: DvdStoreSize,
    has_community: bool,
    left: RangeInclusive<u32>,
}

/// The actors of a chunk's products have a stream of their own, since searches are judged by it.
struct Actors(RandomStream);

impl Actors {
    fn new(seed: u64, chunk: u32) -> Self {
        Self(stream(seed, "actors", chunk))
    }

    fn next(&mut self) -> (u32, u32) {
        let mut name = || u32::try_from(self.0.below(NAMES.into())).unwrap_or(0);
        (name(), name())
    }
}

impl Products {
    pub fn new(seed: u64, size: DvdStoreSize, has_community: bool, chunk: u32) -> Self {
        let left = ids(chunk, size.products());
        Self { stream: stream(seed, "products", chunk), actors: Actors::new(seed, chunk), size, has_community, left }
    }
}

impl Chunk for Products {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(id) = self.left.next() else { return false };
        let (word, other) = words_of_title(id);
        let (first, last) = self.actors.next();
        sink.integer(id.into());
        sink.integer(self.stream.uniform(1, CATEGORIES_COUNT.into()));
        sink.text(title(word, other).as_str());
        sink.text(actor(first, last).as_str());
        sink.decimal(money(100 * self.stream.uniform(PRICE_MIN, PRICE_MAX) + 99));
        sink.integer(self.stream.once_in(self.size.products_for_a_special()).into());
        sink.integer(one_of(&mut self.stream, self.size.products()));
        if self.has_community {
            sink.integer(self.stream.uniform(0, 3));
        }
        sink.end_row();
        true
    }
}

/// What is in stock of the products of one chunk.
struct Stock(RandomStream);

impl Stock {
    fn new(seed: u64, chunk: u32) -> Self {
        Self(stream(seed, "stock", chunk))
    }

    fn next(&mut self, product: u32) -> i64 {
        let usual = self.0.uniform(0, STOCK_MAX);
        if is_hot(product) { usual * i64::from(HOT) } else { usual }
    }
}

/// Calls with each product and what is in stock of it at the start.
fn stock(seed: u64, size: DvdStoreSize, mut with: impl FnMut(u32, i64)) {
    for chunk in 0..size.products().div_ceil(CHUNK) {
        let mut stock = Stock::new(seed, chunk);
        ids(chunk, size.products()).for_each(|product| with(product, stock.next(product)));
    }
}

/// The inventory of one chunk of products.
pub struct ShopInventory<'a> {
    stock: Stock,
    sold: &'a Sold,
    left: RangeInclusive<u32>,
}

impl<'a> ShopInventory<'a> {
    pub fn new(seed: u64, size: DvdStoreSize, sold: &'a Sold, chunk: u32) -> Self {
        Self { stock: Stock::new(seed, chunk), sold, left: ids(chunk, size.products()) }
    }
}

impl Chunk for ShopInventory<'_> {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(id) = self.left.next() else { return false };
        sink.integer(id.into());
        sink.integer(self.stock.next(id));
        sink.integer(self.sold.pieces[id as usize - 1].into());
        sink.end_row();
        true
    }
}

/// The chance that an item of a cart is not in stock: at the start, and once all stocks that were low have been filled up. A stock
/// of nothing is never filled up, since nothing can be taken from it.
pub fn chance_of_shortage(seed: u64, size: DvdStoreSize) -> (f64, f64) {
    let most = i64::from(QUANTITY_MAX);
    let (mut at_start, mut later, mut all) = (0.0, 0.0, 0.0);
    stock(seed, size, |product, left| {
        let weight = if is_hot(product) { f64::from(HOT) } else { 1.0 };
        let refused = (most - left).max(0) as f64 / most as f64;
        all += weight;
        at_start += weight * refused;
        later += if left == 0 { weight } else { 0.0 };
    });
    (at_start / all, later / all)
}

/// How many of the searches that may be drawn find a product.
#[derive(Debug)]
pub struct Matches {
    /// Share of the pairs of a first name and a surname.
    pub by_actor: f64,
    /// Share of the pairs of words, in either order.
    pub by_title: f64,
}

impl Matches {
    pub fn count(seed: u64, size: DvdStoreSize) -> Self {
        let place = |first: u32, second: u32, of: u32| (first * of + second) as usize;
        let mut actors = vec![false; (NAMES * NAMES) as usize];
        let mut titles = vec![false; (TITLES * TITLES) as usize];
        for chunk in 0..size.products().div_ceil(CHUNK) {
            let mut of_chunk = Actors::new(seed, chunk);
            for product in ids(chunk, size.products()) {
                let (first, last) = of_chunk.next();
                actors[place(first, last, NAMES)] = true;
                let (word, other) = words_of_title(product);
                titles[place(word, other, TITLES)] = true;
                titles[place(other, word, TITLES)] = true;
            }
        }
        let share = |found: &[bool]| found.iter().filter(|is| **is).count() as f64 / found.len() as f64;
        Self { by_actor: share(&actors), by_title: share(&titles) }
    }
}
