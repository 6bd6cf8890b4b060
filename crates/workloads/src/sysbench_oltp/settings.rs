//! Keys of a sysbench-oltp `[workload]` table, under the names that sysbench's users know.

use crate::random::{Shape, Special};
use serde::Deserialize;
use settings::{Holds, Key, Problem};

/// Every id fits four bytes with a sign, on every engine.
const ROWS_MAX: i64 = 2_000_000_000;
/// Every session prepares every statement for every table.
const TABLES_MAX: i64 = 1_000;
/// Values in one statement of `select_random_points` or `select_random_ranges`.
pub const VALUES_MAX: usize = 100;
const POINTS_MAX: i64 = 100;
/// Each range has two values.
const RANGES_MAX: i64 = 50;

const fn count(name: &'static str, default: &'static str, meaning: &'static str) -> Key {
    Key { name, holds: Holds::Integer { min: 0, max: 1_000 }, default: Some(default), meaning }
}

const fn switch(name: &'static str, default: &'static str, meaning: &'static str) -> Key {
    Key { name, holds: Holds::Boolean, default: Some(default), meaning }
}

const fn whole(name: &'static str, min: i64, max: i64, default: &'static str, meaning: &'static str) -> Key {
    Key { name, holds: Holds::Integer { min, max }, default: Some(default), meaning }
}

pub const KEYS: &[Key] = &[
    Key {
        name: "test",
        holds: Holds::Choice(Test::NAMES),
        default: Some("\"read_write\""),
        meaning: "what a transaction does; sysbench's oltp_read_write, oltp_read_only and so on, without their first word",
    },
    Key {
        name: "mode",
        holds: Holds::Choice(&["1.0", "0.4.8"]),
        default: Some("\"1.0\""),
        meaning: "whose rows and transactions: of sysbench 1.0 (14 reads, 4 writes) or 0.4.8 (14 reads, 5 writes, k = 0)",
    },
    whole("tables", 1, TABLES_MAX, "1", "tables of the same form; 0.4.8 has only one"),
    whole("table_size", 1, ROWS_MAX, "10000", "rows of each table; a million are about 200 MB"),
    count("point_selects", "10", "selects of one row by id in a transaction"),
    switch("range_selects", "true", "whether transactions have the four kinds of range selects at all"),
    count("simple_ranges", "1", "selects of a range of ids in a transaction"),
    count("sum_ranges", "1", "sums over a range of ids in a transaction"),
    count("order_ranges", "1", "sorted selects of a range of ids in a transaction"),
    count("distinct_ranges", "1", "sorted selects without duplicates of a range of ids in a transaction"),
    whole("range_size", 1, 1_000_000, "100", "rows of a range"),
    count("index_updates", "1", "updates of an indexed column in a transaction"),
    count("non_index_updates", "1", "updates of a column without index in a transaction"),
    count("delete_inserts", "1", "rows that a transaction deletes and inserts again"),
    switch("skip_trx", "false", "whether each statement is a transaction of its own, without BEGIN and COMMIT"),
    switch(
        "auto_inc",
        "true",
        "whether the server numbers new rows; if not, test = \"insert\" begins with empty tables",
    ),
    switch("secondary", "false", "whether the id has a plain index instead of a primary key"),
    switch("create_secondary", "true", "whether column k has an index"),
    whole("random_points", 1, POINTS_MAX, "10", "values of k in one select of select_random_points"),
    whole("number_of_ranges", 1, RANGES_MAX, "10", "ranges of k in one select of select_random_ranges"),
    whole("delta", 0, 1_000_000, "5", "width of each of these ranges"),
    whole(
        "segments",
        1,
        1_000_000,
        "1",
        "equal segments of k, one for each client in turn, in the two tests before; sysbench has one for each thread",
    ),
    Key {
        name: "rand_type",
        holds: Holds::Choice(&["uniform", "gaussian", "special", "special-1.0", "special-0.4", "pareto", "zipfian"]),
        default: Some("\"special\""),
        meaning: "how row numbers are drawn; special is that of the mode; state it beside every number",
    },
    whole("rand_spec_iter", 1, 1_000, "12", "uniform draws whose mean is one gaussian value, also within special"),
    whole("rand_spec_pct", 1, 100, "1", "width of special's hot band in percent of the rows"),
    whole("rand_spec_res", 0, 99, "75", "percent of special's values that are meant for the hot band"),
    Key {
        name: "rand_pareto_h",
        holds: Holds::Number { min: 0.001, max: 0.999 },
        default: Some("0.2"),
        meaning: "h of Pareto: this share of the rows gets all but this share of the draws",
    },
    Key {
        name: "rand_zipfian_exp",
        holds: Holds::Number { min: 0.001, max: 100.0 },
        default: Some("0.8"),
        meaning: "exponent of zipfian",
    },
    Key {
        name: "think",
        holds: Holds::Span { min_ms: 0, max_ms: THINKING_MAX_MS },
        default: Some("\"0s\""),
        meaning: "mean time a terminal thinks after a transaction, exponentially spread; sysbench knows no terminals",
    },
    whole("data_seed", 0, i64::MAX, "42", "seed of the rows; a trial's inputs have the study's seed"),
];

const THINKING_MAX_MS: u64 = 3_600_000;

settings::names! {
    /// What a transaction does: its kind.
    pub enum Test {
        ReadWrite => "read_write",
        ReadOnly => "read_only",
        WriteOnly => "write_only",
        PointSelect => "point_select",
        UpdateIndex => "update_index",
        UpdateNonIndex => "update_non_index",
        Insert => "insert",
        Delete => "delete",
        SelectRandomPoints => "select_random_points",
        SelectRandomRanges => "select_random_ranges",
        BulkInsert => "bulk_insert",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Mode {
    #[serde(rename = "1.0")]
    Of10,
    #[serde(rename = "0.4.8")]
    Of048,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RandType {
    Uniform,
    Gaussian,
    Special,
    #[serde(rename = "special-1.0")]
    SpecialOf10,
    #[serde(rename = "special-0.4")]
    SpecialOf04,
    Pareto,
    Zipfian,
}

/// The table, read.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own, as its users know it")]
pub struct Settings {
    pub test: Test,
    pub mode: Mode,
    pub tables: u32,
    pub table_size: u32,
    pub point_selects: u32,
    pub range_selects: bool,
    pub simple_ranges: u32,
    pub sum_ranges: u32,
    pub order_ranges: u32,
    pub distinct_ranges: u32,
    pub range_size: u32,
    pub index_updates: u32,
    pub non_index_updates: u32,
    pub delete_inserts: u32,
    pub skip_trx: bool,
    pub auto_inc: bool,
    pub secondary: bool,
    pub create_secondary: bool,
    pub random_points: u32,
    pub number_of_ranges: u32,
    pub delta: u32,
    pub segments: u32,
    pub rand_type: RandType,
    pub rand_spec_iter: u32,
    pub rand_spec_pct: u32,
    pub rand_spec_res: u32,
    pub rand_pareto_h: f64,
    pub rand_zipfian_exp: f64,
    /// Mean, in milliseconds.
    pub think: u64,
    pub data_seed: u64,
}

impl Settings {
    /// The form of the distribution of row numbers.
    pub fn shape(&self) -> Shape {
        let special = Special {
            draws: self.rand_spec_iter,
            band_percent: self.rand_spec_pct,
            into_band_percent: self.rand_spec_res,
        };
        match (self.rand_type, self.mode) {
            (RandType::Uniform, _) => Shape::Uniform,
            (RandType::Gaussian, _) => Shape::Gaussian { draws: self.rand_spec_iter },
            (RandType::SpecialOf10, _) | (RandType::Special, Mode::Of10) => Shape::SpecialOf10(special),
            (RandType::SpecialOf04, _) | (RandType::Special, Mode::Of048) => Shape::SpecialOf04(special),
            (RandType::Pareto, _) => Shape::Pareto { h: self.rand_pareto_h },
            (RandType::Zipfian, _) => Shape::Zipfian { exponent: self.rand_zipfian_exp },
        }
    }

    /// Whether the tables are filled before the test; if not, it fills them.
    pub fn begins_with_rows(&self) -> bool {
        match self.test {
            Test::BulkInsert => false,
            Test::Insert => self.auto_inc,
            _ => true,
        }
    }

    /// Keys that are right one by one and not together.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut add = |path: &str, found: String, expected: &str| {
            let (path, expected) = (path.to_owned(), expected.to_owned());
            problems.push(Problem { path, found, expected, nearest: None });
        };
        if self.mode == Mode::Of048 {
            if !matches!(self.test, Test::ReadWrite | Test::ReadOnly | Test::PointSelect) {
                let found = format!("found \"{}\" with mode = \"0.4.8\"", self.test.name());
                add("test", found, "read_write, read_only or point_select, which are its complex and simple modes");
            }
            if self.tables != 1 {
                add("tables", format!("found {} with mode = \"0.4.8\"", self.tables), "1");
            }
        }
        if self.test == Test::Insert && self.secondary && self.auto_inc {
            let found = "found true with secondary = true and test = \"insert\"".to_owned();
            add("auto_inc", found, "false, because not every engine numbers rows without a primary key");
        }
        if self.segments > self.table_size {
            add("segments", format!("found {}", self.segments), "at most table_size");
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, Value, json};

    fn read(table: &Value) -> Settings {
        settings::read(table.as_object().unwrap(), KEYS).unwrap()
    }

    #[test]
    fn special_is_that_of_the_mode_unless_said_otherwise() {
        let special = Special { draws: 12, band_percent: 1, into_band_percent: 75 };
        let defaults: Settings = settings::read(&Map::new(), KEYS).unwrap();
        assert_eq!(defaults.shape(), Shape::SpecialOf10(special));
        assert_eq!(read(&json!({ "mode": "0.4.8" })).shape(), Shape::SpecialOf04(special));
        assert_eq!(read(&json!({ "rand_type": "special-0.4" })).shape(), Shape::SpecialOf04(special));
        assert_eq!(read(&json!({ "rand_type": "zipfian" })).shape(), Shape::Zipfian { exponent: 0.8 });
    }

    #[test]
    fn keys_that_do_not_go_together_are_named() {
        let paths = |table: &Value| read(table).problems().into_iter().map(|problem| problem.path).collect::<Vec<_>>();
        assert!(paths(&json!({})).is_empty());
        assert_eq!(paths(&json!({ "mode": "0.4.8", "test": "delete", "tables": 3 })), ["test", "tables"]);
        assert_eq!(paths(&json!({ "test": "insert", "secondary": true })), ["auto_inc"]);
        assert_eq!(paths(&json!({ "table_size": 5, "segments": 6 })), ["segments"]);
    }
}
