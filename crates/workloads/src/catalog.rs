//! The list of workloads. Adding one takes a folder, its module, and a line here.

use crate::entry::{ThroughputMetric, WorkloadEntry};
use crate::workload::Workload;
use crate::{brokerage, decision_support_ds, decision_support_h, dvd_store, file, order_entry, slob, sysbench_oltp};
use settings::Problem;

/// Makes the entries, the enum and its methods from one list. Each item of the list is a folder with a `KIND`, an
/// `ENTRY`, and the workload itself.
#[macro_export]
macro_rules! workloads {
    ($($folder:ident::$made:ident),+ $(,)?) => {
        pub const WORKLOADS: &[$crate::entry::WorkloadEntry] = &[$($folder::ENTRY),+];

        /// One of the workloads, made.
        #[derive(Debug)]
        pub enum AnyWorkload {
            $($made(Box<$folder::$made>)),+
        }

        impl AnyWorkload {
            /// Makes the workload `kind` from its table, without the key "kind".
            pub fn from_table(
                kind: &str,
                table: &serde_json::Map<String, serde_json::Value>,
            ) -> Result<Self, Vec<settings::Problem>> {
                match kind {
                    $($folder::KIND => $folder::$made::from_table(table).map(Box::new).map(Self::$made),)+
                    other => Err(vec![$crate::catalog::unknown_kind(other, WORKLOADS)]),
                }
            }

            pub fn dataset(&self) -> &dyn $crate::dataset::Dataset {
                match self { $(Self::$made(workload) => &**workload),+ }
            }

            pub fn entry(&self) -> &'static $crate::entry::WorkloadEntry {
                match self { $(Self::$made(_) => &$folder::ENTRY),+ }
            }

            pub fn kinds(&self) -> &'static [$crate::workload::TransactionKind] {
                match self { $(Self::$made(workload) => $crate::workload::Workload::kinds(&**workload)),+ }
            }

            pub fn has_own_sql(&self) -> bool {
                match self { $(Self::$made(_) => <$folder::$made as $crate::workload::Workload>::OWN_SQL),+ }
            }

            pub fn actors(&self) -> &'static [$crate::workload::Actor] {
                match self { $(Self::$made(workload) => $crate::workload::Workload::actors(&**workload)),+ }
            }

            /// What is driven where a study asks for this load.
            pub fn script(&self, load: record::script::LoadPhase) -> Vec<record::script::LoadPhase> {
                match self { $(Self::$made(workload) => $crate::workload::Workload::script(&**workload, load)),+ }
            }
        }

        impl $crate::catalog::AnyOf for AnyWorkload {
            fn metric(&self) -> &'static $crate::entry::ThroughputMetric {
                &self.entry().metric
            }

            fn visit<V: $crate::catalog::WorkloadVisitor>(&self, visitor: V) -> V::Answer {
                match self { $(Self::$made(workload) => visitor.visit(&**workload)),+ }
            }
        }
    };
}

workloads! {
    order_entry::OrderEntry,
    dvd_store::DvdStore,
    brokerage::Brokerage,
    slob::Slob,
    sysbench_oltp::SysbenchOltp,
    decision_support_h::DecisionSupportH,
    decision_support_ds::DecisionSupportDs,
    file::OwnTransactions,
}

/// A workload of some list.
pub trait AnyOf {
    fn metric(&self) -> &'static ThroughputMetric;
    /// Picks the concrete type once; the visitor then runs code made for that workload alone.
    fn visit<V: WorkloadVisitor>(&self, visitor: V) -> V::Answer;
}

/// Code that runs on a workload of any type.
pub trait WorkloadVisitor {
    type Answer;
    fn visit<W: Workload>(self, workload: &W) -> Self::Answer;
}

/// The workload called `kind`, if there is one.
pub fn entry(kind: &str) -> Option<&'static WorkloadEntry> {
    WORKLOADS.iter().find(|entry| entry.kind == kind)
}

/// The problem that the list has no workload of this kind.
pub fn unknown_kind(kind: &str, list: &[WorkloadEntry]) -> Problem {
    let known = || list.iter().map(|entry| entry.kind);
    let (found, expected) = (format!("found \"{}\"", kind.escape_debug()), known().collect::<Vec<_>>().join(" or "));
    let nearest = settings::nearest(kind, known()).map(str::to_owned);
    Problem { nearest, ..Problem::new("kind", found, expected) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::TextRows;
    use crate::dataset::{DataTable, TablePart};
    use engines::statement::Dialect;
    use serde_json::{Map, Value, json};

    fn table(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn every_entry_is_found_and_made_from_its_defaults() {
        let scripts = table(&json!({ "scripts": [{ "name": "one", "text": "SELECT 1" }] }));
        for listed in WORKLOADS {
            let given = if listed.kind == "file" { scripts.clone() } else { Map::new() };
            let made = AnyWorkload::from_table(listed.kind, &given).unwrap();
            assert_eq!(made.entry().kind, listed.kind);
            assert_eq!(entry(listed.kind).unwrap().metric, listed.metric);
            assert!(made.entry().notice.contains("not comparable"));
            assert!(!made.dataset().deviations().is_empty());
        }
    }

    /// Everything that loading puts into a database, but only the first rows of each table.
    fn loaded(kind: &str, settings: &Map<String, Value>) -> Vec<String> {
        let made = AnyWorkload::from_table(kind, settings).unwrap();
        let dataset = made.dataset();
        let scripts = [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql]
            .map(|dialect| dataset.schema(dialect) + &dataset.finish(dialect));
        let of_table = |table: &DataTable| {
            let mut rows = TextRows::default();
            dataset.rows(&table.name, TablePart { index: 0, count: 1 }).fill(&mut rows);
            format!(
                "{table:?} {} {:?} {}",
                dataset.expected_rows(table),
                dataset.highest_keys(table),
                String::from_utf8_lossy(rows.bytes())
            )
        };
        scripts.into_iter().chain(dataset.tables().iter().map(of_table)).collect()
    }

    #[test]
    fn keys_of_driving_change_nothing_that_is_loaded() {
        let shop = json!({
            "n_searches": 1, "search_batch_size": 2, "n_line_items": 3, "pct_newcustomers": 4, "think_time": "5ms", "n_reviews": 6,
            "pct_newmember": 7, "pct_newreviews": 8, "pct_newhelpfulness": 9, "search_depth": 10, "statements": "pipelined"
        });
        let slob = json!({
            "threads_per_schema": 2, "work_unit": 3, "update_pct": 4, "scan_pct": 5, "redo_stress": "heavy", "do_hotspot": true,
            "hotspot_mb": 6, "hotspot_offset_mb": 7, "hotspot_frequency": 8, "hot_schema_frequency": 9, "think_tm_frequency": 10,
            "think_tm_min": "11ms", "think_tm_max": "12ms"
        });
        let sysbench = json!({
            "test": "write_only", "point_selects": 1, "range_selects": false, "simple_ranges": 2, "sum_ranges": 3,
            "order_ranges": 4, "distinct_ranges": 5, "range_size": 6, "index_updates": 7, "non_index_updates": 8,
            "delete_inserts": 9, "skip_trx": true, "random_points": 11, "number_of_ranges": 12, "delta": 13, "think": "14ms"
        });
        let given = [
            ("order-entry", json!({ "warehouses": 1 }), json!({ "delivery": "inline", "statements": "pipelined" })),
            (
                "brokerage",
                json!({ "initial_trade_days": 5, "scale_factor": 20_000 }),
                json!({ "statements": "pipelined" }),
            ),
            ("dvd-store", json!({ "db_size": "1MB", "version": 3 }), shop),
            ("slob", json!({ "schemas": 2 }), slob),
            ("sysbench-oltp", json!({ "tables": 2 }), sysbench),
            ("decision-support-h", json!({ "scale": 0.01 }), json!({ "streams": 3, "query_limit": "5s" })),
            ("decision-support-ds", json!({ "scale": 0.01 }), json!({ "streams": 2, "query_limit": "5s" })),
        ];
        for (kind, base, other) in given {
            let (base, other) = (table(&base), table(&other));
            assert!(entry(kind).unwrap().driving_keys.iter().copied().eq(other.keys().map(String::as_str)), "{kind}");
            let changed: Map<_, _> = base.clone().into_iter().chain(other).collect();
            assert!(loaded(kind, &base) == loaded(kind, &changed), "{kind}");
        }
    }

    #[test]
    fn a_misspelt_workload_is_told_its_nearest() {
        let problems = AnyWorkload::from_table("order-entri", &Map::new()).unwrap_err();
        assert_eq!(problems[0].nearest.as_deref(), Some("order-entry"));
    }

    #[test]
    fn all_wrong_keys_are_told_at_once() {
        let wrong = table(&json!({ "warehouses": 0, "delivery": "later", "warehuoses": 1 }));
        let problems = AnyWorkload::from_table("order-entry", &wrong).unwrap_err();
        let paths: std::collections::BTreeSet<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, ["delivery", "warehouses", "warehuoses"].into());
    }
}
