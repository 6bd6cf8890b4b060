//! What the database and its data's device had counted at two moments within the measured window.
//!
//! Both looks are taken while load is driven, so that only load lies between them: no start, no drain, no check. They
//! are part of `counters.json`.

use crate::bounds::{LARGEST, LARGEST_TOTAL};
use crate::ladder::{CpuTime, CpuUse};
use crate::waits::{self, Waits};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `counters.json`: the database's own counters by name, before and after driving, and the looks between.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StoredCounters {
    #[serde(default)]
    pub before: BTreeMap<String, u64>,
    #[serde(default)]
    pub after: BTreeMap<String, u64>,
    /// Absent from records of old versions, and from trials whose window was too short for two looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Looks>,
}

/// Two looks within the measured window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looks {
    pub start: Look,
    pub end: Look,
}

/// One look at all counters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// The machine's monotonic clock half-way through the look.
    pub at_ns: u64,
    /// How long the look took, which bounds the distance of its counts from that moment.
    pub took_ns: u64,
    pub database: Reading<DatabaseCounts>,
    pub device: Reading<DeviceCounts>,
    pub cpu: Reading<CpuTime>,
    /// All counters of the database, by its own names.
    #[serde(default)]
    pub counters: BTreeMap<String, u64>,
    /// What sessions waited for since the first look; in the second look only, if sampled. Absent from old records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Reading<Waits>>,
}

/// A value that was read, or why it could not be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading<T> {
    Known(T),
    Unavailable(String),
}

impl<T> Reading<T> {
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unavailable(_) => None,
        }
    }

    pub fn why_not(&self) -> Option<&str> {
        match self {
            Self::Known(_) => None,
            Self::Unavailable(why) => Some(why),
        }
    }
}

impl<T> From<Result<T, String>> for Reading<T> {
    fn from(result: Result<T, String>) -> Self {
        match result {
            Ok(value) => Self::Known(value),
            Err(why) => Self::Unavailable(why),
        }
    }
}

/// What every engine counts in its own way, as far as it counts it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DatabaseCounts {
    /// What one read and one write mean for this engine, in a sentence.
    pub meaning: String,
    /// Reads that went past the database's cache; the operating system's may have served them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<u64>,
    /// Reads that the database's cache served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hits: Option<u64>,
    /// Writes of data that the database handed to the operating system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<u64>,
    /// Bytes of redo (write-ahead) log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_bytes: Option<u64>,
    /// Checkpoints that the database began, if it has any; absent from old records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoints: Option<u64>,
    /// Size of the data at this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_bytes: Option<u64>,
    /// Size of the database's cache; of one of them if each session has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_bytes: Option<u64>,
}

impl DatabaseCounts {
    /// Without values that no database reaches and no record may hold.
    #[must_use]
    pub fn in_bounds(self) -> Self {
        let count = |value: Option<u64>| value.filter(|value| *value <= LARGEST);
        let bytes = |value: Option<u64>| value.filter(|value| *value <= LARGEST_TOTAL);
        Self {
            reads: count(self.reads),
            hits: count(self.hits),
            writes: count(self.writes),
            log_bytes: bytes(self.log_bytes),
            checkpoints: count(self.checkpoints),
            data_bytes: bytes(self.data_bytes),
            cache_bytes: bytes(self.cache_bytes),
            ..self
        }
    }
}

/// The kernel's counts for a block device since boot, whoever uses it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeviceCounts {
    pub device: String,
    pub reads: u64,
    pub read_bytes: u64,
    /// The sum of the times that completed reads took.
    pub read_ms: u64,
    pub writes: u64,
    pub write_bytes: u64,
    pub write_ms: u64,
    /// Time with at least one request under way.
    pub busy_ms: u64,
    /// Old kernels do not count flushes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<u64>,
}

impl Looks {
    /// The use of the machine's CPUs between the looks.
    pub fn cpu_use(&self) -> Option<CpuUse> {
        CpuUse::between(*self.start.cpu.known()?, *self.end.cpu.known()?)
    }

    /// What sessions waited for between the looks.
    pub fn waits(&self) -> Option<&Reading<Waits>> {
        self.end.waits.as_ref()
    }

    /// A field that exceeds what bakeoff writes into the file, and why.
    pub(crate) fn out_of_bounds(&self) -> Option<String> {
        [("start", &self.start), ("end", &self.end)].into_iter().find_map(|(name, look)| {
            let why = match look.waits.as_ref()? {
                Reading::Known(waits) => waits.out_of_bounds()?,
                Reading::Unavailable(why) => waits::too_long("waits.unavailable", why, waits::REASON_BYTES)?,
            };
            Some(format!("window.{name}.{why}"))
        })
    }

    /// Nanoseconds between the looks.
    pub fn span_ns(&self) -> u64 {
        self.end.at_ns.saturating_sub(self.start.at_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_old_versions_have_no_looks() {
        let old: StoredCounters = serde_json::from_str(r#"{"before": {"a": 1}, "after": {"a": 2}}"#).unwrap();
        assert_eq!((old.after["a"], old.window), (2, None));
    }

    /// Readers refuse such values, so one of them would cost the whole run.
    #[test]
    fn what_no_record_may_hold_is_left_out() {
        let wild = DatabaseCounts {
            reads: Some(u64::MAX),
            hits: Some(1 << 50),
            log_bytes: Some(1 << 58),
            data_bytes: Some(1 << 57),
            ..DatabaseCounts::default()
        };
        let kept = wild.in_bounds();
        assert_eq!(
            (kept.reads, kept.hits, kept.log_bytes, kept.data_bytes),
            (None, Some(1 << 50), None, Some(1 << 57))
        );
    }

    #[test]
    fn a_look_is_read_back_as_it_was_written() {
        let look = |at_ns| Look {
            at_ns,
            took_ns: 5,
            database: Reading::Known(DatabaseCounts { reads: Some(7), ..DatabaseCounts::default() }),
            device: Reading::Unavailable("there is none".to_owned()),
            cpu: Reading::Known(CpuTime { busy_ticks: at_ns, idle_ticks: at_ns, ..CpuTime::default() }),
            counters: BTreeMap::from([("blks_read".to_owned(), 7)]),
            waits: None,
        };
        let looks = Looks { start: look(1_000), end: look(3_000) };
        assert_eq!(looks.span_ns(), 2_000);
        assert!((looks.cpu_use().unwrap().busy - 0.5).abs() < 1e-12);
        let stored = StoredCounters { window: Some(looks), ..StoredCounters::default() };
        let text = serde_json::to_string(&stored).unwrap();
        assert!(text.contains(r#""device":{"unavailable":"there is none"}"#), "{text}");
        assert_eq!(serde_json::from_str::<StoredCounters>(&text).unwrap(), stored);
    }
}
