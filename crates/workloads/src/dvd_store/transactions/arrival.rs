//! A customer logs in or signs up.

use super::super::definition::PASSWORD;
use super::super::inputs::{Visitor, new_name};
use super::super::rows::{CustomerKind, push_attributes};
use super::super::statements::DvdStoreStatement;
use super::super::tally::{DvdStoreCounter, DvdStoreWork};
use super::{Visit, inserted, unexpected};
use crate::random::{Letters, RandomStream};
use crate::way::Transactions;
use engines::rows::RowSink;
use engines::session::{Param, Session, SessionError};

/// Columns of a customer, but for the id.
const COLUMNS: usize = 19;
const NEW_AGE_MAX: i64 = 99;
/// Titles and an actor.
const HISTORY_COLUMNS: usize = 3;
const NAME_MAX: usize = 20;
/// A name is taken so seldom that something else must be wrong by then.
const NAMES_TRIED: u32 = 100;

impl<S: Session> Visit<'_, '_, S> {
    /// Returns the customer's id.
    pub async fn arrive(&mut self, visitor: &Visitor) -> Result<i64, SessionError> {
        match visitor {
            Visitor::Known(id) => {
                self.effects.begin_step(DvdStoreWork::Login as u16);
                let mut name = Letters::<NAME_MAX>::default();
                write!(name, "user{id}");
                match self.shop.settings.transactions {
                    Transactions::Client => self.log_in(name.as_str()).await,
                    Transactions::Procedures => self.call_login(name.as_str()).await,
                }
            }
            Visitor::New(stream) => {
                self.effects.begin_step(DvdStoreWork::NewCustomer as u16);
                self.sign_up(stream.clone()).await
            }
        }
    }

    async fn log_in(&mut self, name: &str) -> Result<i64, SessionError> {
        let (login, history) = (self.id(DvdStoreStatement::Login), self.id(DvdStoreStatement::History));
        let (mut requests, session) = self.requests();
        let found = requests.add(login, &[Param::Text(name), Param::Text(PASSWORD)]);
        let bought = requests.add(history, &[Param::Text(name)]);
        requests.send(session).await?;
        let customer = requests.row(found)?.integer(0, 0)?;
        let bought = requests.answer(bought);
        for row in 0..bought.rows() {
            for column in 0..HISTORY_COLUMNS {
                bought.text(row, column)?;
            }
        }
        let rows = bought.rows() as u64;
        self.effects.tally.add(DvdStoreCounter::HistoryRows as usize, rows);
        Ok(customer)
    }

    async fn call_login(&mut self, name: &str) -> Result<i64, SessionError> {
        let answer = self.ask(DvdStoreStatement::CallLogin, &[Param::Text(name), Param::Text(PASSWORD)]).await?;
        if answer.rows() == 0 {
            return Err(unexpected(DvdStoreStatement::CallLogin, "no row".to_owned()));
        }
        let (customer, mut rows) = (answer.integer(0, 0)?, 0);
        for row in (0..answer.rows()).filter(|&row| !answer.is_null(row, 1)) {
            for column in 1..=HISTORY_COLUMNS {
                answer.text(row, column)?;
            }
            rows += 1;
        }
        self.effects.tally.add(DvdStoreCounter::HistoryRows as usize, rows);
        Ok(customer)
    }

    /// Signs up under a name that is free.
    async fn sign_up(&mut self, mut stream: RandomStream) -> Result<i64, SessionError> {
        let mut attributes = Attributes::default();
        let has_community = self.shop.settings.community().is_some();
        let who = CustomerKind { at_home: stream.once_in(2), age_max: NEW_AGE_MAX, has_community };
        push_attributes(&mut stream, &who, "", &mut attributes);
        for _ in 0..NAMES_TRIED {
            let mut name = Letters::<NAME_MAX>::default();
            write!(name, "newuser{}", new_name(&mut stream));
            let mut params = attributes.params();
            params[USERNAME] = Param::Text(name.as_str());
            let answer = self.ask(DvdStoreStatement::InsertCustomer, &params).await?;
            if answer.rows() > 0 || answer.changed() > 0 {
                return inserted(answer);
            }
            self.effects.tally.add(DvdStoreCounter::NamesTaken as usize, 1);
        }
        Err(unexpected(DvdStoreStatement::InsertCustomer, format!("{NAMES_TRIED} names in a row were taken")))
    }
}

/// Place of the name among the columns.
const USERNAME: usize = 14;

#[derive(Clone, Copy)]
enum Attribute {
    Integer(i64),
    Text(Letters<NAME_MAX>),
    Null,
}

/// The values of a new customer's columns.
struct Attributes {
    values: [Attribute; COLUMNS],
    count: usize,
}

impl Default for Attributes {
    fn default() -> Self {
        Self { values: [Attribute::Null; COLUMNS], count: 0 }
    }
}

impl Attributes {
    fn params(&self) -> [Param<'_>; COLUMNS] {
        std::array::from_fn(|place| match &self.values[place] {
            Attribute::Integer(value) => Param::Integer(*value),
            Attribute::Text(text) => Param::Text(text.as_str()),
            Attribute::Null => Param::Null,
        })
    }
}

impl RowSink for Attributes {
    /// No customer has a decimal or a date.
    fn value(&mut self, value: Param<'_>) {
        self.values[self.count] = match value {
            Param::Integer(value) => Attribute::Integer(value),
            Param::Text(value) => {
                let mut text = Letters::default();
                text.push(value.as_bytes());
                Attribute::Text(text)
            }
            Param::Decimal(_) | Param::Date(_) | Param::Null => Attribute::Null,
        };
        self.count += 1;
    }

    fn end_row(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::super::super::tables::TABLES;
    use super::*;

    #[test]
    fn a_new_customer_has_a_value_for_each_column_and_a_place_for_the_name() {
        let customers = TABLES.iter().find(|table| table.name == "customers").unwrap();
        let mut attributes = Attributes::default();
        let who = CustomerKind { at_home: false, age_max: NEW_AGE_MAX, has_community: true };
        push_attributes(&mut RandomStream::new(1, "test", [0, 0]), &who, "here", &mut attributes);
        assert_eq!(attributes.count, customers.columns.len() - 1);
        assert_eq!(customers.columns[USERNAME + 1], "username");
        assert_eq!(attributes.params()[USERNAME], Param::Text("here"));
    }
}
