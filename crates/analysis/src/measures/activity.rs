//! What happened behind the transactions, per second: reads and writes as the database and its device count them, redo, and
//! the workload's own counters.
//!
//! Figures of the database and the device are over the time between two looks within the measured window; those of the
//! workload are over the whole window.

use super::{Better, MeasureReading, Scale, Unit};
use record::looks::{DatabaseCounts, DeviceCounts, Looks};
use record::run::StoredTrial;

const NANOS_PER_SECOND: f64 = 1e9;
const MILLIS_PER_SECOND: f64 = 1e3;

/// Prefix of counters that mean something only to the workload's own audit.
const FOR_AUDITS: &str = "audit.";

pub fn database(trial: &StoredTrial) -> Vec<MeasureReading> {
    trial.looks.as_ref().map(between_looks).unwrap_or_default()
}

/// What the database counted between the two looks.
pub fn between_looks(looks: &Looks) -> Vec<MeasureReading> {
    let both = looks.start.database.known().zip(looks.end.database.known());
    let seconds = looks.span_ns() as f64 / NANOS_PER_SECOND;
    both.filter(|_| seconds > 0.0).map(|(start, end)| of_database(start, end, seconds)).unwrap_or_default()
}

pub fn device(trial: &StoredTrial) -> Vec<MeasureReading> {
    let of = |looks: &Looks| {
        let (start, end) = (looks.start.device.known()?, looks.end.device.known()?);
        Some(of_device(start, end, looks.span_ns() as f64 / NANOS_PER_SECOND))
    };
    trial.looks.as_ref().filter(|looks| looks.span_ns() > 0).and_then(of).unwrap_or_default()
}

pub fn workload(trial: &StoredTrial) -> Vec<MeasureReading> {
    let Some(driver) = trial.record.driver.as_ref().filter(|driver| driver.measured_ms > 0) else { return Vec::new() };
    let seconds = driver.measured_ms as f64 / MILLIS_PER_SECOND;
    let counted = driver.tally.iter().filter(|(name, count)| **count > 0 && !name.starts_with(FOR_AUDITS));
    let reading = |(name, count): (&String, &u64)| {
        let (id, rate) = (format!("workload/{name}"), *count as f64 / seconds);
        MeasureReading::new(id, Unit::PerSecond, Better::Neither, Scale::Ratio, rate)
    };
    counted.map(reading).collect()
}

/// The difference between two looks. A counter that fell was reset in between and says nothing.
fn between(start: Option<u64>, end: Option<u64>) -> Option<f64> {
    Some(end?.checked_sub(start?)? as f64)
}

type ActivityFigure = (&'static str, Unit, Better, Option<f64>);

fn of_database(start: &DatabaseCounts, end: &DatabaseCounts, seconds: f64) -> Vec<MeasureReading> {
    let reads = between(start.reads, end.reads);
    let hits = between(start.hits, end.hits);
    let rate = |count: Option<f64>| count.map(|count| count / seconds);
    let hit_share =
        reads.zip(hits).filter(|(reads, hits)| reads + hits > 0.0).map(|(reads, hits)| hits / (reads + hits));
    known([
        ("database.reads", Unit::PerSecond, Better::Neither, rate(reads)),
        ("database.hits", Unit::Share, Better::More, hit_share),
        ("database.writes", Unit::PerSecond, Better::Neither, rate(between(start.writes, end.writes))),
        ("database.redo", Unit::BytesPerSecond, Better::Neither, rate(between(start.log_bytes, end.log_bytes))),
    ])
}

fn of_device(start: &DeviceCounts, end: &DeviceCounts, seconds: f64) -> Vec<MeasureReading> {
    let count = |of: fn(&DeviceCounts) -> u64| between(Some(of(start)), Some(of(end)));
    let rate = |of| count(of).map(|count| count / seconds);
    let mean = |sum: Option<f64>, number: Option<f64>| Some(sum? / number.filter(|number| *number > 0.0)?);
    let (reads, writes) = (count(|counts| counts.reads), count(|counts| counts.writes));
    let flushes = between(start.flushes, end.flushes).map(|flushes| flushes / seconds);
    let busy = rate(|counts| counts.busy_ms).map(|busy_ms| busy_ms / MILLIS_PER_SECOND);
    known([
        ("device.reads", Unit::PerSecond, Better::Neither, rate(|counts| counts.reads)),
        ("device.read", Unit::BytesPerSecond, Better::Neither, rate(|counts| counts.read_bytes)),
        ("device.read_time", Unit::Milliseconds, Better::Less, mean(count(|counts| counts.read_ms), reads)),
        ("device.writes", Unit::PerSecond, Better::Neither, rate(|counts| counts.writes)),
        ("device.written", Unit::BytesPerSecond, Better::Neither, rate(|counts| counts.write_bytes)),
        ("device.write_time", Unit::Milliseconds, Better::Less, mean(count(|counts| counts.write_ms), writes)),
        ("device.flushes", Unit::PerSecond, Better::Neither, flushes),
        ("device.busy", Unit::Share, Better::Neither, busy),
    ])
}

fn known<const N: usize>(figures: [ActivityFigure; N]) -> Vec<MeasureReading> {
    let reading = |(id, unit, better, value): ActivityFigure| {
        let scale = if unit == Unit::Share { Scale::Proportion } else { Scale::Ratio };
        Some(MeasureReading::new(id, unit, better, scale, value?))
    };
    figures.into_iter().filter_map(reading).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::CATALOG;
    use crate::observations::Observations;
    use record::looks;
    use record::run::Run;
    use record::synthetic;

    fn observed(run: &Run) -> Observations {
        Observations::of_run(run, CATALOG)
    }

    fn value(observations: &Observations, measure: &str) -> f64 {
        observations.level(measure, 0).unwrap_or_else(|| panic!("no {measure}")).estimate.point
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "found {found}, expected {expected}");
    }

    /// Ten seconds with 500 reads and 1500 hits, 200 writes and 3 MB of log; a device with 100 reads of 2.5 ms each, 40
    /// writes, 20 flushes, and busy for a quarter of the time.
    #[test]
    fn rates_are_over_the_time_between_the_looks() {
        let mut run = synthetic::run(3);
        for trial in &mut run.trials {
            let look = |at_s: u64, times: u64| looks::Look {
                at_ns: at_s * 1_000_000_000,
                took_ns: 1,
                database: looks::Reading::Known(DatabaseCounts {
                    reads: Some(7 + 500 * times),
                    hits: Some(1_500 * times),
                    writes: Some(200 * times),
                    log_bytes: Some(3_000_000 * times),
                    ..DatabaseCounts::default()
                }),
                device: looks::Reading::Known(DeviceCounts {
                    reads: 100 * times,
                    read_bytes: 819_200 * times,
                    read_ms: 250 * times,
                    writes: 40 * times,
                    write_ms: 80 * times,
                    busy_ms: 2_500 * times,
                    flushes: Some(20 * times),
                    ..DeviceCounts::default()
                }),
                cpu: looks::Reading::Unavailable("not looked at".to_owned()),
                counters: [].into(),
                waits: None,
            };
            trial.looks = Some(Looks { start: look(5, 1), end: look(15, 2) });
        }
        let observed = observed(&run);
        for (measure, expected) in [
            ("database.reads", 50.0),
            ("database.hits", 0.75),
            ("database.writes", 20.0),
            ("database.redo", 300_000.0),
            ("device.reads", 10.0),
            ("device.read", 81_920.0),
            ("device.read_time", 2.5),
            ("device.write_time", 2.0),
            ("device.flushes", 2.0),
            ("device.busy", 0.25),
        ] {
            close(value(&observed, measure), expected);
        }
        let known = observed.level("database.reads", 0).unwrap().estimate.bounds.known().unwrap();
        close(known.0, 50.0);
        close(known.1, 50.0);
    }

    #[test]
    fn the_workload_is_counted_over_the_whole_window() {
        let run = synthetic::run(1);
        let driver = run.trials.iter().find(|trial| trial.record.cell == 0).unwrap().record.driver.as_ref().unwrap();
        let expected = driver.tally["order_lines"] as f64 / (driver.measured_ms as f64 / 1_000.0);
        close(value(&observed(&run), "workload/order_lines"), expected);
    }

    #[test]
    fn what_is_counted_for_audits_is_not_shown() {
        let mut run = synthetic::run(1);
        for trial in &mut run.trials {
            trial.record.driver.as_mut().unwrap().tally.insert("audit.hundreds".to_owned(), 7);
        }
        assert!(observed(&run).measures().all(|one| !one.measure.id.contains("hundreds")));
    }

    #[test]
    fn a_counter_that_fell_says_nothing() {
        let mut run = synthetic::run(2);
        for trial in &mut run.trials {
            let looks::Reading::Known(counts) = &mut trial.looks.as_mut().unwrap().end.database else {
                panic!("made up as known")
            };
            counts.reads = Some(0);
        }
        let found = observed(&run);
        let own = found.measures().map(|one| one.measure.id.as_str()).filter(|id| id.starts_with("database."));
        assert_eq!(own.collect::<Vec<_>>(), ["database.writes", "database.redo"]);
    }
}
