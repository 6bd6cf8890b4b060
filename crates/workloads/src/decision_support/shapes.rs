//! What answers look like.

use engines::statement::Dialect;
use std::ops::RangeInclusive;

/// What a column of an answer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerColumn {
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
pub struct AnswerShape {
    pub columns: &'static [AnswerColumn],
    pub rows: RangeInclusive<usize>,
}

/// A statement's name and what its answer looks like.
pub type Shaped = (&'static str, AnswerShape);

pub const fn shape(columns: &'static [AnswerColumn], least: usize, most: usize) -> AnswerShape {
    AnswerShape { columns, rows: least..=most }
}

pub const ANY: usize = usize::MAX;

/// A statement of a question, with its values.
#[derive(Debug)]
pub struct AskedStatement {
    pub name: &'static str,
    pub text: String,
    pub shape: &'static AnswerShape,
    pub dialect: Dialect,
}
