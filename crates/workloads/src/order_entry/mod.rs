//! Order entry, derived from TPC-C: a wholesale supplier whose clients enter orders, payments and deliveries.
//!
//! Left out, and listed in [`deviations`]: the terminals' forms, and the long runs that the published benchmark asks
//! for. Users type and think only where a study paces by terminals.

mod audit;
mod calls;
mod checks;
mod definition;
mod deviations;
mod finding;
mod inputs;
mod ledger;
mod pauses;
mod rows;
mod settings;
mod statements;
mod stored;
mod tables;
mod tally;
mod transactions;

use crate::dataset::{Dataset, Needed, Part, RowSource, Table};
use crate::effects::Effects;
use crate::entry::{Metric, WorkloadEntry};
use crate::ledger::Ledger;
use crate::sql::{self, SqlError};
use crate::way::{self, Transactions};
use crate::workload::{Actor, Ending, Kind, Pause, User, Workload};
use ::settings::Problem;
use definition::Constants;
use engines::admin::Admin;
use engines::session::{Session, SessionError};
use engines::statement::{ByDialect, Dialect, Statement};
use inputs::Card;
use record::check::{CheckResult, Moment};
use record::trial::KindTotals;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

pub use inputs::{Client, Input};
pub use settings::{Delivery, KEYS, Settings};

pub const KIND: &str = "order-entry";

pub const ENTRY: WorkloadEntry = WorkloadEntry {
    kind: KIND,
    meaning: "wholesale orders, payments and deliveries; derived from TPC-C, not comparable with it",
    keys: KEYS,
    driving_keys: &["delivery", "statements"],
    own_phases: false,
    metric: Metric { name: "NOPM", unit: "new orders/min", per_ms: 60_000 },
};

/// Orders that are rolled back on purpose count, too, as the definition says. A tool that takes its figure from the
/// order numbers in the database reports 1 % less.
const KINDS: [Kind; Card::NAMES.len()] = Kind::all(Card::NAMES, 1);

/// If deliveries are not deferred, only the first exists.
const ACTORS: &[Actor] = &[Actor::paced("terminals"), Actor::reacting("deliveries", 0)];

const SCHEMA: ByDialect<&str> = sql::files!("sql/schema");
const FINISH: ByDialect<&str> = ByDialect {
    sqlite: include_str!("sql/finish.sql"),
    postgres: include_str!("sql/finish.postgres.sql"),
    mysql: include_str!("sql/finish.sql"),
};

/// The workload at one scale.
#[derive(Debug)]
pub struct OrderEntry {
    settings: Settings,
    constants: Constants,
    statements: ByDialect<Vec<Statement>>,
    checks: checks::Checks,
    /// Number of order lines at the start. Counting takes a moment, so it is done once, when it is first needed.
    order_lines: OnceLock<u64>,
}

impl OrderEntry {
    pub fn new(settings: Settings) -> Result<Self, SqlError> {
        Ok(Self {
            settings,
            constants: Constants::draw(settings.data_seed),
            statements: match settings.transactions {
                Transactions::Client => statements::read()?,
                Transactions::Procedures => calls::read()?,
            },
            checks: checks::Checks::read()?,
            order_lines: OnceLock::new(),
        })
    }

    /// Makes it from the workload's table, which need not be checked yet.
    pub fn from_table(table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
        let settings: Settings = ::settings::read(table, KEYS)?;
        way::check(settings.transactions, settings.statements)?;
        Self::new(settings).map_err(SqlError::into_problems)
    }
}

impl Workload for OrderEntry {
    type Input = Input;
    type Client = Client;

    const COUNTERS: &'static [&'static str] = tally::Counter::NAMES;

    fn kinds(&self) -> &'static [Kind] {
        &KINDS
    }

    fn statements(&self, dialect: Dialect) -> Vec<Statement> {
        self.statements.of(dialect).clone()
    }

    fn client(&self, user: User) -> Client {
        Client::new(user.seed, user.index, self.settings.warehouses)
    }

    fn next(&self, client: &mut Client) -> Option<Input> {
        Some(self.draw(client))
    }

    fn kind(&self, input: &Input) -> u16 {
        input.card() as u16
    }

    fn actors(&self) -> &'static [Actor] {
        match self.settings.delivery {
            Delivery::Deferred => ACTORS,
            Delivery::Inline => &ACTORS[..1],
        }
    }

    /// A terminal only queues a deferred delivery; the other actor executes it.
    fn performer(&self, input: &Input) -> u16 {
        u16::from(matches!(input, Input::Delivery(_)) && self.settings.delivery == Delivery::Deferred)
    }

    fn pause(&self, client: &mut Client, input: &Input, terminal: bool) -> Pause {
        if terminal { pauses::pause(client, input.card()) } else { Pause::default() }
    }

    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &Input,
        effects: &mut Effects<'_, Input>,
    ) -> Result<Ending, SessionError> {
        tally::count_inputs(&mut effects.tally, input);
        match self.settings.transactions {
            Transactions::Client => {
                transactions::run(session, self.settings.statements.sending(), input, effects).await
            }
            Transactions::Procedures => calls::run(session, input, effects).await,
        }
    }
}

impl Dataset for OrderEntry {
    fn tables(&self) -> &[Table] {
        tables::TABLES
    }

    fn expected_rows(&self, table: &Table) -> u64 {
        rows::expected_rows(self, &table.name)
    }

    fn stored_bytes(&self, dialect: Dialect) -> u64 {
        stored::bytes(self.settings.warehouses, dialect)
    }

    fn rows(&self, table: &str, part: Part) -> Box<dyn RowSource + '_> {
        rows::rows(self, table, part)
    }

    fn check_dialect(&self, dialect: Dialect) -> Result<(), Vec<Problem>> {
        way::check_dialect(self.settings.transactions, dialect)
    }

    fn needed(&self) -> Vec<Needed> {
        match self.settings.transactions {
            Transactions::Client => Vec::new(),
            Transactions::Procedures => calls::ROUTINES.map(Needed::Procedure).to_vec(),
        }
    }

    fn schema(&self, dialect: Dialect) -> String {
        (*SCHEMA.of(dialect)).to_owned()
    }

    fn finish(&self, dialect: Dialect) -> String {
        let procedures = match self.settings.transactions {
            Transactions::Client => "",
            Transactions::Procedures => calls::PROCEDURES.of(dialect),
        };
        format!("{}{procedures}", FINISH.of(dialect))
    }

    fn check(&self, admin: &mut dyn Admin, dialect: Dialect, moment: Moment) -> Result<Vec<CheckResult>, SessionError> {
        checks::check(self, admin, dialect, moment)
    }

    fn state(&self, admin: &mut dyn Admin) -> Result<BTreeMap<String, i64>, SessionError> {
        crate::ledger::state(&self.checks.sums, admin)
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
        audit::audit(self.settings.warehouses, kinds, tally, waiting)
    }

    fn deviations(&self) -> Vec<Cow<'static, str>> {
        deviations::DEVIATIONS.iter().copied().map(Cow::Borrowed).collect()
    }

    fn notice(&self) -> &'static str {
        deviations::NOTICE
    }
}
