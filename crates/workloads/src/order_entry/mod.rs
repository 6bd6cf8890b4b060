//! Order entry, derived from TPC-C: a wholesale supplier whose clients enter orders, payments and deliveries.
//!
//! Left out, and listed in its [`ENTRY`]: the terminals' forms, and the long runs that the published benchmark asks
//! for. Users type and think only where a study paces by terminals.

mod audit;
mod calls;
mod checks;
mod definition;
mod entry;
mod inputs;
mod pauses;
mod rows;
mod settings;
mod statements;
mod tables;
mod tally;
mod transactions;

use crate::condition::{DataCheck, DataQueries};
use crate::dataset::{DataTable, Dataset, RowSource, TablePart};
use crate::entry::WorkloadEntry;
use crate::execution::Execution;
use crate::judgement::Judgement;
use crate::ledger::Ledger;
use crate::sql::SqlError;
use crate::way::{self, Transactions};
use ::settings::Problem;
use definition::Constants;
use engines::session::SessionError;
use engines::statement::{ByDialect, Statement};
use serde_json::{Map, Value};
use std::sync::OnceLock;

pub use entry::{ENTRY, KIND};
pub use settings::{DeliveryMode, OrderEntrySettings};

/// The workload at one scale.
#[derive(Debug)]
pub struct OrderEntry {
    settings: OrderEntrySettings,
    constants: Constants,
    statements: ByDialect<Vec<Statement>>,
    queries: DataQueries,
    /// Number of order lines at the start. Counting takes a moment, so it is done once, when it is first needed.
    order_lines: OnceLock<u64>,
}

impl OrderEntry {
    pub fn new(settings: OrderEntrySettings) -> Result<Self, SqlError> {
        Ok(Self {
            settings,
            constants: Constants::draw(settings.data_seed),
            statements: match settings.transactions {
                Transactions::Client => statements::read()?,
                Transactions::Procedures => calls::read()?,
            },
            queries: DataQueries::read(&[checks::QUERIES])?,
            order_lines: OnceLock::new(),
        })
    }

    /// Makes it from the workload's table, which need not be checked yet.
    pub fn from_table(table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
        let settings: OrderEntrySettings = ::settings::read(table, ENTRY.keys)?;
        way::check(settings.transactions, settings.statements)?;
        Ok(Self::new(settings)?)
    }
}

impl Dataset for OrderEntry {
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
        audit::judge_ledger(ledger)
    }

    fn judge_window(&self, execution: &Execution<'_>) -> Vec<Judgement> {
        audit::judge_window(self.settings.warehouses, execution)
    }

    fn sums(&self) -> &[Statement] {
        &self.queries.sums
    }

    fn measured(&self) -> Vec<u64> {
        vec![self.settings.warehouses.into()]
    }

    fn place_of_transactions(&self) -> Transactions {
        self.settings.transactions
    }
}
