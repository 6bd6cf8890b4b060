//! Memberships, reviews and ratings, which version 3 has.

use super::super::definition::{
    CUSTOMERS_FOR_A_MEMBER, LEVELS, RATING_MAX, REVIEW_WORD_MAX, STARS, date, first_of, push_review_words,
};
use super::super::size::DvdStoreSize;
use super::sold::RatingCounts;
use super::{MEMBERS_CHUNK, Ratings, ids, one_of, stream};
use crate::chunks::Chunk;
use crate::random::{Letters, RandomStream};
use engines::rows::RowSink;
use std::ops::{Range, RangeInclusive};

pub const SUMMARY_WORDS: u64 = 3;
const TEXT_WORDS_MIN: u64 = 6;
const TEXT_WORDS_MAX: u64 = 129;
pub const SUMMARY_MAX: usize = 50;
pub const TEXT_MAX: usize = 1_000;
const _: () = assert!(TEXT_WORDS_MAX * REVIEW_WORD_MAX <= TEXT_MAX as u64);
const EXPIRY_YEAR: u32 = 2_015;
const EXPIRY_MONTHS: u64 = 60;
/// Days from the first of a month to its 15th.
const MIDDLE_OF_MONTH: i64 = 14;
const YEAR: u32 = 2_013;
const DAYS: i64 = 365;

/// One member out of every ten customers.
pub struct Members {
    stream: RandomStream,
    left: Range<u32>,
}

impl Members {
    pub fn new(seed: u64, size: DvdStoreSize, chunk: u32) -> Self {
        let first = chunk * MEMBERS_CHUNK;
        let end = (first + MEMBERS_CHUNK).min(size.customers() / CUSTOMERS_FOR_A_MEMBER);
        Self { stream: stream(seed, "members", chunk), left: first..end }
    }
}

impl Chunk for Members {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(ten) = self.left.next() else { return false };
        let customer = one_of(&mut self.stream, CUSTOMERS_FOR_A_MEMBER) + i64::from(ten * CUSTOMERS_FOR_A_MEMBER);
        let level = self.stream.uniform(1, LEVELS.into());
        let month = u32::try_from(self.stream.below(EXPIRY_MONTHS)).unwrap_or(0);
        sink.integer(customer);
        sink.integer(level);
        sink.date(date(first_of(EXPIRY_YEAR + month / 12, month % 12 + 1) + MIDDLE_OF_MONTH));
        sink.end_row();
        true
    }
}

/// The reviews of one chunk.
pub struct Reviews {
    stream: RandomStream,
    size: DvdStoreSize,
    left: RangeInclusive<u32>,
}

impl Reviews {
    pub fn new(seed: u64, size: DvdStoreSize, chunk: u32) -> Self {
        Self { stream: stream(seed, "reviews", chunk), size, left: ids(chunk, size.reviews()) }
    }
}

impl Chunk for Reviews {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(id) = self.left.next() else { return false };
        let day = first_of(YEAR, 1) + self.stream.uniform(0, DAYS - 1);
        sink.integer(id.into());
        sink.integer(one_of(&mut self.stream, self.size.products()));
        sink.date(date(day));
        sink.integer(self.stream.uniform(1, STARS.into()));
        sink.integer(one_of(&mut self.stream, self.size.customers()));
        let mut summary = Letters::<SUMMARY_MAX>::default();
        push_review_words(&mut summary, &mut self.stream, SUMMARY_WORDS);
        sink.text(summary.as_str());
        let words = TEXT_WORDS_MIN + self.stream.below(TEXT_WORDS_MAX - TEXT_WORDS_MIN + 1);
        let mut text = Letters::<TEXT_MAX>::default();
        push_review_words(&mut text, &mut self.stream, words);
        sink.text(text.as_str());
        sink.end_row();
        true
    }
}

/// The ratings of one chunk of reviews.
pub struct Helpfulness {
    stream: RandomStream,
    counts: RatingCounts,
    customers: u32,
    next_id: u64,
    reviews: RangeInclusive<u32>,
    review: u32,
    left: i64,
}

impl Helpfulness {
    pub fn new(seed: u64, size: DvdStoreSize, ratings: &Ratings, chunk: u32) -> Self {
        Self {
            stream: stream(seed, "ratings", chunk),
            counts: RatingCounts::new(seed, chunk),
            customers: size.customers(),
            next_id: ratings.before[chunk as usize] + 1,
            reviews: ids(chunk, size.reviews()),
            review: 0,
            left: 0,
        }
    }
}

impl Chunk for Helpfulness {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        if self.left == 0 {
            let Some(review) = self.reviews.next() else { return false };
            (self.review, self.left) = (review, self.counts.next());
        }
        self.left -= 1;
        sink.integer(self.next_id.cast_signed());
        sink.integer(self.review.into());
        sink.integer(one_of(&mut self.stream, self.customers));
        sink.integer(self.stream.uniform(1, RATING_MAX.into()));
        sink.end_row();
        self.next_id += 1;
        true
    }
}
