//! Delivery: a carrier takes the oldest order of each district of a warehouse, all in one transaction.

use super::super::definition::DISTRICTS;
use super::super::inputs::DeliveryInput;
use super::super::statements::OrderEntryStatement;
use super::super::tally::count_districts;
use super::{Requests, length, now_us, number};
use crate::effects::Tally;
use engines::session::{Access, Param, Session, SessionError};

/// Orders of a warehouse's districts, in the order of the districts.
type DeliveredOrders = [Option<i64>; DISTRICTS as usize];

/// Returns the orders delivered, district by district.
pub async fn run<S: Session>(
    session: &mut S,
    mut requests: Requests<'_>,
    input: &DeliveryInput,
    tally: &mut Tally,
) -> Result<DeliveredOrders, SessionError> {
    let warehouse = number(input.warehouse);
    requests.begin(Access::ReadWrite);
    for district in 1..=DISTRICTS {
        requests.add(OrderEntryStatement::TakeOldestQueued, &[warehouse, number(district)]);
    }
    requests.send(session).await?;
    let mut orders = DeliveredOrders::default();
    for (answer, order) in orders.iter_mut().enumerate() {
        *order = requests.row_if_any(answer)?.map(|oldest| oldest.integer(0, 0)).transpose()?;
    }
    count_districts(tally, orders.iter().flatten().count());

    requests.clear();
    let queued = || (1..).zip(orders).filter_map(|(district, order)| Some((number(district), order?)));
    for (district, order) in queued() {
        requests.add(OrderEntryStatement::Carry, &[number(input.carrier), warehouse, district, Param::Integer(order)]);
    }
    let first_lines = requests.next_number();
    for (district, order) in queued() {
        requests.add(
            OrderEntryStatement::DeliverLines,
            &[Param::Integer(now_us()), warehouse, district, Param::Integer(order)],
        );
    }
    requests.send(session).await?;
    let mut credits = Vec::with_capacity(orders.len());
    for (place, (district, order)) in queued().enumerate() {
        let (carried, lines) = (requests.row(place)?, first_lines + place);
        let (customer, promised) = (Param::Integer(carried.integer(0, 0)?), carried.integer(0, 1)?);
        let delivered = requests.answer(lines);
        if length(delivered.rows()) != promised {
            let what = format!("{} lines of order {order}, which has {promised}", delivered.rows());
            return Err(requests.unexpected(lines, what));
        }
        let mut sum_cents = 0;
        for line in 0..delivered.rows() {
            sum_cents += delivered.integer(line, 0)?;
        }
        credits.push([Param::Integer(sum_cents), warehouse, district, customer]);
    }

    requests.clear();
    for credit in &credits {
        requests.add(OrderEntryStatement::CreditDelivery, credit);
    }
    let judge = |requests: &Requests<'_>| requests.require_changes(0..credits.len());
    requests.finish(session, judge).await?;
    Ok(orders)
}
