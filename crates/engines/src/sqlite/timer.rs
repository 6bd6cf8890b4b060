//! Ends statements that take longer than a session allows. SQLite has no such limit, but asks every so often whether to go on.

use super::connection::session_error;
use crate::session::SessionError;
use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// SQLite asks after so many steps of its machine, which take about a millisecond.
const STEPS: i32 = 50_000;

/// The limit of a session's statements. SQLite needs what it asks to be shareable, so there are atomics in it.
#[derive(Debug)]
pub(super) struct Timer {
    opened: Instant,
    /// 0 if there is none.
    limit_ns: AtomicU64,
    /// When the statement that is being executed must have ended, since the session was opened.
    end_ns: AtomicU64,
}

impl Timer {
    pub fn new() -> Self {
        Self { opened: Instant::now(), limit_ns: AtomicU64::new(0), end_ns: AtomicU64::new(u64::MAX) }
    }

    /// Lets the connection ask this timer.
    pub fn watch(self: &Arc<Self>, connection: &mut Connection) -> Result<(), SessionError> {
        let timer = Arc::clone(self);
        connection.progress_handler(STEPS, Some(move || timer.is_over())).map_err(|error| session_error(&error))
    }

    pub fn limit(&self, limit: Duration) {
        self.limit_ns.store(nanoseconds(limit), Ordering::Relaxed);
    }

    /// A statement begins now.
    pub fn begin(&self) {
        let limit_ns = self.limit_ns.load(Ordering::Relaxed);
        if limit_ns > 0 {
            self.end_ns.store(nanoseconds(self.opened.elapsed()).saturating_add(limit_ns), Ordering::Relaxed);
        }
    }

    fn is_over(&self) -> bool {
        let end_ns = self.end_ns.load(Ordering::Relaxed);
        end_ns < u64::MAX && nanoseconds(self.opened.elapsed()) > end_ns
    }
}

fn nanoseconds(of: Duration) -> u64 {
    u64::try_from(of.as_nanos()).unwrap_or(u64::MAX)
}
