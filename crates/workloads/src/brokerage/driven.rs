//! The brokerage house as the load engine drives it: customers, a market that answers them, and data maintenance.

use super::Brokerage;
use super::exchange::{self, MARKETS, Market};
use super::inputs::{self, Customer, Input, Maintainer};
use super::tally::{Counter, KINDS, Work};
use super::transactions;
use crate::effects::Effects;
use crate::workload::{Actor, Ending, Kind, Pause, User, Workload};
use engines::session::{Session, SessionError};
use engines::statement::{Dialect, Statement};
use record::script::{Phase, Stream};
use record::trial::Pacing;
use std::time::Duration;

const MARKET: u16 = 1;
const MAINTENANCE: u16 = 2;
const ACTORS: &[Actor] =
    &[Actor::paced("customers"), Actor::reacting("market", MARKETS), Actor::paced("data-maintenance")];
/// Between the end of one change of data maintenance and the next.
const BETWEEN_CHANGES: Duration = Duration::from_mins(1);

/// A user of one of the actors.
#[derive(Debug, Clone)]
pub enum Client {
    Customer(Customer),
    /// There are only a few markets, and nobody copies them.
    Market(Box<Market>),
    Maintenance(Maintainer),
}

impl Workload for Brokerage {
    type Input = Input;
    type Client = Client;

    const COUNTERS: &'static [&'static str] = Counter::NAMES;

    fn kinds(&self) -> &'static [Kind] {
        &KINDS
    }

    fn actors(&self) -> &'static [Actor] {
        ACTORS
    }

    /// Data are maintained in every phase, by one user.
    fn script(&self, load: Phase) -> Vec<Phase> {
        let mut phase = load;
        phase.streams.push(Stream::of(MAINTENANCE, Pacing::Clients { clients: 1 }));
        vec![phase]
    }

    fn statements(&self, dialect: Dialect) -> Vec<Statement> {
        self.statements.of(dialect).clone()
    }

    fn client(&self, user: User) -> Client {
        match user.actor {
            MARKET => Client::Market(Box::new(Market::new(user))),
            MAINTENANCE => Client::Maintenance(Maintainer::new(user)),
            _ => Client::Customer(Customer::new(user)),
        }
    }

    fn next(&self, client: &mut Client) -> Option<Input> {
        match client {
            Client::Customer(customer) => Some(inputs::draw(customer, &self.settings)),
            Client::Maintenance(maintainer) => Some(maintainer.draw(self.settings.size())),
            Client::Market(_) => None,
        }
    }

    fn kind(&self, input: &Input) -> u16 {
        // What is no transaction is never counted.
        input.work().map_or(0, |work| work as u16)
    }

    fn performer(&self, input: &Input) -> u16 {
        match input.work() {
            None | Some(Work::TradeResult | Work::MarketFeed) => MARKET,
            Some(Work::DataMaintenance | Work::TradeCleanup) => MAINTENANCE,
            Some(_) => 0,
        }
    }

    /// Customers neither type nor think. A study may pace them by a rate.
    fn pause(&self, _: &mut Client, input: &Input, _: bool) -> Pause {
        let is_maintenance = self.performer(input) == MAINTENANCE;
        Pause { thinking: if is_maintenance { BETWEEN_CHANGES } else { Duration::ZERO }, ..Pause::default() }
    }

    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &Input,
        effects: &mut Effects<'_, Input>,
    ) -> Result<Ending, SessionError> {
        transactions::run(&self.settings, session, input, effects).await
    }

    fn learn(&self, client: &mut Client, input: &Input, effects: &mut Effects<'_, Input>) {
        match (client, input) {
            (Client::Customer(customer), Input::TradeOrder(order)) => {
                exchange::ordered(order, &mut customer.delays, effects);
            }
            (Client::Market(market), Input::TradeResult(result)) => {
                market.executed(result, self.settings.size(), effects);
            }
            (Client::Market(market), Input::MarketFeed(_)) => market.triggered(effects),
            _ => {}
        }
    }

    fn is_note(&self, input: &Input) -> bool {
        matches!(input, Input::Limit(_))
    }

    fn note(&self, client: &mut Client, input: Input) {
        if let (Client::Market(market), Input::Limit(limit)) = (client, input) {
            market.note(limit);
        }
    }
}
