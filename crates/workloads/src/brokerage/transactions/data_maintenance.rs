//! Data-maintenance: a small change in one of twelve tables, which the next one undoes or continues.

use super::super::inputs::Upkeep;
use super::super::places::COUNTRY_RATES;
use super::super::rows::MAIL_DOMAINS;
use super::super::statements::BrokerageStatement;
use super::super::{calendar, ids};
use super::{now_us, number, symbol};
use crate::requests::Requests;
use engines::session::{Access, Param, ResultSet, Session, SessionError};

const DAY_US: i64 = 24 * 3_600 * 1_000_000;
const UPDATED: &str = " LAST UPDATED ";

pub async fn run<S: Session>(session: &mut S, requests: Requests<'_>, input: &Upkeep) -> Result<(), SessionError> {
    let mut upkeep = Maintenance { session, requests };
    upkeep.requests.begin(Access::ReadWrite);
    match *input {
        Upkeep::AccountPermission(account) => upkeep.permission(account.id()).await?,
        Upkeep::AddressOfCustomer(customer) => {
            upkeep.address(BrokerageStatement::AddressOfCustomer, ids::id(customer)).await?;
        }
        Upkeep::AddressOfCompany(company) => {
            upkeep.address(BrokerageStatement::AddressOfCompany, ids::id(company)).await?;
        }
        Upkeep::Company(company) => {
            upkeep
                .switch(BrokerageStatement::Rating, BrokerageStatement::SetRating, ids::id(company), other_rating)
                .await?;
        }
        Upkeep::Customer(customer) => {
            upkeep.switch(BrokerageStatement::Mail, BrokerageStatement::SetMail, ids::id(customer), other_mail).await?;
        }
        Upkeep::CustomerTaxrate(customer) => upkeep.country_tax(ids::id(customer)).await?,
        Upkeep::DailyMarket { security, day, change } => {
            let symbol = symbol(security);
            let params = [number(change), Param::Text(symbol.as_str()), number(day)];
            upkeep.change_some(BrokerageStatement::ChangeVolumes, &params).await?;
        }
        Upkeep::Exchange => upkeep.exchanges().await?,
        Upkeep::Financial(company) => upkeep.quarters(number(ids::id(company))).await?,
        Upkeep::NewsItem(company) => {
            upkeep.change_some(BrokerageStatement::DateNewsLater, &[number(DAY_US), number(ids::id(company))]).await?;
        }
        Upkeep::Security(security) => {
            upkeep
                .change_some(BrokerageStatement::ListSecurityLater, &[Param::Text(symbol(security).as_str())])
                .await?;
        }
        Upkeep::Taxrate(rate) => upkeep.tax_name(rate.id().as_str()).await?,
        Upkeep::WatchItem(customer) => upkeep.watched(number(ids::id(customer))).await?,
    }
    upkeep.session.commit().await
}

struct Maintenance<'a, S> {
    session: &'a mut S,
    requests: Requests<'a>,
}

impl<S: Session> Maintenance<'_, S> {
    /// Sends one request with what has been added before. Keep what is needed of the answer: the next one replaces it.
    async fn ask(&mut self, sql: BrokerageStatement, params: &[Param<'_>]) -> Result<&ResultSet, SessionError> {
        let number = self.requests.add(sql, params);
        self.requests.send(self.session).await?;
        Ok(self.requests.answer(number))
    }

    async fn text(&mut self, sql: BrokerageStatement, params: &[Param<'_>]) -> Result<String, SessionError> {
        let text = self.ask(sql, params).await?.text(0, 0)?.to_owned();
        self.requests.clear();
        Ok(text)
    }

    /// Changes at least one row.
    async fn change_some(&mut self, sql: BrokerageStatement, params: &[Param<'_>]) -> Result<(), SessionError> {
        if self.ask(sql, params).await?.changed() == 0 {
            return Err(self.requests.unexpected(self.requests.next_number() - 1, "no row changed".to_owned()));
        }
        self.requests.clear();
        Ok(())
    }

    /// Replaces the text of one row.
    async fn switch(
        &mut self,
        read: BrokerageStatement,
        write: BrokerageStatement,
        id: i64,
        other: fn(&str) -> String,
    ) -> Result<(), SessionError> {
        let text = self.text(read, &[number(id)]).await?;
        self.change_some(write, &[Param::Text(&other(&text)), number(id)]).await
    }

    async fn permission(&mut self, account: i64) -> Result<(), SessionError> {
        let highest = self.text(BrokerageStatement::HighestPermission, &[number(account)]).await?;
        let other = if highest == "1111" { "0011" } else { "1111" };
        self.change_some(
            BrokerageStatement::SetPermission,
            &[Param::Text(other), number(account), Param::Text(&highest)],
        )
        .await
    }

    async fn address(&mut self, of: BrokerageStatement, id: i64) -> Result<(), SessionError> {
        const FIRST: &str = "Apt. 10C";
        const SECOND: &str = "Apt. 22";
        let answer = self.ask(of, &[number(id)]).await?;
        let address = answer.integer(0, 0)?;
        let other = if answer.value(0, 1) == Some(Param::Text(FIRST)) { SECOND } else { FIRST };
        self.requests.clear();
        self.change_some(BrokerageStatement::SetAddress, &[Param::Text(other), number(address)]).await
    }

    /// The customer's country has its rates in a cycle.
    async fn country_tax(&mut self, customer: i64) -> Result<(), SessionError> {
        let rate = self.text(BrokerageStatement::CountryTax, &[number(customer)]).await?;
        self.change_some(
            BrokerageStatement::SetCountryTax,
            &[Param::Text(next_rate(&rate)), number(customer), Param::Text(&rate)],
        )
        .await
    }

    async fn exchanges(&mut self) -> Result<(), SessionError> {
        let answer = self.ask(BrokerageStatement::Exchanges, &[]).await?;
        let now = now_us();
        let exchange = |row| {
            let description = if answer.is_null(row, 1) { "" } else { answer.text(row, 1)? };
            Ok((answer.text(row, 0)?.to_owned(), updated_at(description, now)))
        };
        let all: Vec<(String, String)> = (0..answer.rows()).map(exchange).collect::<Result<_, SessionError>>()?;
        self.requests.clear();
        for (id, description) in &all {
            self.requests.add(BrokerageStatement::SetExchange, &[Param::Text(description), Param::Text(id)]);
        }
        self.requests.send(self.session).await?;
        self.requests.require_changes(0..all.len())
    }

    /// Quarters begin a day later or, if they do that already, a day earlier.
    async fn quarters(&mut self, company: Param<'_>) -> Result<(), SessionError> {
        let answer = self.ask(BrokerageStatement::Quarters, &[company]).await?;
        let mut begin_on_first = false;
        for row in 0..answer.rows() {
            begin_on_first |= answer.date(row, 0)?.year_month_day().2 == 1;
        }
        self.requests.clear();
        self.change_some(BrokerageStatement::ShiftQuarters, &[number(if begin_on_first { 1 } else { -1 }), company])
            .await
    }

    async fn tax_name(&mut self, rate: &str) -> Result<(), SessionError> {
        let name = self.text(BrokerageStatement::TaxName, &[Param::Text(rate)]).await?;
        let (word, other) = if name.contains(" Tax ") { (" Tax ", " tax ") } else { (" tax ", " Tax ") };
        let name = name.replacen(word, other, 1);
        self.change_some(BrokerageStatement::SetTaxName, &[Param::Text(&name), Param::Text(rate)]).await
    }

    /// Replaces the item in the middle of a watch list by the next security that is not on it, if there is one.
    async fn watched(&mut self, customer: Param<'_>) -> Result<(), SessionError> {
        let answer = self.ask(BrokerageStatement::Watched, &[customer]).await?;
        let middle = answer.rows().div_ceil(2).saturating_sub(1);
        let (list, old) = (number(answer.integer(middle, 0)?), answer.text(middle, 1)?.to_owned());
        self.requests.clear();
        let answer = self.ask(BrokerageStatement::NextUnwatched, &[Param::Text(&old), list]).await?;
        let new = if answer.is_null(0, 0) { None } else { Some(answer.text(0, 0)?.to_owned()) };
        self.requests.clear();
        match new {
            Some(new) => {
                self.change_some(BrokerageStatement::SetWatched, &[Param::Text(&new), list, Param::Text(&old)]).await
            }
            None => Ok(()),
        }
    }
}

fn other_rating(rating: &str) -> String {
    if rating == "ABA" { "AAA".to_owned() } else { "ABA".to_owned() }
}

fn other_mail(mail: &str) -> String {
    let [first, second, ..] = MAIL_DOMAINS;
    let (name, domain) = mail.split_once('@').unwrap_or((mail, ""));
    format!("{name}@{}", if domain == first { second } else { first })
}

fn next_rate(rate: &str) -> &'static str {
    let place = COUNTRY_RATES.iter().position(|(id, _)| *id == rate).unwrap_or(0);
    let of_country = |place: usize| COUNTRY_RATES.get(place).map(|(id, _)| *id).filter(|id| id[..2] == rate[..2]);
    let first = COUNTRY_RATES.iter().map(|(id, _)| *id).find(|id| id[..2] == rate[..2]);
    of_country(place + 1).or(first).unwrap_or(COUNTRY_RATES[0].0)
}

/// A description with a time at its end, which replaces one that is there.
fn updated_at(description: &str, now_us: i64) -> String {
    let seconds = now_us.div_euclid(1_000_000).rem_euclid(86_400);
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let text = description.split(UPDATED).next().unwrap_or_default();
    format!("{text}{UPDATED}{} {hours:02}:{minutes:02}:{seconds:02}", calendar::date_of(now_us))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_follow_each_other_in_a_cycle() {
        assert_eq!(["US1", "US5", "CN3", "CN4"].map(next_rate), ["US2", "US1", "CN4", "CN1"]);
    }

    #[test]
    fn what_is_switched_comes_back() {
        assert_eq!(other_mail(&other_mail("a@post.example")), "a@post.example");
        assert_eq!(other_mail("a@elsewhere.example"), "a@letters.example");
        assert_eq!([other_rating("AAA"), other_rating("ABA")], ["ABA", "AAA"]);
    }

    #[test]
    fn a_description_has_one_time() {
        let once = updated_at("A market", 1_700_000_000_000_000);
        assert_eq!(once, "A market LAST UPDATED 2023-11-14 22:13:20");
        assert_eq!(updated_at(&once, 1_700_000_060_000_000), "A market LAST UPDATED 2023-11-14 22:14:20");
    }
}
