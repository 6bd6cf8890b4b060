//! Whether each transaction cost the same on all sides: statements and rows, reads, writes and redo. If not, a ratio of
//! throughputs is not the price of the same work.
//!
//! Statements must agree almost exactly, since they are the workload's. What reaches a device need not: caches differ,
//! neighbouring writes are merged, and commits share flushes. A slower side also spreads one-time work (reading what is
//! not cached yet, writing whole pages after a checkpoint) over fewer transactions. So its tolerance is wide, it varies between
//! blocks, and a difference counts only if the whole interval over the blocks is beyond the tolerance.

use crate::contrast::Contrast;
use crate::findings::{Finding, UnequalWork, What};
use crate::gathered::by_first;
use crate::groups;
use crate::measures::Scale;
use crate::measures::work::{
    READ_BYTES, READS, REDO_BYTES, ROWS_CHANGED, ROWS_RETURNED, STATEMENTS, WRITES, WRITTEN_BYTES,
};
use crate::observations::{MeasuredValues, Observations};
use crate::pairing::Pairing;
use record::run::Run;
use serde::{Deserialize, Serialize};

/// How much one measure may differ.
pub struct WorkRule {
    pub measure: &'static str,
    /// As a share of the larger side, however many transactions there were. Contenders of a block get the same inputs
    /// but do not get equally far through them, and old orders differ from new ones.
    pub tolerance: f64,
    /// A smaller difference per transaction does not count as work.
    at_least: f64,
    kind: WorkKind,
}

/// Whose work it is: of the statements that a transaction consists of, or of what stores their data.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WorkKind {
    Statements,
    Storage,
}

const fn rule(measure: &'static str, tolerance: f64, (kind, at_least): (WorkKind, f64)) -> WorkRule {
    WorkRule { measure, tolerance, at_least, kind }
}

/// One operation in ten transactions, and a small page.
const OPERATIONS: (WorkKind, f64) = (WorkKind::Storage, 0.1);
const BYTES: (WorkKind, f64) = (WorkKind::Storage, 1_024.0);
const ANY: (WorkKind, f64) = (WorkKind::Statements, 0.0);

/// By how much statements and rows of a transaction may differ.
pub const OF_STATEMENTS: f64 = 0.02;

/// Redo is written by the database itself, with no cache in between.
pub const RULES: [WorkRule; 8] = [
    rule(STATEMENTS, OF_STATEMENTS, ANY),
    rule(ROWS_RETURNED, OF_STATEMENTS, ANY),
    rule(ROWS_CHANGED, OF_STATEMENTS, ANY),
    rule(READS, 0.25, OPERATIONS),
    rule(READ_BYTES, 0.25, BYTES),
    rule(WRITES, 0.25, OPERATIONS),
    rule(WRITTEN_BYTES, 0.25, BYTES),
    rule(REDO_BYTES, 0.10, BYTES),
];

/// The work of single transactions varies about as much as its mean, since kinds differ so much. Differences of means
/// up to this many standard errors are still attributed to chance.
const STANDARD_ERRORS: f64 = 2.0;

/// A measure that differs by more than is tolerated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unequal {
    pub coordinates: String,
    #[serde(flatten)]
    pub work: UnequalWork,
}

/// Compares each contender with the baseline of its group, or with the first if there is none.
pub fn all(run: &Run, observations: &Observations) -> Vec<Unequal> {
    let mut found = Vec::new();
    for group in groups::of_plan(&run.plan) {
        for [base, other] in group.base().into_iter().flat_map(|base| group.beside(base)) {
            let pairing = Pairing::of(run, base, other);
            let unequal =
                differing((observations, base.id), (observations, other.id), |_, measured| measured.paired(&pairing));
            found.extend(unequal.map(|(rule, values, tolerance)| Unequal {
                coordinates: group.coordinates.clone(),
                work: UnequalWork {
                    measure: rule.measure.to_owned(),
                    baseline: base.contender.clone(),
                    contender: other.contender.clone(),
                    of_baseline: values[0],
                    of_contender: values[1],
                    tolerance,
                },
            }));
        }
    }
    found
}

/// The rules that two cells break, with the values of both and the tolerated share. `against` compares the second with the first.
pub fn differing<'a>(
    one: (&'a Observations, u32),
    other: (&'a Observations, u32),
    against: impl Fn(&MeasuredValues, &MeasuredValues) -> Option<Contrast> + 'a,
) -> impl Iterator<Item = (&'static WorkRule, [f64; 2], f64)> + 'a {
    RULES.iter().filter_map(move |rule| {
        let measured = [one.0.measure(rule.measure)?, other.0.measure(rule.measure)?];
        let [(base, transactions), (own, others)] = [read(measured[0], one.1)?, read(measured[1], other.1)?];
        let tolerance = match rule.kind {
            WorkKind::Statements => rule.tolerance + STANDARD_ERRORS * (1.0 / transactions + 1.0 / others).sqrt(),
            WorkKind::Storage => rule.tolerance,
        };
        let most = base.max(own);
        let apart = match rule.kind {
            WorkKind::Statements => (base - own).abs(),
            WorkKind::Storage => surely_apart(&against(measured[0], measured[1])?, most)?,
        };
        (apart > rule.at_least && apart > tolerance * most).then_some((rule, [base, own], tolerance))
    })
}

/// How far two sides are apart at least, of which the larger does this much. `None` if that is not known, or may be nothing.
fn surely_apart(contrast: &Contrast, most: f64) -> Option<f64> {
    let (low, high) = contrast.estimate.bounds.known()?;
    let nearest = if low > contrast.neutral() { low } else { high };
    match contrast.scale {
        _ if (low..=high).contains(&contrast.neutral()) => None,
        Scale::Ratio => Some(most * (1.0 - nearest.min(1.0 / nearest))),
        Scale::Difference | Scale::Proportion => Some(nearest.abs()),
    }
}

/// The mean of a cell, and the number of transactions behind it.
fn read(measured: &MeasuredValues, cell: u32) -> Option<(f64, f64)> {
    let transactions: u64 = measured.of_cell(cell).filter_map(|one| one.n).sum();
    Some((measured.level(cell)?.estimate.point, transactions as f64))
}

/// Findings for each group: differences in the workload's own work and in storage work separately.
pub fn findings(unequal: &[Unequal]) -> Vec<Finding> {
    let of_storage =
        |work: &UnequalWork| RULES.iter().any(|rule| rule.measure == work.measure && rule.kind == WorkKind::Storage);
    let each = unequal.iter().map(|one| ((of_storage(&one.work), one.coordinates.as_str()), one.work.clone()));
    let finding = |((of_storage, place), work): ((bool, &str), Vec<UnequalWork>)| {
        let what = if of_storage { What::DiskWorkUnequal { work } } else { What::WorkUnequal { work } };
        Finding::new(what).at(place)
    };
    by_first(each).into_iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::CATALOG;
    use record::looks::{DatabaseCounts, DeviceCounts, Reading};
    use record::synthetic;

    /// Sets what the device counted, and the redo written, between the looks of each trial of a contender.
    fn counted(run: &mut Run, cell: u32, counts: &DeviceCounts, redo: u64) {
        for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == cell) {
            let looks = trial.looks.as_mut().unwrap();
            looks.start.device = Reading::Known(DeviceCounts::default());
            looks.end.device = Reading::Known(counts.clone());
            let log = |bytes| DatabaseCounts { log_bytes: Some(bytes), ..Default::default() };
            (looks.start.database, looks.end.database) = (Reading::Known(log(5)), Reading::Known(log(5 + redo)));
            let driver = trial.record.driver.as_mut().unwrap();
            // A hundred thousand transactions, in a window as long as the time between the looks.
            driver.kinds.truncate(1);
            (driver.kinds[0].committed, driver.kinds[0].rolled_back) = (99_000, 1_000);
            driver.measured_ms = looks.span_ns() / 1_000_000;
        }
    }

    fn counts(reads: u64, writes: u64, write_bytes: u64) -> DeviceCounts {
        DeviceCounts { reads, writes, write_bytes, ..DeviceCounts::default() }
    }

    fn unequal(run: &Run) -> Vec<Unequal> {
        all(run, &Observations::of_run(run, CATALOG))
    }

    #[test]
    fn storage_work_is_counted_for_each_transaction() {
        let mut run = synthetic::run(3);
        counted(&mut run, 0, &counts(5_000, 750_000, 8_000_000_000), 640_000_000);
        let observations = Observations::of_run(&run, CATALOG);
        for (measure, expected) in
            [(READS, 0.05), (WRITES, 7.5), (WRITTEN_BYTES, 80_000.0), (REDO_BYTES, 6_400.0), (READ_BYTES, 0.0)]
        {
            let found = read(observations.measure(measure).unwrap(), 0).unwrap();
            assert!((found.0 - expected).abs() < 1e-9 && (found.1 - 300_000.0).abs() < 1e-6, "{measure}: {found:?}");
        }
    }

    #[test]
    fn differences_beyond_the_tolerance_are_told_and_small_ones_are_not() {
        let mut run = synthetic::run(3);
        counted(&mut run, 0, &counts(1_000, 750_000, 8_000_000_000), 640_000_000);
        counted(&mut run, 1, &counts(5_000, 850_000, 9_000_000_000), 660_000_000);
        assert_eq!(unequal(&run), [], "four times as many reads, but a twentieth of one");
        counted(&mut run, 1, &counts(200_000, 1_100_000, 9_000_000_000), 800_000_000);
        let found = findings(&unequal(&run));
        let [Finding { what: What::DiskWorkUnequal { work }, .. }] = found.as_slice() else { panic!("{found:?}") };
        let measures: Vec<&str> = work.iter().map(|one| one.measure.as_str()).collect();
        assert_eq!(measures, [READS, WRITES, REDO_BYTES]);
        assert!((work[0].of_baseline - 0.01).abs() < 1e-9 && (work[0].of_contender - 2.0).abs() < 1e-9, "{work:?}");
        assert!((work[0].tolerance - 0.25).abs() < 1e-9 && (work[2].tolerance - 0.1).abs() < 1e-9, "{work:?}");
    }

    #[test]
    fn what_one_side_does_not_count_is_not_compared() {
        let mut run = synthetic::run(3);
        counted(&mut run, 0, &counts(1_000, 750_000, 8_000_000_000), 640_000_000);
        counted(&mut run, 1, &counts(900_000, 9, 9), 1);
        for guest in run.trials.iter_mut().filter(|trial| trial.record.cell == 1) {
            let looks = guest.looks.as_mut().unwrap();
            looks.end.device = Reading::Unavailable("it is a tmpfs".to_owned());
            looks.end.database = Reading::Unavailable("it was not asked".to_owned());
        }
        assert_eq!(unequal(&run), []);
    }

    /// There are 20 statements on one side; a fiftieth more is tolerated, a twentieth is not. With few transactions the means
    /// differ by chance: two standard errors over 200 each, with a spread as large as the mean, are 2 · √(1/200 + 1/200) = 0.2.
    #[test]
    fn statements_must_be_equal_as_far_as_chance_allows() {
        let of = |transactions: u64, statements: u64| {
            let mut run = synthetic::run(1);
            for trial in &mut run.trials {
                let work = &mut trial.record.driver.as_mut().unwrap().work;
                (work.transactions, work.rows_returned, work.rows_changed) = (transactions, 0, 0);
                work.statements = transactions * if trial.record.cell == 0 { 20 } else { statements };
            }
            unequal(&run)
        };
        assert_eq!(of(1_000_000, 20), []);
        let more = of(1_000_000, 21);
        let work = &more[0].work;
        assert!((work.of_baseline - 20.0).abs() < 1e-9 && (work.of_contender - 21.0).abs() < 1e-9, "{work:?}");
        assert!((more[0].work.tolerance - 0.023).abs() < 1e-3, "{more:?}");
        assert!(matches!(findings(&more)[..], [Finding { what: What::WorkUnequal { .. }, .. }]));
        assert_eq!(of(200, 22), []);
        assert_eq!(of(200, 26).len(), 1);
    }
}
