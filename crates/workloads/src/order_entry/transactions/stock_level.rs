//! Stock-level: how many of the items ordered last in a district run low in its warehouse.

use super::super::inputs::StockLevelInput;
use super::super::statements::OrderEntryStatement;
use super::{Requests, number};
use engines::session::{Access, Param, Session, SessionError};

/// How many of the last orders it looks at.
const LAST_ORDERS: i64 = 20;

/// Returns the number of different items below the threshold.
pub async fn run<S: Session>(
    session: &mut S,
    mut requests: Requests<'_>,
    input: &StockLevelInput,
) -> Result<i64, SessionError> {
    let (warehouse, district) = (number(input.warehouse), number(input.district));
    requests.begin(Access::ReadOnly);
    let next = requests.add(OrderEntryStatement::NextOrderNumber, &[warehouse, district]);
    requests.send(session).await?;
    let next = requests.row(next)?.integer(0, 0)?;
    requests.clear();
    let (first, threshold) = (Param::Integer(next - LAST_ORDERS), Param::Integer(input.threshold));
    let low =
        requests.add(OrderEntryStatement::LowStock, &[warehouse, district, first, Param::Integer(next), threshold]);
    requests.finish(session, |requests| requests.row(low)?.integer(0, 0)).await
}
