//! The brokerage house as the load engine drives it: customers, a market that answers them, and data maintenance.

use super::Brokerage;
use super::exchange::{self, MARKETS, Market};
use super::inputs::{self, BrokerageInput, Customer, Maintainer};
use super::tally::{self, BrokerageCounter};
use super::transactions;
use super::work::{BrokerageWork, KINDS};
use crate::effects::Effects;
use crate::workload::{Actor, Ending, Pause, TransactionKind, User, Workload};
use engines::session::{Session, SessionError};
use engines::statement::{Dialect, Statement};
use record::script::{LoadPhase, UserStream};
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
pub enum BrokerageClient {
    Customer(Customer),
    /// There are only a few markets, and nobody copies them.
    Market(Box<Market>),
    Maintenance(Maintainer),
}

impl Workload for Brokerage {
    type Input = BrokerageInput;
    type Client = BrokerageClient;

    const COUNTERS: &'static [&'static str] = BrokerageCounter::NAMES;

    fn kinds(&self) -> &'static [TransactionKind] {
        &KINDS
    }

    fn actors(&self) -> &'static [Actor] {
        ACTORS
    }

    /// Data are maintained in every phase, by one user.
    fn script(&self, load: LoadPhase) -> Vec<LoadPhase> {
        let mut phase = load;
        phase.streams.push(UserStream::of(MAINTENANCE, Pacing::Clients { clients: 1 }));
        vec![phase]
    }

    fn statements(&self, dialect: Dialect) -> Vec<Statement> {
        self.statements.of(dialect).clone()
    }

    fn client(&self, user: User) -> BrokerageClient {
        match user.actor {
            MARKET => BrokerageClient::Market(Box::new(Market::new(user))),
            MAINTENANCE => BrokerageClient::Maintenance(Maintainer::new(user)),
            _ => BrokerageClient::Customer(Customer::new(user)),
        }
    }

    fn next(&self, client: &mut BrokerageClient) -> Option<BrokerageInput> {
        match client {
            BrokerageClient::Customer(customer) => Some(inputs::draw(customer, &self.settings)),
            BrokerageClient::Maintenance(maintainer) => Some(maintainer.draw(self.settings.size())),
            BrokerageClient::Market(_) => None,
        }
    }

    fn kind(&self, input: &BrokerageInput) -> u16 {
        // What is no transaction is never counted.
        input.work().map_or(0, |work| work as u16)
    }

    fn performer(&self, input: &BrokerageInput) -> u16 {
        match input.work() {
            None | Some(BrokerageWork::TradeResult | BrokerageWork::MarketFeed) => MARKET,
            Some(BrokerageWork::DataMaintenance | BrokerageWork::TradeCleanup) => MAINTENANCE,
            Some(_) => 0,
        }
    }

    /// Customers neither type nor think. A study may pace them by a rate.
    fn pause(&self, _: &mut BrokerageClient, input: &BrokerageInput, _: bool) -> Pause {
        let is_maintenance = self.performer(input) == MAINTENANCE;
        Pause { thinking: if is_maintenance { BETWEEN_CHANGES } else { Duration::ZERO }, ..Pause::default() }
    }

    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &BrokerageInput,
        effects: &mut Effects<'_, BrokerageInput>,
    ) -> Result<Ending, SessionError> {
        let Some(work) = input.work() else { return Ok(Ending::Committed) };
        effects.batch.send_by(self.settings.statements.sending());
        tally::count_inputs(&mut effects.tally, input);
        let ending = transactions::run(&self.settings, session, input, effects).await?;
        tally::count_if_late(effects, work);
        Ok(ending)
    }

    fn learn(&self, client: &mut BrokerageClient, input: &BrokerageInput, effects: &mut Effects<'_, BrokerageInput>) {
        match (client, input) {
            (BrokerageClient::Customer(customer), BrokerageInput::TradeOrder(order)) => {
                exchange::ordered(order, &mut customer.delays, effects);
            }
            (BrokerageClient::Market(market), BrokerageInput::TradeResult(result)) => {
                market.executed(result, self.settings.size(), effects);
            }
            (BrokerageClient::Market(market), BrokerageInput::MarketFeed(_)) => market.triggered(effects),
            _ => {}
        }
    }

    fn is_note(&self, input: &BrokerageInput) -> bool {
        matches!(input, BrokerageInput::Limit(_))
    }

    fn note(&self, client: &mut BrokerageClient, input: BrokerageInput) {
        if let (BrokerageClient::Market(market), BrokerageInput::Limit(limit)) = (client, input) {
            market.note(limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::exchange::market_of;
    use super::super::inputs::LimitOrder;
    use super::super::trading::TradeType;
    use super::*;
    use serde_json::Map;

    fn house() -> Brokerage {
        Brokerage::from_table(&Map::new()).unwrap()
    }

    fn user(actor: u16) -> BrokerageClient {
        house().client(User { seed: 7, phase: 0, actor, index: 1, is_filler: false })
    }

    #[test]
    fn maintenance_goes_on_beside_any_load_and_once_a_minute() {
        let load = LoadPhase::timed(Pacing::Clients { clients: 16 }, 1_000, 5_000);
        let phases = house().script(load.clone());
        assert_eq!(phases.len(), 1, "a peak can be sought");
        assert_eq!(phases[0].streams[0], load.streams[0]);
        let mut maintainer = user(phases[0].streams[1].actor);
        for kind in [BrokerageWork::TradeCleanup, BrokerageWork::DataMaintenance, BrokerageWork::DataMaintenance] {
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
        assert!(size_of::<BrokerageClient>() <= 80, "{} bytes", size_of::<BrokerageClient>());
    }

    #[test]
    fn only_an_order_that_waits_is_no_transaction() {
        let limit = LimitOrder { security: 5, kind: TradeType::LimitBuy, price_cents: 2_500, since_ns: 0 };
        let note = BrokerageInput::Limit(limit);
        assert!(house().is_note(&note) && !house().is_note(&BrokerageInput::TradeCleanup));
        assert_eq!((house().performer(&note), market_of(5)), (MARKET, 1));
        house().note(&mut user(MARKET), note);
    }
}
