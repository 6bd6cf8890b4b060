//! Trade-status: the latest 50 trades of an account.

use super::super::inputs::Account;
use super::super::statements::Sql;
use super::super::tally::{Counter, count_if};
use super::number;
use crate::effects::Tally;
use crate::requests::Requests;
use engines::session::{Access, Session, SessionError};

const TRADES: usize = 50;

pub async fn run<S: Session>(
    session: &mut S,
    mut requests: Requests<'_>,
    account: Account,
    tally: &mut Tally,
) -> Result<(), SessionError> {
    let account = number(account.id());
    requests.begin(Access::ReadOnly);
    let latest = requests.add(Sql::LatestTrades, &[account]);
    let names = requests.add(Sql::NamesOfAccount, &[account]);
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
    count_if(tally, Counter::Error911, found != TRADES);
    Ok(())
}
