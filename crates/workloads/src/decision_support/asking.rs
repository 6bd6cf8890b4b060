//! Asking a question.

use super::answers::{Answer, Figures};
use super::asked::Asked;
use engines::admin::Admin;
use engines::limit::Limit;
use engines::session::{Session, SessionError};
use std::time::Duration;

/// How long a statement may take whose answer only keeps the database busy.
const FILLING: Duration = Duration::from_secs(1);

/// Each statement is a transaction of its own, and may take so long. The session keeps its rows until they are added up; an answer
/// of more than a few million values is refused. The figures are those of all statements together.
pub async fn ask<S: Session>(session: &mut S, statements: &[Asked], limit: Duration) -> Result<Figures, SessionError> {
    let mut figures = Figures::default();
    for asked in statements {
        session.limit_statements(limit).await?;
        let set = session.execute_text(asked.name, &asked.text).await.map_err(|error| named(asked.name, error))?;
        let mut answer = Answer::to(asked);
        for row in 0..set.rows() {
            answer.add(set, row)?;
        }
        figures = figures.and(answer.figures()?);
    }
    Ok(figures)
}

/// Asks a question whose answer nobody needs, for a second at most.
pub async fn fill<S: Session>(session: &mut S, statements: &[Asked]) -> Result<(), SessionError> {
    session.limit_statements(FILLING).await?;
    for asked in statements {
        match session.execute_text(asked.name, &asked.text).await {
            Ok(_) => (),
            // It was over its limit.
            Err(SessionError::Refused { .. }) => return session.rollback().await,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What the database refused, such as a question over its limit, with the question's name.
fn named(name: &str, error: SessionError) -> SessionError {
    match error {
        SessionError::Refused { code, message } => {
            // Errors are counted by their code, so that each question is counted by itself.
            SessionError::Refused { code: format!("{name}: {code}"), message }
        }
        other => other,
    }
}

/// The same outside of any session that is measured.
pub fn ask_admin(admin: &mut dyn Admin, statements: &[Asked]) -> Result<Figures, SessionError> {
    let mut figures = Figures::default();
    for asked in statements {
        let mut answer = Answer::to(asked);
        let mut added = Ok(());
        admin.ask(&asked.text, Limit::KEYS, &mut |set, row| {
            added = std::mem::replace(&mut added, Ok(())).and_then(|()| answer.add(set, row));
        })?;
        added?;
        figures = figures.and(answer.figures()?);
    }
    Ok(figures)
}
