//! Explanations of a made-up run, and of the two most common problems: a throttled disk and a shared core.

use super::*;
use crate::estimate::Estimate;
use crate::measures::CATALOG;
use record::synthetic::telemetry::{MadeUpColumn, counts, vcpu};
use record::synthetic::{consolidated, run, sampled};
use rules::{HeldBackDisk, ShareOf, SharedCpu};

fn all(run: &Run) -> Vec<Explanation> {
    super::all(run, &Observations::of_run(run, CATALOG))
}

fn given(run: &Run) -> Vec<Reason> {
    all(run).into_iter().flat_map(|found| found.reasons).collect()
}

fn is_given(run: &Run, is_it: impl Fn(&Reason) -> bool) -> bool {
    given(run).iter().any(is_it)
}

fn is_held_back(reason: &Reason) -> bool {
    matches!(reason, Reason::HeldBackDisk(_))
}

fn is_shared(reason: &Reason) -> bool {
    matches!(reason, Reason::SharedCpu(_))
}

#[track_caller]
fn close(found: &Estimate, expected: f64) {
    assert!((found.point / expected - 1.0).abs() < 0.05, "{found:?}");
}

/// Exactly this much each second.
fn limited(name: &str, unit: &'static str, rate: f64) -> MadeUpColumn {
    MadeUpColumn { wobble: 0.0, ..counts(name, unit, rate) }
}

#[test]
fn a_throttled_disk_is_named_as_such() {
    let mut run = run(5);
    assert!(!is_given(&run, is_held_back));
    // A hundred writes a second are always under way and take 8 ms each; the host needs 0.2 ms for one.
    let guest = [
        limited("disk.data.reads", "", 0.0),
        limited("disk.data.read_time", "ms", 0.0),
        limited("disk.data.writes", "", 100.0),
        limited("disk.data.write_time", "ms", 800.0),
        limited("disk.data.busy", "ms", 990.0),
    ];
    sampled(&mut run, 1, Side::Machine, &guest);
    let host = [
        counts("disk.data.reads", "", 0.0),
        counts("disk.data.read_time", "ms", 0.0),
        counts("disk.data.writes", "", 100.0),
        counts("disk.data.write_time", "ms", 20.0),
        counts("disk.data.busy", "ms", 25.0),
    ];
    sampled(&mut run, 1, Side::Host, &host);
    let reasons: Vec<Reason> = given(&run).into_iter().filter(is_held_back).collect();
    let [Reason::HeldBackDisk(HeldBackDisk { who, busy, per_second, varies, guest, host, busy_below })] = &reasons[..]
    else {
        panic!("{reasons:#?}")
    };
    assert_eq!(who, "kvm");
    for (found, expected) in [(busy, 0.99), (per_second, 100.0), (guest, 8.0), (host, 0.2)] {
        close(found, expected);
    }
    assert!(varies.point < 0.001, "{varies:?}");
    close(busy_below.as_ref().unwrap(), 0.025);
}

/// A disk that is busy because the host's own device is at its limit is not held back.
#[test]
fn a_slow_disk_is_not_called_held_back() {
    let mut run = run(5);
    for side in [Side::Machine, Side::Host] {
        let slow = [
            limited("disk.data.writes", "", 100.0),
            limited("disk.data.write_time", "ms", 800.0),
            limited("disk.data.busy", "ms", 990.0),
        ];
        sampled(&mut run, 1, side, &slow);
    }
    assert!(!is_given(&run, is_held_back));
}

/// A busy disk that varies with the load is not at a limit, however long its operations take.
#[test]
fn a_disk_far_away_is_not_called_held_back() {
    let mut run = run(5);
    let far = [
        MadeUpColumn { wobble: 0.3, ..counts("disk.data.reads", "", 100.0) },
        MadeUpColumn { wobble: 0.3, ..counts("disk.data.writes", "", 100.0) },
        MadeUpColumn { wobble: 0.3, ..counts("disk.data.read_bytes", "bytes", 1e6) },
        MadeUpColumn { wobble: 0.3, ..counts("disk.data.write_bytes", "bytes", 1e6) },
        limited("disk.data.write_time", "ms", 800.0),
        limited("disk.data.busy", "ms", 990.0),
    ];
    sampled(&mut run, 1, Side::Machine, &far);
    assert!(!is_given(&run, is_held_back));
}

#[test]
fn a_vcpu_that_shares_its_core_with_a_busy_loop_is_named_as_such() {
    let mut run = run(5);
    assert!(!is_given(&run, is_shared));
    // It wants to run for 78 % of the time and gets half of that.
    sampled(&mut run, 1, Side::Host, &vcpu(1, 0.39, 0.39));
    let reasons = given(&run);
    let shared: Vec<&Reason> = reasons.iter().filter(|reason| is_shared(reason)).collect();
    let [Reason::SharedCpu(SharedCpu { who, all: false, vcpu: name, of_wanted, of_window, .. })] = shared[..] else {
        panic!("{shared:#?}")
    };
    assert_eq!((who.as_str(), name.as_str()), ("kvm", "1"));
    close(of_window, 0.385);
    close(of_wanted, 0.495);
    // The guest counts 0.7 % as stolen.
    assert!(reasons.iter().any(|reason| matches!(reason, Reason::StolenDisagreement { .. })), "{reasons:#?}");
    sampled(&mut run, 1, Side::Host, &vcpu(0, 0.4, 0.38));
    assert!(is_given(&run, |reason| matches!(reason, Reason::SharedCpu(SharedCpu { all: true, .. }))));
}

#[test]
fn the_made_up_run_is_explained() {
    let explanations = all(&run(5));
    let [found] = &explanations[..] else { panic!("one comparison") };
    assert_eq!((found.baseline.as_str(), found.contender.as_str(), found.blocks), ("native", "kvm", 5));
    let is_expected: [fn(&Reason) -> bool; 4] = [
        |reason| matches!(reason, Reason::WorkPerTransaction(_)),
        |reason| matches!(reason, Reason::ExitsPerTransaction { .. }),
        |reason| matches!(reason, Reason::DiskTimeBetweenLayers { .. }),
        |reason| matches!(reason, Reason::DiskTimeOfContenders { .. }),
    ];
    for is_it in is_expected {
        assert!(found.reasons.iter().any(is_it), "{:#?}", found.reasons);
    }
    let interrupts =
        found.counters.rows.iter().find(|row| row.side == Side::Machine && row.name == "interrupts.total").unwrap();
    let (low, high) = interrupts.ratio.as_ref().unwrap().bounds.known().unwrap();
    assert!(low < 2.125 && 2.125 < high, "25.5 against 12: {low} to {high}");
    assert!(found.counters.one_sided.iter().any(|column| column.name == "kvm.vcpu.exits" && column.on == "kvm"));
    assert_eq!(found.courses.len(), DRAWN);
    let is_energy = |unknown: &Unknown| matches!(unknown, Unknown::NotCounted { side: Side::Host, probe: Some(probe), .. } if probe == "energy");
    assert!(found.unknown.iter().any(is_energy), "{:?}", found.unknown);
}

#[test]
fn too_few_blocks_or_samples_are_told_instead_of_reasons() {
    let few = &all(&run(2))[0];
    assert!(few.reasons.is_empty() && few.unknown[0] == Unknown::TooFewBlocks { blocks: 2, needed: 3 }, "{few:?}");
    let mut rare = run(3);
    for series in rare.trials.iter_mut().flat_map(|trial| &mut trial.telemetry) {
        series.samples.retain(|sample| sample.at_ns / 1_000_000_000 % 20 == 8);
    }
    let found = &all(&rare)[0];
    assert!(
        found.reasons.is_empty() && matches!(found.unknown[0], Unknown::TooFewSamples { needed: 5, .. }),
        "{found:?}"
    );
}

#[test]
fn a_run_without_telemetry_is_not_explained() {
    let mut old = run(3);
    old.trials.iter_mut().for_each(|trial| trial.telemetry.clear());
    assert_eq!(all(&old), []);
}

/// Three machines each. One vCPU of one of them shares its core, and each guest has two and a half times the interrupts.
#[test]
fn what_is_one_machines_names_it_and_what_is_of_all_is_said_once() {
    let mut run = consolidated::run(3, None);
    for machine in 1..=3 {
        let host = vcpu(0, 0.39, if machine == 2 { 0.39 } else { 0.001 });
        consolidated::sampled(&mut run, "kvm", machine, Side::Host, &host);
        consolidated::sampled(&mut run, "native", machine, Side::Host, &[counts("machine.run", "ns", 0.4e9)]);
        for (contender, rate) in [("native", 1_000.0), ("kvm", 2_500.0)] {
            let interrupts = [counts("interrupts.total", "", rate)];
            consolidated::sampled(&mut run, contender, machine, Side::Machine, &interrupts);
        }
    }
    run.plan.cells.retain(|cell| cell.machines() == 3);
    let reasons = given(&run);
    let shared: Vec<&Reason> = reasons.iter().filter(|reason| is_shared(reason)).collect();
    let [Reason::SharedCpu(SharedCpu { who, vcpu: name, .. })] = shared[..] else { panic!("{shared:#?}") };
    assert_eq!((who.as_str(), name.as_str()), ("kvm machine 2", "0"));
    let is_work =
        |reason: &&Reason| matches!(reason, Reason::WorkPerTransaction(cost) if cost.measure.id == "work.interrupts");
    let work: Vec<&Reason> = reasons.iter().filter(is_work).collect();
    let [Reason::WorkPerTransaction(MeasurePair { pair, .. })] = work[..] else { panic!("{work:#?}") };
    assert_eq!((pair.baseline.as_str(), pair.contender.as_str()), ("native", "kvm"));
    let found = &all(&run)[0];
    assert_eq!(found.blocks, 3);
    let missing = |what: &Unknown| found.unknown.iter().filter(|unknown| *unknown == what).count();
    // What is unknown about one machine may be known about another; what concerns all is said once.
    assert_eq!([Unknown::VcpusNotSampled, Unknown::DisksNotCounted].map(|what| missing(&what)), [0, 1], "{found:?}");
}

/// Newer kernels count a throttled thread as one that waits.
#[test]
fn a_throttled_vcpu_is_not_said_to_share_its_cpu() {
    let mut run = run(5);
    sampled(&mut run, 1, Side::Host, &vcpu(1, 0.39, 0.39));
    sampled(&mut run, 1, Side::Host, &[counts("cgroup.machine.throttled_time", "ns", 0.39e9)]);
    assert!(!is_given(&run, is_shared));
    let is_quota = |reason: &Reason| matches!(reason, Reason::CpuQuota(ShareOf { who, share }) if who == "kvm" && (share.point - 0.39).abs() < 0.01);
    assert!(is_given(&run, is_quota), "{:#?}", given(&run));
    let found = &all(&run)[0];
    assert!(found.unknown.contains(&Unknown::SharingBehindQuota { who: "kvm".to_owned() }), "{found:?}");
}
