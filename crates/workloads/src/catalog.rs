//! The list of workloads. Adding one takes a folder, its module, and a line here.

use crate::workload::Workload;
use crate::{dvd_store, file, order_entry, slob, sysbench_oltp};
use settings::{Key, Problem};

/// A workload that a study may name.
#[derive(Debug, Clone, Copy)]
pub struct WorkloadEntry {
    pub kind: &'static str,
    /// One sentence for `bakeoff list`.
    pub meaning: &'static str,
    pub keys: &'static [Key],
    pub metric: Metric,
}

/// A workload's throughput figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    pub name: &'static str,
    pub unit: &'static str,
    /// The figure is the number of counted transactions in this time.
    pub per_ms: u64,
}

/// Makes the entries, the enum and its methods from one list. Each item of the list is a folder with a `KIND`, an
/// `ENTRY`, and the workload itself.
#[macro_export]
macro_rules! workloads {
    ($($folder:ident::$made:ident),+ $(,)?) => {
        pub const WORKLOADS: &[$crate::catalog::WorkloadEntry] = &[$($folder::ENTRY),+];

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

            pub fn entry(&self) -> &'static $crate::catalog::WorkloadEntry {
                match self { $(Self::$made(_) => &$folder::ENTRY),+ }
            }

            pub fn kinds(&self) -> &'static [$crate::workload::Kind] {
                match self { $(Self::$made(workload) => $crate::workload::Workload::kinds(&**workload)),+ }
            }

            pub fn actors(&self) -> &'static [$crate::workload::Actor] {
                match self { $(Self::$made(workload) => $crate::workload::Workload::actors(&**workload)),+ }
            }

            /// What is driven where a study asks for this load.
            pub fn script(&self, load: record::script::Phase) -> Vec<record::script::Phase> {
                match self { $(Self::$made(workload) => $crate::workload::Workload::script(&**workload, load)),+ }
            }
        }

        impl $crate::catalog::AnyOf for AnyWorkload {
            fn metric(&self) -> &'static $crate::catalog::Metric {
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
    slob::Slob,
    sysbench_oltp::SysbenchOltp,
    file::OwnTransactions,
}

/// A workload of some list.
pub trait AnyOf {
    fn metric(&self) -> &'static Metric;
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
    Problem {
        path: "kind".to_owned(),
        found: format!("found \"{}\"", kind.escape_debug()),
        expected: known().collect::<Vec<_>>().join(" or "),
        nearest: settings::nearest(kind, known()).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
            assert!(made.dataset().notice().contains("not comparable"));
            assert!(!made.dataset().deviations().is_empty());
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
