//! The statements of the operations and of the checks, filled with the names of the tables.

use super::inputs::Operation;
use super::settings::{RedoStress, Settings};
use super::tables::{Purpose, name};
use crate::sql::{self, SqlError};
use engines::statement::{ByDialect, Statement, StatementId};

const OPERATIONS: &str = include_str!("sql/operations.sql");
const CHECKS: &str = include_str!("sql/checks.sql");

const NAMES: &[&str] = &["read", "update-lite", "update-heavy", "scan"];

impl Operation {
    /// Its statement in a schema; schemas are counted from 0.
    pub fn id(self, schema: u32) -> StatementId {
        const PER_SCHEMA: u16 = Operation::Scan as u16 + 1;
        // There are at most some hundred schemas.
        StatementId(u16::try_from(schema).unwrap_or(u16::MAX) * PER_SCHEMA + self as u16)
    }
}

/// The statements to prepare for the operations: schema after schema, in the order of [`Operation`].
pub fn operations(settings: &Settings) -> Result<Vec<Statement>, SqlError> {
    let found = sql::statements(NAMES, OPERATIONS, "")?;
    let update = match settings.redo_stress {
        RedoStress::Lite => 1,
        RedoStress::Heavy => 2,
    };
    let chosen = [(Operation::Read, 0_usize), (Operation::Update, update), (Operation::Scan, 3)];
    let of_schema = |schema| {
        chosen.map(|(operation, index)| {
            let (ranges, scans) = (name(schema, Purpose::Ranges), name(schema, Purpose::Scans));
            let text = sql::filled(&found[index].sql, &[("{table}", &ranges), ("{scan_table}", &scans)]);
            Statement { name: operation.name(), sql: text }
        })
    };
    Ok((1..=settings.schemas).flat_map(of_schema).collect())
}

/// Queries about one table; `{table}` stands for it.
#[derive(Debug)]
pub struct Checks {
    pub keys: Statement,
    pub text: Statement,
    pub changes: Statement,
    pub places: ByDialect<Places>,
}

/// Queries about where the rows of a table lie.
#[derive(Debug)]
pub struct Places {
    pub pages: Statement,
    pub neighbours: Statement,
}

impl Checks {
    pub fn read() -> Result<Self, SqlError> {
        let [keys, text, changes] = all(["keys", "text", "changes"], CHECKS)?;
        let places = sql::files!("sql/places").try_map(|file| {
            let [pages, neighbours] = all(["pages", "neighbours"], file)?;
            Ok::<_, SqlError>(Places { pages, neighbours })
        })?;
        Ok(Self { keys, text, changes, places })
    }
}

fn all<const COUNT: usize>(names: [&'static str; COUNT], file: &'static str) -> Result<[Statement; COUNT], SqlError> {
    let found = sql::statements(&names, file, "")?;
    // There are as many as names, or the error above has said which is missing.
    found.try_into().map_err(|_| SqlError::Missing(names[0]))
}

/// A query for one table, whose name replaces `{table}`.
pub fn about(statement: &Statement, table: &str) -> String {
    sql::filled(&statement.sql, &[("{table}", table)])
}

/// A script for one table, repeated for each of these.
pub fn for_each<'a>(script: &str, tables: impl Iterator<Item = &'a str>) -> String {
    tables.map(|table| sql::filled(script, &[("{table}", table)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn settings(redo_stress: &str) -> Settings {
        let table = json!({ "schemas": 2, "redo_stress": redo_stress });
        ::settings::read(table.as_object().unwrap(), super::super::settings::KEYS).unwrap()
    }

    #[test]
    fn every_schema_has_its_statements() {
        let statements = operations(&settings("lite")).unwrap();
        let texts: Vec<&str> = statements.iter().map(|statement| statement.sql.as_str()).collect();
        assert_eq!(texts.len(), 6);
        assert_eq!(
            texts[Operation::Read.id(1).0 as usize],
            "SELECT COUNT(c2) FROM slob2 WHERE custid BETWEEN $1 AND $2"
        );
        assert_eq!(texts[Operation::Scan.id(0).0 as usize], "SELECT COUNT(c2) FROM slob1_scan");
        assert!(texts[Operation::Update.id(0).0 as usize].starts_with("UPDATE slob1 SET changes"));
        assert!(texts.iter().all(|text| !text.contains('{')), "{texts:?}");
    }

    #[test]
    fn redo_stress_chooses_the_columns() {
        let columns = |stress: &str| {
            let update = operations(&settings(stress)).unwrap().swap_remove(usize::from(Operation::Update.id(0).0));
            (2..=20).filter(|column| update.sql.contains(&format!(" c{column} = $"))).count()
        };
        assert_eq!((columns("lite"), columns("heavy")), (2, 19));
    }

    #[test]
    fn checks_are_written_for_every_dialect() {
        let checks = Checks::read().unwrap();
        assert!(about(&checks.places.sqlite.pages, "slob1").contains("name = 'slob1'"));
        assert!(about(&checks.places.postgres.neighbours, "slob3").contains("FROM slob3)"));
    }
}
