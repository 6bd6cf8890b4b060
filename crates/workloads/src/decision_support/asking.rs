//! Asking a question.

use super::answers::{AnswerFigures, QuestionAnswer};
use super::questions::Questions;
use super::shapes::AskedStatement;
use super::values::ParameterValues;
use crate::effects::Tally;
use engines::admin::Admin;
use engines::limit::ReplyLimit;
use engines::session::{Session, SessionError};
use std::time::Duration;

/// How long a statement may take whose answer only keeps the database busy.
const FILLING: Duration = Duration::from_secs(1);

/// The counter of the rows of all answers; that of a question's checksum has the question's number as its place.
const ANSWER_ROWS: usize = 0;

/// A question that a stream asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamQuestion {
    /// Counted from 1.
    pub number: u8,
    pub values: ParameterValues,
    /// Whether it only keeps the database busy.
    pub is_filler: bool,
}

/// Asks a question and counts its answer. The checksum counts only if nothing else changes the data meanwhile, so that the answer
/// is the same on every engine.
pub async fn count_answer<S: Session>(
    session: &mut S,
    questions: &Questions,
    StreamQuestion { number, values, is_filler }: &StreamQuestion,
    limit_ms: u64,
    is_alone: bool,
    tally: &mut Tally,
) -> Result<(), SessionError> {
    let statements = questions.asked(*number, values, session.dialect())?;
    if *is_filler {
        return fill(session, &statements).await;
    }
    let figures = ask(session, &statements, Duration::from_millis(limit_ms)).await?;
    tally.add(ANSWER_ROWS, figures.rows);
    if is_alone {
        // Counters of several trials are added up, so only half of the bits are kept.
        tally.add(usize::from(*number), figures.checksum >> u32::BITS);
    }
    Ok(())
}

/// Each statement is a transaction of its own, and may take so long. The session keeps its rows until they are added up; an answer
/// of more than a few million values is refused. The figures are those of all statements together.
async fn ask<S: Session>(
    session: &mut S,
    statements: &[AskedStatement],
    limit: Duration,
) -> Result<AnswerFigures, SessionError> {
    let mut figures = AnswerFigures::default();
    for asked in statements {
        session.limit_statements(limit).await?;
        let set = session.execute_text(asked.name, &asked.text).await.map_err(|error| named(asked.name, error))?;
        let mut answer = QuestionAnswer::to(asked);
        for row in 0..set.rows() {
            answer.add(set, row)?;
        }
        figures = figures.and(answer.figures()?);
    }
    Ok(figures)
}

/// Asks a question whose answer nobody needs, for a second at most.
async fn fill<S: Session>(session: &mut S, statements: &[AskedStatement]) -> Result<(), SessionError> {
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
pub fn ask_admin(admin: &mut dyn Admin, statements: &[AskedStatement]) -> Result<AnswerFigures, SessionError> {
    let mut figures = AnswerFigures::default();
    for asked in statements {
        let mut answer = QuestionAnswer::to(asked);
        let mut added = Ok(());
        admin.ask(&asked.text, ReplyLimit::KEYS, &mut |set, row| {
            added = std::mem::replace(&mut added, Ok(())).and_then(|()| answer.add(set, row));
        })?;
        added?;
        figures = figures.and(answer.figures()?);
    }
    Ok(figures)
}
