//! PostgreSQL's hot path: one statement is one Bind, Execute and Sync, written and read without blocking. A batch has one
//! Sync for all of its statements.

use super::decode::{Messages, PostgresColumnKind, PostgresMessage, column_types, parameter_types};
use super::encode::{ParameterKind, PostgresStatement, execute_text};
use super::handshake::{converse, open};
use super::reply::{PostgresReply, Transaction, tag};
use super::wire::PostgresWire;
use crate::batch::{Batch, Sending};
use crate::exchange::{Exchange, exchange};
use crate::limit::ReplyLimit;
use crate::remote::Remote;
use crate::session::{Access, BoxedOpener, Connect, Param, ResultSet, Session, SessionError, SessionWork, open_aside};
use crate::statement::{Dialect, Statement, StatementId};
use crate::tls::{Encryption, Insecure};
use postgres_protocol::message::frontend;
use std::io;
use std::os::fd::BorrowedFd;
use std::thread::Scope;
use std::time::Duration;
use uring::Ring;

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
        prepared.push(PostgresStatement::default());
        Ok(PostgresSession {
            wire,
            prepared,
            text,
            due: 0,
            asked: vec![BEGIN_READ],
            answered: 0,
            reply: PostgresReply::default(),
            answers: vec![ResultSet::default()],
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
    wire: &mut PostgresWire,
    statements: impl Iterator<Item = (&'static str, &'a str)>,
) -> Result<Vec<PostgresStatement>, SessionError> {
    let mut prepared = Vec::new();
    for (number, (name, sql)) in statements.enumerate() {
        let server_name = format!("s{number}");
        let out = wire.outgoing();
        frontend::parse(&server_name, sql, [], out)
            .and_then(|()| frontend::describe(b'S', &server_name, out))
            .map_err(|error| SessionError::Unexpected { statement: name, what: error.to_string() })?;
        frontend::sync(out);
        prepared.push(PostgresStatement { name, server_name, parameters: Vec::new(), columns: Vec::new() });
    }
    for statement in &mut prepared {
        converse(wire, ReplyLimit::PREPARATION, &mut |message| hear(message, statement)).map_err(
            |error| match error {
                SessionError::Refused { code, message } => {
                    SessionError::Refused { code, message: format!("statement {}: {message}", statement.name) }
                }
                error => error,
            },
        )?;
    }
    Ok(prepared)
}

/// Reads the server's description of a prepared statement.
fn hear(message: PostgresMessage<'_>, statement: &mut PostgresStatement) -> Result<(), SessionError> {
    match message.tag {
        tag::PARAMETER_DESCRIPTION => {
            statement.parameters = parameter_types(message.body)?.into_iter().map(ParameterKind::of_type).collect();
        }
        tag::ROW_DESCRIPTION => {
            statement.columns = column_types(message.body)?.into_iter().map(PostgresColumnKind::of_type).collect();
        }
        _ => {}
    }
    Ok(())
}

/// One connection to the server.
#[derive(Debug)]
pub struct PostgresSession {
    wire: PostgresWire,
    prepared: Vec<PostgresStatement>,
    /// The entry of `prepared` for texts. It changes with each text that is executed.
    text: usize,
    /// Number of answers that the server still owes: one, or more if the future of an earlier request was dropped.
    due: u32,
    /// The indexes in `prepared` of the statements that went out together and whose answers are awaited, in order.
    asked: Vec<usize>,
    /// How many of these the server has answered.
    answered: usize,
    reply: PostgresReply,
    /// At least one for each statement that was asked.
    answers: Vec<ResultSet>,
    work: SessionWork,
}

impl PostgresSession {
    /// Executes one prepared statement and reads its answer.
    async fn ask(&mut self, index: usize, params: &[Param<'_>]) -> Result<(), SessionError> {
        self.prepared[index].execute(params, self.wire.outgoing())?;
        self.answer(index).await
    }

    /// Sends what was written, and reads up to the end of its answer.
    async fn answer(&mut self, index: usize) -> Result<(), SessionError> {
        self.asked.clear();
        self.asked.push(index);
        self.answer_all().await
    }

    /// The same for all statements in `asked`.
    async fn answer_all(&mut self) -> Result<(), SessionError> {
        self.due += 1;
        self.answered = 0;
        self.reply.start();
        if self.answers.len() < self.asked.len() {
            self.answers.resize_with(self.asked.len(), ResultSet::default);
        }
        for (index, answer) in self.asked.iter().zip(&mut self.answers) {
            answer.start(self.prepared[*index].name);
        }
        self.work.round_trips += 1;
        exchange(self).await
    }

    /// Returns the whole answer to a statement, and counts it.
    fn told(&mut self) -> &ResultSet {
        self.count(0);
        &self.answers[0]
    }

    /// Fails if the server answered the last COMMIT with a rollback.
    fn require_commit(&self) -> Result<(), SessionError> {
        if self.reply.rolled_back {
            let message = "a statement had failed, so the transaction was rolled back".to_owned();
            return Err(SessionError::Refused { code: "25P02".to_owned(), message });
        }
        Ok(())
    }

    fn count(&mut self, answer: usize) {
        let answer = &self.answers[answer];
        self.work.statements += 1;
        self.work.rows_returned += answer.rows() as u64;
        self.work.rows_changed += answer.changed();
    }

    /// Writes all requests of a batch, and one Sync.
    fn write(&mut self, batch: &Batch) -> Result<(), SessionError> {
        self.asked.clear();
        self.asked.extend(batch.begins().map(begin));
        self.asked.extend((0..batch.len()).map(|number| CONTROL.len() + usize::from(batch.statement(number).0)));
        self.asked.extend(batch.commits().then_some(COMMIT));
        let (first, out) = (usize::from(batch.begins().is_some()), self.wire.outgoing());
        let (before, mut params) = (out.len(), Vec::new());
        for (place, index) in self.asked.iter().enumerate() {
            params.clear();
            if let Some(number) = place.checked_sub(first).filter(|number| *number < batch.len()) {
                params.extend(batch.params(number));
            }
            if let Err(error) = self.prepared[*index].execute_in_batch(&params, out) {
                out.truncate(before);
                return Err(error);
            }
        }
        if !self.asked.is_empty() {
            frontend::sync(out);
        }
        Ok(())
    }
}

/// The statement that begins a transaction.
fn begin(access: Access) -> usize {
    match access {
        Access::ReadOnly => BEGIN_READ,
        Access::ReadWrite => BEGIN_WRITE,
    }
}

impl Exchange for PostgresSession {
    type Framing = Messages;

    fn wire(&mut self) -> &mut PostgresWire {
        &mut self.wire
    }

    fn read_answer(&mut self) -> Result<bool, SessionError> {
        while let Some(message) = self.wire.next()? {
            if self.due > 1 {
                // The answer to a request whose future was dropped is skipped.
                self.due -= u32::from(message.tag == tag::READY);
                continue;
            }
            // After the last answer only the end follows, which belongs to none.
            let place = self.answered.min(self.asked.len() - 1);
            let columns = &mut self.prepared[self.asked[place]].columns;
            if message.tag == tag::ROW_DESCRIPTION && self.asked[place] == self.text {
                columns.clear();
                columns.extend(column_types(message.body)?.into_iter().map(PostgresColumnKind::of_type_in_text));
                continue;
            }
            self.answered += usize::from(message.tag == tag::COMMAND_COMPLETE);
            if self.reply.take(message, columns, &mut self.answers[place])? {
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

    fn attach(&mut self, ring: &Ring, token: u32) -> io::Result<bool> {
        self.wire.attach(ring, token).map(|()| true)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    async fn begin(&mut self, access: Access) -> Result<(), SessionError> {
        self.ask(begin(access), &[]).await
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.ask(COMMIT, &[]).await?;
        self.require_commit()
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        if self.due == 0 && self.reply.transaction == Transaction::None {
            return Ok(());
        }
        self.ask(ROLLBACK, &[]).await
    }

    async fn execute(&mut self, statement: StatementId, params: &[Param<'_>]) -> Result<&ResultSet, SessionError> {
        self.ask(CONTROL.len() + usize::from(statement.0), params).await?;
        Ok(self.told())
    }

    async fn execute_text(&mut self, name: &'static str, sql: &str) -> Result<&ResultSet, SessionError> {
        execute_text(name, sql, self.wire.outgoing())?;
        self.prepared[self.text].name = name;
        self.answer(self.text).await?;
        Ok(self.told())
    }

    async fn limit_statements(&mut self, limit: Duration) -> Result<(), SessionError> {
        self.execute_text("limit-statements", &format!("SET statement_timeout = {}", limit.as_millis())).await?;
        Ok(())
    }

    async fn run(&mut self, batch: &mut Batch) -> Result<(), SessionError> {
        if batch.sending() == Sending::OneByOne {
            return crate::session::one_by_one(self, batch).await;
        }
        self.write(batch)?;
        if self.asked.is_empty() {
            return Ok(());
        }
        self.answer_all().await?;
        let first = usize::from(batch.begins().is_some());
        for (number, answer) in batch.answers().iter_mut().enumerate() {
            self.count(first + number);
            // The session gets the buffers of the last batch in exchange.
            std::mem::swap(answer, &mut self.answers[first + number]);
        }
        if batch.commits() { self.require_commit() } else { Ok(()) }
    }

    fn work(&self) -> SessionWork {
        self.work
    }
}
