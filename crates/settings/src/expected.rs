//! Says what was expected, precisely enough for a user to write it.

use crate::units::{Bytes, Rate, Share, TimeSpan};
use crate::{Holds, Problem};
use std::fmt;

/// What a key expects: the kind of value, an example where the notation is not obvious, and its range.
impl fmt::Display for Holds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Boolean => formatter.write_str("true or false"),
            Self::Integer { min, max } => {
                formatter.write_str("a whole number")?;
                range(formatter, &min, (max != i64::MAX).then_some(&max))
            }
            Self::Number { min, max } => {
                formatter.write_str("a number")?;
                range(formatter, &min, (max < f64::MAX).then_some(&max))
            }
            Self::Text => formatter.write_str("text in quotes"),
            Self::Words => formatter.write_str("a list of texts, such as [\"-device\", \"virtio-balloon\"]"),
            Self::Choice(words) => one_of(formatter, words),
            Self::Size { min, max } => {
                formatter.write_str("a size such as \"2GiB\",")?;
                range(formatter, &Bytes(min), (max != u64::MAX).then_some(&Bytes(max)))
            }
            Self::Span { min_ms, max_ms } => {
                formatter.write_str("a span of time such as \"30s\",")?;
                range(formatter, &TimeSpan(min_ms), (max_ms != u64::MAX).then_some(&TimeSpan(max_ms)))
            }
            Self::Count { min, max, each_bytes } => {
                formatter.write_str("a whole number")?;
                range(formatter, &min, (max != u64::MAX).then_some(&max))?;
                write!(formatter, ", or the size that so many take at {} each, such as \"80MiB\"", Bytes(each_bytes))
            }
            Self::Rate { min_per_s, max_per_s } => {
                formatter.write_str("a rate such as \"500/s\" or \"30000/min\",")?;
                range(formatter, &Rate(min_per_s), Some(&Rate(max_per_s)))
            }
            Self::Share { min, max } => {
                formatter.write_str("a share such as \"5%\",")?;
                range(formatter, &Share(min), Some(&Share(max)))
            }
            Self::Table(keys) => {
                let names = keys.iter().map(|key| key.name).collect::<Vec<_>>();
                write!(formatter, "a table with the keys {}", names.join(", "))
            }
            Self::Files { weighted: true } => {
                formatter.write_str("SQL files with their weights, such as [\"transfer.sql@3\", \"read.sql\"]")
            }
            Self::Files { weighted: false } => formatter.write_str("an SQL file such as \"tables.sql\""),
            Self::Entry => formatter.write_str("a table with a kind"),
            Self::IntegerOr { min, max, words } => {
                formatter.write_str("a whole number")?;
                range(formatter, &min, (max != i64::MAX).then_some(&max))?;
                formatter.write_str(", or ")?;
                one_of(formatter, words)
            }
        }
    }
}

fn range<T: fmt::Display>(formatter: &mut fmt::Formatter<'_>, min: &T, max: Option<&T>) -> fmt::Result {
    match max {
        Some(max) => write!(formatter, " from {min} to {max}"),
        None => write!(formatter, " of at least {min}"),
    }
}

fn one_of(formatter: &mut fmt::Formatter<'_>, words: &[&str]) -> fmt::Result {
    let quoted = words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>();
    match quoted.as_slice() {
        [] => formatter.write_str("nothing"),
        [only] => formatter.write_str(only),
        [first @ .., last] => write!(formatter, "{} or {last}", first.join(", ")),
    }
}

/// One line: `warehouse: unknown key; expected one of warehouses, seed; did you mean "warehouses"?`.
impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(formatter, "{}: ", self.path)?;
        }
        formatter.write_str(&self.found)?;
        if !self.expected.is_empty() {
            write!(formatter, "; expected {}", self.expected)?;
        }
        match &self.nearest {
            Some(word) => write!(formatter, "; did you mean \"{word}\"?"),
            None => Ok(()),
        }
    }
}
