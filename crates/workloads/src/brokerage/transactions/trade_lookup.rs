//! Trade-lookup: trades of the past with their settlements and histories, and what trade-update reads in the same way.

use super::super::calendar;
use super::super::inputs::{TRADES, TradeSelection};
use super::super::settings::BrokerageSettings;
use super::super::statements::BrokerageStatement;
use super::super::tally::{BrokerageCounter, count_if};
use super::{number, symbol};
use crate::effects::Tally;
use crate::requests::Requests;
use engines::session::{Access, Param, Session, SessionError};

/// Lookups of a range of time end so long after the initial trading.
const AFTER_END_US: i64 = 15 * 60 * 1_000_000;
const HISTORIES: std::ops::RangeInclusive<usize> = 1..=20;

/// A trade that was found.
#[derive(Debug, Clone, Copy)]
pub struct FoundTrade {
    pub trade: i64,
    pub is_cash: bool,
}

pub async fn run<S: Session>(
    session: &mut S,
    mut requests: Requests<'_>,
    input: &TradeSelection,
    settings: &BrokerageSettings,
    tally: &mut Tally,
) -> Result<(), SessionError> {
    requests.begin(Access::ReadOnly);
    match input {
        TradeSelection::Trades(trades) => {
            let found = read_trades(session, &mut requests, &trades[..]).await?;
            count_if(tally, BrokerageCounter::Error611, found.len() != TRADES);
            read_blocks(session, &mut requests, &found).await?;
        }
        TradeSelection::OfAccount { account, from_us } => {
            let range = [number(account.id()), number(*from_us), number(end_us(settings))];
            let found = find(session, &mut requests, BrokerageStatement::TradesOfAccount, &range).await?;
            count_if(tally, BrokerageCounter::Error621, found.len() > TRADES);
            count_if(tally, BrokerageCounter::Warning621, found.is_empty());
            read_blocks(session, &mut requests, &found).await?;
        }
        TradeSelection::OfSecurity { security, from_us } => {
            let symbol = symbol(*security);
            let range = [Param::Text(symbol.as_str()), number(*from_us), number(end_us(settings))];
            let found = find(session, &mut requests, BrokerageStatement::TradesOfSecurity, &range).await?;
            count_if(tally, BrokerageCounter::Error631, found.len() > TRADES);
            count_if(tally, BrokerageCounter::Warning631, found.is_empty());
            read_blocks(session, &mut requests, &found).await?;
        }
        TradeSelection::Holdings { account, from_us } => {
            let first = requests.add(BrokerageStatement::FirstTrade, &[number(account.id()), number(*from_us)]);
            requests.send(session).await?;
            let first = requests.row_if_any(first)?.map(|found| found.integer(0, 0)).transpose()?;
            count_if(tally, BrokerageCounter::Warning641, first.is_none());
            requests.clear();
            let Some(trade) = first else { return session.commit().await };
            let histories = requests.add(BrokerageStatement::HoldingHistories, &[number(trade)]);
            let found = requests.finish(session, |requests| Ok(requests.answer(histories).rows())).await?;
            count_if(tally, BrokerageCounter::Error642, !HISTORIES.contains(&found));
        }
    }
    Ok(())
}

/// The end of the times of lookups, in microseconds since 1970.
pub fn end_us(settings: &BrokerageSettings) -> i64 {
    calendar::end(settings.size().days) + AFTER_END_US
}

/// Finds the first trades in a range of time. The first columns of the statement are the trade's id and whether it was for cash.
pub async fn find<S: Session>(
    session: &mut S,
    requests: &mut Requests<'_>,
    sql: BrokerageStatement,
    range: &[Param<'_>],
) -> Result<Vec<FoundTrade>, SessionError> {
    let number = requests.add(sql, range);
    requests.send(session).await?;
    let answer = requests.answer(number);
    let found = |row| Ok(FoundTrade { trade: answer.integer(row, 0)?, is_cash: answer.integer(row, 1)? == 1 });
    let found = (0..answer.rows()).map(found).collect();
    requests.clear();
    found
}

/// Reads trades by their ids. All of them must exist.
pub async fn read_trades<S: Session>(
    session: &mut S,
    requests: &mut Requests<'_>,
    trades: &[i64],
) -> Result<Vec<FoundTrade>, SessionError> {
    for trade in trades {
        requests.add(BrokerageStatement::Trade, &[number(*trade)]);
    }
    requests.send(session).await?;
    let found = |(trade, number): (&i64, usize)| {
        let row = requests.row(number)?;
        row.integer(0, 1)?;
        row.text(0, 2)?;
        row.integer(0, 3)?;
        row.integer(0, 4)?;
        Ok(FoundTrade { trade: *trade, is_cash: row.integer(0, 0)? == 1 })
    };
    let found = trades.iter().zip(0..).map(found).collect();
    requests.clear();
    found
}

/// Reads the settlement of each trade, the cash transaction if there is one, and the history. Then it commits.
pub async fn read_blocks<S: Session>(
    session: &mut S,
    requests: &mut Requests<'_>,
    found: &[FoundTrade],
) -> Result<(), SessionError> {
    for FoundTrade { trade, .. } in found {
        requests.add(BrokerageStatement::Settlement, &[number(*trade)]);
    }
    let cash = requests.next_number();
    for FoundTrade { trade, .. } in found.iter().filter(|found| found.is_cash) {
        requests.add(BrokerageStatement::Cash, &[number(*trade)]);
    }
    let histories = requests.next_number();
    for FoundTrade { trade, .. } in found {
        requests.add(BrokerageStatement::History, &[number(*trade)]);
    }
    if requests.next_number() == 0 {
        return session.commit().await;
    }
    let judge = |requests: &Requests<'_>| {
        for number in 0..cash {
            let settlement = requests.row(number)?;
            settlement.integer(0, 0)?;
            settlement.date(0, 1)?;
            settlement.text(0, 2)?;
        }
        for number in cash..histories {
            let cash = requests.row(number)?;
            cash.integer(0, 0)?;
            cash.integer(0, 1)?;
            cash.text(0, 2)?;
        }
        for number in histories..requests.next_number() {
            let history = requests.answer(number);
            history.integer(0, 0)?;
            history.text(0, 1)?;
        }
        Ok(())
    };
    requests.finish(session, judge).await
}
