//! One transaction as straight-line code on a session: each group of statements as often as the test has it.
//!
//! Every statement is a round trip of its own, and so are BEGIN and COMMIT. The original works like that, and the
//! cost of talking to a server is part of what it measures.

use super::SysbenchOltp;
use super::inputs::{Draws, IdRange, Input};
use super::settings::VALUES_MAX;
use super::statements::{BULK_ROWS, Sql};
use super::steps::Steps;
use super::tally::{Counter, count};
use super::text::{C_BLANK, PAD_AGAIN};
use crate::effects::Tally;
use crate::workload::Ending;
use engines::session::{Access, Param, Session, SessionError};
use std::ops::RangeInclusive;

/// Engines' codes for a row that exists already: PostgreSQL's, SQLite's and MariaDB's.
const IS_THERE_ALREADY: &[&str] = &["23505", "SQLITE 1555", "1062"];

/// The message in place of the engine's own.
const INSERTED_BY_ANOTHER: &str = "another transaction deleted the same row and inserted it again first";

pub async fn run<S: Session>(
    workload: &SysbenchOltp,
    session: &mut S,
    input: &Input,
    tally: &mut Tally,
) -> Result<Ending, SessionError> {
    let steps = &workload.steps;
    let mut course = Course { workload, session, tally, draws: Draws::new(&workload.ids, input) };
    if steps.in_transaction {
        let access = if steps.queries().writes > 0 { Access::ReadWrite } else { Access::ReadOnly };
        count(course.tally, Counter::Queries);
        course.session.begin(access).await?;
        count(course.tally, Counter::Others);
    }
    if steps.queries().reads > 0 {
        course.reads(steps).await?;
    }
    if steps.queries().writes > 0 {
        course.writes(steps).await?;
    }
    if steps.in_transaction {
        count(course.tally, Counter::Queries);
        course.session.commit().await?;
        count(course.tally, Counter::Others);
    }
    Ok(Ending::Committed)
}

/// A transaction under way.
struct Course<'a, S> {
    workload: &'a SysbenchOltp,
    session: &'a mut S,
    tally: &'a mut Tally,
    draws: Draws<'a>,
}

impl<S: Session> Course<'_, S> {
    async fn reads(&mut self, steps: &Steps) -> Result<(), SessionError> {
        let table = self.draws.table();
        for _ in 0..steps.point_selects {
            let id = Param::Integer(self.draws.id());
            self.select(table, Sql::PointSelect, &[id], 1..=1).await?;
        }
        self.ranges(Sql::SimpleRange, steps.simple_ranges).await?;
        self.ranges(Sql::SumRange, steps.sum_ranges).await?;
        self.ranges(Sql::OrderRange, steps.order_ranges).await?;
        self.ranges(Sql::DistinctRange, steps.distinct_ranges).await?;
        if steps.random_points > 0 {
            self.random_points().await?;
        }
        if steps.random_ranges > 0 {
            self.random_ranges().await?;
        }
        Ok(())
    }

    async fn ranges(&mut self, sql: Sql, times: u32) -> Result<(), SessionError> {
        let table = self.draws.table();
        for _ in 0..times {
            let is_distinct = sql == Sql::DistinctRange;
            let IdRange { low, high, rows } =
                if is_distinct { self.draws.distinct_range() } else { self.draws.range() };
            let expected = match sql {
                Sql::SumRange => 1..=1,
                Sql::DistinctRange => 1..=rows,
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
        self.select(0, Sql::RandomPoints, values, 0..=usize::MAX).await
    }

    async fn random_ranges(&mut self) -> Result<(), SessionError> {
        let mut values = [Param::Null; VALUES_MAX];
        let values = &mut values[..2 * self.workload.settings.number_of_ranges as usize];
        for pair in values.chunks_exact_mut(2) {
            let low = self.draws.in_segment();
            let high = low + i64::from(self.workload.settings.delta);
            pair.copy_from_slice(&[Param::Integer(low), Param::Integer(high)]);
        }
        self.select(0, Sql::RandomRanges, values, 1..=1).await
    }

    async fn writes(&mut self, steps: &Steps) -> Result<(), SessionError> {
        let table = self.draws.table();
        for _ in 0..steps.index_updates {
            let id = Param::Integer(self.draws.id());
            self.change(table, Sql::UpdateIndex, &[id]).await?;
        }
        let table = self.draws.table();
        for _ in 0..steps.non_index_updates {
            let id = Param::Integer(self.draws.id());
            let c = if steps.updates_before_delete { self.draws.c_of_numbers() } else { self.draws.c() };
            self.change(table, Sql::UpdateNonIndex, &[Param::Text(c.as_str()), id]).await?;
        }
        let table = self.draws.table();
        for _ in 0..steps.delete_inserts {
            self.delete_and_insert(table, steps.updates_before_delete).await?;
        }
        for _ in 0..steps.deletes {
            let id = Param::Integer(self.draws.id());
            self.change(table, Sql::Delete, &[id]).await?;
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
            self.change(table, Sql::UpdateIndex, &[id]).await?;
            self.change(table, Sql::Delete, &[id]).await?;
            let row = [id, Param::Integer(0), Param::Text(C_BLANK), Param::Text(PAD_AGAIN)];
            return self.insert_again(table, &row).await;
        }
        let (k, c, pad) = (self.draws.id(), self.draws.c(), self.draws.pad());
        self.change(table, Sql::Delete, &[id]).await?;
        let row = [id, Param::Integer(k), Param::Text(c.as_str()), Param::Text(pad.as_str())];
        self.insert_again(table, &row).await
    }

    /// Two transactions may have waited for each other to delete the same row, and then both insert it. The second
    /// one is in conflict with the first, and is repeated like after any other conflict.
    async fn insert_again(&mut self, table: u32, row: &[Param<'_>]) -> Result<(), SessionError> {
        self.change(table, Sql::Insert, row).await.map_err(|error| match error {
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
            return self.change(table, Sql::InsertNumbered, &[k, c, pad]).await;
        }
        let id = Param::Integer(self.draws.unique_id());
        self.change(table, Sql::Insert, &[id, k, c, pad]).await
    }

    async fn bulk_insert(&mut self) -> Result<(), SessionError> {
        let (table, first) = self.draws.bulk(BULK_ROWS);
        let mut values = [Param::Null; 2 * BULK_ROWS];
        for (id, row) in (first..).zip(values.chunks_exact_mut(2)) {
            row.fill(Param::Integer(id));
        }
        self.change(table, Sql::BulkInsert, &values).await
    }

    /// Executes a statement that returns a known number of rows.
    async fn select(
        &mut self,
        table: u32,
        sql: Sql,
        values: &[Param<'_>],
        expected: RangeInclusive<usize>,
    ) -> Result<(), SessionError> {
        count(self.tally, Counter::Queries);
        let statement = self.workload.statements.id(table, sql);
        let rows = self.session.execute(statement, values).await?.rows();
        count(self.tally, Counter::Reads);
        if !expected.contains(&rows) {
            count(self.tally, Counter::WrongSelects);
        }
        Ok(())
    }

    /// Executes a statement that changes rows, or finds none to change.
    async fn change(&mut self, table: u32, sql: Sql, values: &[Param<'_>]) -> Result<(), SessionError> {
        count(self.tally, Counter::Queries);
        let statement = self.workload.statements.id(table, sql);
        if self.session.execute(statement, values).await?.changed() > 0 {
            count(self.tally, Counter::Writes);
        } else {
            count(self.tally, Counter::Others);
            count(self.tally, Counter::MissedChanges);
        }
        Ok(())
    }
}
