//! Asking a question, and the maintenance functions.

use super::DecisionSupportDs;
use super::inputs::{Input, Work};
use super::maintenance;
use super::tally::{ANSWER_ROWS, checksum_of};
use crate::decision_support::asking;
use crate::effects::Effects;
use crate::workload::Ending;
use engines::session::{Session, SessionError};
use std::time::Duration;

pub async fn run<S: Session>(
    workload: &DecisionSupportDs,
    session: &mut S,
    input: &Input,
    effects: &mut Effects<'_, Input>,
) -> Result<Ending, SessionError> {
    match &input.work {
        Work::Question { number, values, is_filler } => {
            let statements = workload.questions.asked(*number, values, session.dialect())?;
            if *is_filler {
                asking::fill(session, &statements).await?;
            } else {
                let limit = Duration::from_millis(workload.settings.query_limit);
                let figures = asking::ask(session, &statements, limit).await?;
                effects.tally.add(ANSWER_ROWS, figures.rows);
                // Counters of several trials are added up, so only half of the bits are kept.
                effects.tally.add(checksum_of(*number), figures.checksum >> u32::BITS);
            }
        }
        Work::Maintenance(function) => maintenance::run(workload, session, *function, effects).await?,
    }
    Ok(Ending::Committed)
}
