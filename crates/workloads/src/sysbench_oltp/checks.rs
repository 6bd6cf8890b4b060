//! Conditions on the data, after loading and after a trial, as queries for rows that violate them, table after table.

use super::SysbenchOltp;
use super::finding::finding;
use super::ledger;
use super::settings::{Mode, Test};
use crate::condition;
use crate::sql::{self, SqlError, filled};
use engines::admin::Admin;
use engines::session::SessionError;
use engines::statement::Statement;
use record::check::{CheckResult, Moment, Verdict};

/// How many tables a finding describes; it only counts the rest.
const TABLES_SHOWN: usize = 3;

/// Names and rules.
const CONDITIONS: [(&str, &str); 6] = [
    ("ids", "Ids are from 1 to the number of rows."),
    ("unique-ids", "No two rows have the same id."),
    ("loaded-keys", "Column k is in the range it is drawn from."),
    ("keys", "Column k is not below the range it is drawn from."),
    ("texts", "Columns c and pad are ten and five groups of eleven digits."),
    ("constant-texts", "Column c has at most 119 characters, and column pad has 50."),
];

/// The queries of the conditions and of the ledger, parsed once.
#[derive(Debug)]
pub struct Checks {
    conditions: Vec<Statement>,
    pub sums: Vec<Statement>,
}

impl Checks {
    pub fn read() -> Result<Self, SqlError> {
        Ok(Self {
            conditions: sql::statements(&CONDITIONS.map(|(name, _)| name), include_str!("sql/checks.sql"), "")?,
            sums: sql::statements(ledger::SUMS, include_str!("sql/ledger.sql"), "")?,
        })
    }
}

pub fn check(workload: &SysbenchOltp, admin: &mut dyn Admin, moment: Moment) -> Result<Vec<CheckResult>, SessionError> {
    let mut findings = Vec::new();
    if moment == Moment::AfterLoad || has_constant_rows(workload) {
        findings.push(number_of_rows(workload, admin, moment)?);
    }
    for ((name, rule), query) in CONDITIONS.iter().zip(&workload.checks.conditions) {
        if applies(workload, name, moment) {
            let verdict = judge(workload, &query.sql, admin)?;
            findings.push(finding(name, rule, moment, verdict));
        }
    }
    Ok(findings)
}

/// Whether the number of rows stays the same: every row that is deleted is inserted again, and none is added.
fn has_constant_rows(workload: &SysbenchOltp) -> bool {
    let settings = &workload.settings;
    let may_double = settings.secondary && workload.steps.delete_inserts > 0;
    let is_closed = !matches!(settings.test, Test::Insert | Test::Delete | Test::BulkInsert);
    is_closed && !may_double && !workload.steps.leaves_gaps()
}

fn applies(workload: &SysbenchOltp, condition: &str, moment: Moment) -> bool {
    let settings = &workload.settings;
    let is_loaded = moment == Moment::AfterLoad;
    let has_texts = settings.test != Test::BulkInsert;
    match condition {
        "ids" => is_loaded || !matches!(settings.test, Test::Insert | Test::BulkInsert),
        // A primary key ensures it. Without one, it only holds after loading, since a run may make equal ids.
        "unique-ids" => is_loaded && settings.secondary,
        "loaded-keys" => is_loaded,
        "keys" => !is_loaded,
        "texts" => has_texts && settings.mode == Mode::Of10,
        "constant-texts" => has_texts && settings.mode == Mode::Of048,
        _ => false,
    }
}

/// One verdict on all tables.
fn judge(workload: &SysbenchOltp, query: &str, admin: &mut dyn Admin) -> Result<Verdict, SessionError> {
    let size = workload.settings.table_size.to_string();
    let (lowest, highest) = match workload.settings.mode {
        Mode::Of10 => ("1", size.as_str()),
        Mode::Of048 => ("0", "0"),
    };
    let mut violations = Vec::new();
    for table in &workload.tables {
        let values = [("{table}", &*table.name), ("{rows}", &*size), ("{lowest}", lowest), ("{highest}", highest)];
        if let Verdict::Violated { seen } = condition::judge(&filled(query, &values), &["id"], admin)? {
            violations.push(format!("{}: {seen}", table.name));
        }
    }
    Ok(several(&violations))
}

fn several(violations: &[String]) -> Verdict {
    let shown = violations.iter().take(TABLES_SHOWN).map(String::as_str).collect::<Vec<_>>().join("; ");
    match violations.len() {
        0 => Verdict::Holds { seen: None },
        count if count > TABLES_SHOWN => {
            Verdict::Violated { seen: format!("{shown}; and {} more tables", count - TABLES_SHOWN) }
        }
        _ => Verdict::Violated { seen: shown },
    }
}

fn number_of_rows(workload: &SysbenchOltp, admin: &mut dyn Admin, moment: Moment) -> Result<CheckResult, SessionError> {
    let expected = workload.initial_rows();
    let mut wrong = Vec::new();
    for table in &workload.tables {
        let found = ledger::sum(&workload.checks.sums, "rows", &table.name, admin)?;
        if u64::try_from(found) != Ok(expected) {
            wrong.push(format!("{} has {} instead of {expected}", table.name, condition::rows(found)));
        }
    }
    Ok(finding("rows", "Every table has its number of rows.", moment, several(&wrong)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_tables_are_named_and_the_others_counted() {
        let tables: Vec<String> = (1..=5).map(|number| format!("sbtest{number}: id 7")).collect();
        assert_eq!(several(&tables[..0]), Verdict::Holds { seen: None });
        let seen = "sbtest1: id 7; sbtest2: id 7; sbtest3: id 7; and 2 more tables".to_owned();
        assert_eq!(several(&tables), Verdict::Violated { seen });
    }
}
