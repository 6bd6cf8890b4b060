//! Slob: physical reads and writes through the database's own cache, with next to no computing.
//!
//! Each row has a page to itself and rows lie in random order. So an operation on a range of keys visits as many pages as
//! rows, at random places. With a cache smaller than the tables that is I/O; with a larger one it is work in the cache.
//!
//! Left out, and listed in its [`ENTRY`]: loops inside the database, and external scripts.

mod checks;
mod inputs;
mod rows;
mod settings;
mod transactions;

use crate::condition::DataCheck;
use crate::dataset::{DataTable, Dataset, RowSource, TablePart};
use crate::entry::{ThroughputMetric, WorkloadEntry, WorkloadScripts};
use crate::execution::Execution;
use crate::judgement::Judgement;
use crate::ledger::Ledger;
use crate::sql::{self, SqlError, filled};
use ::settings::Problem;
use checks::SlobQueries;
use engines::admin::Admin;
use engines::session::SessionError;
use engines::statement::{ByDialect, Dialect, Statement};
use rows::TablePurpose;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub use settings::SlobSettings;

pub const KIND: &str = "slob";

pub const ENTRY: WorkloadEntry = WorkloadEntry {
    kind: KIND,
    meaning: "random reads and updates of single-row pages; after SLOB and pgio, not comparable with them",
    keys: settings::KEYS,
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
    metric: ThroughputMetric { name: "operations/s", unit: "operations/s", per_ms: 1_000 },
    notice: "The slob workload follows the ideas of SLOB, an I/O load generator for Oracle databases by \
        Kevin Closson, and of its PostgreSQL counterpart pgio. It shares no code with them, runs other statements on other \
        databases, and its results are not comparable with theirs.",
    deviations: DEVIATIONS,
    // Each is repeated for every table.
    scripts: WorkloadScripts {
        schema: sql::files!("sql/schema"),
        finish: ByDialect {
            sqlite: include_str!("sql/finish.sql"),
            postgres: include_str!("sql/finish.postgres.sql"),
            mysql: include_str!("sql/finish.sql"),
        },
        put_back: ByDialect { mysql: include_str!("sql/put_back.mysql.sql"), ..WorkloadScripts::NONE.put_back },
        ..WorkloadScripts::NONE
    },
    // Measured by loading 2,176 and 8,320 rows into PostgreSQL 15, MariaDB 10.11 and SQLite. A row has a page to itself, or half
    // of one of MariaDB's; its entry in an index is small.
    stored: ByDialect { sqlite: &[0, 4_114], postgres: &[0, 8_214], mysql: &[0, 9_045] },
};

const DEVIATIONS: &[&str] = &[
    "Operations are prepared statements sent by clients, one after another; SLOB runs a loop inside the database. The \
     driver's share of the work is in its testimony.",
    "A range has work_unit - 1 rows, as in SLOB, but begins anywhere in the schema or hot spot, so that the rows at \
     the ends are reached, too, and hot ranges do not reach out of the hot spot.",
    "Updates and scans are spread at random within their hundred, not bunched at its beginning; therefore shares from 51 \
     to 99 per cent are possible as well.",
    "Every update also adds one to a counter in each of its rows, so that lost and repeated updates are found.",
    "The hot spot's rhythm counts reads and updates only, and clients begin it at different beats.",
    "Pauses are drawn by chance of their own, with a resolution of a microsecond.",
    "Random text is made of the 62 Latin letters and digits.",
    "A schema is a pair of tables in one database, with the names slobN and slobN_scan.",
    "Sizes count 8 KiB for a row whatever the page: SQLite's pages have 4 KiB, so its tables are half as large.",
    "An InnoDB page holds at least two rows. Tables are made anew with pages filled to a tenth, which leaves two in each; \
     rows in one page are no neighbours by key, so a range still goes through as many pages as it has rows.",
    "Figures of the database and the device are read twice within the loaded window, never before or after it.",
    "One operation is one statement and commits by itself; the isolation is the engine's setting.",
];

/// Only `InnoDB` must rebuild tables to spread their rows, and changes a server setting for that.
const MADE_ANEW: ByDialect<&str> = ByDialect { sqlite: "", postgres: "", mysql: include_str!("sql/finish.mysql.sql") };

/// The workload at one scale.
#[derive(Debug)]
pub struct Slob {
    settings: SlobSettings,
    tables: Vec<DataTable>,
    statements: Vec<Statement>,
    queries: Box<SlobQueries>,
}

impl Slob {
    pub fn new(settings: SlobSettings) -> Result<Self, SqlError> {
        Ok(Self {
            settings,
            tables: rows::tables(settings.schemas),
            statements: transactions::statements(&settings)?,
            queries: Box::new(SlobQueries::read()?),
        })
    }

    /// Makes it from the workload's table, which need not be checked yet.
    pub fn from_table(table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
        let settings: SlobSettings = ::settings::read(table, ENTRY.keys)?;
        let problems = settings.problems();
        if problems.is_empty() { Ok(Self::new(settings)?) } else { Err(problems) }
    }

    /// A script for one table, repeated for each of those of a purpose.
    fn for_each(&self, script: &str, is_wanted: impl Fn(TablePurpose) -> bool) -> String {
        let names = self.tables.iter().map(|table| &*table.name);
        let names = names.filter(|name| rows::parse(name).is_some_and(|(_, purpose)| is_wanted(purpose)));
        names.map(|name| filled(script, &[("{table}", name)])).collect()
    }
}

impl Dataset for Slob {
    fn entry(&self) -> &'static WorkloadEntry {
        &ENTRY
    }

    fn tables(&self) -> &[DataTable] {
        &self.tables
    }

    fn expected_rows(&self, table: &DataTable) -> u64 {
        rows::parse(&table.name).map_or(0, |(_, purpose)| u64::from(rows::rows_of(&self.settings, purpose)))
    }

    fn rows(&self, table: &str, part: TablePart) -> Box<dyn RowSource + '_> {
        rows::rows(&self.settings, table, part)
    }

    fn judge_data(&self, check: &mut DataCheck<'_>) -> Result<Vec<Judgement>, SessionError> {
        checks::judge_data(self, check)
    }

    fn judge_ledger(&self, ledger: &Ledger<'_>) -> Vec<Judgement> {
        checks::judge_ledger(&self.settings, ledger)
    }

    fn judge_window(&self, execution: &Execution<'_>) -> Vec<Judgement> {
        checks::judge_window(&self.settings, execution)
    }

    fn measured(&self) -> Vec<u64> {
        vec![self.tables.iter().map(|table| self.expected_rows(table)).sum()]
    }

    fn schema(&self, dialect: Dialect) -> String {
        self.for_each(ENTRY.scripts.schema.of(dialect), |_| true)
    }

    fn finish(&self, dialect: Dialect) -> String {
        self.for_each(MADE_ANEW.of(dialect), |_| true)
            + &self.for_each(ENTRY.scripts.finish.of(dialect), |purpose| purpose == TablePurpose::Ranges)
    }

    fn state(&self, admin: &mut dyn Admin) -> Result<BTreeMap<String, i64>, SessionError> {
        checks::state(self, admin)
    }
}
