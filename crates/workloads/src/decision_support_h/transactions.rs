//! Asking a question, and the two refresh functions.

use super::DecisionSupportH;
use super::inputs::{How, Input, Work};
use super::refresh::{self, RefreshedOrder};
use super::statements::Sql;
use super::tally::{ANSWER_ROWS, checksum_of};
use crate::decision_support::asking;
use crate::decision_support::values::Values;
use crate::effects::{Effects, Tally};
use crate::requests::Requests;
use crate::workload::Ending;
use engines::session::{Access, Param, Session, SessionError};
use std::time::Duration;

pub async fn run<S: Session>(
    workload: &DecisionSupportH,
    session: &mut S,
    input: &Input,
    effects: &mut Effects<'_, Input>,
) -> Result<Ending, SessionError> {
    match &input.work {
        Work::Question { number, values, how: How::Filling } => {
            let statement = workload.questions.asked(*number, values, session.dialect())?;
            asking::fill(session, &[statement]).await?;
        }
        Work::Question { number, values, how } => {
            ask(workload, session, (*number, values), *how, &mut effects.tally).await?;
        }
        Work::NewSales => insert(workload, session, effects).await?,
        Work::OldSales => delete(workload, session, effects).await?,
    }
    Ok(Ending::Committed)
}

async fn ask<S: Session>(
    workload: &DecisionSupportH,
    session: &mut S,
    (number, values): (u8, &Values),
    how: How,
    tally: &mut Tally,
) -> Result<(), SessionError> {
    let statement = workload.questions.asked(number, values, session.dialect())?;
    let limit = Duration::from_millis(workload.settings.query_limit);
    let figures = asking::ask(session, &[statement], limit).await?;
    tally.add(ANSWER_ROWS, figures.rows);
    if how == How::Alone {
        // Counters of several trials are added up, so only half of the bits are kept.
        tally.add(checksum_of(number), figures.checksum >> u32::BITS);
    }
    Ok(())
}

/// Inserts the next set of new orders, each with its lines in a transaction of its own.
async fn insert<S: Session>(
    workload: &DecisionSupportH,
    session: &mut S,
    effects: &mut Effects<'_, Input>,
) -> Result<(), SessionError> {
    let set = take(session, effects, Sql::TakeInserted).await?;
    // The first part that was kept took the set.
    let done = effects.kept() - 1;
    for order in refresh::new_orders(workload.settings.scale, set).skip(done) {
        let mut requests = Requests::new(&mut effects.batch, Sql::NAMES);
        requests.begin(Access::ReadWrite);
        let RefreshedOrder { order, lines } = &order;
        requests.add(Sql::InsertOrder, &order.params());
        for line in lines {
            requests.add(Sql::InsertLine, &line.params());
        }
        let count = requests.next_number();
        requests.finish(session, |requests| (0..count).try_for_each(|number| requests.require_change(number))).await?;
        effects.keep();
    }
    Ok(())
}

/// Deletes as many of the oldest orders, each with its lines in a transaction of its own.
async fn delete<S: Session>(
    workload: &DecisionSupportH,
    session: &mut S,
    effects: &mut Effects<'_, Input>,
) -> Result<(), SessionError> {
    let set = take(session, effects, Sql::TakeDeleted).await?;
    let done = effects.kept() - 1;
    for key in refresh::old_keys(workload.settings.scale, set).skip(done) {
        let mut requests = Requests::new(&mut effects.batch, Sql::NAMES);
        requests.begin(Access::ReadWrite);
        let key = [Param::Integer(key)];
        let lines = requests.add(Sql::DeleteLines, &key);
        let order = requests.add(Sql::DeleteOrder, &key);
        let judge = |requests: &Requests<'_>| match requests.answer(lines).changed() {
            0 => Err(requests.unexpected(lines, "an order has no lines".to_owned())),
            _ => requests.require_change(order),
        };
        requests.finish(session, judge).await?;
        effects.keep();
    }
    Ok(())
}

/// The number of the set, which this takes unless an earlier attempt has.
async fn take<S: Session>(session: &mut S, effects: &mut Effects<'_, Input>, take: Sql) -> Result<u64, SessionError> {
    if effects.kept() == 0 {
        let column = usize::from(matches!(take, Sql::TakeDeleted));
        let mut requests = Requests::new(&mut effects.batch, Sql::NAMES);
        requests.begin(Access::ReadWrite);
        let taken = requests.add(take, &[]);
        let sets = requests.add(Sql::Sets, &[]);
        let judge = |requests: &Requests<'_>| {
            requests.require_change(taken)?;
            let set = requests.row(sets)?.integer(0, column)?;
            if set > refresh::SETS_MAX {
                let why = format!("all {} refresh sets are used up; load the data again", refresh::SETS_MAX);
                return Err(requests.unexpected(sets, why));
            }
            Ok(set)
        };
        let set = requests.finish(session, judge).await?;
        effects.tell(&[set]);
        effects.keep();
    }
    Ok(effects.receipt().first().copied().unwrap_or(0).unsigned_abs())
}
