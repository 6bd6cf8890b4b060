//! Made-up studies in which the second of three machines is held back for a known reason.

use super::*;
use crate::consolidation;
use crate::explanation::evidence::tests::trial as counted;
use record::synthetic::consolidated::{HeldBack, run, sampled};
use record::synthetic::telemetry::{MadeUpColumn, counts};
use record::telemetry::Side;
use serde_json::json;

/// Machine 2 does 0.55 of what the others do.
fn held_back() -> Run {
    run(4, Some(HeldBack { contender: "kvm", machine: 2 }))
}

/// Sets the counters of each machine on this side; machine 2 gets the second set.
fn counted_by(run: &mut Run, side: Side, [others, second]: [&[MadeUpColumn]; 2]) {
    for machine in 1..=3 {
        sampled(run, "kvm", machine, side, if machine == 2 { second } else { others });
    }
}

fn of_three(run: &Run) -> Vec<MachineReason> {
    let found = consolidation::tests::all_of(run).into_iter();
    found.filter(|one| one.contender == "kvm" && one.machines == 3).flat_map(|one| one.reasons).collect()
}

fn causes(reasons: Vec<MachineReason>) -> Vec<Cause> {
    assert!(reasons.iter().all(|reason| reason.machine == 2), "{reasons:#?}");
    reasons.into_iter().map(|reason| reason.cause).collect()
}

#[track_caller]
fn close(found: &Estimate, expected: f64) {
    assert!((found.point / expected - 1.0).abs() < 0.1 && found.bounds.known().is_some(), "{found:?}");
}

fn of_exception(run: &mut Run, exception: &serde_json::Value) {
    for cell in run.plan.cells.iter_mut().filter(|cell| cell.machines() == 3) {
        cell.settings.set("machine.vcpus", json!(1)).unwrap();
        cell.settings.set("machine.exception", exception.clone()).unwrap();
    }
}

/// The machine runs for half the window and is throttled for a share of it. The kernel counts that as waiting, too.
fn throttled(share: f64, waits: f64) -> Vec<MadeUpColumn> {
    let mut sources = vec![counts("cgroup.machine.throttled_time", "ns", share * 1e9)];
    sources.extend([counts("vcpu.0.run", "ns", 0.5e9), counts("vcpu.0.wait", "ns", waits * 1e9)]);
    sources
}

#[test]
fn a_quota_is_named_and_no_wait_beside_it() {
    let mut run = held_back();
    counted_by(&mut run, Side::Host, [&throttled(0.0, 0.01), &throttled(0.48, 0.48)]);
    let found = causes(of_three(&run));
    let [Cause::CpuQuota { found: OwnAndOthers { own, others, .. }, several_cpus: true, quota_of_study: None }] =
        &found[..]
    else {
        panic!("{found:#?}")
    };
    close(own, 0.48);
    assert!(others.point.abs() < 1e-12, "{others:?}");
    of_exception(&mut run, &json!({ "number": 2, "cpu_quota": 0.5, "load": "same" }));
    let found = causes(of_three(&run));
    assert!(
        matches!(&found[..], [Cause::CpuQuota { several_cpus: false, quota_of_study: Some(quota), .. }] if (quota - 0.5).abs() < 1e-12),
        "{found:#?}"
    );
}

/// Only the machine with a limit has a group that counts it.
#[test]
fn machines_without_a_group_are_never_throttled() {
    let mut run = held_back();
    counted_by(&mut run, Side::Host, [&[counts("vcpu.0.run", "ns", 0.5e9)], &throttled(0.48, 0.48)]);
    assert!(matches!(of_three(&run)[..], [MachineReason { machine: 2, cause: Cause::CpuQuota { .. } }]));
}

/// The machine gets a CPU for half of the time in which it wants to run; the others wait 2 % of theirs.
#[test]
fn waiting_for_a_cpu_is_told_with_both_shares() {
    let mut run = held_back();
    let others = [counts("vcpu.0.run", "ns", 0.49e9), counts("vcpu.0.wait", "ns", 0.01e9)];
    let second = [counts("vcpu.0.run", "ns", 0.4e9), counts("vcpu.0.wait", "ns", 0.4e9)];
    counted_by(&mut run, Side::Host, [&others, &second]);
    let found = causes(of_three(&run));
    let [Cause::WaitingForCpu(OwnAndOthers { own, others, .. })] = &found[..] else { panic!("{found:#?}") };
    close(own, 0.5);
    close(others, 0.02);
}

/// 50 operations a second take 8 ms each instead of 0.5 ms, with four times the interrupts.
#[test]
fn a_slow_disk_and_interrupts_are_told_as_ratios() {
    let mut run = held_back();
    let inside = |time_ms: f64, interrupts: f64| {
        let columns = ["reads", "writes", "read_bytes", "write_bytes", "read_time"];
        let mut sources: Vec<MadeUpColumn> =
            columns.iter().map(|name| counts(&format!("disk.data.{name}"), "", 0.0)).collect();
        sources.extend([
            counts("disk.data.writes", "", 50.0),
            counts("disk.data.write_time", "ms", 50.0 * time_ms),
            counts("interrupts.total", "", interrupts),
        ]);
        sources.remove(1);
        sources
    };
    counted_by(&mut run, Side::Machine, [&inside(0.5, 100.0), &inside(8.0, 400.0)]);
    let found = causes(of_three(&run));
    let [
        Cause::DiskTime(OwnAndOthers { own, others, times: Some(slower) }),
        Cause::Interrupts(OwnAndOthers { times: Some(times), .. }),
    ] = &found[..]
    else {
        panic!("{found:#?}")
    };
    close(own, 8.0);
    close(others, 0.5);
    close(slower, 16.0);
    // 400 interrupts over 0.55 of the transactions, compared with 100.
    close(times, 400.0 / 0.55 / 100.0);
}

#[test]
fn what_sets_nobody_apart_is_no_reason() {
    let mut run = held_back();
    counted_by(&mut run, Side::Host, [&throttled(0.0, 0.02), &throttled(0.0, 0.02)]);
    of_exception(&mut run, &json!({ "number": 2, "cpu_quota": 0.5, "load": "same", "clients": 3 }));
    let expected = [
        Cause::NotKnown {
            alike: vec![Suspect::CpuQuota, Suspect::WaitingForCpu],
            not_counted: vec![Suspect::StolenTime, Suspect::DiskTime, Suspect::Interrupts],
        },
        Cause::QuotaNotSeen { quota_of_study: 0.5 },
        Cause::OwnClients { clients: 3 },
    ];
    assert_eq!(causes(of_three(&run)), expected);
}

#[test]
fn without_telemetry_nothing_is_known_and_of_equals_nothing_is_asked() {
    let found = causes(of_three(&held_back()));
    assert!(
        matches!(&found[..], [Cause::NotKnown { alike, not_counted }] if alike.is_empty() && not_counted.len() == QUESTIONS.len()),
        "{found:#?}"
    );
    assert_eq!(of_three(&run(4, None)), []);
}

/// `d = [3, 4, 5]`, `scipy.stats.t.interval(0.95, 2, 4, scipy.stats.sem(d))` (scipy 1.17.1) is 1.5159 to 6.4841.
#[test]
fn a_difference_to_the_others_has_students_interval() {
    let trial = |(block, own): (u32, f64)| CountedTrial {
        block,
        machines: [(1, counted(9.0)), (2, counted(10.0 + own)), (3, counted(11.0))].into(),
        ..counted(30.0)
    };
    let trials: Vec<CountedTrial> = [(1, 3.0), (2, 4.0), (3, 5.0)].map(trial).into();
    let of: ReasonMeasure = |trial| Some(trial.transactions);
    let found = against(&trials, 2, [of, of]).unwrap();
    let (low, high) = found.difference.bounds.known().unwrap();
    assert!((low - 1.5159).abs() < 1e-3 && (high - 6.4841).abs() < 1e-3, "{low} {high}");
    let is_more_by = |least| against(&trials, 2, [of, of]).unwrap().surely(Least::By(least)).is_some();
    assert!(is_more_by(1.5) && !is_more_by(1.6));
    assert!(against(&trials, 4, [of, of]).is_none());
}
