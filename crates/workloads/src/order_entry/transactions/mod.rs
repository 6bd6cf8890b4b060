//! The five transactions, each straight-line code on a session.
//!
//! Requests that do not depend on each other's answers are one batch, which goes out together if the study wants that.
//! Every statement's answer is compared with what it must be. A row too few or too many is an error that names the
//! statement, so no transaction silently does less.

mod customer;
mod delivery;
mod new_order;
mod order_status;
mod payment;
mod stock_level;

use super::inputs::Input;
use super::statements::Sql;
use crate::effects::Effects;
use crate::workload::Ending;
use engines::batch::{Batch, Sending};
use engines::session::{Access, Param, ResultSet, Session, SessionError};
use std::ops::Range;
use std::time::{SystemTime, UNIX_EPOCH};

pub async fn run<S: Session>(
    session: &mut S,
    sending: Sending,
    input: &Input,
    effects: &mut Effects<'_, Input>,
) -> Result<Ending, SessionError> {
    let (tally, batch) = (&mut effects.tally, &mut effects.batch);
    batch.send_by(sending);
    let requests = Requests { batch };
    match input {
        Input::NewOrder(order) => {
            let Some(receipt) = new_order::run(session, requests, order, tally).await? else {
                return Ok(Ending::RolledBack);
            };
            effects.tell(&[order.warehouse.into(), order.district.into(), receipt.order, receipt.total_cents]);
        }
        Input::Payment(input) => drop(payment::run(session, requests, input).await?),
        Input::OrderStatus(input) => drop(order_status::run(session, requests, input).await?),
        Input::Delivery(input) => drop(delivery::run(session, requests, input, tally).await?),
        Input::StockLevel(input) => drop(stock_level::run(session, requests, input).await?),
    }
    Ok(Ending::Committed)
}

/// The time that goes into a row, in microseconds since 1970. It is the client's clock, on all engines.
pub fn now_us() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX)
}

pub fn number(id: u32) -> Param<'static> {
    Param::Integer(i64::from(id))
}

/// A number of rows or lines, to compare with one in the database.
pub fn length(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Requests of a transaction, and their answers.
struct Requests<'a> {
    batch: &'a mut Batch,
}

impl Requests<'_> {
    /// The first requests of a transaction follow.
    fn begin(&mut self, access: Access) {
        self.batch.clear();
        self.batch.begin(access);
    }

    /// Removes all, for the next requests of the transaction.
    fn clear(&mut self) {
        self.batch.clear();
    }

    /// Returns the number of its answer.
    fn add(&mut self, sql: Sql, params: &[Param<'_>]) -> usize {
        self.batch.add(sql.id(), params)
    }

    /// The number of the answer to the request that is added next.
    fn next_number(&self) -> usize {
        self.batch.len()
    }

    async fn send<S: Session>(&mut self, session: &mut S) -> Result<(), SessionError> {
        session.run(self.batch).await
    }

    /// Whether all requests of a batch go out at once. Then rows that many transactions want are locked as late as possible.
    fn are_together(&self) -> bool {
        self.batch.sending() == Sending::Together
    }

    /// Sends the last requests of the transaction, judges their answers and commits. If they go out together, the commit
    /// is among them.
    async fn finish<S: Session, T>(
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

    fn answer(&self, number: usize) -> &ResultSet {
        self.batch.answer(number)
    }

    /// The answer of a statement that returns exactly one row.
    fn row(&self, number: usize) -> Result<&ResultSet, SessionError> {
        self.row_if_any(number)?.ok_or_else(|| self.unexpected(number, "0 rows instead of 1".to_owned()))
    }

    /// The answer of a statement that returns at most one row.
    fn row_if_any(&self, number: usize) -> Result<Option<&ResultSet>, SessionError> {
        let answer = self.answer(number);
        match answer.rows() {
            0 => Ok(None),
            1 => Ok(Some(answer)),
            rows => Err(self.unexpected(number, format!("{rows} rows instead of 1"))),
        }
    }

    /// Fails unless requests of one statement, which follow each other, changed one row each.
    fn require_changes(&self, numbers: Range<usize>) -> Result<(), SessionError> {
        let changed: u64 = numbers.clone().map(|number| self.answer(number).changed()).sum();
        match numbers.len() {
            requests if changed == requests as u64 => Ok(()),
            requests => Err(self.unexpected(numbers.start, format!("{changed} rows changed instead of {requests}"))),
        }
    }

    /// Fails unless the statement changed exactly one row.
    fn require_change(&self, number: usize) -> Result<(), SessionError> {
        match self.answer(number).changed() {
            1 => Ok(()),
            changed => Err(self.unexpected(number, format!("{changed} rows changed instead of 1"))),
        }
    }

    #[cold]
    fn unexpected(&self, number: usize, what: String) -> SessionError {
        let statement = Sql::NAMES[usize::from(self.batch.statement(number).0)];
        SessionError::Unexpected { statement, what }
    }
}
