//! Decision support of a retail chain: 99 questions about sales and returns in stores, by catalog and on the web, one after
//! another and in several streams, and maintenance of the data between them.
//!
//! It is derived from TPC-DS. Its [`ENTRY`] lists the differences.

mod checks;
mod entry;
mod maintenance;
mod questions;
mod rows;
mod scale;
mod settings;
mod stored;
mod tables;
mod transactions;

use crate::condition::{DataCheck, DataQueries};
use crate::dataset::{DataTable, Dataset, RowSource, TablePart};
use crate::decision_support::questions::Questions;
use crate::decision_support::shapes::AskedStatement;
use crate::decision_support::streams;
use crate::entry::WorkloadEntry;
use crate::execution::Execution;
use crate::judgement::Judgement;
use crate::ledger::Ledger;
use crate::sql::SqlError;
use crate::workload::TransactionKind;
use ::settings::Problem;
use engines::session::SessionError;
use engines::statement::{ByDialect, Dialect, Statement};
use maintenance::orders::SalesChannel;
use maintenance::{MaintenanceFunction, Things};
use rows::counts::AllCounts;
use serde_json::{Map, Value};
use std::ops::RangeInclusive;
use std::sync::OnceLock;
use tpcdsgen::config;

pub use crate::decision_support::scale::DataScale;
pub use entry::{ENTRY, KIND};
pub use settings::DecisionSupportDsSettings;

const KINDS: [TransactionKind; questions::NAMES.len() + MaintenanceFunction::NAMES.len()] =
    streams::kinds(questions::NAMES, MaintenanceFunction::NAMES);

/// The workload at one scale.
#[derive(Debug)]
pub struct DecisionSupportDs {
    settings: DecisionSupportDsSettings,
    questions: Questions,
    statements: ByDialect<Vec<Statement>>,
    queries: DataQueries,
    /// Counting takes a moment, so rows of sales and returns are counted once, when their number is first needed.
    counts: OnceLock<AllCounts>,
    /// What new sales are about, made before anything is timed.
    things: OnceLock<Things>,
}

impl DecisionSupportDs {
    pub fn new(settings: DecisionSupportDsSettings) -> Result<Self, SqlError> {
        Ok(Self {
            questions: Questions::read(&questions::QUESTIONS, settings.scale)?,
            statements: maintenance::read()?,
            queries: checks::read(settings.scale)?,
            settings,
            counts: OnceLock::new(),
            things: OnceLock::new(),
        })
    }

    /// Makes it from the workload's table, which need not be checked yet.
    pub fn from_table(table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
        DecisionSupportDsSettings::check(table)?;
        Ok(Self::new(::settings::read(table, ENTRY.keys)?)?)
    }

    /// The statements of a question, counted from 1, with the values for which its answer is known.
    pub fn validation(&self, question: u8, dialect: Dialect) -> Result<Vec<AskedStatement>, SessionError> {
        self.questions.validation(question, dialect)
    }

    fn things(&self) -> &Things {
        self.things.get_or_init(|| Things::at(self.settings.scale))
    }

    /// Lines of the new sales of these refresh sets.
    fn new_lines(&self, channel: SalesChannel, sets: RangeInclusive<u32>) -> u64 {
        sets.map(|set| channel.orders(self.settings.scale, set) * channel.lines()).sum()
    }

    fn counts(&self) -> &AllCounts {
        self.counts.get_or_init(|| AllCounts::at(self.settings.scale))
    }
}

impl Dataset for DecisionSupportDs {
    fn entry(&self) -> &'static WorkloadEntry {
        &ENTRY
    }

    fn tables(&self) -> &[DataTable] {
        tables::TABLES
    }

    fn expected_rows(&self, table: &DataTable) -> u64 {
        match &*table.name {
            "store_sales" => self.counts().store.sales,
            "store_returns" => self.counts().store.returns,
            "catalog_sales" => self.counts().catalog.sales,
            "catalog_returns" => self.counts().catalog.returns,
            "web_sales" => self.counts().web.sales,
            "web_returns" => self.counts().web.returns,
            "new_orders" | "new_lines" | "new_returns" => 0,
            name => {
                let generated = config::Table::values().iter().find(|table| table.get_name() == name);
                generated.map_or(1, |table| self.settings.scale.rows(*table))
            }
        }
    }

    fn rows(&self, table: &str, part: TablePart) -> Box<dyn RowSource + '_> {
        rows::rows(self.settings.scale, table, part)
    }

    fn judge_data(&self, check: &mut DataCheck<'_>) -> Result<Vec<Judgement>, SessionError> {
        checks::judge_data(self, check)
    }

    fn judge_ledger(&self, ledger: &Ledger<'_>) -> Vec<Judgement> {
        checks::judge_ledger(self, ledger)
    }

    /// In each trial, every stream of the power phase and of two phases asks each question once, and every refresh run of both
    /// maintenance phases has each function once.
    fn judge_window(&self, execution: &Execution<'_>) -> Vec<Judgement> {
        let streams = 1 + 2 * u64::from(self.settings.streams);
        let rule = "There is a refresh run for two streams of each phase of several streams, with all its functions.";
        let maintained = ("maintained", rule, 2 * u64::from(self.settings.refresh_runs()));
        streams::judge_window(execution, &KINDS, streams, maintained)
    }

    fn sums(&self) -> &[Statement] {
        &self.queries.sums
    }

    /// Keys of days are numbers of Julian days, and those of times begin at 0.
    fn highest_keys(&self, table: &DataTable) -> Option<RangeInclusive<u64>> {
        let counts_rows = table.key.len() == 1 && !["date_dim", "time_dim"].contains(&&*table.name);
        counts_rows.then(|| self.expected_rows(table)).map(|rows| rows..=rows)
    }

    fn stored_bytes(&self, dialect: Dialect) -> u64 {
        stored::bytes(self.settings.scale, dialect)
    }
}
