//! New-order: a customer orders 5 to 15 items, most of them from the home warehouse.

use super::super::definition::ORIGINAL;
use super::super::inputs::{NewOrderInput, OrderedLine};
use super::super::statements::OrderEntryStatement;
use super::super::tally::{OrderEntryCounter, count};
use super::{Requests, length, now_us, number};
use crate::effects::Tally;
use crate::random::Letters;
use engines::session::{Access, Param, ResultSet, Session, SessionError};

/// What the customer learns about an accepted order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderReceipt {
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
    mut requests: Requests<'_>,
    input: &NewOrderInput,
    tally: &mut Tally,
) -> Result<Option<OrderReceipt>, SessionError> {
    let lines = input.lines();
    let (order, rates, entered) = begin(session, &mut requests, input).await?;

    requests.clear();
    let (warehouse, district, id) = (number(input.warehouse), number(input.district), Param::Integer(order));
    let (customer, count_of_lines) = (number(input.customer), Param::Integer(length(lines.len())));
    let all_local = Param::Integer(i64::from(input.is_all_local()));
    let entry = [warehouse, district, id, customer, Param::Integer(now_us()), count_of_lines, all_local];
    let of_order = requests.add(OrderEntryStatement::InsertOrder, &entry);
    let queued = requests.add(OrderEntryStatement::InsertQueued, &[warehouse, district, id]);
    let first = requests.next_number();
    for (line, entered) in lines.iter().zip(&entered) {
        let entry = [
            warehouse,
            district,
            id,
            number(line.number),
            number(line.item),
            number(line.supply_warehouse),
            number(line.quantity),
            Param::Integer(entered.amount_cents),
            Param::Text(entered.district_information.as_str()),
        ];
        requests.add(OrderEntryStatement::InsertLine, &entry);
    }
    let judge = |requests: &Requests<'_>| {
        requests.require_change(of_order)?;
        requests.require_change(queued)?;
        requests.require_changes(first..requests.next_number())
    };
    if entered.len() < lines.len() {
        requests.send(session).await?;
        judge(&requests)?;
        session.rollback().await?;
        count(tally, OrderEntryCounter::OrdersRolledBack, 1);
        return Ok(None);
    }
    requests.finish(session, judge).await?;
    let sum_cents = entered.iter().map(|line| line.amount_cents).sum();
    let branded = entered.iter().filter(|line| line.branded).count();
    Ok(Some(OrderReceipt { order, total_cents: rates.total_cents(sum_cents), branded }))
}

struct Entered {
    amount_cents: i64,
    branded: bool,
    district_information: Letters<24>,
}

/// Takes the order's number, and for each line the item and its stock, up to the first item that does not exist.
async fn begin<S: Session>(
    session: &mut S,
    requests: &mut Requests<'_>,
    input: &NewOrderInput,
) -> Result<(i64, Rates, Vec<Entered>), SessionError> {
    let (warehouse, district, customer) = (number(input.warehouse), number(input.district), number(input.customer));
    requests.begin(Access::ReadWrite);
    let warehouse_tax = requests.add(OrderEntryStatement::WarehouseTax, &[warehouse]);
    let take_number =
        |requests: &mut Requests<'_>| requests.add(OrderEntryStatement::TakeOrderNumber, &[warehouse, district]);
    let taken = (!requests.are_together()).then(|| take_number(requests));
    let buyer = requests.add(OrderEntryStatement::CustomerDiscount, &[warehouse, district, customer]);
    let first_item = requests.next_number();
    for line in input.lines() {
        requests.add(OrderEntryStatement::Item, &[number(line.item)]);
    }
    let first_stock = requests.next_number();
    for line in input.lines() {
        let remote = Param::Integer(i64::from(line.supply_warehouse != input.warehouse));
        let params = [number(line.quantity), remote, number(line.supply_warehouse), number(line.item), district];
        requests.add(OrderEntryStatement::TakeStock, &params);
    }
    let taken = taken.unwrap_or_else(|| take_number(requests));
    requests.send(session).await?;
    let warehouse_tax = requests.row(warehouse_tax)?.integer(0, 0)?;
    let taken = requests.row(taken)?;
    let (district_tax, order) = (taken.integer(0, 0)?, taken.integer(0, 1)?);
    let buyer = requests.row(buyer)?;
    let (discount, _, _) = (buyer.integer(0, 0)?, buyer.text(0, 1)?, buyer.text(0, 2)?);
    let mut entered = Vec::with_capacity(input.lines().len());
    for (line, (item, stock)) in input.lines().iter().zip((first_item..).zip(first_stock..)) {
        let Some(item) = requests.row_if_any(item)? else { break };
        entered.push(enter(line, item, requests.row(stock)?)?);
    }
    Ok((order, Rates { warehouse_tax, district_tax, discount }, entered))
}

fn enter(line: &OrderedLine, item: &ResultSet, stock: &ResultSet) -> Result<Entered, SessionError> {
    item.text(0, 1)?;
    stock.integer(0, 0)?;
    let mut district_information = Letters::default();
    district_information.push(stock.text(0, 2)?.as_bytes());
    let branded = item.text(0, 2)?.contains(ORIGINAL) && stock.text(0, 1)?.contains(ORIGINAL);
    Ok(Entered { amount_cents: item.integer(0, 0)? * i64::from(line.quantity), branded, district_information })
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
