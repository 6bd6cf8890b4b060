//! Security-detail: everything about a security, its company, competitors, quarters, daily prices and news.

use super::super::inputs::SecurityDetail;
use super::super::statements::BrokerageStatement;
use super::super::tally::{BrokerageCounter, count_if};
use super::{number, symbol};
use crate::effects::Tally;
use crate::requests::Requests;
use engines::session::{Access, Param, Session, SessionError};

const DAYS: std::ops::RangeInclusive<usize> = 5..=20;
const QUARTERS: usize = 20;
const NEWS: usize = 2;

pub async fn run<S: Session>(
    session: &mut S,
    mut requests: Requests<'_>,
    input: &SecurityDetail,
    tally: &mut Tally,
) -> Result<(), SessionError> {
    let symbol = symbol(input.security);
    let symbol = Param::Text(symbol.as_str());
    requests.begin(Access::ReadOnly);
    let detail = requests.add(BrokerageStatement::SecurityDetail, &[symbol]);
    requests.send(session).await?;
    let detail = requests.row(detail)?;
    let company = number(detail.integer(0, 0)?);
    detail.text(0, 1)?;
    detail.date(0, 3)?;
    detail.text(0, 12)?;
    detail.text(0, 24)?;
    requests.clear();
    let competitors = requests.add(BrokerageStatement::Competitors, &[company]);
    let quarters = requests.add(BrokerageStatement::Financials, &[company]);
    let days = requests.add(BrokerageStatement::DailyMarket, &[symbol, Param::Date(input.since), number(input.days)]);
    let last = requests.add(BrokerageStatement::LastTrade, &[symbol]);
    let news = requests
        .add(if input.with_item { BrokerageStatement::WholeNews } else { BrokerageStatement::News }, &[company]);
    let [days, quarters, news] = requests
        .finish(session, |requests| {
            let last = requests.row(last)?;
            last.integer(0, 0)?;
            last.integer(0, 2)?;
            for row in 0..requests.answer(competitors).rows() {
                requests.answer(competitors).text(row, 0)?;
                requests.answer(competitors).text(row, 1)?;
            }
            Ok([days, quarters, news].map(|number| requests.answer(number).rows()))
        })
        .await?;
    count_if(tally, BrokerageCounter::Error511, !DAYS.contains(&days));
    count_if(tally, BrokerageCounter::Error512, quarters != QUARTERS);
    count_if(tally, BrokerageCounter::Error513, news != NEWS);
    Ok(())
}
