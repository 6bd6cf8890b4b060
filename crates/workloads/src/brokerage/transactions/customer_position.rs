//! Customer-position: what a customer's accounts are worth, and sometimes the latest trades of one.

use super::super::ids;
use super::super::inputs::CustomerPosition;
use super::super::people::Person;
use super::super::settings::BrokerageSettings;
use super::super::statements::BrokerageStatement;
use super::super::tally::{BrokerageCounter, count_if};
use super::number;
use crate::effects::Tally;
use crate::requests::Requests;
use engines::session::{Access, Param, Session, SessionError};

const ACCOUNTS: std::ops::RangeInclusive<usize> = 1..=10;
const HISTORY: std::ops::RangeInclusive<usize> = 10..=30;

pub async fn run<S: Session>(
    session: &mut S,
    mut requests: Requests<'_>,
    input: &CustomerPosition,
    settings: &BrokerageSettings,
    tally: &mut Tally,
) -> Result<(), SessionError> {
    let mut customer = ids::id(input.customer);
    requests.begin(Access::ReadOnly);
    if input.by_tax_id {
        let person = Person::new(settings.data_seed, customer);
        let found = requests.add(BrokerageStatement::CustomerOfTaxId, &[Param::Text(person.tax_id.as_str())]);
        requests.send(session).await?;
        customer = requests.answer(found).integer(0, 0)?;
        requests.clear();
    }
    let of_customer = requests.add(BrokerageStatement::Customer, &[number(customer)]);
    let accounts = requests.add(BrokerageStatement::Accounts, &[number(customer)]);
    requests.send(session).await?;
    let person = requests.row(of_customer)?;
    person.text(0, 1)?;
    person.text(0, 2)?;
    person.integer(0, 5)?;
    person.date(0, 6)?;
    let accounts = requests.answer(accounts);
    count_if(tally, BrokerageCounter::Error211, !ACCOUNTS.contains(&accounts.rows()));
    for account in 0..accounts.rows() {
        accounts.integer(account, 1)?;
        accounts.integer(account, 2)?;
    }
    let Some(place) = input.history_of else { return session.commit().await };
    // Another customer of the same tax id may have fewer accounts.
    let account = accounts.integer((place as usize).min(accounts.rows().saturating_sub(1)), 0)?;
    requests.clear();
    let history = requests.add(BrokerageStatement::AccountHistory, &[number(account)]);
    let found = requests
        .finish(session, |requests| {
            let history = requests.answer(history);
            for row in 0..history.rows() {
                history.integer(row, 0)?;
                history.text(row, 3)?;
                history.integer(row, 4)?;
            }
            Ok(history.rows())
        })
        .await?;
    count_if(tally, BrokerageCounter::Error221, !HISTORY.contains(&found));
    Ok(())
}
