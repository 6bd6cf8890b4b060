//! Keys of a sysbench-oltp `[workload]` table, under the names that sysbench's users know.

use crate::random::{DistributionShape, Special};
use serde::Deserialize;
use settings::{Holds, Problem, keys, names};

/// Every id must fit into four signed bytes on every engine.
const ROWS_MAX: i64 = 2_000_000_000;
/// The limit of tables, since every session prepares every statement for every table.
const TABLES_MAX: i64 = 1_000;
/// Values in one statement of `select_random_points` or `select_random_ranges`.
pub const VALUES_MAX: usize = 100;
const POINTS_MAX: i64 = 100;
/// Each range has two values.
const RANGES_MAX: i64 = 50;

const COUNT: Holds = Holds::Integer { min: 0, max: 1_000 };

keys! {
    /// The table, read.
    #[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct SysbenchSettings {
        test: SysbenchTest = "\"read_write\"", Holds::Choice(SysbenchTest::NAMES),
            "what a transaction does; sysbench's oltp_read_write, oltp_read_only and so on, without their first word";
        mode: SysbenchMode = "\"1.0\"", Holds::Choice(SysbenchMode::NAMES),
            "whose rows and transactions: of sysbench 1.0 (14 reads, 4 writes) or 0.4.8 (14 reads, 5 writes, k = 0)";
        tables: u32 = "1", Holds::Integer { min: 1, max: TABLES_MAX }, "tables of the same form; 0.4.8 has only one";
        table_size: u32 = "10000", Holds::Integer { min: 1, max: ROWS_MAX },
            "rows of each table; a million are about 200 MB";
        point_selects: u32 = "10", COUNT, "selects of one row by id in a transaction";
        range_selects: bool = "true", Holds::Boolean,
            "whether transactions have the four kinds of range selects at all";
        simple_ranges: u32 = "1", COUNT, "selects of a range of ids in a transaction";
        sum_ranges: u32 = "1", COUNT, "sums over a range of ids in a transaction";
        order_ranges: u32 = "1", COUNT, "sorted selects of a range of ids in a transaction";
        distinct_ranges: u32 = "1", COUNT, "sorted selects without duplicates of a range of ids in a transaction";
        range_size: u32 = "100", Holds::Integer { min: 1, max: 1_000_000 }, "rows of a range";
        index_updates: u32 = "1", COUNT, "updates of an indexed column in a transaction";
        non_index_updates: u32 = "1", COUNT, "updates of a column without index in a transaction";
        delete_inserts: u32 = "1", COUNT, "rows that a transaction deletes and inserts again";
        skip_trx: bool = "false", Holds::Boolean,
            "whether each statement is a transaction of its own, without BEGIN and COMMIT";
        auto_inc: bool = "true", Holds::Boolean,
            "whether the server numbers new rows; if not, test = \"insert\" begins with empty tables";
        secondary: bool = "false", Holds::Boolean, "whether the id has a plain index instead of a primary key";
        create_secondary: bool = "true", Holds::Boolean, "whether column k has an index";
        random_points: u32 = "10", Holds::Integer { min: 1, max: POINTS_MAX },
            "values of k in one select of select_random_points";
        number_of_ranges: u32 = "10", Holds::Integer { min: 1, max: RANGES_MAX },
            "ranges of k in one select of select_random_ranges";
        delta: u32 = "5", Holds::Integer { min: 0, max: 1_000_000 }, "width of each of these ranges";
        segments: u32 = "1", Holds::Integer { min: 1, max: 1_000_000 },
            "equal segments of k, one for each client in turn, in the two tests before; sysbench has one for each \
             thread";
        rand_type: RandType = "\"special\"", Holds::Choice(RandType::NAMES),
            "how row numbers are drawn; special is that of the mode; state it beside every number";
        rand_spec_iter: u32 = "12", Holds::Integer { min: 1, max: 1_000 },
            "uniform draws whose mean is one gaussian value, also within special";
        rand_spec_pct: u32 = "1", Holds::Integer { min: 1, max: 100 },
            "width of special's hot band in percent of the rows";
        rand_spec_res: u32 = "75", Holds::Integer { min: 0, max: 99 },
            "percent of special's values that are meant for the hot band";
        rand_pareto_h: f64 = "0.2", Holds::Number { min: 0.001, max: 0.999 },
            "h of Pareto: this share of the rows gets all but this share of the draws";
        rand_zipfian_exp: f64 = "0.8", Holds::Number { min: 0.001, max: 100.0 }, "exponent of zipfian";
        /// Mean, in milliseconds.
        think: u64 = "\"0s\"", Holds::Span { min_ms: 0, max_ms: THINKING_MAX_MS },
            "mean time a terminal thinks after a transaction, exponentially spread; sysbench knows no terminals";
        data_seed: u64 = "42", Holds::Integer { min: 0, max: i64::MAX },
            "seed of the rows; a trial's inputs have the study's seed";
    }
}

const THINKING_MAX_MS: u64 = 3_600_000;

names! {
    /// What a transaction does: its kind.
    pub enum SysbenchTest {
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

names! {
    /// The version of sysbench whose rows and transactions these are.
    pub enum SysbenchMode {
        Of10 => "1.0",
        Of048 => "0.4.8",
    }
}

names! {
    /// How row numbers are drawn.
    pub enum RandType {
        Uniform => "uniform",
        Gaussian => "gaussian",
        Special => "special",
        SpecialOf10 => "special-1.0",
        SpecialOf04 => "special-0.4",
        Pareto => "pareto",
        Zipfian => "zipfian",
    }
}

impl SysbenchSettings {
    /// The shape of the distribution of row numbers.
    pub fn shape(&self) -> DistributionShape {
        let special = Special {
            draws: self.rand_spec_iter,
            band_percent: self.rand_spec_pct,
            into_band_percent: self.rand_spec_res,
        };
        match (self.rand_type, self.mode) {
            (RandType::Uniform, _) => DistributionShape::Uniform,
            (RandType::Gaussian, _) => DistributionShape::Gaussian { draws: self.rand_spec_iter },
            (RandType::SpecialOf10, _) | (RandType::Special, SysbenchMode::Of10) => {
                DistributionShape::SpecialOf10(special)
            }
            (RandType::SpecialOf04, _) | (RandType::Special, SysbenchMode::Of048) => {
                DistributionShape::SpecialOf04(special)
            }
            (RandType::Pareto, _) => DistributionShape::Pareto { h: self.rand_pareto_h },
            (RandType::Zipfian, _) => DistributionShape::Zipfian { exponent: self.rand_zipfian_exp },
        }
    }

    /// Whether the tables are filled before the test; otherwise the test fills them.
    pub fn begins_with_rows(&self) -> bool {
        match self.test {
            SysbenchTest::BulkInsert => false,
            SysbenchTest::Insert => self.auto_inc,
            _ => true,
        }
    }

    /// Mistakes in combinations of keys that are right one by one.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut add = |path: &str, found: String, expected: &str| problems.push(Problem::new(path, found, expected));
        if self.mode == SysbenchMode::Of048 {
            if !matches!(self.test, SysbenchTest::ReadWrite | SysbenchTest::ReadOnly | SysbenchTest::PointSelect) {
                let found = format!("found \"{}\" with mode = \"0.4.8\"", self.test.name());
                add("test", found, "read_write, read_only or point_select, which are its complex and simple modes");
            }
            if self.tables != 1 {
                add("tables", format!("found {} with mode = \"0.4.8\"", self.tables), "1");
            }
        }
        if self.test == SysbenchTest::Insert && self.secondary && self.auto_inc {
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

    fn read(table: &Value) -> SysbenchSettings {
        settings::read(table.as_object().unwrap(), KEYS).unwrap()
    }

    #[test]
    fn special_is_that_of_the_mode_unless_said_otherwise() {
        let special = Special { draws: 12, band_percent: 1, into_band_percent: 75 };
        let defaults: SysbenchSettings = settings::read(&Map::new(), KEYS).unwrap();
        assert_eq!(defaults.shape(), DistributionShape::SpecialOf10(special));
        assert_eq!(read(&json!({ "mode": "0.4.8" })).shape(), DistributionShape::SpecialOf04(special));
        assert_eq!(read(&json!({ "rand_type": "special-0.4" })).shape(), DistributionShape::SpecialOf04(special));
        assert_eq!(read(&json!({ "rand_type": "zipfian" })).shape(), DistributionShape::Zipfian { exponent: 0.8 });
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
