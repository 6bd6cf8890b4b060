//! What each transaction cost. Statements and rows are counted by the load engine; what reached the device and the redo
//! log comes from the two looks within the window.

use super::{Better, MeasureReading, Scale, Unit};
use record::looks::{DeviceCounts, Looks};
use record::run::StoredTrial;
use record::trial::KindTotals;

pub const STATEMENTS: &str = "work.statements";
pub const ROUND_TRIPS: &str = "work.round_trips";
pub const ROWS_RETURNED: &str = "work.rows_returned";
pub const ROWS_CHANGED: &str = "work.rows_changed";
pub const READS: &str = "storage.reads";
pub const READ_BYTES: &str = "storage.read_bytes";
pub const WRITES: &str = "storage.writes";
pub const WRITTEN_BYTES: &str = "storage.written_bytes";
pub const REDO_BYTES: &str = "storage.redo_bytes";

const NANOS_PER_MILLI: f64 = 1e6;

pub fn readings(trial: &StoredTrial) -> Vec<MeasureReading> {
    let Some(work) = trial.record.driver.as_ref().map(|driver| driver.work) else { return Vec::new() };
    let counts = [
        (STATEMENTS, Unit::PerTransaction, Some(work.statements)),
        (ROUND_TRIPS, Unit::PerTransaction, Some(work.round_trips).filter(|count| *count > 0)),
        (ROWS_RETURNED, Unit::PerTransaction, Some(work.rows_returned)),
        (ROWS_CHANGED, Unit::PerTransaction, Some(work.rows_changed)),
    ];
    let of_work = each(work.transactions as f64, counts);
    of_work.into_iter().chain(of_storage(trial)).collect()
}

/// The counts that are known, for each of so many transactions.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Above 0, and counted.
fn each<const N: usize>(transactions: f64, counts: [(&str, Unit, Option<u64>); N]) -> Vec<MeasureReading> {
    let reading = |(id, unit, count): (&str, Unit, Option<u64>)| {
        let value = count.filter(|_| transactions > 0.0)? as f64 / transactions;
        Some(MeasureReading::new(id, unit, Better::Less, Scale::Ratio, value).of(transactions.round() as u64))
    };
    counts.into_iter().filter_map(reading).collect()
}

/// How many transactions finished between a trial's looks, at the mean rate of its window.
fn between_looks(trial: &StoredTrial) -> Option<f64> {
    let (driver, looks) = (trial.record.driver.as_ref()?, trial.looks.as_ref()?);
    let finished: u64 = driver.transactions().map(KindTotals::finished).sum();
    let window_ns = driver.measured_ms as f64 * NANOS_PER_MILLI;
    let transactions = finished as f64 * looks.span_ns() as f64 / window_ns;
    (transactions.is_finite() && transactions > 0.0).then_some(transactions)
}

fn of_storage(trial: &StoredTrial) -> Vec<MeasureReading> {
    let Some((transactions, looks)) = between_looks(trial).zip(trial.looks.as_ref()) else { return Vec::new() };
    let device = |count: fn(&DeviceCounts) -> u64| {
        count(looks.end.device.known()?).checked_sub(count(looks.start.device.known()?))
    };
    let counts = [
        (READS, Unit::PerTransaction, device(|counts| counts.reads)),
        (READ_BYTES, Unit::BytesPerTransaction, device(|counts| counts.read_bytes)),
        (WRITES, Unit::PerTransaction, device(|counts| counts.writes)),
        (WRITTEN_BYTES, Unit::BytesPerTransaction, device(|counts| counts.write_bytes)),
        (REDO_BYTES, Unit::BytesPerTransaction, redo(looks)),
    ];
    each(transactions, counts)
}

fn redo(looks: &Looks) -> Option<u64> {
    looks.end.database.known()?.log_bytes?.checked_sub(looks.start.database.known()?.log_bytes?)
}
