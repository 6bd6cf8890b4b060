//! When a measurement cannot be trusted: the measuring tool itself was in the way or does not know enough, or the
//! database broke down in between.

use record::check::{Finding, Verdict};
use record::trial::DriverFacts;

/// A shard that was busy for more of the window than this could not have started work in time.
const BUSIEST_SHARD_MAX: f64 = 0.95;
/// Work that was due and started later than this, at the 99th percentile, was delayed by the driver.
const LATENESS_P99_MAX_US: u64 = 10_000;

/// The reason why the driver was the bottleneck, if it was. An engine inside the driver's process works on the driver's
/// threads: those are busy all the time by nature, and that says nothing.
pub fn why_invalid(facts: &DriverFacts, in_process: bool) -> Option<String> {
    let testimony = &facts.testimony;
    let total: u64 = facts.kinds.iter().map(|kind| kind.committed).sum();
    if total == 0 {
        return Some("no transaction was committed in the measured window".to_owned());
    }
    let lost = count(facts, "sessions_lost");
    if lost > 0 {
        return Some(format!(
            "{lost} sessions were lost and opened again: the database, or the way to it, broke down under the load; its \
             log may tell why"
        ));
    }
    if in_process {
        return None;
    }
    if testimony.busiest_shard > BUSIEST_SHARD_MAX && testimony.lateness_p99_us > LATENESS_P99_MAX_US {
        return Some(format!(
            "the driver was the bottleneck: its busiest thread worked {:.0} % of the time and started work {} µs late \
             (99th percentile)",
            testimony.busiest_shard * 100.0,
            testimony.lateness_p99_us
        ));
    }
    None
}

fn count(facts: &DriverFacts, name: &str) -> u64 {
    facts.extra.get(name).and_then(serde_json::Value::as_u64).unwrap_or_default()
}

/// How many transactions may or may not be in the database.
pub fn unknown_ends(facts: &DriverFacts) -> u64 {
    count(facts, "sessions_lost") + count(facts, "unfinished")
}

/// Transactions whose end the driver did not see may or may not be in the database: what was acknowledged and what is
/// there then need not agree, and a disagreement is no violation.
pub fn as_far_as_known(reconciled: Vec<Finding>, unknown_ends: u64) -> Vec<Finding> {
    if unknown_ends == 0 {
        return reconciled;
    }
    let why = format!("the end of {unknown_ends} transactions is not known to the driver");
    let soften = |finding: Finding| match finding.verdict {
        Verdict::Violated { seen } => {
            Finding { verdict: Verdict::Undecided { why: format!("{why}; {seen}") }, ..finding }
        }
        _ => finding,
    };
    reconciled.into_iter().map(soften).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::trial::{KindTotals, Testimony};

    fn facts(committed: u64, busiest_shard: f64, lateness_p99_us: u64) -> DriverFacts {
        DriverFacts {
            kinds: vec![KindTotals { committed, ..KindTotals::default() }],
            testimony: Testimony { busiest_shard, lateness_p99_us, ..Testimony::default() },
            ..DriverFacts::default()
        }
    }

    #[test]
    fn a_busy_and_late_driver_is_the_bottleneck_unless_the_engine_runs_inside_it() {
        let late = facts(10, 0.99, 20_000);
        assert!(why_invalid(&late, false).is_some_and(|why| why.contains("99 %")));
        assert_eq!(why_invalid(&late, true), None);
        assert_eq!(why_invalid(&facts(10, 0.99, 100), false), None);
        assert_eq!(why_invalid(&facts(10, 0.30, 20_000), false), None);
    }

    #[test]
    fn a_database_that_broke_down_and_came_back_was_not_measured() {
        let mut facts = facts(100, 0.1, 0);
        facts.extra.insert("sessions_lost".to_owned(), 0.into());
        assert_eq!(why_invalid(&facts, false), None);
        facts.extra.insert("sessions_lost".to_owned(), 3.into());
        assert!(why_invalid(&facts, false).is_some_and(|why| why.starts_with("3 sessions were lost")));
    }

    #[test]
    fn a_disagreement_is_a_violation_only_if_the_driver_saw_every_end() {
        let violated = || {
            let verdict = Verdict::Violated { seen: "99 instead of 100".to_owned() };
            let moment = record::check::Moment::AfterTrial;
            vec![Finding { name: "ledger".to_owned(), rule: "they agree".to_owned(), moment, verdict }]
        };
        assert!(as_far_as_known(violated(), 0)[0].is_violated());
        let softened = as_far_as_known(violated(), 1);
        assert!(matches!(&softened[0].verdict, Verdict::Undecided { why } if why.contains("1 transactions")));
    }

    #[test]
    fn a_window_without_a_commit_is_not_a_measurement() {
        assert!(why_invalid(&facts(0, 0.1, 0), true).is_some());
    }
}
