//! Keys of a slob `[workload]` table, under the names that its users know.

use serde::Deserialize;
use settings::{Holds, Problem, keys, names};

/// The size of one row where a study gives a size in bytes; it is the page size of most engines.
const PAGE_BYTES: u64 = 8 << 10;
/// The limit of schemas, since each has its own statements in every session.
const SCHEMAS_MAX: i64 = 256;
/// Fewer rows than this fit into any cache, and the widest range would have no room to move in them.
const ROWS_MIN: u64 = 1_024;
/// Row numbers are 32 bits wide; this many rows take 30 TiB.
const ROWS_MAX: u64 = 4_000_000_000;
const ROWS_PER_MEBIBYTE: u32 = 128;
const _: () = assert!(ROWS_PER_MEBIBYTE as u64 * PAGE_BYTES == 1 << 20);
const LONGEST_THOUGHT_MS: u64 = 3_600_000;

keys! {
    /// The table, read.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct SlobSettings {
        schemas: u32 = "1", Holds::Integer { min: 1, max: SCHEMAS_MAX },
            "pairs of tables, one for random reads and updates and one for scans; one alone is shared by all clients";
        threads_per_schema: u32 = "1", Holds::Integer { min: 1, max: 4_096 },
            "clients that share a schema: client i works on schema (i / threads_per_schema) mod schemas, so clients \
             = schemas × threads_per_schema gives each schema as many";
        /// Rows of each schema.
        scale: u32 = "80MiB", Holds::Count { min: ROWS_MIN, max: ROWS_MAX, each_bytes: PAGE_BYTES },
            "rows of each schema, one to a page; a size counts 8 KiB for each, whatever the engine's pages are";
        /// Rows of each table for scans.
        scan_table_sz: u32 = "1MiB", Holds::Count { min: 4, max: ROWS_MAX, each_bytes: PAGE_BYTES },
            "rows of the table for scans, counted like scale";
        work_unit: u32 = "64", Holds::Integer { min: 3, max: 1_024 },
            "width of the range of keys of one operation, which has work_unit - 1 rows in as many pages";
        update_pct: u32 = "10", Holds::Integer { min: 0, max: 100 },
            "updates in every hundred operations of a client, exactly";
        scan_pct: u32 = "0", Holds::Integer { min: 0, max: 100 },
            "scans of the whole scan table in every hundred selects of a client, exactly";
        redo_stress: RedoStress = "lite", Holds::Choice(RedoStress::NAMES),
            "whether an update rewrites two columns of each row or all nineteen";
        do_hotspot: bool = "false", Holds::Boolean, "whether some operations go to a hot spot of each schema";
        hotspot_mb: u32 = "8", Holds::Integer { min: 1, max: 1 << 24 }, "size of the hot spot in MiB of 8 KiB rows";
        hotspot_offset_mb: u32 = "16", Holds::Integer { min: 0, max: 1 << 24 },
            "where the hot spot begins, in MiB of 8 KiB rows";
        hotspot_frequency: u64 = "3", Holds::Integer { min: 1, max: 1_000_000 },
            "one in so many operations of a client goes to the hot spot";
        hot_schema_frequency: u64 = "0", Holds::Integer { min: 0, max: 1_000_000 },
            "one in so many operations of a client goes to the first schema; 0 for none";
        think_tm_frequency: u64 = "0", Holds::Integer { min: 0, max: 1_000_000 },
            "one in so many operations, by chance, is followed by a pause; 0 for none";
        /// In milliseconds, as the next.
        think_tm_min: u64 = "100ms", Holds::Span { min_ms: 0, max_ms: LONGEST_THOUGHT_MS }, "the shortest pause";
        think_tm_max: u64 = "500ms", Holds::Span { min_ms: 0, max_ms: LONGEST_THOUGHT_MS },
            "the longest pause; those between are equally likely";
        obfuscate_columns: bool = "false", Holds::Boolean,
            "whether columns hold random text instead of one letter, which any compression makes nothing of";
        data_seed: u64 = "42", Holds::Integer { min: 0, max: i64::MAX },
            "seed of the rows and their order; a trial's inputs have the study's seed";
    }
}

names! {
    /// How much of a row an update changes.
    pub enum RedoStress {
        Lite => "lite",
        Heavy => "heavy",
    }
}

/// The hot rows: `rows` of them, after the first `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HotSpot {
    pub offset: u32,
    pub rows: u32,
}

impl SlobSettings {
    /// The number of rows that a read or an update touches.
    pub fn rows_per_range(&self) -> u32 {
        self.work_unit - 1
    }

    pub fn hot_spot(&self) -> Option<HotSpot> {
        let rows = |mebibytes: u32| mebibytes.saturating_mul(ROWS_PER_MEBIBYTE);
        self.do_hotspot.then(|| HotSpot { offset: rows(self.hotspot_offset_mb), rows: rows(self.hotspot_mb) })
    }

    /// Mistakes in combinations of keys that are right one by one.
    pub fn problems(&self) -> Vec<Problem> {
        let problem = |path, found: String, expected: String| Problem::new(path, format!("found {found}"), expected);
        let mut problems = Vec::new();
        if self.scale < self.work_unit {
            problems.push(problem("scale", self.scale.to_string(), format!("at least work_unit, {}", self.work_unit)));
        }
        if let Some(hot) = self.hot_spot() {
            let end = u64::from(hot.offset) + u64::from(hot.rows);
            if end > u64::from(self.scale) {
                let expected =
                    format!("offset and size of the hot spot to end within the {} rows of scale", self.scale);
                problems.push(problem("hotspot_mb", format!("a hot spot that ends at row {end}"), expected));
            }
            if hot.rows < self.work_unit {
                let expected = format!("a hot spot of at least work_unit rows, {}", self.work_unit);
                problems.push(problem("hotspot_mb", format!("one of {} rows", hot.rows), expected));
            }
        }
        if self.think_tm_min > self.think_tm_max {
            let expected = format!("at most think_tm_max, {} ms", self.think_tm_max);
            problems.push(problem("think_tm_min", format!("{} ms", self.think_tm_min), expected));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, Value, json};

    fn read(value: &Value) -> SlobSettings {
        let table: Map<String, Value> = value.as_object().unwrap().clone();
        settings::read(&table, KEYS).unwrap()
    }

    #[test]
    fn defaults_go_together() {
        let settings = read(&json!({}));
        assert!(settings.problems().is_empty());
        assert_eq!((settings.scale, settings.scan_table_sz, settings.rows_per_range()), (10_240, 128, 63));
        assert_eq!(settings.hot_spot(), None);
        let hot = read(&json!({ "do_hotspot": true }));
        assert_eq!(hot.hot_spot(), Some(HotSpot { offset: 2_048, rows: 1_024 }));
        assert!(hot.problems().is_empty());
    }

    #[test]
    fn what_does_not_go_together_is_told() {
        let paths = |value: &Value| read(value).problems().into_iter().map(|problem| problem.path).collect::<Vec<_>>();
        let outside = json!({ "do_hotspot": true, "hotspot_mb": 65 });
        assert_eq!(paths(&outside), ["hotspot_mb"]);
        let narrow = json!({ "do_hotspot": true, "hotspot_mb": 1, "work_unit": 129 });
        assert_eq!(paths(&narrow), ["hotspot_mb"]);
        assert_eq!(paths(&json!({ "think_tm_min": "1s" })), ["think_tm_min"]);
        assert!(paths(&json!({ "scale": 1_024, "work_unit": 1_024 })).is_empty());
    }
}
