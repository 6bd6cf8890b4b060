//! Whether each transaction cost as much reading, writing and redo on all sides, by the two looks within the window.
//!
//! Statements must agree nearly exactly, since they are the workload's. What reaches a device need not: caches differ,
//! neighbouring writes are merged, commits share flushes, and a slower side spreads what is done once (reading what is not
//! cached yet, writing whole pages after a checkpoint) over fewer transactions. So the tolerance is wide, and beyond it a
//! ratio of throughputs is no longer the price of the same work.

use crate::cells::{self, Group};
use crate::warnings::{Warning, at, serious};
use record::looks::Looks;
use record::run::{Run, StoredTrial};
use record::trial::KindTotals;
use serde::{Deserialize, Serialize};

/// By how much operations and bytes of the device may differ.
pub const DEVICE_TOLERANCE: f64 = 0.25;

/// By how much redo may differ. It is the database's own, and no cache is in between.
pub const REDO_TOLERANCE: f64 = 0.10;

/// Means of few transactions differ by chance: two standard errors, with a spread as large as the mean.
const STANDARD_ERRORS: f64 = 2.0;

/// A difference of less than this per transaction is no work: one operation in ten transactions, …
const OPERATIONS_AT_LEAST: f64 = 0.1;
/// … or this many bytes, a small page.
const BYTES_AT_LEAST: f64 = 1_024.0;

const NANOS_PER_MILLI: f64 = 1e6;

/// All contenders under the same scenario and swept values. Plain readings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StorageWork {
    pub coordinates: String,
    pub contenders: Vec<StorageReading>,
    /// What differs by more than is tolerated, each a sentence; empty if nothing does.
    pub unequal: Vec<String>,
}

/// Per transaction, over the sound trials; `None` if it was not counted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StorageReading {
    pub contender: String,
    /// Between the looks.
    pub transactions: f64,
    pub reads: Option<f64>,
    pub read_bytes: Option<f64>,
    pub writes: Option<f64>,
    pub written_bytes: Option<f64>,
    pub redo_bytes: Option<f64>,
}

pub fn all(run: &Run) -> Vec<StorageWork> {
    let groups = cells::groups(&run.plan);
    groups.iter().map(|group| of_group(run, group)).filter(|found| !found.contenders.is_empty()).collect()
}

fn of_group(run: &Run, group: &Group<'_>) -> StorageWork {
    let readings = group.cells.iter().filter_map(|cell| {
        let looks: Vec<(f64, &Looks)> = cells::sound(run, cell.id).filter_map(transactions_and_looks).collect();
        reading(&cell.contender, &looks).map(|reading| (cell.baseline, reading))
    });
    compare(group.coordinates.clone(), readings.collect())
}

/// A trial's looks with the number of transactions between them, at the rate of its window.
fn transactions_and_looks(trial: &StoredTrial) -> Option<(f64, &Looks)> {
    let (driver, looks) = (trial.record.driver.as_ref()?, trial.looks.as_ref()?);
    let finished: u64 = driver.kinds.iter().map(KindTotals::finished).sum();
    let window_ns = driver.measured_ms as f64 * NANOS_PER_MILLI;
    let transactions = finished as f64 * looks.span_ns() as f64 / window_ns;
    (transactions.is_finite() && transactions > 0.0).then_some((transactions, looks))
}

fn reading(contender: &str, trials: &[(f64, &Looks)]) -> Option<StorageReading> {
    let transactions: f64 = trials.iter().map(|(transactions, _)| transactions).sum();
    // Only if every trial has it: a mean over others than the transactions it is divided by would be wrong.
    let each = |of: &dyn Fn(&Looks) -> Option<u64>| {
        let counted: Option<f64> = trials.iter().map(|(_, looks)| of(looks).map(|counted| counted as f64)).sum();
        counted.map(|counted| counted / transactions)
    };
    let device = |of: fn(&record::looks::DeviceCounts) -> u64| {
        move |looks: &Looks| of(looks.end.device.known()?).checked_sub(of(looks.start.device.known()?))
    };
    let redo =
        |looks: &Looks| looks.end.database.known()?.log_bytes?.checked_sub(looks.start.database.known()?.log_bytes?);
    (transactions > 0.0).then(|| StorageReading {
        contender: contender.to_owned(),
        transactions,
        reads: each(&device(|counts| counts.reads)),
        read_bytes: each(&device(|counts| counts.read_bytes)),
        writes: each(&device(|counts| counts.writes)),
        written_bytes: each(&device(|counts| counts.write_bytes)),
        redo_bytes: each(&redo),
    })
}

/// Compares each reading with the baseline's, or with the first if the baseline has none.
fn compare(coordinates: String, readings: Vec<(bool, StorageReading)>) -> StorageWork {
    let reference = readings.iter().position(|(baseline, _)| *baseline).unwrap_or(0);
    let contenders: Vec<StorageReading> = readings.into_iter().map(|(_, reading)| reading).collect();
    let others = contenders.iter().enumerate().filter(|(place, _)| *place != reference).map(|(_, other)| other);
    let unequal = others.flat_map(|other| differences(&contenders[reference], other)).collect();
    StorageWork { coordinates, contenders, unequal }
}

fn differences(base: &StorageReading, other: &StorageReading) -> Vec<String> {
    let chance = STANDARD_ERRORS * (1.0 / base.transactions + 1.0 / other.transactions).sqrt();
    let (device, redo) = (DEVICE_TOLERANCE + chance, REDO_TOLERANCE + chance);
    let figures = [
        ("reads of the device", base.reads, other.reads, device, OPERATIONS_AT_LEAST),
        ("bytes read from the device", base.read_bytes, other.read_bytes, device, BYTES_AT_LEAST),
        ("writes to the device", base.writes, other.writes, device, OPERATIONS_AT_LEAST),
        ("bytes written to the device", base.written_bytes, other.written_bytes, device, BYTES_AT_LEAST),
        ("bytes of redo", base.redo_bytes, other.redo_bytes, redo, BYTES_AT_LEAST),
    ];
    let told = figures.into_iter().filter_map(|(what, one, two, tolerance, at_least)| {
        let (one, two) = (one?, two?);
        let apart = (one - two).abs();
        (apart > at_least && apart > tolerance * one.max(two)).then(|| {
            let (first, second, percent) = (&base.contender, &other.contender, tolerance * 100.0);
            let digits = if at_least < 1.0 { 2 } else { 0 };
            format!("{what} per transaction: {one:.digits$} on {first}, {two:.digits$} on {second} (tolerated: {percent:.1} %)")
        })
    });
    told.collect()
}

pub fn warnings(work: &[StorageWork]) -> Vec<Warning> {
    let sentence = |work: &StorageWork| {
        let (place, unequal) = (at(&work.coordinates), work.unequal.join("; "));
        serious(format!("the contenders' storage did not do equal work{place}: {unequal}"))
    };
    work.iter().filter(|work| !work.unequal.is_empty()).map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::looks::{DeviceCounts, Reading};
    use record::synthetic;

    /// What was counted by the device and as redo between the looks of each trial of a contender.
    fn counted(run: &mut Run, cell: u32, counts: &DeviceCounts, redo: u64) {
        for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == cell) {
            let looks = trial.looks.as_mut().unwrap();
            looks.start.device = Reading::Known(DeviceCounts::default());
            looks.end.device = Reading::Known(counts.clone());
            let log = |bytes| record::looks::DatabaseCounts { log_bytes: Some(bytes), ..Default::default() };
            (looks.start.database, looks.end.database) = (Reading::Known(log(5)), Reading::Known(log(5 + redo)));
            let driver = trial.record.driver.as_mut().unwrap();
            // A hundred thousand in as long a window as lies between the looks.
            driver.kinds.truncate(1);
            (driver.kinds[0].committed, driver.kinds[0].rolled_back) = (99_000, 1_000);
            driver.measured_ms = looks.span_ns() / 1_000_000;
        }
    }

    fn counts(reads: u64, writes: u64, write_bytes: u64) -> DeviceCounts {
        DeviceCounts { reads, writes, write_bytes, ..DeviceCounts::default() }
    }

    #[test]
    fn work_is_counted_for_each_transaction() {
        let mut run = synthetic::run(3);
        counted(&mut run, 0, &counts(5_000, 750_000, 8_000_000_000), 640_000_000);
        let reading = &all(&run)[0].contenders[0];
        assert!((reading.transactions - 300_000.0).abs() < 1e-6, "{reading:?}");
        let figures = [reading.reads, reading.writes, reading.written_bytes, reading.redo_bytes, reading.read_bytes];
        for (found, expected) in figures.into_iter().zip([0.05, 7.5, 80_000.0, 6_400.0, 0.0]) {
            assert!((found.unwrap() - expected).abs() < 1e-9, "{reading:?}");
        }
    }

    #[test]
    fn differences_beyond_the_tolerance_are_told_and_small_ones_are_not() {
        let mut run = synthetic::run(3);
        counted(&mut run, 0, &counts(1_000, 750_000, 8_000_000_000), 640_000_000);
        counted(&mut run, 1, &counts(5_000, 850_000, 9_000_000_000), 660_000_000);
        assert_eq!(all(&run)[0].unequal, Vec::<String>::new(), "four times as many reads, but a twentieth of one");
        counted(&mut run, 1, &counts(200_000, 1_100_000, 9_000_000_000), 800_000_000);
        let told = warnings(&all(&run));
        let expected = "the contenders' storage did not do equal work: reads of the device per transaction: 0.01 on native, 2.00 \
                        on kvm (tolerated: 25.5 %); writes to the device per transaction: 7.50 on native, 11.00 on kvm \
                        (tolerated: 25.5 %); bytes of redo per transaction: 6400 on native, 8000 on kvm (tolerated: 10.5 %)";
        assert_eq!(told, [serious(expected.to_owned())]);
    }

    #[test]
    fn what_one_side_does_not_count_is_not_compared() {
        let mut run = synthetic::run(3);
        counted(&mut run, 0, &counts(1_000, 750_000, 8_000_000_000), 640_000_000);
        counted(&mut run, 1, &counts(900_000, 9, 9), 1);
        let guest = run.trials.iter_mut().find(|trial| trial.record.cell == 1).unwrap();
        let looks = guest.looks.as_mut().unwrap();
        looks.end.device = Reading::Unavailable("it is a tmpfs".to_owned());
        looks.end.database = Reading::Unavailable("it was not asked".to_owned());
        let found = &all(&run)[0];
        assert_eq!((found.contenders[1].writes, found.contenders[1].redo_bytes), (None, None));
        assert_eq!(found.unequal, Vec::<String>::new());
        run.trials.iter_mut().for_each(|trial| trial.looks = None);
        assert_eq!(all(&run), []);
    }
}
