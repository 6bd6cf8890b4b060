//! What happened behind the transactions, per second: reads and writes as the database and its device count them, redo,
//! and the workload's own counters.
//!
//! Figures of the database and the device come from two looks within the measured window and are over the time between
//! them; those of the workload are over the whole window.

use crate::cells;
use crate::estimate::Estimate;
use crate::student;
use record::looks::{DatabaseCounts, DeviceCounts, Looks};
use record::plan::Cell;
use record::run::{Run, StoredTrial};
use serde::{Deserialize, Serialize};

const NANOS_PER_SECOND: f64 = 1e9;
const MILLIS_PER_SECOND: f64 = 1e3;

/// How names of counters begin that mean something to the workload's own audit only.
const FOR_AUDITS: &str = "audit.";

/// What one cell's database, device and workload did, over its sound trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    pub cell: u32,
    pub contender: String,
    pub coordinates: String,
    pub figures: Vec<Figure>,
    /// What one read and one write are to the engine.
    pub meaning: Option<String>,
    pub device: Option<String>,
    /// Why figures are missing, each reason once.
    pub missing: Vec<String>,
    pub sizes: Sizes,
}

/// One figure, as a mean over trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    pub source: Source,
    pub name: String,
    pub unit: Unit,
    pub value: Estimate,
}

/// Whose counters a figure is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    Database,
    Device,
    Workload,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    PerSecond,
    BytesPerSecond,
    Milliseconds,
    Share,
}

/// Whether the data fit: plain readings of the first trial that has them, of several machines those of the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sizes {
    /// At the beginning of the window.
    pub data_bytes: Option<u64>,
    /// The database's cache, of each session if they do not share one.
    pub cache_bytes: Option<u64>,
    /// The machine's.
    pub memory_bytes: Option<u64>,
}

/// A figure of one trial.
type Reading = (Source, String, Unit, f64);

pub fn all(run: &Run) -> Vec<Activity> {
    run.plan.cells.iter().map(|cell| of_cell(run, cell)).collect()
}

fn of_cell(run: &Run, cell: &Cell) -> Activity {
    let trials: Vec<&StoredTrial> = cells::sound(run, cell.id).collect();
    let looks: Vec<&Looks> = trials.iter().filter_map(|trial| trial.looks.as_ref()).collect();
    let database = looks.iter().find_map(|looks| looks.start.database.known());
    let device = looks.iter().find_map(|looks| looks.start.device.known());
    // How much fits is a question to one machine.
    let of_one: Vec<&Looks> = trials.iter().filter_map(|trial| first_machine(trial).looks.as_ref()).collect();
    let one = of_one.iter().find_map(|looks| looks.start.database.known());
    let memory_bytes = cell.settings.get("machine").and_then(|machine| machine.get("memory")?.as_u64());
    Activity {
        cell: cell.id,
        contender: cell.contender.clone(),
        coordinates: cell.coordinates(),
        figures: figures(&trials),
        meaning: database.map(|counts| counts.meaning.clone()).filter(|meaning| !meaning.is_empty()),
        device: device.map(|counts| counts.device.clone()),
        missing: missing(&trials),
        sizes: Sizes {
            data_bytes: one.and_then(|counts| counts.data_bytes),
            cache_bytes: one.and_then(|counts| counts.cache_bytes),
            memory_bytes,
        },
    }
}

/// The first that is measured of several, or the trial itself.
fn first_machine(trial: &StoredTrial) -> &StoredTrial {
    trial.measured_machines().map(|(_, machine)| machine).next().unwrap_or(trial)
}

/// Every figure that any trial has, over those that have it, in the order in which trials tell them.
fn figures(trials: &[&StoredTrial]) -> Vec<Figure> {
    let readings: Vec<Vec<Reading>> = trials.iter().map(|trial| readings(trial)).collect();
    let mut figures: Vec<Figure> = Vec::new();
    for (source, name, unit, _) in readings.iter().flatten() {
        if figures.iter().any(|figure| (figure.source, &figure.name) == (*source, name)) {
            continue;
        }
        let of_trial = |readings: &Vec<Reading>| {
            readings.iter().find(|found| (found.0, &found.1) == (*source, name)).map(|found| found.3)
        };
        let values: Vec<f64> = readings.iter().filter_map(of_trial).collect();
        let value = student::mean_amount(values);
        figures.extend(value.map(|value| Figure { source: *source, name: name.clone(), unit: *unit, value }));
    }
    figures.sort_by_key(|figure| figure.source);
    figures
}

fn readings(trial: &StoredTrial) -> Vec<Reading> {
    let mut found = Vec::new();
    if let Some(looks) = trial.looks.as_ref().filter(|looks| looks.span_ns() > 0) {
        let seconds = looks.span_ns() as f64 / NANOS_PER_SECOND;
        if let (Some(start), Some(end)) = (looks.start.database.known(), looks.end.database.known()) {
            found.extend(of_database(start, end, seconds));
        }
        if let (Some(start), Some(end)) = (looks.start.device.known(), looks.end.device.known()) {
            found.extend(of_device(start, end, seconds));
        }
    }
    if let Some(driver) = trial.record.driver.as_ref().filter(|driver| driver.measured_ms > 0) {
        let seconds = driver.measured_ms as f64 / MILLIS_PER_SECOND;
        let counted = driver.tally.iter().filter(|(name, count)| **count > 0 && !name.starts_with(FOR_AUDITS));
        let each = |(name, count): (&String, &u64)| {
            (Source::Workload, name.replace('_', " "), Unit::PerSecond, *count as f64 / seconds)
        };
        found.extend(counted.map(each));
    }
    found
}

/// What was counted between two looks; a counter that fell was reset in between and says nothing.
fn between(start: Option<u64>, end: Option<u64>) -> Option<f64> {
    Some(end?.checked_sub(start?)? as f64)
}

fn of_database(start: &DatabaseCounts, end: &DatabaseCounts, seconds: f64) -> Vec<Reading> {
    let [reads, hits, writes, log_bytes] = [
        (start.reads, end.reads),
        (start.hits, end.hits),
        (start.writes, end.writes),
        (start.log_bytes, end.log_bytes),
    ]
    .map(|(start, end)| between(start, end));
    let hit_share =
        reads.zip(hits).filter(|(reads, hits)| reads + hits > 0.0).map(|(reads, hits)| hits / (reads + hits));
    let figures = [
        ("reads past the cache", Unit::PerSecond, reads.map(|count| count / seconds)),
        ("share of reads in the cache", Unit::Share, hit_share),
        ("writes", Unit::PerSecond, writes.map(|count| count / seconds)),
        ("redo", Unit::BytesPerSecond, log_bytes.map(|bytes| bytes / seconds)),
    ];
    figures
        .into_iter()
        .filter_map(|(name, unit, value)| Some((Source::Database, name.to_owned(), unit, value?)))
        .collect()
}

fn of_device(start: &DeviceCounts, end: &DeviceCounts, seconds: f64) -> Vec<Reading> {
    let count = |of: fn(&DeviceCounts) -> u64| between(Some(of(start)), Some(of(end)));
    let rate = |of| count(of).map(|count| count / seconds);
    let mean = |sum: Option<f64>, number: Option<f64>| Some(sum? / number.filter(|number| *number > 0.0)?);
    let (reads, writes) = (count(|counts| counts.reads), count(|counts| counts.writes));
    let flushes = between(start.flushes, end.flushes);
    let figures = [
        ("reads", Unit::PerSecond, rate(|counts| counts.reads)),
        ("read", Unit::BytesPerSecond, rate(|counts| counts.read_bytes)),
        ("mean time of a read", Unit::Milliseconds, mean(count(|counts| counts.read_ms), reads)),
        ("writes", Unit::PerSecond, rate(|counts| counts.writes)),
        ("written", Unit::BytesPerSecond, rate(|counts| counts.write_bytes)),
        ("mean time of a write", Unit::Milliseconds, mean(count(|counts| counts.write_ms), writes)),
        ("flushes", Unit::PerSecond, flushes.map(|flushes| flushes / seconds)),
        ("busy", Unit::Share, rate(|counts| counts.busy_ms).map(|busy_ms| busy_ms / MILLIS_PER_SECOND)),
    ];
    figures
        .into_iter()
        .filter_map(|(name, unit, value)| Some((Source::Device, name.to_owned(), unit, value?)))
        .collect()
}

fn missing(trials: &[&StoredTrial]) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    let mut add = |reason: String| {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    };
    for trial in trials {
        let Some(looks) = &trial.looks else {
            add(if trial.machines.is_empty() {
                "database and device were not looked at within the window".to_owned()
            } else {
                "database and device of a machine were not looked at within the window, so there is no sum over machines".to_owned()
            });
            continue;
        };
        for look in [&looks.start, &looks.end] {
            if let Some(why) = look.database.why_not() {
                add(format!("the database could not be asked: {why}"));
            }
            if let Some(why) = look.device.why_not() {
                add(format!("nothing is known of the device: {why}"));
            }
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::looks;
    use record::synthetic;

    fn value(activity: &Activity, source: Source, name: &str) -> f64 {
        let found = activity.figures.iter().find(|figure| (figure.source, figure.name.as_str()) == (source, name));
        found.unwrap_or_else(|| panic!("{name} is not among {:?}", activity.figures)).value.point
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
            };
            trial.looks = Some(Looks { start: look(5, 1), end: look(15, 2) });
        }
        let activity = &all(&run)[0];
        assert!(activity.missing.is_empty());
        for (source, name, expected) in [
            (Source::Database, "reads past the cache", 50.0),
            (Source::Database, "share of reads in the cache", 0.75),
            (Source::Database, "writes", 20.0),
            (Source::Database, "redo", 300_000.0),
            (Source::Device, "reads", 10.0),
            (Source::Device, "read", 81_920.0),
            (Source::Device, "mean time of a read", 2.5),
            (Source::Device, "mean time of a write", 2.0),
            (Source::Device, "flushes", 2.0),
            (Source::Device, "busy", 0.25),
        ] {
            close(value(activity, source, name), expected);
        }
        let known = activity.figures[0].value.bounds.known().unwrap();
        close(known.0, 50.0);
        close(known.1, 50.0);
    }

    #[test]
    fn the_workload_is_counted_over_the_whole_window() {
        let run = synthetic::run(1);
        let driver = run.trials.iter().find(|trial| trial.record.cell == 0).unwrap().record.driver.as_ref().unwrap();
        let expected = driver.tally["order_lines"] as f64 / (driver.measured_ms as f64 / 1_000.0);
        close(value(&all(&run)[0], Source::Workload, "order lines"), expected);
    }

    #[test]
    fn what_is_counted_for_audits_is_not_shown() {
        let mut run = synthetic::run(1);
        for trial in &mut run.trials {
            trial.record.driver.as_mut().unwrap().tally.insert("audit.hundreds".to_owned(), 7);
        }
        assert!(all(&run)[0].figures.iter().all(|figure| !figure.name.contains("hundreds")));
    }

    #[test]
    fn what_is_missing_is_told_once_and_a_counter_that_fell_says_nothing() {
        let mut run = synthetic::run(2);
        for trial in &mut run.trials {
            let looks = trial.looks.as_mut().unwrap();
            looks.end.device = looks::Reading::Unavailable("it is a tmpfs".to_owned());
            let looks::Reading::Known(counts) = &mut looks.end.database else { panic!("made up as known") };
            counts.reads = Some(0);
        }
        let activity = &all(&run)[0];
        assert_eq!(activity.missing, ["nothing is known of the device: it is a tmpfs"]);
        let names: Vec<&str> = activity.figures.iter().map(|figure| figure.name.as_str()).collect();
        assert_eq!(names, ["writes", "redo", "order lines"]);
        run.trials.iter_mut().for_each(|trial| trial.looks = None);
        assert_eq!(all(&run)[1].missing, ["database and device were not looked at within the window"]);
    }
}
