//! Conditions on data, as queries for the rows that violate them, so that a finding can name those rows.

use crate::checksum;
use crate::dataset::{Checksum, DataTable, Dataset, TablePart};
use crate::judgement::{Judgement, judgement, none_of};
use crate::ledger::number;
use crate::sql::{self, SqlError, filled};
use engines::admin::Admin;
use engines::limit::ReplyLimit;
use engines::session::{Param, SessionError};
use engines::statement::{ByDialect, Dialect, Statement};
use record::check::{Moment, Verdict};
use std::fmt::Write;

/// A condition and what its query returns.
#[derive(Debug, Clone, Copy)]
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

/// Conditions and sums, and the files that have their queries.
#[derive(Debug, Clone, Copy)]
pub struct QueryFiles {
    pub conditions: &'static [Condition],
    pub checks: &'static str,
    /// Replaces queries on SQLite.
    pub checks_of_sqlite: &'static str,
    /// Names of sums over the data.
    pub sums: &'static [&'static str],
    pub ledger: &'static str,
}

/// The queries of conditions and sums, parsed once.
#[derive(Debug)]
pub struct DataQueries {
    pub conditions: ByDialect<Vec<(Condition, Statement)>>,
    pub sums: Vec<Statement>,
}

impl DataQueries {
    pub fn read(all: &[QueryFiles]) -> Result<Self, SqlError> {
        let conditions = |is_sqlite: bool| {
            let mut conditions = Vec::new();
            for files in all {
                let names: Vec<_> = files.conditions.iter().map(|condition| condition.name).collect();
                let own = if is_sqlite { files.checks_of_sqlite } else { "" };
                let queries = sql::statements(&names, files.checks, own)?;
                conditions.extend(files.conditions.iter().copied().zip(queries));
            }
            Ok(conditions)
        };
        let conditions = ByDialect { sqlite: true, postgres: false, mysql: false }.try_map(conditions)?;
        let mut sums = Vec::new();
        for files in all {
            sums.extend(sql::statements(files.sums, files.ledger, "")?);
        }
        Ok(Self { conditions, sums })
    }
}

/// A database whose data are judged.
pub struct DataCheck<'a> {
    pub admin: &'a mut dyn Admin,
    pub dialect: Dialect,
    pub moment: Moment,
}

impl DataCheck<'_> {
    pub fn is_after_load(&self) -> bool {
        self.moment == Moment::AfterLoad
    }

    /// Counts the rows of some tables, and compares them with those that the definition gives.
    pub fn cardinalities(
        &mut self,
        dataset: &dyn Dataset,
        is_known: impl Fn(&DataTable) -> bool,
    ) -> Result<Judgement, SessionError> {
        let mut all = Vec::new();
        for table in dataset.tables().iter().filter(|table| is_known(table)) {
            all.push((&*table.name, self.count(table)?, dataset.expected_rows(table)));
        }
        let rule = match self.moment {
            Moment::AfterLoad => "Every table has its number of rows.",
            Moment::AfterTrial => "Tables that do not grow have their number of rows.",
        };
        Ok(judgement("cardinalities", rule, cardinalities(all)))
    }

    pub fn count(&mut self, table: &DataTable) -> Result<i64, SessionError> {
        number(self.admin, &filled(include_str!("sql/rows.sql"), &[("{table}", &table.name)]))
    }

    /// Whether whole tables, which no transaction changes, equal their definitions.
    pub fn contents(&mut self, dataset: &dyn Dataset, names: &[&str]) -> Result<Vec<Judgement>, SessionError> {
        let judged = dataset.tables().iter().filter(|table| names.contains(&&*table.name)).map(|table| {
            let rule = format!("Table {} has the rows that were loaded.", table.name);
            Ok(judgement(&*table.name, rule, self.contents_of(dataset, table)?))
        });
        judged.collect()
    }

    pub fn contents_of(&mut self, dataset: &dyn Dataset, table: &DataTable) -> Result<Verdict, SessionError> {
        let stored = checksum::stored(self.admin, table)?;
        let defined = checksum::of_source(&mut *dataset.rows(&table.name, TablePart { index: 0, count: 1 }));
        let of = |sum: Checksum| format!("{} with checksum {:016x}", rows(sum.rows), sum.sum);
        Ok(if stored == defined {
            Verdict::Holds { seen: None }
        } else {
            Verdict::Violated { seen: format!("{} instead of {}", of(stored), of(defined)) }
        })
    }

    /// The conditions that hold at this moment; `values` are put into their queries.
    pub fn conditions(
        &mut self,
        queries: &DataQueries,
        values: &[(&str, &str)],
    ) -> Result<Vec<Judgement>, SessionError> {
        let mut judged = Vec::new();
        for (condition, query) in queries.conditions.of(self.dialect) {
            if condition.only.is_none_or(|only| only == self.moment) {
                let query = filled(&sql::of_characters(query, self.dialect).sql, values);
                let verdict = judge(&query, condition.keys, self.admin)?;
                judged.push(judgement(condition.name, condition.rule, verdict));
            }
        }
        Ok(judged)
    }
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
    none_of(&wrong)
}

/// How many violating keys a verdict names; it only counts the rest.
const KEYS_SHOWN: u64 = 5;

/// Runs a query that returns the keys of the rows that violate a condition; `keys` names its columns.
pub fn judge(query: &str, keys: &[&str], admin: &mut dyn Admin) -> Result<Verdict, SessionError> {
    let mut violations = 0_u64;
    let mut shown = String::new();
    admin.ask(query, ReplyLimit::KEYS, &mut |set, row| {
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
