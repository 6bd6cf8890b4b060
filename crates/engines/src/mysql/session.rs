//! The hot path: one request executes one prepared statement, written and read without blocking. The requests of a batch
//! are written one after the other before any answer is read.
//!
//! Transactions begin and end with a text each, because the protocol has nothing else for that. A statement that was
//! not prepared is also a text, and all values of its answer are texts.

use super::converse::prepare;
use super::decode::{MysqlColumnKind, row, text_row};
use super::encode::{MysqlStatement, limit_of_statements};
use super::handshake::{ConnectionPurpose, open};
use super::lists::{ListForm, ListedRequests};
use super::marks::{parameters, parts};
use super::packet::{Packets, command};
use super::reply::{MysqlReply, Piece};
use super::wire::MysqlWire;
use crate::batch::{Batch, Sending};
use crate::exchange::{Exchange, exchange};
use crate::limit::ReplyLimit;
use crate::remote::Remote;
use crate::session::{Access, BoxedOpener, Connect, Param, ResultSet, Session, SessionError, SessionWork, open_aside};
use crate::statement::{Dialect, Statement, StatementId};
use crate::tls::{Encryption, Insecure};
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::thread::Scope;
use std::time::Duration;
use uring::Ring;

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
        let mut wire = open(&self.remote, encryption.as_ref(), ConnectionPurpose::Sessions)?;
        let mut prepared = Vec::with_capacity(self.statements.len());
        let mut statements = Vec::with_capacity(self.statements.len());
        for statement in &self.statements {
            statements.push(prepare_whole(&mut wire, statement, &mut prepared)?);
        }
        let reply = MysqlReply::new(wire.agreed);
        Ok(MysqlSession {
            wire,
            statements,
            prepared,
            text_columns: Vec::new(),
            due: VecDeque::new(),
            wanted: 0,
            failed: None,
            commits_alone: true,
            only_reads: false,
            is_begun: false,
            reply,
            answers: vec![ResultSet::default()],
            listed: Vec::new(),
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
    list: Option<ListForm>,
}

fn prepare_whole(
    wire: &mut MysqlWire,
    statement: &Statement,
    prepared: &mut Vec<MysqlStatement>,
) -> Result<Whole, SessionError> {
    let name = statement.name;
    let mut parts = parts(&statement.sql);
    let parameters = parameters(&parts);
    let listed = if parts.len() > 1 { parts.pop_if(|last| last.list.is_some()) } else { None };
    let first = prepared.len();
    let all = first..first + parts.len();
    let list = listed.and_then(|part| ListForm::new(all.end - 1, all.end, &part));
    for part in parts.iter().chain(list.as_ref().map(|(_, asked)| asked)) {
        prepared.push(prepare(wire, part, ReplyLimit::PREPARATION).map_err(|error| match error {
            SessionError::Refused { code, message } => {
                SessionError::Refused { code, message: format!("statement {name}: {message}") }
            }
            error => error,
        })?);
    }
    if prepared[all.clone()].iter().filter(|part| !part.columns.is_empty()).count() > 1 {
        let what = "only one of its parts may return rows".to_owned();
        return Err(SessionError::Unexpected { statement: name, what });
    }
    Ok(Whole { name, parameters, parts: all, list: list.map(|(form, _)| form) })
}

/// One connection to the server.
#[derive(Debug)]
pub struct MysqlSession {
    wire: MysqlWire,
    statements: Vec<Whole>,
    prepared: Vec<MysqlStatement>,
    /// Columns of the text being answered.
    text_columns: Vec<MysqlColumnKind>,
    /// Requests that the server has not answered yet.
    due: VecDeque<Due>,
    /// How many of these, at the end, are awaited. The futures of those before them were dropped.
    wanted: usize,
    /// Why the first of the awaited requests failed that did.
    failed: Option<SessionError>,
    /// Whether the server commits a statement that is in no transaction.
    commits_alone: bool,
    /// Whether the transaction that the last batch began only reads.
    only_reads: bool,
    /// Whether a batch has begun a transaction that has not ended. The server knows of one that writes only from its first row on.
    is_begun: bool,
    reply: MysqlReply,
    /// At least one for each statement that was asked, and for each list.
    answers: Vec<ResultSet>,
    /// The requests of the batch that share an answer.
    listed: Vec<ListedRequests>,
    work: SessionWork,
}

/// A request that the server has not answered yet.
#[derive(Debug, Clone, Copy)]
struct Due {
    /// An index into `prepared`; `None` is a text.
    part: Option<usize>,
    /// Where its rows go.
    answer: usize,
}

impl MysqlSession {
    async fn execute_part(&mut self, index: usize, params: &[Param<'_>]) -> Result<(), SessionError> {
        self.await_none();
        self.write_part(Due { part: Some(index), answer: 0 }, params)?;
        self.answer().await
    }

    fn write_part(&mut self, due: Due, params: &[Param<'_>]) -> Result<(), SessionError> {
        if let Some(index) = due.part {
            self.prepared[index].execute(params, self.wire.outgoing())?;
        }
        self.await_also(due);
        Ok(())
    }

    async fn send_text(&mut self, name: &'static str, sql: &str) -> Result<(), SessionError> {
        self.await_none();
        self.answers[0].start(name);
        self.write_text(sql)?;
        self.answer().await
    }

    fn write_text(&mut self, sql: &str) -> Result<(), SessionError> {
        self.wire.command(command::QUERY, sql)?;
        self.await_also(Due { part: None, answer: 0 });
        Ok(())
    }

    /// Notes a request that was written.
    fn await_also(&mut self, due: Due) {
        if self.due.is_empty() {
            self.reply.start();
        }
        self.due.push_back(due);
        self.wanted += 1;
    }

    /// Forgets which answers are awaited. Those that the server still owes are skipped.
    fn await_none(&mut self) {
        self.wanted = 0;
        self.failed = None;
    }

    /// Sends what was written, and reads up to the end of its answers.
    async fn answer(&mut self) -> Result<(), SessionError> {
        self.work.round_trips += 1;
        exchange(self).await
    }

    /// Returns the whole answer to a statement, and counts its rows.
    fn told(&mut self) -> &ResultSet {
        self.count_rows(0);
        &self.answers[0]
    }

    fn count_rows(&mut self, answer: usize) {
        let answer = &self.answers[answer];
        self.work.rows_returned += answer.rows() as u64;
        self.work.rows_changed += answer.changed();
    }

    /// A statement outside of a transaction is committed at once, also after a batch.
    async fn commit_alone(&mut self) -> Result<(), SessionError> {
        if self.commits_alone || self.is_in_transaction() {
            return Ok(());
        }
        self.commits_alone = true;
        self.send_text("autocommit", AUTOCOMMIT).await
    }

    fn is_in_transaction(&self) -> bool {
        self.is_begun || self.reply.outcome.in_transaction()
    }

    fn require_values(&self, statement: StatementId, count: usize) -> Result<(), SessionError> {
        let Whole { name, parameters, .. } = &self.statements[usize::from(statement.0)];
        if count == *parameters {
            return Ok(());
        }
        let what = format!("{count} values for {parameters} parameters");
        Err(SessionError::Unexpected { statement: name, what })
    }

    /// Writes requests of one statement, part by part. A part that only changes rows is one request for all, if the server can
    /// do that. Their first answer then says how many rows all of them changed. A part with a list is one request for several.
    fn write_same(&mut self, batch: &Batch, numbers: Range<usize>) -> Result<(), SessionError> {
        let whole = usize::from(batch.statement(numbers.start).0);
        let Whole { name, parts, .. } = &self.statements[whole];
        let parts = parts.clone();
        for number in numbers.clone() {
            self.answers[number].start(name);
        }
        for part in parts {
            if self.write_lists(batch, whole, part, &numbers)? {
                continue;
            }
            let statement = &mut self.prepared[part];
            let together = numbers.len() > 1 && statement.columns.is_empty() && self.wire.agreed.executes_all;
            let rows = numbers.clone().map(|number| batch.params(number));
            if together && statement.execute_all(rows, self.wire.outgoing())? {
                self.await_also(Due { part: Some(part), answer: numbers.start });
                continue;
            }
            for number in numbers.clone() {
                let params: Vec<_> = batch.params(number).collect();
                self.write_part(Due { part: Some(part), answer: number }, &params)?;
            }
        }
        Ok(())
    }

    /// Writes one request for as many as a list has room for. Returns false if the part has no list, or not for these.
    fn write_lists(
        &mut self,
        batch: &Batch,
        whole: usize,
        part: usize,
        numbers: &Range<usize>,
    ) -> Result<bool, SessionError> {
        let Whole { name, list, .. } = &self.statements[whole];
        let (name, first) = (*name, batch.len() + self.listed.len());
        let Some(form) = list.as_ref().filter(|form| form.of == part) else { return Ok(false) };
        let Some(ranges) = form.split(batch, numbers.clone()) else { return Ok(false) };
        let part = Some(form.prepared);
        let lists: Vec<_> = ranges
            .zip(first..)
            .map(|(range, answer)| (form.values(batch, &range), form.listed(range, answer)))
            .collect();
        self.answers.resize_with(self.answers.len().max(first + lists.len()), ResultSet::default);
        for (values, listed) in lists {
            self.answers[listed.answer].start(name);
            self.write_part(Due { part, answer: listed.answer }, &values)?;
            self.listed.push(listed);
        }
        Ok(true)
    }

    /// Writes all requests of a batch. The end of the transaction is not among them if a request may fail that changes
    /// something, because the server does not skip what follows it.
    fn write(&mut self, batch: &Batch) -> Result<(), SessionError> {
        self.await_none();
        self.listed.clear();
        for number in 0..batch.len() {
            self.require_values(batch.statement(number), batch.params(number).len())?;
        }
        self.is_begun |= batch.begins().is_some();
        let is_alone = !self.is_in_transaction();
        if is_alone != self.commits_alone {
            // After a deadlock the server has rolled back, and with autocommit it would commit each statement that follows.
            self.write_text(if is_alone { AUTOCOMMIT } else { NO_AUTOCOMMIT })?;
            self.commits_alone = is_alone;
        }
        if let Some(access) = batch.begins() {
            self.only_reads = access == Access::ReadOnly;
            // Without autocommit, a transaction that may write begins by itself.
            if self.only_reads {
                self.write_text(begin(access))?;
            }
        }
        if self.answers.len() < batch.len() {
            self.answers.resize_with(batch.len(), ResultSet::default);
        }
        let mut first = 0;
        while first < batch.len() {
            let statement = batch.statement(first);
            let same = (first..batch.len()).take_while(|number| batch.statement(*number) == statement).count();
            self.write_same(batch, first..first + same)?;
            first += same;
        }
        if batch.commits() && self.only_reads {
            self.is_begun = false;
            self.write_text(COMMIT)?;
        }
        Ok(())
    }
}

const COMMIT: &str = "COMMIT";
const AUTOCOMMIT: &str = "SET autocommit = 1";
const NO_AUTOCOMMIT: &str = "SET autocommit = 0";

/// The text that begins a transaction.
fn begin(access: Access) -> &'static str {
    match access {
        Access::ReadOnly => "START TRANSACTION READ ONLY",
        Access::ReadWrite => "START TRANSACTION READ WRITE",
    }
}

impl Exchange for MysqlSession {
    type Framing = Packets;

    fn wire(&mut self) -> &mut MysqlWire {
        &mut self.wire
    }

    fn read_answer(&mut self) -> Result<bool, SessionError> {
        while let Some(packet) = self.wire.next()? {
            let Some(&Due { part: to, answer }) = self.due.front() else {
                return Err(SessionError::Protocol("the server answers a request that was not sent".to_owned()));
            };
            // A request whose future was dropped needs no rows, but its columns are sent only once.
            let wanted = self.due.len() <= self.wanted;
            let step = self.reply.take(packet, to.is_some())?;
            match (step, to) {
                (Piece::ColumnsFollow, to) => columns(to, &mut self.prepared, &mut self.text_columns).clear(),
                (Piece::Column(body), to) => {
                    columns(to, &mut self.prepared, &mut self.text_columns).push(MysqlColumnKind::read(body)?);
                }
                (Piece::Row(body), None) if wanted => text_row(body, &self.text_columns, &mut self.answers[answer])?,
                (Piece::Row(body), Some(index)) if wanted => {
                    row(body, &self.prepared[index].columns, &mut self.answers[answer])?;
                }
                (Piece::RowsWanted(_), _) => {
                    return Err(SessionError::Protocol("the server asks for a file".to_owned()));
                }
                (Piece::Done, _) => {
                    self.due.pop_front();
                    let ended = self.reply.result();
                    if let Some(index) = to.filter(|_| ended.is_err() || !wanted) {
                        self.prepared[index].forget_types();
                    }
                    if let (true, Err(error)) = (wanted, ended) {
                        self.failed.get_or_insert(error);
                    }
                    if wanted {
                        self.answers[answer].add_changed(self.reply.changed, self.reply.outcome.inserted_id);
                        if self.due.is_empty() {
                            return Ok(true);
                        }
                    }
                    self.reply.start();
                }
                _ => {}
            }
        }
        Ok(false)
    }

    fn outcome(&mut self) -> Result<(), SessionError> {
        self.failed.take().map_or(Ok(()), Err)
    }

    fn lost(&mut self, error: io::Error) -> SessionError {
        match self.failed.take() {
            Some(SessionError::Lost(why)) => SessionError::Lost(why),
            Some(why) => SessionError::Lost(io::Error::other(why.to_string())),
            None => self.reply.lost(error),
        }
    }
}

fn columns<'a>(
    to: Option<usize>,
    prepared: &'a mut [MysqlStatement],
    text_columns: &'a mut Vec<MysqlColumnKind>,
) -> &'a mut Vec<MysqlColumnKind> {
    match to {
        Some(index) => &mut prepared[index].columns,
        None => text_columns,
    }
}

impl Session for MysqlSession {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.wire.descriptor())
    }

    fn attach(&mut self, ring: &Ring, token: u32) -> io::Result<bool> {
        self.wire.attach(ring, token).map(|()| true)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Mysql
    }

    async fn begin(&mut self, access: Access) -> Result<(), SessionError> {
        self.send_text("begin", begin(access)).await
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.is_begun = false;
        self.send_text("commit", COMMIT).await
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        self.is_begun = false;
        if self.due.is_empty() && !self.reply.outcome.in_transaction() {
            return Ok(());
        }
        self.send_text("rollback", "ROLLBACK").await
    }

    async fn execute(&mut self, statement: StatementId, params: &[Param<'_>]) -> Result<&ResultSet, SessionError> {
        self.require_values(statement, params.len())?;
        self.commit_alone().await?;
        let Whole { name, parts, .. } = &self.statements[usize::from(statement.0)];
        let parts = parts.clone();
        self.answers[0].start(name);
        for index in parts {
            self.execute_part(index, params).await?;
            self.work.statements += 1;
            if self.reply.changed == 0 && self.answers[0].rows() == 0 {
                break;
            }
        }
        Ok(self.told())
    }

    async fn execute_text(&mut self, name: &'static str, sql: &str) -> Result<&ResultSet, SessionError> {
        self.commit_alone().await?;
        self.send_text(name, sql).await?;
        self.work.statements += 1;
        Ok(self.told())
    }

    async fn limit_statements(&mut self, limit: Duration) -> Result<(), SessionError> {
        self.send_text("limit-statements", &limit_of_statements(limit)).await
    }

    async fn run(&mut self, batch: &mut Batch) -> Result<(), SessionError> {
        if batch.sending() == Sending::OneByOne {
            return crate::session::one_by_one(self, batch).await;
        }
        self.write(batch)?;
        if self.wanted > 0 {
            self.answer().await?;
        }
        for listed in &self.listed {
            let statement = self.statements[usize::from(batch.statement(listed.requests.start).0)].name;
            listed.hand_out(batch, statement, &mut self.answers)?;
        }
        for (number, answer) in batch.answers().iter_mut().enumerate() {
            self.count_rows(number);
            // The session gets the buffers of the last batch in exchange.
            std::mem::swap(answer, &mut self.answers[number]);
        }
        let parts = (0..batch.len()).map(|number| &self.statements[usize::from(batch.statement(number).0)].parts);
        self.work.statements += parts.map(|parts| parts.len() as u64).sum::<u64>();
        if batch.commits() && !self.only_reads { self.commit().await } else { Ok(()) }
    }

    fn work(&self) -> SessionWork {
        self.work
    }
}
