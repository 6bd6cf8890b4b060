//! Trials that are void because of other load, and are run again.

use super::{Outcome, TrialRecord};
use crate::other_load::{Disturbance, Disturbed};

impl TrialRecord {
    /// Attempts at the trial that were void because of other load.
    pub fn disturbed(&self) -> &[Disturbed] {
        self.other_load.as_ref().map_or(&[], |other_load| &other_load.disturbed)
    }

    /// Why the trial is void and may be run again.
    pub fn to_be_repeated(&self) -> Option<Disturbance> {
        let other_load = self.other_load.as_ref().filter(|_| matches!(self.outcome, Outcome::Invalid { .. }))?;
        let is_left = other_load.disturbed.len() < other_load.max_repeats as usize;
        other_load.disturbance().filter(|_| is_left)
    }

    /// The void attempts to record in the next attempt, this one included. Empty if this one is not to be repeated.
    pub fn disturbed_with_this(&self) -> Vec<Disturbed> {
        let this = |by| Disturbed { started: self.started.clone(), took_ms: self.own_ms(), by };
        self.to_be_repeated().map_or_else(Vec::new, |by| [self.disturbed(), &[this(by)]].concat())
    }

    /// How long the trial took, with the attempts that were void.
    pub fn took_ms(&self) -> u64 {
        self.own_ms() + self.disturbed().iter().map(|attempt| attempt.took_ms).sum::<u64>()
    }

    fn own_ms(&self) -> u64 {
        self.phases.iter().map(|phase| phase.length_ms).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(other_cpu: &str, disturbed: &str) -> TrialRecord {
        serde_json::from_str(&format!(
            r#"{{
                "format": 1, "id": 3, "block": 1, "cell": 0, "contender": "vm", "seed": 1, "started": "2026-01-01T00:02:00Z",
                "outcome": {{ "outcome": "invalid", "why": "?" }}, "phases": [{{ "phase": "measure", "length_ms": 4000 }}],
                "other_load": {{ "limit": 0.05, "max_repeats": 2, "other_cpu": {other_cpu}, "disturbed": [{disturbed}] }}
            }}"#
        ))
        .unwrap()
    }

    const FIRST: &str = r#"{ "started": "2026-01-01T00:00:00Z", "took_ms": 3000, "other_cpu": 0.3125, "limit": 0.05 }"#;

    #[test]
    fn who_is_void_is_repeated_until_its_repeats_are_used_up() {
        let again = record(r#"{ "known": 0.07 }"#, FIRST);
        let why = again.to_be_repeated().unwrap().to_string();
        assert_eq!(
            why,
            "others used 7.0 % of the host's CPU time in the measured window, more than the 5 % of load.max_other_cpu"
        );
        let told = again.disturbed_with_this();
        assert_eq!(told.iter().map(|attempt| attempt.by.used()).collect::<Vec<_>>(), ["31 %", "7.0 %"]);
        assert_eq!(
            (told[1].started.as_str(), told[1].took_ms, again.took_ms()),
            ("2026-01-01T00:02:00Z", 4_000, 7_000)
        );
        let last = record(r#"{ "known": 0.07 }"#, &format!("{FIRST}, {FIRST}"));
        assert_eq!((last.to_be_repeated(), last.disturbed_with_this()), (None, Vec::new()));
    }

    #[test]
    fn who_is_not_void_is_not_repeated() {
        assert_eq!(record(r#"{ "known": 0.05 }"#, "").to_be_repeated(), None, "the limit itself is allowed");
        assert_eq!(record(r#"{ "unavailable": "no /proc" }"#, "").to_be_repeated(), None);
        let disturbed = record(r#"{ "known": 0.5 }"#, "");
        assert!(disturbed.to_be_repeated().is_some());
        let failed = Outcome::Failed { phase: "check".to_owned(), why: "it fell".to_owned() };
        assert_eq!(TrialRecord { outcome: failed, ..disturbed.clone() }.to_be_repeated(), None);
        assert_eq!(TrialRecord { other_load: None, ..disturbed }.to_be_repeated(), None);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let again = record(r#"{ "known": 0.07 }"#, FIRST);
        let text = serde_json::to_string(&again).unwrap();
        assert!(text.contains(r#""took_ms":3000,"other_cpu":0.3125,"limit":0.05}"#), "{text}");
        assert_eq!(serde_json::from_str::<TrialRecord>(&text).unwrap(), again);
    }
}
