//! The 99 questions: their statements, and their parameters.
//!
//! Four questions have two statements. Both have the values of the question that they name.

mod draws;
mod first_half;
mod second_half;

use super::scale::Scale;
use crate::decision_support::asked::Asked;
use crate::decision_support::golden::Golden;
use crate::decision_support::shapes::Shape;
use crate::decision_support::texts::{Texts, Words};
use crate::decision_support::values::{Choice, Values};
use crate::sql::SqlError;
use engines::session::SessionError;
use engines::statement::{ByDialect, Dialect};

pub const QUESTIONS: u16 = 99;
pub const COUNT: usize = QUESTIONS as usize;
/// Of all questions together.
pub const STATEMENTS: usize = first_half::STATEMENTS.len() + second_half::STATEMENTS.len();

/// The names of the questions, which are also those of their kinds. The names of their statements begin with them.
pub const NAMES: [&str; COUNT] = [
    "q01", "q02", "q03", "q04", "q05", "q06", "q07", "q08", "q09", "q10", "q11", "q12", "q13", "q14", "q15", "q16",
    "q17", "q18", "q19", "q20", "q21", "q22", "q23", "q24", "q25", "q26", "q27", "q28", "q29", "q30", "q31", "q32",
    "q33", "q34", "q35", "q36", "q37", "q38", "q39", "q40", "q41", "q42", "q43", "q44", "q45", "q46", "q47", "q48",
    "q49", "q50", "q51", "q52", "q53", "q54", "q55", "q56", "q57", "q58", "q59", "q60", "q61", "q62", "q63", "q64",
    "q65", "q66", "q67", "q68", "q69", "q70", "q71", "q72", "q73", "q74", "q75", "q76", "q77", "q78", "q79", "q80",
    "q81", "q82", "q83", "q84", "q85", "q86", "q87", "q88", "q89", "q90", "q91", "q92", "q93", "q94", "q95", "q96",
    "q97", "q98", "q99",
];

/// A statement's name and what its answer looks like.
type Shaped = (&'static str, Shape);

/// What dialects write differently. SQLite stores money in whole hundredths, so it needs 1.00 and what follows a sum of products of
/// two amounts. Servers group by several columns and by the first of them, down to none, each in its own way. MariaDB joins in the
/// order of the text where its own choice may take a hundred times as long.
const ON_POSTGRES: Words =
    &[("{one}", "1"), ("{e4}", ""), ("{rollup_of}", "ROLLUP ("), ("{in_levels}", ")"), ("{in_order}", "")];
const ON_MYSQL: Words = &[
    ("{one}", "1"),
    ("{e4}", ""),
    ("{rollup_of}", ""),
    ("{in_levels}", " WITH ROLLUP"),
    ("{in_order}", "STRAIGHT_JOIN "),
];
const ON_SQLITE: Words = &[("{one}", "100"), ("{e4}", " || 'e-4'"), ("{in_order}", "")];

/// The statements of half of the questions.
#[derive(Debug)]
struct Half {
    shaped: &'static [Shaped],
    texts: Texts,
}

impl Half {
    fn read(shaped: &'static [Shaped], text: &'static str, own: ByDialect<&'static str>) -> Result<Self, SqlError> {
        let different = ByDialect {
            sqlite: (own.sqlite, ON_SQLITE),
            postgres: (own.postgres, ON_POSTGRES),
            mysql: (own.mysql, ON_MYSQL),
        };
        let names = shaped.iter().map(|(name, _)| *name).collect();
        Ok(Self { shaped, texts: Texts::read(names, text, different)? })
    }
}

/// All statements.
#[derive(Debug)]
pub struct Questions {
    halves: [Half; 2],
    scale: Scale,
}

impl Questions {
    pub fn read(scale: Scale) -> Result<Self, SqlError> {
        let first = Half::read(first_half::STATEMENTS, first_half::SHARED, first_half::DIFFERENT)?;
        let second = Half::read(second_half::STATEMENTS, second_half::SHARED, second_half::DIFFERENT)?;
        Ok(Self { halves: [first, second], scale })
    }

    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// The statements of a question, counted from 1, with these values.
    pub fn asked(&self, question: u8, values: &Values, dialect: Dialect) -> Result<Vec<Asked>, SessionError> {
        let question = NAMES[usize::from(question) - 1];
        let all = self.halves.iter().flat_map(|half| half.shaped.iter().enumerate().map(move |shaped| (half, shaped)));
        all.filter(|(_, (_, (name, _)))| name.starts_with(question))
            .map(|(half, (place, (name, shape)))| {
                let own = values.iter().filter(|(value, _)| half.texts.has(place, value, dialect)).cloned().collect();
                Ok(Asked { name, text: half.texts.text(place, &own, dialect)?, shape, dialect })
            })
            .collect()
    }

    /// The values for which the answers are known.
    pub fn validation(&self, question: u8) -> Values {
        values(question, self.scale, &mut Choice::Validation)
    }
}

/// The parameters of a question, which is counted from 1.
pub fn values(question: u8, scale: Scale, choice: &mut Choice<'_>) -> Values {
    let values = if question <= first_half::LAST { first_half::values } else { second_half::values };
    values(question, scale, choice)
}

/// The known answers to all questions at a scale, if there are any.
pub fn golden(scale: Scale) -> Option<impl Iterator<Item = Golden>> {
    Some(first_half::golden(scale)?.iter().chain(second_half::golden(scale)?).copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn every_question_can_be_written_with_every_draw() {
        let scale = Scale::of(0.01).unwrap();
        let questions = Questions::read(scale).unwrap();
        let mut stream = Stream::new(7, "test", [0, 0]);
        for question in (1..=99).flat_map(|question| [question; 20]) {
            let values = values(question, scale, &mut Choice::Drawn(&mut stream));
            for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql] {
                assert!(!questions.asked(question, &values, dialect).unwrap().is_empty(), "{question}");
            }
        }
    }

    #[test]
    fn every_value_is_used() {
        let questions = Questions::read(Scale::of(1.0).unwrap()).unwrap();
        for question in 1..=99_u8 {
            let (half, name) =
                (&questions.halves[usize::from(question > first_half::LAST)], NAMES[usize::from(question) - 1]);
            for (value, _) in questions.validation(question) {
                let mut places =
                    half.shaped.iter().enumerate().filter(|(_, (statement, _))| statement.starts_with(name));
                assert!(places.any(|(place, _)| half.texts.has(place, value, Dialect::Postgres)), "{name} {value}");
            }
        }
    }
}
