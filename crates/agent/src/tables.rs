//! What a database that already exists holds of a workload's tables, and taking them away.

use engines::admin::Admin;
use engines::limit::Limit;
use engines::session::SessionError;
use engines::statement::Dialect;
use workloads::dataset::{Dataset, Table};

/// A table of another size than the workload's settings say.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{table} has {found} rows where the settings say {expected}")]
pub struct OtherSize {
    pub table: String,
    pub found: u64,
    pub expected: u64,
}

/// The workload's tables, as a database has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<'a> {
    pub present: Vec<&'a Table>,
    pub missing: Vec<&'a Table>,
}

pub fn find<'a>(dataset: &'a dyn Dataset, admin: &mut dyn Admin) -> Result<Found<'a>, SessionError> {
    let mut found = Found { present: Vec::new(), missing: Vec::new() };
    for table in dataset.tables() {
        let list = if admin.has_table(&table.name)? { &mut found.present } else { &mut found.missing };
        list.push(table);
    }
    Ok(found)
}

/// Looks at the highest keys only: quick on tables of any size, and no page of them is in the cache afterwards that
/// driving would have to read itself.
pub fn of_other_size(dataset: &dyn Dataset, admin: &mut dyn Admin) -> Result<Vec<OtherSize>, SessionError> {
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

/// Drops these tables and nothing else. SQLite drops one at a time; the others drop all or none.
pub fn drop(tables: &[&Table], admin: &mut dyn Admin, dialect: Dialect) -> Result<(), SessionError> {
    let names: Vec<&str> = tables.iter().map(|table| &*table.name).collect();
    match dialect {
        _ if names.is_empty() => Ok(()),
        Dialect::Sqlite => names.iter().try_for_each(|name| admin.script(&format!("DROP TABLE {name}"))),
        Dialect::Postgres | Dialect::Mysql => admin.script(&format!("DROP TABLE {}", names.join(", "))),
    }
}
