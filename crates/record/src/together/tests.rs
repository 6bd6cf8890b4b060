//! Combines small machines with known counts, in memory and from their folders.

use super::*;
use crate::check::Moment;
use crate::facts::{Fact, HOSTS_OWN, PROCESSOR};
use crate::folder::RunFolder;
use crate::hlog;
use crate::intervals::{Interval, KindInterval, Span};
use crate::looks::{DatabaseCounts, DeviceCounts, Look, Looks, Reading};
use crate::plan::{Cell, Plan};
use crate::run::Run;
use crate::trial::{
    Deferred, KindTotals, Losses, MachineFacts, Metric, Outcome, Pacing, QueuedWork, Testimony, Unended, Work,
};
use crate::waits::Waits;
use serde_json::json;
use std::collections::BTreeMap;

fn record(outcome: &Outcome) -> TrialRecord {
    let made_up = json!({
        "format": crate::FORMAT, "id": 1, "block": 1, "cell": 0, "contender": "kvm", "seed": 7,
        "outcome": outcome, "started": "2026-01-01T00:00:00Z", "phases": []
    });
    serde_json::from_value(made_up).unwrap()
}

fn second(start_ms: u64, measured: bool, counts: &[(u64, u32)]) -> Interval {
    let part = KindInterval { kind: 0, span: Span::Response, counts: counts.to_vec() };
    Interval { start_ms, length_ms: 1000, measured, kinds: vec![part] }
}

fn series(intervals: Vec<Interval>) -> Measured {
    Measured { kinds: vec!["payment".to_owned()], intervals }
}

fn driver(committed: u64) -> DriverFacts {
    DriverFacts {
        placement: "inside".to_owned(),
        warmup_ms: 1000,
        window_start_ns: Some(5),
        measured_ms: 1000,
        clients: 4,
        pacing: Some(Pacing::Clients { clients: 4 }),
        sessions: 4,
        shards: 2,
        kinds: vec![KindTotals { kind: "payment".to_owned(), committed, ..KindTotals::default() }],
        work: Work { transactions: committed, statements: committed * 10, ..Work::default() },
        testimony: Testimony {
            cpu_ns: committed * 100,
            cpu_ns_per_statement: Some(10),
            lateness_p99_us: committed,
            busiest_shard: 1.0 / committed as f64,
            busy: vec![0.1],
            ..Testimony::default()
        },
        paused_ms: Some(10),
        metric: Metric { per_ms: 1000, ..Metric::default() },
        ..DriverFacts::default()
    }
}

fn machine(committed: u64, finding: Verdict) -> StoredTrial {
    let name = format!("image {committed}");
    let machine = MachineFacts { image: name, ..MachineFacts::default() };
    let warm = second(0, false, &[(50, 1)]);
    #[allow(clippy::cast_possible_truncation)] // A handful.
    let window = second(1000, true, &[(100, committed as u32), (200 + committed, 1)]);
    StoredTrial {
        record: TrialRecord { machine: Some(machine), driver: Some(driver(committed)), ..record(&Outcome::Completed) },
        measured: Some(series(vec![warm, window])),
        findings: vec![CheckResult {
            name: "w/sum".to_owned(),
            rule: "the sum is right".to_owned(),
            moment: Moment::AfterTrial,
            verdict: finding,
        }],
        looks: None,
        telemetry: Vec::new(),
        machines: Vec::new(),
        instances: Vec::new(),
        bystander: None,
        damage: Vec::new(),
        disagreements: Vec::new(),
    }
}

fn holds() -> Verdict {
    Verdict::Holds { seen: None }
}

#[test]
fn totals_are_added_and_the_worst_testimony_is_kept() {
    let trial = compose(record(&Outcome::Completed), vec![machine(3, holds()), machine(5, holds())], &two());
    let driver = trial.record.driver.as_ref().unwrap();
    assert_eq!((driver.kinds[0].committed, driver.work.statements, driver.clients, driver.shards), (8, 80, 8, 4));
    assert_eq!((driver.measured_ms, driver.window_start_ns, driver.paused_ms), (1000, Some(5), Some(20)));
    assert_eq!(driver.pacing, Some(Pacing::Clients { clients: 8 }));
    let testimony = &driver.testimony;
    assert_eq!((testimony.cpu_ns, testimony.cpu_ns_per_statement, testimony.lateness_p99_us), (800, Some(10), 5));
    assert!((testimony.busiest_shard - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(testimony.busy, [0.1, 0.1]);
    assert_eq!(trial.record.machine.as_ref().unwrap().image, "image 3", "what is told once is told of the first");
    assert_eq!(trial.machines.len(), 2);
    assert_eq!(trial.each_machine().len(), 2);
    assert_eq!(trial.machines[0].each_machine().len(), 1);
}

#[test]
fn errors_of_one_code_are_one_entry() {
    let of = |errors: &[(&str, u64)]| {
        let errors = errors.iter().map(|(message, count)| ((*message).to_owned(), *count)).collect();
        DriverFacts { errors, ..driver(1) }
    };
    let one = of(&[("40P01: deadlock detected (Process 7 waits)", 2), ("connection lost: reset", 1)]);
    let other = of(&[("40P01: deadlock detected (Process 8 waits)", 3), ("other errors", 4)]);
    let sum = driver::added_up(&[&one, &other]).unwrap();
    let expected =
        of(&[("40P01: deadlock detected (Process 7 waits)", 5), ("connection lost: reset", 1), ("other errors", 4)]);
    assert_eq!(sum.errors, expected.errors);
}

fn with_two_databases() -> Cell {
    let mut cell = two();
    cell.settings = serde_json::from_value(serde_json::json!({ "engine": { "instances": 2 } })).unwrap();
    cell
}

/// The folder of one of several databases has no facts about the machine.
fn database(committed: u64, finding: Verdict) -> StoredTrial {
    let own = machine(committed, finding);
    StoredTrial { record: TrialRecord { machine: None, ..own.record }, ..own }
}

fn of_machine() -> StoredTrial {
    let own = machine(1, holds());
    let record = TrialRecord { driver: None, ..own.record };
    StoredTrial { record, measured: None, findings: Vec::new(), ..own }
}

#[test]
fn databases_of_a_machine_are_added_and_stay_beside_it() {
    let wrong = Verdict::Violated { seen: "7".to_owned() };
    let cell = with_two_databases();
    let machine = of_databases(of_machine(), vec![database(3, holds()), database(5, wrong)], &cell);
    let driver = machine.record.driver.as_ref().unwrap();
    assert_eq!((driver.kinds[0].committed, driver.clients), (8, 8));
    assert_eq!(machine.record.machine.as_ref().unwrap().image, "image 1", "what is of the machine stays");
    assert_eq!(machine.measured.as_ref().unwrap().intervals.len(), 2);
    assert_eq!(machine.findings[1].verdict, Verdict::Violated { seen: "instance 2: 7".to_owned() });
    assert_eq!(machine.each_database().len(), 2);
    let one = of_databases(of_machine(), vec![database(3, holds())], &cell);
    assert!(one.record.driver.is_none() && one.measured.is_none(), "a sum without one would be taken for the sum");
}

#[test]
fn what_databases_share_is_not_added_up() {
    let looked = |more| StoredTrial { record: database(3, holds()).record, ..looked_into("vda", more) };
    let cell = with_two_databases();
    let machine = of_databases(of_machine(), vec![looked(1), looked(2)], &cell);
    let (whole, first) = (machine.looks.unwrap(), looked(1).looks.unwrap());
    assert_eq!(whole.start.device, first.start.device, "they are on one disk");
    assert_eq!(whole.start.cpu, first.start.cpu);
    assert_ne!(whole.end.database, first.end.database);
}

/// What the server counts for all its databases is with the first; what it counts for each is added up.
#[test]
fn what_a_shared_server_counts_is_counted_once() {
    let mut cell = with_two_databases();
    let engine = serde_json::json!({ "engine": { "instances": 2, "shared_server": true } });
    cell.settings = serde_json::from_value(engine).unwrap();
    let looked = |more| StoredTrial { record: database(3, holds()).record, ..looked_into("vda", more) };
    let (first, mut second) = (looked(0), looked(1));
    let looks = second.looks.as_mut().unwrap();
    looks.start.counters.remove("locks");
    looks.end.counters.remove("locks");
    let counted = |trial: &StoredTrial| trial.looks.clone().unwrap().end;
    let own = [counted(&first), counted(&second)];
    let whole = counted(&of_databases(of_machine(), vec![first, second], &cell));
    let [all, first, second] = [&whole, &own[0], &own[1]].map(|look| look.database.known().unwrap());
    assert_eq!((all.log_bytes, second.log_bytes), (first.log_bytes, None));
    assert_eq!(all.reads, first.reads.zip(second.reads).map(|(one, other)| one + other));
    assert_eq!(whole.counters["locks"], own[0].counters["locks"]);
}

#[test]
fn histograms_of_the_same_second_of_the_window_are_added() {
    let trial = compose(record(&Outcome::Completed), vec![machine(3, holds()), machine(5, holds())], &two());
    let measured = trial.measured.unwrap();
    assert_eq!(measured.intervals.len(), 2);
    assert_eq!(measured.intervals[0], second(0, false, &[(50, 2)]));
    assert_eq!(measured.intervals[1], second(1000, true, &[(100, 8), (203, 1), (205, 1)]));
}

/// The second machine warmed up for one more second, and has its kinds in another order.
#[test]
fn windows_are_laid_on_each_other_whatever_came_before() {
    let mut longer = machine(5, holds());
    let part = |kind, value_us| KindInterval { kind, span: Span::Response, counts: vec![(value_us, 1)] };
    let window = Interval { start_ms: 2000, length_ms: 1000, measured: true, kinds: vec![part(0, 9), part(1, 100)] };
    let kinds = ["delivery", "payment"].map(str::to_owned).to_vec();
    let before = [0, 1000].map(|start_ms| second(start_ms, false, &[]));
    longer.measured = Some(Measured { kinds, intervals: [before.to_vec(), vec![window]].concat() });
    let measured = compose(record(&Outcome::Completed), vec![machine(3, holds()), longer], &two()).measured.unwrap();
    assert_eq!(measured.kinds, ["payment", "delivery"]);
    let starts: Vec<(u64, bool)> = measured.intervals.iter().map(|one| (one.start_ms, one.measured)).collect();
    assert_eq!(starts, [(0, false), (1000, false), (2000, true)]);
    let window = &measured.intervals[2].kinds;
    assert_eq!((window[0].kind, &window[0].counts[..]), (0, &[(100, 4), (203, 1)][..]));
    assert_eq!((window[1].kind, &window[1].counts[..]), (1, &[(9, 1)][..]));
}

#[test]
fn a_finding_says_of_which_machine_it_is_unless_it_holds() {
    let violated = Verdict::Violated { seen: "7 too many".to_owned() };
    let trial = compose(record(&Outcome::Completed), vec![machine(3, holds()), machine(5, violated)], &two());
    let verdicts: Vec<&Verdict> = trial.findings.iter().map(|finding| &finding.verdict).collect();
    assert_eq!(verdicts, [&holds(), &Verdict::Violated { seen: "machine 2: 7 too many".to_owned() }]);
}

#[test]
fn a_missing_machine_leaves_no_totals_and_a_bystander_is_in_none() {
    let lost = compose(record(&Outcome::Completed), vec![machine(3, holds())], &two());
    assert_eq!((lost.record.driver, lost.measured), (None, None), "one of two is not both");
    let mut failed = machine(5, holds());
    failed.record.outcome = Outcome::Failed { phase: "measure".to_owned(), why: "the guest ended".to_owned() };
    (failed.record.driver, failed.measured) = (None, None);
    let broken = compose(record(&Outcome::Completed), vec![machine(3, holds()), failed.clone()], &two());
    assert_eq!((broken.record.driver, broken.measured), (None, None));
    let mut cell = two();
    cell.settings.set("machine.exception", json!({ "number": 2, "load": "same", "cpu_quota": 0.5 })).unwrap();
    assert_eq!(cell.bystander(), None, "held back, and measured nevertheless");
    cell.settings
        .set("machine.exception", json!({ "number": 1, "load": "same", "workload": { "kind": "slob" } }))
        .unwrap();
    assert_eq!(cell.bystander(), Some(1), "what it does is something else");
    cell.settings.set("machine.exception", json!({ "number": 2, "load": "stops" })).unwrap();
    let stops = compose(record(&Outcome::Completed), vec![machine(3, holds()), machine(5, holds())], &cell);
    assert_eq!(stops.record.driver.as_ref().unwrap().kinds[0].committed, 3);
    assert_eq!(stops.measured_machines().map(|(number, _)| number).collect::<Vec<_>>(), [1]);
    assert_eq!((stops.findings.len(), stops.each_machine().len()), (2, 2), "its data is checked like that of others");
}

#[test]
fn queues_and_what_is_deferred_are_added_up() {
    let with = |longest: u64| {
        let mut one = machine(longest, holds());
        let driver = one.record.driver.as_mut().unwrap();
        let queue =
            QueuedWork { came: 10, longest, each_second: vec![1, longest], limit: 100, ..QueuedWork::default() };
        driver.queue = Some(queue);
        driver.pacing = Some(Pacing::Terminals { terminals: 50, sessions: 5 });
        driver.deferred = Some(Deferred { queued: 2, longest_queue: longest, ..Deferred::default() });
        driver.losses = Losses { lost: 1, reopened: 1, longest_ms: 100 * longest };
        driver.unended = Unended { transactions: 1, oldest_ms: longest, window_share: 0.2 };
        one
    };
    let trial = compose(record(&Outcome::Completed), vec![with(7), with(9)], &two());
    let driver = trial.record.driver.unwrap();
    let queue = driver.queue.clone().unwrap();
    assert_eq!((queue.came, queue.longest, queue.limit, queue.each_second), (20, 16, 200, vec![2, 16]));
    assert_eq!(driver.pacing, Some(Pacing::Terminals { terminals: 100, sessions: 10 }));
    let deferred = driver.deferred.unwrap();
    assert_eq!((deferred.queued, deferred.longest_queue), (4, 9));
    assert_eq!(driver.losses, Losses { lost: 2, reopened: 2, longest_ms: 900 });
    let unended = driver.unended;
    assert_eq!((unended.transactions, unended.oldest_ms), (2, 9));
    assert!((unended.window_share - 0.2).abs() < 1e-9, "of the time of all");
    assert_eq!(driver.waiting_max(), 9 * 4, "the longest queue of any shard, for all shards");
}

fn two() -> Cell {
    let machine = json!({ "machine": { "count": 2, "vcpus": 1 } });
    serde_json::from_value(json!({ "id": 0, "contender": "kvm", "baseline": true, "settings": machine })).unwrap()
}

fn two_machines() -> Plan {
    let plan = json!({
        "format": crate::FORMAT, "question": "?", "study": "s", "seed": 1, "blocks": 1, "cells": [two()],
        "trials": [{ "id": 1, "block": 1, "cell": 0, "seed": 7 }]
    });
    serde_json::from_value(plan).unwrap()
}

#[test]
fn a_run_on_disk_is_read_with_the_folders_of_its_machines() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("run");
    let folder = RunFolder::create(&path, "", &two_machines()).unwrap().trial(1);
    folder.begin().unwrap();
    let machines = vec![machine(3, holds()), machine(5, holds())];
    for (number, one) in (1..).zip(&machines) {
        let own = folder.machine(number);
        own.begin().unwrap();
        own.write("intervals.hlog", &hlog::write(one.measured.as_ref().unwrap()).unwrap()).unwrap();
        own.write_json("findings.json", &one.findings).unwrap();
        own.complete(&one.record).unwrap();
    }
    let mut growing = Run::open(&path).unwrap();
    assert!(growing.trials.is_empty(), "its own record is written last");
    folder.complete(&record(&Outcome::Completed)).unwrap();
    let trial = Run::open(&path).unwrap().trials.remove(0);
    assert_eq!(trial.disagreements[0], "machine 1: payment: the log has 4 response times, the totals say 3 finished");
    let composed = compose(record(&Outcome::Completed), machines, &two());
    assert_eq!(trial, StoredTrial { disagreements: trial.disagreements.clone(), ..composed });
    assert!(path.join("trials/0001/machines/2/trial.json").is_file());

    growing.catch_up().unwrap();
    assert_eq!(growing.trials, [trial]);
    let read = growing.trials.clone();
    std::fs::write(path.join("trials/0001/machines/2/trial.json"), "damaged").unwrap();
    assert!(Run::open(&path).is_err());
    growing.catch_up().unwrap();
    assert_eq!(growing.trials, read, "a trial is read once");
    growing.trials.clear();
    assert!(growing.catch_up().is_err(), "unless it is asked for again");
}

/// Looks eleven seconds and `more` nanoseconds apart, at a device of this name, with 100 and `more` reads between them.
fn looked_into(device: &str, more: u64) -> StoredTrial {
    let look = |at_ns: u64, reads: u64| Look {
        at_ns,
        took_ns: 10 + more,
        database: Reading::Known(DatabaseCounts {
            meaning: "pages".to_owned(),
            reads: Some(2 * reads),
            log_bytes: (more == 0).then_some(reads),
            ..DatabaseCounts::default()
        }),
        device: Reading::Known(DeviceCounts { device: device.to_owned(), reads, ..DeviceCounts::default() }),
        cpu: Reading::Unavailable("not asked".to_owned()),
        counters: BTreeMap::from([("locks".to_owned(), reads), (format!("own {more}"), 1)]),
        waits: (at_ns > 10_000).then(|| {
            let mut waits = Waits { samples: 100, missed: 1, took_ns: more, ..Waits::default() };
            waits.add("Lock", "tuple", 30);
            waits.add("IO", &format!("of {device}"), 5);
            Reading::Known(waits)
        }),
    };
    let looks = Looks { start: look(500 + more, 7), end: look(500 + 2 * more + 11_000_000_000, 107 + more) };
    StoredTrial { looks: Some(looks), ..machine(3, holds()) }
}

fn reads_of_devices(machines: Vec<StoredTrial>) -> (u64, String) {
    let looks = compose(record(&Outcome::Completed), machines, &two()).looks.unwrap();
    let (start, end) = (looks.start.device.known().unwrap(), looks.end.device.known().unwrap());
    (end.reads - start.reads, end.device.clone())
}

#[test]
fn looks_into_machines_are_added_up_over_their_mean_length() {
    let machines = vec![looked_into("vdb", 0), looked_into("vdb", 40)];
    assert_eq!(reads_of_devices(machines.clone()), (100 + 140, "vdb".to_owned()), "each guest has a device of its own");
    let looks = compose(record(&Outcome::Completed), machines, &two()).looks.unwrap();
    assert_eq!((looks.start.at_ns, looks.span_ns(), looks.end.took_ns), (500, 11_000_000_020, 50));
    let (start, end) = (looks.start.database.known().unwrap(), looks.end.database.known().unwrap());
    assert_eq!(end.reads.unwrap() - start.reads.unwrap(), 2 * 240);
    assert_eq!(end.log_bytes, None, "one of them does not count it");
    assert_eq!(looks.start.counters, BTreeMap::from([("locks".to_owned(), 14)]));
}

#[test]
fn samples_of_machines_are_added_up_unless_one_has_none() {
    let waits = |machines| compose(record(&Outcome::Completed), machines, &two()).looks.unwrap().waits().cloned();
    let machines = vec![looked_into("vdb", 0), looked_into("vdc", 40)];
    let both = waits(machines.clone()).unwrap().known().unwrap().clone();
    assert_eq!((both.samples, both.missed, both.took_ns), (200, 2, 40));
    let seen: Vec<_> = both.seen.iter().map(|one| (one.event.as_str(), one.sessions)).collect();
    assert_eq!(seen, [("tuple", 60), ("of vdb", 5), ("of vdc", 5)]);
    let with = |reading: Option<Reading<Waits>>| {
        let mut machines = machines.clone();
        machines[1].looks.as_mut().unwrap().end.waits = reading;
        waits(machines)
    };
    let away = with(Some(Reading::Unavailable("no session".to_owned())));
    assert_eq!(away.unwrap().why_not(), Some("machine 2: no session"));
    assert_eq!(with(None), None);
}

#[test]
fn a_device_of_the_host_that_machines_share_counts_once() {
    let on_host = |device: &str, more: u64| {
        let mut machine = looked_into(device, more);
        let decided = &mut machine.record.machine.as_mut().unwrap().decided;
        decided.insert(PROCESSOR.to_owned(), Fact::known(HOSTS_OWN));
        machine
    };
    assert_eq!(reads_of_devices(vec![on_host("vda", 0), on_host("vda", 40)]), (100, "vda".to_owned()));
    assert_eq!(reads_of_devices(vec![on_host("loop0", 0), on_host("loop1", 40)]), (240, "loop0, loop1".to_owned()));
}

#[test]
fn what_one_machine_could_not_look_at_is_no_sum() {
    let mut blind = looked_into("vdb", 0);
    blind.looks.as_mut().unwrap().end.device = Reading::Unavailable("it is a tmpfs".to_owned());
    let looks = compose(record(&Outcome::Completed), vec![looked_into("vdb", 0), blind], &two()).looks.unwrap();
    assert_eq!(looks.end.device.why_not(), Some("machine 2: it is a tmpfs"));
    assert_eq!(
        compose(record(&Outcome::Completed), vec![machine(3, holds()), looked_into("vdb", 0)], &two()).looks,
        None
    );
}
