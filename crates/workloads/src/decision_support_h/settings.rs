//! Keys of a decision-support-h `[workload]` table.

use crate::decision_support::scale::{DataScale, LARGEST, SMALLEST};
use serde::Deserialize;
use settings::{Holds, keys};

const STREAMS_MAX: i64 = 64;
const SHORTEST_LIMIT_MS: u64 = 1_000;
/// The longest phase then fits a trial.
const LONGEST_LIMIT_MS: u64 = 3_600_000;

keys! {
    /// The table, read.
    #[derive(Debug, Clone, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct DecisionSupportHSettings {
        scale: DataScale = "1", Holds::Number { min: SMALLEST, max: LARGEST },
            "size of the data, in whole hundredths: 1 has 6,000,000 lines in 1,500,000 orders, 1.1 GB as text";
        streams: Option<u32> = "", Holds::Integer { min: 1, max: STREAMS_MAX },
            "query streams at the same time in the throughput phase; the least that the original allows for the scale if absent: \
             2 below 10, 3 from 10, 4 from 30, 5 from 100, 6 from 300, 7 at 1000";
        /// In milliseconds.
        query_limit: u64 = "\"30m\"", Holds::Span { min_ms: SHORTEST_LIMIT_MS, max_ms: LONGEST_LIMIT_MS },
            "how long a query may take; one that takes longer is not answered, and phases with it have no figure";
    }
}

impl DecisionSupportHSettings {
    /// This scale, and the defaults of everything else.
    pub fn plain(scale: DataScale) -> Self {
        Self { scale, streams: None, query_limit: 1_800_000 }
    }

    pub fn streams(&self) -> u32 {
        self.streams.unwrap_or_else(|| self.scale.streams())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn defaults_follow_the_scale() {
        let read =
            |table: serde_json::Value| settings::read::<DecisionSupportHSettings>(table.as_object().unwrap(), KEYS);
        let settings = read(json!({})).unwrap();
        assert_eq!(settings, DecisionSupportHSettings::plain(DataScale::of(1.0).unwrap()));
        assert_eq!(settings.streams(), 2);
        assert_eq!(read(json!({ "scale": 100, "query_limit": "90s" })).unwrap().streams(), 5);
        assert_eq!(read(json!({ "scale": 0.01, "streams": 1 })).unwrap().streams(), 1);
        assert_eq!(read(json!({ "scale": 0.001 })).unwrap_err()[0].path, "scale");
    }
}
