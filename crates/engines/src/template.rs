//! Statements with `{name}` in the place of literals, for [`Session::execute_text`](crate::session::Session::execute_text).
//!
//! A text is split once and filled many times. Filled-in values are never searched again. Nothing is filled in between
//! quotes or within a comment, where a literal would not be one.

pub use crate::literal::LiteralError;

use crate::literal::put;
use crate::session::Param;
use crate::statement::Dialect;

/// A statement without its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// Each text with the name of the value that follows it.
    pieces: Vec<(String, String)>,
    end: String,
}

/// Why a text is not a valid template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("a quoted text, a name or a comment that begins with {0} does not end")]
    Endless(&'static str),
    #[error("{0:?} means different things to different servers; write the statement without it, or make it a value")]
    Ambiguous(char),
    #[error("{{{0} names no value; a name is small letters, digits and _, with }} after it")]
    NoName(String),
}

/// Why a statement cannot be written with these values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    #[error("there is no value for {{{0}}}")]
    Missing(String),
    #[error("the statement has no {{{0}}} outside of quotes and comments")]
    Unused(String),
    #[error("the value of {{{name}}}: {why}")]
    Literal { name: String, why: LiteralError },
}

/// Parts that are copied as they are, from their first to their last characters. A doubled quote begins another quoted text.
const OPAQUE: [(&str, &str); 5] = [("'", "'"), ("\"", "\""), ("`", "`"), ("--", "\n"), ("/*", "*/")];

impl Template {
    pub fn parse(sql: &str) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut rest = sql;
        while let Some(place) = rest.bytes().position(is_special) {
            text.push_str(&rest[..place]);
            rest = &rest[place..];
            if let Some(length) = opaque(rest)? {
                text.push_str(&rest[..length]);
                rest = &rest[length..];
                continue;
            }
            let sign = char::from(rest.as_bytes()[0]);
            rest = &rest[1..];
            match sign {
                // Escapes, parameters and dollar-quoted texts, and the sign that begins a comment only in MySQL.
                '\\' | '$' | '#' => return Err(TemplateError::Ambiguous(sign)),
                '{' => {
                    let name = name(rest).ok_or_else(|| TemplateError::NoName(rest.chars().take(20).collect()))?;
                    pieces.push((std::mem::take(&mut text), name.to_owned()));
                    rest = &rest[name.len() + 1..];
                }
                _ => text.push(sign),
            }
        }
        text.push_str(rest);
        Ok(Self { pieces, end: text })
    }

    /// Whether it needs a value of this name.
    pub fn has(&self, name: &str) -> bool {
        self.pieces.iter().any(|(_, of)| of == name)
    }

    /// The statement with these values. Every value must occur in it. Several values of one name are written with commas between
    /// them, for `IN ({names})`.
    pub fn render(&self, dialect: Dialect, values: &[(&str, Param<'_>)]) -> Result<String, RenderError> {
        let mut sql = String::new();
        for (text, name) in &self.pieces {
            let mut found = values.iter().filter(|(of, _)| of == name);
            let (_, first) = found.next().ok_or_else(|| RenderError::Missing(name.clone()))?;
            let failed = |why| RenderError::Literal { name: name.clone(), why };
            sql.push_str(text);
            put(&mut sql, *first, dialect).map_err(failed)?;
            for (_, value) in found {
                sql.push_str(", ");
                put(&mut sql, *value, dialect).map_err(failed)?;
            }
        }
        sql.push_str(&self.end);
        match values.iter().find(|(of, _)| !self.has(of)) {
            Some((unused, _)) => Err(RenderError::Unused((*unused).to_owned())),
            None => Ok(sql),
        }
    }
}

/// Whether a part that is not plain text may begin with this byte: one of [`OPAQUE`], a value, or a sign that is refused.
fn is_special(byte: u8) -> bool {
    matches!(byte, b'\\' | b'$' | b'#' | b'{' | b'\'' | b'"' | b'`' | b'-' | b'/')
}

/// The length of the quoted text or comment at the beginning of `text`.
fn opaque(text: &str) -> Result<Option<usize>, TemplateError> {
    let Some((begin, end)) = OPAQUE.into_iter().find(|(begin, _)| text.starts_with(begin)) else { return Ok(None) };
    let inside = &text[begin.len()..];
    let length = match inside.find(end) {
        Some(length) => length,
        // The last line of a text may lack a line end.
        None if begin == "--" => return Ok(Some(text.len())),
        None => return Err(TemplateError::Endless(begin)),
    };
    // To some servers a backslash hides the quote after it, and a comment within a comment hides the end of the first.
    match begin {
        "/*" if inside[..length].contains(begin) => Err(TemplateError::Endless(begin)),
        "'" | "\"" | "`" if inside[..length].contains('\\') => Err(TemplateError::Ambiguous('\\')),
        _ => Ok(Some(begin.len() + length + end.len())),
    }
}

fn name(text: &str) -> Option<&str> {
    let name = &text[..text.find('}')?];
    let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    (!name.is_empty() && name.chars().all(fits)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rendered(sql: &str, values: &[(&str, Param<'_>)]) -> Result<String, RenderError> {
        Template::parse(sql).unwrap().render(Dialect::Postgres, values)
    }

    #[test]
    fn values_stand_where_they_are_named() {
        let values = [("day", Param::Text("x")), ("most", Param::Integer(-5))];
        let sql = "SELECT a -{most} FROM t WHERE b = {day} OR c > {most}";
        assert_eq!(rendered(sql, &values).unwrap(), "SELECT a -(-5) FROM t WHERE b = 'x' OR c > (-5)");
        assert_eq!(rendered("SELECT 1", &[]).unwrap(), "SELECT 1");
    }

    #[test]
    fn values_of_one_name_are_a_list() {
        let values = [("state", Param::Text("TN")), ("year", Param::Integer(2000)), ("state", Param::Text("GA"))];
        let sql = "SELECT {year} FROM t WHERE a IN ({state})";
        assert_eq!(rendered(sql, &values).unwrap(), "SELECT 2000 FROM t WHERE a IN ('TN', 'GA')");
    }

    #[test]
    fn what_is_filled_in_is_not_searched_again() {
        let values = [("one", Param::Text("{two}")), ("two", Param::Text("{one}'"))];
        assert_eq!(rendered("{one}{two}", &values).unwrap(), "'{two}''{one}'''");
    }

    #[test]
    fn quotes_and_comments_are_left_alone() {
        let opaque = "SELECT '{a}', 'it''s {a}', \"{a}\", `{a}` -- {a}, it's\n /* {a}'s */ + 1 - 2 -- {a}";
        assert_eq!(rendered(opaque, &[]).unwrap(), opaque);
        assert_eq!(rendered(opaque, &[("a", Param::Null)]), Err(RenderError::Unused("a".to_owned())));
    }

    #[test]
    fn every_name_has_a_value_and_every_value_a_name() {
        assert_eq!(rendered("{a}", &[]), Err(RenderError::Missing("a".to_owned())));
        assert_eq!(rendered("1", &[("a", Param::Null)]), Err(RenderError::Unused("a".to_owned())));
        let error = rendered("{a}", &[("a", Param::Text("\0"))]).unwrap_err();
        assert_eq!(error.to_string(), "the value of {a}: PostgreSQL's texts cannot hold a zero byte");
    }

    #[test]
    fn what_servers_read_differently_is_refused() {
        let refused = |sql| Template::parse(sql).unwrap_err();
        assert_eq!(refused("'a\\' {b} '"), TemplateError::Ambiguous('\\'));
        assert_eq!(refused("\"a\\\" {b} \""), TemplateError::Ambiguous('\\'));
        assert_eq!(refused("a \\ b"), TemplateError::Ambiguous('\\'));
        assert_eq!(refused("$$ {a} $$"), TemplateError::Ambiguous('$'));
        assert_eq!(refused("a # {a}"), TemplateError::Ambiguous('#'));
        assert_eq!(refused("/* /* */ {a} */"), TemplateError::Endless("/*"));
        assert_eq!(refused("'a"), TemplateError::Endless("'"));
        for wrong in ["{", "{}", "{a", "{A}", "{a b}", "{é}"] {
            assert!(matches!(refused(wrong), TemplateError::NoName(_)), "{wrong}");
        }
        assert_eq!(
            refused("{a b}").to_string(),
            "{a b} names no value; a name is small letters, digits and _, with } after it"
        );
    }

    proptest! {
        #[test]
        fn arbitrary_texts_never_panic(sql in "([{}'\"`\\\\$#é\n]|--|/\\*|\\*/|[a-z]){0,40}") {
            if let Ok(template) = Template::parse(&sql) {
                let names: Vec<_> = template.pieces.iter().map(|(_, name)| (name.as_str(), Param::Null)).collect();
                let sql = sql.replace(['{', '}'], "");
                let filled = template.render(Dialect::Mysql, &names).unwrap();
                prop_assert!(filled.len() + 2 * names.len() >= sql.len());
            }
        }
    }
}
