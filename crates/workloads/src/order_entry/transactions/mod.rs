//! The five transactions, each straight-line code on a session.
//!
//! Every statement's answer is compared with what it must be. A row too few or too many is an error that names the
//! statement, so no transaction silently does less.

mod customer;
mod delivery;
mod new_order;
mod order_status;
mod payment;
mod stock_level;

use super::inputs::Input;
use super::statements::Sql;
use crate::effects::Effects;
use crate::workload::Ending;
use engines::session::ResultSet;
use engines::session::{Param, Session, SessionError};
use std::time::{SystemTime, UNIX_EPOCH};

pub async fn run<S: Session>(
    session: &mut S,
    input: &Input,
    effects: &mut Effects<'_, Input>,
) -> Result<Ending, SessionError> {
    let tally = &mut effects.tally;
    match input {
        Input::NewOrder(order) => {
            let Some(receipt) = new_order::run(session, order, tally).await? else { return Ok(Ending::RolledBack) };
            effects.tell(&[order.warehouse.into(), order.district.into(), receipt.order, receipt.total_cents]);
        }
        Input::Payment(input) => drop(payment::run(session, input, tally).await?),
        Input::OrderStatus(input) => drop(order_status::run(session, input, tally).await?),
        Input::Delivery(input) => drop(delivery::run(session, input, tally).await?),
        Input::StockLevel(input) => drop(stock_level::run(session, input).await?),
    }
    Ok(Ending::Committed)
}

/// The time that goes into a row, in microseconds since 1970. It is the client's clock, on all engines.
fn now_us() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX)
}

fn number(id: u32) -> Param<'static> {
    Param::Integer(i64::from(id))
}

/// A number of rows or lines, to compare with one in the database.
fn length(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Executes a statement that returns exactly one row.
async fn row<'s, S: Session>(
    session: &'s mut S,
    sql: Sql,
    params: &[Param<'_>],
) -> Result<&'s ResultSet, SessionError> {
    let set = session.execute(sql.id(), params).await?;
    if set.rows() == 1 { Ok(set) } else { Err(unexpected(sql, format!("{} rows instead of 1", set.rows()))) }
}

/// Executes a statement that changes exactly one row.
async fn change<S: Session>(session: &mut S, sql: Sql, params: &[Param<'_>]) -> Result<(), SessionError> {
    let changed = session.execute(sql.id(), params).await?.changed();
    if changed == 1 { Ok(()) } else { Err(unexpected(sql, format!("{changed} rows changed instead of 1"))) }
}

#[cold]
fn unexpected(sql: Sql, what: String) -> SessionError {
    SessionError::Unexpected { statement: sql.name(), what }
}
