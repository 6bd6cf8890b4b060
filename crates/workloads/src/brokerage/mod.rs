//! A brokerage house, derived from a published benchmark: customers place orders through brokers, and a market executes them.
//!
//! Left out, and listed in its [`ENTRY`]: the original's generator, its texts, and its rules for publication.

mod accounts;
mod audit;
mod calendar;
mod checks;
mod customers;
mod driven;
mod entry;
mod exchange;
mod ids;
mod inputs;
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
mod tables;
mod tally;
mod trading;
mod transactions;
mod unit;
mod watched;
mod words;
mod work;

use crate::condition::{DataCheck, DataQueries};
use crate::dataset::{DataTable, Dataset, RowSource, TablePart};
use crate::entry::WorkloadEntry;
use crate::execution::Execution;
use crate::judgement::Judgement;
use crate::ledger::Ledger;
use crate::sql::SqlError;
use ::settings::Problem;
use engines::session::SessionError;
use engines::statement::{ByDialect, Statement};
use replay::TradingTotals;
use serde_json::{Map, Value};
use std::ops::RangeInclusive;
use std::sync::OnceLock;

pub use entry::{ENTRY, KIND};
pub use settings::BrokerageSettings;

/// The workload at one size.
#[derive(Debug)]
pub struct Brokerage {
    settings: BrokerageSettings,
    statements: ByDialect<Vec<Statement>>,
    queries: DataQueries,
    /// Counted once, when they are first needed: the initial trading of all load units is replayed for them.
    totals: OnceLock<TradingTotals>,
}

impl Brokerage {
    pub fn new(settings: BrokerageSettings) -> Result<Self, SqlError> {
        let (statements, queries) = (statements::read()?, DataQueries::read(&[checks::QUERIES])?);
        Ok(Self { settings, statements, queries, totals: OnceLock::new() })
    }

    /// Makes it from the workload's table, which need not be checked yet.
    pub fn from_table(table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
        let settings: BrokerageSettings = ::settings::read(table, ENTRY.keys)?;
        settings.check()?;
        Ok(Self::new(settings)?)
    }

    fn totals(&self) -> &TradingTotals {
        self.totals.get_or_init(|| TradingTotals::count(self.settings.data_seed, self.settings.size()))
    }
}

impl Dataset for Brokerage {
    fn entry(&self) -> &'static WorkloadEntry {
        &ENTRY
    }

    fn tables(&self) -> &[DataTable] {
        tables::TABLES
    }

    fn expected_rows(&self, table: &DataTable) -> u64 {
        rows::expected_rows(self, &table.name)
    }

    fn rows(&self, table: &str, part: TablePart) -> Box<dyn RowSource + '_> {
        rows::rows(self, table, part)
    }

    fn judge_data(&self, check: &mut DataCheck<'_>) -> Result<Vec<Judgement>, SessionError> {
        checks::judge_data(self, check)
    }

    fn judge_ledger(&self, ledger: &Ledger<'_>) -> Vec<Judgement> {
        checks::judge_ledger(ledger)
    }

    fn judge_window(&self, execution: &Execution<'_>) -> Vec<Judgement> {
        audit::judge_window(self.settings.size(), *execution)
    }

    fn sums(&self) -> &[Statement] {
        &self.queries.sums
    }

    /// There is one news item for each customer, and there are whole thousands of customers.
    fn measured(&self) -> Vec<u64> {
        let (size, news_bytes) = (self.settings.size(), u64::from(self.settings.news_bytes));
        let customers = u64::from(size.customers);
        vec![customers, size.trades(), customers / 100 * news_bytes]
    }

    fn words(&self) -> Vec<(&'static str, String)> {
        vec![("{next_trade}", ids::trade_id(self.settings.size().orders() + 1).to_string())]
    }

    fn highest_keys(&self, table: &DataTable) -> Option<RangeInclusive<u64>> {
        let highest = rows::highest_key(self, &table.name)?.unsigned_abs();
        Some(highest..=highest)
    }

    /// Trades placed since loading have higher keys.
    fn highest_key_query(&self, table: &DataTable) -> Option<&'static str> {
        (table.name == "trade").then_some(include_str!("sql/loaded.sql"))
    }
}
