//! What each stream does, one after another.

use super::parameters::values;
use super::questions::{QUESTIONS, Questions};
use super::stream_orders;
use crate::decision_support::values::{Choice, Values};
use crate::random::Stream;
use crate::workload::User;

/// Who works in which phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Who {
    /// Asks all questions, between a pair of refresh functions.
    Power,
    /// One of several streams of questions.
    Query,
    /// Inserts and deletes orders, beside the questions.
    Refresh,
}

/// One question or refresh function, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    pub who: Who,
    pub work: Work,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    Question {
        /// Counted from 1.
        number: u8,
        values: Values,
        how: How,
    },
    NewSales,
    OldSales,
}

/// What an answer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Nothing else changes the data meanwhile, so the answer is the same on every engine.
    Alone,
    Beside,
    /// It only keeps the database busy.
    Filling,
}

#[derive(Debug, Clone)]
pub struct Client {
    who: Who,
    /// The query stream, or 0.
    stream: u32,
    done: u32,
    parameters: Stream,
    is_filler: bool,
}

impl Client {
    pub fn new(user: User) -> Self {
        let who = [Who::Power, Who::Query, Who::Refresh];
        let who = *who.get(usize::from(user.actor)).unwrap_or(&Who::Power);
        let stream = if who == Who::Query { user.index + 1 } else { 0 };
        let parameters = Stream::new(user.seed, "parameters of questions", [stream, 0]);
        Self { who, stream, done: 0, parameters, is_filler: user.is_filler }
    }

    /// What comes next; `None` after the last. The refresh stream has a pair of functions for each query stream.
    pub fn next(&mut self, questions: &Questions, streams: u32) -> Option<Input> {
        let place = self.done;
        self.done += 1;
        if self.is_filler {
            return self.filler(questions, place);
        }
        let work = match self.who {
            Who::Power if place == 0 => Work::NewSales,
            Who::Power if place == u32::from(QUESTIONS) + 1 => Work::OldSales,
            Who::Power => self.question(questions, place - 1, How::Alone)?,
            Who::Query => self.question(questions, place, How::Beside)?,
            Who::Refresh if place >= 2 * streams => return None,
            Who::Refresh if place.is_multiple_of(2) => Work::NewSales,
            Who::Refresh => Work::OldSales,
        };
        Some(Input { who: self.who, work })
    }

    /// Questions without an end that nobody counts. New and old sales would change what is compared.
    fn filler(&mut self, questions: &Questions, place: u32) -> Option<Input> {
        let asks = self.who != Who::Refresh;
        let work = asks.then(|| self.question(questions, place % u32::from(QUESTIONS), How::Filling));
        Some(Input { who: self.who, work: work.flatten()? })
    }

    fn question(&mut self, questions: &Questions, place: u32, how: How) -> Option<Work> {
        let order = stream_orders::of_stream(self.stream);
        let number = usize::try_from(place).ok().and_then(|place| order.get(place).copied())?;
        let values = values(number, questions.scale(), &mut Choice::Drawn(&mut self.parameters));
        Some(Work::Question { number, values, how })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scale;
    use super::*;
    use engines::statement::Dialect;
    use std::collections::BTreeSet;

    fn all(seed: u64, who: Who, index: u32) -> Vec<Input> {
        let questions = Questions::read(Scale::of(0.01).unwrap()).unwrap();
        let mut client = Client::new(User { seed, phase: 0, actor: who as u16, index, is_filler: false });
        std::iter::from_fn(|| client.next(&questions, 3)).take(100).collect()
    }

    fn numbers(inputs: &[Input]) -> Vec<u8> {
        let number = |input: &Input| if let Work::Question { number, .. } = input.work { Some(number) } else { None };
        inputs.iter().filter_map(number).collect()
    }

    #[test]
    fn each_has_its_work_and_an_end() {
        let power = all(7, Who::Power, 0);
        assert_eq!((power.len(), &power[0].work, &power[23].work), (24, &Work::NewSales, &Work::OldSales));
        assert_eq!(numbers(&power), stream_orders::of_stream(0));
        assert_eq!(numbers(&all(7, Who::Query, 1)), stream_orders::of_stream(2));
        assert_eq!(all(7, Who::Query, 1).len(), 22);
        let refresh = all(7, Who::Refresh, 0);
        assert_eq!((refresh.len(), &refresh[4].work, &refresh[5].work), (6, &Work::NewSales, &Work::OldSales));
    }

    #[test]
    fn who_fills_asks_without_an_end_and_refreshes_nothing() {
        let questions = Questions::read(Scale::of(0.01).unwrap()).unwrap();
        let filling = |who: Who| {
            let mut client = Client::new(User { seed: 7, phase: 0, actor: who as u16, index: 0, is_filler: true });
            std::iter::from_fn(|| client.next(&questions, 3)).take(100).collect::<Vec<_>>()
        };
        for who in [Who::Power, Who::Query] {
            let is_filling = |input: &Input| matches!(input.work, Work::Question { how: How::Filling, .. });
            assert!(filling(who).len() == 100 && filling(who).iter().all(is_filling));
        }
        assert_eq!(filling(Who::Refresh), []);
    }

    #[test]
    fn each_stream_has_parameters_of_its_own_that_its_seed_repeats() {
        assert_eq!(all(7, Who::Query, 0), all(7, Who::Query, 0));
        let drawn = |seed, index| {
            let mut inputs = all(seed, Who::Query, index);
            inputs.sort_by_key(|input| numbers(std::slice::from_ref(input)));
            format!("{inputs:?}")
        };
        let all_drawn: BTreeSet<_> = [(7, 0), (7, 1), (8, 0)].map(|(seed, index)| drawn(seed, index)).into();
        assert_eq!(all_drawn.len(), 3);
    }

    #[test]
    fn every_question_can_be_written_with_every_draw() {
        let questions = Questions::read(Scale::of(0.01).unwrap()).unwrap();
        for seed in 0..50 {
            for input in all(seed, Who::Query, 0) {
                let Work::Question { number, values, .. } = input.work else { continue };
                for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql] {
                    questions.asked(number, &values, dialect).unwrap();
                }
            }
        }
    }
}
