//! The hot path: one request executes one prepared statement, written and read without blocking.
//!
//! Transactions begin and end with a text each, because the protocol has nothing else for that. A statement that was
//! not prepared is also a text, and all values of its answer are texts.

use super::converse::{command, prepare};
use super::decode::{ColumnKind, row, text_row};
use super::encode::PreparedStatement;
use super::handshake::{Purpose, open};
use super::marks::{parameters, parts};
use super::packet::Packets;
use super::reply::{Reply, Step};
use super::wire::Wire;
use crate::exchange::{Exchange, exchange};
use crate::limit::Limit;
use crate::remote::Remote;
use crate::session::{Access, BoxedOpener, Connect, Param, ResultSet, Session, SessionError, SessionWork, open_aside};
use crate::statement::{Dialect, Statement, StatementId};
use crate::tls::{Encryption, Insecure};
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::thread::Scope;

/// Opens sessions at one server.
#[derive(Debug, Clone)]
pub struct MysqlConnect {
    remote: Remote,
    /// Prepared once for all sessions. If that fails, each session reports the error.
    encryption: Result<Option<Encryption>, Insecure>,
    statements: Vec<Statement>,
}

impl MysqlConnect {
    pub fn new(remote: &Remote, statements: Vec<Statement>) -> Self {
        Self { remote: remote.clone(), encryption: Encryption::prepare(remote), statements }
    }
}

impl Connect for MysqlConnect {
    type Session = MysqlSession;

    fn connect(&self) -> Result<MysqlSession, SessionError> {
        let encryption = self.encryption.as_ref().map_err(Insecure::clone)?;
        let mut wire = open(&self.remote, encryption.as_ref(), Purpose::Sessions)?;
        let mut prepared = Vec::with_capacity(self.statements.len());
        let mut statements = Vec::with_capacity(self.statements.len());
        for statement in &self.statements {
            statements.push(prepare_whole(&mut wire, statement, &mut prepared)?);
        }
        let reply = Reply::new(wire.agreed);
        Ok(MysqlSession {
            wire,
            statements,
            prepared,
            text_columns: Vec::new(),
            due: VecDeque::new(),
            reply,
            results: ResultSet::default(),
            work: SessionWork::default(),
        })
    }

    fn opener<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) -> Option<BoxedOpener<'scope, MysqlSession>> {
        Some(open_aside(self, scope))
    }
}

/// A statement as the caller knows it. Its parts are executed one after the other.
#[derive(Debug)]
struct Whole {
    name: &'static str,
    parameters: usize,
    /// Its range in the list of all prepared parts.
    parts: Range<usize>,
}

fn prepare_whole(
    wire: &mut Wire,
    statement: &Statement,
    prepared: &mut Vec<PreparedStatement>,
) -> Result<Whole, SessionError> {
    let name = statement.name;
    let parts = parts(&statement.sql);
    let first = prepared.len();
    for part in &parts {
        prepared.push(prepare(wire, part, Limit::PREPARATION).map_err(|error| match error {
            SessionError::Refused { code, message } => {
                SessionError::Refused { code, message: format!("statement {name}: {message}") }
            }
            error => error,
        })?);
    }
    if prepared[first..].iter().filter(|part| !part.columns.is_empty()).count() > 1 {
        let what = "only one of its parts may return rows".to_owned();
        return Err(SessionError::Unexpected { statement: name, what });
    }
    Ok(Whole { name, parameters: parameters(&parts), parts: first..prepared.len() })
}

/// One connection to the server.
#[derive(Debug)]
pub struct MysqlSession {
    wire: Wire,
    statements: Vec<Whole>,
    prepared: Vec<PreparedStatement>,
    /// Columns of the text being answered.
    text_columns: Vec<ColumnKind>,
    /// Requests that the server has not answered yet: one, or more if the future of an earlier request was dropped. A
    /// number is an index into `prepared`; `None` is a text.
    due: VecDeque<Option<usize>>,
    reply: Reply,
    results: ResultSet,
    work: SessionWork,
}

impl MysqlSession {
    async fn execute_part(&mut self, index: usize, params: &[Param<'_>]) -> Result<(), SessionError> {
        self.prepared[index].execute(params, self.wire.outgoing())?;
        self.due.push_back(Some(index));
        let answered = self.answer().await;
        if answered.is_err() {
            self.prepared[index].forget_types();
        }
        answered
    }

    async fn send_text(&mut self, name: &'static str, sql: &str) -> Result<(), SessionError> {
        self.results.start(name);
        self.wire.command(command::QUERY, sql)?;
        self.due.push_back(None);
        self.answer().await
    }

    /// Returns the whole answer to a statement, and counts its rows.
    fn told(&mut self, changed: u64, inserted_id: u64) -> &ResultSet {
        self.results.set_changed(changed);
        self.results.set_inserted_id(inserted_id);
        self.work.rows_returned += self.results.rows() as u64;
        self.work.rows_changed += changed;
        &self.results
    }

    /// Sends what was written, and reads up to the end of its answer.
    async fn answer(&mut self) -> Result<(), SessionError> {
        if self.due.len() == 1 {
            self.reply.start();
        }
        exchange(self).await
    }
}

impl Exchange for MysqlSession {
    type Framing = Packets;

    fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    fn read_answer(&mut self) -> Result<bool, SessionError> {
        while let Some(packet) = self.wire.next()? {
            let Some(&to) = self.due.front() else {
                return Err(SessionError::Protocol("the server answers a request that was not sent".to_owned()));
            };
            // A request whose future was dropped needs no rows, but its columns are sent only once.
            let wanted = self.due.len() == 1;
            let step = self.reply.take(packet, to.is_some())?;
            match (step, to) {
                (Step::ColumnsFollow, to) => columns(to, &mut self.prepared, &mut self.text_columns).clear(),
                (Step::Column(body), to) => {
                    columns(to, &mut self.prepared, &mut self.text_columns).push(ColumnKind::read(body)?);
                }
                (Step::Row(body), None) if wanted => text_row(body, &self.text_columns, &mut self.results)?,
                (Step::Row(body), Some(index)) if wanted => {
                    row(body, &self.prepared[index].columns, &mut self.results)?;
                }
                (Step::RowsWanted(_), _) => {
                    return Err(SessionError::Protocol("the server asks for a file".to_owned()));
                }
                (Step::Done, _) => {
                    self.due.pop_front();
                    if wanted {
                        return Ok(true);
                    }
                    if let Some(index) = to {
                        self.prepared[index].forget_types();
                    }
                    self.reply.start();
                }
                _ => {}
            }
        }
        Ok(false)
    }

    fn outcome(&mut self) -> Result<(), SessionError> {
        self.reply.result()
    }

    fn lost(&mut self, error: io::Error) -> SessionError {
        self.reply.lost(error)
    }
}

fn columns<'a>(
    to: Option<usize>,
    prepared: &'a mut [PreparedStatement],
    text_columns: &'a mut Vec<ColumnKind>,
) -> &'a mut Vec<ColumnKind> {
    match to {
        Some(index) => &mut prepared[index].columns,
        None => text_columns,
    }
}

impl Session for MysqlSession {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.wire.descriptor())
    }

    fn dialect(&self) -> Dialect {
        Dialect::Mysql
    }

    async fn begin(&mut self, access: Access) -> Result<(), SessionError> {
        let sql = match access {
            Access::ReadOnly => "START TRANSACTION READ ONLY",
            Access::ReadWrite => "START TRANSACTION READ WRITE",
        };
        self.send_text("begin", sql).await
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.send_text("commit", "COMMIT").await
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        if self.due.is_empty() && !self.reply.outcome.in_transaction() {
            return Ok(());
        }
        self.send_text("rollback", "ROLLBACK").await
    }

    async fn execute(&mut self, statement: StatementId, params: &[Param<'_>]) -> Result<&ResultSet, SessionError> {
        let Whole { name, parameters, parts } = &self.statements[usize::from(statement.0)];
        let (name, parameters, parts) = (*name, *parameters, parts.clone());
        if params.len() != parameters {
            let what = format!("{} values for {parameters} parameters", params.len());
            return Err(SessionError::Unexpected { statement: name, what });
        }
        let (mut changed, mut inserted_id) = (0, 0);
        self.results.start(name);
        for index in parts {
            self.execute_part(index, params).await?;
            self.work.statements += 1;
            changed += self.reply.changed;
            inserted_id = inserted_id.max(self.reply.outcome.inserted_id);
            if self.reply.changed == 0 && self.results.rows() == 0 {
                break;
            }
        }
        Ok(self.told(changed, inserted_id))
    }

    async fn execute_text(&mut self, name: &'static str, sql: &str) -> Result<&ResultSet, SessionError> {
        self.send_text(name, sql).await?;
        self.work.statements += 1;
        Ok(self.told(self.reply.changed, self.reply.outcome.inserted_id))
    }

    fn work(&self) -> SessionWork {
        self.work
    }
}
