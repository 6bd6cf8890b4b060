//! Times by the host's clock, for records and logs that people read.

use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) fn now_text() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
