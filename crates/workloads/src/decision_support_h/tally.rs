//! Kinds of work, and counters of what was really executed.

use super::questions::{COUNT, NAMES, QUESTIONS};
use crate::workload::Kind;

/// Index into the kinds; that of the old sales follows it.
pub const NEW_SALES_KIND: u16 = QUESTIONS;
pub const NEW_SALES: &str = "new-sales";
pub const OLD_SALES: &str = "old-sales";

/// The questions in the order of their numbers, then the refresh functions. Only questions count.
pub const KINDS: [Kind; COUNT + 2] = {
    let mut kinds = [Kind::transaction(OLD_SALES, false); COUNT + 2];
    kinds[COUNT] = Kind::transaction(NEW_SALES, false);
    let mut place = 0;
    while place < COUNT {
        kinds[place] = Kind::transaction(NAMES[place], true);
        place += 1;
    }
    kinds
};

/// Rows of all answers, then a checksum for each question. Of answers to which the data stay the same, these are equal on every
/// engine for the same seed.
pub const COUNTERS: [&str; COUNT + 1] = [
    "answer_rows",
    "answer_h01",
    "answer_h02",
    "answer_h03",
    "answer_h04",
    "answer_h05",
    "answer_h06",
    "answer_h07",
    "answer_h08",
    "answer_h09",
    "answer_h10",
    "answer_h11",
    "answer_h12",
    "answer_h13",
    "answer_h14",
    "answer_h15",
    "answer_h16",
    "answer_h17",
    "answer_h18",
    "answer_h19",
    "answer_h20",
    "answer_h21",
    "answer_h22",
];

pub const ANSWER_ROWS: usize = 0;

/// The counter of a question's checksum. Questions count from 1.
pub fn checksum_of(question: u8) -> usize {
    usize::from(question)
}
