//! Decision support: 22 questions about orders of parts, one after another and in several streams, and orders that come and go.
//!
//! It is derived from TPC-H. What differs is listed in [`deviations`].

mod audit;
mod checks;
mod deviations;
mod domains;
mod golden;
mod inputs;
mod parameters;
mod questions;
mod refresh;
mod rows;
mod scale;
mod settings;
mod statements;
mod stored;
mod stream_orders;
mod tables;
mod tally;
mod transactions;

use crate::dataset::{Dataset, Part, RowSource, Table};
use crate::decision_support;
use crate::decision_support::asked::Asked;
use crate::effects::Effects;
use crate::entry::{Metric, WorkloadEntry};
use crate::ledger::{self, Ledger};
use crate::sql::{self, SqlError, filled};
use crate::workload::{Actor, Ending, Kind, User, Workload};
use ::settings::Problem;
use engines::admin::Admin;
use engines::session::{Session, SessionError};
use engines::statement::{ByDialect, Dialect, Statement};
use inputs::{Who, Work};
use questions::{QUESTIONS, Questions};
use record::check::{CheckResult, Moment};
use record::script::{Phase, Stream, Until};
use record::trial::{KindTotals, Pacing};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::OnceLock;

pub use inputs::{Client, Input};
pub use scale::Scale;
pub use settings::{KEYS, Settings};

pub const KIND: &str = "decision-support-h";

pub const ENTRY: WorkloadEntry = WorkloadEntry {
    kind: KIND,
    meaning: "decision support: 22 large queries about orders, alone and in several streams; derived from TPC-H, not comparable with it",
    keys: KEYS,
    driving_keys: &["streams", "query_limit"],
    own_phases: true,
    metric: Metric { name: "questions/h", unit: "questions/h", per_ms: 3_600_000 },
};

/// In the order of [`Who`].
const ACTORS: &[Actor] = &[Actor::ending("power"), Actor::ending("queries"), Actor::ending("refresh")];

const SCHEMA: ByDialect<&str> = sql::files!("sql/schema");
const FINISH: ByDialect<&str> = sql::files!("sql/finish");

/// Names of the phases.
pub const POWER: &str = "power";
pub const THROUGHPUT: &str = "throughput";
/// Enough for a million small transactions.
const REFRESH_LIMIT_MS: u64 = 1_800_000;

/// The workload at one scale.
#[derive(Debug)]
pub struct DecisionSupportH {
    settings: Settings,
    questions: Questions,
    statements: Vec<Statement>,
    checks: checks::Checks,
    /// Counting takes a moment, so lines are counted once, when their number is first needed.
    lines: OnceLock<u64>,
}

impl DecisionSupportH {
    pub fn new(settings: Settings) -> Result<Self, SqlError> {
        Ok(Self {
            questions: Questions::read(settings.scale)?,
            statements: statements::read()?,
            checks: checks::Checks::read()?,
            settings,
            lines: OnceLock::new(),
        })
    }

    /// Makes it from the workload's table, which need not be checked yet.
    pub fn from_table(table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
        decision_support::scale::check(table)?;
        let settings: Settings = ::settings::read(table, KEYS)?;
        Self::new(settings).map_err(SqlError::into_problems)
    }

    /// A question, counted from 1, with the values for which its answer is known.
    pub fn validation(&self, question: u8, dialect: Dialect) -> Result<Asked, SessionError> {
        self.questions.asked(question, &self.questions.validation(question), dialect)
    }
}

impl Workload for DecisionSupportH {
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

    /// One stream, then several with a stream of refresh functions beside them. How many users a load asks for, and for how long,
    /// does not matter: the settings say how many streams there are, and each does its work once.
    fn script(&self, _: Phase) -> Vec<Phase> {
        let stream = |who: Who, clients: u32| Stream::of(who as u16, Pacing::Clients { clients });
        // Queries have limits of their own, so a phase reaches its limit only if something hangs.
        let queries_ms = self.settings.query_limit * u64::from(QUESTIONS);
        let phase = |name: &str, pairs: u32, streams| Phase {
            name: name.to_owned(),
            warmup_ms: 0,
            until: Until::StreamsEnd { limit_ms: queries_ms + 2 * u64::from(pairs) * REFRESH_LIMIT_MS },
            streams,
        };
        let several = self.settings.streams();
        vec![
            phase(POWER, 1, vec![stream(Who::Power, 1)]),
            phase(THROUGHPUT, several, vec![stream(Who::Query, several), stream(Who::Refresh, 1)]),
        ]
    }

    /// Sessions need their statements before anything is timed, so whatever else takes a moment is made then, too.
    fn statements(&self, _: Dialect) -> Vec<Statement> {
        refresh::prepare();
        self.statements.clone()
    }

    fn client(&self, user: User) -> Client {
        Client::new(user)
    }

    fn next(&self, client: &mut Client) -> Option<Input> {
        client.next(&self.questions, self.settings.streams())
    }

    fn kind(&self, input: &Input) -> u16 {
        match input.work {
            Work::Question { number, .. } => u16::from(number) - 1,
            Work::NewSales => tally::NEW_SALES_KIND,
            Work::OldSales => tally::NEW_SALES_KIND + 1,
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

    /// Keys of regions and nations begin at 0, and those of orders have gaps.
    fn highest_keys(&self, table: &Table) -> Option<RangeInclusive<u64>> {
        let counts_rows = ["supplier", "customer", "part"].contains(&&*table.name);
        counts_rows.then(|| self.expected_rows(table)).map(|rows| rows..=rows)
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

    fn reconcile(
        &self,
        before: &BTreeMap<String, i64>,
        after: &BTreeMap<String, i64>,
        whole_run: &[KindTotals],
    ) -> Vec<CheckResult> {
        audit::reconcile(&Ledger { before, after, whole_run }, &self.settings)
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

    fn from(table: &Value) -> Result<DecisionSupportH, Vec<Problem>> {
        DecisionSupportH::from_table(table.as_object().unwrap())
    }

    #[test]
    fn a_scale_that_no_data_have_is_refused_by_its_key() {
        for wrong in [json!(0.015), json!(0), json!(2_000), json!("big")] {
            let problems = from(&json!({ "scale": wrong })).unwrap_err();
            assert_eq!(problems[0].path, "scale", "{wrong}");
        }
        let large = from(&json!({ "scale": 100 })).unwrap();
        assert!(large.check_dialect(Dialect::Postgres).is_ok());
        assert_eq!(large.check_dialect(Dialect::Sqlite).unwrap_err()[0].path, "scale");
        assert!(large.schema(Dialect::Postgres).contains("o_orderkey INTEGER"));
        assert!(from(&json!({ "scale": 1_000 })).unwrap().schema(Dialect::Mysql).contains("l_orderkey BIGINT"));
    }

    #[test]
    fn a_phase_of_one_stream_comes_before_one_of_several() {
        let load = Phase::timed(Pacing::Clients { clients: 9 }, 1_000, 2_000);
        let phases = from(&json!({ "scale": 100, "query_limit": "1m" })).unwrap().script(load);
        let clients: Vec<_> = phases
            .iter()
            .map(|phase| phase.streams.iter().map(|stream| (stream.actor, stream.pacing.clients())).collect::<Vec<_>>())
            .collect();
        assert_eq!(clients, [vec![(0, 1)], vec![(1, 5), (2, 1)]]);
        let minutes = |minutes: u64| Until::StreamsEnd { limit_ms: minutes * 60_000 };
        assert_eq!([phases[0].until, phases[1].until], [minutes(22 + 60), minutes(22 + 5 * 60)]);
    }
}
