//! How long and how large an answer may be, depending on the request. Without a limit, a peer that is no database
//! server could be read from for ever.

use crate::error::SessionError;
use std::io;
use std::time::{Duration, Instant};

/// A server that exceeds it is given up, and its connection is closed.
#[derive(Debug, Clone, Copy)]
pub struct ReplyLimit {
    pub time: Duration,
    pub rows: u64,
    pub bytes: u64,
}

/// For answers that need no computing, and for everything around the rows.
const SMALL_BYTES: u64 = 16 << 20;

/// More rows than any list of settings, counters or sums has.
const FEW_ROWS: u64 = 10_000;

/// Keys, indexes and sums over terabytes take this long.
const LONGEST_WORK: Duration = Duration::from_hours(2);

impl ReplyLimit {
    /// Preparing a statement takes its tables' locks for a moment.
    pub const PREPARATION: Self = Self { time: Duration::from_mins(1), rows: 0, bytes: SMALL_BYTES };

    /// The limit for preparing a statement whose answer has this limit.
    pub(crate) fn of_preparation(self) -> Self {
        Self { time: self.time.min(Self::PREPARATION.time), ..Self::PREPARATION }
    }

    /// What is left of the limit since this moment.
    pub(crate) fn since(self, begun: Instant) -> Self {
        Self { time: self.time.saturating_sub(begun.elapsed()), ..self }
    }

    /// Answers that a server knows at once: settings, counters, whether a table exists, its highest key.
    pub const QUESTION: Self = Self { time: Duration::from_mins(2), rows: FEW_ROWS, bytes: SMALL_BYTES };

    /// Like [`Self::QUESTION`], while load is driven: a server that hangs must not delay the end for long.
    pub const LOOK: Self = Self { time: Duration::from_secs(10), ..Self::QUESTION };

    /// Requests that take work and return little: a script, sums over whole tables.
    pub const WORK: Self = Self { time: LONGEST_WORK, rows: FEW_ROWS, bytes: SMALL_BYTES };

    /// Keys of rows that violate a condition. There should be none, and more than this would say no more.
    pub const KEYS: Self = Self { time: LONGEST_WORK, rows: 10_000_000, bytes: 1 << 30 };

    /// A whole table, read row by row.
    pub const TABLE: Self = Self { time: LONGEST_WORK, rows: u64::MAX, bytes: u64::MAX };

    /// A workload's statement, whose rows are kept together: far more than any returns. The driver limits the time.
    pub const STATEMENT_BYTES: u64 = 64 << 20;

    /// All messages until a session is open.
    pub const LOGIN_BYTES: u64 = 1 << 20;

    /// How long a server under loading may pause before it takes more rows: it may first write out its cache.
    pub const TAKING_ROWS: Duration = Duration::from_mins(10);

    /// An answer that timed out, in words that name the limit.
    pub(crate) fn explained(self, error: io::Error) -> io::Error {
        if error.kind() != io::ErrorKind::TimedOut {
            return error;
        }
        let why = format!("the server did not end its answer within {} s", self.time.as_secs());
        io::Error::new(io::ErrorKind::TimedOut, why)
    }

    pub(crate) fn check_rows(self, rows: u64) -> Result<(), SessionError> {
        if rows <= self.rows {
            return Ok(());
        }
        Err(SessionError::Lost(too_long(&format!("{} rows", self.rows))))
    }
}

/// The error for an answer that exceeds its limit.
pub(crate) fn too_long(limit: &str) -> io::Error {
    let why = format!("the server's answer is longer than {limit}, so it is given up; is this the right server?");
    io::Error::new(io::ErrorKind::InvalidData, why)
}
