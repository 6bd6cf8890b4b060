//! Decision support: 22 questions about orders of parts, one after another and in several streams, and orders that come and go.
//!
//! It is derived from TPC-H. What differs is listed in [`deviations`].

mod checks;
mod deviations;
mod refresh;
mod rows;
mod scale;
mod settings;
mod stored;
mod tables;

use crate::catalog::{Metric, WorkloadEntry};
use crate::dataset::{Dataset, Part, RowSource, Table};
use crate::ledger;
use crate::sql::{self, SqlError, filled};
use ::settings::Problem;
use engines::admin::Admin;
use engines::session::SessionError;
use engines::statement::{ByDialect, Dialect};
use record::check::{CheckResult, Moment};
use record::trial::KindTotals;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::OnceLock;

pub use scale::Scale;
pub use settings::{KEYS, Settings};

pub const KIND: &str = "decision-support-h";

pub const ENTRY: WorkloadEntry = WorkloadEntry {
    kind: KIND,
    meaning: "decision support: 22 large queries about orders, alone and in several streams; derived from TPC-H",
    keys: KEYS,
    driving_keys: &["streams", "query_limit"],
    metric: Metric { name: "questions", unit: "questions/h", per_ms: 3_600_000 },
};

const SCHEMA: ByDialect<&str> = sql::files!("sql/schema");
const FINISH: ByDialect<&str> = sql::files!("sql/finish");

/// The workload at one scale.
#[derive(Debug)]
pub struct DecisionSupportH {
    settings: Settings,
    checks: checks::Checks,
    /// Counting takes a moment, so lines are counted once, when their number is first needed.
    lines: OnceLock<u64>,
}

impl DecisionSupportH {
    pub fn new(settings: Settings) -> Result<Self, SqlError> {
        Ok(Self { settings, checks: checks::Checks::read()?, lines: OnceLock::new() })
    }

    /// Makes it from the workload's table, which need not be checked yet.
    pub fn from_table(table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
        let settings: Settings = ::settings::read(table, KEYS)?;
        Self::new(settings).map_err(SqlError::into_problems)
    }
}

impl Dataset for DecisionSupportH {
    fn tables(&self) -> &[Table] {
        tables::TABLES
    }

    fn expected_rows(&self, table: &Table) -> u64 {
        let scale = self.settings.scale;
        match &*table.name {
            "region" => rows::REGIONS,
            "nation" => rows::NATIONS,
            "supplier" => scale.suppliers(),
            "customer" => scale.customers(),
            "part" => scale.parts(),
            "partsupp" => scale.offers(),
            "orders" => scale.orders(),
            "lineitem" => *self.lines.get_or_init(|| rows::lines(scale)),
            _ => 1,
        }
    }

    fn highest_keys(&self, table: &Table) -> Option<RangeInclusive<u64>> {
        let rows = (table.key.len() == 1).then(|| self.expected_rows(table))?;
        Some(match &*table.name {
            // Their keys are counted from 0.
            "region" | "nation" => rows - 1..=rows - 1,
            // Refresh sets may have been used before.
            "orders" => refresh::highest_key(self.settings.scale)..=refresh::limit_of_keys(self.settings.scale),
            _ => rows..=rows,
        })
    }

    fn stored_bytes(&self, dialect: Dialect) -> u64 {
        stored::bytes(self.settings.scale, dialect)
    }

    fn rows(&self, table: &str, part: Part) -> Box<dyn RowSource + '_> {
        rows::rows(self.settings.scale, table, part)
    }

    fn check_dialect(&self, dialect: Dialect) -> Result<(), Vec<Problem>> {
        if dialect != Dialect::Sqlite || self.settings.scale.fits_sqlite() {
            return Ok(());
        }
        let expected = "at most 80 on SQLite, whose sums hold 64 bits".to_owned();
        let found = format!("found {}", self.settings.scale.factor());
        Err(vec![Problem { path: "scale".to_owned(), found, expected, nearest: None }])
    }

    fn schema(&self, dialect: Dialect) -> String {
        let order_key = if self.settings.scale.has_wide_order_keys() { "BIGINT" } else { "INTEGER" };
        filled(SCHEMA.of(dialect), &[("{order_key}", order_key)])
    }

    fn finish(&self, dialect: Dialect) -> String {
        (*FINISH.of(dialect)).to_owned()
    }

    fn put_back(&self, dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::Mysql => include_str!("sql/put_back.mysql.sql"),
            Dialect::Sqlite | Dialect::Postgres => "",
        }
    }

    fn check(&self, admin: &mut dyn Admin, dialect: Dialect, moment: Moment) -> Result<Vec<CheckResult>, SessionError> {
        checks::check(self, admin, dialect, moment)
    }

    fn state(&self, admin: &mut dyn Admin) -> Result<BTreeMap<String, i64>, SessionError> {
        ledger::state(&self.checks.sums, admin)
    }

    fn reconcile(&self, _: &BTreeMap<String, i64>, _: &BTreeMap<String, i64>, _: &[KindTotals]) -> Vec<CheckResult> {
        Vec::new()
    }

    fn audit(&self, _: &[KindTotals], _: &BTreeMap<String, u64>, _: u64) -> Vec<CheckResult> {
        Vec::new()
    }

    fn deviations(&self) -> Vec<Cow<'static, str>> {
        deviations::DEVIATIONS.iter().copied().map(Cow::Borrowed).collect()
    }

    fn notice(&self) -> &'static str {
        deviations::NOTICE
    }
}
