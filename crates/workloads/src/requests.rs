//! Requests of a transaction, and what their answers must be.
//!
//! A row too few or too many is an error that names the statement, so no transaction silently does less.

use engines::batch::{Batch, Sending};
use engines::session::{Access, Param, ResultSet, Session, SessionError};
use engines::statement::StatementId;
use std::ops::Range;

pub struct Requests<'a> {
    batch: &'a mut Batch,
    /// Names of the statements, by their ids.
    names: &'a [&'static str],
}

impl<'a> Requests<'a> {
    pub fn new(batch: &'a mut Batch, names: &'a [&'static str]) -> Self {
        Self { batch, names }
    }

    /// The first requests of a transaction follow.
    pub fn begin(&mut self, access: Access) {
        self.batch.clear();
        self.batch.begin(access);
    }

    /// Removes all, for the next requests of the transaction.
    pub fn clear(&mut self) {
        self.batch.clear();
    }

    /// Returns the number of its answer.
    pub fn add(&mut self, sql: impl Into<StatementId>, params: &[Param<'_>]) -> usize {
        self.batch.add(sql.into(), params)
    }

    /// The number of the answer to the request that is added next.
    pub fn next_number(&self) -> usize {
        self.batch.len()
    }

    pub async fn send<S: Session>(&mut self, session: &mut S) -> Result<(), SessionError> {
        session.run(self.batch).await
    }

    /// Whether all requests of a batch go out at once. Then rows that many transactions want are locked as late as possible.
    pub fn are_together(&self) -> bool {
        self.batch.sending() == Sending::Together
    }

    /// Sends the last requests of the transaction, judges their answers and commits. If they go out together, the commit
    /// is among them.
    pub async fn finish<S: Session, T>(
        &mut self,
        session: &mut S,
        judge: impl FnOnce(&Self) -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        if self.are_together() {
            self.batch.commit();
        }
        self.send(session).await?;
        let judged = judge(self)?;
        if !self.are_together() {
            session.commit().await?;
        }
        Ok(judged)
    }

    pub fn answer(&self, number: usize) -> &ResultSet {
        self.batch.answer(number)
    }

    /// The answer of a statement that returns exactly one row.
    pub fn row(&self, number: usize) -> Result<&ResultSet, SessionError> {
        self.row_if_any(number)?.ok_or_else(|| self.unexpected(number, "0 rows instead of 1".to_owned()))
    }

    /// The answer of a statement that returns at most one row.
    pub fn row_if_any(&self, number: usize) -> Result<Option<&ResultSet>, SessionError> {
        let answer = self.answer(number);
        match answer.rows() {
            0 => Ok(None),
            1 => Ok(Some(answer)),
            rows => Err(self.unexpected(number, format!("{rows} rows instead of 1"))),
        }
    }

    /// Rows changed by requests of one statement that follow each other.
    pub fn changed(&self, numbers: Range<usize>) -> u64 {
        numbers.map(|number| self.answer(number).changed()).sum()
    }

    /// Fails unless requests of one statement, which follow each other, changed one row each.
    pub fn require_changes(&self, numbers: Range<usize>) -> Result<(), SessionError> {
        let changed = self.changed(numbers.clone());
        match numbers.len() {
            requests if changed == requests as u64 => Ok(()),
            requests => Err(self.unexpected(numbers.start, format!("{changed} rows changed instead of {requests}"))),
        }
    }

    /// Fails unless the statement changed exactly one row.
    pub fn require_change(&self, number: usize) -> Result<(), SessionError> {
        match self.answer(number).changed() {
            1 => Ok(()),
            changed => Err(self.unexpected(number, format!("{changed} rows changed instead of 1"))),
        }
    }

    #[cold]
    pub fn unexpected(&self, number: usize, what: String) -> SessionError {
        let statement = self.names[usize::from(self.batch.statement(number).0)];
        SessionError::Unexpected { statement, what }
    }
}
