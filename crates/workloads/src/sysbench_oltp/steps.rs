//! The statements of one transaction of the chosen test, and how many queries of each sort they make.

use super::settings::{SysbenchMode, SysbenchSettings, SysbenchTest};

/// How often each group of statements is executed, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Steps {
    /// Whether the statements are between BEGIN and COMMIT.
    pub in_transaction: bool,
    pub point_selects: u32,
    pub simple_ranges: u32,
    pub sum_ranges: u32,
    pub order_ranges: u32,
    pub distinct_ranges: u32,
    pub index_updates: u32,
    pub non_index_updates: u32,
    pub delete_inserts: u32,
    /// 0.4.8 updates a row's k before it deletes and inserts that row again.
    pub updates_before_delete: bool,
    pub deletes: u32,
    pub inserts: u32,
    pub random_points: u32,
    pub random_ranges: u32,
    pub bulk_inserts: u32,
}

/// Queries of one transaction, sorted as sysbench counts them when every change finds its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queries {
    /// Queries that return rows.
    pub reads: u32,
    /// Queries that change rows.
    pub writes: u32,
    /// All others: BEGIN, COMMIT, and changes that find no row.
    pub others: u32,
}

impl Steps {
    pub fn of(settings: &SysbenchSettings) -> Self {
        let reads = matches!(settings.test, SysbenchTest::ReadWrite | SysbenchTest::ReadOnly);
        let writes = matches!(settings.test, SysbenchTest::ReadWrite | SysbenchTest::WriteOnly);
        let if_reads = |count: u32| if reads { count } else { 0 };
        let if_ranges = |count: u32| if reads && settings.range_selects { count } else { 0 };
        let if_writes = |count: u32| if writes { count } else { 0 };
        let several = Self {
            in_transaction: (reads || writes) && !settings.skip_trx,
            point_selects: if_reads(settings.point_selects),
            simple_ranges: if_ranges(settings.simple_ranges),
            sum_ranges: if_ranges(settings.sum_ranges),
            order_ranges: if_ranges(settings.order_ranges),
            distinct_ranges: if_ranges(settings.distinct_ranges),
            index_updates: if_writes(settings.index_updates),
            non_index_updates: if_writes(settings.non_index_updates),
            delete_inserts: if_writes(settings.delete_inserts),
            updates_before_delete: settings.mode == SysbenchMode::Of048,
            ..Self::default()
        };
        match settings.test {
            SysbenchTest::ReadWrite | SysbenchTest::ReadOnly | SysbenchTest::WriteOnly => several,
            SysbenchTest::PointSelect => Self { point_selects: 1, ..several },
            SysbenchTest::UpdateIndex => Self { index_updates: settings.index_updates, ..several },
            SysbenchTest::UpdateNonIndex => Self { non_index_updates: settings.non_index_updates, ..several },
            SysbenchTest::Insert => Self { inserts: 1, ..several },
            SysbenchTest::Delete => Self { deletes: 1, ..several },
            SysbenchTest::SelectRandomPoints => Self { random_points: 1, ..several },
            SysbenchTest::SelectRandomRanges => Self { random_ranges: 1, ..several },
            SysbenchTest::BulkInsert => Self { bulk_inserts: 1, ..several },
        }
    }

    pub fn queries(&self) -> Queries {
        let ranges = self.simple_ranges + self.sum_ranges + self.order_ranges + self.distinct_ranges;
        let for_each_row = 2 + u32::from(self.updates_before_delete);
        Queries {
            reads: self.point_selects + ranges + self.random_points + self.random_ranges,
            writes: self.index_updates
                + self.non_index_updates
                + for_each_row * self.delete_inserts
                + self.deletes
                + self.inserts
                + self.bulk_inserts,
            others: 2 * u32::from(self.in_transaction),
        }
    }

    /// Whether others may find a row missing: deleted for good, or deleted and inserted again by separate transactions.
    pub fn leaves_gaps(&self) -> bool {
        self.deletes > 0 || self.delete_inserts > 0 && !self.in_transaction
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sysbench_oltp::settings::KEYS;
    use serde_json::{Value, json};

    fn queries(table: &Value) -> (u32, u32, u32) {
        let settings: SysbenchSettings = settings::read(table.as_object().unwrap(), KEYS).unwrap();
        let Queries { reads, writes, others } = Steps::of(&settings).queries();
        (reads, writes, others)
    }

    #[test]
    fn each_test_has_the_queries_it_is_known_for() {
        for (test, expected) in [
            ("read_write", (14, 4, 2)),
            ("read_only", (14, 0, 2)),
            ("write_only", (0, 4, 2)),
            ("point_select", (1, 0, 0)),
            ("update_index", (0, 1, 0)),
            ("update_non_index", (0, 1, 0)),
            ("insert", (0, 1, 0)),
            ("delete", (0, 1, 0)),
            ("select_random_points", (1, 0, 0)),
            ("select_random_ranges", (1, 0, 0)),
            ("bulk_insert", (0, 1, 0)),
        ] {
            assert_eq!(queries(&json!({ "test": test })), expected, "{test}");
        }
        assert_eq!(queries(&json!({ "mode": "0.4.8" })), (14, 5, 2));
        assert_eq!(queries(&json!({ "mode": "0.4.8", "test": "read_only" })), (14, 0, 2));
    }

    #[test]
    fn options_change_what_they_say() {
        assert_eq!(queries(&json!({ "skip_trx": true })), (14, 4, 0));
        assert_eq!(queries(&json!({ "range_selects": false })), (10, 4, 2));
        assert_eq!(queries(&json!({ "point_selects": 1, "sum_ranges": 3, "delete_inserts": 5 })), (7, 12, 2));
        assert_eq!(queries(&json!({ "test": "update_index", "index_updates": 7 })), (0, 7, 0));
        assert_eq!(queries(&json!({ "test": "read_only", "index_updates": 7 })), (14, 0, 2));
    }
}
