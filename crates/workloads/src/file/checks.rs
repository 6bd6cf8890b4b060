//! Queries that must return no rows.

use super::KIND;
use super::lex::{self, ScriptItem};
use super::mistake::Mistake;
use super::settings::File;
use crate::judgement::{Judgement, judgement};
use engines::admin::Admin;
use engines::limit::ReplyLimit;
use engines::session::{Param, ResultSet, SessionError};
use record::check::Verdict;

/// How many rows a verdict shows; it only counts the rest.
const ROWS_SHOWN: u64 = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCheck {
    name: String,
    rule: String,
    sql: String,
}

/// The queries of a file. The comment above a query states its rule.
pub fn parse(file: &File) -> Result<Vec<FileCheck>, Mistake> {
    let check = |item| match item {
        ScriptItem::Command { line, text } => {
            Err(Mistake::new(line, format!("found {}", lex::word(&text)), "queries that must return no rows"))
        }
        ScriptItem::Statement(statement) if statement.plain().is_empty() => {
            let found = "found a variable in a check";
            Err(Mistake::new(statement.line, found, "a query without variables: no client asks it"))
        }
        ScriptItem::Statement(statement) => {
            let name = format!("{}:{}", file.name, statement.line);
            let sql = statement.plain().to_owned();
            let rule = if statement.comment.is_empty() { format!("No row: {sql}") } else { statement.comment };
            Ok(FileCheck { name, rule, sql })
        }
    };
    lex::items(&file.text)?.into_iter().map(check).collect()
}

impl FileCheck {
    pub fn judge(&self, admin: &mut dyn Admin) -> Result<Judgement, SessionError> {
        let (mut rows, mut shown) = (0_u64, Vec::new());
        let answer = admin.ask(&self.sql, ReplyLimit::KEYS, &mut |set, row| {
            if rows < ROWS_SHOWN {
                shown.push(row_shown(set, row));
            }
            rows += 1;
        });
        answer.map_err(|error| match error {
            SessionError::Refused { code, message } => {
                SessionError::Refused { code, message: format!("check {KIND}/{}: {message}", self.name) }
            }
            other => other,
        })?;
        let verdict = match rows {
            0 => Verdict::Holds { seen: None },
            rows => {
                let more = if rows > ROWS_SHOWN { format!("; and {} more", rows - ROWS_SHOWN) } else { String::new() };
                Verdict::Violated { seen: format!("found {}{more}", shown.join("; ")) }
            }
        };
        Ok(judgement(&*self.name, &*self.rule, verdict))
    }
}

fn row_shown(set: &ResultSet, row: usize) -> String {
    let value = |column| match set.value(row, column) {
        Some(Param::Integer(value)) => value.to_string(),
        Some(Param::Decimal(value)) => String::from_utf8_lossy(value.shown().as_bytes()).into_owned(),
        Some(Param::Date(value)) => String::from_utf8_lossy(&value.shown()).into_owned(),
        Some(Param::Text(value)) => value.to_owned(),
        Some(Param::Null) | None => "NULL".to_owned(),
    };
    (0..set.columns()).map(value).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_named_by_its_line_and_told_by_its_comment() {
        let file = |text: &str| File { name: "checks.sql".to_owned(), weight: 0, text: text.to_owned() };
        let found = parse(&file("-- Nothing is lost.\nSELECT 1\nWHERE false;\n\nSELECT 2;\n")).unwrap();
        let told: Vec<_> = found.iter().map(|check| (check.name.as_str(), check.rule.as_str())).collect();
        assert_eq!(told, [("checks.sql:2", "Nothing is lost."), ("checks.sql:5", "No row: SELECT 2")]);
        assert!(parse(&file("SELECT :a;")).unwrap_err().to_string().contains("a query without variables"));
    }
}
