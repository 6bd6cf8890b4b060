//! What each stream does, one after another.

use super::function::{FUNCTIONS, Function};
use super::questions::{COUNT, Questions, values};
use super::settings::Settings;
use super::stream_orders;
use crate::decision_support::values::{Choice, Values};
use crate::random::Stream;
use crate::workload::User;

/// The phases from the second one of several streams on.
pub const SECOND_THROUGHPUT: u16 = 3;

/// Who works in which phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum Who {
    /// Asks all questions alone.
    Power,
    /// One of several streams of questions.
    Query,
    /// Maintains the data while nobody asks.
    Maintenance,
}

/// One question or maintenance function, and whose it is.
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
        /// Whether it only keeps the database busy.
        is_filler: bool,
    },
    Maintenance(Function),
}

#[derive(Debug, Clone)]
pub struct Client {
    who: Who,
    /// Its number among all streams of a trial; that of the power phase is 0.
    stream: u32,
    done: u32,
    parameters: Stream,
    is_filler: bool,
}

impl Client {
    pub fn new(user: User, settings: &Settings) -> Self {
        let who = [Who::Power, Who::Query, Who::Maintenance];
        let who = *who.get(usize::from(user.actor)).unwrap_or(&Who::Power);
        let before = if user.phase >= SECOND_THROUGHPUT { settings.streams } else { 0 };
        let stream = if who == Who::Query { before + user.index + 1 } else { 0 };
        let parameters = Stream::new(user.seed, "parameters of questions", [stream, 0]);
        Self { who, stream, done: 0, parameters, is_filler: user.is_filler }
    }

    /// What comes next; `None` after the last. Who only keeps the database busy asks without an end.
    pub fn next(&mut self, questions: &Questions, settings: &Settings) -> Option<Input> {
        let place = self.done as usize;
        self.done += 1;
        let work = match self.who {
            Who::Maintenance => {
                let functions = FUNCTIONS.len() * settings.refresh_runs() as usize;
                let is_left = place < functions && !self.is_filler;
                Work::Maintenance(is_left.then(|| FUNCTIONS[place % FUNCTIONS.len()])?)
            }
            Who::Power | Who::Query => {
                let place = if self.is_filler { place % COUNT } else { place };
                let number = *stream_orders::of_stream(self.stream).get(place)?;
                let values = values(number, questions.scale(), &mut Choice::Drawn(&mut self.parameters));
                Work::Question { number, values, is_filler: self.is_filler }
            }
        };
        Some(Input { who: self.who, work })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scale;
    use super::*;

    const FIRST: User = User { seed: 7, phase: 0, actor: 0, index: 0, is_filler: false };

    fn all(user: User) -> Vec<Input> {
        let settings = Settings::plain(Scale::of(0.01).unwrap());
        let questions = Questions::read(settings.scale).unwrap();
        let mut client = Client::new(user, &settings);
        std::iter::from_fn(|| client.next(&questions, &settings)).take(120).collect()
    }

    fn numbers(inputs: &[Input]) -> Vec<u8> {
        let number = |input: &Input| if let Work::Question { number, .. } = input.work { Some(number) } else { None };
        inputs.iter().filter_map(number).collect()
    }

    #[test]
    fn each_has_its_work_and_an_end() {
        let query = User { phase: 1, actor: Who::Query as u16, index: 3, ..FIRST };
        let again = User { phase: SECOND_THROUGHPUT, ..query };
        for (user, stream) in [(FIRST, 0), (query, 4), (again, 8)] {
            assert_eq!(numbers(&all(user)), stream_orders::of_stream(stream));
        }
        let maintenance = all(User { phase: 2, actor: Who::Maintenance as u16, ..FIRST });
        let begins = |input: &&Input| input.work == Work::Maintenance(Function::DeleteStore);
        assert_eq!((maintenance.len(), maintenance.iter().filter(begins).count()), (22, 2));
    }

    #[test]
    fn who_fills_asks_without_an_end_and_maintains_nothing() {
        let filling = |who: Who| all(User { actor: who as u16, is_filler: true, ..FIRST });
        for who in [Who::Power, Who::Query] {
            let is_filler = |input: &Input| matches!(input.work, Work::Question { is_filler: true, .. });
            assert!(filling(who).len() == 120 && filling(who).iter().all(is_filler));
        }
        assert_eq!(filling(Who::Maintenance), []);
    }

    #[test]
    fn each_stream_has_parameters_of_its_own_that_its_seed_repeats() {
        let query = User { actor: Who::Query as u16, ..FIRST };
        assert_eq!(all(query), all(query));
        let other = [User { index: 1, ..query }, User { seed: 8, ..query }, User { phase: SECOND_THROUGHPUT, ..query }];
        let values_of = |user: User, wanted: u8| {
            let found = all(user).into_iter().find_map(|input| match input.work {
                Work::Question { number, values, .. } if number == wanted => Some(values),
                _ => None,
            });
            found.unwrap()
        };
        for user in other {
            assert!((1..=99).any(|number| values_of(user, number) != values_of(query, number)), "{user:?}");
        }
    }
}
