//! The brokerage house as the load engine drives it: customers, a market that answers them, and data maintenance.

use super::Brokerage;
use super::exchange::{self, MARKETS, Market};
use super::inputs::{self, Customer, Input, Maintainer};
use super::tally::Counter;
use super::transactions;
use super::work::{KINDS, Work};
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

#[cfg(test)]
mod tests {
    use super::super::exchange::market_of;
    use super::super::inputs::Limit;
    use super::super::trading::TradeType;
    use super::*;
    use serde_json::Map;

    fn house() -> Brokerage {
        Brokerage::from_table(&Map::new()).unwrap()
    }

    fn user(actor: u16) -> Client {
        house().client(User { seed: 7, phase: 0, actor, index: 1, is_filler: false })
    }

    #[test]
    fn maintenance_goes_on_beside_any_load_and_once_a_minute() {
        let load = Phase::timed(Pacing::Clients { clients: 16 }, 1_000, 5_000);
        let phases = house().script(load.clone());
        assert_eq!(phases.len(), 1, "a peak can be sought");
        assert_eq!(phases[0].streams[0], load.streams[0]);
        let mut maintainer = user(phases[0].streams[1].actor);
        for kind in [Work::TradeCleanup, Work::DataMaintenance, Work::DataMaintenance] {
            let input = house().next(&mut maintainer).unwrap();
            assert_eq!((house().kind(&input), house().performer(&input)), (kind as u16, MAINTENANCE));
            assert_eq!(house().pause(&mut maintainer, &input, false).thinking, BETWEEN_CHANGES);
        }
    }

    #[test]
    fn customers_do_not_pause_and_a_market_does_nothing_by_itself() {
        let (house, mut customer) = (house(), user(0));
        for _ in 0..2_000 {
            let input = house.next(&mut customer).unwrap();
            assert_eq!(house.performer(&input), 0);
            assert_eq!(house.pause(&mut customer, &input, true), Pause::default());
        }
        assert!(house.next(&mut user(MARKET)).is_none());
        assert!(size_of::<Client>() <= 80, "{} bytes", size_of::<Client>());
    }

    #[test]
    fn only_an_order_that_waits_is_no_transaction() {
        let limit = Limit { security: 5, kind: TradeType::LimitBuy, price_cents: 2_500, since_ns: 0 };
        let note = Input::Limit(limit);
        assert!(house().is_note(&note) && !house().is_note(&Input::TradeCleanup));
        assert_eq!((house().performer(&note), market_of(5)), (MARKET, 1));
        house().note(&mut user(MARKET), note);
    }
}
