//! Trade-order: a customer, or someone who may act for him, orders a trade. It costs an estimate first.

use super::super::inputs::TradeOrder;
use super::super::lots::{Lot, Walk};
use super::super::market::{Security, company_name};
use super::super::people::Person;
use super::super::settings::BrokerageSettings;
use super::super::statements::BrokerageStatement;
use super::super::tally::{BrokerageCounter, count, count_if};
use super::super::trading::{commission_cents, status, tax_cents};
use super::{flag, now_us, number, symbol};
use crate::effects::Tally;
use crate::random::Letters;
use crate::requests::Requests;
use engines::session::{Access, Param, ResultSet, Session, SessionError};

/// Names, symbols and types as texts without heap.
type Text = Letters<70>;

fn text(answer: &ResultSet, column: usize) -> Result<Text, SessionError> {
    let mut text = Text::default();
    text.push(answer.text(0, column)?.as_bytes());
    Ok(text)
}

/// Returns the trade's id, or `None` if the order was rolled back.
pub async fn run<S: Session>(
    session: &mut S,
    requests: Requests<'_>,
    input: &TradeOrder,
    settings: &BrokerageSettings,
    tally: &mut Tally,
) -> Result<Option<i64>, SessionError> {
    let executor = Person::new(settings.data_seed, input.executor);
    let mut ordering = Ordering { session, requests, input, executor: &executor };
    ordering.requests.begin(Access::ReadWrite);
    let account = ordering.account().await?;
    if !ordering.is_permitted(&account).await? {
        count(tally, BrokerageCounter::Error721, 1);
        ordering.session.rollback().await?;
        return Ok(None);
    }
    let security = ordering.security().await?;
    let terms = ordering.terms(&account, &security).await?;
    let tax_is_due = account.tax_status > 0 && terms.gain_cents > 0;
    let tax_cents = if tax_is_due { ordering.tax_cents(&account, terms.gain_cents).await? } else { 0 };
    count_if(tally, BrokerageCounter::Error731, tax_is_due && tax_cents <= 0);
    count_if(tally, BrokerageCounter::Error732, terms.commission_cents <= 0);
    count_if(tally, BrokerageCounter::Error733, terms.charge_cents == 0);
    let trade = ordering.enter(&account, &security, &terms).await?;
    if input.rolls_back {
        return Ok(None);
    }
    count(tally, if terms.is_market { BrokerageCounter::SentToMarket } else { BrokerageCounter::LimitOrders }, 1);
    Ok(Some(trade))
}

struct Ordering<'a, S> {
    session: &'a mut S,
    requests: Requests<'a>,
    input: &'a TradeOrder,
    executor: &'a Person,
}

/// An account and its owner.
struct OrderingAccount {
    broker: i64,
    customer: i64,
    tax_status: i64,
    tier: i64,
    names_and_tax_id: [Text; 3],
}

struct TradedSecurity {
    symbol: Text,
    exchange: Text,
}

/// What the trade would cost now.
struct OrderTerms {
    is_market: bool,
    price_cents: i64,
    gain_cents: i64,
    commission_cents: i64,
    charge_cents: i64,
}

impl<S: Session> Ordering<'_, S> {
    async fn send(&mut self) -> Result<(), SessionError> {
        self.requests.send(self.session).await
    }

    async fn account(&mut self) -> Result<OrderingAccount, SessionError> {
        let account = self.requests.add(BrokerageStatement::Account, &[number(self.input.account.id())]);
        self.send().await?;
        let row = self.requests.row(account)?;
        let (broker, customer, tax_status) = (row.integer(0, 1)?, row.integer(0, 2)?, row.integer(0, 3)?);
        self.requests.clear();
        let owner = self.requests.add(BrokerageStatement::Owner, &[number(customer)]);
        let of_broker = self.requests.add(BrokerageStatement::Broker, &[number(broker)]);
        self.send().await?;
        self.requests.row(of_broker)?.text(0, 0)?;
        let row = self.requests.row(owner)?;
        let names_and_tax_id = [text(row, 0)?, text(row, 1)?, text(row, 3)?];
        let account = OrderingAccount { broker, customer, tax_status, tier: row.integer(0, 2)?, names_and_tax_id };
        self.requests.clear();
        Ok(account)
    }

    /// Who is not the owner needs a permission.
    async fn is_permitted(&mut self, account: &OrderingAccount) -> Result<bool, SessionError> {
        let Person { first_name, last_name, tax_id, .. } = self.executor;
        let who = [first_name.as_str(), last_name.as_str(), tax_id.as_str()];
        if account.names_and_tax_id.iter().map(Text::as_str).eq(who) {
            return Ok(true);
        }
        let params = [number(self.input.account.id()), Param::Text(who[0]), Param::Text(who[1]), Param::Text(who[2])];
        let permission = self.requests.add(BrokerageStatement::Permission, &params);
        self.send().await?;
        let is_permitted = self.requests.row_if_any(permission)?.is_some();
        self.requests.clear();
        Ok(is_permitted)
    }

    /// Finds the security by its symbol, or by its company's name and the issue.
    async fn security(&mut self) -> Result<TradedSecurity, SessionError> {
        let security = Security::new(self.input.security);
        let by_company = self.input.by_company;
        let (name, known) = (company_name(security.company), symbol(self.input.security));
        let first = if by_company {
            self.requests.add(BrokerageStatement::CompanyOfName, &[Param::Text(name.as_str())])
        } else {
            self.requests.add(BrokerageStatement::Security, &[Param::Text(known.as_str())])
        };
        self.send().await?;
        let row = self.requests.row(first)?;
        let company = number(row.integer(0, 0)?);
        let exchange = if by_company { Text::default() } else { text(row, 1)? };
        self.requests.clear();
        let second = if by_company {
            self.requests.add(BrokerageStatement::SecurityOfCompany, &[company, Param::Text(security.issue_name())])
        } else {
            self.requests.add(BrokerageStatement::Company, &[company])
        };
        self.send().await?;
        let row = self.requests.row(second)?;
        let traded = if by_company {
            TradedSecurity { symbol: text(row, 2)?, exchange: text(row, 0)? }
        } else {
            row.text(0, 0)?;
            let mut symbol = Text::default();
            symbol.push(known.as_str().as_bytes());
            TradedSecurity { symbol, exchange }
        };
        self.requests.clear();
        Ok(traded)
    }

    async fn terms(&mut self, account: &OrderingAccount, traded: &TradedSecurity) -> Result<OrderTerms, SessionError> {
        let input = self.input;
        let id = number(input.account.id());
        let (symbol, kind) = (Param::Text(traded.symbol.as_str()), Param::Text(input.kind.id()));
        let (tier, quantity) = (number(account.tier), number(input.quantity));
        let price = self.requests.add(BrokerageStatement::Price, &[symbol]);
        let of_type = self.requests.add(BrokerageStatement::TradeType, &[kind]);
        let held = self.requests.add(BrokerageStatement::QuantityHeld, &[id, symbol]);
        let exchange = Param::Text(traded.exchange.as_str());
        let rate = self.requests.add(BrokerageStatement::CommissionRate, &[tier, kind, exchange, quantity]);
        let charge = self.requests.add(BrokerageStatement::Charge, &[tier, kind]);
        let assets = input.on_margin.then(|| {
            (
                self.requests.add(BrokerageStatement::Balance, &[id]),
                self.requests.add(BrokerageStatement::Assets, &[id]),
            )
        });
        self.send().await?;
        let of_type = self.requests.row(of_type)?;
        let (is_market, is_sell) = (of_type.integer(0, 0)? == 1, of_type.integer(0, 1)? == 1);
        let price = self.requests.row(price)?.integer(0, 0)?;
        let price_cents = if is_market { price } else { input.limit_cents };
        let rate = self.requests.row(rate)?.integer(0, 0)?;
        let charge_cents = self.requests.row(charge)?.integer(0, 0)?;
        if let Some((balance, assets)) = assets {
            self.requests.row(balance)?.integer(0, 0)?;
            let assets = self.requests.row(assets)?;
            if !assets.is_null(0, 0) {
                assets.integer(0, 0)?;
            }
        }
        let held = self.requests.row_if_any(held)?.map_or(Ok(0), |row| row.integer(0, 0))?;
        self.requests.clear();
        let closes = if is_sell { held > 0 } else { held < 0 };
        let walk = Walk { is_sell, quantity: input.quantity, price_cents };
        let gain_cents = if closes { self.gain_cents(walk, id, symbol).await? } else { 0 };
        let commission_cents = commission_cents(rate, input.quantity, price_cents);
        Ok(OrderTerms { is_market, price_cents, gain_cents, commission_cents, charge_cents })
    }

    /// What the trade would gain on the lots that it closes.
    async fn gain_cents(&mut self, walk: Walk, id: Param<'_>, symbol: Param<'_>) -> Result<i64, SessionError> {
        let sql = if self.input.newest_first {
            BrokerageStatement::LotsNewestFirst
        } else {
            BrokerageStatement::LotsOldestFirst
        };
        let lots = self.requests.add(sql, &[id, symbol]);
        self.send().await?;
        let answer = self.requests.answer(lots);
        let lot = |row| Ok(Lot { quantity: answer.integer(row, 0)?, price_cents: answer.integer(row, 1)? });
        let lots: Vec<Lot> = (0..answer.rows()).map(lot).collect::<Result<_, SessionError>>()?;
        self.requests.clear();
        Ok(walk.over(lots, |_, _, _| ()).gain_cents())
    }

    async fn tax_cents(&mut self, account: &OrderingAccount, gain_cents: i64) -> Result<i64, SessionError> {
        let rates = self.requests.add(BrokerageStatement::TaxRate, &[number(account.customer)]);
        self.send().await?;
        let rates = self.requests.row(rates)?.integer(0, 0)?;
        self.requests.clear();
        Ok(tax_cents(gain_cents, rates))
    }

    /// Enters the trade and returns its id. An order with a limit waits as a request. Commits, or rolls back if the customer
    /// has changed his mind.
    async fn enter(
        &mut self,
        account: &OrderingAccount,
        traded: &TradedSecurity,
        terms: &OrderTerms,
    ) -> Result<i64, SessionError> {
        let (input, now) = (self.input, number(now_us()));
        let status = Param::Text(if terms.is_market { status::SUBMITTED } else { status::PENDING });
        let (symbol, kind) = (Param::Text(traded.symbol.as_str()), Param::Text(input.kind.id()));
        let (quantity, price) = (number(input.quantity), number(terms.price_cents));
        let name = self.executor.full_name();
        let trade = [
            now,
            status,
            kind,
            flag(!input.on_margin),
            symbol,
            quantity,
            price,
            number(input.account.id()),
            Param::Text(name.as_str()),
            number(terms.charge_cents),
            number(terms.commission_cents),
            flag(input.newest_first),
        ];
        let entered = self.requests.add(BrokerageStatement::InsertTrade, &trade);
        self.send().await?;
        self.requests.require_change(entered)?;
        let answer = self.requests.answer(entered);
        // The statement returns the id, or the server reports it.
        let trade = if answer.rows() == 0 { answer.inserted_id()? } else { answer.integer(0, 0)? };
        self.requests.clear();
        if !terms.is_market {
            let request = [number(trade), kind, symbol, quantity, price, number(account.broker)];
            self.requests.add(BrokerageStatement::InsertRequest, &request);
        }
        self.requests.add(BrokerageStatement::InsertHistory, &[number(trade), now, status]);
        let judge = |requests: &Requests<'_>| {
            (0..requests.next_number()).try_for_each(|number| requests.require_change(number))
        };
        if input.rolls_back {
            self.send().await?;
            judge(&self.requests)?;
            self.session.rollback().await?;
        } else {
            self.requests.finish(self.session, judge).await?;
        }
        Ok(trade)
    }
}
