//! Trade-result: the market has executed a trade. Lots are closed and opened, and everyone is paid.
//!
//! The row of the account is locked before anything is read that the trade changes. So two results of one account follow each other.

use super::super::inputs::TradeResult;
use super::super::lots::{Closed, Lot, Walk};
use super::super::size::LOAD_UNIT;
use super::super::statements::BrokerageStatement;
use super::super::tally::{BrokerageCounter, count, count_if};
use super::super::trading::{Costs, TradeType, cash_type, commission_cents, settlement_cents, status, tax_cents};
use super::super::{calendar, ids};
use super::{now_us, number};
use crate::effects::Tally;
use crate::requests::Requests;
use engines::session::{Access, Param, Session, SessionError};

const WITHHELD: i64 = 1;

pub async fn run<S: Session>(
    session: &mut S,
    requests: Requests<'_>,
    input: &TradeResult,
    tally: &mut Tally,
) -> Result<(), SessionError> {
    let mut settling = Settling { session, requests, input };
    settling.requests.begin(Access::ReadWrite);
    let trade = settling.trade().await?;
    let account = settling.account(&trade).await?;
    let now = now_us();
    let (closed, histories) = settling.holdings(&trade, now).await?;
    let tax_is_due = account.tax_status > 0 && closed.gain_cents() > 0;
    let payment = settling.payment(&trade, &account, closed, tax_is_due).await?;
    count_if(tally, BrokerageCounter::Error831, tax_is_due && payment.tax_cents <= 0);
    count_if(tally, BrokerageCounter::Error841, payment.commission_cents <= 0);
    settling.pay(&trade, &account, &payment, now).await?;
    count(tally, BrokerageCounter::HoldingHistories, histories);
    count(tally, BrokerageCounter::CashTransactions, trade.is_cash.into());
    let unit = ids::place(account.customer).map_or(0, |customer| customer / LOAD_UNIT + 1);
    count(tally, BrokerageCounter::LoadUnits, unit.into());
    Ok(())
}

struct Settling<'a, S> {
    session: &'a mut S,
    requests: Requests<'a>,
    input: &'a TradeResult,
}

/// The trade as it was ordered.
struct TradeUnderway {
    account: i64,
    kind: TradeType,
    symbol: String,
    quantity: i64,
    charge_cents: i64,
    newest_first: bool,
    is_cash: bool,
    type_name: String,
    is_sell: bool,
}

struct SettledAccount {
    broker: i64,
    customer: i64,
    tax_status: i64,
}

struct TradePayment {
    tax_cents: i64,
    commission_cents: i64,
    security_name: String,
}

impl<S: Session> Settling<'_, S> {
    async fn send(&mut self) -> Result<(), SessionError> {
        self.requests.send(self.session).await
    }

    async fn trade(&mut self) -> Result<TradeUnderway, SessionError> {
        let asked = self.requests.add(BrokerageStatement::OrderedTrade, &[number(self.input.trade)]);
        self.send().await?;
        let row = self.requests.row(asked)?;
        let id = row.text(0, 1)?;
        let kind = TradeType::from_id(id)
            .ok_or_else(|| self.requests.unexpected(asked, format!("a trade of the unknown type {id:?}")))?;
        let trade = TradeUnderway {
            account: row.integer(0, 0)?,
            kind,
            symbol: row.text(0, 2)?.to_owned(),
            quantity: row.integer(0, 3)?,
            charge_cents: row.integer(0, 4)?,
            newest_first: row.integer(0, 5)? == 1,
            is_cash: row.integer(0, 6)? == 1,
            type_name: row.text(0, 7)?.to_owned(),
            is_sell: row.integer(0, 8)? == 1,
        };
        self.requests.clear();
        Ok(trade)
    }

    /// Locks the account.
    async fn account(&mut self, trade: &TradeUnderway) -> Result<SettledAccount, SessionError> {
        let asked = self.requests.add(BrokerageStatement::LockAccount, &[number(trade.account)]);
        self.send().await?;
        let row = self.requests.row(asked)?;
        let account =
            SettledAccount { broker: row.integer(0, 0)?, customer: row.integer(0, 1)?, tax_status: row.integer(0, 2)? };
        self.requests.clear();
        Ok(account)
    }

    /// Changes the holdings of the account. Returns what was closed, and how many rows of history that made.
    async fn holdings(&mut self, trade: &TradeUnderway, now_us: i64) -> Result<(Closed, u64), SessionError> {
        let key = [number(trade.account), Param::Text(&trade.symbol)];
        let held = self.requests.add(BrokerageStatement::QuantityToChange, &key);
        let newest_first = trade.newest_first;
        let sql = if newest_first {
            BrokerageStatement::LotsToChangeNewestFirst
        } else {
            BrokerageStatement::LotsToChangeOldestFirst
        };
        let lots = self.requests.add(sql, &key);
        self.send().await?;
        let held = self.requests.row_if_any(held)?.map(|row| row.integer(0, 0)).transpose()?;
        let answer = self.requests.answer(lots);
        let lot = |row| {
            let lot = Lot { quantity: answer.integer(row, 1)?, price_cents: answer.integer(row, 2)? };
            Ok((answer.integer(row, 0)?, lot))
        };
        let lots: Vec<(i64, Lot)> = (0..answer.rows()).map(lot).collect::<Result<_, SessionError>>()?;
        self.requests.clear();
        let now_held = held.unwrap_or(0) + if trade.is_sell { -trade.quantity } else { trade.quantity };
        // A lot refers to the summary, which is therefore there before the first lot and after the last one.
        if held.is_none() {
            self.requests.add(BrokerageStatement::InsertSummary, &[key[0], key[1], number(now_held)]);
        } else if now_held != 0 {
            self.requests.add(BrokerageStatement::UpdateSummary, &[number(now_held), key[0], key[1]]);
        }
        let id = number(self.input.trade);
        let price_cents = self.input.price_cents;
        let walk = Walk { is_sell: trade.is_sell, quantity: trade.quantity, price_cents };
        let mut histories = 0;
        let requests = &mut self.requests;
        let closed = walk.over(lots.iter().map(|(_, lot)| *lot), |place, before, after| {
            let lot = number(lots[place].0);
            requests.add(BrokerageStatement::InsertHoldingHistory, &[lot, id, number(before), number(after)]);
            if after == 0 {
                requests.add(BrokerageStatement::DeleteLot, &[lot]);
            } else {
                requests.add(BrokerageStatement::UpdateLot, &[number(after), lot]);
            }
            histories += 1;
        });
        if closed.new_lot != 0 {
            let lot = number(closed.new_lot);
            self.requests.add(BrokerageStatement::InsertHoldingHistory, &[id, id, number(0), lot]);
            self.requests
                .add(BrokerageStatement::InsertLot, &[id, key[0], key[1], number(now_us), number(price_cents), lot]);
            histories += 1;
        }
        if held.is_some() && now_held == 0 {
            self.requests.add(BrokerageStatement::DeleteSummary, &key);
        }
        self.send().await?;
        (0..self.requests.next_number()).try_for_each(|number| self.requests.require_change(number))?;
        self.requests.clear();
        Ok((closed, histories))
    }

    /// Tax and commission.
    async fn payment(
        &mut self,
        trade: &TradeUnderway,
        account: &SettledAccount,
        closed: Closed,
        tax_is_due: bool,
    ) -> Result<TradePayment, SessionError> {
        let security = self.requests.add(BrokerageStatement::SecurityTraded, &[Param::Text(&trade.symbol)]);
        let tier = self.requests.add(BrokerageStatement::Tier, &[number(account.customer)]);
        let rates = tax_is_due.then(|| self.requests.add(BrokerageStatement::TaxRate, &[number(account.customer)]));
        self.send().await?;
        let rates = rates.map_or(Ok(0), |rates| self.requests.row(rates)?.integer(0, 0))?;
        let security = self.requests.row(security)?;
        let (exchange, security_name) = (security.text(0, 0)?.to_owned(), security.text(0, 1)?.to_owned());
        let tier = number(self.requests.row(tier)?.integer(0, 0)?);
        self.requests.clear();
        let of = [tier, Param::Text(trade.kind.id()), Param::Text(&exchange), number(trade.quantity)];
        let rate = self.requests.add(BrokerageStatement::CommissionRate, &of);
        self.send().await?;
        let rate = self.requests.row(rate)?.integer(0, 0)?;
        self.requests.clear();
        let tax_cents = if tax_is_due { tax_cents(closed.gain_cents(), rates) } else { 0 };
        let commission_cents = commission_cents(rate, trade.quantity, self.input.price_cents);
        Ok(TradePayment { tax_cents, commission_cents, security_name })
    }

    /// Completes the trade, pays the broker and settles, all at the end, because many trades share a broker.
    async fn pay(
        &mut self,
        trade: &TradeUnderway,
        account: &SettledAccount,
        payment: &TradePayment,
        now_us: i64,
    ) -> Result<(), SessionError> {
        let TradePayment { tax_cents, commission_cents, security_name } = payment;
        let (id, now, completed) = (number(self.input.trade), number(now_us), Param::Text(status::COMPLETED));
        let (commission, price) = (number(*commission_cents), number(self.input.price_cents));
        if *tax_cents > 0 {
            self.requests.add(BrokerageStatement::SetTax, &[number(*tax_cents), id]);
        }
        self.requests.add(BrokerageStatement::CompleteTrade, &[commission, now, completed, price, id]);
        self.requests.add(BrokerageStatement::InsertHistory, &[id, now, completed]);
        self.requests.add(BrokerageStatement::PayBroker, &[commission, number(account.broker)]);
        let withheld = if account.tax_status == WITHHELD { *tax_cents } else { 0 };
        let costs = Costs { charge: trade.charge_cents, commission: *commission_cents, withheld };
        let amount = number(settlement_cents(trade.kind, trade.quantity, self.input.price_cents, costs));
        let cash_type = Param::Text(cash_type(trade.is_cash));
        let due = Param::Date(calendar::due_date(now_us));
        self.requests.add(BrokerageStatement::InsertSettlement, &[id, cash_type, due, amount]);
        if trade.is_cash {
            self.requests.add(BrokerageStatement::ChangeBalance, &[amount, number(trade.account)]);
            let name = format!("{} {} shares of {security_name}", trade.type_name, trade.quantity);
            self.requests.add(BrokerageStatement::InsertCash, &[id, now, amount, Param::Text(&name)]);
        }
        let balance = self.requests.add(BrokerageStatement::Balance, &[number(trade.account)]);
        self.requests
            .finish(self.session, |requests| {
                (0..balance).try_for_each(|number| requests.require_change(number))?;
                requests.row(balance)?.integer(0, 0)
            })
            .await?;
        Ok(())
    }
}
