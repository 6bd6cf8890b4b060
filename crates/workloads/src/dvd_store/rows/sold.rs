//! What a table must know of the rows of another: what was sold of each product, and where the ratings of a chunk begin.

use super::super::definition::{RATINGS_MAX, RATINGS_MIN};
use super::super::size::DvdStoreSize;
use super::orders::SoldItems;
use super::{CHUNK, ids, stream};
use crate::random::RandomStream;

/// The lines of all initial orders, added up.
#[derive(Debug)]
pub struct Sold {
    pub lines: u64,
    /// Pieces of each product; the product with id 1 comes first.
    pub pieces: Vec<u32>,
}

impl Sold {
    pub fn add_up(seed: u64, size: DvdStoreSize) -> Self {
        let mut sold = Self { lines: 0, pieces: vec![0; size.products() as usize] };
        for chunk in 0..size.orders().div_ceil(CHUNK) {
            let mut items = SoldItems::new(seed, size, chunk);
            for _ in ids(chunk, size.orders()) {
                sold.lines += items.begin_order().unsigned_abs();
                while let Some(item) = items.next() {
                    let place = usize::try_from(item.product - 1).unwrap_or(0);
                    sold.pieces[place] += u32::try_from(item.quantity).unwrap_or(0);
                }
            }
        }
        sold
    }
}

/// Numbers of ratings of a chunk's reviews, in the order of the reviews.
pub struct RatingCounts(RandomStream);

impl RatingCounts {
    pub fn new(seed: u64, chunk: u32) -> Self {
        Self(stream(seed, "ratings of a review", chunk))
    }

    pub fn next(&mut self) -> i64 {
        self.0.uniform(RATINGS_MIN, RATINGS_MAX)
    }
}

/// The ratings of all initial reviews, counted.
#[derive(Debug)]
pub struct Ratings {
    pub all: u64,
    /// Ratings before each chunk of reviews.
    pub before: Vec<u64>,
}

impl Ratings {
    pub fn count(seed: u64, size: DvdStoreSize) -> Self {
        let mut ratings = Self { all: 0, before: Vec::new() };
        for chunk in 0..size.reviews().div_ceil(CHUNK) {
            ratings.before.push(ratings.all);
            let mut counts = RatingCounts::new(seed, chunk);
            ratings.all += ids(chunk, size.reviews()).map(|_| counts.next().unsigned_abs()).sum::<u64>();
        }
        ratings
    }
}
