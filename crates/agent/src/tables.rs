//! Finds and drops the tables of a workload in a database that already exists.

use crate::loading::LoadError;
use engines::admin::Admin;
use engines::limit::Limit;
use engines::session::SessionError;
use engines::statement::Dialect;
use serde::{Deserialize, Serialize};
use workloads::dataset::Dataset;

/// A table whose size is not what the workload's settings say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{table} has {found} rows where the settings say {expected}")]
pub struct OtherSize {
    pub table: String,
    pub found: u64,
    pub expected: u64,
}

/// Which of the workload's tables a database has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tables {
    pub present: Vec<String>,
    pub missing: Vec<String>,
    /// Only checked if that is asked for and no table is missing.
    pub of_other_size: Vec<OtherSize>,
    /// Procedures that driving would call. Checked with the sizes.
    pub missing_routines: Vec<String>,
}

/// `to_drive` also looks for what only driving needs.
pub(crate) fn find(
    dataset: &dyn Dataset,
    admin: &mut dyn Admin,
    dialect: Dialect,
    to_drive: bool,
) -> Result<Tables, LoadError> {
    seek(dataset, admin, dialect, to_drive).map_err(|source| LoadError::Script { doing: "looking for tables", source })
}

fn seek(
    dataset: &dyn Dataset,
    admin: &mut dyn Admin,
    dialect: Dialect,
    to_drive: bool,
) -> Result<Tables, SessionError> {
    let mut tables = Tables::default();
    for table in dataset.tables() {
        let list = if admin.has_table(&table.name)? { &mut tables.present } else { &mut tables.missing };
        list.push(table.name.to_string());
    }
    if to_drive && tables.missing.is_empty() {
        tables.of_other_size = of_other_size(dataset, admin)?;
        tables.missing_routines = missing_routines(dataset, admin, dialect)?;
    }
    Ok(tables)
}

fn missing_routines(
    dataset: &dyn Dataset,
    admin: &mut dyn Admin,
    dialect: Dialect,
) -> Result<Vec<String>, SessionError> {
    let schema = match dialect {
        Dialect::Postgres => "current_schema()",
        Dialect::Mysql => "DATABASE()",
        Dialect::Sqlite => return Ok(Vec::new()),
    };
    let mut missing = Vec::new();
    for routine in dataset.routines() {
        let mut is_there = false;
        let sql = format!(
            "SELECT 1 FROM information_schema.routines WHERE routine_schema = {schema} AND routine_name = '{routine}'"
        );
        admin.ask(&sql, Limit::QUESTION, &mut |_, _| is_there = true)?;
        if !is_there {
            missing.push((*routine).to_owned());
        }
    }
    Ok(missing)
}

/// Looks at the highest keys only. That is quick for tables of any size, and leaves no pages in the cache that driving
/// would have to read itself.
fn of_other_size(dataset: &dyn Dataset, admin: &mut dyn Admin) -> Result<Vec<OtherSize>, SessionError> {
    let mut others = Vec::new();
    for table in dataset.tables() {
        let (Some(key), Some(allowed)) = (table.key.first(), dataset.highest_keys(table)) else { continue };
        let mut highest = 0;
        admin.ask(&format!("SELECT max({key}) FROM {}", table.name), Limit::QUESTION, &mut |rows, row| {
            highest = rows.integer(row, 0).unwrap_or_default();
        })?;
        let found = highest.unsigned_abs();
        if !allowed.contains(&found) {
            others.push(OtherSize { table: table.name.to_string(), found, expected: dataset.expected_rows(table) });
        }
    }
    Ok(others)
}

/// Drops those of the workload's tables that are there, and nothing else; returns their names. SQLite drops one at a
/// time; the others drop all or none.
pub(crate) fn drop(dataset: &dyn Dataset, admin: &mut dyn Admin, dialect: Dialect) -> Result<Vec<String>, LoadError> {
    let names = find(dataset, admin, dialect, false)?.present;
    let dropped = match dialect {
        _ if names.is_empty() => Ok(()),
        Dialect::Sqlite => names.iter().try_for_each(|name| admin.script(&format!("DROP TABLE {name}"))),
        Dialect::Postgres | Dialect::Mysql => admin.script(&format!("DROP TABLE {}", names.join(", "))),
    };
    dropped.map(|()| names).map_err(|source| LoadError::Script { doing: "dropping tables", source })
}
