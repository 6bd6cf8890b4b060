//! The questions: their texts, and what their answers look like.

use super::parameters::values;
use super::scale::Scale;
use crate::decision_support::asked::Asked;
use crate::decision_support::shapes::{ANY, Column, Shape, shape};
use crate::decision_support::texts::{Texts, Words};
use crate::decision_support::values::{Choice, Values};
use crate::sql::SqlError;
use engines::session::SessionError;
use engines::statement::{ByDialect, Dialect};

pub const QUESTIONS: u16 = 22;
pub const COUNT: usize = QUESTIONS as usize;

/// The names of the questions, which are also those of their kinds and statements.
pub const NAMES: [&str; COUNT] = [
    "h01", "h02", "h03", "h04", "h05", "h06", "h07", "h08", "h09", "h10", "h11", "h12", "h13", "h14", "h15", "h16",
    "h17", "h18", "h19", "h20", "h21", "h22",
];

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
const ON_SERVERS: Words = &[
    ("{one}", "1"),
    ("{e2}", ""),
    ("{e4}", ""),
    ("{e6}", ""),
    ("{hundredth}", ""),
    ("{year_of}", "EXTRACT(YEAR FROM "),
    ("{as_year}", ")"),
];
const ON_SQLITE: Words = &[
    ("{one}", "100"),
    ("{e2}", " || 'e-2'"),
    ("{e4}", " || 'e-4'"),
    ("{e6}", " || 'e-6'"),
    ("{hundredth}", " / 100.0"),
    ("{year_of}", "CAST(SUBSTR("),
    ("{as_year}", ", 1, 4) AS INTEGER)"),
];

/// The texts of all questions.
#[derive(Debug)]
pub struct Questions {
    texts: Texts,
    scale: Scale,
}

impl Questions {
    pub fn read(scale: Scale) -> Result<Self, SqlError> {
        let different = ByDialect { sqlite: ("", ON_SQLITE), postgres: ("", ON_SERVERS), mysql: ("", ON_SERVERS) };
        Ok(Self { texts: Texts::read(NAMES.to_vec(), include_str!("sql/questions.sql"), different)?, scale })
    }

    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// A question, counted from 1, with these values.
    pub fn asked(&self, question: u8, values: &Values, dialect: Dialect) -> Result<Asked, SessionError> {
        let place = usize::from(question) - 1;
        let text = self.texts.text(place, values, dialect)?;
        Ok(Asked { name: NAMES[place], text, shape: &SHAPES[place], dialect })
    }

    /// The values for which the answers are known.
    pub fn validation(&self, question: u8) -> Values {
        values(question, self.scale, &mut Choice::Validation)
    }
}
