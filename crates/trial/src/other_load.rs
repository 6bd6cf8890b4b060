//! Checks whether other load disturbed a trial beyond its study's limit.
//!
//! This is decided after the trial, since the record must also include the state of its data. The CPU use of the host's
//! processes is known only if both ends of the measured window were read. Any other trial stands, with a warning why.

use record::looks::Reading;
use record::other_load::{Disturbance, Disturbed, OtherLoad};
use record::trial::{Outcome, TrialRecord};
use study::OtherLoadLimit;
use study::TypedCell;

/// `None` if nothing is executed: a rehearsal is not disturbed.
pub(crate) fn limit(cell: &TypedCell) -> Option<OtherLoadLimit> {
    cell.load.other_load.filter(|_| cell.platform.can().executes)
}

/// Compares the record of a finished trial with its study's limit. `disturbed` are the earlier attempts that were void.
pub(crate) fn judge(record: &mut TrialRecord, limit: Option<OtherLoadLimit>, disturbed: Vec<Disturbed>) {
    let Some(OtherLoadLimit { max_other_cpu, max_repeats }) = limit else { return };
    let other_cpu = match &record.host_state {
        Some(state) => state.others(),
        None => Reading::Unavailable(
            "the machine's host was not read at both ends of a measured window, or it is another host".to_owned(),
        ),
    };
    let other_load = OtherLoad { limit: max_other_cpu.0, max_repeats, other_cpu, disturbed };
    if matches!(record.outcome, Outcome::Completed | Outcome::Invalid { .. }) {
        match (other_load.disturbance(), other_load.other_cpu.why_not()) {
            (Some(by), _) => record.outcome = void(by, &record.outcome),
            (None, Some(why)) => record.warnings.push(format!("load.max_other_cpu could not be asked of it: {why}")),
            (None, None) => {}
        }
    }
    record.other_load = Some(other_load);
}

/// Other load may also be the cause of whatever else made the trial invalid.
fn void(by: Disturbance, otherwise: &Outcome) -> Outcome {
    let why = match otherwise {
        Outcome::Invalid { why } => format!("{by}; besides, {why}"),
        _ => by.to_string(),
    };
    Outcome::Invalid { why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::host_state::{HostState, ProcessTimes};
    use record::ladder::CpuTime;
    use settings::Share;

    const LIMIT: OtherLoadLimit = OtherLoadLimit { max_other_cpu: Share(0.05), max_repeats: 3 };

    /// Others used this many of a thousand ticks; `None` if that cannot be read.
    fn ended(outcome: &Outcome, others_ticks: Option<u64>) -> TrialRecord {
        let mut record: TrialRecord = serde_json::from_value(serde_json::json!({
            "format": record::FORMAT, "id": 7, "block": 1, "cell": 0, "contender": "vm", "seed": 1, "outcome": outcome,
            "started": "2026-01-01T00:00:00Z", "phases": []
        }))
        .unwrap();
        let reading = |busy_ticks, others_ticks: Option<u64>| {
            let nothing = telemetry::host_state(std::path::Path::new("/nonexistent"), 1, &[], 0);
            let times = others_ticks.map(|others_ticks| ProcessTimes { others_ticks, ..ProcessTimes::default() });
            record::host_state::HostReading {
                cpu: Reading::Known(CpuTime { busy_ticks, ..CpuTime::default() }),
                processes: times.ok_or_else(|| "/proc is hidden".to_owned()).into(),
                ..nothing
            }
        };
        record.host_state = Some(HostState {
            start: reading(500, Some(20)),
            end: reading(1_500, others_ticks.map(|others_ticks| 20 + others_ticks)),
        });
        record
    }

    fn judged(mut record: TrialRecord) -> TrialRecord {
        judge(&mut record, Some(LIMIT), Vec::new());
        record
    }

    fn invalid(why: &str) -> Outcome {
        Outcome::Invalid { why: why.to_owned() }
    }

    #[test]
    fn beyond_the_limit_a_trial_is_invalid_whatever_it_was_before() {
        let by =
            "others used 5.1 % of the host's CPU time in the measured window, more than the 5 % of load.max_other_cpu";
        let disturbed = judged(ended(&Outcome::Completed, Some(51)));
        assert_eq!((&disturbed.outcome, disturbed.warnings.len()), (&invalid(by), 0));
        assert!(disturbed.to_be_repeated().is_some());
        let both = judged(ended(&invalid("the driver was the bottleneck"), Some(51)));
        assert_eq!(both.outcome, invalid(&format!("{by}; besides, the driver was the bottleneck")));
    }

    #[test]
    fn up_to_the_limit_nothing_is_changed_and_what_was_read_is_kept() {
        for outcome in [Outcome::Completed, invalid("late")] {
            let quiet = judged(ended(&outcome, Some(50)));
            assert_eq!((&quiet.outcome, quiet.warnings.len(), quiet.to_be_repeated()), (&outcome, 0, None));
            assert_eq!(quiet.other_load.unwrap().other_cpu, Reading::Known(0.05));
        }
        let mut unlimited = ended(&Outcome::Completed, Some(900));
        judge(&mut unlimited, None, Vec::new());
        assert_eq!(unlimited, ended(&Outcome::Completed, Some(900)));
    }

    #[test]
    fn what_cannot_be_read_voids_nothing_and_says_why() {
        let why = "the time of processes is unavailable, because /proc is hidden";
        let hidden = judged(ended(&Outcome::Completed, None));
        assert_eq!(hidden.outcome, Outcome::Completed);
        assert_eq!(hidden.warnings, [format!("load.max_other_cpu could not be asked of it: {why}")]);
        assert_eq!(hidden.other_load.unwrap().other_cpu.why_not(), Some(why));
        let failed = Outcome::Failed { phase: "boot".to_owned(), why: "no".to_owned() };
        let early = judged(TrialRecord { host_state: None, ..ended(&failed, None) });
        assert_eq!((early.outcome, early.warnings.len()), (failed, 0));
        assert!(early.other_load.unwrap().other_cpu.why_not().unwrap().starts_with("the machine's host was not read"));
    }
}
