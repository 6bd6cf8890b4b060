//! Trade-cleanup: trades that an earlier run has left over are canceled.
//!
//! The original runs it before a run. Here it is the first transaction of data maintenance and runs beside the customers', so
//! it leaves alone what was ordered since the run began.

use super::super::ids;
use super::super::size::BrokerageSize;
use super::super::statements::BrokerageStatement;
use super::super::tally::{BrokerageCounter, count};
use super::super::trading::status;
use super::{now_us, number};
use crate::effects::Tally;
use crate::requests::Requests;
use engines::session::{Access, Param, Session, SessionError};

pub async fn run<S: Session>(
    session: &mut S,
    mut requests: Requests<'_>,
    size: BrokerageSize,
    before_us: i64,
    tally: &mut Tally,
) -> Result<(), SessionError> {
    let (canceled, now) = (Param::Text(status::CANCELED), number(now_us()));
    requests.begin(Access::ReadWrite);
    let pending = requests.add(BrokerageStatement::RequestsLeft, &[number(before_us)]);
    let first = number(ids::trade_id(size.orders() + 1));
    let submitted = requests.add(BrokerageStatement::TradesLeft, &[first, number(before_us)]);
    requests.send(session).await?;
    let trades = |number: usize| -> Result<Vec<i64>, SessionError> {
        let found = requests.answer(number);
        (0..found.rows()).map(|row| found.integer(row, 0)).collect()
    };
    let (pending, submitted) = (trades(pending)?, trades(submitted)?);
    requests.clear();
    for trade in pending.iter().copied().map(number) {
        requests.add(BrokerageStatement::InsertHistory, &[trade, now, Param::Text(status::SUBMITTED)]);
        requests.add(BrokerageStatement::DeleteRequest, &[trade]);
    }
    for trade in pending.iter().chain(&submitted).copied().map(number) {
        requests.add(BrokerageStatement::SetStatus, &[now, canceled, trade]);
        requests.add(BrokerageStatement::InsertHistory, &[trade, now, canceled]);
    }
    let all = 0..requests.next_number();
    requests.finish(session, |requests| all.clone().try_for_each(|number| requests.require_change(number))).await?;
    count(tally, BrokerageCounter::TradesCanceled, (pending.len() + submitted.len()) as u64);
    Ok(())
}
