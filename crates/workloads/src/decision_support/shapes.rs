//! What answers look like.

use std::ops::RangeInclusive;

/// What a column of an answer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    Text,
    Date,
    /// A number that every engine gives exactly.
    Exact,
    /// An average or a ratio, which engines give with more or fewer digits.
    Rounded,
    /// A sum or value of money, which SQLite gives in whole hundredths if it is computed.
    Money,
    /// An average of money.
    MoneyAverage,
}

/// The columns of a statement's answer, and how many rows it may have.
#[derive(Debug)]
pub struct Shape {
    pub columns: &'static [Column],
    pub rows: RangeInclusive<usize>,
}

pub const fn shape(columns: &'static [Column], least: usize, most: usize) -> Shape {
    Shape { columns, rows: least..=most }
}

pub const ANY: usize = usize::MAX;
