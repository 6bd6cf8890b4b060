//! Texts of statements with values in them, one for each dialect.

use super::values::ParameterValues;
use crate::sql::{self, SqlError, filled};
use engines::session::{Param, SessionError};
use engines::statement::{ByDialect, Dialect};
use engines::template::Template;

/// Words in braces that are no values, and what a dialect writes for each.
pub type DialectWords = &'static [(&'static str, &'static str)];

/// The statements with certain names.
#[derive(Debug)]
pub struct QuestionTexts {
    names: Vec<&'static str>,
    templates: ByDialect<Vec<Template>>,
}

impl QuestionTexts {
    /// From a text that all dialects share, and one for each that replaces statements of it.
    pub fn read(
        names: Vec<&'static str>,
        shared: &'static str,
        different: ByDialect<(&'static str, DialectWords)>,
    ) -> Result<Self, SqlError> {
        let templates = different.try_map(|(own, words)| {
            let parsed = sql::statements(&names, shared, own)?.into_iter().map(|statement| {
                Template::parse(&filled(&statement.sql, words))
                    .map_err(|why| SqlError::NoTemplate { name: statement.name, why })
            });
            parsed.collect()
        })?;
        Ok(Self { names, templates })
    }

    /// The statement at a place among the names, with these values, all of which it must have.
    pub fn text(&self, place: usize, values: &ParameterValues, dialect: Dialect) -> Result<String, SessionError> {
        let params: Vec<(&str, Param<'_>)> = values.iter().map(|(name, value)| (*name, value.as_param())).collect();
        let rendered = self.templates.of(dialect)[place].render(dialect, &params);
        rendered.map_err(|error| SessionError::Unexpected { statement: self.names[place], what: error.to_string() })
    }

    /// Whether the statement at a place needs a value of this name.
    pub fn has(&self, place: usize, name: &str, dialect: Dialect) -> bool {
        self.templates.of(dialect)[place].has(name)
    }
}
