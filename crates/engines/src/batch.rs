//! Requests that go to the server together, because none depends on the answer to another.

use crate::date::Date;
use crate::decimal::Decimal;
use crate::results::ResultSet;
use crate::statement::StatementId;
use crate::value::{Access, Param};
use std::ops::Range;

/// How the requests of a batch are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sending {
    /// Each waits for the answer to the one before it.
    #[default]
    OneByOne,
    /// All at once, where the engine's protocol has a way. Elsewhere one by one.
    Together,
}

/// Some requests of one transaction, and their answers. Those of a batch that begins none, while none is open, are committed when
/// they are answered.
///
/// If a request fails, so does the batch, and the transaction must be rolled back. The database does not execute the
/// requests after the failed one, or it does and the rollback undoes them. A batch with a failed request commits
/// nothing.
///
/// Requests of one statement that follow each other may be executed as one. If that changes rows, the first of their answers
/// says how many rows all of them changed, and the others say 0. Where a dialect needs two statements for one, the first may be
/// executed for all of them before the second.
#[derive(Debug, Default)]
pub struct Batch {
    sending: Sending,
    begins: Option<Access>,
    commits: bool,
    requests: Vec<BatchRequest>,
    values: Vec<BatchValue>,
    texts: String,
    answers: Vec<ResultSet>,
}

#[derive(Debug)]
struct BatchRequest {
    statement: StatementId,
    values: Range<usize>,
}

/// A [`Param`] that owns nothing; its text is a range of `Batch::texts`.
#[derive(Debug, Clone)]
enum BatchValue {
    Integer(i64),
    Decimal(Decimal),
    Date(Date),
    Text(Range<usize>),
    Null,
}

impl Batch {
    pub fn new(sending: Sending) -> Self {
        Self { sending, ..Self::default() }
    }

    pub fn send_by(&mut self, sending: Sending) {
        self.sending = sending;
    }

    /// Removes all requests, for the next ones. Their room is kept.
    pub fn clear(&mut self) {
        self.begins = None;
        self.commits = false;
        self.requests.clear();
        self.values.clear();
        self.texts.clear();
    }

    /// The transaction begins before the first request.
    pub fn begin(&mut self, access: Access) {
        self.begins = Some(access);
    }

    /// The transaction is committed after the last request, if none has failed.
    pub fn commit(&mut self) {
        self.commits = true;
    }

    /// Adds a request. Its answer has the number that is returned.
    pub fn add(&mut self, statement: StatementId, params: &[Param<'_>]) -> usize {
        let first = self.values.len();
        for param in params {
            let value = match *param {
                Param::Integer(value) => BatchValue::Integer(value),
                Param::Decimal(value) => BatchValue::Decimal(value),
                Param::Date(value) => BatchValue::Date(value),
                Param::Text(text) => {
                    let start = self.texts.len();
                    self.texts.push_str(text);
                    BatchValue::Text(start..self.texts.len())
                }
                Param::Null => BatchValue::Null,
            };
            self.values.push(value);
        }
        self.requests.push(BatchRequest { statement, values: first..self.values.len() });
        self.requests.len() - 1
    }

    /// Removes the request that was added last. The answers to the others stay.
    pub fn remove_last(&mut self) {
        if let Some(BatchRequest { values, .. }) = self.requests.pop() {
            self.values.truncate(values.start);
        }
    }

    /// The answer to a request of the batch that was executed last.
    pub fn answer(&self, number: usize) -> &ResultSet {
        &self.answers[number]
    }

    pub fn sending(&self) -> Sending {
        self.sending
    }

    pub fn begins(&self) -> Option<Access> {
        self.begins
    }

    pub fn commits(&self) -> bool {
        self.commits
    }

    pub fn len(&self) -> usize {
        self.requests.len()
    }

    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    pub fn statement(&self, number: usize) -> StatementId {
        self.requests[number].statement
    }

    pub(crate) fn params(&self, number: usize) -> impl ExactSizeIterator<Item = Param<'_>> {
        self.values[self.requests[number].values.clone()].iter().map(|value| self.param(value))
    }

    /// One parameter of a request.
    pub(crate) fn value(&self, number: usize, parameter: usize) -> Param<'_> {
        self.param(&self.values[self.requests[number].values.clone()][parameter])
    }

    fn param(&self, value: &BatchValue) -> Param<'_> {
        match value {
            BatchValue::Integer(value) => Param::Integer(*value),
            BatchValue::Decimal(value) => Param::Decimal(*value),
            BatchValue::Date(value) => Param::Date(*value),
            BatchValue::Text(range) => Param::Text(&self.texts[range.clone()]),
            BatchValue::Null => Param::Null,
        }
    }

    /// Room for as many answers as there are requests. There may be more from an earlier batch.
    pub(crate) fn answers(&mut self) -> &mut [ResultSet] {
        if self.answers.len() < self.requests.len() {
            self.answers.resize_with(self.requests.len(), ResultSet::default);
        }
        &mut self.answers[..self.requests.len()]
    }

    /// Takes the answers out, to be filled while the requests are read; [`Batch::put_answers`] puts them back.
    pub(crate) fn take_answers(&mut self) -> Vec<ResultSet> {
        self.answers();
        std::mem::take(&mut self.answers)
    }

    pub(crate) fn put_answers(&mut self, answers: Vec<ResultSet>) {
        self.answers = answers;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_request_can_be_removed_again() {
        let mut batch = Batch::default();
        batch.add(StatementId(1), &[Param::Integer(7), Param::Text("seven")]);
        batch.add(StatementId(2), &[Param::Text("gone"), Param::Integer(8)]);
        batch.remove_last();
        assert_eq!(batch.len(), 1);
        assert_eq!(batch.add(StatementId(3), &[Param::Text("nine")]), 1);
        assert_eq!(batch.params(0).collect::<Vec<_>>(), [Param::Integer(7), Param::Text("seven")]);
        assert_eq!(batch.params(1).collect::<Vec<_>>(), [Param::Text("nine")]);
    }
}
