//! SQLite's hot path: statements stay prepared, values are bound and rows are read in place.
//!
//! Nothing here is ever pending: a call returns when SQLite has done the work. That includes waiting for another
//! session's write lock (at most the busy timeout, inside SQLite). So sessions that write belong on threads of their
//! own, and a transaction on one thread is over before the next one starts.

use super::connection::{Declared, bind, open, push_row, session_error};
use super::settings::DatabaseFile;
use super::timer::Timer;
use crate::session::{Access, Connect, Param, ResultSet, Session, SessionError, SessionWork};
use crate::statement::{Dialect, Statement, StatementId};
use rusqlite::Connection;
use self_cell::self_cell;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

/// Opens sessions on one file.
#[derive(Debug, Clone)]
pub struct SqliteConnect {
    database: DatabaseFile,
    statements: Vec<Statement>,
}

impl SqliteConnect {
    pub fn new(database: &DatabaseFile, statements: Vec<Statement>) -> Self {
        Self { database: database.clone(), statements }
    }
}

impl Connect for SqliteConnect {
    type Session = SqliteSession;

    fn connect(&self) -> Result<SqliteSession, SessionError> {
        let mut connection = open(&self.database, None)?;
        let timer = Arc::new(Timer::new());
        timer.watch(&mut connection)?;
        let prepared =
            BorrowingStatement::try_new(connection, |connection| Statements::prepare(connection, &self.statements))?;
        Ok(SqliteSession { prepared, results: ResultSet::default(), work: SessionWork::default(), timer })
    }
}

self_cell!(
    /// A connection and the statements that borrow it.
    struct BorrowingStatement {
        owner: Connection,
        #[covariant]
        dependent: Statements,
    }
);

struct Statements<'c> {
    begin_read: rusqlite::Statement<'c>,
    begin_write: rusqlite::Statement<'c>,
    commit: rusqlite::Statement<'c>,
    rollback: rusqlite::Statement<'c>,
    given: Vec<ReadySession<'c>>,
}

struct ReadySession<'c> {
    name: &'static str,
    statement: rusqlite::Statement<'c>,
    /// SQLite's indexes of `$1`, `$2`, …: to SQLite these are names, numbered in the order of their first appearance.
    parameters: Vec<usize>,
    columns: Vec<Declared>,
    writes: bool,
}

impl<'c> Statements<'c> {
    fn prepare(connection: &'c Connection, given: &[Statement]) -> Result<Self, SessionError> {
        let prepare = |sql| connection.prepare(sql).map_err(|error| session_error(&error));
        Ok(Self {
            begin_read: prepare("BEGIN DEFERRED")?,
            // A transaction that reads first and asks for the write lock later fails when another wrote in between.
            begin_write: prepare("BEGIN IMMEDIATE")?,
            commit: prepare("COMMIT")?,
            rollback: prepare("ROLLBACK")?,
            given: given
                .iter()
                .map(|Statement { name, sql }| ReadySession::prepare(connection, name, sql))
                .collect::<Result<_, _>>()?,
        })
    }
}

impl<'c> ReadySession<'c> {
    fn prepare(connection: &'c Connection, name: &'static str, sql: &str) -> Result<Self, SessionError> {
        let refused = |error| match session_error(&error) {
            SessionError::Refused { code, message } => {
                SessionError::Refused { code, message: format!("statement {name}: {message}") }
            }
            other => other,
        };
        let statement = connection.prepare(sql).map_err(refused)?;
        let index = |number: usize| {
            let found = statement.parameter_index(&format!("${number}")).map_err(refused)?;
            found.ok_or_else(|| SessionError::Unexpected { statement: name, what: format!("it has no ${number}") })
        };
        let parameters = (1..=statement.parameter_count()).map(index).collect::<Result<_, _>>()?;
        let (columns, writes) = (Declared::of_columns(&statement), !statement.readonly());
        Ok(Self { name, statement, parameters, columns, writes })
    }

    fn execute(
        &mut self,
        params: &[Param<'_>],
        connection: &Connection,
        results: &mut ResultSet,
    ) -> Result<(), SessionError> {
        results.start(self.name);
        if params.len() != self.parameters.len() {
            let what = format!("{} values for {} parameters", params.len(), self.parameters.len());
            return Err(SessionError::Unexpected { statement: self.name, what });
        }
        let before = connection.total_changes();
        self.step(params, results).map_err(|error| session_error(&error))?;
        // A statement that creates a table writes, but leaves the count of an earlier statement unchanged.
        let changes = self.writes && connection.total_changes() != before;
        results.set_changed(if changes { connection.changes() } else { 0 });
        Ok(())
    }

    fn step(&mut self, params: &[Param<'_>], results: &mut ResultSet) -> rusqlite::Result<()> {
        for (param, index) in params.iter().zip(&self.parameters) {
            bind(&mut self.statement, *index, *param)?;
        }
        let mut rows = self.statement.raw_query();
        while let Some(row) = rows.next()? {
            push_row(row, &self.columns, results)?;
        }
        Ok(())
    }
}

/// One connection to the file.
pub struct SqliteSession {
    prepared: BorrowingStatement,
    results: ResultSet,
    work: SessionWork,
    timer: Arc<Timer>,
}

impl SqliteSession {
    /// Returns the whole answer to a statement, and counts it.
    fn told(&mut self) -> &ResultSet {
        self.work.statements += 1;
        self.work.rows_returned += self.results.rows() as u64;
        self.work.rows_changed += self.results.changed();
        &self.results
    }

    fn control(
        &mut self,
        choose: impl for<'s, 'c> FnOnce(&'s mut Statements<'c>) -> &'s mut rusqlite::Statement<'c>,
    ) -> Result<(), SessionError> {
        self.timer.begin();
        self.prepared
            .with_dependent_mut(|_, statements| choose(statements).raw_execute())
            .map_err(|error| session_error(&error))?;
        Ok(())
    }
}

impl Session for SqliteSession {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    async fn begin(&mut self, access: Access) -> Result<(), SessionError> {
        match access {
            Access::ReadOnly => self.control(|statements| &mut statements.begin_read),
            Access::ReadWrite => self.control(|statements| &mut statements.begin_write),
        }
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.control(|statements| &mut statements.commit)
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        // SQLite itself rolls back after some errors, such as a full disk.
        if self.prepared.borrow_owner().is_autocommit() {
            return Ok(());
        }
        self.control(|statements| &mut statements.rollback)
    }

    async fn execute(&mut self, statement: StatementId, params: &[Param<'_>]) -> Result<&ResultSet, SessionError> {
        self.timer.begin();
        let results = &mut self.results;
        self.prepared.with_dependent_mut(|connection, statements| {
            statements.given[usize::from(statement.0)].execute(params, connection, results)
        })?;
        Ok(self.told())
    }

    async fn execute_text(&mut self, name: &'static str, sql: &str) -> Result<&ResultSet, SessionError> {
        if sql.contains('\0') {
            // SQLite would take it for the end of the text.
            let what = "a zero byte in the text of a statement".to_owned();
            return Err(SessionError::Unexpected { statement: name, what });
        }
        self.timer.begin();
        let connection = self.prepared.borrow_owner();
        ReadySession::prepare(connection, name, sql)?.execute(&[], connection, &mut self.results)?;
        Ok(self.told())
    }

    async fn limit_statements(&mut self, limit: Duration) -> Result<(), SessionError> {
        self.timer.limit(limit);
        Ok(())
    }

    fn work(&self) -> SessionWork {
        self.work
    }
}
