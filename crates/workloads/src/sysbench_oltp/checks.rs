//! Conditions on the data, after loading and after a trial, as queries for rows that violate them, table after table.

use super::SysbenchOltp;
use super::ledger;
use super::settings::{SysbenchMode, SysbenchTest};
use crate::condition::{self, Condition, DataCheck, QueryFiles, always};
use crate::judgement::{Judgement, judgement};
use crate::sql::filled;
use engines::admin::Admin;
use engines::session::SessionError;
use engines::statement::Statement;
use record::check::Verdict;

/// How many tables a finding describes; it only counts the rest.
const TABLES_SHOWN: usize = 3;

const ID: &[&str] = &["id"];

pub const QUERIES: QueryFiles = QueryFiles {
    conditions: CONDITIONS,
    checks: include_str!("sql/checks.sql"),
    checks_of_sqlite: "",
    sums: ledger::SUMS,
    ledger: include_str!("sql/ledger.sql"),
};

/// Which of them apply depends on the test.
const CONDITIONS: &[Condition] = &[
    always("ids", ID, "Ids are from 1 to the number of rows."),
    always("unique-ids", ID, "No two rows have the same id."),
    always("loaded-keys", ID, "Column k is in the range it is drawn from."),
    always("keys", ID, "Column k is not below the range it is drawn from."),
    always("texts", ID, "Columns c and pad are ten and five groups of eleven digits."),
    always("constant-texts", ID, "Column c has at most 119 characters, and column pad has 50."),
];

pub fn judge_data(workload: &SysbenchOltp, check: &mut DataCheck<'_>) -> Result<Vec<Judgement>, SessionError> {
    let (mut judged, is_loaded) = (Vec::new(), check.is_after_load());
    if is_loaded || has_constant_rows(workload) {
        judged.push(number_of_rows(workload, check.admin)?);
    }
    for (condition, query) in workload.queries.conditions.of(check.dialect) {
        if applies(workload, condition.name, is_loaded) {
            judged.push(judgement(condition.name, condition.rule, judge(workload, query, check.admin)?));
        }
    }
    Ok(judged)
}

/// Whether the number of rows stays the same: every row that is deleted is inserted again, and none is added.
fn has_constant_rows(workload: &SysbenchOltp) -> bool {
    let settings = &workload.settings;
    let may_double = settings.secondary && workload.steps.delete_inserts > 0;
    let is_closed = !matches!(settings.test, SysbenchTest::Insert | SysbenchTest::Delete | SysbenchTest::BulkInsert);
    is_closed && !may_double && !workload.steps.leaves_gaps()
}

fn applies(workload: &SysbenchOltp, condition: &str, is_loaded: bool) -> bool {
    let settings = &workload.settings;
    let has_texts = settings.test != SysbenchTest::BulkInsert;
    match condition {
        "ids" => is_loaded || !matches!(settings.test, SysbenchTest::Insert | SysbenchTest::BulkInsert),
        // A primary key ensures it. Without one, it only holds after loading, since a run may make equal ids.
        "unique-ids" => is_loaded && settings.secondary,
        "loaded-keys" => is_loaded,
        "keys" => !is_loaded,
        "texts" => has_texts && settings.mode == SysbenchMode::Of10,
        "constant-texts" => has_texts && settings.mode == SysbenchMode::Of048,
        _ => false,
    }
}

/// One verdict on all tables.
fn judge(workload: &SysbenchOltp, query: &Statement, admin: &mut dyn Admin) -> Result<Verdict, SessionError> {
    let size = workload.settings.table_size.to_string();
    let (lowest, highest) = match workload.settings.mode {
        SysbenchMode::Of10 => ("1", size.as_str()),
        SysbenchMode::Of048 => ("0", "0"),
    };
    let mut violations = Vec::new();
    for table in &workload.tables {
        let values = [("{table}", &*table.name), ("{rows}", &*size), ("{lowest}", lowest), ("{highest}", highest)];
        if let Verdict::Violated { seen } = condition::judge(&filled(&query.sql, &values), ID, admin)? {
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

fn number_of_rows(workload: &SysbenchOltp, admin: &mut dyn Admin) -> Result<Judgement, SessionError> {
    let expected = workload.initial_rows();
    let mut wrong = Vec::new();
    for table in &workload.tables {
        let found = ledger::sum(workload, ledger::ROWS, &table.name, admin)?;
        if u64::try_from(found) != Ok(expected) {
            wrong.push(format!("{} has {} instead of {expected}", table.name, condition::rows(found)));
        }
    }
    Ok(judgement("rows", "Every table has its number of rows.", several(&wrong)))
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
