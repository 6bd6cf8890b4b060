//! The OLTP tests that sysbench made popular: small statements on uniform tables, alone or in transactions.
//!
//! The statements, the number of tables and rows, and which rows are hot are settings, under sysbench's names. Left
//! out: its ways of connecting, pacing and reporting, which are the driver's task here.

mod audit;
mod checks;
mod deviations;
mod finding;
mod inputs;
mod ledger;
mod rows;
mod settings;
mod statements;
mod steps;
mod stored;
mod tables;
mod tally;
mod text;
mod transactions;

use crate::dataset::{Dataset, Part, RowSource, Table};
use crate::effects::Effects;
use crate::entry::{Metric, WorkloadEntry};
use crate::sql::SqlError;
use crate::workload::{Ending, Kind, Pause, User, Workload};
use ::settings::Problem;
use engines::admin::Admin;
use engines::session::{Session, SessionError};
use engines::statement::{ByDialect, Dialect, Statement};
use inputs::Ids;
use record::check::{CheckResult, Moment};
use record::trial::KindTotals;
use serde_json::{Map, Value};
use statements::Statements;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;
use steps::Steps;
use tables::Scripts;

pub use inputs::{Client, Input};
pub use settings::{KEYS, Mode, Settings, Test};

pub const KIND: &str = "sysbench-oltp";

pub const ENTRY: WorkloadEntry = WorkloadEntry {
    kind: KIND,
    meaning: "point and range selects, updates, inserts and deletes on tables of one form, as in sysbench's OLTP tests",
    keys: KEYS,
    driving_keys: &[
        "test",
        "point_selects",
        "range_selects",
        "simple_ranges",
        "sum_ranges",
        "order_ranges",
        "distinct_ranges",
        "range_size",
        "index_updates",
        "non_index_updates",
        "delete_inserts",
        "skip_trx",
        "random_points",
        "number_of_ranges",
        "delta",
        "think",
    ],
    own_phases: false,
    metric: Metric { name: "TPS", unit: "transactions/s", per_ms: 1_000 },
};

/// A workload has only the kind of its test, which is counted.
const KINDS: [Kind; Test::NAMES.len()] = Kind::all(Test::NAMES, Test::NAMES.len());

/// One test on tables of one size.
#[derive(Debug)]
pub struct SysbenchOltp {
    settings: Settings,
    steps: Steps,
    ids: Ids,
    tables: Vec<Table>,
    statements: Statements,
    scripts: ByDialect<Scripts>,
    checks: checks::Checks,
}

impl SysbenchOltp {
    fn new(settings: Settings) -> Result<Self, SqlError> {
        let steps = Steps::of(&settings);
        Ok(Self {
            settings,
            steps,
            ids: Ids::new(&settings),
            tables: tables::tables(&settings),
            statements: Statements::new(&settings, &steps, tables::names(&settings))?,
            scripts: tables::scripts(&settings)?,
            checks: checks::Checks::read()?,
        })
    }

    /// Makes it from the workload's table, which need not be checked yet.
    pub fn from_table(table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
        let settings: Settings = ::settings::read(table, KEYS)?;
        let problem = |path: &str, found: String, expected: &str| Problem {
            path: path.to_owned(),
            found,
            expected: expected.to_owned(),
            nearest: None,
        };
        let mut problems = settings.problems();
        let queries = Steps::of(&settings).queries();
        if queries.reads + queries.writes == 0 {
            let found = format!("a test {} without a statement", settings.test.name());
            problems.push(problem("test", found, "counts of statements that are not all 0"));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Self::new(settings).map_err(SqlError::into_problems)
    }

    /// Rows of each table at the start.
    fn initial_rows(&self) -> u64 {
        if self.settings.begins_with_rows() { u64::from(self.settings.table_size) } else { 0 }
    }
}

impl Workload for SysbenchOltp {
    type Input = Input;
    type Client = Client;

    const COUNTERS: &'static [&'static str] = tally::Counter::NAMES;

    fn kinds(&self) -> &'static [Kind] {
        std::slice::from_ref(&KINDS[self.settings.test as usize])
    }

    fn statements(&self, _: Dialect) -> Vec<Statement> {
        self.statements.of_all_tables()
    }

    fn client(&self, user: User) -> Client {
        Client::new(user.seed, user.index)
    }

    fn next(&self, client: &mut Client) -> Option<Input> {
        Some(client.draw())
    }

    fn kind(&self, _: &Input) -> u16 {
        0
    }

    fn pause(&self, _: &mut Client, input: &Input, terminal: bool) -> Pause {
        let mean = if terminal { self.settings.think } else { 0 };
        Pause { keying: Duration::ZERO, thinking: input.thinking(Duration::from_millis(mean)) }
    }

    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &Input,
        effects: &mut Effects<'_, Input>,
    ) -> Result<Ending, SessionError> {
        transactions::run(self, session, input, &mut effects.tally).await
    }
}

impl Dataset for SysbenchOltp {
    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn expected_rows(&self, _: &Table) -> u64 {
        self.initial_rows()
    }

    fn highest_keys(&self, _: &Table) -> Option<RangeInclusive<u64>> {
        let rows = self.initial_rows();
        match self.settings.test {
            // The test adds to the rows it finds, and may have run before.
            Test::Insert => None,
            // The test may have run before and deleted rows, the last one among them.
            Test::Delete => Some(0..=rows),
            _ => Some(rows..=rows),
        }
    }

    fn stored_bytes(&self, dialect: Dialect) -> u64 {
        stored::bytes(self.tables().iter().map(|table| self.expected_rows(table)).sum(), dialect)
    }

    fn rows(&self, table: &str, part: Part) -> Box<dyn RowSource + '_> {
        let number = (0..).zip(&self.tables).find(|(_, known)| known.name == table).map(|(number, _)| number);
        Box::new(rows::rows(self, number, part))
    }

    fn schema(&self, dialect: Dialect) -> String {
        self.scripts.of(dialect).before.clone()
    }

    fn finish(&self, dialect: Dialect) -> String {
        self.scripts.of(dialect).after.clone()
    }

    fn check(&self, admin: &mut dyn Admin, _: Dialect, moment: Moment) -> Result<Vec<CheckResult>, SessionError> {
        checks::check(self, admin, moment)
    }

    fn state(&self, admin: &mut dyn Admin) -> Result<BTreeMap<String, i64>, SessionError> {
        ledger::state(self, admin)
    }

    fn reconcile(
        &self,
        before: &BTreeMap<String, i64>,
        after: &BTreeMap<String, i64>,
        whole_run: &[KindTotals],
    ) -> Vec<CheckResult> {
        ledger::reconcile(&self.settings, &self.steps, before, after, whole_run)
    }

    fn audit(&self, kinds: &[KindTotals], tally: &BTreeMap<String, u64>, _: u64) -> Vec<CheckResult> {
        audit::audit(&self.settings, &self.steps, kinds, tally)
    }

    fn deviations(&self) -> Vec<Cow<'static, str>> {
        deviations::deviations(&self.settings)
    }

    fn notice(&self) -> &'static str {
        deviations::NOTICE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_test_has_the_kind_of_its_name() {
        for kind in KINDS {
            let table = json!({ "test": kind.name });
            let workload = SysbenchOltp::from_table(table.as_object().unwrap()).unwrap();
            assert_eq!(workload.kinds(), [kind]);
        }
    }

    #[test]
    fn a_transaction_without_statements_is_refused() {
        let table = json!({ "test": "update_index", "index_updates": 0 });
        let problems = SysbenchOltp::from_table(table.as_object().unwrap()).unwrap_err();
        assert_eq!(problems[0].path, "test");
    }
}
