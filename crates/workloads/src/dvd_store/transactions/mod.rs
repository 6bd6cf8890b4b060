//! An order: a customer comes, searches, and buys. Each of these is a step of its own, and only the purchase changes several
//! rows at once. What a step has done stays done if a later one must be tried again.

mod arrival;
mod community;
mod purchase;
mod searches;

use super::inputs::{DvdStoreClient, DvdStoreInput};
use super::statements::DvdStoreStatement;
use super::tally::{self, DvdStoreCounter, DvdStoreWork};
use super::{DvdStore, definition};
use crate::effects::Effects;
use crate::requests::Requests;
use crate::way::Transactions;
use crate::workload::{Ending, Pause, TransactionKind, User, Workload};
use engines::session::{Date, Param, ResultSet, Session, SessionError};
use engines::statement::{Dialect, Statement, StatementId};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

impl Workload for DvdStore {
    type Input = DvdStoreInput;
    type Client = DvdStoreClient;

    const COUNTERS: &'static [&'static str] = DvdStoreCounter::NAMES;

    fn kinds(&self) -> &'static [TransactionKind] {
        tally::kinds(self.has_community())
    }

    fn statements(&self, dialect: Dialect) -> Vec<Statement> {
        self.statements.of(dialect).to_vec()
    }

    fn client(&self, user: User) -> DvdStoreClient {
        DvdStoreClient::new(user.seed, user.index)
    }

    fn next(&self, client: &mut DvdStoreClient) -> Option<DvdStoreInput> {
        Some(client.draw(&self.settings))
    }

    fn kind(&self, _: &DvdStoreInput) -> u16 {
        DvdStoreWork::Order as u16
    }

    fn pause(&self, _: &mut DvdStoreClient, input: &DvdStoreInput, _: bool) -> Pause {
        Pause { keying: Duration::ZERO, thinking: input.thinking }
    }

    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &DvdStoreInput,
        effects: &mut Effects<'_, DvdStoreInput>,
    ) -> Result<Ending, SessionError> {
        effects.batch.send_by(self.settings.statements.sending());
        let mut visit = Visit { shop: self, session, effects, place: 0 };
        if visit.is_next() {
            let customer = visit.arrive(&input.visitor).await?;
            visit.effects.tell(&[customer]);
            visit.effects.keep();
        }
        let customer = visit.effects.receipt().first().copied().unwrap_or_default();
        if let Some(part) = &input.community {
            visit.become_member(part, customer).await?;
        }
        for search in input.searches.all() {
            if visit.is_next() {
                visit.search(search).await?;
                visit.effects.keep();
            }
        }
        if let Some(part) = &input.community {
            visit.take_part(part, customer).await?;
        }
        visit.effects.begin_step(DvdStoreWork::Purchase as u16);
        let bought = match self.settings.transactions {
            Transactions::Client => visit.purchase(input.cart.all(), customer).await?,
            Transactions::Procedures => visit.call_purchase(input.cart.all(), customer).await?,
        };
        visit.effects.tally.add(DvdStoreCounter::Items as usize, input.cart.all().len() as u64);
        let Some(order) = bought else { return Ok(Ending::RolledBack) };
        visit.effects.tell(&[order]);
        Ok(Ending::Committed)
    }
}

/// An order under way.
struct Visit<'a, 'e, S> {
    shop: &'a DvdStore,
    session: &'a mut S,
    effects: &'a mut Effects<'e, DvdStoreInput>,
    /// Steps so far.
    place: usize,
}

impl<S: Session> Visit<'_, '_, S> {
    /// Whether no earlier attempt has done the next step.
    fn is_next(&mut self) -> bool {
        self.place += 1;
        self.place > self.effects.kept()
    }

    fn id(&self, sql: DvdStoreStatement) -> StatementId {
        self.shop.statements.id(sql)
    }

    /// Sends one request alone.
    async fn ask(&mut self, sql: DvdStoreStatement, params: &[Param<'_>]) -> Result<&ResultSet, SessionError> {
        let id = self.id(sql);
        self.session.execute(id, params).await
    }

    /// Requests of the next transaction, and the session to send them by.
    fn requests(&mut self) -> (Requests<'_>, &mut S) {
        self.effects.batch.clear();
        (Requests::new(&mut self.effects.batch, &self.shop.statements.names), self.session)
    }
}

#[cold]
fn unexpected(sql: DvdStoreStatement, what: String) -> SessionError {
    SessionError::Unexpected { statement: sql.name(), what }
}

/// The id of the row that a statement inserted: it returns it, or the server reports it.
fn inserted(answer: &ResultSet) -> Result<i64, SessionError> {
    if answer.rows() == 0 { answer.inserted_id() } else { answer.integer(0, 0) }
}

fn number(id: u32) -> Param<'static> {
    Param::Integer(id.into())
}

/// The date that goes into a row, by the client's clock and in UTC, on all engines.
fn today() -> Date {
    const SECONDS_OF_A_DAY: u64 = 86_400;
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    definition::date((elapsed.as_secs() / SECONDS_OF_A_DAY).cast_signed())
}
