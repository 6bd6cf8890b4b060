//! Keys of a decision-support-ds `[workload]` table.

use super::maintenance::sets::SETS_MAX;
use crate::decision_support::scale::{self, DataScale, LARGEST, SMALLEST};
use serde::Deserialize;
use serde_json::{Map, Value};
use settings::{Holds, Problem, keys};

const STREAMS: u32 = 4;
const STREAMS_MIN: i64 = 2;
/// A trial needs as many refresh sets as it has streams in a phase.
const STREAMS_MAX: i64 = SETS_MAX as i64;
const SHORTEST_LIMIT_MS: u64 = 1_000;
/// Nobody waits longer for a report.
const LONGEST_LIMIT_MS: u64 = 3_600_000;

keys! {
    /// The table, read.
    #[derive(Debug, Clone, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct DecisionSupportDsSettings {
        scale: DataScale = "1", Holds::Number { min: SMALLEST, max: LARGEST },
            "size of the data, in whole hundredths: 1 has 5,000,000 lines of sales and 12,000,000 of inventory, 1.25 GB as text";
        streams: u32 = "4", Holds::Integer { min: STREAMS_MIN, max: STREAMS_MAX },
            "query streams at the same time in the throughput phases, an even number; the original allows no less than 4";
        /// In milliseconds.
        query_limit: u64 = "\"30m\"", Holds::Span { min_ms: SHORTEST_LIMIT_MS, max_ms: LONGEST_LIMIT_MS },
            "how long a query may take; one that takes longer is not answered, and phases with it have no figure";
    }
}

impl DecisionSupportDsSettings {
    /// This scale, and the defaults of everything else.
    pub fn plain(scale: DataScale) -> Self {
        Self { scale, streams: STREAMS, query_limit: 1_800_000 }
    }

    /// Every maintenance phase has a refresh run for two query streams.
    pub const fn refresh_runs(&self) -> u32 {
        self.streams / 2
    }

    /// The key is an integer to the settings, so that it is even is checked here.
    pub fn check(table: &Map<String, Value>) -> Result<(), Vec<Problem>> {
        scale::check(table)?;
        let streams = table.get("streams").and_then(Value::as_u64);
        let Some(odd) = streams.filter(|streams| !streams.is_multiple_of(2)) else { return Ok(()) };
        Err(vec![Problem::new("streams", format!("found {odd}"), "an even number")])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn defaults_are_those_of_the_smallest_scale() {
        let read =
            |table: serde_json::Value| settings::read::<DecisionSupportDsSettings>(table.as_object().unwrap(), KEYS);
        let settings = read(json!({})).unwrap();
        assert_eq!(settings, DecisionSupportDsSettings::plain(DataScale::of(1.0).unwrap()));
        assert_eq!(settings.refresh_runs(), 2);
        assert_eq!(read(json!({ "scale": 0.001 })).unwrap_err()[0].path, "scale");
        assert_eq!(read(json!({ "streams": 1 })).unwrap_err()[0].path, "streams");
    }

    #[test]
    fn an_odd_number_of_streams_is_refused() {
        let check = |streams: u32| DecisionSupportDsSettings::check(json!({ "streams": streams }).as_object().unwrap());
        assert_eq!(check(5).unwrap_err()[0].path, "streams");
        assert!(check(6).is_ok());
    }
}
