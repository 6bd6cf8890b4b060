//! Receipts in the database: rows with numbers that nobody else has, each written by the transaction that it is of. A user whose
//! transaction was acknowledged has its number, so the database can be asked later whether it is there, whatever the
//! workload does. A receipt also has a mark, a text that can be found in the bytes of a disk.
//!
//! Each commit has one receipt, also that of a transaction that only reads, and that of a single statement. A procedure of
//! MariaDB ends its transaction itself, so its receipt is in one of its own right after it.

use crate::effects::Effects;
use crate::workload::{Actor, Ending, Pause, TransactionKind, User, Workload};
use engines::batch::Batch;
use engines::session::{Access, Param, ResultSet, Session, SessionError, SessionWork};
use engines::statement::{Dialect, Statement, StatementId};
use record::script::LoadPhase;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

pub const TABLE: &str = "bakeoff_receipts";
pub const SCHEMA: &str = include_str!("receipts/schema.sql");
pub const QUERY: &str = include_str!("receipts/all.sql");
const INSERT: &str = include_str!("receipts/insert.sql");

/// The mark in a receipt, twice: a database may split one of them at the end of a page.
pub fn marks(number: i64) -> String {
    mark(number).repeat(2)
}

/// The mark of a receipt: 16 letters that look random, so that they are in no other bytes.
pub fn mark(number: i64) -> String {
    let mixed = (number.cast_unsigned() ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    format!("{:016x}", (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB))
}

/// Where the numbers of receipts come from. All users of a database get theirs from one of these.
#[derive(Debug)]
struct ReceiptNumbers {
    next: AtomicI64,
    insert: StatementId,
}

/// A workload whose transactions leave a receipt for each of their commits, if that is asked for ([`Effects::written`]).
pub struct WithReceipts<'w, W> {
    workload: &'w W,
    receipts: Option<ReceiptNumbers>,
}

impl<'w, W: Workload> WithReceipts<'w, W> {
    /// Numbers count from `first`; without it there are no receipts.
    pub fn new(workload: &'w W, dialect: Dialect, first: Option<i64>) -> Self {
        // The statement is put behind the workload's own.
        let place = || u16::try_from(workload.statements(dialect).len()).unwrap_or(u16::MAX);
        let receipts = first.map(|first| ReceiptNumbers { next: AtomicI64::new(first), insert: StatementId(place()) });
        Self { workload, receipts }
    }
}

impl<W: Workload> Workload for WithReceipts<'_, W> {
    type Input = W::Input;
    type Client = W::Client;

    const COUNTERS: &'static [&'static str] = W::COUNTERS;
    const FILLS: bool = W::FILLS;
    const OWN_SQL: bool = W::OWN_SQL;

    fn kinds(&self) -> &'static [TransactionKind] {
        self.workload.kinds()
    }

    fn actors(&self) -> &'static [Actor] {
        self.workload.actors()
    }

    fn script(&self, load: LoadPhase) -> Vec<LoadPhase> {
        self.workload.script(load)
    }

    fn statements(&self, dialect: Dialect) -> Vec<Statement> {
        let mut statements = self.workload.statements(dialect);
        statements
            .extend(self.receipts.as_ref().map(|_| Statement { name: "receipt", sql: INSERT.trim_end().to_owned() }));
        statements
    }

    fn client(&self, user: User) -> Self::Client {
        self.workload.client(user)
    }

    fn next(&self, client: &mut Self::Client) -> Option<Self::Input> {
        self.workload.next(client)
    }

    fn kind(&self, input: &Self::Input) -> u16 {
        self.workload.kind(input)
    }

    fn performer(&self, input: &Self::Input) -> u16 {
        self.workload.performer(input)
    }

    fn pause(&self, client: &mut Self::Client, input: &Self::Input, terminal: bool) -> Pause {
        self.workload.pause(client, input, terminal)
    }

    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &Self::Input,
        effects: &mut Effects<'_, Self::Input>,
    ) -> Result<Ending, SessionError> {
        let receipts = self.receipts.as_ref();
        let answer = ResultSet::default();
        let mut session = Receipting { session, receipts, is_open: false, committed: Vec::new(), answer };
        let ended = self.workload.run(&mut session, input, effects).await;
        effects.wrote(&session.committed);
        ended
    }

    fn learn(&self, client: &mut Self::Client, input: &Self::Input, effects: &mut Effects<'_, Self::Input>) {
        self.workload.learn(client, input, effects);
    }

    fn is_note(&self, input: &Self::Input) -> bool {
        self.workload.is_note(input)
    }

    fn note(&self, client: &mut Self::Client, input: Self::Input) {
        self.workload.note(client, input);
    }
}

/// A session that writes a receipt before each commit, if there are receipts. Then a request that would be a transaction by itself
/// begins and commits one, since its receipt belongs to it.
struct Receipting<'a, S> {
    session: &'a mut S,
    receipts: Option<&'a ReceiptNumbers>,
    /// Whether a transaction is open, which is known only if there are receipts.
    is_open: bool,
    committed: Vec<i64>,
    /// The answer to a request that was a transaction by itself.
    answer: ResultSet,
}

impl<S: Session> Receipting<'_, S> {
    /// Whether the next request needs a transaction of its own.
    fn is_alone(&self) -> bool {
        self.receipts.is_some() && !self.is_open
    }

    /// Ends the transaction of a single request. If the request failed, nothing is open afterwards, as if it had had none.
    async fn end_alone(&mut self, executed: Result<(), SessionError>) -> Result<(), SessionError> {
        let ended = match executed {
            Ok(()) => self.commit().await,
            failed => failed,
        };
        self.nothing_is_open_after(ended).await
    }

    async fn nothing_is_open_after(&mut self, ended: Result<(), SessionError>) -> Result<(), SessionError> {
        match ended {
            // Nothing more can be said to such a session.
            Ok(()) | Err(SessionError::Lost(_) | SessionError::Protocol(_) | SessionError::TooLarge(_)) => {}
            Err(_) => self.rollback().await?,
        }
        ended
    }

    /// Runs the last requests of a transaction, and its receipt behind them. Afterwards the batch has no other requests
    /// than its owner gave it.
    async fn finish(&mut self, receipts: &ReceiptNumbers, batch: &mut Batch) -> Result<(), SessionError> {
        let number = receipts.next.fetch_add(1, Ordering::Relaxed);
        batch.add(receipts.insert, &[Param::Integer(number), Param::Text(&marks(number))]);
        let ran = self.session.run(batch).await;
        batch.remove_last();
        ran?;
        self.is_open = false;
        self.committed.push(number);
        Ok(())
    }
}

impl<S: Session> Session for Receipting<'_, S> {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.session.descriptor()
    }

    fn dialect(&self) -> Dialect {
        self.session.dialect()
    }

    async fn begin(&mut self, access: Access) -> Result<(), SessionError> {
        let writes = self.receipts.is_some();
        self.session.begin(if writes { Access::ReadWrite } else { access }).await?;
        self.is_open = writes;
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        let Some(receipts) = self.receipts else { return self.session.commit().await };
        let number = receipts.next.fetch_add(1, Ordering::Relaxed);
        let params = [Param::Integer(number), Param::Text(&marks(number))];
        self.session.execute(receipts.insert, &params).await?;
        self.session.commit().await?;
        self.is_open = false;
        self.committed.push(number);
        Ok(())
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        self.is_open = false;
        self.session.rollback().await
    }

    async fn execute(&mut self, statement: StatementId, params: &[Param<'_>]) -> Result<&ResultSet, SessionError> {
        if !self.is_alone() {
            return self.session.execute(statement, params).await;
        }
        self.begin(Access::ReadWrite).await?;
        let executed = self.session.execute(statement, params).await.map(|answer| self.answer.clone_from(answer));
        self.end_alone(executed).await?;
        Ok(&self.answer)
    }

    async fn execute_text(&mut self, name: &'static str, sql: &str) -> Result<&ResultSet, SessionError> {
        if !self.is_alone() {
            return self.session.execute_text(name, sql).await;
        }
        self.begin(Access::ReadWrite).await?;
        let executed = self.session.execute_text(name, sql).await.map(|answer| self.answer.clone_from(answer));
        self.end_alone(executed).await?;
        Ok(&self.answer)
    }

    async fn run(&mut self, batch: &mut Batch) -> Result<(), SessionError> {
        let Some(receipts) = self.receipts else { return self.session.run(batch).await };
        let is_alone = !self.is_open && batch.begins().is_none();
        if is_alone {
            batch.commit();
        }
        if is_alone || batch.begins().is_some() {
            batch.begin(Access::ReadWrite);
            self.is_open = true;
        }
        if !batch.commits() {
            return self.session.run(batch).await;
        }
        let ended = self.finish(receipts, batch).await;
        if is_alone { self.nothing_is_open_after(ended).await } else { ended }
    }

    async fn limit_statements(&mut self, limit: Duration) -> Result<(), SessionError> {
        self.session.limit_statements(limit).await
    }

    fn work(&self) -> SessionWork {
        self.session.work()
    }
}
