//! The OLTP tests that sysbench made popular: small statements on uniform tables, alone or in transactions.
//!
//! The statements, the number of tables and rows, and which rows are hot are settings, under sysbench's names. Left
//! out: its ways of connecting, pacing and reporting, which are the driver's task here.

mod audit;
mod checks;
mod entry;
mod inputs;
mod ledger;
mod rows;
mod settings;
mod statements;
mod steps;
mod tables;
mod tally;
mod text;
mod transactions;

use crate::condition::{DataCheck, DataQueries};
use crate::dataset::{DataTable, Dataset, RowSource, TablePart};
use crate::entry::WorkloadEntry;
use crate::execution::Execution;
use crate::judgement::Judgement;
use crate::ledger::Ledger;
use crate::sql::SqlError;
use ::settings::Problem;
use engines::admin::Admin;
use engines::session::SessionError;
use engines::statement::{ByDialect, Dialect};
use inputs::Ids;
use serde_json::{Map, Value};
use statements::SysbenchStatements;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use steps::Steps;
use tables::TableScripts;

pub use entry::{ENTRY, KIND};
pub use settings::{SysbenchMode, SysbenchSettings, SysbenchTest};

/// One test on tables of one size.
#[derive(Debug)]
pub struct SysbenchOltp {
    settings: SysbenchSettings,
    steps: Steps,
    ids: Ids,
    tables: Vec<DataTable>,
    statements: SysbenchStatements,
    scripts: ByDialect<TableScripts>,
    queries: DataQueries,
}

impl SysbenchOltp {
    fn new(settings: SysbenchSettings) -> Result<Self, SqlError> {
        let steps = Steps::of(&settings);
        Ok(Self {
            settings,
            steps,
            ids: Ids::new(&settings),
            tables: tables::tables(&settings),
            statements: SysbenchStatements::new(&settings, &steps, tables::names(&settings))?,
            scripts: tables::scripts(&settings)?,
            queries: DataQueries::read(&[checks::QUERIES])?,
        })
    }

    /// Makes it from the workload's table, which need not be checked yet.
    pub fn from_table(table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
        let settings: SysbenchSettings = ::settings::read(table, ENTRY.keys)?;
        let mut problems = settings.problems();
        let queries = Steps::of(&settings).queries();
        if queries.reads + queries.writes == 0 {
            let found = format!("a test {} without a statement", settings.test.name());
            problems.push(Problem::new("test", found, "counts of statements that are not all 0"));
        }
        if problems.is_empty() { Ok(Self::new(settings)?) } else { Err(problems) }
    }

    /// Rows of each table at the start.
    fn initial_rows(&self) -> u64 {
        if self.settings.begins_with_rows() { u64::from(self.settings.table_size) } else { 0 }
    }
}

impl Dataset for SysbenchOltp {
    fn entry(&self) -> &'static WorkloadEntry {
        &ENTRY
    }

    fn tables(&self) -> &[DataTable] {
        &self.tables
    }

    fn expected_rows(&self, _: &DataTable) -> u64 {
        self.initial_rows()
    }

    fn rows(&self, table: &str, part: TablePart) -> Box<dyn RowSource + '_> {
        let number = (0..).zip(&self.tables).find(|(_, known)| known.name == table).map(|(number, _)| number);
        rows::rows(self, number, part)
    }

    fn judge_data(&self, check: &mut DataCheck<'_>) -> Result<Vec<Judgement>, SessionError> {
        checks::judge_data(self, check)
    }

    fn judge_ledger(&self, ledger: &Ledger<'_>) -> Vec<Judgement> {
        ledger::judge_ledger(&self.settings, &self.steps, ledger)
    }

    fn judge_window(&self, execution: &Execution<'_>) -> Vec<Judgement> {
        audit::judge_window(&self.settings, &self.steps, execution)
    }

    fn measured(&self) -> Vec<u64> {
        vec![self.tables.iter().map(|table| self.expected_rows(table)).sum()]
    }

    fn highest_keys(&self, _: &DataTable) -> Option<RangeInclusive<u64>> {
        let rows = self.initial_rows();
        match self.settings.test {
            // The test adds to the rows it finds, and may have run before.
            SysbenchTest::Insert => None,
            // The test may have run before and deleted rows, the last one among them.
            SysbenchTest::Delete => Some(0..=rows),
            _ => Some(rows..=rows),
        }
    }

    fn deviations(&self) -> Vec<Cow<'static, str>> {
        entry::deviations(&self.settings)
    }

    fn schema(&self, dialect: Dialect) -> String {
        self.scripts.of(dialect).before.clone()
    }

    fn finish(&self, dialect: Dialect) -> String {
        self.scripts.of(dialect).after.clone()
    }

    fn state(&self, admin: &mut dyn Admin) -> Result<BTreeMap<String, i64>, SessionError> {
        ledger::state(self, admin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_transaction_without_statements_is_refused() {
        let table = json!({ "test": "update_index", "index_updates": 0 });
        let problems = SysbenchOltp::from_table(table.as_object().unwrap()).unwrap_err();
        assert_eq!(problems[0].path, "test");
    }
}
