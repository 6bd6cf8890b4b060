//! The blocking side of a database: schema scripts, checks, scans and bulk loading. Never used while measuring.

use crate::limit::ReplyLimit;
use crate::rows::RowSink;
use crate::session::{ResultSet, SessionError};
use std::collections::BTreeMap;

/// Cumulative counters of the server and its data folder, before and after driving.
pub type Counters = BTreeMap<String, u64>;

/// An open connection for administration.
pub trait Admin {
    /// Runs a script of statements without results. PostgreSQL runs several statements of a script as one transaction, so a
    /// statement that cannot run in one (VACUUM) needs its own script. To MariaDB each statement is a transaction by itself.
    fn script(&mut self, sql: &str) -> Result<(), SessionError>;
    /// Runs one query and calls `row` for each row, with the result set and the row's index in it. Rows arrive in
    /// bounded batches. A server whose answer exceeds `limit` is given up.
    fn ask(&mut self, sql: &str, limit: ReplyLimit, row: &mut dyn FnMut(&ResultSet, usize))
    -> Result<(), SessionError>;
    /// Like [`Admin::ask`], for any number of rows.
    fn scan(&mut self, sql: &str, row: &mut dyn FnMut(&ResultSet, usize)) -> Result<(), SessionError> {
        self.ask(sql, ReplyLimit::TABLE, row)
    }
    /// Appends rows to a table, all of them or none. Several connections may load at the same time. SQLite takes one
    /// writer at a time, so there they take turns.
    ///
    /// `fill` puts some rows into the sink at each call and returns false after the last row. Returns the number of
    /// rows that the database took.
    fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        fill: &mut dyn FnMut(&mut dyn RowSink) -> bool,
    ) -> Result<u64, SessionError>;
    /// Whether a table of this name exists.
    fn has_table(&mut self, table: &str) -> Result<bool, SessionError> {
        match self.ask(&format!("SELECT 1 FROM {table} WHERE 1 = 0"), ReplyLimit::QUESTION, &mut |_, _| ()) {
            Ok(()) => Ok(true),
            Err(SessionError::Refused { code, .. }) if NO_SUCH_TABLE.contains(&code.as_str()) => Ok(false),
            Err(error) => Err(error),
        }
    }
    /// The engine's statements for what the methods below do.
    fn sql(&self) -> &'static AdminSql;
    /// How a table is made, as one line for each of its columns, keys, indexes and options, sorted; none if there is no such table.
    /// Its name needs no quotes.
    fn shape(&mut self, table: &str) -> Result<Vec<String>, SessionError> {
        let mut lines = Vec::new();
        self.ask(&self.sql().shape.replace("TABLE", table), ReplyLimit::QUESTION, &mut |rows, row| {
            lines.extend(rows.text(row, 0).map(str::to_owned));
        })?;
        Ok(lines)
    }
    /// Asks the server for no limit of time, and to end this session's statements if this process is killed, where it can.
    fn work_long(&mut self) -> Result<(), SessionError> {
        Ok(())
    }
    /// Ends the statement that this session executes, from outside.
    fn canceller(&mut self) -> Result<Canceller, SessionError>;
    /// Does now what the database would do on its own some time after loading (statistics, cleanup). So that work does
    /// not fall into the measurement.
    fn settle(&mut self) -> Result<(), SessionError> {
        self.script(self.sql().settle)
    }
    /// The server's settings that decide its speed or differ from its defaults, as it has them now. SQLite's are those of each
    /// connection, so there are none here.
    fn effective(&mut self) -> Result<BTreeMap<String, String>, SessionError> {
        self.sql().effective.map_or_else(|| Ok(BTreeMap::new()), |sql| self.pairs(sql, ReplyLimit::QUESTION))
    }
    /// Reads the rows of a query as names and values.
    fn pairs(&mut self, sql: &str, limit: ReplyLimit) -> Result<BTreeMap<String, String>, SessionError> {
        let mut found = BTreeMap::new();
        self.ask(sql, limit, &mut |rows, row| {
            if let (Ok(name), Ok(value)) = (rows.text(row, 0), rows.text(row, 1)) {
                found.insert(name.to_owned(), value.to_owned());
            }
        })?;
        Ok(found)
    }
    /// Counters under the server's own names, as far as this login may read them.
    fn counters(&mut self, of: CountersOf, limit: ReplyLimit) -> Result<Counters, SessionError>;
}

/// An engine's statements of administration.
pub struct AdminSql {
    pub(crate) settle: &'static str,
    /// Names a table TABLE.
    pub(crate) shape: &'static str,
    pub(crate) effective: Option<&'static str>,
}

/// Works as long as the session is open, on any thread.
pub type Canceller = Box<dyn Fn() + Send>;

/// What counters are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountersOf {
    /// The database and everything else that its server counts.
    DatabaseAndServer,
    /// The database alone, since the server's are counted with another database of the same server.
    Database,
}

/// Cancels over connections of its own, which `open` makes. `whose` is the query for a session's number and for the server that gave it:
/// behind one address may be several. `cancel` names it SESSION.
pub(crate) fn canceller<A: Admin>(
    admin: &mut A,
    (whose, cancel): (&'static str, &'static str),
    open: impl Fn() -> Result<A, SessionError> + Send + 'static,
) -> Result<Canceller, SessionError> {
    let Some((session, server)) = admin.pairs(whose, ReplyLimit::QUESTION)?.pop_first() else {
        return Err(SessionError::Protocol("a session has no number".to_owned()));
    };
    let cancel = cancel.replace("SESSION", &session);
    Ok(Box::new(move || {
        let end = || {
            let mut other = open()?;
            let is_there = other.pairs(whose, ReplyLimit::QUESTION)?.into_values().any(|found| found == server);
            if is_there { other.script(&cancel) } else { Ok(()) }
        };
        // A server that takes no connection any more is left with its statement.
        let _: Result<(), SessionError> = end();
    }))
}

/// No server's counter has a longer name.
const LONGEST_NAME: usize = 128;

/// Like [`Admin::pairs`], where values are counts. A value that is no number is left out.
pub(crate) fn counted(admin: &mut dyn Admin, sql: &str, limit: ReplyLimit) -> Result<Counters, SessionError> {
    let mut found = admin.pairs(sql, limit)?;
    found.retain(|name, _| name.len() <= LONGEST_NAME);
    Ok(found.into_iter().filter_map(|(name, value)| Some((name.to_lowercase(), value.parse().ok()?))).collect())
}

/// The error codes of PostgreSQL, MySQL and SQLite for it. SQLite has only its generic code, but nothing else can be
/// wrong with so plain a statement.
const NO_SUCH_TABLE: [&str; 3] = ["42P01", "1146", "SQLITE 1"];

/// Rows of a scan that are handed over together: enough to be cheap, few enough to stay in the cache.
const BATCH_ROWS: usize = 256;

/// Rows of a scan in transit. While the receiver is busy with some, the socket of a server holds back the rest.
pub(crate) struct ScanBatch<'a> {
    rows: ResultSet,
    row: &'a mut dyn FnMut(&ResultSet, usize),
}

impl<'a> ScanBatch<'a> {
    pub fn new(row: &'a mut dyn FnMut(&ResultSet, usize)) -> Self {
        let mut rows = ResultSet::default();
        rows.start("scan");
        Self { rows, row }
    }

    /// `put` adds one row.
    pub fn take<E>(&mut self, put: impl FnOnce(&mut ResultSet) -> Result<(), E>) -> Result<(), E> {
        put(&mut self.rows)?;
        if self.rows.rows() == BATCH_ROWS {
            self.hand_over();
        }
        Ok(())
    }

    pub fn hand_over(&mut self) {
        for index in 0..self.rows.rows() {
            (self.row)(&self.rows, index);
        }
        self.rows.clear_rows();
    }
}
