//! Running trials again that are complete but came to no result: which these are, and what their new record says of it.
//!
//! Only who asks for it gets it. A failure is an answer about a contender, too, and one that fails whenever it is run must not
//! look as if it had been unlucky; so what became of a trial before is kept, and told with its new record.

use crate::conductor::RunOrder;
use record::folder::RecordError;
use record::plan::PlannedTrial;
use record::trial::{Outcome, TrialRecord};

/// Trials of an order that have no record, or one that says nothing and is to be replaced.
pub(crate) fn still_to_run(order: &RunOrder<'_>) -> Result<Vec<PlannedTrial>, RecordError> {
    let mut left = Vec::new();
    for planned in order.trials {
        let folder = order.folder.trial(planned.id);
        if !folder.is_complete() || (order.retries && !came_to_a_result(&folder.record()?)) {
            left.push(planned.clone());
        }
    }
    Ok(left)
}

/// Sets the old record of a trial aside; gives what is to be said of it, and of those before.
pub(crate) fn make_way(order: &RunOrder<'_>, id: u32) -> Result<Vec<String>, RecordError> {
    if order.folder.trial(id).is_complete() {
        order.folder.set_aside(id)?;
    }
    Ok(order.folder.earlier(id)?.iter().map(warning).collect())
}

fn came_to_a_result(record: &TrialRecord) -> bool {
    record.outcome == Outcome::Completed
}

fn warning(earlier: &TrialRecord) -> String {
    let became = match &earlier.outcome {
        Outcome::Completed => "was completed".to_owned(),
        Outcome::Invalid { why } => format!("was invalid: {}", first_line(why)),
        Outcome::Failed { phase, why } => format!("failed in phase {phase}: {}", first_line(why)),
        Outcome::Skipped { why } => format!("was skipped: {}", first_line(why)),
        Outcome::Interrupted { phase } => format!("was stopped in phase {phase}"),
    };
    format!("it was run again; begun at {}, it {became}", earlier.started)
}

/// The rest is in the old record.
fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_record_tells_in_a_line_what_the_old_one_came_to() {
        let outcome = Outcome::Failed { phase: "measure".to_owned(), why: "machine 2: ended\nits log".to_owned() };
        let record: TrialRecord = serde_json::from_value(serde_json::json!({
            "format": record::FORMAT, "id": 7, "block": 1, "cell": 0, "contender": "vm", "seed": 1, "outcome": outcome,
            "started": "2026-01-01T00:00:00Z", "phases": []
        }))
        .unwrap();
        assert!(!came_to_a_result(&record));
        let expected = "it was run again; begun at 2026-01-01T00:00:00Z, it failed in phase measure: machine 2: ended";
        assert_eq!(warning(&record), expected);
        assert!(came_to_a_result(&TrialRecord { outcome: Outcome::Completed, ..record }));
    }
}
