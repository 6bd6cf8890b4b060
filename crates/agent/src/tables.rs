//! Finds the tables of a workload in a database that already exists.

use crate::listed::{self, ListedTable, Reshaped};
use crate::loading::LoadError;
use engines::admin::Admin;
use engines::limit::ReplyLimit;
use engines::session::SessionError;
use engines::statement::Dialect;
use serde::{Deserialize, Serialize};
use std::fmt;
use workloads::condition::rows;
use workloads::dataset::{Dataset, NeededObject};

/// A table whose size is not what the workload's settings say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{table} has {} where the settings say {expected}", rows(*.found))]
pub struct OtherSize {
    pub table: String,
    pub found: u64,
    pub expected: u64,
}

/// Which of the workload's tables a database has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LoadedTables {
    pub present: Vec<String>,
    pub missing: Vec<String>,
    /// Only checked if that is asked for and no table is missing.
    pub of_other_size: Vec<OtherSize>,
    /// Tables of the workload, by these or other settings, that are not on the database's list.
    pub foreign: Vec<String>,
    /// Tables that only other settings of the workload have.
    pub of_other_settings: Vec<String>,
    /// Checked with the sizes.
    pub lacking: Lacking,
    /// Those on the database's list that are not as loading left them. Checked with the sizes.
    pub reshaped: Vec<Reshaped>,
}

/// What driving needs beside tables, and the database does not have.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lacking {
    pub procedures: Vec<String>,
    pub indexes: Vec<String>,
}

impl Lacking {
    pub fn is_empty(&self) -> bool {
        self.procedures.is_empty() && self.indexes.is_empty()
    }
}

impl fmt::Display for Lacking {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |one: &str, more: &str, names: &[String]| match names {
            [] => None,
            [name] => Some(format!("the {one} {name} is missing")),
            _ => Some(format!("the {more} {} are missing", names.join(", "))),
        };
        let all = [of("procedure", "procedures", &self.procedures), of("index", "indexes", &self.indexes)];
        formatter.write_str(&all.into_iter().flatten().collect::<Vec<_>>().join(", and "))
    }
}

/// `to_drive` also looks for what only driving needs.
pub(crate) fn find(
    kind: &str,
    dataset: &dyn Dataset,
    admin: &mut dyn Admin,
    dialect: Dialect,
    to_drive: bool,
) -> Result<LoadedTables, LoadError> {
    seek(kind, dataset, admin, dialect, to_drive)
        .map_err(|source| LoadError::Script { doing: "looking for tables", source })
}

/// The names of all tables and routines that loading makes, in that order.
pub(crate) fn names(dataset: &dyn Dataset, dialect: Dialect) -> Vec<String> {
    let mut names: Vec<String> = dataset.tables().iter().map(|table| table.name.to_string()).collect();
    // In SQLite these indexes are tables.
    if dialect == Dialect::Sqlite {
        names.extend(dataset.needed().into_iter().filter_map(|needed| match needed {
            NeededObject::Index(name) => Some(name.to_owned()),
            NeededObject::Procedure(_) => None,
        }));
    }
    names.extend(routines(&(dataset.schema(dialect) + "\n" + &dataset.finish(dialect))));
    names
}

/// The routines that a script makes.
fn routines(script: &str) -> impl Iterator<Item = String> {
    script.lines().filter_map(|line| {
        let made = line.strip_prefix("CREATE ")?.trim_start_matches("OR REPLACE ");
        let named = made.strip_prefix("FUNCTION ").or(made.strip_prefix("PROCEDURE "))?;
        Some(listed::routine(named.split('(').next()?.trim()))
    })
}

fn seek(
    kind: &str,
    dataset: &dyn Dataset,
    admin: &mut dyn Admin,
    dialect: Dialect,
    to_drive: bool,
) -> Result<LoadedTables, SessionError> {
    let mut tables = LoadedTables::default();
    for table in dataset.tables() {
        let list = if admin.has_table(&table.name)? { &mut tables.present } else { &mut tables.missing };
        list.push(table.name.to_string());
    }
    for table in dataset.tables_of_other_settings() {
        if admin.has_table(table)? {
            tables.of_other_settings.push((*table).to_owned());
        }
    }
    let ours = listed::present(&ListedTable::OfWorkload(kind), admin, dialect)?;
    let mut there = tables.of_other_settings.clone();
    for name in names(dataset, dialect) {
        let is_there = tables.present.contains(&name)
            || (!tables.missing.contains(&name) && listed::exists(&name, admin, dialect)?);
        there.extend(is_there.then_some(name));
    }
    tables.foreign = there.into_iter().filter(|name| !ours.contains(name)).collect();
    if to_drive && tables.missing.is_empty() {
        tables.reshaped = listed::reshaped(&names(dataset, dialect), admin)?;
        tables.of_other_size = of_other_size(dataset, admin)?;
        tables.lacking = lacking(dataset, admin, dialect)?;
    }
    Ok(tables)
}

fn lacking(dataset: &dyn Dataset, admin: &mut dyn Admin, dialect: Dialect) -> Result<Lacking, SessionError> {
    let mut lacking = Lacking::default();
    for needed in dataset.needed() {
        let mut is_there = false;
        let (list, name) = match needed {
            NeededObject::Procedure(name) => {
                is_there = listed::exists(&listed::routine(name), admin, dialect)?;
                (&mut lacking.procedures, name)
            }
            NeededObject::Index(name) => {
                admin.ask(&sql_for_index(dialect, name), ReplyLimit::QUESTION, &mut |_, _| is_there = true)?;
                (&mut lacking.indexes, name)
            }
        };
        if !is_there {
            list.push(name.to_owned());
        }
    }
    Ok(lacking)
}

/// Returns a row if there is one of this name.
fn sql_for_index(dialect: Dialect, name: &str) -> String {
    match dialect {
        Dialect::Postgres => {
            format!("SELECT 1 FROM pg_indexes WHERE schemaname = current_schema() AND indexname = '{name}'")
        }
        Dialect::Mysql => format!(
            "SELECT 1 FROM information_schema.statistics WHERE table_schema = DATABASE() AND index_name = '{name}'"
        ),
        Dialect::Sqlite => format!("SELECT 1 FROM sqlite_master WHERE name = '{name}'"),
    }
}

/// Looks at the highest keys only. That is quick for tables of any size, and leaves no pages in the cache that driving
/// would have to read itself.
fn of_other_size(dataset: &dyn Dataset, admin: &mut dyn Admin) -> Result<Vec<OtherSize>, SessionError> {
    let mut others = Vec::new();
    for table in dataset.tables() {
        let (Some(key), Some(allowed)) = (table.key.first(), dataset.highest_keys(table)) else { continue };
        let mut highest = 0;
        let highest_of = || format!("SELECT max({key}) FROM {}", table.name);
        let query = dataset.highest_key_query(table).map_or_else(highest_of, str::to_owned);
        admin.ask(&query, ReplyLimit::QUESTION, &mut |rows, row| {
            highest = rows.integer(row, 0).unwrap_or_default();
        })?;
        let found = highest.unsigned_abs();
        if !allowed.contains(&found) {
            others.push(OtherSize { table: table.name.to_string(), found, expected: dataset.expected_rows(table) });
        }
    }
    Ok(others)
}
