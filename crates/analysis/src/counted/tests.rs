//! Counting over a made-up trial with known samples.

use super::*;
use crate::missing::Missing;
use record::synthetic;
use record::telemetry::{Column, Probe, Sample};

const SECOND: u64 = 1_000_000_000;

/// Ten transactions in ten seconds from the fifth on. Each second has 50 interrupts, 3 ticks of a CPU and 100 of free memory.
fn trial() -> StoredTrial {
    let mut trial = synthetic::run(1).trials.remove(0);
    let driver = trial.record.driver.as_mut().unwrap();
    driver.kinds.truncate(1);
    (driver.kinds[0].committed, driver.kinds[0].rolled_back) = (9, 1);
    (driver.measured_ms, driver.window_start_ns) = (10_000, Some(5 * SECOND));
    let column = |name: &str, unit: &str, behaviour| Column { name: name.to_owned(), unit: unit.to_owned(), behaviour };
    let sample = |second: u64| Sample {
        at_ns: second * SECOND,
        took_ns: 1_000,
        values: vec![Some(7 + 50 * second), Some(3 * second), Some(100), None],
    };
    trial.telemetry = vec![Series {
        side: Side::Machine,
        probes: vec![Probe {
            name: "energy".to_owned(),
            source: String::new(),
            columns: Reading::Unavailable("a guest does not see it".to_owned()),
        }],
        columns: vec![
            column("interrupts.total", "", Behaviour::Counts),
            column("cpu.user", "ticks", Behaviour::Counts),
            column("memory.free", "bytes", Behaviour::Stands),
            column("switches.context", "", Behaviour::Counts),
        ],
        cost_ns: None,
        samples: (0..=16).map(sample).collect(),
    }];
    trial
}

#[test]
fn a_window_holds_what_was_counted_in_it() {
    let found = of_trial(&trial()).unwrap();
    let machine = found.side(Side::Machine).unwrap();
    assert!((found.transactions - 10.0).abs() < 1e-9 && (machine.seconds - 10.0).abs() < 1e-9);
    assert_eq!(machine.samples, 11);
    let worths = ["interrupts.total", "cpu.user", "memory.free"].map(|name| machine.worth(name).unwrap());
    for (found, expected) in worths.into_iter().zip([500.0, 300.0, 100.0]) {
        assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
    }
    assert!((machine.share("cpu.user").unwrap() - 0.03).abs() < 1e-9);
    assert_eq!(machine.worth("switches.context"), None, "it was never read");
    let why = Missing::Unavailable { why: "a guest does not see it".to_owned() };
    assert_eq!(machine.unavailable, [Unseen { probe: Some("energy".to_owned()), why }]);
    assert_eq!(found.host, Err(Missing::NotSampled { side: Some(Side::Host) }));
}

#[test]
fn trials_without_transactions_or_telemetry_count_nothing() {
    let mut idle = trial();
    idle.record.driver.as_mut().unwrap().kinds.clear();
    assert_eq!(of_trial(&idle), None);
    let mut run = synthetic::run(2);
    run.trials.iter_mut().for_each(|trial| trial.telemetry.clear());
    assert_eq!(of_run(&run), BTreeMap::new());
}

/// 200 ms over 20 of the window's 24 s are 240 ms over all of it, divided by a thousand transactions.
#[test]
fn lock_waits_between_the_looks_stand_for_the_window() {
    let mut waited = synthetic::run(1).trials.remove(0);
    let driver = waited.record.driver.as_mut().unwrap();
    driver.measured_ms = 24_000;
    let looks = waited.looks.as_mut().unwrap();
    (looks.start.at_ns, looks.end.at_ns) = (SECOND, 21 * SECOND);
    looks.start.counters.insert(LOCK_TIME_MS.to_owned(), 50);
    looks.end.counters.insert(LOCK_TIME_MS.to_owned(), 250);
    let found = lock_ms(&waited, 1_000.0).unwrap();
    assert!((found - 0.24).abs() < 1e-12, "{found}");
    looks_fall(&mut waited);
    assert_eq!(lock_ms(&waited, 1_000.0), None);
}

fn looks_fall(trial: &mut StoredTrial) {
    trial.looks.as_mut().unwrap().end.counters.insert(LOCK_TIME_MS.to_owned(), 1);
}
