//! One request that reads the rows of several, because its statement takes a list of values.

use super::marks::{LIST_LENGTH, MarkedPart, ValueList};
use crate::batch::Batch;
use crate::session::{Param, ResultSet, SessionError};
use std::ops::Range;

/// With fewer requests than this, a list costs as much as they do.
const FEWEST: usize = 3;

/// The list form of one part of a statement.
#[derive(Debug)]
pub struct ListForm {
    /// The part that it replaces, and itself, by their numbers among all prepared statements.
    pub of: usize,
    pub prepared: usize,
    /// For each mark, the parameter of a request.
    parameters: Vec<usize>,
    list: ValueList,
}

/// Requests whose rows are in one answer.
#[derive(Debug)]
pub struct ListedRequests {
    pub requests: Range<usize>,
    /// The number of the answer.
    pub answer: usize,
    /// The parameters that a row begins with.
    keys: Vec<usize>,
}

impl ListForm {
    /// Returns what is prepared for it: it gets its values in the order of its marks.
    pub fn new(of: usize, prepared: usize, part: &MarkedPart) -> Option<(Self, MarkedPart)> {
        let list = part.list.clone()?;
        let values = (0..part.values.len()).collect();
        let asked = MarkedPart { values, ..part.clone() };
        Some((Self { of, prepared, parameters: part.values.clone(), list }, asked))
    }

    /// Splits requests into as many as a list has room for. None, if there are too few or if they differ in a value that is not in
    /// the list.
    pub fn split(&self, batch: &Batch, requests: Range<usize>) -> Option<impl Iterator<Item = Range<usize>> + use<>> {
        let outside = |mark: &usize| !self.list.marks.contains(mark);
        let mut shared = (0..self.parameters.len()).filter(outside).map(|mark| self.parameters[mark]);
        let first = requests.start;
        let agree = |value| requests.clone().all(|number| batch.value(number, value) == batch.value(first, value));
        if requests.len() < FEWEST || !shared.all(agree) {
            return None;
        }
        let end = requests.end;
        Some(requests.step_by(LIST_LENGTH).map(move |start| start..end.min(start + LIST_LENGTH)))
    }

    /// The values of all marks. If there are fewer requests than the list has room for, the last one fills it.
    pub fn values<'a>(&self, batch: &'a Batch, requests: &Range<usize>) -> Vec<Param<'a>> {
        let of_mark = |(mark, parameter): (usize, &usize)| {
            let place = mark.saturating_sub(self.list.marks.start) / self.list.each;
            batch.value((requests.start + place).min(requests.end - 1), *parameter)
        };
        self.parameters.iter().enumerate().map(of_mark).collect()
    }

    pub fn listed(&self, requests: Range<usize>, answer: usize) -> ListedRequests {
        let first = self.list.marks.start;
        ListedRequests { requests, answer, keys: self.parameters[first..first + self.list.each].to_vec() }
    }
}

impl ListedRequests {
    /// Gives each request its rows. `answers` begin with those of the batch.
    pub fn hand_out(
        &self,
        batch: &Batch,
        statement: &'static str,
        answers: &mut [ResultSet],
    ) -> Result<(), SessionError> {
        let all = std::mem::take(&mut answers[self.answer]);
        for row in 0..all.rows() {
            let is_of = |number: &usize| {
                let mut keys = self.keys.iter().enumerate();
                keys.all(|(column, key)| all.value(row, column) == Some(batch.value(*number, *key)))
            };
            let mut found = false;
            for number in self.requests.clone().filter(is_of) {
                answers[number].push_row(&all, row, self.keys.len());
                found = true;
            }
            if !found {
                let what = "a row belongs to no value of the list".to_owned();
                return Err(SessionError::Unexpected { statement, what });
            }
        }
        answers[self.answer] = all;
        Ok(())
    }
}
