//! A brokerage house, derived from a published benchmark: customers place orders through brokers, and a market executes them.
//!
//! Left out, and listed in [`deviations`]: the original's generator, its texts, and its rules for publication.

mod accounts;
mod audit;
mod calendar;
mod checks;
mod customers;
mod deviations;
mod driven;
mod exchange;
mod ids;
mod inputs;
mod ledger;
mod lots;
mod market;
mod order;
mod orders;
mod people;
mod places;
mod price;
mod replay;
mod rows;
mod settings;
mod size;
mod skew;
mod statements;
mod stored;
mod tables;
mod tally;
mod trading;
mod transactions;
mod unit;
mod watched;
mod words;
mod work;

use crate::dataset::{Dataset, Part, RowSource, Table};
use crate::entry::{Metric, WorkloadEntry};
use crate::ledger::{self as sums, Ledger};
use crate::sql::{self, SqlError, filled};
use ::settings::Problem;
use engines::admin::Admin;
use engines::session::SessionError;
use engines::statement::{ByDialect, Dialect, Statement};
use record::check::{CheckResult, Moment};
use record::trial::KindTotals;
use replay::Totals;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::OnceLock;

pub use driven::Client;
pub use inputs::Input;
pub use settings::{KEYS, Settings};

pub const KIND: &str = "brokerage";

pub const ENTRY: WorkloadEntry = WorkloadEntry {
    kind: KIND,
    meaning: "a brokerage house: customers order trades, and a market that answers executes them",
    keys: KEYS,
    driving_keys: &["statements"],
    own_phases: false,
    metric: Metric { name: "trade results/s", unit: "trade results/s", per_ms: 1_000 },
};

const SCHEMA: ByDialect<&str> = sql::files!("sql/schema");
const FINISH: ByDialect<&str> = sql::files!("sql/finish");

/// The workload at one size.
#[derive(Debug)]
pub struct Brokerage {
    settings: Settings,
    statements: ByDialect<Vec<Statement>>,
    checks: checks::Checks,
    /// Counted once, when they are first needed: the initial trading of all load units is replayed for them.
    totals: OnceLock<Totals>,
}

impl Brokerage {
    pub fn new(settings: Settings) -> Result<Self, SqlError> {
        let (statements, checks) = (statements::read()?, checks::Checks::read()?);
        Ok(Self { settings, statements, checks, totals: OnceLock::new() })
    }

    /// Makes it from the workload's table, which need not be checked yet.
    pub fn from_table(table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
        let settings: Settings = ::settings::read(table, KEYS)?;
        settings.check()?;
        Self::new(settings).map_err(SqlError::into_problems)
    }

    fn totals(&self) -> &Totals {
        self.totals.get_or_init(|| Totals::count(self.settings.data_seed, self.settings.size()))
    }
}

impl Dataset for Brokerage {
    fn tables(&self) -> &[Table] {
        tables::TABLES
    }

    fn expected_rows(&self, table: &Table) -> u64 {
        rows::expected_rows(self, &table.name)
    }

    fn highest_keys(&self, table: &Table) -> Option<RangeInclusive<u64>> {
        let highest = rows::highest_key(self, &table.name)?.unsigned_abs();
        Some(highest..=highest)
    }

    /// Trades placed since loading have higher keys.
    fn highest_key_query(&self, table: &Table) -> Option<&'static str> {
        (table.name == "trade").then_some(include_str!("sql/loaded.sql"))
    }

    fn stored_bytes(&self, dialect: Dialect) -> u64 {
        stored::bytes(&self.settings, dialect)
    }

    fn rows(&self, table: &str, part: Part) -> Box<dyn RowSource + '_> {
        rows::rows(self, table, part)
    }

    fn schema(&self, dialect: Dialect) -> String {
        SCHEMA.of(dialect).to_string()
    }

    fn finish(&self, dialect: Dialect) -> String {
        let next_trade = ids::trade_id(self.settings.size().orders() + 1).to_string();
        filled(FINISH.of(dialect), &[("{next_trade}", &next_trade)])
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
        sums::state(&self.checks.sums, admin)
    }

    fn reconcile(
        &self,
        before: &BTreeMap<String, i64>,
        after: &BTreeMap<String, i64>,
        whole_run: &[KindTotals],
    ) -> Vec<CheckResult> {
        ledger::reconcile(&Ledger { before, after, whole_run })
    }

    fn audit(&self, kinds: &[KindTotals], tally: &BTreeMap<String, u64>, waiting: u64) -> Vec<CheckResult> {
        audit::audit(self.settings.size(), kinds, tally, waiting)
    }

    fn deviations(&self) -> Vec<Cow<'static, str>> {
        deviations::DEVIATIONS.iter().copied().map(Cow::Borrowed).collect()
    }

    fn notice(&self) -> &'static str {
        deviations::NOTICE
    }
}
