//! Tables of settings: which keys a thing takes, what values they hold, and how problems are reported to a user.
//!
//! Every catalog entry (platform, engine, workload, load) lists its keys as data. This crate checks a table against
//! such a list, fills in defaults, normalises units (sizes to bytes, spans to milliseconds) and names the nearest
//! known word for a misspelt one. It reads no file and knows no database.

mod check;
mod chosen;
mod expected;
mod files;
mod keys;
mod names;
mod units;

pub use check::{check, check_written, defaults, nearest, read};
pub use chosen::Chosen;
pub use files::with_texts;
pub use units::{Bytes, Rate, Share, TimeSpan, parse_rate, parse_share, parse_size, parse_span};

/// One key of a table.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    pub name: &'static str,
    pub holds: Holds,
    /// The value when the key is absent, written as in a study file. `None` if the key must be given; `Some("")` if it
    /// may be absent and then stays absent.
    pub default: Option<&'static str>,
    /// A phrase for `bakeoff list` and the reference: small first letter, no full stop.
    pub meaning: &'static str,
}

/// What a key's value may be.
#[derive(Debug, Clone, Copy)]
pub enum Holds {
    Boolean,
    Integer {
        min: i64,
        max: i64,
    },
    Number {
        min: f64,
        max: f64,
    },
    Text,
    /// `["-device", "…"]`
    Words,
    Choice(&'static [&'static str]),
    /// "2GiB", "512 MiB" or a whole number of bytes; normalised to bytes.
    Size {
        min: u64,
        max: u64,
    },
    /// "30s", "2m", "500ms"; normalised to milliseconds.
    Span {
        min_ms: u64,
        max_ms: u64,
    },
    /// "500/s", "30000/min"; normalised to a number per second.
    Rate {
        min_per_s: f64,
        max_per_s: f64,
    },
    /// "1%"; normalised to a part of one.
    Share {
        min: f64,
        max: f64,
    },
    Table(&'static [Key]),
    /// A table for an entry of a catalog: the entry's kind and its keys, which the catalog knows and checks.
    Entry,
    /// A number of things, or a size such as "80MiB" that they take together; normalised to the number.
    Count {
        min: u64,
        max: u64,
        /// The size of one of them.
        each_bytes: u64,
    },
    /// A whole number in the range, or one of the words.
    IntegerOr {
        min: i64,
        max: i64,
        words: &'static [&'static str],
    },
    /// SQL files by their paths, or their content: a list of tables with `name`, `text` and, if they have weights,
    /// `weight`. Only the content is a value; [`with_texts`] makes it from the paths.
    Files {
        weighted: bool,
    },
}

/// A problem in a table, in the user's terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Dotted path below the table that was checked ("disk.cache").
    pub path: String,
    /// "unknown key", "missing", or what was found ("found 0").
    pub found: String,
    pub expected: String,
    pub nearest: Option<String>,
}

impl Problem {
    pub fn new(path: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { path: path.into(), found: found.into(), expected: expected.into(), nearest: None }
    }
}
