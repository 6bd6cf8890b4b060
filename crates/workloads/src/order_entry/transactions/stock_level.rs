//! Stock-level: how many of the items ordered last in a district run low in its warehouse.

use super::super::inputs::StockLevel;
use super::super::statements::Sql;
use super::{number, row};
use engines::session::{Access, Param, Session, SessionError};

/// How many of the last orders it looks at.
const LAST_ORDERS: i64 = 20;

/// Returns the number of different items below the threshold.
pub async fn run<S: Session>(session: &mut S, input: &StockLevel) -> Result<i64, SessionError> {
    let (warehouse, district) = (number(input.warehouse), number(input.district));
    session.begin(Access::ReadOnly).await?;
    let next = row(session, Sql::NextOrderNumber, &[warehouse, district]).await?.integer(0, 0)?;
    let (first, threshold) = (Param::Integer(next - LAST_ORDERS), Param::Integer(input.threshold));
    let params = [warehouse, district, first, Param::Integer(next), threshold];
    let low = row(session, Sql::LowStock, &params).await?.integer(0, 0)?;
    session.commit().await?;
    Ok(low)
}
