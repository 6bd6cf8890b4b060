//! An online shop for DVDs, after DVD Store 2 and 3: customers log in or sign up, search, and buy.
//!
//! An order is the customer's whole visit. Left out, and listed in [`deviations`]: the original's way of driving it.

mod audit;
mod checks;
mod definition;
mod deviations;
mod inputs;
mod rows;
mod settings;
mod size;
mod statements;
mod stored;
mod tables;
mod tally;
mod transactions;

use crate::dataset::{Dataset, Needed, Part, RowSource, Table};
use crate::effects::Effects;
use crate::entry::{Metric, WorkloadEntry};
use crate::ledger::{self, Ledger};
use crate::sql::{self, SqlError, filled};
use crate::way::{self, Transactions};
use crate::workload::{Ending, Kind, Pause, User, Workload};
use ::settings::Problem;
use engines::admin::Admin;
use engines::session::{Session, SessionError};
use engines::statement::{ByDialect, Dialect, Statement};
use record::check::{CheckResult, Moment};
use record::trial::KindTotals;
use rows::{Matches, Ratings, Sold};
use serde_json::{Map, Value};
use statements::Statements;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::OnceLock;
use std::time::Duration;

pub use inputs::{Client, Input};
pub use settings::{KEYS, Settings, Version};
pub use size::Size;

pub const KIND: &str = "dvd-store";

pub const ENTRY: WorkloadEntry = WorkloadEntry {
    kind: KIND,
    meaning: "an online shop: login, searches by category and words, purchases; follows DVD Store 2 and 3",
    keys: KEYS,
    driving_keys: &[
        "n_searches",
        "search_batch_size",
        "n_line_items",
        "pct_newcustomers",
        "think_time",
        "n_reviews",
        "pct_newmember",
        "pct_newreviews",
        "pct_newhelpfulness",
        "search_depth",
        "statements",
    ],
    own_phases: false,
    metric: Metric { name: "OPM", unit: "orders/min", per_ms: 60_000 },
};

const SCHEMA: ByDialect<&str> = sql::files!("sql/schema");
const SCHEMA_OF_COMMUNITY: ByDialect<&str> = sql::files!("sql/community.schema");
const FINISH: ByDialect<&str> = sql::files!("sql/finish");
const FINISH_OF_COMMUNITY: ByDialect<&str> = sql::files!("sql/community.finish");
const PROCEDURES: ByDialect<&str> = ByDialect {
    sqlite: "",
    postgres: include_str!("sql/procedures.postgres.sql"),
    mysql: include_str!("sql/procedures.mysql.sql"),
};
/// Those that are called.
const ROUTINES: [&str; 2] = ["login", "purchase"];
const WORD_INDEXES: [&str; 2] = ["products_by_actor", "products_by_title"];
const MEMBERSHIP_ITEM: &str = ", membership_item INTEGER NOT NULL";

/// The workload at one size.
#[derive(Debug)]
pub struct DvdStore {
    settings: Settings,
    statements: Statements,
    checks: checks::Checks,
    // What follows takes a moment to count, so each is counted once, when it is first needed.
    sold: OnceLock<Sold>,
    ratings: OnceLock<Ratings>,
    matches: OnceLock<Matches>,
    shortage: OnceLock<(f64, f64)>,
}

impl DvdStore {
    pub fn new(settings: Settings) -> Result<Self, SqlError> {
        Ok(Self {
            statements: Statements::read(&settings)?,
            checks: checks::Checks::read(settings.community().is_some())?,
            settings,
            sold: OnceLock::new(),
            ratings: OnceLock::new(),
            matches: OnceLock::new(),
            shortage: OnceLock::new(),
        })
    }

    /// Makes it from the workload's table, which need not be checked yet.
    pub fn from_table(table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
        Size::check(table)?;
        let settings: Settings = ::settings::read(table, KEYS)?;
        settings.check()?;
        Self::new(settings).map_err(SqlError::into_problems)
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

    /// A script, and what version 3 adds to it.
    fn script(&self, dialect: Dialect, base: &ByDialect<&str>, of_community: &ByDialect<&str>) -> String {
        let size = self.settings.db_size;
        let next =
            [size.products(), size.customers(), size.orders(), size.reviews()].map(|last| (last + 1).to_string());
        let next_rating = if self.has_community() { (self.ratings().all + 1).to_string() } else { String::new() };
        let values = [
            ("{next_product}", next[0].as_str()),
            ("{next_customer}", next[1].as_str()),
            ("{next_order}", next[2].as_str()),
            ("{next_review}", next[3].as_str()),
            ("{next_rating}", next_rating.as_str()),
            ("{membership_item}", if self.has_community() { MEMBERSHIP_ITEM } else { "" }),
        ];
        let added = if self.has_community() { of_community.of(dialect) } else { "" };
        filled(&format!("{}{added}", base.of(dialect)), &values)
    }
}

impl Workload for DvdStore {
    type Input = Input;
    type Client = Client;

    const COUNTERS: &'static [&'static str] = tally::Counter::NAMES;

    fn kinds(&self) -> &'static [Kind] {
        tally::kinds(self.has_community())
    }

    fn statements(&self, dialect: Dialect) -> Vec<Statement> {
        self.statements.of(dialect).to_vec()
    }

    fn client(&self, user: User) -> Client {
        Client::new(user.seed, user.index)
    }

    fn next(&self, client: &mut Client) -> Option<Input> {
        Some(client.draw(&self.settings))
    }

    fn kind(&self, _: &Input) -> u16 {
        tally::Work::Order as u16
    }

    fn pause(&self, _: &mut Client, input: &Input, _: bool) -> Pause {
        Pause { keying: Duration::ZERO, thinking: input.thinking }
    }

    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &Input,
        effects: &mut Effects<'_, Input>,
    ) -> Result<Ending, SessionError> {
        transactions::run(self, session, input, effects).await
    }
}

impl Dataset for DvdStore {
    fn tables(&self) -> &[Table] {
        tables::tables(self.settings.version)
    }

    fn expected_rows(&self, table: &Table) -> u64 {
        rows::expected_rows(self, &table.name)
    }

    fn highest_keys(&self, table: &Table) -> Option<RangeInclusive<u64>> {
        let rows = (table.key.len() == 1).then(|| self.expected_rows(table))?;
        // Orders add to the rows they find, and may have been placed before.
        let grows = !["categories", "products", "inventory", "customers"].contains(&&*table.name);
        Some(rows..=if grows { u64::MAX } else { rows })
    }

    /// There are sizes that differ in nothing but customers and orders.
    fn highest_key_query(&self, table: &Table) -> Option<&'static str> {
        (table.name == tables::CUSTOMERS.name).then_some(include_str!("sql/loaded.sql"))
    }

    fn stored_bytes(&self, dialect: Dialect) -> u64 {
        stored::bytes(self.settings.db_size, self.settings.version, dialect)
    }

    fn rows(&self, table: &str, part: Part) -> Box<dyn RowSource + '_> {
        rows::rows(self, table, part)
    }

    fn check_dialect(&self, dialect: Dialect) -> Result<(), Vec<Problem>> {
        way::check_dialect(self.settings.transactions, dialect)
    }

    fn needed(&self) -> Vec<Needed> {
        let mut needed = WORD_INDEXES.map(Needed::Index).to_vec();
        if self.settings.transactions == Transactions::Procedures {
            needed.extend(ROUTINES.map(Needed::Procedure));
        }
        needed
    }

    fn tables_of_other_settings(&self) -> &'static [&'static str] {
        if self.has_community() { &[] } else { &["reviews_helpfulness", "reviews", "membership"] }
    }

    fn schema(&self, dialect: Dialect) -> String {
        self.script(dialect, &SCHEMA, &SCHEMA_OF_COMMUNITY)
    }

    fn finish(&self, dialect: Dialect) -> String {
        let procedures = match self.settings.transactions {
            Transactions::Client => "",
            Transactions::Procedures => PROCEDURES.of(dialect),
        };
        format!("{}{procedures}", self.script(dialect, &FINISH, &FINISH_OF_COMMUNITY))
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

    fn reconcile(
        &self,
        before: &BTreeMap<String, i64>,
        after: &BTreeMap<String, i64>,
        whole_run: &[KindTotals],
    ) -> Vec<CheckResult> {
        audit::reconcile(&Ledger { before, after, whole_run }, self.has_community())
    }

    fn audit(&self, kinds: &[KindTotals], tally: &BTreeMap<String, u64>, _: u64) -> Vec<CheckResult> {
        audit::audit(self, kinds, tally)
    }

    fn deviations(&self) -> Vec<Cow<'static, str>> {
        deviations::DEVIATIONS.iter().copied().map(Cow::Borrowed).collect()
    }

    fn notice(&self) -> &'static str {
        deviations::NOTICE
    }
}
