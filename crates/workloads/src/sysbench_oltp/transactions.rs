//! One transaction as straight-line code on a session: each group of statements as often as the test has it.
//!
//! Every statement is a round trip of its own, and so are BEGIN and COMMIT. The original works like that, and the
//! cost of talking to a server is part of what it measures.

use super::SysbenchOltp;
use super::inputs::{IdRange, SysbenchClient, SysbenchDraws, SysbenchInput};
use super::settings::{SysbenchTest, VALUES_MAX};
use super::statements::{BULK_ROWS, SysbenchStatement};
use super::steps::Steps;
use super::tally::{SysbenchCounter, count};
use super::text::{C_BLANK, PAD_AGAIN};
use crate::effects::{Effects, Tally};
use crate::workload::{Ending, Pause, TransactionKind, User, Workload};
use engines::session::{Access, Param, Session, SessionError};
use engines::statement::{Dialect, Statement};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Engines' codes for a row that exists already: PostgreSQL's, SQLite's and MariaDB's.
const IS_THERE_ALREADY: &[&str] = &["23505", "SQLITE 1555", "1062"];

/// The message in place of the engine's own.
const INSERTED_BY_ANOTHER: &str = "another transaction deleted the same row and inserted it again first";

/// A workload has only the kind of its test, which is counted.
const KINDS: [TransactionKind; SysbenchTest::NAMES.len()] =
    TransactionKind::all(SysbenchTest::NAMES, SysbenchTest::NAMES.len());

impl Workload for SysbenchOltp {
    type Input = SysbenchInput;
    type Client = SysbenchClient;

    const COUNTERS: &'static [&'static str] = SysbenchCounter::NAMES;

    fn kinds(&self) -> &'static [TransactionKind] {
        std::slice::from_ref(&KINDS[self.settings.test as usize])
    }

    fn statements(&self, _: Dialect) -> Vec<Statement> {
        self.statements.of_all_tables()
    }

    fn client(&self, user: User) -> SysbenchClient {
        SysbenchClient::new(user.seed, user.index)
    }

    fn next(&self, client: &mut SysbenchClient) -> Option<SysbenchInput> {
        Some(client.draw())
    }

    fn kind(&self, _: &SysbenchInput) -> u16 {
        0
    }

    fn pause(&self, _: &mut SysbenchClient, input: &SysbenchInput, terminal: bool) -> Pause {
        let mean = if terminal { self.settings.think } else { 0 };
        Pause { keying: Duration::ZERO, thinking: input.thinking(Duration::from_millis(mean)) }
    }

    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &SysbenchInput,
        effects: &mut Effects<'_, SysbenchInput>,
    ) -> Result<Ending, SessionError> {
        let (steps, tally) = (&self.steps, &mut effects.tally);
        let mut course = SysbenchCourse { workload: self, session, tally, draws: SysbenchDraws::new(&self.ids, input) };
        if steps.in_transaction {
            let access = if steps.queries().writes > 0 { Access::ReadWrite } else { Access::ReadOnly };
            count(course.tally, SysbenchCounter::Queries);
            course.session.begin(access).await?;
            count(course.tally, SysbenchCounter::Others);
        }
        if steps.queries().reads > 0 {
            course.reads(steps).await?;
        }
        if steps.queries().writes > 0 {
            course.writes(steps).await?;
        }
        if steps.in_transaction {
            count(course.tally, SysbenchCounter::Queries);
            course.session.commit().await?;
            count(course.tally, SysbenchCounter::Others);
        }
        Ok(Ending::Committed)
    }
}

/// A transaction under way.
struct SysbenchCourse<'a, S> {
    workload: &'a SysbenchOltp,
    session: &'a mut S,
    tally: &'a mut Tally,
    draws: SysbenchDraws<'a>,
}

impl<S: Session> SysbenchCourse<'_, S> {
    async fn reads(&mut self, steps: &Steps) -> Result<(), SessionError> {
        let table = self.draws.table();
        for _ in 0..steps.point_selects {
            let id = Param::Integer(self.draws.id());
            self.select(table, SysbenchStatement::PointSelect, &[id], 1..=1).await?;
        }
        self.ranges(SysbenchStatement::SimpleRange, steps.simple_ranges).await?;
        self.ranges(SysbenchStatement::SumRange, steps.sum_ranges).await?;
        self.ranges(SysbenchStatement::OrderRange, steps.order_ranges).await?;
        self.ranges(SysbenchStatement::DistinctRange, steps.distinct_ranges).await?;
        if steps.random_points > 0 {
            self.random_points().await?;
        }
        if steps.random_ranges > 0 {
            self.random_ranges().await?;
        }
        Ok(())
    }

    async fn ranges(&mut self, sql: SysbenchStatement, times: u32) -> Result<(), SessionError> {
        let table = self.draws.table();
        for _ in 0..times {
            let is_distinct = sql == SysbenchStatement::DistinctRange;
            let IdRange { low, high, rows } =
                if is_distinct { self.draws.distinct_range() } else { self.draws.range() };
            let expected = match sql {
                SysbenchStatement::SumRange => 1..=1,
                SysbenchStatement::DistinctRange => 1..=rows,
                _ => rows..=rows,
            };
            self.select(table, sql, &[Param::Integer(low), Param::Integer(high)], expected).await?;
        }
        Ok(())
    }

    async fn random_points(&mut self) -> Result<(), SessionError> {
        let mut values = [Param::Null; VALUES_MAX];
        let values = &mut values[..self.workload.settings.random_points as usize];
        values.fill_with(|| Param::Integer(self.draws.in_segment()));
        self.select(0, SysbenchStatement::RandomPoints, values, 0..=usize::MAX).await
    }

    async fn random_ranges(&mut self) -> Result<(), SessionError> {
        let mut values = [Param::Null; VALUES_MAX];
        let values = &mut values[..2 * self.workload.settings.number_of_ranges as usize];
        for pair in values.chunks_exact_mut(2) {
            let low = self.draws.in_segment();
            let high = low + i64::from(self.workload.settings.delta);
            pair.copy_from_slice(&[Param::Integer(low), Param::Integer(high)]);
        }
        self.select(0, SysbenchStatement::RandomRanges, values, 1..=1).await
    }

    async fn writes(&mut self, steps: &Steps) -> Result<(), SessionError> {
        let table = self.draws.table();
        for _ in 0..steps.index_updates {
            let id = Param::Integer(self.draws.id());
            self.change(table, SysbenchStatement::UpdateIndex, &[id]).await?;
        }
        let table = self.draws.table();
        for _ in 0..steps.non_index_updates {
            let id = Param::Integer(self.draws.id());
            let c = if steps.updates_before_delete { self.draws.c_of_numbers() } else { self.draws.c() };
            self.change(table, SysbenchStatement::UpdateNonIndex, &[Param::Text(c.as_str()), id]).await?;
        }
        let table = self.draws.table();
        for _ in 0..steps.delete_inserts {
            self.delete_and_insert(table, steps.updates_before_delete).await?;
        }
        for _ in 0..steps.deletes {
            let id = Param::Integer(self.draws.id());
            self.change(table, SysbenchStatement::Delete, &[id]).await?;
        }
        for _ in 0..steps.inserts {
            self.insert(table).await?;
        }
        for _ in 0..steps.bulk_inserts {
            self.bulk_insert().await?;
        }
        Ok(())
    }

    async fn delete_and_insert(&mut self, table: u32, as_in_048: bool) -> Result<(), SessionError> {
        let id = Param::Integer(self.draws.id());
        if as_in_048 {
            self.change(table, SysbenchStatement::UpdateIndex, &[id]).await?;
            self.change(table, SysbenchStatement::Delete, &[id]).await?;
            let row = [id, Param::Integer(0), Param::Text(C_BLANK), Param::Text(PAD_AGAIN)];
            return self.insert_again(table, &row).await;
        }
        let (k, c, pad) = (self.draws.id(), self.draws.c(), self.draws.pad());
        self.change(table, SysbenchStatement::Delete, &[id]).await?;
        let row = [id, Param::Integer(k), Param::Text(c.as_str()), Param::Text(pad.as_str())];
        self.insert_again(table, &row).await
    }

    /// Two transactions may have waited for each other to delete the same row, and then both insert it. The second
    /// one is in conflict with the first, and is repeated like after any other conflict.
    async fn insert_again(&mut self, table: u32, row: &[Param<'_>]) -> Result<(), SessionError> {
        self.change(table, SysbenchStatement::Insert, row).await.map_err(|error| match error {
            // The engine's message names the key, which varies. Without it, all these conflicts are counted as one.
            SessionError::Refused { code, .. } if IS_THERE_ALREADY.contains(&code.as_str()) => {
                SessionError::Retryable { code, message: INSERTED_BY_ANOTHER.to_owned() }
            }
            other => other,
        })
    }

    async fn insert(&mut self, table: u32) -> Result<(), SessionError> {
        let (k, c, pad) = (Param::Integer(self.draws.id()), self.draws.c(), self.draws.pad());
        let (c, pad) = (Param::Text(c.as_str()), Param::Text(pad.as_str()));
        if self.workload.settings.auto_inc {
            return self.change(table, SysbenchStatement::InsertNumbered, &[k, c, pad]).await;
        }
        let id = Param::Integer(self.draws.unique_id());
        self.change(table, SysbenchStatement::Insert, &[id, k, c, pad]).await
    }

    async fn bulk_insert(&mut self) -> Result<(), SessionError> {
        let (table, first) = self.draws.bulk(BULK_ROWS);
        let mut values = [Param::Null; 2 * BULK_ROWS];
        for (id, row) in (first..).zip(values.chunks_exact_mut(2)) {
            row.fill(Param::Integer(id));
        }
        self.change(table, SysbenchStatement::BulkInsert, &values).await
    }

    /// Executes a statement that returns a known number of rows.
    async fn select(
        &mut self,
        table: u32,
        sql: SysbenchStatement,
        values: &[Param<'_>],
        expected: RangeInclusive<usize>,
    ) -> Result<(), SessionError> {
        count(self.tally, SysbenchCounter::Queries);
        let statement = self.workload.statements.id(table, sql);
        let rows = self.session.execute(statement, values).await?.rows();
        count(self.tally, SysbenchCounter::Reads);
        if !expected.contains(&rows) {
            count(self.tally, SysbenchCounter::WrongSelects);
        }
        Ok(())
    }

    /// Executes a statement that changes rows, or finds none to change.
    async fn change(&mut self, table: u32, sql: SysbenchStatement, values: &[Param<'_>]) -> Result<(), SessionError> {
        count(self.tally, SysbenchCounter::Queries);
        let statement = self.workload.statements.id(table, sql);
        if self.session.execute(statement, values).await?.changed() > 0 {
            count(self.tally, SysbenchCounter::Writes);
        } else {
            count(self.tally, SysbenchCounter::Others);
            count(self.tally, SysbenchCounter::MissedChanges);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_test_has_the_kind_of_its_name() {
        for kind in KINDS {
            let table = json!({ "test": kind.name });
            let workload = SysbenchOltp::from_table(table.as_object().unwrap()).unwrap();
            assert_eq!(workload.kinds(), [kind]);
        }
    }
}
