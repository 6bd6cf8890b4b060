//! Order-status: a customer asks what became of the last order.

use super::super::inputs::{OrderStatus, Who};
use super::super::rows::Home;
use super::super::statements::Sql;
use super::super::tally::{Counter, count};
use super::{customer, length, number, row, unexpected};
use crate::effects::Tally;
use engines::session::{Access, Param, Session, SessionError};

/// Returns the number of the order.
pub async fn run<S: Session>(session: &mut S, input: &OrderStatus, tally: &mut Tally) -> Result<i64, SessionError> {
    let is_by_name = matches!(input.who, Who::LastName(_));
    count(tally, Counter::StatusByLastName, usize::from(is_by_name));
    let home = Home { warehouse: input.warehouse, district: input.district };
    let (warehouse, district) = (number(input.warehouse), number(input.district));

    session.begin(Access::ReadOnly).await?;
    let id = Param::Integer(customer::find(session, home, input.who).await?);
    row(session, Sql::CustomerBalance, &[warehouse, district, id]).await?.integer(0, 0)?;
    let last = row(session, Sql::LastOrder, &[warehouse, district, id]).await?;
    let (order, promised) = (last.integer(0, 0)?, last.integer(0, 3)?);
    let params = [warehouse, district, Param::Integer(order)];
    let lines = session.execute(Sql::LinesOfOrder.id(), &params).await?;
    for line in 0..lines.rows() {
        for column in ["item", "supplier", "quantity", "amount"].iter().enumerate().map(|(column, _)| column) {
            lines.integer(line, column)?;
        }
    }
    let found = length(lines.rows());
    session.commit().await?;
    if found == promised {
        Ok(order)
    } else {
        Err(unexpected(Sql::LinesOfOrder, format!("{found} lines of order {order}, which has {promised}")))
    }
}
