//! Payment: a customer pays, possibly in another warehouse than the home one.

use super::super::inputs::{Payment, Who};
use super::super::rows::Home;
use super::super::statements::Sql;
use super::super::tally::{Counter, count};
use super::{change, customer, now_us, number, row};
use crate::effects::Tally;
use crate::random::Letters;
use engines::session::ResultSet;
use engines::session::{Access, Param, Session, SessionError};
use std::io::Write;

/// Room for the note of a payment: five ids and an amount.
const NOTE_MAX: usize = 80;
/// Room for the names of the two places and the blanks between them.
const PLACES_MAX: usize = 24;
const BETWEEN_PLACES: &[u8] = b"    ";
const ADDRESS_COLUMNS: usize = 6;
/// Column of the new balance in the customer's returned row.
const BALANCE: usize = 13;

/// Returns the customer's new balance.
pub async fn run<S: Session>(session: &mut S, input: &Payment, tally: &mut Tally) -> Result<i64, SessionError> {
    let home = Home { warehouse: input.customer_warehouse, district: input.customer_district };
    let is_remote = input.customer_warehouse != input.warehouse;
    let is_by_name = matches!(input.who, Who::LastName(_));
    count(tally, Counter::RemotePayments, usize::from(is_remote));
    count(tally, Counter::PaymentsByLastName, usize::from(is_by_name));

    session.begin(Access::ReadWrite).await?;
    let (warehouse, district) = (number(input.warehouse), number(input.district));
    let amount = Param::Integer(input.amount_cents);
    let mut places = Letters::<PLACES_MAX>::default();
    let paid = row(session, Sql::PayWarehouse, &[amount, warehouse]).await?;
    places.push(place_name(paid)?);
    places.push(BETWEEN_PLACES);
    let paid = row(session, Sql::PayDistrict, &[amount, warehouse, district]).await?;
    places.push(place_name(paid)?);

    let id = customer::find(session, home, input.who).await?;
    let balance = pay(session, input, id).await?;
    let payer = [Param::Integer(id), number(home.district), number(home.warehouse)];
    let [payer_id, payer_district, payer_warehouse] = payer;
    let entry = [
        payer_id,
        payer_district,
        payer_warehouse,
        district,
        warehouse,
        Param::Integer(now_us()),
        amount,
        Param::Text(places.as_str()),
    ];
    change(session, Sql::InsertHistory, &entry).await?;
    session.commit().await?;
    Ok(balance)
}

/// Reads the whole address, which a terminal would show, and returns the name.
fn place_name(set: &ResultSet) -> Result<&[u8], SessionError> {
    for column in 1..ADDRESS_COLUMNS {
        set.text(0, column)?;
    }
    Ok(set.text(0, 0)?.as_bytes())
}

/// Subtracts the amount from the customer's balance and returns the new balance.
async fn pay<S: Session>(session: &mut S, input: &Payment, id: i64) -> Result<i64, SessionError> {
    let note = note(input, id);
    let params = [
        Param::Integer(input.amount_cents),
        Param::Text(note.as_str()),
        number(input.customer_warehouse),
        number(input.customer_district),
        Param::Integer(id),
    ];
    let payer = row(session, Sql::PayCustomer, &params).await?;
    payer.integer(0, BALANCE)
}

/// The note that goes in front of the data of a customer with bad credit: who paid, where, and how much.
fn note(input: &Payment, id: i64) -> Letters<NOTE_MAX> {
    let mut text = [0_u8; NOTE_MAX];
    let mut room = text.as_mut_slice();
    // Five ids of at most ten digits and an amount of seven always fit.
    let written = write!(
        room,
        "{id} {} {} {} {} {}.{:02}|",
        input.customer_district,
        input.customer_warehouse,
        input.district,
        input.warehouse,
        input.amount_cents / 100,
        input.amount_cents % 100
    );
    debug_assert!(written.is_ok());
    let length = NOTE_MAX - room.len();
    let mut note = Letters::default();
    note.push(&text[..length]);
    note
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_names_customer_place_and_amount() {
        let input = Payment {
            warehouse: 7,
            district: 3,
            customer_warehouse: 12,
            customer_district: 10,
            who: Who::Id(2_999),
            amount_cents: 499_905,
        };
        assert_eq!(note(&input, 2_999).as_str(), "2999 10 12 3 7 4999.05|");
        let longest = Payment {
            warehouse: u32::MAX,
            district: u32::MAX,
            customer_warehouse: u32::MAX,
            customer_district: u32::MAX,
            ..input
        };
        assert!(note(&longest, i64::from(u32::MAX)).as_str().ends_with(" 4999.05|"));
    }
}
