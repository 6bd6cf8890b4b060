//! The twelve transactions, each straight-line code on a session.
//!
//! The original divides a transaction into frames, which know only their parameters. Here they are parts of one function, and use
//! nothing but the inputs and what earlier statements have answered. Requests that do not depend on each other's answers are
//! one batch, which goes out together if the study wants that.

mod broker_volume;
mod customer_position;
mod data_maintenance;
mod market_feed;
mod market_watch;
mod security_detail;
mod trade_cleanup;
mod trade_lookup;
mod trade_order;
mod trade_result;
mod trade_status;
mod trade_update;

use super::exchange::{self, NO_TRADE};
use super::inputs::BrokerageInput;
use super::market::{SYMBOL_MAX, Security};
use super::settings::BrokerageSettings;
use super::statements::BrokerageStatement;
use super::tally;
use crate::effects::Effects;
use crate::random::Letters;
use crate::requests::Requests;
use crate::workload::Ending;
use engines::session::{Param, Session, SessionError};
use std::time::{SystemTime, UNIX_EPOCH};

pub async fn run<S: Session>(
    settings: &BrokerageSettings,
    session: &mut S,
    input: &BrokerageInput,
    effects: &mut Effects<'_, BrokerageInput>,
) -> Result<Ending, SessionError> {
    let now_ns = effects.now_ns();
    let before_us = now_us() - i64::try_from(now_ns.saturating_sub(effects.due_ns()) / 1_000).unwrap_or(0);
    let (tally, batch) = (&mut effects.tally, &mut effects.batch);
    let requests = Requests::new(batch, BrokerageStatement::NAMES);
    match input {
        BrokerageInput::BrokerVolume(input) => broker_volume::run(session, requests, input, settings, tally).await?,
        BrokerageInput::CustomerPosition(input) => {
            customer_position::run(session, requests, input, settings, tally).await?;
        }
        BrokerageInput::MarketFeed(entries) => {
            let triggered = market_feed::run(session, requests, entries, tally).await?;
            for order in &triggered {
                effects.tell(&exchange::receipt(order));
            }
        }
        BrokerageInput::MarketWatch(input) => market_watch::run(session, requests, input).await?,
        BrokerageInput::SecurityDetail(input) => security_detail::run(session, requests, input, tally).await?,
        BrokerageInput::TradeLookup(input) => trade_lookup::run(session, requests, input, settings, tally).await?,
        BrokerageInput::TradeOrder(input) => {
            let Some(trade) = trade_order::run(session, requests, input, settings, tally).await? else {
                effects.tell(&[NO_TRADE]);
                return Ok(Ending::RolledBack);
            };
            effects.tell(&[trade]);
        }
        BrokerageInput::TradeResult(input) => {
            trade_result::run(session, requests, input, tally).await?;
            let lag_ms = effects.now_ns().saturating_sub(input.since_ns) / 1_000_000;
            tally::count(&mut effects.tally, tally::BrokerageCounter::ResultLagMs, lag_ms);
        }
        BrokerageInput::TradeStatus(account) => trade_status::run(session, requests, *account, tally).await?,
        BrokerageInput::TradeUpdate(input) => trade_update::run(session, requests, input, settings, tally).await?,
        BrokerageInput::DataMaintenance(input) => data_maintenance::run(session, requests, input).await?,
        BrokerageInput::TradeCleanup => {
            trade_cleanup::run(session, requests, settings.size(), before_us, tally).await?;
        }
        BrokerageInput::Limit(_) => {}
    }
    Ok(Ending::Committed)
}

/// The time that goes into a row, in microseconds since 1970. It is the client's clock, on all engines.
fn now_us() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX)
}

fn symbol(security: u32) -> Letters<SYMBOL_MAX> {
    Security::new(security).symbol()
}

fn number(value: i64) -> Param<'static> {
    Param::Integer(value)
}

fn flag(is_set: bool) -> Param<'static> {
    Param::Integer(is_set.into())
}
