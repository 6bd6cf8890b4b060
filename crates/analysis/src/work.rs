//! Whether the contenders did the same work for each transaction. If not, their speeds are not comparable.

use crate::cells;
use record::run::Run;
use record::trial::Work;
use serde::{Deserialize, Serialize};

/// A difference in work that is tolerated however many transactions there were. Contenders of a block get the same
/// inputs but do not get equally far through them, and old orders differ from new ones.
pub const TOLERANCE: f64 = 0.02;

/// The work of single transactions varies about as much as its mean, since kinds differ so much. A mean of few is
/// therefore uncertain, and by how much is tolerated in addition.
const SPREAD: f64 = 1.0;

/// Differences of means this many standard errors large are still put down to chance.
const STANDARD_ERRORS: f64 = 2.0;

/// Work for each transaction of all contenders under the same scenario and swept values. Plain readings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkComparison {
    pub coordinates: String,
    /// The largest share by which any two contenders were allowed to differ.
    pub tolerance: f64,
    pub contenders: Vec<WorkReading>,
    /// What differs by more than the tolerance, each a sentence; empty if the work was equal.
    pub unequal: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkReading {
    pub contender: String,
    pub transactions: u64,
    pub statements: f64,
    pub rows_returned: f64,
    pub rows_changed: f64,
}

pub fn all(run: &Run) -> Vec<WorkComparison> {
    let groups = cells::groups(&run.plan).into_iter();
    let compared = groups.map(|group| {
        let readings = group.cells.iter().filter_map(|cell| {
            let drivers = cells::sound(run, cell.id).filter_map(|trial| trial.record.driver.as_ref());
            let baseline = cell.baseline;
            reading(&cell.contender, drivers.map(|driver| driver.work)).map(|reading| (baseline, reading))
        });
        compare(group.coordinates, readings.collect())
    });
    compared.filter(|comparison| !comparison.contenders.is_empty()).collect()
}

fn reading(contender: &str, parts: impl Iterator<Item = Work>) -> Option<WorkReading> {
    let sum = parts.fold(Work::default(), |sum, part| Work {
        transactions: sum.transactions + part.transactions,
        statements: sum.statements + part.statements,
        rows_returned: sum.rows_returned + part.rows_returned,
        rows_changed: sum.rows_changed + part.rows_changed,
    });
    let each = |count: u64| count as f64 / sum.transactions as f64;
    (sum.transactions > 0).then(|| WorkReading {
        contender: contender.to_owned(),
        transactions: sum.transactions,
        statements: each(sum.statements),
        rows_returned: each(sum.rows_returned),
        rows_changed: each(sum.rows_changed),
    })
}

/// What one cell did differently for each transaction in two runs, in words.
pub fn between_runs(old: impl Iterator<Item = Work>, new: impl Iterator<Item = Work>) -> Vec<String> {
    match (reading("the old run", old), reading("the new run", new)) {
        (Some(old), Some(new)) => differences(&old, &new, tolerance(old.transactions, new.transactions)),
        _ => Vec::new(),
    }
}

/// Compares each reading with the baseline's, or with the first if the baseline has none.
fn compare(coordinates: String, readings: Vec<(bool, WorkReading)>) -> WorkComparison {
    let reference = readings.iter().position(|(baseline, _)| *baseline).unwrap_or(0);
    let contenders: Vec<WorkReading> = readings.into_iter().map(|(_, reading)| reading).collect();
    let (mut unequal, mut largest) = (Vec::new(), TOLERANCE);
    if let Some(base) = contenders.get(reference) {
        for other in contenders.iter().filter(|other| other.contender != base.contender) {
            let tolerance = tolerance(base.transactions, other.transactions);
            largest = tolerance.max(largest);
            unequal.extend(differences(base, other, tolerance));
        }
    }
    WorkComparison { coordinates, tolerance: largest, contenders, unequal }
}

/// What differs by more than is tolerated, in words.
fn differences(base: &WorkReading, other: &WorkReading, tolerance: f64) -> Vec<String> {
    let pairs = [
        ("statements", base.statements, other.statements),
        ("rows returned", base.rows_returned, other.rows_returned),
        ("rows changed", base.rows_changed, other.rows_changed),
    ];
    let differing = pairs.into_iter().filter(|&(_, one, two)| (one - two).abs() > tolerance * one.max(two));
    let sentence = |(what, one, two): (&str, f64, f64)| {
        let (first, second) = (&base.contender, &other.contender);
        format!("{what} per transaction: {one:.2} on {first}, {two:.2} on {second}")
    };
    differing.map(sentence).collect()
}

/// The share by which means over this many transactions may differ.
fn tolerance(transactions: u64, others: u64) -> f64 {
    let chance = SPREAD * (1.0 / transactions as f64 + 1.0 / others as f64).sqrt();
    TOLERANCE + STANDARD_ERRORS * chance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(transactions: u64, statements: u64) -> impl Iterator<Item = Work> {
        std::iter::once(Work { transactions, statements, rows_returned: 0, rows_changed: 0 })
    }

    /// 200 requests of sysbench's classic transaction are 20 for each of 10 transactions.
    #[test]
    fn work_is_counted_for_each_transaction() {
        let reading = reading("a", work(10, 200)).unwrap();
        assert_eq!(reading.statements.to_bits(), 20.0_f64.to_bits());
        assert_eq!(super::reading("a", work(0, 0)), None);
    }

    #[test]
    fn a_difference_beyond_the_tolerance_is_named() {
        let of = |name: &str, statements| reading(name, work(1_000_000, statements)).unwrap();
        let near = compare(String::new(), vec![(true, of("native", 20_000_000)), (false, of("kvm", 20_300_000))]);
        assert_eq!(near.unequal, Vec::<String>::new());
        let far = compare(String::new(), vec![(false, of("kvm", 21_000_000)), (true, of("native", 20_000_000))]);
        assert_eq!(far.unequal, ["statements per transaction: 20.00 on native, 21.00 on kvm"]);
    }

    /// Two standard errors of a difference of means over 200 transactions each, with a spread as large as the mean,
    /// are 2 · √(1/200 + 1/200) = 0.2.
    #[test]
    fn few_transactions_are_given_their_chance() {
        assert!((tolerance(200, 200) - 0.22).abs() < 1e-12);
        let of = |name: &str, statements| reading(name, work(200, statements)).unwrap();
        let chance = compare(String::new(), vec![(true, of("native", 4000)), (false, of("kvm", 4400))]);
        assert_eq!(chance.unequal, Vec::<String>::new());
    }
}
