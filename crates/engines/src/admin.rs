//! The blocking side of a database: schema scripts, checks, scans and bulk loading. Never used while measuring.

use crate::limit::Limit;
use crate::rows::RowSink;
use crate::server::Counters;
use crate::session::{ResultSet, SessionError};
use std::collections::BTreeMap;

/// An open connection for administration.
pub trait Admin {
    /// Runs a script of statements without results. To PostgreSQL a script of several statements is one transaction, so
    /// what cannot run in one (VACUUM) is a script of its own; to MariaDB each statement is a transaction by itself.
    fn script(&mut self, sql: &str) -> Result<(), SessionError>;
    /// Runs one query and calls `row` for each row, with the row index to read in the set (rows arrive in bounded batches).
    /// A server that needs more than `limit` for the answer is given up.
    fn ask(&mut self, sql: &str, limit: Limit, row: &mut dyn FnMut(&ResultSet, usize)) -> Result<(), SessionError>;
    /// The same for rows without number.
    fn scan(&mut self, sql: &str, row: &mut dyn FnMut(&ResultSet, usize)) -> Result<(), SessionError> {
        self.ask(sql, Limit::TABLE, row)
    }
    /// Appends rows to a table, all of them or none. Several connections may load at the same time; in SQLite, which takes
    /// one writer at a time, they do so one after the other.
    ///
    /// `fill` puts some rows into the sink at each call and returns false after the last. Returns the number of rows the
    /// database took.
    fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        fill: &mut dyn FnMut(&mut dyn RowSink) -> bool,
    ) -> Result<u64, SessionError>;
    /// Whether statements find a table of this name.
    fn has_table(&mut self, table: &str) -> Result<bool, SessionError> {
        match self.ask(&format!("SELECT 1 FROM {table} WHERE 1 = 0"), Limit::QUESTION, &mut |_, _| ()) {
            Ok(()) => Ok(true),
            Err(SessionError::Refused { code, .. }) if NO_SUCH_TABLE.contains(&code.as_str()) => Ok(false),
            Err(error) => Err(error),
        }
    }
    /// Does what the database would do by itself some time after loading (statistics, clearing up), so that it does not do
    /// it while something is measured.
    fn settle(&mut self) -> Result<(), SessionError>;
    /// What the server has counted, by its own names, as far as this login may read it.
    fn counters(&mut self, limit: Limit) -> Result<Counters, SessionError>;
}

/// The rows of a query for names and values.
pub(crate) fn pairs(admin: &mut dyn Admin, sql: &str, limit: Limit) -> Result<BTreeMap<String, String>, SessionError> {
    let mut found = BTreeMap::new();
    admin.ask(sql, limit, &mut |rows, row| {
        if let (Ok(name), Ok(value)) = (rows.text(row, 0), rows.text(row, 1)) {
            found.insert(name.to_owned(), value.to_owned());
        }
    })?;
    Ok(found)
}

/// The same where values are counts; what is no number is left out.
pub(crate) fn counted(admin: &mut dyn Admin, sql: &str, limit: Limit) -> Result<Counters, SessionError> {
    let found = pairs(admin, sql, limit)?;
    Ok(found.into_iter().filter_map(|(name, value)| Some((name.to_lowercase(), value.parse().ok()?))).collect())
}

/// What PostgreSQL, MySQL and SQLite call it. SQLite has no code of its own for it, but nothing else can be wrong with
/// a statement so plain.
const NO_SUCH_TABLE: [&str; 3] = ["42P01", "1146", "SQLITE 1"];

/// Rows of a scan that are handed over together: enough to make the hand-over cheap, few enough to stay in the cache.
pub(crate) const BATCH_ROWS: usize = 256;
