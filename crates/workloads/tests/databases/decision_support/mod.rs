//! Decision support from an empty database to checked answers.

use crate::database::Database;
use record::check::{CheckResult, Moment};
use workloads::checksum;
use workloads::dataset::{Dataset, Part};
use workloads::decision_support_h::{DecisionSupportH, Scale, Settings};

pub fn made(scale: f64) -> DecisionSupportH {
    DecisionSupportH::new(Settings::plain(Scale::of(scale).unwrap())).unwrap()
}

pub fn load_and_check(database: &Database) {
    let workload = made(0.01);
    load(database, &workload);
    all_hold(&workload.check(database.admin().as_mut(), database.dialect(), Moment::AfterLoad).unwrap());
}

/// Loads in uneven parts, and tables before those that they refer to, as parallel loading may. On every engine, the stored rows
/// must equal what the generator makes as one part.
fn load(database: &Database, workload: &DecisionSupportH) {
    let mut admin = database.admin();
    admin.script(&workload.schema(database.dialect())).unwrap();
    for table in workload.tables().iter().rev() {
        let loaded: u64 = (0..3).map(|index| database.load(workload, table, Part { index, count: 3 })).sum();
        assert_eq!(loaded, workload.expected_rows(table), "{}", table.name);
    }
    workload.finish_over(admin.as_mut(), database.dialect()).unwrap();
    admin.settle().unwrap();
    for table in workload.tables() {
        let stored = checksum::stored(admin.as_mut(), table).unwrap();
        assert_eq!(stored, checksum::expected(workload, table, 2), "{}", table.name);
    }
}

fn all_hold(findings: &[CheckResult]) {
    let violated: Vec<_> = findings.iter().filter(|finding| finding.is_violated()).collect();
    assert!(violated.is_empty(), "{violated:#?}");
}
