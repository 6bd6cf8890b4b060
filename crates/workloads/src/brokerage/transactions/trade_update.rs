//! Trade-update: what trade-lookup reads, with a change to each trade.
//!
//! Each change can be undone by the next one: executors get a middle name and lose it again, and texts of settlements and cash
//! transactions have two forms.

use super::super::inputs::{TRADES, TradeSelection};
use super::super::settings::BrokerageSettings;
use super::super::statements::BrokerageStatement;
use super::super::tally::{BrokerageCounter, count_if};
use super::trade_lookup::{FoundTrade, end_us, find, read_blocks, read_trades};
use super::{number, symbol};
use crate::effects::Tally;
use crate::requests::Requests;
use engines::session::{Access, Param, Session, SessionError};

const MIDDLE_NAME: &str = " X ";
const SHARES: &str = " shares of ";
const OTHER_SHARES: &str = " Shares of ";

pub async fn run<S: Session>(
    session: &mut S,
    mut requests: Requests<'_>,
    input: &TradeSelection,
    settings: &BrokerageSettings,
    tally: &mut Tally,
) -> Result<(), SessionError> {
    requests.begin(Access::ReadWrite);
    let end_us = end_us(settings);
    match input {
        TradeSelection::Trades(trades) => {
            let (found, updated) = of_trades(session, &mut requests, &trades[..]).await?;
            count_if(tally, BrokerageCounter::Error1011, found != TRADES);
            count_if(tally, BrokerageCounter::Error1012, updated != TRADES as u64);
        }
        TradeSelection::OfAccount { account, from_us } | TradeSelection::Holdings { account, from_us } => {
            let range = [number(account.id()), number(*from_us), number(end_us)];
            let (found, updated) = of_account(session, &mut requests, &range).await?;
            count_if(tally, BrokerageCounter::Error1021, found > TRADES);
            count_if(tally, BrokerageCounter::Error1022, updated != found as u64);
            count_if(tally, BrokerageCounter::Warning1021, updated == 0);
        }
        TradeSelection::OfSecurity { security, from_us } => {
            let symbol = symbol(*security);
            let range = [Param::Text(symbol.as_str()), number(*from_us), number(end_us)];
            let (found, updated) = of_security(session, &mut requests, &range).await?;
            count_if(tally, BrokerageCounter::Error1031, found > TRADES);
            count_if(tally, BrokerageCounter::Error1032, updated > found as u64);
            count_if(tally, BrokerageCounter::Warning1031, updated == 0);
        }
    }
    Ok(())
}

/// Changes the executors. Returns how many trades were found and changed.
async fn of_trades<S: Session>(
    session: &mut S,
    requests: &mut Requests<'_>,
    trades: &[i64],
) -> Result<(usize, u64), SessionError> {
    let change = TextChange {
        read: BrokerageStatement::ExecutorToChange,
        write: BrokerageStatement::SetExecutor,
        changed: other_executor,
    };
    let updated = change.of(session, requests, trades.iter().copied()).await?;
    let found = read_trades(session, requests, trades).await?;
    read_blocks(session, requests, &found).await?;
    Ok((found.len(), updated))
}

/// Changes the types of the settlements.
async fn of_account<S: Session>(
    session: &mut S,
    requests: &mut Requests<'_>,
    range: &[Param<'_>],
) -> Result<(usize, u64), SessionError> {
    let found = find(session, requests, BrokerageStatement::TradesOfAccount, range).await?;
    let mut updated = 0;
    for (is_cash, changed) in [(true, other_cash_type as fn(&str) -> String), (false, other_margin_type)] {
        let change =
            TextChange { read: BrokerageStatement::CashTypeToChange, write: BrokerageStatement::SetCashType, changed };
        let trades = found.iter().filter(|found| found.is_cash == is_cash).map(|found| found.trade);
        updated += change.of(session, requests, trades).await?;
    }
    read_blocks(session, requests, &found).await?;
    Ok((found.len(), updated))
}

/// Changes the names of the cash transactions.
async fn of_security<S: Session>(
    session: &mut S,
    requests: &mut Requests<'_>,
    range: &[Param<'_>],
) -> Result<(usize, u64), SessionError> {
    let asked = requests.add(BrokerageStatement::TradesWithNames, range);
    requests.send(session).await?;
    let answer = requests.answer(asked);
    let mut found = Vec::with_capacity(answer.rows());
    for row in 0..answer.rows() {
        answer.text(row, 8)?;
        answer.text(row, 9)?;
        found.push(FoundTrade { trade: answer.integer(row, 0)?, is_cash: answer.integer(row, 1)? == 1 });
    }
    requests.clear();
    let change = TextChange {
        read: BrokerageStatement::CashNameToChange,
        write: BrokerageStatement::SetCashName,
        changed: other_shares,
    };
    let trades = found.iter().filter(|found| found.is_cash).map(|found| found.trade);
    let updated = change.of(session, requests, trades).await?;
    read_blocks(session, requests, &found).await?;
    Ok((found.len(), updated))
}

/// A change of one text of each trade.
struct TextChange {
    read: BrokerageStatement,
    write: BrokerageStatement,
    changed: fn(&str) -> String,
}

impl TextChange {
    /// Reads and changes. Returns how many rows were changed.
    async fn of<S: Session>(
        &self,
        session: &mut S,
        requests: &mut Requests<'_>,
        trades: impl Iterator<Item = i64> + Clone,
    ) -> Result<u64, SessionError> {
        for trade in trades.clone() {
            requests.add(self.read, &[number(trade)]);
        }
        let count = requests.next_number();
        if count == 0 {
            return Ok(0);
        }
        requests.send(session).await?;
        let texts: Result<Vec<String>, SessionError> =
            (0..count).map(|number| Ok((self.changed)(requests.row(number)?.text(0, 0)?))).collect();
        let texts = texts?;
        requests.clear();
        for (trade, text) in trades.zip(&texts) {
            requests.add(self.write, &[Param::Text(text), number(trade)]);
        }
        requests.send(session).await?;
        let changed = requests.changed(0..count);
        requests.clear();
        Ok(changed)
    }
}

fn other_executor(name: &str) -> String {
    if name.contains(MIDDLE_NAME) { name.replacen(MIDDLE_NAME, " ", 1) } else { name.replacen(' ', MIDDLE_NAME, 1) }
}

fn other_cash_type(kind: &str) -> String {
    if kind == "Cash Account" { "Cash".to_owned() } else { "Cash Account".to_owned() }
}

fn other_margin_type(kind: &str) -> String {
    if kind == "Margin Account" { "Margin".to_owned() } else { "Margin Account".to_owned() }
}

/// The letters are compared with their case.
fn other_shares(name: &str) -> String {
    if name.contains(SHARES) { name.replacen(SHARES, OTHER_SHARES, 1) } else { name.replacen(OTHER_SHARES, SHARES, 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_change_undoes_the_first() {
        let cases = [
            (other_executor as fn(&str) -> String, "Ann Smith", "Ann X Smith"),
            (other_cash_type, "Cash Account", "Cash"),
            (other_margin_type, "Margin", "Margin Account"),
            (other_shares, "Limit-Buy 100 shares of COMMON of X", "Limit-Buy 100 Shares of COMMON of X"),
        ];
        for (change, before, after) in cases {
            assert_eq!((change(before).as_str(), change(after).as_str()), (after, before));
        }
    }
}
