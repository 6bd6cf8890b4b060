//! Decision support of a retail chain: 99 questions about sales and returns in stores, by catalog and on the web, one after
//! another and in several streams, and maintenance of the data between them.
//!
//! It is derived from TPC-DS. What differs is listed in [`deviations`].

mod audit;
mod checks;
mod deviations;
mod function;
mod inputs;
mod maintenance;
mod questions;
mod rows;
mod scale;
mod settings;
mod stored;
mod stream_orders;
mod tables;
mod tally;
mod transactions;

use crate::dataset::{Dataset, Part, RowSource, Table};
use crate::decision_support::asked::Asked;
use crate::effects::Effects;
use crate::entry::{Metric, WorkloadEntry};
use crate::ledger::{self, Ledger};
use crate::sql::{self, SqlError};
use crate::workload::{Actor, Ending, Kind, User, Workload};
use ::settings::Problem;
use engines::admin::Admin;
use engines::session::{Session, SessionError};
use engines::statement::{ByDialect, Dialect, Statement};
use inputs::{Who, Work};
use maintenance::Things;
use maintenance::orders::Channel;
use questions::{Questions, STATEMENTS};
use record::check::{CheckResult, Moment};
use record::script::{Phase, Stream, Until};
use record::trial::{KindTotals, Pacing};
use rows::counts::AllCounts;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::OnceLock;
use tpcdsgen::config;

use function::Function;
pub use inputs::{Client, Input};
pub use scale::Scale;
pub use settings::{KEYS, Settings};

pub const KIND: &str = "decision-support-ds";

const SCHEMA: ByDialect<&str> = sql::files!("sql/schema");
const FINISH: ByDialect<&str> = sql::files!("sql/finish");

pub const ENTRY: WorkloadEntry = WorkloadEntry {
    kind: KIND,
    meaning: "decision support: 99 large queries about a retail chain, and maintenance; derived from TPC-DS, not comparable with it",
    keys: KEYS,
    driving_keys: &["streams", "query_limit"],
    own_phases: true,
    metric: Metric { name: "questions/h", unit: "questions/h", per_ms: 3_600_000 },
};

/// In the order of [`Who`].
const ACTORS: &[Actor] = &[Actor::ending("power"), Actor::ending("queries"), Actor::ending("maintenance")];

/// Enough for a set of twenty million new lines.
const FUNCTION_LIMIT_MS: u64 = 1_800_000;

/// The workload at one scale.
#[derive(Debug)]
pub struct DecisionSupportDs {
    settings: Settings,
    questions: Questions,
    statements: ByDialect<Vec<Statement>>,
    checks: checks::Checks,
    /// Counting takes a moment, so rows of sales and returns are counted once, when their number is first needed.
    counts: OnceLock<AllCounts>,
    /// What new sales are about, made before anything is timed.
    things: OnceLock<Things>,
}

impl DecisionSupportDs {
    pub fn new(settings: Settings) -> Result<Self, SqlError> {
        Ok(Self {
            questions: Questions::read(settings.scale)?,
            statements: maintenance::read()?,
            checks: checks::Checks::read(settings.scale)?,
            settings,
            counts: OnceLock::new(),
            things: OnceLock::new(),
        })
    }

    /// Makes it from the workload's table, which need not be checked yet.
    pub fn from_table(table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
        Settings::check(table)?;
        let settings: Settings = ::settings::read(table, KEYS)?;
        Self::new(settings).map_err(SqlError::into_problems)
    }

    /// The statements of a question, counted from 1, with the values for which its answer is known.
    pub fn validation(&self, question: u8, dialect: Dialect) -> Result<Vec<Asked>, SessionError> {
        self.questions.asked(question, &self.questions.validation(question), dialect)
    }

    fn things(&self) -> &Things {
        self.things.get_or_init(|| Things::at(self.settings.scale))
    }

    /// Lines of the new sales of these refresh sets.
    fn new_lines(&self, channel: Channel, sets: RangeInclusive<u32>) -> u64 {
        sets.map(|set| channel.orders(self.settings.scale, set) * channel.lines()).sum()
    }

    fn counts(&self) -> &AllCounts {
        self.counts.get_or_init(|| AllCounts::at(self.settings.scale))
    }
}

impl Workload for DecisionSupportDs {
    type Input = Input;
    type Client = Client;

    const COUNTERS: &'static [&'static str] = &tally::COUNTERS;
    const FILLS: bool = true;

    fn kinds(&self) -> &'static [Kind] {
        &tally::KINDS
    }

    fn actors(&self) -> &'static [Actor] {
        ACTORS
    }

    /// One stream, then twice several, each time with maintenance after them. How many users a load asks for, and for how long,
    /// does not matter: the settings say how many streams there are, and each does its work once.
    fn script(&self, _: Phase) -> Vec<Phase> {
        let phase = |name: &str, who: Who, clients: u32, limit_ms: u64| Phase {
            name: name.to_owned(),
            warmup_ms: 0,
            until: Until::StreamsEnd { limit_ms },
            streams: vec![Stream::of(who as u16, Pacing::Clients { clients })],
        };
        // Queries have limits of their own, so a phase reaches its limit only if something hangs.
        let queries_ms = self.settings.query_limit * STATEMENTS as u64;
        let functions = u64::from(self.settings.refresh_runs()) * Function::NAMES.len() as u64;
        let streams = self.settings.streams;
        vec![
            phase("power", Who::Power, 1, queries_ms),
            phase("throughput-1", Who::Query, streams, queries_ms),
            phase("maintenance-1", Who::Maintenance, 1, functions * FUNCTION_LIMIT_MS),
            phase("throughput-2", Who::Query, streams, queries_ms),
            phase("maintenance-2", Who::Maintenance, 1, functions * FUNCTION_LIMIT_MS),
        ]
    }

    /// Sessions need their statements before anything is timed, so whatever else takes a moment is made then, too.
    fn statements(&self, dialect: Dialect) -> Vec<Statement> {
        self.things();
        self.statements.of(dialect).clone()
    }

    fn client(&self, user: User) -> Client {
        Client::new(user, &self.settings)
    }

    fn next(&self, client: &mut Client) -> Option<Input> {
        client.next(&self.questions, &self.settings)
    }

    fn kind(&self, input: &Input) -> u16 {
        match input.work {
            Work::Question { number, .. } => u16::from(number) - 1,
            Work::Maintenance(function) => questions::QUESTIONS + function as u16,
        }
    }

    fn performer(&self, input: &Input) -> u16 {
        input.who as u16
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

impl Dataset for DecisionSupportDs {
    fn tables(&self) -> &[Table] {
        tables::TABLES
    }

    fn expected_rows(&self, table: &Table) -> u64 {
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

    /// Keys of days are numbers of Julian days, and those of times begin at 0.
    fn highest_keys(&self, table: &Table) -> Option<RangeInclusive<u64>> {
        let counts_rows = table.key.len() == 1 && !["date_dim", "time_dim"].contains(&&*table.name);
        counts_rows.then(|| self.expected_rows(table)).map(|rows| rows..=rows)
    }

    fn stored_bytes(&self, dialect: Dialect) -> u64 {
        stored::bytes(self.settings.scale, dialect)
    }

    fn rows(&self, table: &str, part: Part) -> Box<dyn RowSource + '_> {
        rows::rows(self.settings.scale, table, part)
    }

    fn schema(&self, dialect: Dialect) -> String {
        (*SCHEMA.of(dialect)).to_owned()
    }

    fn finish(&self, dialect: Dialect) -> String {
        (*FINISH.of(dialect)).to_owned()
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
        audit::reconcile(&Ledger { before, after, whole_run }, self)
    }

    fn audit(&self, kinds: &[KindTotals], _: &BTreeMap<String, u64>, _: u64) -> Vec<CheckResult> {
        audit::audit(&self.settings, kinds)
    }

    fn deviations(&self) -> Vec<Cow<'static, str>> {
        deviations::DEVIATIONS.iter().copied().map(Cow::Borrowed).collect()
    }

    fn notice(&self) -> &'static str {
        deviations::NOTICE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn phases_of_several_streams_are_each_followed_by_maintenance() {
        let table = json!({ "scale": 0.01, "streams": 6, "query_limit": "1m" });
        let workload = DecisionSupportDs::from_table(table.as_object().unwrap()).unwrap();
        let phases = workload.script(Phase::timed(Pacing::Clients { clients: 9 }, 1_000, 2_000));
        let shown: Vec<_> = phases
            .iter()
            .map(|phase| (&*phase.name, phase.streams[0].actor, phase.streams[0].pacing.clients(), phase.until))
            .collect();
        let minutes = |minutes: u64| Until::StreamsEnd { limit_ms: minutes * 60_000 };
        let (asks, maintains) = (minutes(103), minutes(3 * 11 * 30));
        let expected = [
            ("power", 0, 1, asks),
            ("throughput-1", 1, 6, asks),
            ("maintenance-1", 2, 1, maintains),
            ("throughput-2", 1, 6, asks),
            ("maintenance-2", 2, 1, maintains),
        ];
        assert_eq!(shown, expected);
    }
}
