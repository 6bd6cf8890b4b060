//! Decision support: 22 questions about orders of parts, one after another and in several streams, and orders that come and go.
//!
//! It is derived from TPC-H. Its [`ENTRY`] lists the differences.

mod checks;
mod domains;
mod entry;
mod golden;
mod inputs;
mod parameters;
mod questions;
mod refresh;
mod rows;
mod scale;
mod settings;
mod tables;
mod transactions;

use crate::condition::{DataCheck, DataQueries};
use crate::dataset::{DataTable, Dataset, RowSource, TablePart};
use crate::decision_support::questions::Questions;
use crate::decision_support::shapes::AskedStatement;
use crate::decision_support::{scale as scales, streams};
use crate::entry::WorkloadEntry;
use crate::execution::Execution;
use crate::judgement::Judgement;
use crate::ledger::Ledger;
use crate::sql::SqlError;
use crate::workload::TransactionKind;
use ::settings::Problem;
use engines::session::SessionError;
use engines::statement::{Dialect, Statement};
use inputs::RefreshFunction;
use serde_json::{Map, Value};
use std::ops::RangeInclusive;
use std::sync::OnceLock;

pub use crate::decision_support::scale::DataScale;
pub use entry::{ENTRY, KIND};
pub use settings::DecisionSupportHSettings;

const KINDS: [TransactionKind; questions::NAMES.len() + RefreshFunction::NAMES.len()] =
    streams::kinds(questions::NAMES, RefreshFunction::NAMES);

/// The workload at one scale.
#[derive(Debug)]
pub struct DecisionSupportH {
    settings: DecisionSupportHSettings,
    questions: Questions,
    statements: Vec<Statement>,
    queries: DataQueries,
    /// Counting takes a moment, so lines are counted once, when their number is first needed.
    lines: OnceLock<u64>,
}

impl DecisionSupportH {
    pub fn new(settings: DecisionSupportHSettings) -> Result<Self, SqlError> {
        Ok(Self {
            questions: Questions::read(&questions::QUESTIONS, settings.scale)?,
            statements: transactions::statements()?,
            queries: DataQueries::read(&[checks::QUERIES])?,
            settings,
            lines: OnceLock::new(),
        })
    }

    /// Makes it from the workload's table, which need not be checked yet.
    pub fn from_table(table: &Map<String, Value>) -> Result<Self, Vec<Problem>> {
        scales::check(table)?;
        Ok(Self::new(::settings::read(table, ENTRY.keys)?)?)
    }

    /// The statements of a question, counted from 1, with the values for which its answer is known.
    pub fn validation(&self, question: u8, dialect: Dialect) -> Result<Vec<AskedStatement>, SessionError> {
        self.questions.validation(question, dialect)
    }
}

impl Dataset for DecisionSupportH {
    fn entry(&self) -> &'static WorkloadEntry {
        &ENTRY
    }

    fn tables(&self) -> &[DataTable] {
        tables::TABLES
    }

    fn expected_rows(&self, table: &DataTable) -> u64 {
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

    fn rows(&self, table: &str, part: TablePart) -> Box<dyn RowSource + '_> {
        rows::rows(self.settings.scale, table, part)
    }

    fn judge_data(&self, check: &mut DataCheck<'_>) -> Result<Vec<Judgement>, SessionError> {
        checks::judge_data(self, check)
    }

    fn judge_ledger(&self, ledger: &Ledger<'_>) -> Vec<Judgement> {
        checks::judge_ledger(self, ledger)
    }

    /// In each trial, the power phase and every query stream ask each question once. There are as many pairs of refresh functions.
    fn judge_window(&self, execution: &Execution<'_>) -> Vec<Judgement> {
        let streams = u64::from(self.settings.streams()) + 1;
        let refreshed = ("refreshed", "There is a pair of refresh functions for each stream.", streams);
        streams::judge_window(execution, &KINDS, streams, refreshed)
    }

    fn sums(&self) -> &[Statement] {
        &self.queries.sums
    }

    fn measured(&self) -> Vec<u64> {
        vec![self.settings.scale.hundredths().into()]
    }

    fn words(&self) -> Vec<(&'static str, String)> {
        let order_key = if self.settings.scale.has_wide_order_keys() { "BIGINT" } else { "INTEGER" };
        vec![("{order_key}", order_key.to_owned())]
    }

    /// Keys of regions and nations begin at 0, and those of orders have gaps.
    fn highest_keys(&self, table: &DataTable) -> Option<RangeInclusive<u64>> {
        let counts_rows = ["supplier", "customer", "part"].contains(&&*table.name);
        counts_rows.then(|| self.expected_rows(table)).map(|rows| rows..=rows)
    }

    fn check_dialect(&self, dialect: Dialect) -> Result<(), Vec<Problem>> {
        if dialect != Dialect::Sqlite || self.settings.scale.fits_sqlite() {
            return Ok(());
        }
        let found = format!("found {}", self.settings.scale.factor());
        Err(vec![Problem::new("scale", found, "at most 80 on SQLite, whose sums hold 64 bits")])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Workload;
    use record::script::{LoadPhase, PhaseLimit};
    use record::trial::Pacing;
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
        let load = LoadPhase::timed(Pacing::Clients { clients: 9 }, 1_000, 2_000);
        let phases = from(&json!({ "scale": 100, "query_limit": "1m" })).unwrap().script(load);
        let clients: Vec<_> = phases
            .iter()
            .map(|phase| phase.streams.iter().map(|stream| (stream.actor, stream.pacing.clients())).collect::<Vec<_>>())
            .collect();
        assert_eq!(clients, [vec![(0, 1)], vec![(1, 5), (2, 1)]]);
        let minutes = |minutes: u64| PhaseLimit::StreamsEnd { limit_ms: minutes * 60_000 };
        assert_eq!([phases[0].until, phases[1].until], [minutes(22 + 60), minutes(22 + 5 * 60)]);
    }
}
