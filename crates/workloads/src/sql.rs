//! Files of named statements.
//!
//! A statement begins below a line `-- statement: its-name` and ends with the last semicolon before the next such
//! line or the end of the file. So a trigger or a function may contain semicolons. Comments after that semicolon are
//! for readers. Where a dialect needs two statements for one, they follow each other. A second file, for one dialect,
//! replaces statements by name. Every mistake in such files is found when a workload is made, not when a statement is
//! first needed.

use engines::statement::{Dialect, Statement};
use engines::template::TemplateError;
use settings::Problem;
use std::collections::BTreeSet;

/// Files of one purpose, one for each dialect, in the folder of the file that names them.
macro_rules! files {
    (servers $path:literal) => {
        engines::statement::ByDialect {
            sqlite: "",
            postgres: include_str!(concat!($path, ".postgres.sql")),
            mysql: include_str!(concat!($path, ".mysql.sql")),
        }
    };
    ($path:literal) => {
        engines::statement::ByDialect {
            sqlite: include_str!(concat!($path, ".sqlite.sql")),
            postgres: include_str!(concat!($path, ".postgres.sql")),
            mysql: include_str!(concat!($path, ".mysql.sql")),
        }
    };
}
pub(crate) use files;

/// Names of the statements of a session: an enum whose variants are in the order of their ids.
macro_rules! statement_names {
    ($(#[$note:meta])* $visibility:vis enum $enum:ident { $($variants:tt)+ }) => {
        settings::names! {
            $(#[$note])*
            #[repr(u16)]
            $visibility enum $enum { $($variants)+ }
        }

        impl From<$enum> for engines::statement::StatementId {
            fn from(statement: $enum) -> Self {
                Self(statement as u16)
            }
        }
    };
}
pub(crate) use statement_names;

const HEADING: &str = "-- statement:";
const COMMENT: &str = "--";

/// One named statement of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SqlSection {
    pub name: &'static str,
    pub sql: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SqlError {
    #[error("the statement {0} is written twice")]
    Twice(&'static str),
    #[error("the statement {0} is not written")]
    Missing(&'static str),
    #[error("the statement {0} is written but not used")]
    Unused(&'static str),
    #[error("the statement {0} is for one dialect only and replaces nothing")]
    ReplacesNothing(&'static str),
    #[error("the statement {0} does not end with a semicolon")]
    Endless(&'static str),
    /// SQLite numbers named parameters in the order they appear, PostgreSQL by their names. Only this order suits both.
    #[error("the parameters of {name} do not first appear in the order of their numbers: ${found} before ${expected}")]
    ParameterOrder { name: &'static str, found: u32, expected: u32 },
    #[error("the statement {name} is no template: {why}")]
    NoTemplate { name: &'static str, why: TemplateError },
}

/// The mistake is ours, but it shows in the study.
impl From<SqlError> for Vec<Problem> {
    fn from(error: SqlError) -> Self {
        vec![Problem::new("", error.to_string(), "statement files that belong together")]
    }
}

/// Splits a file into its statements, in their order.
pub fn sections(file: &'static str) -> Result<Vec<SqlSection>, SqlError> {
    let mut found: Vec<SqlSection> = Vec::new();
    for part in file.split(HEADING).skip(1) {
        let (name, body) = part.split_once('\n').unwrap_or((part, ""));
        let Some(sql) = without_comments_after(body).strip_suffix(';') else {
            return Err(SqlError::Endless(name.trim()));
        };
        let section = SqlSection { name: name.trim(), sql: sql.trim() };
        if found.iter().any(|other| other.name == section.name) {
            return Err(SqlError::Twice(section.name));
        }
        check_parameters(section)?;
        found.push(section);
    }
    Ok(found)
}

/// A body without the comment lines and empty lines at its end.
fn without_comments_after(body: &str) -> &str {
    let mut kept = body.trim_end();
    while let Some(line) = kept.lines().next_back().filter(|line| line.trim_start().starts_with(COMMENT)) {
        kept = kept[..kept.len() - line.len()].trim_end();
    }
    kept
}

/// The statements called `names`, in that order, from `shared`. One of the same name in `dialect` replaces it.
pub fn statements(
    names: &[&'static str],
    shared: &'static str,
    dialect: &'static str,
) -> Result<Vec<Statement>, SqlError> {
    let shared = sections(shared)?;
    let replaced = sections(dialect)?;
    let wanted: BTreeSet<&str> = names.iter().copied().collect();
    if let Some(stray) = replaced.iter().find(|section| shared.iter().all(|other| other.name != section.name)) {
        return Err(SqlError::ReplacesNothing(stray.name));
    }
    if let Some(stray) = shared.iter().find(|section| !wanted.contains(section.name)) {
        return Err(SqlError::Unused(stray.name));
    }
    names
        .iter()
        .map(|&name| {
            let section = replaced.iter().chain(&shared).find(|section| section.name == name);
            let section = section.ok_or(SqlError::Missing(name))?;
            Ok(Statement { name, sql: section.sql.to_owned() })
        })
        .collect()
}

/// A query with the function that counts the characters of a text. MariaDB's `LENGTH` counts bytes, and a database may have a
/// character set of several.
pub fn of_characters(query: &Statement, dialect: Dialect) -> Statement {
    let length = if dialect == Dialect::Sqlite { "LENGTH" } else { "CHAR_LENGTH" };
    Statement { name: query.name, sql: filled(&query.sql, &[("{length}", length)]) }
}

/// A text with each `{name}` of a placeholder replaced. An unknown one stays, and the database refuses it.
pub fn filled(sql: &str, values: &[(&str, &str)]) -> String {
    let mut text = sql.to_owned();
    for (placeholder, value) in values {
        text = text.replace(placeholder, value);
    }
    text
}

fn check_parameters(section: SqlSection) -> Result<(), SqlError> {
    let mut highest = 0;
    for text in section.sql.split('$').skip(1) {
        let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
        let Ok(number) = text[..digits].parse::<u32>() else { continue };
        if number > highest + 1 {
            return Err(SqlError::ParameterOrder { name: section.name, found: number, expected: highest + 1 });
        }
        highest = highest.max(number);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARED: &str =
        "-- What this is.\n-- statement: one\nSELECT $1;\n\n-- For $2.\n-- statement: two\nSELECT 2;\n";

    #[test]
    fn characters_are_counted_by_the_function_that_counts_them() {
        let query = Statement { name: "a", sql: "SELECT {length}(a) + {length}(b) FROM {table}".to_owned() };
        let of = |dialect| of_characters(&query, dialect).sql;
        assert_eq!(of(Dialect::Sqlite), "SELECT LENGTH(a) + LENGTH(b) FROM {table}");
        assert_eq!(of(Dialect::Mysql), "SELECT CHAR_LENGTH(a) + CHAR_LENGTH(b) FROM {table}");
        assert_eq!(of(Dialect::Postgres), of(Dialect::Mysql));
    }

    /// A letter may take several bytes in the user's database.
    #[test]
    fn no_query_counts_bytes_where_it_means_letters() {
        let mut waiting = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
        let mut found = 0;
        while let Some(path) = waiting.pop() {
            if path.is_dir() {
                waiting.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            } else if path.to_string_lossy().ends_with("checks.sql") {
                let text = std::fs::read_to_string(&path).unwrap().to_lowercase();
                assert!(!text.replace("{length}", "").contains("length("), "{}", path.display());
                found += usize::from(text.contains("{length}"));
            }
        }
        assert!(found >= 2, "{found}");
    }

    #[test]
    fn a_file_is_split_into_its_statements() {
        let found = sections(SHARED).unwrap();
        assert_eq!(found, [SqlSection { name: "one", sql: "SELECT $1" }, SqlSection { name: "two", sql: "SELECT 2" }]);
    }

    #[test]
    fn a_statement_may_be_followed_by_another() {
        let found = sections("-- statement: one\nUPDATE $1;\n-- then:\nSELECT $1;\n-- Not this;\n").unwrap();
        assert_eq!(found, [SqlSection { name: "one", sql: "UPDATE $1;\n-- then:\nSELECT $1" }]);
        assert_eq!(sections("-- statement: a\nUPDATE;\n-- then:\nSELECT\n"), Err(SqlError::Endless("a")));
        assert_eq!(sections("-- statement: a\n-- Nothing;\n"), Err(SqlError::Endless("a")));
        assert_eq!(sections("-- statement: a\nSELECT 1; -- one\n"), Err(SqlError::Endless("a")));
    }

    #[test]
    fn a_body_has_semicolons_of_its_own() {
        let file = "-- statement: f\nCREATE FUNCTION f() AS $$\nBEGIN\n    -- Nothing;\n    RETURN 1;\nEND;\n$$;\n\n\
            -- For\n-- readers.\n-- statement: g\nCREATE TRIGGER g BEGIN\n    DELETE FROM a;\n    DELETE FROM b;\nEND;\n";
        let found: Vec<_> = sections(file).unwrap().into_iter().map(|section| section.sql).collect();
        let function = "CREATE FUNCTION f() AS $$\nBEGIN\n    -- Nothing;\n    RETURN 1;\nEND;\n$$";
        assert_eq!(found, [function, "CREATE TRIGGER g BEGIN\n    DELETE FROM a;\n    DELETE FROM b;\nEND"]);
    }

    #[test]
    fn a_dialect_replaces_by_name() {
        let found = statements(&["two", "one"], SHARED, "-- statement: two\nSELECT 3;").unwrap();
        let texts: Vec<_> = found.iter().map(|statement| (statement.name, statement.sql.as_str())).collect();
        assert_eq!(texts, [("two", "SELECT 3"), ("one", "SELECT $1")]);
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        assert_eq!(statements(&["one"], SHARED, ""), Err(SqlError::Unused("two")));
        assert_eq!(statements(&["one", "two", "three"], SHARED, ""), Err(SqlError::Missing("three")));
        let stray = "-- statement: three\nSELECT 3;";
        assert_eq!(statements(&["one", "two"], SHARED, stray), Err(SqlError::ReplacesNothing("three")));
        assert_eq!(sections("-- statement: a\nX;\n-- statement: a\nY;"), Err(SqlError::Twice("a")));
        assert_eq!(sections("-- statement: a\nSELECT 1\n"), Err(SqlError::Endless("a")));
    }

    #[test]
    fn placeholders_are_filled_wherever_they_stand() {
        let text =
            filled("SELECT {column} FROM {table} WHERE {table}.id = $1", &[("{table}", "t7"), ("{column}", "c")]);
        assert_eq!(text, "SELECT c FROM t7 WHERE t7.id = $1");
    }

    #[test]
    fn parameters_appear_in_the_order_of_their_numbers() {
        assert!(sections("-- statement: a\nSELECT $1, $2, $1, $3;").is_ok());
        let wrong = SqlError::ParameterOrder { name: "a", found: 2, expected: 1 };
        assert_eq!(sections("-- statement: a\nSELECT $2, $1;"), Err(wrong));
    }
}
