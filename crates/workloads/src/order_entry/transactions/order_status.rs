//! Order-status: a customer asks what became of the last order.

use super::super::inputs::OrderStatusInput;
use super::super::rows::Home;
use super::super::statements::OrderEntryStatement;
use super::{Requests, customer, length, number};
use engines::session::{Access, Param, Session, SessionError};

/// Item, supplier, quantity and amount.
const LINE_COLUMNS: usize = 4;

/// Returns the number of the order.
pub async fn run<S: Session>(
    session: &mut S,
    mut requests: Requests<'_>,
    input: &OrderStatusInput,
) -> Result<i64, SessionError> {
    let home = Home { warehouse: input.warehouse, district: input.district };
    let (warehouse, district) = (number(input.warehouse), number(input.district));

    requests.begin(Access::ReadOnly);
    let id = Param::Integer(customer::id(session, &mut requests, home, input.who).await?);
    let balance = requests.add(OrderEntryStatement::CustomerBalance, &[warehouse, district, id]);
    let last = requests.add(OrderEntryStatement::LastOrder, &[warehouse, district, id]);
    requests.send(session).await?;
    requests.row(balance)?.integer(0, 0)?;
    let last = requests.row(last)?;
    let (order, promised) = (last.integer(0, 0)?, last.integer(0, 3)?);

    requests.clear();
    let lines = requests.add(OrderEntryStatement::LinesOfOrder, &[warehouse, district, Param::Integer(order)]);
    let judge = |requests: &Requests<'_>| {
        let found = requests.answer(lines);
        for line in 0..found.rows() {
            for column in 0..LINE_COLUMNS {
                found.integer(line, column)?;
            }
        }
        if length(found.rows()) == promised {
            return Ok(order);
        }
        let what = format!("{} lines of order {order}, which has {promised}", found.rows());
        Err(requests.unexpected(lines, what))
    };
    requests.finish(session, judge).await
}
