//! The five transactions, each straight-line code on a session.
//!
//! Requests that do not depend on each other's answers are one batch, which goes out together if the study wants that.

mod customer;
mod delivery;
mod new_order;
mod order_status;
mod payment;
mod stock_level;

use super::inputs::{Card, OrderEntryClient, OrderEntryInput};
use super::settings::DeliveryMode;
use super::statements::OrderEntryStatement;
use super::{OrderEntry, calls, pauses, tally};
use crate::effects::Effects;
use crate::requests::Requests;
use crate::way::Transactions;
use crate::workload::{Actor, Ending, Pause, TransactionKind, User, Workload};
use engines::session::{Param, Session, SessionError};
use engines::statement::{Dialect, Statement};
use std::time::{SystemTime, UNIX_EPOCH};

/// Orders that are rolled back on purpose count, too, as the definition says. A tool that takes its figure from the
/// order numbers in the database reports 1 % less.
const KINDS: [TransactionKind; Card::NAMES.len()] = TransactionKind::all(Card::NAMES, 1);

/// If deliveries are not deferred, only the first exists.
const ACTORS: &[Actor] = &[Actor::paced("terminals"), Actor::reacting("deliveries", 0)];

impl Workload for OrderEntry {
    type Input = OrderEntryInput;
    type Client = OrderEntryClient;

    const COUNTERS: &'static [&'static str] = tally::OrderEntryCounter::NAMES;

    fn kinds(&self) -> &'static [TransactionKind] {
        &KINDS
    }

    fn statements(&self, dialect: Dialect) -> Vec<Statement> {
        self.statements.of(dialect).clone()
    }

    fn client(&self, user: User) -> OrderEntryClient {
        OrderEntryClient::new(user.seed, user.index, self.settings.warehouses)
    }

    fn next(&self, client: &mut OrderEntryClient) -> Option<OrderEntryInput> {
        Some(self.draw(client))
    }

    fn kind(&self, input: &OrderEntryInput) -> u16 {
        input.card() as u16
    }

    fn actors(&self) -> &'static [Actor] {
        match self.settings.delivery {
            DeliveryMode::Deferred => ACTORS,
            DeliveryMode::Inline => &ACTORS[..1],
        }
    }

    /// A terminal only queues a deferred delivery; the other actor executes it.
    fn performer(&self, input: &OrderEntryInput) -> u16 {
        u16::from(matches!(input, OrderEntryInput::Delivery(_)) && self.settings.delivery == DeliveryMode::Deferred)
    }

    fn pause(&self, client: &mut OrderEntryClient, input: &OrderEntryInput, terminal: bool) -> Pause {
        if terminal { pauses::pause(client, input.card()) } else { Pause::default() }
    }

    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &OrderEntryInput,
        effects: &mut Effects<'_, OrderEntryInput>,
    ) -> Result<Ending, SessionError> {
        tally::count_inputs(&mut effects.tally, input);
        if self.settings.transactions == Transactions::Procedures {
            return calls::run(session, input, effects).await;
        }
        let (tally, batch) = (&mut effects.tally, &mut effects.batch);
        batch.send_by(self.settings.statements.sending());
        let requests = Requests::new(batch, OrderEntryStatement::NAMES);
        match input {
            OrderEntryInput::NewOrder(order) => {
                let Some(receipt) = new_order::run(session, requests, order, tally).await? else {
                    return Ok(Ending::RolledBack);
                };
                effects.tell(&[order.warehouse.into(), order.district.into(), receipt.order, receipt.total_cents]);
            }
            OrderEntryInput::Payment(input) => drop(payment::run(session, requests, input).await?),
            OrderEntryInput::OrderStatus(input) => drop(order_status::run(session, requests, input).await?),
            OrderEntryInput::Delivery(input) => drop(delivery::run(session, requests, input, tally).await?),
            OrderEntryInput::StockLevel(input) => drop(stock_level::run(session, requests, input).await?),
        }
        Ok(Ending::Committed)
    }
}

/// The time that goes into a row, in microseconds since 1970. It is the client's clock, on all engines.
pub fn now_us() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX)
}

pub fn number(id: u32) -> Param<'static> {
    Param::Integer(i64::from(id))
}

/// A number of rows or lines, to compare with one in the database.
pub fn length(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
