//! Conditions on data, as queries for the rows that violate them, so that a finding can name those rows.

use crate::checksum;
use crate::dataset::{Checksum, Dataset, Part, Table};
use crate::sql::filled;
use engines::admin::Admin;
use engines::limit::Limit;
use engines::session::{Param, SessionError};
use record::check::{Moment, Verdict};
use std::fmt::Write;

/// A condition and what its query returns.
pub struct Condition {
    pub name: &'static str,
    pub rule: &'static str,
    /// Names of the query's columns.
    pub keys: &'static [&'static str],
    /// When it holds; `None` if it always does.
    pub only: Option<Moment>,
}

/// A condition that holds after loading and after each trial.
pub const fn always(name: &'static str, keys: &'static [&'static str], rule: &'static str) -> Condition {
    Condition { name, rule, keys, only: None }
}

/// Counts the rows of tables, and compares them with those that the definition gives.
pub fn counted<'a>(
    dataset: &dyn Dataset,
    tables: impl Iterator<Item = &'a Table>,
    admin: &mut dyn Admin,
) -> Result<Verdict, SessionError> {
    let mut all = Vec::new();
    for table in tables {
        let mut found = Ok(0);
        let query = filled(include_str!("sql/rows.sql"), &[("{table}", &table.name)]);
        admin.ask(&query, Limit::WORK, &mut |set, row| found = set.integer(row, 0))?;
        all.push((&*table.name, found?, dataset.expected_rows(table)));
    }
    Ok(cardinalities(all))
}

/// "1 row", "3 rows".
pub fn rows(count: impl Into<i128>) -> String {
    let count = count.into();
    format!("{count} row{}", if count == 1 { "" } else { "s" })
}

/// Whether tables have their numbers of rows: names, numbers found, and numbers expected.
pub fn cardinalities<'a>(tables: impl IntoIterator<Item = (&'a str, i64, u64)>) -> Verdict {
    let mut wrong = Vec::new();
    for (table, found, expected) in tables {
        if u64::try_from(found) != Ok(expected) {
            wrong.push(format!("{table} has {} instead of {expected}", rows(found)));
        }
    }
    if wrong.is_empty() { Verdict::Holds { seen: None } } else { Verdict::Violated { seen: wrong.join("; ") } }
}

/// The rule of a check of cardinalities.
pub fn rule_of_cardinalities(moment: Moment) -> &'static str {
    match moment {
        Moment::AfterLoad => "Every table has its number of rows.",
        Moment::AfterTrial => "Tables that do not grow have their number of rows.",
    }
}

/// Whether a whole table, which no transaction changes, equals its definition.
pub fn contents(dataset: &dyn Dataset, table: &Table, admin: &mut dyn Admin) -> Result<Verdict, SessionError> {
    let stored = checksum::stored(admin, table)?;
    let defined = checksum::of_source(&mut *dataset.rows(&table.name, Part { index: 0, count: 1 }));
    let of = |sum: Checksum| format!("{} with checksum {:016x}", rows(sum.rows), sum.sum);
    Ok(if stored == defined {
        Verdict::Holds { seen: None }
    } else {
        Verdict::Violated { seen: format!("{} instead of {}", of(stored), of(defined)) }
    })
}

/// How many violating keys a verdict names; it only counts the rest.
const KEYS_SHOWN: u64 = 5;

/// Runs a query that returns the keys of the rows that violate a condition; `keys` names its columns.
pub fn judge(query: &str, keys: &[&str], admin: &mut dyn Admin) -> Result<Verdict, SessionError> {
    let mut violations = 0_u64;
    let mut shown = String::new();
    admin.ask(query, Limit::KEYS, &mut |set, row| {
        if violations < KEYS_SHOWN {
            shown.push_str(if violations == 0 { "" } else { "; " });
            for (column, key) in keys.iter().enumerate() {
                let separator = if column == 0 { "" } else { ", " };
                // Writing to a string cannot fail.
                let _ = match set.value(row, column) {
                    Some(Param::Integer(id)) => write!(shown, "{separator}{key} {id}"),
                    other => write!(shown, "{separator}{key} {other:?}"),
                };
            }
        }
        violations += 1;
    })?;
    Ok(match violations {
        0 => Verdict::Holds { seen: None },
        1..=KEYS_SHOWN => Verdict::Violated { seen: shown },
        more => Verdict::Violated { seen: format!("{shown}; and {} more", more - KEYS_SHOWN) },
    })
}
