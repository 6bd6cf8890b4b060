//! An online shop for DVDs, after DVD Store 2 and 3: customers log in or sign up, search, and buy.
//!
//! An order is the customer's whole visit. Left out, and listed in its [`ENTRY`]: the original's way of driving it.

mod audit;
mod checks;
mod definition;
mod entry;
mod inputs;
mod rows;
mod settings;
mod size;
mod statements;
mod tables;
mod tally;
mod transactions;

use crate::condition::{DataCheck, DataQueries};
use crate::dataset::{DataTable, Dataset, RowSource, TablePart};
use crate::entry::{WorkloadEntry, WorkloadScripts};
use crate::execution::Execution;
use crate::judgement::Judgement;
use crate::ledger::Ledger;
use crate::sql::SqlError;
use crate::way::Transactions;
use ::settings::Problem;
use engines::session::SessionError;
use engines::statement::Statement;
use rows::{Matches, Ratings, Sold};
use serde_json::{Map, Value};
use statements::DvdStoreStatements;
use std::ops::RangeInclusive;
use std::sync::OnceLock;

pub use entry::{ENTRY, KIND};
pub use settings::{DvdStoreSettings, DvdStoreVersion};
pub use size::DvdStoreSize;

const MEMBERSHIP_ITEM: &str = ", membership_item INTEGER NOT NULL";

/// The workload at one size.
#[derive(Debug)]
pub struct DvdStore {
    settings: DvdStoreSettings,
    tables: Vec<DataTable>,
    statements: DvdStoreStatements,
    queries: DataQueries,
    // What follows takes a moment to count, so each is counted once, when it is first needed.
    sold: OnceLock<Sold>,
    ratings: OnceLock<Ratings>,
    matches: OnceLock<Matches>,
    shortage: OnceLock<(f64, f64)>,
}

impl DvdStore {
    pub fn new(settings: DvdStoreSettings) -> Result<Self, SqlError> {
        let queries = [checks::QUERIES, checks::QUERIES_OF_COMMUNITY];
        let queries = if settings.community().is_some() { &queries[..] } else { &queries[..1] };
        Ok(Self {
            tables: tables::of(settings.version),
            statements: DvdStoreStatements::read(&settings)?,
            queries: DataQueries::read(queries)?,
            settings,
            sold: OnceLock::new(),
            ratings: OnceLock::new(),
            matches: OnceLock::new(),
            shortage: OnceLock::new(),
        })
    }

    /// Makes it from the workload's table, which need not be checked yet.
    pub fn from_table(table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
        DvdStoreSize::check(table)?;
        let settings: DvdStoreSettings = ::settings::read(table, ENTRY.keys)?;
        settings.check()?;
        Ok(Self::new(settings)?)
    }

    fn sold(&self) -> &Sold {
        self.sold.get_or_init(|| Sold::add_up(self.settings.data_seed, self.settings.db_size))
    }

    fn ratings(&self) -> &Ratings {
        self.ratings.get_or_init(|| Ratings::count(self.settings.data_seed, self.settings.db_size))
    }

    fn matches(&self) -> &Matches {
        self.matches.get_or_init(|| Matches::count(self.settings.data_seed, self.settings.db_size))
    }

    /// The chance that an item is not in stock: at the start, and once low stocks have been filled up.
    fn shortage(&self) -> (f64, f64) {
        *self.shortage.get_or_init(|| rows::chance_of_shortage(self.settings.data_seed, self.settings.db_size))
    }

    fn has_community(&self) -> bool {
        self.settings.community().is_some()
    }
}

impl Dataset for DvdStore {
    fn entry(&self) -> &'static WorkloadEntry {
        &ENTRY
    }

    fn tables(&self) -> &[DataTable] {
        &self.tables
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
        audit::judge_ledger(ledger, self.has_community())
    }

    fn judge_window(&self, execution: &Execution<'_>) -> Vec<Judgement> {
        audit::judge_window(self, execution)
    }

    fn sums(&self) -> &[Statement] {
        &self.queries.sums
    }

    fn measured(&self) -> Vec<u64> {
        let size = self.settings.db_size;
        let reviews = if self.has_community() { size.reviews() } else { 0 };
        [size.customers(), size.products(), reviews].map(u64::from).to_vec()
    }

    fn words(&self) -> Vec<(&'static str, String)> {
        let size = self.settings.db_size;
        let after = |last: u64| (last + 1).to_string();
        vec![
            ("{next_product}", after(size.products().into())),
            ("{next_customer}", after(size.customers().into())),
            ("{next_order}", after(size.orders().into())),
            ("{next_review}", after(size.reviews().into())),
            ("{next_rating}", if self.has_community() { after(self.ratings().all) } else { String::new() }),
            ("{membership_item}", if self.has_community() { MEMBERSHIP_ITEM } else { "" }.to_owned()),
        ]
    }

    fn more_scripts(&self) -> WorkloadScripts {
        if self.has_community() { entry::COMMUNITY } else { WorkloadScripts::NONE }
    }

    fn place_of_transactions(&self) -> Transactions {
        self.settings.transactions
    }

    fn highest_keys(&self, table: &DataTable) -> Option<RangeInclusive<u64>> {
        let rows = (table.key.len() == 1).then(|| self.expected_rows(table))?;
        // Orders add to the rows they find, and may have been placed before.
        let grows = !["categories", "products", "inventory", "customers"].contains(&&*table.name);
        Some(rows..=if grows { u64::MAX } else { rows })
    }

    /// There are sizes that differ in nothing but customers and orders.
    fn highest_key_query(&self, table: &DataTable) -> Option<&'static str> {
        (table.name == "customers").then_some(include_str!("sql/loaded.sql"))
    }

    fn tables_of_other_settings(&self) -> &'static [&'static str] {
        if self.has_community() { &[] } else { &["reviews_helpfulness", "reviews", "membership"] }
    }
}
