//! The questions: their texts, and what their answers look like.

use super::parameters::{Choice, Values, values};
use super::scale::Scale;
use crate::sql::{self, SqlError, filled};
use engines::session::{Param, SessionError};
use engines::statement::{ByDialect, Dialect};
use engines::template::Template;
use std::ops::RangeInclusive;

pub const QUESTIONS: u16 = 22;
pub const COUNT: usize = QUESTIONS as usize;

/// The names of the questions, which are also those of their kinds and statements.
pub const NAMES: [&str; COUNT] = [
    "h01", "h02", "h03", "h04", "h05", "h06", "h07", "h08", "h09", "h10", "h11", "h12", "h13", "h14", "h15", "h16",
    "h17", "h18", "h19", "h20", "h21", "h22",
];

/// What a column of an answer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    Text,
    Date,
    /// A number that every engine gives exactly.
    Exact,
    /// An average or a ratio, which engines give with more or fewer digits.
    Rounded,
}

/// The columns of a question's answer, and how many rows it may have.
#[derive(Debug)]
pub struct Shape {
    pub columns: &'static [Column],
    pub rows: RangeInclusive<usize>,
}

const fn shape(columns: &'static [Column], least: usize, most: usize) -> Shape {
    Shape { columns, rows: least..=most }
}

const ANY: usize = usize::MAX;
const T: Column = Column::Text;
const D: Column = Column::Date;
const E: Column = Column::Exact;
const R: Column = Column::Rounded;

pub static SHAPES: [Shape; COUNT] = [
    shape(&[T, T, E, E, E, E, R, R, R, E], 1, 4),
    shape(&[E, T, T, E, T, T, T, T], 0, 100),
    shape(&[E, E, D, E], 0, 10),
    shape(&[T, E], 0, 5),
    shape(&[T, E], 0, 5),
    shape(&[E], 1, 1),
    shape(&[T, T, E, E], 0, 4),
    shape(&[E, R], 0, 2),
    shape(&[T, E, E], 0, 175),
    shape(&[E, T, E, E, T, T, T, T], 0, 20),
    shape(&[E, E], 0, ANY),
    shape(&[T, E, E], 0, 2),
    shape(&[E, E], 1, ANY),
    shape(&[R], 1, 1),
    shape(&[E, T, T, T, E], 1, ANY),
    shape(&[T, T, E, E], 1, ANY),
    shape(&[R], 1, 1),
    shape(&[T, E, E, D, E, E], 0, 100),
    shape(&[E], 1, 1),
    shape(&[T, T], 0, ANY),
    shape(&[T, E], 0, 100),
    shape(&[T, E, E], 0, 7),
];

/// What dialects write differently in the texts.
const DIFFERENT: [&str; 7] = ["{one}", "{e2}", "{e4}", "{e6}", "{hundredth}", "{year_of}", "{as_year}"];
const IN_DIALECTS: ByDialect<[&str; DIFFERENT.len()]> = ByDialect {
    sqlite: ["100", " || 'e-2'", " || 'e-4'", " || 'e-6'", " / 100.0", "CAST(SUBSTR(", ", 1, 4) AS INTEGER)"],
    postgres: ["1", "", "", "", "", "EXTRACT(YEAR FROM ", ")"],
    mysql: ["1", "", "", "", "", "EXTRACT(YEAR FROM ", ")"],
};

/// The texts of all questions.
#[derive(Debug)]
pub struct Questions {
    templates: ByDialect<Vec<Template>>,
    scale: Scale,
}

impl Questions {
    pub fn read(scale: Scale) -> Result<Self, SqlError> {
        let templates = IN_DIALECTS.try_map(|words| {
            let words: Vec<_> = DIFFERENT.into_iter().zip(words).collect();
            let statements = sql::statements(&NAMES, include_str!("sql/questions.sql"), "")?;
            let parsed = statements.iter().map(|statement| {
                Template::parse(&filled(&statement.sql, &words))
                    .map_err(|why| SqlError::NoTemplate { name: statement.name, why })
            });
            parsed.collect()
        })?;
        Ok(Self { templates, scale })
    }

    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// The text of a question, counted from 1, with these values.
    pub fn text(&self, question: u8, values: &Values, dialect: Dialect) -> Result<String, SessionError> {
        let place = usize::from(question) - 1;
        let params: Vec<(&str, Param<'_>)> = values.iter().map(|(name, value)| (*name, value.as_param())).collect();
        let rendered = self.templates.of(dialect)[place].render(dialect, &params);
        rendered.map_err(|error| SessionError::Unexpected { statement: NAMES[place], what: error.to_string() })
    }

    /// The values for which the answers are known.
    pub fn validation(&self, question: u8) -> Values {
        values(question, self.scale, &mut Choice::Validation)
    }
}
