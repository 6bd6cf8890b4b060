//! SQLite's administration: scripts, scans, and loading by bound inserts.

use super::connection::{Declared, bind, open, push_row, refused, session_error};
use super::counters;
use super::settings::DatabaseFile;
use crate::admin::{Admin, AdminSql, Canceller, CountersOf, ScanBatch};
use crate::limit::ReplyLimit;
use crate::rows::RowSink;
use crate::server::Counters;
use crate::session::{Param, ResultSet, SessionError};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Statement, TransactionBehavior};
use std::time::Duration;

/// SQLite takes one writer at a time, so loads on several threads queue here and wait for those before them.
const LONGEST_QUEUE: Duration = Duration::from_hours(1);

pub struct SqliteAdmin {
    connection: Connection,
    database: DatabaseFile,
}

pub fn open_admin(database: &DatabaseFile) -> Result<SqliteAdmin, SessionError> {
    Ok(SqliteAdmin { connection: open(database, Some(LONGEST_QUEUE))?, database: database.clone() })
}

impl Admin for SqliteAdmin {
    fn script(&mut self, sql: &str) -> Result<(), SessionError> {
        self.connection.execute_batch(sql).map_err(|error| session_error(&error))
    }

    /// SQLite runs in our own process, so there is no server to give up.
    fn ask(&mut self, sql: &str, _: ReplyLimit, row: &mut dyn FnMut(&ResultSet, usize)) -> Result<(), SessionError> {
        scan(&self.connection, sql, row).map_err(|error| session_error(&error))
    }

    fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        fill: &mut dyn FnMut(&mut dyn RowSink) -> bool,
    ) -> Result<u64, SessionError> {
        let connection = &mut self.connection;
        // Others may still be loading the rows that these refer to. Elsewhere, foreign keys are made after loading.
        let loaded = without_foreign_keys(connection, |connection| load(connection, table, columns, fill));
        loaded.map_err(|error| session_error(&error))
    }

    fn canceller(&mut self) -> Result<Canceller, SessionError> {
        let handle = self.connection.get_interrupt_handle();
        Ok(Box::new(move || handle.interrupt()))
    }

    fn sql(&self) -> &'static AdminSql {
        &AdminSql { settle: "ANALYZE", shape: include_str!("sql/shape.sql"), effective: None }
    }

    fn counters(&mut self, _: CountersOf, limit: ReplyLimit) -> Result<Counters, SessionError> {
        // Another process may lock the file.
        let waits_for = |time| self.connection.busy_timeout(time).map_err(|error| session_error(&error));
        waits_for(limit.time)?;
        let counters = counters::read(&self.connection, &self.database);
        waits_for(LONGEST_QUEUE)?;
        counters
    }
}

fn scan(connection: &Connection, sql: &str, row: &mut dyn FnMut(&ResultSet, usize)) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(sql)?;
    let columns = Declared::of_columns(&statement);
    let mut found = statement.query([])?;
    let mut batch = ScanBatch::new(row);
    while let Some(next) = found.next()? {
        batch.take(|rows| push_row(next, &columns, rows))?;
    }
    batch.hand_over();
    Ok(())
}

fn insert(table: &str, columns: &[&str]) -> String {
    let marks = vec!["?"; columns.len()].join(", ");
    format!("INSERT INTO {table} ({}) VALUES ({marks})", columns.join(", "))
}

fn without_foreign_keys<T>(
    connection: &mut Connection,
    work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let were_checked = connection.db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false)?;
    let done = work(connection);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, were_checked)?;
    done
}

fn load(
    connection: &mut Connection,
    table: &str,
    columns: &[&str],
    fill: &mut dyn FnMut(&mut dyn RowSink) -> bool,
) -> rusqlite::Result<u64> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let selected = transaction.prepare(&format!("SELECT {} FROM {table}", columns.join(", ")))?;
    let declared = Declared::of_columns(&selected);
    drop(selected);
    let rows = insert_all(transaction.prepare(&insert(table, columns))?, declared, fill)?;
    transaction.commit()?;
    Ok(rows)
}

fn insert_all(
    statement: Statement<'_>,
    columns: Vec<Declared>,
    fill: &mut dyn FnMut(&mut dyn RowSink) -> bool,
) -> rusqlite::Result<u64> {
    let mut sink = InsertSink { statement, columns, bound: 0, rows: 0, failed: None };
    while sink.failed.is_none() && fill(&mut sink) {}
    sink.failed.map_or(Ok(sink.rows), Err)
}

/// Binds cells as they come and inserts at the end of each row. After an error it ignores further cells.
struct InsertSink<'c> {
    statement: Statement<'c>,
    columns: Vec<Declared>,
    bound: usize,
    rows: u64,
    failed: Option<rusqlite::Error>,
}

impl InsertSink<'_> {
    fn insert(&mut self) -> rusqlite::Result<()> {
        if self.bound != self.columns.len() {
            return Err(rusqlite::Error::InvalidParameterCount(self.bound, self.columns.len()));
        }
        self.bound = 0;
        self.statement.raw_execute()?;
        self.rows += 1;
        Ok(())
    }
}

impl RowSink for InsertSink<'_> {
    fn value(&mut self, value: Param<'_>) {
        if self.failed.is_some() {
            return;
        }
        let fits = match (value, self.columns.get(self.bound)) {
            (Param::Decimal(exact), Some(&Declared::Decimal { scale })) => exact
                .at_scale(scale)
                .map(Param::Decimal)
                .ok_or_else(|| format!("{exact} for a column of {scale} digits after the point")),
            (Param::Decimal(exact), _) => Err(format!("{exact} for a column that is not declared as a decimal")),
            (value, _) => Ok(value),
        };
        self.bound += 1;
        self.failed = match fits {
            Ok(value) => bind(&mut self.statement, self.bound, value).err(),
            Err(why) => Some(refused(&why)),
        };
    }

    fn end_row(&mut self) {
        if self.failed.is_none() {
            self.failed = self.insert().err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::SessionError;

    #[test]
    fn a_look_at_a_locked_file_ends_in_time() {
        let folder = tempfile::tempdir().unwrap();
        let database = DatabaseFile { file: folder.path().join("shop.db"), ..DatabaseFile::default() };
        let mut admin = open_admin(&database).unwrap();
        admin.script("PRAGMA journal_mode = delete; CREATE TABLE one (n INTEGER); PRAGMA cache_size = 0").unwrap();
        let other = Connection::open(&database.file).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE; INSERT INTO one VALUES (1)").unwrap();
        let soon = ReplyLimit { time: Duration::from_millis(50), ..ReplyLimit::LOOK };
        assert!(matches!(
            admin.counters(CountersOf::DatabaseAndServer, soon),
            Err(SessionError::Retryable { .. } | SessionError::Refused { .. })
        ));
        other.execute_batch("COMMIT").unwrap();
        assert!(admin.counters(CountersOf::DatabaseAndServer, soon).unwrap().contains_key("page_count"));
    }
}
