//! Payment: a customer pays, possibly in another warehouse than the home one.

use super::super::inputs::PaymentInput;
use super::super::rows::Home;
use super::super::statements::OrderEntryStatement;
use super::{Requests, customer, now_us, number};
use crate::random::Letters;
use engines::session::{Access, Param, ResultSet, Session, SessionError};

/// Room for the note of a payment: five ids and an amount.
const NOTE_MAX: usize = 80;
/// Room for the names of the two places and the blanks between them.
const PLACES_MAX: usize = 24;
const BETWEEN_PLACES: &[u8] = b"    ";
const ADDRESS_COLUMNS: usize = 6;
/// Column of the new balance in the customer's returned row.
const BALANCE: usize = 13;

/// Returns the customer's new balance.
pub async fn run<S: Session>(
    session: &mut S,
    mut requests: Requests<'_>,
    input: &PaymentInput,
) -> Result<i64, SessionError> {
    let home = home(input);
    let (warehouse, district) = (number(input.warehouse), number(input.district));
    let amount = Param::Integer(input.amount_cents);
    requests.begin(Access::ReadWrite);
    if requests.are_together() {
        let id = customer::id(session, &mut requests, home, input.who).await?;
        let paid = pay_customer(&mut requests, input, id);
        let to_district = requests.add(OrderEntryStatement::PayDistrict, &[amount, warehouse, district]);
        let to_warehouse = requests.add(OrderEntryStatement::PayWarehouse, &[amount, warehouse]);
        let entered = requests.add(OrderEntryStatement::InsertHistoryHere, &entry(input, id));
        let judge = |requests: &Requests<'_>| {
            place_name(requests.row(to_district)?)?;
            place_name(requests.row(to_warehouse)?)?;
            requests.require_change(entered)?;
            requests.row(paid)?.integer(0, BALANCE)
        };
        return requests.finish(session, judge).await;
    }
    let to_warehouse = requests.add(OrderEntryStatement::PayWarehouse, &[amount, warehouse]);
    let to_district = requests.add(OrderEntryStatement::PayDistrict, &[amount, warehouse, district]);
    let named = customer::ask(&mut requests, home, input.who);
    requests.send(session).await?;
    let mut places = Letters::<PLACES_MAX>::default();
    places.push(place_name(requests.row(to_warehouse)?)?);
    places.push(BETWEEN_PLACES);
    places.push(place_name(requests.row(to_district)?)?);
    let id = customer::found(&requests, &named)?;

    requests.clear();
    let paid = pay_customer(&mut requests, input, id);
    let entry = [&entry(input, id)[..], &[Param::Text(places.as_str())]].concat();
    let entered = requests.add(OrderEntryStatement::InsertHistory, &entry);
    let judge = |requests: &Requests<'_>| {
        requests.require_change(entered)?;
        requests.row(paid)?.integer(0, BALANCE)
    };
    requests.finish(session, judge).await
}

fn home(input: &PaymentInput) -> Home {
    Home { warehouse: input.customer_warehouse, district: input.customer_district }
}

fn pay_customer(requests: &mut Requests<'_>, input: &PaymentInput, id: i64) -> usize {
    let (note, home) = (note(input, id), home(input));
    let (warehouse, district) = (number(home.warehouse), number(home.district));
    let params =
        [Param::Integer(input.amount_cents), Param::Text(note.as_str()), warehouse, district, Param::Integer(id)];
    requests.add(OrderEntryStatement::PayCustomer, &params)
}

/// The values of the payment's row in the history, without the names of the places.
fn entry(input: &PaymentInput, id: i64) -> [Param<'static>; 7] {
    let home = home(input);
    let [of_district, of_warehouse] = [home.district, home.warehouse].map(number);
    let [district, warehouse] = [input.district, input.warehouse].map(number);
    let (moment, amount) = (Param::Integer(now_us()), Param::Integer(input.amount_cents));
    [Param::Integer(id), of_district, of_warehouse, district, warehouse, moment, amount]
}

/// Reads the whole address, which a terminal would show, and returns the name.
fn place_name(set: &ResultSet) -> Result<&[u8], SessionError> {
    for column in 1..ADDRESS_COLUMNS {
        set.text(0, column)?;
    }
    Ok(set.text(0, 0)?.as_bytes())
}

/// The note that goes in front of the data of a customer with bad credit: who paid, where, and how much.
fn note(input: &PaymentInput, id: i64) -> Letters<NOTE_MAX> {
    let mut note = Letters::default();
    // Five ids of at most ten digits and an amount of seven always fit.
    write!(
        note,
        "{id} {} {} {} {} {}.{:02}|",
        input.customer_district,
        input.customer_warehouse,
        input.district,
        input.warehouse,
        input.amount_cents / 100,
        input.amount_cents % 100
    );
    note
}

#[cfg(test)]
mod tests {
    use super::super::super::inputs::CustomerKey;
    use super::*;

    #[test]
    fn a_note_names_customer_place_and_amount() {
        let input = PaymentInput {
            warehouse: 7,
            district: 3,
            customer_warehouse: 12,
            customer_district: 10,
            who: CustomerKey::Id(2_999),
            amount_cents: 499_905,
        };
        assert_eq!(note(&input, 2_999).as_str(), "2999 10 12 3 7 4999.05|");
        let longest = PaymentInput {
            warehouse: u32::MAX,
            district: u32::MAX,
            customer_warehouse: u32::MAX,
            customer_district: u32::MAX,
            ..input
        };
        assert!(note(&longest, i64::from(u32::MAX)).as_str().ends_with(" 4999.05|"));
    }
}
