//! PostgreSQL's hot path: one statement is one Bind, Execute and Sync, written and read without blocking.

use super::decode::{ColumnKind, Message, Messages, column_types, parameter_types};
use super::encode::{ParameterKind, PreparedStatement, execute_text};
use super::handshake::{converse, open};
use super::reply::{Reply, Transaction, tag};
use super::wire::Wire;
use crate::exchange::{Exchange, exchange};
use crate::limit::Limit;
use crate::remote::Remote;
use crate::session::{Access, BoxedOpener, Connect, Param, ResultSet, Session, SessionError, SessionWork, open_aside};
use crate::statement::{Dialect, Statement, StatementId};
use crate::tls::{Encryption, Insecure};
use postgres_protocol::message::frontend;
use std::io;
use std::os::fd::BorrowedFd;
use std::thread::Scope;

/// Opens sessions at one server.
#[derive(Debug, Clone)]
pub struct PostgresConnect {
    remote: Remote,
    /// Prepared once for all sessions. If that fails, each session reports the error.
    encryption: Result<Option<Encryption>, Insecure>,
    statements: Vec<Statement>,
}

impl PostgresConnect {
    pub fn new(remote: &Remote, statements: Vec<Statement>) -> Self {
        Self { remote: remote.clone(), encryption: Encryption::prepare(remote), statements }
    }
}

impl Connect for PostgresConnect {
    type Session = PostgresSession;

    fn connect(&self) -> Result<PostgresSession, SessionError> {
        let encryption = self.encryption.as_ref().map_err(Insecure::clone)?;
        let mut wire = open(&self.remote, encryption.as_ref())?;
        let given = self.statements.iter().map(|statement| (statement.name, statement.sql.as_str()));
        let mut prepared = prepare(&mut wire, CONTROL.into_iter().chain(given))?;
        let text = prepared.len();
        prepared.push(PreparedStatement::default());
        Ok(PostgresSession {
            wire,
            prepared,
            text,
            due: 0,
            current: BEGIN_READ,
            reply: Reply::default(),
            results: ResultSet::default(),
            work: SessionWork::default(),
        })
    }

    fn opener<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) -> Option<BoxedOpener<'scope, PostgresSession>> {
        Some(open_aside(self, scope))
    }
}

/// Statements that every session prepares before the given ones.
const CONTROL: [(&str, &str); 4] =
    [("begin", "BEGIN READ ONLY"), ("begin", "BEGIN READ WRITE"), ("commit", "COMMIT"), ("rollback", "ROLLBACK")];
const BEGIN_READ: usize = 0;
const BEGIN_WRITE: usize = 1;
const COMMIT: usize = 2;
const ROLLBACK: usize = 3;

/// Prepares all statements in one round trip: they are sent without waiting for answers. Each has its own Sync, so none
/// holds locks until the last is done.
fn prepare<'a>(
    wire: &mut Wire,
    statements: impl Iterator<Item = (&'static str, &'a str)>,
) -> Result<Vec<PreparedStatement>, SessionError> {
    let mut prepared = Vec::new();
    for (number, (name, sql)) in statements.enumerate() {
        let server_name = format!("s{number}");
        let out = wire.outgoing();
        frontend::parse(&server_name, sql, [], out)
            .and_then(|()| frontend::describe(b'S', &server_name, out))
            .map_err(|error| SessionError::Unexpected { statement: name, what: error.to_string() })?;
        frontend::sync(out);
        prepared.push(PreparedStatement { name, server_name, parameters: Vec::new(), columns: Vec::new() });
    }
    for statement in &mut prepared {
        converse(wire, Limit::PREPARATION, &mut |message| hear(message, statement)).map_err(|error| match error {
            SessionError::Refused { code, message } => {
                SessionError::Refused { code, message: format!("statement {}: {message}", statement.name) }
            }
            error => error,
        })?;
    }
    Ok(prepared)
}

/// Reads the server's description of a prepared statement.
fn hear(message: Message<'_>, statement: &mut PreparedStatement) -> Result<(), SessionError> {
    match message.tag {
        tag::PARAMETER_DESCRIPTION => {
            statement.parameters = parameter_types(message.body)?.into_iter().map(ParameterKind::of_type).collect();
        }
        tag::ROW_DESCRIPTION => {
            statement.columns = column_types(message.body)?.into_iter().map(ColumnKind::of_type).collect();
        }
        _ => {}
    }
    Ok(())
}

/// One connection to the server.
#[derive(Debug)]
pub struct PostgresSession {
    wire: Wire,
    prepared: Vec<PreparedStatement>,
    /// The entry of `prepared` for texts. It changes with each text that is executed.
    text: usize,
    /// Number of answers that the server still owes: one, or more if the future of an earlier request was dropped.
    due: u32,
    /// The index in `prepared` of the statement whose answer is awaited.
    current: usize,
    reply: Reply,
    results: ResultSet,
    work: SessionWork,
}

impl PostgresSession {
    /// Runs one prepared statement and reads its answer.
    async fn run(&mut self, index: usize, params: &[Param<'_>]) -> Result<(), SessionError> {
        self.prepared[index].execute(params, self.wire.outgoing())?;
        self.answer(index).await
    }

    /// Sends what was written, and reads up to the end of its answer.
    async fn answer(&mut self, index: usize) -> Result<(), SessionError> {
        self.due += 1;
        self.current = index;
        self.reply.start();
        self.results.start(self.prepared[index].name);
        exchange(self).await
    }

    /// Returns the whole answer to a statement, and counts it.
    fn told(&mut self) -> &ResultSet {
        self.work.statements += 1;
        self.work.rows_returned += self.results.rows() as u64;
        self.work.rows_changed += self.results.changed();
        &self.results
    }
}

impl Exchange for PostgresSession {
    type Framing = Messages;

    fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    fn read_answer(&mut self) -> Result<bool, SessionError> {
        let columns = &mut self.prepared[self.current].columns;
        while let Some(message) = self.wire.next()? {
            if self.due > 1 {
                // The answer to a request whose future was dropped is skipped.
                self.due -= u32::from(message.tag == tag::READY);
            } else if message.tag == tag::ROW_DESCRIPTION && self.current == self.text {
                columns.clear();
                columns.extend(column_types(message.body)?.into_iter().map(ColumnKind::of_type_in_text));
            } else if self.reply.take(message, columns, &mut self.results)? {
                self.due = 0;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn outcome(&mut self) -> Result<(), SessionError> {
        self.reply.outcome()
    }

    fn lost(&mut self, error: io::Error) -> SessionError {
        self.reply.lost(error)
    }
}

impl Session for PostgresSession {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.wire.descriptor())
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    async fn begin(&mut self, access: Access) -> Result<(), SessionError> {
        match access {
            Access::ReadOnly => self.run(BEGIN_READ, &[]).await,
            Access::ReadWrite => self.run(BEGIN_WRITE, &[]).await,
        }
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.run(COMMIT, &[]).await?;
        if self.reply.rolled_back {
            let message = "a statement had failed, so the transaction was rolled back".to_owned();
            return Err(SessionError::Refused { code: "25P02".to_owned(), message });
        }
        Ok(())
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        if self.due == 0 && self.reply.transaction == Transaction::None {
            return Ok(());
        }
        self.run(ROLLBACK, &[]).await
    }

    async fn execute(&mut self, statement: StatementId, params: &[Param<'_>]) -> Result<&ResultSet, SessionError> {
        self.run(CONTROL.len() + usize::from(statement.0), params).await?;
        Ok(self.told())
    }

    async fn execute_text(&mut self, name: &'static str, sql: &str) -> Result<&ResultSet, SessionError> {
        execute_text(name, sql, self.wire.outgoing())?;
        self.prepared[self.text].name = name;
        self.answer(self.text).await?;
        Ok(self.told())
    }

    fn work(&self) -> SessionWork {
        self.work
    }
}
