//! Delivery: a carrier takes the oldest order of each district of a warehouse, all in one transaction.

use super::super::definition::DISTRICTS;
use super::super::inputs::Delivery;
use super::super::statements::Sql;
use super::super::tally::{Counter, count};
use super::{change, length, now_us, number, row, unexpected};
use crate::effects::Tally;
use engines::session::{Access, Param, Session, SessionError};

/// Returns the orders delivered, district by district.
pub async fn run<S: Session>(
    session: &mut S,
    input: &Delivery,
    tally: &mut Tally,
) -> Result<[Option<i64>; DISTRICTS as usize], SessionError> {
    session.begin(Access::ReadWrite).await?;
    let mut delivered = [None; DISTRICTS as usize];
    for (district, order) in (1..).zip(&mut delivered) {
        *order = deliver(session, input, district).await?;
        let counter = if order.is_some() { Counter::DistrictsDelivered } else { Counter::DistrictsSkipped };
        count(tally, counter, 1);
    }
    session.commit().await?;
    Ok(delivered)
}

/// Delivers the oldest order of one district, if one is queued.
async fn deliver<S: Session>(session: &mut S, input: &Delivery, district_id: u32) -> Result<Option<i64>, SessionError> {
    let (warehouse, district) = (number(input.warehouse), number(district_id));
    let oldest = session.execute(Sql::TakeOldestQueued.id(), &[warehouse, district]).await?;
    let order = match oldest.rows() {
        0 => return Ok(None),
        1 => oldest.integer(0, 0)?,
        rows => return Err(unexpected(Sql::TakeOldestQueued, format!("{rows} rows instead of 1"))),
    };
    let id = Param::Integer(order);
    let carried = row(session, Sql::Carry, &[number(input.carrier), warehouse, district, id]).await?;
    let (customer, promised) = (Param::Integer(carried.integer(0, 0)?), carried.integer(0, 1)?);
    let lines = session.execute(Sql::DeliverLines.id(), &[Param::Integer(now_us()), warehouse, district, id]).await?;
    if length(lines.rows()) != promised {
        let what = format!("{} lines of order {order}, which has {promised}", lines.rows());
        return Err(unexpected(Sql::DeliverLines, what));
    }
    let mut sum_cents = 0;
    for line in 0..lines.rows() {
        sum_cents += lines.integer(line, 0)?;
    }
    change(session, Sql::CreditDelivery, &[Param::Integer(sum_cents), warehouse, district, customer]).await?;
    Ok(Some(order))
}
