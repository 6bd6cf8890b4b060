//! Trade-status: the latest 50 trades of an account.

use super::super::inputs::AccountPlace;
use super::super::statements::BrokerageStatement;
use super::super::tally::{BrokerageCounter, count_if};
use super::number;
use crate::effects::Tally;
use crate::requests::Requests;
use engines::session::{Access, Session, SessionError};

const TRADES: usize = 50;

pub async fn run<S: Session>(
    session: &mut S,
    mut requests: Requests<'_>,
    account: AccountPlace,
    tally: &mut Tally,
) -> Result<(), SessionError> {
    let account = number(account.id());
    requests.begin(Access::ReadOnly);
    let latest = requests.add(BrokerageStatement::LatestTrades, &[account]);
    let names = requests.add(BrokerageStatement::NamesOfAccount, &[account]);
    let found = requests
        .finish(session, |requests| {
            let names = requests.row(names)?;
            names.text(0, 0)?;
            names.text(0, 1)?;
            names.text(0, 2)?;
            let latest = requests.answer(latest);
            for row in 0..latest.rows() {
                latest.integer(row, 0)?;
                latest.text(row, 2)?;
                latest.integer(row, 7)?;
                latest.text(row, 9)?;
            }
            Ok(latest.rows())
        })
        .await?;
    count_if(tally, BrokerageCounter::Error911, found != TRADES);
    Ok(())
}
