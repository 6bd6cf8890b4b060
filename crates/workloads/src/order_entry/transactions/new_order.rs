//! New-order: a customer orders 5 to 15 items, most of them from the home warehouse.

use super::super::definition::ORIGINAL;
use super::super::inputs::{Line, NewOrder};
use super::super::statements::Sql;
use super::super::tally::{Counter, count};
use super::{change, length, now_us, number, row, unexpected};
use crate::effects::Tally;
use crate::random::Letters;
use engines::session::{Access, Param, Session, SessionError};

/// What the customer learns about an accepted order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    pub order: i64,
    /// After discount and taxes, rounded to the nearest cent.
    pub total_cents: i64,
    /// Lines whose item and stock are both marked as original.
    pub branded: usize,
}

/// Rates that turn the sum of the lines into the total.
struct Rates {
    warehouse_tax: i64,
    district_tax: i64,
    discount: i64,
}

impl Rates {
    /// `sum · (1 − discount) · (1 + both taxes)`; rates are in ten-thousandths.
    fn total_cents(&self, sum_cents: i64) -> i64 {
        const ONE: i64 = 10_000;
        const ROUND: i64 = ONE * ONE / 2;
        (sum_cents * (ONE - self.discount) * (ONE + self.warehouse_tax + self.district_tax) + ROUND) / (ONE * ONE)
    }
}

/// Returns `None` if the order was rolled back because an item does not exist.
pub async fn run<S: Session>(
    session: &mut S,
    input: &NewOrder,
    tally: &mut Tally,
) -> Result<Option<Receipt>, SessionError> {
    session.begin(Access::ReadWrite).await?;
    let (order, rates) = enter(session, input).await?;
    let remote = input.lines().iter().filter(|line| line.supply_warehouse != input.warehouse).count();
    count(tally, Counter::OrderLines, input.lines().len());
    count(tally, Counter::RemoteLines, remote);
    let mut sum_cents = 0;
    let mut branded = 0;
    for line in input.lines() {
        let Some(entered) = enter_line(session, input, order, line).await? else {
            session.rollback().await?;
            count(tally, Counter::OrdersRolledBack, 1);
            return Ok(None);
        };
        sum_cents += entered.amount_cents;
        branded += usize::from(entered.branded);
    }
    session.commit().await?;
    Ok(Some(Receipt { order, total_cents: rates.total_cents(sum_cents), branded }))
}

/// Takes the order's number and enters it, without lines.
async fn enter<S: Session>(session: &mut S, input: &NewOrder) -> Result<(i64, Rates), SessionError> {
    let (warehouse, district, customer) = (number(input.warehouse), number(input.district), number(input.customer));
    let warehouse_tax = row(session, Sql::WarehouseTax, &[warehouse]).await?.integer(0, 0)?;
    let taken = row(session, Sql::TakeOrderNumber, &[warehouse, district]).await?;
    let (district_tax, order) = (taken.integer(0, 0)?, taken.integer(0, 1)?);
    let buyer = row(session, Sql::CustomerDiscount, &[warehouse, district, customer]).await?;
    let (discount, _, _) = (buyer.integer(0, 0)?, buyer.text(0, 1)?, buyer.text(0, 2)?);
    let id = Param::Integer(order);
    let lines = Param::Integer(length(input.lines().len()));
    let all_local = Param::Integer(i64::from(input.is_all_local()));
    let entry = [warehouse, district, id, customer, Param::Integer(now_us()), lines, all_local];
    change(session, Sql::InsertOrder, &entry).await?;
    change(session, Sql::InsertQueued, &[warehouse, district, id]).await?;
    Ok((order, Rates { warehouse_tax, district_tax, discount }))
}

struct Entered {
    amount_cents: i64,
    branded: bool,
}

/// Takes the items of one line from the stock and enters the line; `None` if there is no such item.
async fn enter_line<S: Session>(
    session: &mut S,
    input: &NewOrder,
    order: i64,
    line: &Line,
) -> Result<Option<Entered>, SessionError> {
    let item = session.execute(Sql::Item.id(), &[number(line.item)]).await?;
    let price_cents = match item.rows() {
        0 => return Ok(None),
        1 => item.integer(0, 0)?,
        rows => return Err(unexpected(Sql::Item, format!("{rows} rows instead of 1"))),
    };
    item.text(0, 1)?;
    let item_marked = item.text(0, 2)?.contains(ORIGINAL);

    let remote = Param::Integer(i64::from(line.supply_warehouse != input.warehouse));
    let supply = number(line.supply_warehouse);
    let taken = [number(line.quantity), remote, supply, number(line.item), number(input.district)];
    let stock = row(session, Sql::TakeStock, &taken).await?;
    stock.integer(0, 0)?;
    let branded = item_marked && stock.text(0, 1)?.contains(ORIGINAL);
    // Copied, because the next statement reuses the session's buffer.
    let mut district_information = Letters::<24>::default();
    district_information.push(stock.text(0, 2)?.as_bytes());

    let amount_cents = price_cents * i64::from(line.quantity);
    let entry = [
        number(input.warehouse),
        number(input.district),
        Param::Integer(order),
        number(line.number),
        number(line.item),
        supply,
        number(line.quantity),
        Param::Integer(amount_cents),
        Param::Text(district_information.as_str()),
    ];
    change(session, Sql::InsertLine, &entry).await?;
    Ok(Some(Entered { amount_cents, branded }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discount_and_taxes_are_exact_to_the_cent() {
        let none = Rates { warehouse_tax: 0, district_tax: 0, discount: 0 };
        assert_eq!(none.total_cents(12_345), 12_345);
        // 200.00 · 0.9 · 1.15 = 207.00
        let some = Rates { warehouse_tax: 1_000, district_tax: 500, discount: 1_000 };
        assert_eq!(some.total_cents(20_000), 20_700);
        // 0.01 · 0.5 = 0.005, rounded up
        assert_eq!(Rates { warehouse_tax: 0, district_tax: 0, discount: 5_000 }.total_cents(1), 1);
        // The largest possible order: 15 lines of 10 items at 100.00, and the highest taxes.
        let highest = Rates { warehouse_tax: 2_000, district_tax: 2_000, discount: 0 };
        assert_eq!(highest.total_cents(1_500_000), 2_100_000);
    }
}
