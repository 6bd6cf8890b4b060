//! Market-feed: prices of the ticker go into the database, and orders whose limit they meet are submitted.
//!
//! All entries are one transaction. They are taken by security, so that two feeds lock their rows in the same order. Entries of
//! one security keep their order, so the last price stays.

use super::super::exchange::ToExecute;
use super::super::inputs::{ENTRIES, TickerEntry};
use super::super::statements::BrokerageStatement;
use super::super::tally::{BrokerageCounter, count, count_if};
use super::super::trading::{TradeType, status};
use super::{now_us, number, symbol};
use crate::effects::Tally;
use crate::requests::Requests;
use engines::session::{Access, Param, Session, SessionError};

/// Returns the orders that the market is to execute.
pub async fn run<S: Session>(
    session: &mut S,
    mut requests: Requests<'_>,
    entries: &[TickerEntry; ENTRIES],
    tally: &mut Tally,
) -> Result<Vec<ToExecute>, SessionError> {
    let mut entries = *entries;
    entries.sort_by_key(|entry| entry.security);
    let priced_at = number(now_us());
    requests.begin(Access::ReadWrite);
    for entry in &entries {
        let symbol = symbol(entry.security);
        let params = [number(entry.price_cents), number(entry.quantity), priced_at, Param::Text(symbol.as_str())];
        requests.add(BrokerageStatement::SetPrice, &params);
    }
    let asked = requests.next_number();
    for entry in &entries {
        let symbol = symbol(entry.security);
        requests.add(BrokerageStatement::TriggeredRequests, &[Param::Text(symbol.as_str()), number(entry.price_cents)]);
    }
    requests.send(session).await?;
    let updated = requests.changed(0..asked);
    let mut triggered: Vec<ToExecute> = Vec::new();
    for (entry, answer) in entries.iter().zip(asked..) {
        for order in met_by(entry, &requests, answer)? {
            // Two entries of one security may trigger the same order.
            if triggered.iter().all(|other| other.trade != order.trade) {
                triggered.push(order);
            }
        }
    }
    requests.clear();
    // The feed may have waited for its prices' locks, and an order that it found may have been entered meanwhile.
    let submitted_at = number(now_us());
    for order in &triggered {
        requests
            .add(BrokerageStatement::SetStatus, &[submitted_at, Param::Text(status::SUBMITTED), number(order.trade)]);
    }
    let deleted = requests.next_number();
    for order in &triggered {
        requests.add(BrokerageStatement::DeleteRequest, &[number(order.trade)]);
    }
    let told = requests.next_number();
    for order in &triggered {
        requests.add(
            BrokerageStatement::InsertHistory,
            &[number(order.trade), submitted_at, Param::Text(status::SUBMITTED)],
        );
    }
    requests
        .finish(session, |requests| {
            [0..deleted, deleted..told, told..requests.next_number()]
                .into_iter()
                .filter(|numbers| !numbers.is_empty())
                .try_for_each(|numbers| requests.require_changes(numbers))
        })
        .await?;
    let different = entries.chunk_by(|one, next| one.security == next.security).count() as u64;
    count_if(tally, BrokerageCounter::Error311, updated < different);
    count(tally, BrokerageCounter::PricesSet, updated);
    count(tally, BrokerageCounter::TriggeredOrders, triggered.len() as u64);
    count(tally, BrokerageCounter::SentToMarket, triggered.len() as u64);
    Ok(triggered)
}

/// The pending orders that an entry's price triggers.
fn met_by(entry: &TickerEntry, requests: &Requests<'_>, answer: usize) -> Result<Vec<ToExecute>, SessionError> {
    let found = requests.answer(answer);
    let order = |row| {
        let id = found.text(row, 2)?;
        let kind = TradeType::from_id(id)
            .ok_or_else(|| requests.unexpected(answer, format!("an order of the unknown type {id:?}")))?;
        Ok(ToExecute {
            trade: found.integer(row, 0)?,
            security: entry.security,
            kind,
            limit_cents: found.integer(row, 1)?,
            quantity: found.integer(row, 3)?,
        })
    };
    (0..found.rows()).map(order).collect()
}
