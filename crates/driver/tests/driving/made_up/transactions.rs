//! Deposit, confirm, close.

use super::{Input, LOOK, WRITE};
use engines::session::{Access, Param, Session, SessionError};
use engines::statement::{Statement, StatementId};
use workloads::effects::Effects;
use workloads::workload::Ending;

const SQL: &[(&str, &str)] = &[
    ("balance", "SELECT a_balance FROM account WHERE a_id = $1"),
    ("add", "UPDATE account SET a_balance = a_balance + 1 WHERE a_id = $1"),
    ("deposit", "INSERT INTO deposit (d_account, d_phase, d_number, d_confirmed) VALUES ($1, $2, $3, 0)"),
    ("confirm", "UPDATE deposit SET d_confirmed = 1 WHERE d_account = $1 AND d_phase = $2 AND d_number = $3"),
    ("close", "UPDATE account SET a_closed = a_closed + $1 WHERE a_id = 0"),
];
const BALANCE: StatementId = StatementId(0);
const ADD: StatementId = StatementId(1);
const DEPOSIT: StatementId = StatementId(2);
const CONFIRM: StatementId = StatementId(3);
const CLOSE: StatementId = StatementId(4);

pub fn statements() -> Vec<Statement> {
    SQL.iter().map(|(name, sql)| Statement { name, sql: (*sql).to_owned() }).collect()
}

pub async fn run<S: Session>(
    session: &mut S,
    input: &Input,
    effects: &mut Effects<'_, Input>,
) -> Result<Ending, SessionError> {
    session.begin(Access::ReadWrite).await?;
    match input {
        Input::Deposit { account, phase, number, known_balance } => {
            let (account, phase, number) = (*account, *phase, *number);
            effects.begin_step(LOOK);
            let balance = session.execute(BALANCE, &[Param::Integer(account)]).await?.integer(0, 0)?;
            if known_balance.is_some_and(|known| known != balance) {
                let what = format!("{balance} instead of the {known_balance:?} that the customer was told");
                return Err(SessionError::Unexpected { statement: "balance", what });
            }
            effects.begin_step(WRITE);
            one_row(session, ADD, &[Param::Integer(account)]).await?;
            one_row(session, DEPOSIT, &[account, phase, number].map(Param::Integer)).await?;
            session.commit().await?;
            effects.tally.add(0, 1);
            effects.tell(&[account, phase, number, balance + 1]);
        }
        Input::Confirm { account, phase, number } => {
            one_row(session, CONFIRM, &[*account, *phase, *number].map(Param::Integer)).await?;
            session.commit().await?;
        }
        Input::Close { confirmed } => {
            one_row(session, CLOSE, &[Param::Integer(*confirmed)]).await?;
            session.commit().await?;
        }
        Input::Announce => {
            let what = "it is no transaction".to_owned();
            return Err(SessionError::Unexpected { statement: "none", what });
        }
    }
    Ok(Ending::Committed)
}

async fn one_row<S: Session>(session: &mut S, id: StatementId, params: &[Param<'_>]) -> Result<(), SessionError> {
    let changed = session.execute(id, params).await?.changed();
    if changed == 1 {
        return Ok(());
    }
    let (statement, _) = SQL[usize::from(id.0)];
    Err(SessionError::Unexpected { statement, what: format!("{changed} rows changed instead of 1") })
}
