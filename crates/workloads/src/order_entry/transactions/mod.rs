//! The five transactions, each straight-line code on a session.
//!
//! Requests that do not depend on each other's answers are one batch, which goes out together if the study wants that.

mod customer;
mod delivery;
mod new_order;
mod order_status;
mod payment;
mod stock_level;

use super::inputs::Input;
use super::statements::Sql;
use crate::effects::Effects;
use crate::requests::Requests;
use crate::workload::Ending;
use engines::batch::Sending;
use engines::session::{Param, Session, SessionError};
use std::time::{SystemTime, UNIX_EPOCH};

pub async fn run<S: Session>(
    session: &mut S,
    sending: Sending,
    input: &Input,
    effects: &mut Effects<'_, Input>,
) -> Result<Ending, SessionError> {
    let (tally, batch) = (&mut effects.tally, &mut effects.batch);
    batch.send_by(sending);
    let requests = Requests::new(batch, Sql::NAMES);
    match input {
        Input::NewOrder(order) => {
            let Some(receipt) = new_order::run(session, requests, order, tally).await? else {
                return Ok(Ending::RolledBack);
            };
            effects.tell(&[order.warehouse.into(), order.district.into(), receipt.order, receipt.total_cents]);
        }
        Input::Payment(input) => drop(payment::run(session, requests, input).await?),
        Input::OrderStatus(input) => drop(order_status::run(session, requests, input).await?),
        Input::Delivery(input) => drop(delivery::run(session, requests, input, tally).await?),
        Input::StockLevel(input) => drop(stock_level::run(session, requests, input).await?),
    }
    Ok(Ending::Committed)
}

/// The time that goes into a row, in microseconds since 1970. It is the client's clock, on all engines.
pub fn now_us() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX)
}

pub fn number(id: u32) -> Param<'static> {
    Param::Integer(i64::from(id))
}

/// A number of rows or lines, to compare with one in the database.
pub fn length(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
