//! The questions of a workload: their statements, their parameters, their orders, and the known answers.

use super::asking;
use super::golden::{Golden, SCALES, difference};
use super::scale::DataScale;
use super::shapes::{AskedStatement, Shaped};
use super::texts::{DialectWords, QuestionTexts};
use super::values::{ParameterChoice, ParameterValues};
use crate::condition::DataCheck;
use crate::judgement::{Judgement, judgement, none_of};
use crate::random::RandomStream;
use crate::sql::SqlError;
use engines::session::SessionError;
use engines::statement::{ByDialect, Dialect};

/// Makes lists from the names of the questions: of the names, which are also those of their kinds, and of the counters: rows of all
/// answers, then a checksum for each question.
macro_rules! names_of_questions {
    ($($name:literal)+) => {
        pub const NAMES: &[&str] = &[$($name),+];
        pub const COUNTERS: &[&str] = &["answer_rows", $(concat!("answer_", $name)),+];
    };
}
pub(crate) use names_of_questions;

/// The constant part of the questions of a workload.
#[derive(Debug)]
pub struct QuestionList {
    pub names: &'static [&'static str],
    /// The names of a question's statements begin with the question's name.
    pub statements: &'static [Shaped],
    /// The texts of the statements, and what dialects write differently.
    pub shared: &'static str,
    pub different: ByDialect<(&'static str, DialectWords)>,
    /// The parameters of a question, which is counted from 1.
    pub values: fn(u8, DataScale, &mut ParameterChoice<'_>) -> ParameterValues,
    /// In which the first streams ask. Stream 0 is that of the power phase.
    pub orders: &'static [&'static [u8]],
    /// To each question, at the scales where they are known.
    pub answers: &'static [[Golden; SCALES.len()]],
}

/// No workload has more.
const QUESTIONS_MAX: usize = 99;

/// Later streams have orders of our own, which are the same in every run.
const SEED: u64 = 0;

/// The questions at a scale.
#[derive(Debug)]
pub struct Questions {
    list: &'static QuestionList,
    texts: QuestionTexts,
    scale: DataScale,
}

impl Questions {
    pub fn read(list: &'static QuestionList, scale: DataScale) -> Result<Self, SqlError> {
        let names = list.statements.iter().map(|(name, _)| *name).collect();
        Ok(Self { list, texts: QuestionTexts::read(names, list.shared, list.different)?, scale })
    }

    pub fn count(&self) -> usize {
        self.list.names.len()
    }

    /// The question at a place of a stream's order, which counts from 0. Questions count from 1.
    pub fn at(&self, stream: u32, place: usize) -> Option<u8> {
        let known = usize::try_from(stream).ok().and_then(|stream| self.list.orders.get(stream));
        if let Some(known) = known {
            return known.get(place).copied();
        }
        let mut numbers = [0; QUESTIONS_MAX];
        let order = &mut numbers[..self.count()];
        for (number, place) in (1..).zip(&mut *order) {
            *place = number;
        }
        RandomStream::new(SEED, "order of questions", [stream, 0]).shuffle(order);
        order.get(place).copied()
    }

    pub fn draw(&self, number: u8, parameters: &mut RandomStream) -> ParameterValues {
        (self.list.values)(number, self.scale, &mut ParameterChoice::Drawn(parameters))
    }

    /// The statements of a question with these values.
    pub fn asked(
        &self,
        number: u8,
        values: &ParameterValues,
        dialect: Dialect,
    ) -> Result<Vec<AskedStatement>, SessionError> {
        let question = self.list.names[usize::from(number) - 1];
        let all = self.list.statements.iter().enumerate().filter(|(_, (name, _))| name.starts_with(question));
        all.map(|(place, (name, shape))| {
            let own = values.iter().filter(|(value, _)| self.texts.has(place, value, dialect)).cloned().collect();
            Ok(AskedStatement { name, text: self.texts.text(place, &own, dialect)?, shape, dialect })
        })
        .collect()
    }

    /// The statements of a question with the values for which its answer is known.
    pub fn validation(&self, number: u8, dialect: Dialect) -> Result<Vec<AskedStatement>, SessionError> {
        self.asked(number, &(self.list.values)(number, self.scale, &mut ParameterChoice::Validation), dialect)
    }

    /// Asks all questions, if their answers are known: those of loaded data are, at some scales.
    pub fn judge_answers(&self, check: &mut DataCheck<'_>) -> Result<Option<Judgement>, SessionError> {
        let Some(scale) = SCALES.iter().position(|known| *known == self.scale.hundredths()) else { return Ok(None) };
        let mut wrong = Vec::new();
        for (golden, number) in self.list.answers.iter().zip(1..) {
            let statements = self.validation(number, check.dialect)?;
            let names: Vec<_> = statements.iter().map(|statement| statement.name).collect();
            let found = asking::ask_admin(check.admin, &statements)?;
            wrong.extend(difference(&found, golden[scale]).map(|why| format!("{} has {why}", names.join(" and "))));
        }
        let rule = "The answers to all questions are those that are known for the loaded data.";
        Ok(Some(judgement("answers", rule, none_of(&wrong))))
    }
}

#[cfg(test)]
impl Questions {
    /// Fails unless streams ask every question once, each in an order of its own.
    pub(crate) fn assert_orders(&self, streams: u32) {
        use std::collections::BTreeSet;
        let orders: BTreeSet<Vec<u8>> = (0..streams).map(|stream| self.order(stream)).collect();
        assert_eq!(orders.len(), streams as usize);
        let all: BTreeSet<u8> = (1..).take(self.count()).collect();
        for order in orders {
            assert!(order.len() == all.len() && order.iter().copied().collect::<BTreeSet<u8>>() == all, "{order:?}");
        }
    }

    pub fn order(&self, stream: u32) -> Vec<u8> {
        (0..).map_while(|place| self.at(stream, place)).collect()
    }

    /// Fails unless every value of a question is in one of its statements.
    pub(crate) fn assert_all_values_are_used(&self) {
        for (number, question) in (1..).zip(self.list.names) {
            for (value, _) in (self.list.values)(number, self.scale, &mut ParameterChoice::Validation) {
                let mut all =
                    self.list.statements.iter().enumerate().filter(|(_, (name, _))| name.starts_with(question));
                assert!(all.any(|(place, _)| self.texts.has(place, value, Dialect::Postgres)), "{question} {value}");
            }
        }
    }

    pub(crate) fn assert_every_draw_can_be_written(&self, draws: u32) {
        let mut stream = RandomStream::new(7, "test", [0, 0]);
        for number in (1..).take(self.count()) {
            for _ in 0..draws {
                let values = self.draw(number, &mut stream);
                for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql] {
                    assert!(!self.asked(number, &values, dialect).unwrap().is_empty(), "{number}");
                }
            }
        }
    }
}
