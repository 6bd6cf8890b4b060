//! Clocks of machines and of load hosts, against the host's.

use serde::{Deserialize, Serialize};

/// Labels of the readings of a machine's clock around the driving.
pub const BEFORE_DRIVING: &str = "before driving";
pub const AFTER_DRIVING: &str = "after driving";

/// The offset of a machine's monotonic clock from the host's. The round trip of the measurement bounds its error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockReading {
    pub at: String,
    pub offset_ns: i64,
    pub round_trip_ns: u64,
}
