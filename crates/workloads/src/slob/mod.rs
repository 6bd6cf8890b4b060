//! Slob: physical reads and writes through the database's own cache, with next to no computing.
//!
//! Each row has a page to itself and rows lie in random order. So an operation on a range of keys visits as many pages as
//! rows, at random places. With a cache smaller than the tables that is I/O; with a larger one it is work in the cache.
//!
//! Left out, and listed in [`deviations`]: loops inside the database, and external scripts.

mod audit;
mod checks;
mod definition;
mod deviations;
mod inputs;
mod ledger;
mod rows;
mod settings;
mod statements;
mod stored;
mod tables;
mod tally;
mod transactions;

use crate::dataset::{Dataset, Part, RowSource, Table};
use crate::effects::Effects;
use crate::entry::{Metric, WorkloadEntry};
use crate::sql::{self, SqlError};
use crate::workload::{Ending, Kind, Pause, User, Workload};
use ::settings::Problem;
use engines::admin::Admin;
use engines::session::{Session, SessionError};
use engines::statement::{ByDialect, Dialect, Statement};
use record::check::{CheckResult, Moment, Verdict};
use record::trial::KindTotals;
use serde_json::{Map, Value};
use statements::{Checks, for_each};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;
use tables::Purpose;

pub use inputs::{Client, Input, Operation};
pub use settings::{KEYS, Settings};

pub const KIND: &str = "slob";

pub const ENTRY: WorkloadEntry = WorkloadEntry {
    kind: KIND,
    meaning: "random reads and updates of single-row pages; after SLOB and pgio, not comparable with them",
    keys: KEYS,
    driving_keys: &[
        "threads_per_schema",
        "work_unit",
        "update_pct",
        "scan_pct",
        "redo_stress",
        "do_hotspot",
        "hotspot_mb",
        "hotspot_offset_mb",
        "hotspot_frequency",
        "hot_schema_frequency",
        "think_tm_frequency",
        "think_tm_min",
        "think_tm_max",
    ],
    own_phases: false,
    metric: Metric { name: "operations/s", unit: "operations/s", per_ms: 1_000 },
};

/// All of them are counted.
const KINDS: [Kind; Operation::NAMES.len()] = Kind::all(Operation::NAMES, Operation::NAMES.len());

const SCHEMA: ByDialect<&str> = sql::files!("sql/schema");
/// Only `InnoDB` must rebuild tables to spread their rows, and changes a server setting for that.
const MADE_ANEW: ByDialect<&str> = ByDialect { sqlite: "", postgres: "", mysql: include_str!("sql/finish.mysql.sql") };
const PUT_BACK: ByDialect<&str> = ByDialect { sqlite: "", postgres: "", mysql: include_str!("sql/put_back.mysql.sql") };
const INDEXES: ByDialect<&str> = ByDialect {
    sqlite: include_str!("sql/finish.sql"),
    postgres: include_str!("sql/finish.postgres.sql"),
    mysql: include_str!("sql/finish.sql"),
};

/// The workload at one scale.
#[derive(Debug)]
pub struct Slob {
    settings: Settings,
    tables: Vec<Table>,
    statements: Vec<Statement>,
    checks: Box<Checks>,
}

impl Slob {
    pub fn new(settings: Settings) -> Result<Self, SqlError> {
        Ok(Self {
            settings,
            tables: tables::tables(settings.schemas),
            statements: statements::operations(&settings)?,
            checks: Box::new(Checks::read()?),
        })
    }

    /// Makes it from the workload's table, which need not be checked yet.
    pub fn from_table(table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
        let settings: Settings = ::settings::read(table, KEYS)?;
        let problems = settings.problems();
        if !problems.is_empty() {
            return Err(problems);
        }
        Self::new(settings).map_err(SqlError::into_problems)
    }
}

impl Workload for Slob {
    type Input = Input;
    type Client = Client;

    const COUNTERS: &'static [&'static str] = tally::Counter::NAMES;

    fn kinds(&self) -> &'static [Kind] {
        &KINDS
    }

    fn statements(&self, _: Dialect) -> Vec<Statement> {
        self.statements.clone()
    }

    fn client(&self, user: User) -> Client {
        Client::new(&self.settings, user.seed, user.index)
    }

    fn next(&self, client: &mut Client) -> Option<Input> {
        Some(client.next(&self.settings))
    }

    fn kind(&self, input: &Input) -> u16 {
        input.operation as u16
    }

    fn pause(&self, _: &mut Client, input: &Input, _: bool) -> Pause {
        Pause { keying: Duration::ZERO, thinking: input.thought }
    }

    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &Input,
        effects: &mut Effects<'_, Input>,
    ) -> Result<Ending, SessionError> {
        transactions::run(&self.settings, session, input, &mut effects.tally).await
    }
}

impl Dataset for Slob {
    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn expected_rows(&self, table: &Table) -> u64 {
        tables::parse(&table.name).map_or(0, |(_, purpose)| u64::from(rows::rows_of(&self.settings, purpose)))
    }

    fn stored_bytes(&self, dialect: Dialect) -> u64 {
        stored::bytes(self.tables().iter().map(|table| self.expected_rows(table)).sum(), dialect)
    }

    fn rows(&self, table: &str, part: Part) -> Box<dyn RowSource + '_> {
        rows::rows(&self.settings, table, part)
    }

    fn schema(&self, dialect: Dialect) -> String {
        for_each(SCHEMA.of(dialect), self.tables.iter().map(|table| &*table.name))
    }

    fn finish(&self, dialect: Dialect) -> String {
        let all = || self.tables.iter().map(|table| &*table.name);
        let is_indexed = |name: &&str| matches!(tables::parse(name), Some((_, Purpose::Ranges)));
        for_each(MADE_ANEW.of(dialect), all()) + &for_each(INDEXES.of(dialect), all().filter(is_indexed))
    }

    fn put_back(&self, dialect: Dialect) -> &'static str {
        PUT_BACK.of(dialect)
    }

    fn check(&self, admin: &mut dyn Admin, dialect: Dialect, moment: Moment) -> Result<Vec<CheckResult>, SessionError> {
        checks::check(&self.settings, &self.checks, admin, dialect, moment)
    }

    fn state(&self, admin: &mut dyn Admin) -> Result<BTreeMap<String, i64>, SessionError> {
        ledger::state(&self.settings, &self.checks, admin)
    }

    fn reconcile(
        &self,
        before: &BTreeMap<String, i64>,
        after: &BTreeMap<String, i64>,
        whole_run: &[KindTotals],
    ) -> Vec<CheckResult> {
        ledger::reconcile(&self.settings, before, after, whole_run)
    }

    fn audit(&self, kinds: &[KindTotals], tally: &BTreeMap<String, u64>, _: u64) -> Vec<CheckResult> {
        audit::audit(&self.settings, kinds, tally)
    }

    fn deviations(&self) -> Vec<Cow<'static, str>> {
        deviations::DEVIATIONS.iter().copied().map(Cow::Borrowed).collect()
    }

    fn notice(&self) -> &'static str {
        deviations::NOTICE
    }
}

/// A finding of this workload.
fn finding(name: &str, rule: &str, moment: Moment, verdict: Verdict) -> CheckResult {
    CheckResult { name: format!("{KIND}/{name}"), rule: rule.to_owned(), moment, verdict }
}
